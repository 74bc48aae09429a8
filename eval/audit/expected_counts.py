"""Expected number of rows by given and right label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import printable

if TYPE_CHECKING:
    from .estimates import AuditEstimates

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """Expected number of rows by given and right label.

    Attributes
    ----------
    names : list of str
        Printable names of the K classes.
    rows : float array of shape (K, K)
        Expected number of rows by given label (row) and right label (column).
    """

    names: list[str]
    rows: Floats

    @property
    def given(self) -> Floats:
        """Number of rows with each label, shape (K,)."""
        given: Floats = self.rows.sum(axis=1)
        return given

    @property
    def right(self) -> Floats:
        """Expected number of rows of each class, shape (K,)."""
        right: Floats = self.rows.sum(axis=0)
        return right

    @property
    def wrong(self) -> Floats:
        """`rows` with zeros in place of the right labels."""
        return np.where(np.eye(len(self.names), dtype=bool), 0.0, self.rows)


def expected_counts(audit: AuditEstimates) -> ExpectedCounts:
    """Count the rows of an audit, each with the probabilities of its classes."""
    codes, p = np.searchsorted(audit.classes, audit.labels), audit.clean_probabilities
    rows = np.stack([p[codes == code].sum(axis=0) for code in range(audit.classes.size)])
    return ExpectedCounts([printable(str(name)) for name in audit.classes.tolist()], rows)
