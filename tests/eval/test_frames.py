"""Frames of polars and Arrow in the evaluation and in audits."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import boostnoise
from boostnoise.eval._frames import as_pandas

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": RNG.normal(size=240),
        "kind": pd.Categorical.from_codes(RNG.integers(0, 3, 240), ["x", "y", "z"]),
        "n": RNG.integers(0, 9, 240),
    }
)
LABELS = pd.Series(np.where((FRAME["a"] > 0) ^ (FRAME["kind"] == "x"), "yes", "no"), name="label")
CONVERT = {"polars": pl.from_pandas, "Arrow": pa.Table.from_pandas}


@pytest.fixture(params=CONVERT)
def convert(request):
    return CONVERT[request.param]


def test_conversion(convert):
    found = as_pandas(convert(FRAME))
    assert list(found) == list(FRAME)
    pd.testing.assert_series_equal(found["kind"], FRAME["kind"])
    np.testing.assert_array_equal(found["a"], FRAME["a"])
    for same in (FRAME, LABELS, 3, "text", None, [1, 2], {"a": 1}, np.ones(2)):
        assert as_pandas(same) is same


def test_columns():
    np.testing.assert_array_equal(as_pandas(pl.Series(LABELS)), LABELS)
    np.testing.assert_array_equal(as_pandas(pa.chunked_array([LABELS.to_numpy(object)])), LABELS)


def test_audits(convert):
    noisy = LABELS.where(RNG.random(240) > 0.1, "no")
    expected = boostnoise.audit(FRAME, noisy).suspects
    found = boostnoise.audit(convert(FRAME), pl.Series(noisy)).suspects
    pd.testing.assert_frame_equal(found, expected)


def test_comparisons(convert, tmp_path):
    whole = convert(FRAME.assign(label=LABELS))
    data = {"frame": (whole, "label"), "pair": (convert(FRAME), pl.Series(LABELS)), "pandas": (FRAME, LABELS)}
    found = boostnoise.compare(
        ["decision_tree"], data, noise=0.2, repeats=1, n_jobs=1, results_dir=tmp_path, progress=False
    )
    assert found.scores["error"].isna().all()
    scores = found.scores.pivot_table("accuracy", "noise_rate", "dataset")
    np.testing.assert_array_equal(scores["pair"], scores["pandas"])
    assert (scores.loc[0] > 0.9).all()
