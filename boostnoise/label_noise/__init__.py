"""Label noise of any model: corrections of its predictions, and estimates of wrong labels."""

from robust_splits.label_noise.label_errors import LabelErrors, find_label_errors
from robust_splits.label_noise.transition_estimation import estimate_transition_matrix
from robust_splits.label_noise.transition_matrix import check_transition_matrix

__all__ = ["LabelErrors", "check_transition_matrix", "estimate_transition_matrix", "find_label_errors"]
