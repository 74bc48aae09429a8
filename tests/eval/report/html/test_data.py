import json

import numpy as np
import pytest

from boostnoise.eval.config.figures import FigureOptions
from boostnoise.eval.execution import runner
from boostnoise.eval.metrics.curves import curve, mean_curve
from boostnoise.eval.report.html.data import Results, numbers
from boostnoise.eval.report.html.styles import plotly_style


@pytest.fixture
def run(small_config, fits_in_this_process):
    tree = {"name": r"$\tau$", "model": "decision_tree"}
    bad = {"name": "bad", "model": "decision_tree", "params": {"max_depth": -1}}
    bayes = {"name": "bayes", "module": "sklearn.naive_bayes", "model": "GaussianNB"}
    noise = [{"kind": "uniform", "rates": [0.2, 0.4]}, {"kind": "pair_flip", "rates": [0.3]}]
    return runner.run(
        small_config(datasets=["wine", "iris"], models=[tree, bad, bayes], noise=noise, repeats=3), n_jobs=1
    )


def test_curves_are_those_of_the_metrics(run):
    results = Results(run)
    assert results.models == ["τ", "bad", "bayes"]
    assert results.datasets == ["wine", "iris"]
    assert results.rates == {"uniform": [0.0, 0.2, 0.4], "pair_flip": [0.0, 0.3]}
    for metric in ("ela", "rla", "accuracy"):
        means = (
            mean_curve(run.scores, metric).set_index(["noise_kind", "model", "noise_rate"])[metric].sort_index()
        )
        each = (
            curve(run.scores, metric)
            .set_index(["noise_kind", "dataset", "model", "noise_rate"])[metric]
            .sort_index()
        )
        for kind, rates in results.rates.items():
            found = results.averages[metric][kind]
            assert found.value.shape == (3, len(rates))
            assert np.isnan(found.value[1]).all()
            for i, model in ((0, r"$\tau$"), (2, "bayes")):
                np.testing.assert_allclose(found.value[i], means[kind, model].loc[rates])
                assert (found.low[i] <= found.value[i] + 1e-12).all()
                assert (found.value[i] <= found.high[i] + 1e-12).all()
                for d, dataset in enumerate(results.datasets):
                    of_set = results.by_dataset[metric][kind].on_dataset(d)
                    np.testing.assert_allclose(of_set.value[i], each[kind, dataset, model].loc[rates])
    ranks = results.ranks["uniform"].value
    assert np.isnan(ranks[1]).all()
    np.testing.assert_allclose(ranks[[0, 2]].sum(axis=0), 3)


def test_page_data_are_json_and_complete(run):
    results = Results(run)
    data = results.page_data([plotly_style(i, 3, FigureOptions()) for i in range(3)])
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    cells = data["cells"]
    assert len(cells["dataset"]) == len(run.scores) == len(cells["error"])
    named = [data["models"][i]["name"] for i in cells["model"]]
    assert named == run.scores["model"].replace({r"$\tau$": "τ"}).tolist()
    errors = [None if i < 0 else cells["errors"][i] for i in cells["error"]]
    assert errors == run.scores["error"].astype(object).where(run.scores["error"].notna(), None).tolist()
    np.testing.assert_allclose(
        np.array(cells["columns"]["accuracy"], dtype=float), run.scores["accuracy"], rtol=1e-4
    )
    assert "depth" in cells["columns"]
    assert cells["titles"]["macro_f1"] == "macro F1"


def test_numbers_are_short_and_missing_values_are_none():
    assert numbers(np.array([[1 / 3, np.nan], [np.inf, 2e-7]])) == [[0.33333, None], [None, 2e-7]]
