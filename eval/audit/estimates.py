"""Estimates of an audit: the noise rate, suspects, and rows to keep."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from robust_splits.label_noise.label_errors import LabelErrors
from robust_splits.label_noise.noise_scenarios import NoiseScenarios, noise_scenarios

from ..clean_labels.checked_sample import CheckedSample
from .rounds import noise_by_round

LENGTHS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)  # of lists of suspects


@dataclass(frozen=True, eq=False, repr=False)
class AuditEstimates:
    """Estimates of an audit without its summaries; `LabelAudit` describes the attributes."""

    errors: LabelErrors
    labels: NDArray[Any]
    rows: NDArray[np.int64]
    features: pd.DataFrame | None = None
    ids: NDArray[Any] | None = None
    name: str = "data"
    checked: CheckedSample | None = None
    remarks: tuple[str, ...] = ()
    left_out: tuple[Any, ...] = ()

    @property
    def n_checked(self) -> int:
        """Number of rows whose labels somebody has checked."""
        return 0 if self.checked is None else self.checked.rows.size

    @property
    def classes(self) -> NDArray[Any]:
        """Sorted labels, array of shape (K,)."""
        return self.errors.classes

    @property
    def codes(self) -> NDArray[np.int64]:
        """Class numbers of the given labels, array of shape (n,)."""
        return np.searchsorted(self.classes, self.labels)

    @cached_property
    def scenarios(self) -> NoiseScenarios:
        """Probabilities of the clean classes with little and much noise; checked labels are not used."""
        return noise_scenarios(self.errors, self.labels)

    @property
    def noise_rate(self) -> float:
        """Estimated share of wrong labels."""
        return self.errors.noise_rate

    @property
    def noise_rate_interval(self) -> tuple[float, float]:
        """90 % interval of the noise rate; see `find_label_errors`."""
        return self.errors.noise_rate_interval

    @property
    def noise_rate_without_overlap(self) -> float:
        """Share of wrong labels if each class has rows that are certain to be of it."""
        return self.errors.noise_rate_without_overlap

    @property
    def transition_matrix(self) -> NDArray[np.float64]:
        """Estimated probability of label j in class i, array of shape (K, K)."""
        return self.errors.transition_matrix

    @cached_property
    def suspects(self) -> pd.DataFrame:
        """All rows, the most suspect first, and those whose labels were checked last.

        The columns are ``row``, its number from 0; ``id``, if names of rows were given; ``given`` and
        ``suggested``, the label and the most probable other one; ``p_wrong``, the probability that the label is
        wrong; and ``rank``, from 1.
        """
        order = self.errors.ranking
        columns: dict[str, NDArray[Any]] = {"row": self.rows[order]}
        if self.ids is not None:
            columns["id"] = self.ids[order]
        columns["given"] = self.labels[order]
        columns["suggested"] = self.errors.suggested[order]
        columns["p_wrong"] = self.errors.p_wrong[order]
        columns["rank"] = np.arange(1, order.size + 1)
        return pd.DataFrame(columns)

    @property
    def by_label(self) -> pd.DataFrame:
        """Wrong labels by label.

        The columns are ``label``; ``rows``, the number of rows that have it; ``wrong``, the expected number of
        wrong ones among them, and ``share``, their share; ``suggested``, the label that is suggested most
        often; and if some rows were checked, the 90 % interval of the share from ``low`` to ``high``.
        """
        records = []
        for label in self.classes:
            of_label = self.labels == label
            p, suggested = self.errors.p_wrong[of_label], self.errors.suggested[of_label]
            names, numbers = np.unique(suggested, return_inverse=True)
            likely = names[np.bincount(numbers, weights=p).argmax()]
            records.append((label, int(of_label.sum()), float(p.sum()), float(p.mean()), likely))
        table = pd.DataFrame(records, columns=["label", "rows", "wrong", "share", "suggested"])
        intervals = self.errors.intervals_of_labels
        return table if intervals is None else table.assign(low=intervals[:, 0], high=intervals[:, 1])

    @property
    def expected_precision(self) -> pd.Series[float]:
        """Expected share of wrong labels among the first suspects, by the length of the list."""
        n = self.labels.size
        lengths = [length for length in LENGTHS if length <= n] or [n]
        means = np.cumsum(self.errors.p_wrong[self.errors.ranking]) / np.arange(1, n + 1)
        index = pd.Index(lengths, name="suspects")
        return pd.Series(means[np.array(lengths) - 1], index=index, name="expected precision")

    @cached_property
    def rounds(self) -> pd.DataFrame:
        """Share of wrong labels after each round of checked rows; see `noise_by_round`."""
        return noise_by_round(self.scenarios.without_overlap, self.codes, self.checked)

    @property
    def clean_probabilities(self) -> NDArray[np.float64]:
        """Probability of each class given a row's features and label, array of shape (n, K).

        Soft labels to fit models to.  Checked rows have the right label for certain.
        """
        return self.errors.clean_probabilities

    @property
    def weights(self) -> NDArray[np.float64]:
        """Probability that each label is right, array of shape (n,), for `sample_weight`."""
        return 1.0 - self.errors.p_wrong

    def draw_labels(self, random_state: int = 0) -> NDArray[Any]:
        """Draw a label for each row from the probabilities of its clean classes, without overlap.

        Conformal sets that are calibrated on draws contain right labels nearly as often as they should.
        `clean_probabilities` take much doubt for overlapping classes, and sets from them are larger.  Checked
        rows have the right label.

        Parameters
        ----------
        random_state : int, default=0
            Seed.

        Returns
        -------
        ndarray of shape (n,)
        """
        p = self.scenarios.without_overlap
        p = p if self.checked is None else self.checked.with_right_labels(p)
        drawn = np.random.default_rng(random_state).random((len(p), 1)) * p.sum(axis=1, keepdims=True)
        labels: NDArray[Any] = self.classes[(drawn >= np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)]
        return labels

    def clean_mask(self, precision: float = 0.8) -> NDArray[np.bool_]:
        """Find the rows to keep, without the longest list of suspects of an expected precision.

        Parameters
        ----------
        precision : float, default=0.8
            Share of the rows left out that are expected to be wrong, above 0 and at most 1.

        Returns
        -------
        bool array of shape (n,)
            False for the rows to leave out, in the order of the data.

        Raises
        ------
        ValueError
            If `precision` is out of range, or all rows of a class would be left out.
        """
        mask = ~self.errors.find_suspects(precision)
        lost = np.setdiff1d(self.labels, self.labels[mask])
        if lost.size:
            raise ValueError(
                f"all rows with the label {lost.tolist()[0]!r} would be left out; use a higher precision"
            )
        return mask
