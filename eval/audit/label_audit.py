"""The result of an audit, with its summaries and its page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from .._atomic_file import write
from .estimates import AuditEstimates

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from .clean_scores import CleanScores


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
    checked : CheckedSample or None
        Rows whose labels somebody has checked, their right labels, and how they were drawn.
    remarks : tuple of str
        Reasons to doubt the estimates.
    left_out : tuple
        Columns that were left out, as they were probably made from the label.
    """

    def plot(self, plot: str = "summary", *, ax: Axes | None = None) -> Axes | NDArray[Any]:
        """Plot the estimates.

        Up to 12 classes are shown; of more classes or pairs of them, the 12 that matter most.

        Parameters
        ----------
        plot : str, default="summary"
            One of

            - ``"wrong_labels"``: the share of wrong labels overall and by label, with 90 % intervals; those of
              labels need checked rows;
            - ``"confusions"``: the expected number of rows by given and right label;
            - ``"precision"``: the expected share of wrong labels among the first suspects;
            - ``"class_sizes"``: the number of rows of each class by given labels, and expected by right ones;
            - ``"summary"``: all four in one figure, below the result in one sentence.
        ax : Axes or None, default=None
            Where to draw a single panel, in a figure with ``layout="constrained"``; None for a new pyplot
            figure, which notebooks and ``plt.show()`` display.

        Returns
        -------
        Axes or ndarray of Axes
            For ``"summary"``, an array of shape (4,).

        Raises
        ------
        ValueError
            If `plot` is unknown, or `ax` is given for several panels.
        TypeError
            If `ax` is not an Axes.
        """
        from .plot import plot_audit

        axes = plot_audit(self, plot, ax)
        if ax is None:
            from ..plotting.figure import figure_of, show_with_pyplot

            show_with_pyplot(figure_of(axes))
        return axes

    def compare_cleaning(
        self,
        X: Any,
        *,
        groups: Any = None,
        precision: float = 0.8,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> pd.DataFrame:
        """Estimate how accurate a model is on right labels, by the way its training labels are cleaned.

        A small LightGBM is cross-validated on at most 3,000 rows, in four folds.  The labels of its training
        rows are judged again without the held-out rows, by the default models of `audit`, and then cleaned: a
        model whose training labels came from the same posterior as its score would be overrated.  The
        accuracy is the mean probability of the predicted classes, by `clean_probabilities`.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            Features, as for `audit`.
        groups : array-like of shape (n,) or None, default=None
            Groups of rows that folds keep together.
        precision : float, default=0.8
            For ``"drop"`` and ``"relabel"``, the expected share of wrong labels among the suspects; see
            `clean_mask`.
        random_state : int, default=0
            Seed of the folds and of the model.
        n_jobs : int or None, default=None
            Threads of the model; None for LightGBM's default.

        Returns
        -------
        DataFrame
            The index is ``"as given"``, ``"weights"``, ``"soft-labels"``, ``"drop"`` (suspects left out) and
            ``"relabel"`` (suspects with the suggested labels).  The columns are ``accuracy``; ``change``, the
            difference to the labels as given; and ``error``, half the width of its 95 % interval over the rows.

        Raises
        ------
        ConfigError
            A ValueError, if the numbers of rows do not match, or groups are missing.
        ValueError
            If `precision` is out of range.
        """
        from .cleaning import compare_cleaning

        return compare_cleaning(self, X, groups, precision, random_state, n_jobs)

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

    def clean_scores(
        self,
        predictions: Any,
        *,
        rows: ArrayLike | None = None,
        costs: ArrayLike | None = None,
        confidence: float = 0.95,
    ) -> CleanScores:
        """Estimate how well models predict the clean labels.

        With 20 checked rows or more that were drawn with known probabilities, by prediction-powered inference:
        the intervals hold whatever the noise.  Without, an interval is from what the noise that is proven says
        to what the noise that is possible says.

        Parameters
        ----------
        predictions : array-like, or dict of str to array-like
            Predictions of one model, or of several by their names: labels of shape (n,), or probabilities of
            shape (n, K) in the order of `classes`.  Of models that have not seen the labels of these rows, such
            as those of scikit-learn's ``cross_val_predict``.
        rows : int array of shape (n,) or None, default=None
            Places of the rows of the predictions, from 0; None for all rows.
        costs : array-like of shape (K, K) or None, default=None
            ``costs[i, j]`` is the cost of predicting class j for a row of class i.  The scores then have the
            measure ``expected cost``.
        confidence : float, default=0.95
            Of the intervals.

        Returns
        -------
        CleanScores

        Raises
        ------
        ConfigError
            A ValueError that names the argument, if rows, labels or probabilities are not valid.
        """
        from .clean_scores import score_predictions

        return score_predictions(self, predictions, rows=rows, costs=costs, confidence=confidence)

    def calibration_curve(
        self,
        predictions: Any,
        *,
        pos_label: Any = None,
        rows: ArrayLike | None = None,
        n_bins: int = 5,
        confidence: float = 0.95,
    ) -> pd.DataFrame:
        """Estimate how often rows are of a class on clean labels, by the predicted probability of the class.

        The bins have about as many rows each, as those of scikit-learn's ``calibration_curve`` with
        ``strategy="quantile"``.  With checked rows as `clean_scores` needs them, the estimate and interval of a
        bin are from its own ones; if fewer than two of its rows were drawn, the interval is from 0 to 1.

        Parameters
        ----------
        predictions : array-like of shape (n, K), or dict of str to these
            Probabilities, as for `clean_scores`.
        pos_label : label or None, default=None
            The class; None for the second one of two.
        rows : int array or None, default=None
            Places of the rows of the predictions; None for all rows.
        n_bins : int, default=5
            Number of bins; bins without rows are left out.
        confidence : float, default=0.95
            Of each interval.

        Returns
        -------
        DataFrame
            One row per model and bin: ``model``, ``class``, ``mean_predicted``; the numbers of ``rows`` and of
            ``checked`` ones among them; the share of the class on clean labels, ``estimate``, ``low`` and
            ``high``; and that ``on_given_labels``.  For `plot_calibration_curve`.

        Raises
        ------
        ConfigError
            A ValueError that names the argument, if it is not valid.
        """
        from .model_curves import calibration_curve

        return calibration_curve(
            self, predictions, pos_label=pos_label, rows=rows, n_bins=n_bins, confidence=confidence
        )

    def lift_curve(
        self,
        predictions: Any,
        *,
        pos_label: Any = None,
        rows: ArrayLike | None = None,
        depths: ArrayLike | None = None,
        confidence: float = 0.95,
    ) -> pd.DataFrame:
        """Estimate how many rows of a class are among those with the highest predicted probabilities of it.

        All numbers are on clean labels.  Rows of the same probability are taken together, so a depth may be
        larger than the one given.  With checked rows as `clean_scores` needs them, the estimates are from the
        checked rows among the first ones and among the rest.

        Parameters
        ----------
        predictions, pos_label, rows, confidence
            See `calibration_curve`.
        depths : array-like or None, default=None
            Shares of the rows, above 0 and at most 1; None for .01, .02, .05, .1, .2, and so on up to 1.

        Returns
        -------
        DataFrame
            Three rows per model and depth: ``model``, ``class``, ``depth``, ``rows``, ``checked``; the
            ``measure``, which is ``recall`` (share of the class that is found, the cumulative gain),
            ``precision`` (share of the class among the first rows) or ``lift`` (precision over the share of the
            class among all rows); ``estimate``, ``low``, ``high`` and ``on_given_labels``.  For
            `plot_lift_curve`.

        Raises
        ------
        ConfigError
            A ValueError that names the argument, if it is not valid.
        """
        from .model_curves import lift_curve

        return lift_curve(
            self, predictions, pos_label=pos_label, rows=rows, depths=depths, confidence=confidence
        )

    def rows_to_check(
        self, n: int, predictions: Any = None, *, rows: ArrayLike | None = None, random_state: int = 0
    ) -> pd.DataFrame:
        """Draw the rows whose labels to check next.

        Rows whose labels are in doubt, those of rare classes, and those that separate the models are more
        likely to be drawn.  The probabilities are known, so that the intervals of `clean_scores` hold.

        Parameters
        ----------
        n : int
            Number of rows, at most as many as are not checked.
        predictions : array-like, or dict of str to array-like, or None, default=None
            Predictions of models, as for `clean_scores`; None to learn about the given labels.
        rows : int array or None, default=None
            Places of the rows to draw from and of the predictions; None for all rows.
        random_state : int, default=0
            Seed.

        Returns
        -------
        DataFrame
            Place of each row as its index, and the columns ``given`` and ``suggested``, ``p_wrong``,
            ``probability`` of being drawn, and ``round``.  With the column ``label`` for the right labels, it
            can be the argument `checked` of `audit`; several rounds can be concatenated.

        Raises
        ------
        ConfigError
            A ValueError that names the argument, if it is not valid.
        """
        from .next_rows import draw_next

        return draw_next(self, n, predictions, rows, random_state)

    def __repr__(self) -> str:
        from .text import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from .text import as_html

        return as_html(self)
