"""The result of an audit, with its summaries and its page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .._atomic_file import atomic_write
from ..errors import ConfigError
from .estimates import AuditEstimates


@dataclass(frozen=True, eq=False, repr=False)
class LabelAudit(AuditEstimates):
    """Wrong labels of a data set, as `boostnoise.audit` estimates them.

    Printed, it is a summary.

    Attributes
    ----------
    errors : LabelErrors
        The estimates.
    labels : ndarray of shape (n,)
        Given labels.
    rows : int array of shape (n,)
        Number of each row in the data, from 0.
    features : DataFrame of n rows or None
        Features for reports.
    ids : ndarray of shape (n,) or None
        Names of the rows.
    name : str
        Name of the data set.
    n_checked : int
        Number of rows whose labels somebody has checked.
    remarks : tuple of str
        Reasons to doubt the estimates.
    """

    def report(self, path: str | Path) -> Path:
        """Write the audit as a page, which needs no network.

        Parameters
        ----------
        path : str or Path
            The file; an existing one is replaced.

        Returns
        -------
        Path

        Raises
        ------
        ConfigError
            If the file cannot be written.
        """
        from .page import render_page

        path = Path(path)
        write(path, render_page(self).encode("utf-8", "backslashreplace"))
        return path

    def __repr__(self) -> str:
        from .text import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from .text import as_html

        return as_html(self)


def write(path: Path, content: bytes) -> None:
    """Write a file atomically, and its folder.

    Raises
    ------
    ConfigError
        If the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(content)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None
