"""Claims of papers that rest on a figure, or on two tables, as checks of the scores of a run.

The key of `RUN_CLAIMS` is the name of the study.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .._wording import listed, percent
from .claims import AT, CLAIM_COLUMNS, CRITERIA, Claim, Finding

SUFFICIENT = 0.95  # accuracy
FACTOR = 2.0  # a number is "about" another if they differ by at most this factor
LEAF_SIZES = (10, 25, 50, 100, 250)
TRAIN_ROWS = (100, 200, 400, 700, 1000, 2000, 4000, 7000, 10000)
LAMS = ("0", "0.25", "0.5", "0.75", "1")


@dataclass(frozen=True)
class RunClaim:
    """A claim of a paper about the scores of one study.

    Attributes
    ----------
    text : str
        The claim, as a sentence.
    models, datasets : tuple of str
        What the run needs for the check; no data sets for any.
    check : callable
        Whether the claim holds for the scores of these models and data sets, and the numbers.
    published : str, default=""
        The numbers of the paper, if it has any.
    """

    text: str
    models: tuple[str, ...]
    datasets: tuple[str, ...]
    check: Callable[[pd.DataFrame], Finding]
    published: str = ""

    def lacks(self, models: list[str], datasets: list[str]) -> list[str]:
        """Names of models and data sets that the check needs and that are not among these."""
        return [name for name in self.models if name not in models] + [
            name for name in self.datasets if name not in datasets
        ]


def without_published(claim: Claim) -> RunClaim:
    """A claim about a table of published numbers, for a run alone."""

    def check(scores: pd.DataFrame) -> Finding:
        cells = scores.groupby([*AT, "model"])["accuracy"]
        means, errors = (values.unstack("model").dropna() for values in (cells.mean(), cells.sem().fillna(0.0)))
        return claim.check(means, errors.reindex(means.index))

    return RunClaim(claim.text, claim.models, (), check)


def check_run_claims(claims: list[RunClaim], scores: pd.DataFrame) -> pd.DataFrame:
    """Check claims for the scores of a run.

    Parameters
    ----------
    claims : list of RunClaim
    scores : DataFrame
        `Run.scores`.

    Returns
    -------
    DataFrame
        See `check_claims`; `published` is missing, as the paper has no numbers to check.
    """
    fitted = scores[scores["error"].isna()]
    models, datasets = (fitted[name].unique().tolist() for name in ("model", "dataset"))
    rows = []
    for claim in claims:
        finding = None
        if not claim.lacks(models, datasets):
            chosen = fitted["model"].isin(claim.models)
            if claim.datasets:
                chosen &= fitted["dataset"].isin(claim.datasets)
            finding = claim.check(fitted[chosen])
        ours, numbers = finding or (pd.NA, "")
        rows.append((claim.text, pd.NA, claim.published, ours, numbers))
    return pd.DataFrame(rows, columns=CLAIM_COLUMNS).astype({"published": "boolean", "ours": "boolean"})


def _means(scores: pd.DataFrame, by: list[str], measure: str = "accuracy") -> pd.DataFrame:
    """Mean of a measure, with a row for each of `by` and a column for each model."""
    return scores.groupby([*by, "model"])[measure].mean().unstack("model")


def _at(scores: pd.DataFrame, noise_rate: float) -> pd.DataFrame:
    return scores[np.isclose(scores["noise_rate"], noise_rate)]


def _small_leaves_suffice(leaf_size: int, noise_rate: float) -> RunClaim:
    models = tuple(f"{name}, min_samples_leaf {leaf_size}" for name in ("tree", "forest"))

    def check(scores: pd.DataFrame) -> Finding:
        at_rate = _at(scores, noise_rate)
        if at_rate.empty:
            return None
        means = at_rate.groupby("model")["accuracy"].mean()
        text = listed([f"{model.partition(',')[0]} {means[model]:.3f}" for model in models])
        return bool((means >= SUFFICIENT).all()), text

    return RunClaim(
        f"With leaves of {leaf_size} rows, a tree and a forest have an accuracy of {SUFFICIENT} or more at "
        f"{percent(noise_rate)} of noise.",
        models,
        ("checkerboard2x2",),
        check,
    )


def _rows_for_accuracy(published: Mapping[float, float]) -> RunClaim:
    """Rows for an accuracy of `SUFFICIENT` with the best size of leaves, read off as a line between sizes."""
    datasets = [f"checkerboard2x2, train_rows {n}" for n in TRAIN_ROWS]

    def check(scores: pd.DataFrame) -> Finding:
        rows = {}
        for noise_rate in published:
            best = _means(_at(scores, noise_rate), ["dataset"]).reindex(datasets).max(axis=1).to_numpy()
            if np.isnan(best).any():
                return None
            if best.max() < SUFFICIENT:
                return False, f"not reached at {percent(noise_rate)} of noise with {TRAIN_ROWS[-1]:,} rows"
            rows[noise_rate] = _first_crossing(np.log(TRAIN_ROWS), best)
        holds = all(n / FACTOR <= rows[noise_rate] <= n * FACTOR for noise_rate, n in published.items())
        return holds, _row_text(rows)

    return RunClaim(
        f"An accuracy of {SUFFICIENT} takes about {_row_text(published)}.",
        tuple(f"tree, min_samples_leaf {size}" for size in LEAF_SIZES),
        tuple(datasets),
        check,
    )


def _first_crossing(log_sizes: np.ndarray, accuracy: np.ndarray) -> float:
    above = int(np.argmax(accuracy >= SUFFICIENT))
    if above == 0:
        return float(np.exp(log_sizes[0]))
    pair = slice(above - 1, above + 1)
    return float(np.exp(np.interp(SUFFICIENT, accuracy[pair], log_sizes[pair])))


def _row_text(rows: Mapping[float, float]) -> str:
    texts = [f"{float(f'{n:.2g}'):,.0f} rows at {percent(noise_rate)}" for noise_rate, n in rows.items()]
    return f"{listed(texts)} of noise"


def _smaller_under_noise(measure: str, adjective: str) -> RunClaim:
    models = ("pairwise", "gini", "entropy")

    def check(scores: pd.DataFrame) -> Finding:
        noisy = scores[scores["noise_rate"] > 0]
        if noisy.empty:
            return None
        means = _means(noisy, ["dataset", "noise_rate"], measure).mean()
        text = ", ".join(f"{name} {means[name]:.1f}" for name in models)
        return bool(means["pairwise"] < means[["gini", "entropy"]].min()), f"mean {measure}: {text}"

    text = f"Under noise, pairwise gain grows {adjective} trees than gini and entropy."
    return RunClaim(text, models, (), check)


LAM_MODELS = tuple(f"tree, criterion ne({lam})" for lam in LAMS)


def _larger_lam_smaller_trees() -> RunClaim:
    def check(scores: pd.DataFrame) -> Finding:
        leaves = _means(scores, ["noise_rate"], "leaves")[list(LAM_MODELS)]
        steps = leaves.diff(axis=1).iloc[:, 1:].to_numpy()
        n_smaller = int((steps < 0).sum())
        return 2 * n_smaller > steps.size, f"in {n_smaller} of {steps.size} steps from one lam to the next"

    text = "A larger lam of the negative exponential criterion mostly gives smaller trees."
    return RunClaim(text, LAM_MODELS, ("mnist",), check)


def _no_best_lam() -> RunClaim:
    def check(scores: pd.DataFrame) -> Finding:
        best = _means(scores, ["noise_rate"])[list(LAM_MODELS)].idxmax(axis=1)
        lams = best.map(dict(zip(LAM_MODELS, LAMS, strict=True)))
        texts = [
            f"{lam} at {percent(noise_rate)}"
            for noise_rate, lam in zip(best.index.to_numpy(), lams, strict=True)
        ]
        return best.nunique() > 1, f"the most accurate: {listed(texts)}"

    text = "No lam is the most accurate at every noise rate."
    return RunClaim(text, LAM_MODELS, ("mnist",), check)


def _forests_less_sensitive() -> RunClaim:
    models = {kind: [f"{kind}, {name}" for name in CRITERIA] for kind in ("tree", "forest")}

    def check(scores: pd.DataFrame) -> Finding:
        means = _means(scores, ["dataset", "noise_kind", "noise_rate"])
        spread = {
            kind: (means[names].max(axis=1) - means[names].min(axis=1)).mean() for kind, names in models.items()
        }
        text = ", ".join(f"{kind}s {value:.4f}" for kind, value in spread.items())
        return bool(spread["forest"] < spread["tree"]), text

    text = "The best and the worst criterion of a cell differ less for forests than for trees, on average."
    published = "trees 0.1326, forests 0.1018"
    return RunClaim(text, (*models["tree"], *models["forest"]), (), check, published)


RUN_CLAIMS: Mapping[str, list[RunClaim]] = {
    "ghosh_2017_figure_1a": [_small_leaves_suffice(50, 0.3)],
    "ghosh_2017_figure_1b": [_rows_for_accuracy({0.2: 400, 0.4: 4000})],
    "wilton_2024_figure_6": [_larger_lam_smaller_trees(), _no_best_lam()],
    "wilton_2024_figure_6_binary": [_larger_lam_smaller_trees(), _no_best_lam()],
    "wilton_2024_tables_2_4": [_forests_less_sensitive()],
    "yang_2019_trees": [_smaller_under_noise("depth", "shallower"), _smaller_under_noise("leaves", "smaller")],
}
