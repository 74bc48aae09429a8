"""Expected effect of cleaning on a model: weights, soft labels, suspects left out or relabelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from boostnoise.ensemble.soft_fits import SoftRows, fit_to_soft_labels
from boostnoise.label_noise.checked_labels import use_checked_labels
from boostnoise.label_noise.judges import predict_out_of_bag
from robust_splits.label_noise.clean_posterior import IndistinctClassesError, without_negligible
from robust_splits.label_noise.folds import make_folds
from robust_splits.label_noise.label_errors import LabelErrors, find_label_errors
from robust_splits.label_noise.weights import spaced_rows

from .inputs import converted, read_groups, read_rows
from .label_columns import without_columns

if TYPE_CHECKING:
    from .estimates import AuditEstimates

Floats = NDArray[np.float64]

AS_GIVEN = "as given"
WEIGHTS, SOFT_LABELS, DROP, RELABEL = WAYS = ("weights", "soft-labels", "drop", "relabel")
MAX_ROWS = 3000
FOLDS = 4
NORMAL_95 = 1.96


def compare_cleaning(
    audit: AuditEstimates, X: Any, groups: Any, precision: float, random_state: int, n_jobs: int | None
) -> pd.DataFrame:
    """Expected accuracies on right labels by the way of cleaning; see `LabelAudit.compare_cleaning`."""
    X = read_rows(X, audit.labels.size, "the audit", groups=groups)
    features, _ = converted(without_columns(X, list(audit.left_out)) if audit.left_out else X, None)
    groups = None if groups is None else read_groups(groups)
    rows = spaced_rows(audit.labels.size, MAX_ROWS)
    classes, codes = np.unique(audit.labels[rows], return_inverse=True)
    model = LGBMClassifier(n_estimators=50, num_leaves=15, random_state=random_state, n_jobs=n_jobs, verbose=-1)
    features = features.tocsr() if hasattr(features, "tocsr") else features
    hits: dict[str, list[Floats]] = {}
    folds = make_folds(codes, FOLDS, None if groups is None else groups[rows], random_state)
    for seen, unseen in ((rows[seen], rows[unseen]) for seen, unseen in folds):
        X_seen, X_unseen = _safe_indexing(features, seen), _safe_indexing(features, unseen)
        errors = _judge(audit, X_seen, seen, groups, random_state, n_jobs)
        right = audit.clean_probabilities[unseen][:, np.isin(audit.classes, classes)]
        for way, labels in training_labels(audit.labels[seen], errors, classes, precision).items():
            p = fit_to_soft_labels(model, SoftRows(X_seen, labels)).predict_proba(X_unseen)
            hits.setdefault(way, []).append(right[np.arange(unseen.size), p.argmax(axis=1)])
    scores = pd.DataFrame({way: np.concatenate(parts) for way, parts in hits.items()})
    changes = scores.sub(scores[AS_GIVEN], axis=0)
    table = {"accuracy": scores.mean(), "change": changes.mean(), "error": NORMAL_95 * changes.sem()}
    return pd.DataFrame(table).rename_axis("labels")


def _judge(
    audit: AuditEstimates,
    X: Any,
    rows: NDArray[np.intp],
    groups: NDArray[np.int64] | None,
    random_state: int,
    n_jobs: int | None,
) -> LabelErrors | None:
    """Audit some rows without the others, or return None if the labels cannot be judged."""
    labels = audit.labels[rows]
    p = predict_out_of_bag(
        X,
        np.unique(labels, return_inverse=True)[1],
        groups=None if groups is None else groups[rows],
        random_state=random_state,
        n_jobs=n_jobs,
    )
    try:
        errors = find_label_errors(labels, p)
    except IndistinctClassesError:
        return None
    if audit.checked is None:
        return errors
    checked = audit.checked.among(rows)
    right = audit.classes[checked.codes]
    is_known = np.isin(right, labels)
    known, right = checked.rows[is_known], right[is_known]
    return use_checked_labels(errors, labels, known, right) if known.size else errors


def training_labels(
    labels: NDArray[Any], errors: LabelErrors | None, classes: NDArray[Any], precision: float
) -> dict[str, Floats]:
    """Labels that a model is trained on, by the way of cleaning.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Given labels.
    errors : LabelErrors or None
        None to leave all labels as given.
    classes : ndarray of shape (K,)
        Sorted labels.
    precision : float
        Expected share of wrong labels among the suspects; see `LabelErrors.find_suspects`.

    Returns
    -------
    dict of str to float array of shape (n, K)
        Weight of each class in each row.  Rows of zeros are left out.
    """
    given = (labels[:, np.newaxis] == classes).astype(np.float64)
    if errors is None:
        return dict.fromkeys((AS_GIVEN, *WAYS), given)
    suggested = (errors.suggested[:, np.newaxis] == classes).astype(np.float64)
    suspect = errors.find_suspects(precision)
    suspect &= np.isin(labels, labels[~suspect])  # no class is lost
    return {
        AS_GIVEN: given,
        WEIGHTS: given * (1.0 - errors.p_wrong)[:, np.newaxis],
        SOFT_LABELS: without_negligible(errors.clean_probabilities),
        DROP: np.where(suspect[:, np.newaxis], 0.0, given),
        RELABEL: np.where(suspect[:, np.newaxis], suggested, given),
    }


def as_text(table: pd.DataFrame) -> str:
    """The table of `compare_cleaning` as text."""
    changes = [
        "" if way == AS_GIVEN else f"{change:+.3f} ± {error:.3f}"
        for way, change, error in zip(table.index, table["change"], table["error"], strict=True)
    ]
    shown = {"accuracy": table["accuracy"].map("{:.3f}".format), "change": changes}
    return pd.DataFrame(shown, index=table.index).rename_axis(None).to_string()
