"""Comparison of a run with published numbers, cell by cell.

References
----------
.. [1] Kendall, "The Treatment of Ties in Ranking Problems", Biometrika 33, 1945.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .._wording import joined, listed, numbered, percent
from ..metrics.registry import REGISTRY
from ..statistics.score_tables import DIGITS

CELL = ["dataset", "model", "noise_kind", "noise_rate"]
NOUNS = {
    "dataset": ("data set", "data sets"),
    "model": ("model", "models"),
    "noise_kind": ("kind of noise", "kinds of noise"),
}
PUBLISHED = {"sd": "published_sd", "repeats": "published_repeats"}
OURS = {"mean": "ours", "std": "ours_sd", "count": "ours_repeats"}
COLUMNS = [*CELL, "published", *PUBLISHED.values(), *OURS.values(), "difference", "band", "within"]
DEVIATIONS = 2.0  # standard deviations on either side, as papers print them
MAX_NAMES = 20  # in a sentence
MIN_RANKED = 3  # models for a rank correlation


@dataclass(frozen=True, eq=False)
class PublishedComparison:
    """Published numbers and those of a run.  Printed, it is a summary with the cells outside of the bands.

    Attributes
    ----------
    metric : str
        The measure.
    cells : DataFrame
        One row for each published cell: dataset, model, noise_kind, noise_rate; published and ours, the means;
        published_sd and ours_sd, over published_repeats and ours_repeats; difference, ours less published;
        band, and within, whether the difference is within it.  Cells that the run lacks have NaN in ours.
        No rows if the paper has claims only.
    rank_agreement : DataFrame
        Kendall's tau-b [1]_ of the ranks of the models, averaged over the data sets with three or more models:
        noise_kind, noise_rate, kendall_tau, datasets.
    claims : DataFrame or None
        Claims of the paper, if they are known; see `check_claims`.
    """

    metric: str
    cells: pd.DataFrame
    rank_agreement: pd.DataFrame
    claims: pd.DataFrame | None = None

    @property
    def reproduced(self) -> pd.DataFrame:
        """The cells that the run has."""
        return self.cells.dropna(subset="ours")

    @property
    def share_within(self) -> float:
        """Share of the cells of the run that are within their bands; NaN if there are none."""
        return float(self.reproduced["within"].astype(np.float64).mean())

    @property
    def summary(self) -> str:
        """How many cells are within their bands, and how far off they are; one sentence per line."""
        found, n_cells = self.reproduced, len(self.cells)
        if not n_cells:
            return "\n".join(self._claims())
        if found.empty:
            return f"The run has none of the {numbered(n_cells, 'published cell')}."
        n_within = int(found["within"].sum())
        difference = found["difference"]
        lines = [
            f"{n_within} of {numbered(len(found), 'cell')} ({percent(self.share_within)}) are within the bands "
            f"around the published {REGISTRY[self.metric].label}; mean "
            f"difference {difference.mean():+.4f}, mean absolute difference {difference.abs().mean():.4f}."
        ]
        if len(found) < n_cells:
            lacking = names_without(self.cells, self.cells["ours"].notna())
            names = f", among them all of {lacking}" if lacking else ""
            lines.append(f"The run lacks {numbered(n_cells - len(found), 'published cell')}{names}.")
        return "\n".join([*lines, *self._claims()])

    def _claims(self) -> list[str]:
        """A sentence on each claim."""
        if self.claims is None:
            return []
        lines = []
        for claim in self.claims.to_dict("records"):
            text = str(claim["claim"])
            if pd.isna(claim["ours"]):
                lines.append(f"Not checked, as the run lacks models, data sets or noise rates: {text}")
                continue
            holds = "Holds" if claim["ours"] else "Does not hold"
            numbers = str(claim["our_numbers"])
            if claim["published_numbers"]:
                numbers += f"; published: {claim['published_numbers']}"
            lines.append(f"{holds}: {text.removesuffix('.')} ({numbers}).")
        return lines

    def __str__(self) -> str:
        lines, found = [self.summary], self.reproduced
        if not self.rank_agreement.empty:
            lines += ["Agreement of the ranks of the models, Kendall's tau:", _text(self.rank_agreement)]
        outside = found[~found["within"].astype(bool)].drop(columns="within")
        if not outside.empty:
            lines += ["Outside of the bands:", _text(outside)]
        return "\n".join(lines)


def compare_with_published(
    scores: pd.DataFrame, published: pd.DataFrame, metric: str = "accuracy"
) -> PublishedComparison:
    """Compare the scores of a run with published numbers.

    A cell is within its band if the means differ by no more than two published standard deviations and two of
    the run's.  Where both are unknown, as for a single repeat, the band is two standard errors of a share of
    `test_rows` rows, or without that column, zero.

    Parameters
    ----------
    scores : DataFrame
        `Run.scores`.
    published : DataFrame
        Columns dataset, model, noise_kind, noise_rate and the mean under the name of the metric; optionally
        sd, the standard deviation over repeats; repeats, their number; and test_rows.  Names and rates are
        those of the scores.
    metric : str, default="accuracy"
        The measure.

    Returns
    -------
    PublishedComparison

    Raises
    ------
    ValueError
        If there are no rows, a column or value is missing, a cell occurs twice, or a value is out of range.
    """
    cells = check_cells(published, metric)
    ours = scores.assign(noise_rate=scores["noise_rate"].round(DIGITS)).groupby(CELL)[metric]
    found = ours.agg(["mean", "std", "size", "count"]).reset_index()
    found = found[found["size"] == found["count"]]  # cells without failed repeats
    cells = cells.merge(found, on=CELL, how="left").rename(columns=OURS)
    cells["difference"] = cells["ours"] - cells["published"]
    deviations = cells[["published_sd", "ours_sd"]]
    p = cells["published"].clip(0, 1)
    of_rows = ((p * (1 - p) / cells["test_rows"]) ** 0.5).fillna(0.0)
    spread = deviations.fillna(0.0).sum(axis=1).where(deviations.notna().any(axis=1), of_rows)
    cells["band"] = DEVIATIONS * spread
    within = cells["difference"].abs() <= cells["band"] + 10.0**-DIGITS
    cells["within"] = within.astype("boolean").where(cells["ours"].notna())
    return PublishedComparison(metric, cells[COLUMNS], _rank_agreement(cells))


def claims_only(metric: str, claims: pd.DataFrame) -> PublishedComparison:
    """Claims of a paper that has no numbers to compare."""
    cells = pd.DataFrame({name: pd.Series(dtype=object) for name in COLUMNS})
    return PublishedComparison(metric, cells, _rank_agreement(cells), claims)


def check_cells(published: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Check published numbers, as `compare_with_published` does; return them with columns of equal names."""
    lacking = [name for name in (*CELL, metric) if name not in published]
    if lacking:
        raise ValueError(
            f"published numbers need the columns {', '.join([*CELL, metric])}; {lacking[0]!r} is missing"
        )
    if published.empty:
        raise ValueError("published numbers: the table has no rows")
    for name in (*CELL, metric):
        empty = np.flatnonzero(published[name].isna())
        if empty.size:
            raise ValueError(
                f"published numbers: {name} is missing in row {empty[0] + 1}; it must have a value"
            )
    table = published.rename(columns={metric: "published", **PUBLISHED})
    optional = [*PUBLISHED.values(), "test_rows"]
    table = table.assign(**{name: np.nan for name in optional if name not in table})
    numbers = ["noise_rate", "published", *optional]
    try:
        table[numbers] = table[numbers].astype(np.float64)
    except ValueError as error:
        raise ValueError(f"published numbers: {error}") from None
    _check_range(table["noise_rate"], "noise_rate", 0, 1)
    _check_range(table["published"], metric, REGISTRY[metric].minimum, REGISTRY[metric].maximum)
    _check_range(table["published_sd"].dropna(), "sd", 0, np.inf)
    table["noise_rate"] = table["noise_rate"].round(DIGITS)
    twice = table[table.duplicated(CELL)]
    if not twice.empty:
        raise ValueError(f"published numbers: a cell occurs twice: {', '.join(map(str, twice[CELL].iloc[0]))}")
    return table


def _check_range(values: pd.Series[float], name: str, low: float, high: float) -> None:
    odd = values[~values.between(low, high)]
    if odd.empty:
        return
    allowed = f"{low:g} or more" if np.isinf(high) else f"from {low:g} to {high:g}"
    hint = "; divide percentages by 100" if high == 1 and 1 < odd.iloc[0] <= 100 else ""
    raise ValueError(f"published numbers: {name} must be {allowed}, got {odd.iloc[0]:g}{hint}")


def name_list(column: str, names: list[str]) -> list[str]:
    """The names of a column after its noun, as in ["models a and b"]; empty if there are none."""
    if not names:
        return []
    singular, plural = NOUNS[column]
    text = listed(names) if len(names) <= MAX_NAMES else joined(names, MAX_NAMES)
    return [f"{singular if len(names) == 1 else plural} {text}"]


def names_without(cells: pd.DataFrame, found: pd.Series[bool]) -> str:
    """List data sets, models, kinds and rates of noise without a cell in `found`: models a and b."""
    parts = []
    for column in NOUNS:
        any_found = found.groupby(cells[column], sort=False).any()
        parts += name_list(column, [str(name) for name in any_found.index[~any_found]])
    for kind, of_kind in cells.groupby("noise_kind", sort=False):
        any_found = found[of_kind.index].groupby(of_kind["noise_rate"]).any()
        rates = [f"{noise_rate:g}" for noise_rate in any_found.index[~any_found]]
        if rates and any_found.any():
            parts.append(f"{kind} noise at {listed(rates)}")
    return "; ".join(parts)


def _rank_agreement(cells: pd.DataFrame) -> pd.DataFrame:
    from scipy.stats import kendalltau  # slow to import

    rows = []
    reproduced = cells.dropna(subset="ours")
    for (kind, noise_rate), at_rate in reproduced.groupby(["noise_kind", "noise_rate"], sort=False):
        taus = [
            float(kendalltau(table["published"], table["ours"]).statistic)
            for _, table in at_rate.groupby("dataset")
            if len(table) >= MIN_RANKED
        ]
        taus = [tau for tau in taus if np.isfinite(tau)]  # not finite if all models are equal
        if taus:
            rows.append((kind, noise_rate, float(np.mean(taus)), len(taus)))
    return pd.DataFrame(rows, columns=["noise_kind", "noise_rate", "kendall_tau", "datasets"])


def _text(table: pd.DataFrame) -> str:
    return table.to_string(index=False, float_format="{:.4g}".format, na_rep="–")
