"""Paired tests on each data set, over its repeats, or over its test rows where repeats share them.

The repeats of a data set share rows, so they are not independent.  Their spread is too small, and the tests
find differences where there are none more often than alpha [1]_.  They follow the protocol of [2]_; for claims
beyond these data sets, see `wilcoxon_holm`.

References
----------
.. [1] Nadeau & Bengio, "Inference for the Generalization Error", Machine Learning 52, 2003.
.. [2] Yang, Gao & Li, "On the robust splitting criterion of random forest", ICDM 2019.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._numbers import check_fraction
from .._wording import counted, listed, there_are
from ..metrics.registry import higher_is_better
from .result import NO_DATASET, TestResult, too_few_remark
from .score_tables import by_dataset, complete, repeat_table, rounded
from .shared_test_rows import row_test, row_values_at, shares_test_rows

MIN_REPEATS = 3  # for a t-test; two repeats leave one degree of freedom
OUTCOMES = {1: "win", 0: "tie", -1: "loss"}
NOT_INDEPENDENT = (
    "Repeats on random splits of the same rows are not independent, so differences appear significant more "
    "often than they should (Nadeau & Bengio 2003)."
)
SAME_ROWS = (
    "The repeats of {} share their test rows, so their spread says nothing about other rows. Tests over these "
    "rows need the accuracy, and cells fitted by this version."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class PairedTTests(TestResult):
    """Result of `paired_t_tests`.

    Attributes
    ----------
    table : DataFrame
        One row per data set and pair of models: dataset, model, other, difference (mean of model minus mean of
        other), p_value, outcome ("win", "tie" or "loss" of the model).  The last two are missing where there is
        no test.
    wins : DataFrame
        Number of data sets on which the row's model beats the column's model; NaN without power.
    name : str
        "paired t-tests", or "corrected resampled t-tests".
    n_rows : dict of str to int
        Number of test rows of the data sets that are tested over these, as their repeats share them.
    """

    table: pd.DataFrame
    wins: pd.DataFrame
    name: str
    n_rows: Mapping[str, int] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """The tests, and what they are over."""
        over_repeats, over_rows = f"{self.name} over the repeats", "paired tests over the test rows"
        if not self.n_rows:
            return over_repeats
        return over_rows if len(self.n_rows) == self.n_datasets else f"{over_repeats} or {over_rows}"

    @cached_property
    def matrix(self) -> pd.DataFrame:
        """Win/tie/loss of the row's model against the column's, as text; empty without power."""
        wins = self.wins.to_numpy()
        cells = pd.DataFrame("", self.wins.index, self.wins.columns)
        for i, j in itertools.permutations(range(len(wins)), 2) if self.has_power else ():
            ties = self.n_datasets - wins[i, j] - wins[j, i]
            cells.iat[i, j] = f"{wins[i, j]:.0f}/{ties:.0f}/{wins[j, i]:.0f}"
        return cells

    def _parts(self) -> tuple[str, ...]:
        test = (
            f"Win/tie/loss over {counted(self.n_datasets, 'data set')}, by {self.method} of each "
            f"(α = {self.alpha:g}): the row's model against the column's."
        )
        return (test, self.matrix.to_string()) if self.has_power else ()


def paired_t_tests(
    scores: pd.DataFrame,
    metric: str = "accuracy",
    *,
    noise_rate: float | None = None,
    noise_kind: str | None = None,
    measure: str = "accuracy",
    alpha: float = 0.05,
    test_fraction: float | None = None,
    fixed: Collection[str] = (),
) -> PairedTTests:
    r"""Paired t-tests over the repeats of each data set, counted as win, tie or loss, as in [2]_.

    With mean d and sample standard deviation s of the differences between two models over J repeats, :math:`t =
    d / (s \sqrt{1 / J})` with J - 1 degrees of freedom, two-sided, without correction for multiple tests.
    Repeats on random splits of the same rows are not independent, so differences appear significant more often
    than they should.  With `test_fraction`, the tests are the corrected resampled t-tests of [1]_, :math:`t = d
    / (s \sqrt{1 / J + f / (1 - f)})`, which reduces this error.

    If all differences are equal there is no spread: a tie if they are 0, otherwise a win or loss with p = 0.

    Where the repeats of a data set share their test rows, the tests are over these rows and the repeats; see
    `row_test`.

    Parameters
    ----------
    scores, metric, noise_rate, noise_kind, of
        See `score_table`.
    alpha : float, default=0.05
    test_fraction : float or None, default=None
        Share f of the rows in the test set, for the correction; None for uncorrected tests.
    fixed : collection of str, default=()
        Data sets whose repeats share their test rows.  They are not tested over their repeats.  Without
        ``correct_rows`` in the scores, or for a metric that is not computed from the accuracy, they are not
        tested at all: their p-values and outcomes are missing.

    Returns
    -------
    PairedTTests
        Without power if there are fewer than three repeats, or no data set to test.

    Raises
    ------
    ValueError
        As `score_table`, or if `alpha` or `test_fraction` does not lie between 0 and 1.
    """
    check_fraction("alpha", alpha)
    if test_fraction is not None:
        check_fraction("test_fraction", test_fraction)
    wide = repeat_table(scores, metric, noise_rate=noise_rate, noise_kind=noise_kind, measure=measure)
    n_repeats = wide.index.get_level_values("repeat").nunique()
    wide, dropped, left_out = complete(wide)
    datasets = list(wide.index.get_level_values("dataset").unique())
    models = [str(name) for name in wide.columns]
    pairs = list(itertools.combinations(range(len(models)), 2))
    first, second = np.array(pairs, dtype=int).reshape(-1, 2).T
    cells = scores if noise_kind is None else scores[scores["noise_kind"] == noise_kind]
    shared = {*fixed, *cells.loc[shares_test_rows(cells), "dataset"]}
    rows, shares = row_values_at(cells, metric, noise_rate, noise_kind, measure), metric == "accuracy"
    by_rows = np.array([{(name, model) for model in models} <= rows.keys() for name in datasets], dtype=bool)
    by_rows &= len(models) > 1
    by_repeats = np.array([name not in shared for name in datasets], dtype=bool)
    tested = by_rows | by_repeats
    values = by_dataset(wide)
    differences = rounded(values[:, :, first] - values[:, :, second], like=values)
    has_power = n_repeats >= MIN_REPEATS and differences[tested].size > 0
    p_values = np.full((len(datasets), len(pairs)), math.nan)
    means = differences.mean(axis=1) if differences.size else p_values
    ahead = np.zeros(p_values.shape)
    wins = pd.DataFrame(0.0 if has_power else math.nan, models, models)
    if has_power:
        p_values[by_repeats] = _p_values(differences[by_repeats], test_fraction)
        for place in np.flatnonzero(by_rows):
            of_models = [rows[datasets[place], model] for model in models]
            p_values[place] = [
                row_test(of_models[a] - of_models[b], differences[place, :, pair], are_shares=shares)
                for pair, (a, b) in enumerate(pairs)
            ]
        ahead = np.where(p_values <= alpha, np.sign(means), 0) * (1 if higher_is_better(metric) else -1)
        for pair, (i, j) in enumerate(pairs):
            wins.iat[i, j] = (ahead[:, pair] > 0).sum()
            wins.iat[j, i] = (ahead[:, pair] < 0).sum()
    table = pd.DataFrame(
        {
            "dataset": np.repeat(datasets, len(pairs)),
            "model": [models[i] for i in first] * len(datasets),
            "other": [models[j] for j in second] * len(datasets),
            "difference": means.ravel(),
            "p_value": p_values.ravel(),
            "outcome": [
                OUTCOMES[int(sign)] if np.isfinite(p) else None
                for sign, p in zip(ahead.ravel(), p_values.ravel(), strict=True)
            ],
        }
    )
    remark = NOT_INDEPENDENT if test_fraction is None and by_repeats.any() else ""
    if len(models) < 2:
        remark = f"Paired t-tests compare two or more models; {there_are(len(models), 'model')}."
    elif not datasets:
        remark = NO_DATASET
    elif n_repeats < MIN_REPEATS:
        remark = too_few_remark(n_repeats, "repeat", "paired t-tests", MIN_REPEATS)
    elif not tested.all():
        names = listed([name for name, is_tested in zip(datasets, tested, strict=True) if not is_tested])
        remark = " ".join(filter(None, [SAME_ROWS.format(names), remark]))
    return PairedTTests(
        table=table,
        wins=wins,
        name="paired t-tests" if test_fraction is None else "corrected resampled t-tests",
        n_rows={datasets[i]: rows[datasets[i], models[0]].size for i in np.flatnonzero(by_rows)},
        n_datasets=int(tested.sum()),
        alpha=alpha,
        has_power=has_power,
        remark=remark,
        dropped=dropped,
        left_out=left_out,
    )


def _p_values(differences: NDArray[np.float64], test_fraction: float | None) -> NDArray[np.float64]:
    """P-values of two-sided tests that the mean over the repeats, the second axis, is 0."""
    from scipy.stats import t as student
    from scipy.stats import ttest_1samp

    same = (differences == differences[:, :1]).all(axis=1)
    p_values = np.where(differences[:, 0] == 0, 1.0, 0.0)
    n = differences.shape[1]
    spread = np.moveaxis(differences, 1, -1)[~same]
    if len(spread):
        t = ttest_1samp(spread, 0.0, axis=1).statistic
        if test_fraction is not None:
            t = t / math.sqrt(1 + n * test_fraction / (1 - test_fraction))
        p_values[~same] = 2 * student.sf(np.abs(t), n - 1)
    return p_values
