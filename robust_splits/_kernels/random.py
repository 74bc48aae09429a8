"""Random numbers in compiled code: the xorshift64* generator.  Its state is an array of one nonzero uint64.

References
----------
.. [1] Steele, Lea & Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
"""

import numpy as np

from .compile import inner_kernel, merged_kernel, outer_kernel


@inner_kernel()
def next_uint64(state):
    """Draw a 64-bit integer."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return x * np.uint64(2685821657736338717)


@merged_kernel()
def next_below(state, bound):
    """Draw an integer in [0, bound), for a bound below 2^32."""
    return np.int64(((next_uint64(state) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@inner_kernel()
def next_uniform(state):
    """Draw a float in [0, 1)."""
    return np.float64(next_uint64(state) >> np.uint64(11)) * 2.0**-53


@merged_kernel()
def split_seed(seed, i):
    """Seed number `i` derived from a seed, by SplitMix64 [1]_; nonzero."""
    x = seed + np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return max(x ^ (x >> np.uint64(31)), np.uint64(1))


@outer_kernel()
def count_draws(state, n_draws, out):
    """Draw `n_draws` times with replacement, and add the number of draws of each element to `out` (n,)."""
    n = out.shape[0]
    for _ in range(n_draws):
        out[next_below(state, n)] += 1.0


@outer_kernel()
def draw_labels(state, n_draws, first, shares, out):
    """Draw a label for each draw of a row, and add the number of draws of each label to `out` (n_labels,).

    Row i is drawn ``n_draws[i]`` times.  Its labels begin at ``first[i]``; their `shares` sum to 1.
    """
    for i in range(n_draws.shape[0]):
        last = first[i + 1] - 1
        for _ in range(np.int64(n_draws[i])):
            at, rest = first[i], next_uniform(state)
            while at < last and rest >= shares[at]:
                rest -= shares[at]
                at += 1
            out[at] += 1.0
