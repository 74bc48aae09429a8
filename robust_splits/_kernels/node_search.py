"""The compiled search for the best split of a node over a random selection of features."""

import numpy as np

from .coding import BYTE
from .compile import inlined_kernel
from .random import next_below
from .scan import describe
from .search import NO_MISSING, count_codes, gather, has_few_cells, search_exact, search_random
from .sorting import MAX_NETWORK

# In sparse data, many rows of a node have the lowest value of the column.  If their share in all rows is more
# than MIN_SKIPPED_SHARE, keys are written for the other rows only.  If it is more than MAX_COUNTED_SHARE, that
# also takes less time than a histogram of all rows.
MIN_SKIPPED_SHARE = 0.125
MAX_COUNTED_SHARE = 0.5


@inlined_kernel(level=1)
def search_node(rows, begin, end, columns, codes, samples, counts, measure, phi_table, gini, growth, scratch, features, constant, rounding, state, exhaustive, threshold_state):  # fmt: skip  # noqa: E501
    """Best split of a node over a random selection of features.

    Returns the feature or -1, the highest code on the left, the threshold, the side of missing values, and the
    reduction.

    Searches all thresholds, unless `exhaustive` is None: then it draws one for each feature from
    `threshold_state`.  Sets the bits in `constant` of features found to be constant at the node.  Constant
    features count as tried, but the search continues until one feature varies.
    """
    n_features = features.shape[0]
    node = describe(measure.code, measure.parameter, counts, end - begin, phi_table)
    best = rounding * node.weight
    enough = node.limit - best  # beyond this, no split is better by more than rounding
    best_feature, best_below, best_threshold, best_missing = -1, np.int64(-1), 0.0, np.int64(NO_MISSING)
    n_rows = end - begin
    tried = 0
    varies = False
    while tried < n_features and (tried < growth.max_features or not varies) and best < enough:
        other = tried + next_below(state, n_features - tried)
        f = features[other]
        features[other] = features[tried]
        features[tried] = f
        tried += 1
        bit = np.uint64(1) << np.uint64(f & 63)
        if constant[f >> 6] & bit:
            continue
        first, last = columns.offsets[f], columns.offsets[f + 1]
        n_codes = last - first + 1  # with that of missing values
        n_keys = n_rows
        counted = False
        above = np.int64(-1)  # with a literal, `gather` would be compiled a second time
        if exhaustive is not None:
            share = 0.0
            if samples.class_bits > 0:  # differences of integer weights are exact
                share = columns.lowest_share[f]
            if gini is not None and n_rows <= MAX_NETWORK:  # leaving out a few keys would take longer
                share = 0.0
            if share > MIN_SKIPPED_SHARE:
                above = np.int64(0)
            if columns.mask[f] == BYTE and share <= MAX_COUNTED_SHARE:
                counted = has_few_cells(n_codes, counts.shape[0], n_rows)
        if counted:
            low, high = count_codes(
                codes.data, codes.first[f], codes.step[f], rows, begin, end, samples, n_codes, scratch.bins,
                scratch.bin_rows,
            )  # fmt: skip
        else:
            low, high, n_keys = gather(
                codes.data, codes.first[f], codes.step[f], columns.mask[f], rows, begin, end, above,
                samples.class_bits, counts, scratch.keys, scratch.left,
            )  # fmt: skip
        if low == high:
            constant[f >> 6] |= bit
            continue
        varies = True
        values, highest = columns.values[first:last], columns.highest[first:last]
        if exhaustive is not None:
            reduction, below, threshold, missing = search_exact(
                low, high, n_keys, counted, last - first, values, highest, node, samples, measure, phi_table,
                gini, growth.min_samples_leaf, growth.min_weight_leaf, scratch, best,
            )  # fmt: skip
        if threshold_state is not None:
            reduction, below, threshold, missing = search_random(
                low, high, last - first, values, highest, node, samples, measure, growth.min_samples_leaf,
                growth.min_weight_leaf, scratch, best, threshold_state,
            )  # fmt: skip
        if below >= 0:
            best, best_feature, best_below = reduction, f, below
            best_threshold, best_missing = threshold, missing
    return best_feature, best_below, best_threshold, best_missing, best
