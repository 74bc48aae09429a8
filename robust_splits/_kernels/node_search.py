"""The compiled search for the best split of a node over a random selection of features."""

import numpy as np

from .coding import Column
from .compile import inlined_kernel, merged_kernel
from .random import next_below
from .random_search import search_random
from .scan import describe
from .search import NO_MISSING, Split, Values, gather_column, search_exact


@merged_kernel()
def draw_feature(features, n_drawn, state):
    """Draw one of the features that come after the first `n_drawn`, and swap it with the first of them."""
    other = n_drawn + next_below(state, features.shape[0] - n_drawn)
    feature = features[other]
    features[other] = features[n_drawn]
    features[n_drawn] = feature
    return feature


@merged_kernel()
def restore_order(features, n_drawn):
    """Undo the swaps of the first `n_drawn` draws from the features in their order."""
    for i in range(n_drawn):
        if features[i] >= n_drawn:
            features[features[i]] = features[i]
    for i in range(n_drawn):
        features[i] = i


@inlined_kernel(level=1)
def search_node(columns, search, codes, is_local, waiting, at, exhaustive, random, categories, monotonic):
    """Best split of a node over a random selection of features; return the feature, or -1, and the `Split`.

    The node is entry `at` of `waiting`; `codes` are local ones if `is_local`.  Sets the bits in its `constant`
    of features found to be constant.
    Constant features count as tried, but the search continues until one feature varies.
    """
    measure, growth = search.measure, search.growth
    features, state = search.features, search.state
    n_features = features.shape[0]
    entry, counts, constant = waiting.entries[at], waiting.counts[at], waiting.constant[at]
    begin = entry.begin
    state[0] = entry.seed
    node = describe(measure.code, measure.parameter, counts, entry.end - begin, search.phi_table)
    best_feature = -1
    best = Split(-np.inf, 0.0, np.int64(-1), 0.0, np.int64(NO_MISSING))
    enough = node.limit - search.rounding * node.weight  # beyond this, no split is better by more than rounding
    n_tried = 0
    varies = False
    while n_tried < n_features and (n_tried < growth.max_features or not varies) and best.score < enough:
        f = draw_feature(features, n_tried, state)
        n_tried += 1
        bit = np.uint64(1) << np.uint64(f & 63)
        if constant[f >> 6] & bit:
            continue
        first, last = columns.offsets[f], columns.offsets[f + 1]
        column = Column(codes.data, codes.first[f], codes.step[f], columns.mask[f])
        categorical = columns.categorical[f]
        lowest_share = 0.0 if categorical else columns.lowest_share[f]
        values = Values(columns.values[first:last], columns.highest[first:last], lowest_share, categorical)
        if monotonic is not None:
            monotonic.current[0], monotonic.current[1] = entry.lower, entry.upper
            monotonic.current[2] = monotonic.signs[f]
        begin_listed, end_listed = columns.listed.offsets[f], columns.listed.offsets[f + 1]
        if is_local:
            end_listed = begin_listed  # lists have the numbers of rows in X
        listed = columns.listed.rows[begin_listed:end_listed]
        gathered = gather_column(search, node, begin, column, listed, values, exhaustive)
        if gathered.low == gathered.high:
            constant[f >> 6] |= bit
            continue
        varies = True
        if exhaustive is not None:
            split = search_exact(search, node, gathered, values, best.score, categories, monotonic)
        if random is not None:
            split = search_random(search, node, gathered, values, best.score, categories, monotonic)
        if split.below >= 0:
            best_feature, best = f, split
    restore_order(features, n_tried)
    return best_feature, best
