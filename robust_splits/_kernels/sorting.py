"""Sort the rows of a node by their codes in one column.

A key is an int64 with the code in the high 32 bits.  The low 32 bits are payload.
"""

import numpy as np
from numpy import uintp

from .compile import inlined_kernel, inner_kernel

MAX_NETWORK = 8
MAX_RANKING = 40
INDEX_BITS = 6  # of keys to rank
MAX_RANKED_RANGE = 1 << (31 - INDEX_BITS)
MAX_DIGIT_BITS = 11
N_COUNTERS = 1 << MAX_DIGIT_BITS
COST_OF_KEY = 4  # of distributing a key, relative to setting a counter
LAST = np.iinfo(np.int64).max
LAST_SHORT = np.iinfo(np.int32).max


@inner_kernel()
def _bit_length(x):
    bits = 0
    while x > 0:
        bits += 1
        x >>= 1
    return bits


@inlined_kernel()
def _in_order(a, b):
    """The smaller and the larger of two keys."""
    return min(a, b), max(a, b)


@inner_kernel()
def _sort_four(keys, out):
    """Sort two to four keys by a network: which keys are compared does not depend on the keys."""
    n = keys.shape[0]
    a, b = keys[0], keys[1]
    c = keys[2] if n > 2 else LAST
    d = keys[3] if n > 3 else LAST
    a, b = _in_order(a, b)
    c, d = _in_order(c, d)
    a, c = _in_order(a, c)
    b, d = _in_order(b, d)
    b, c = _in_order(b, c)
    out[0], out[1] = a, b
    if n > 2:
        out[2] = c
    if n > 3:
        out[3] = d


@inner_kernel()
def _sort_eight(keys, out):
    """Sort five to eight keys by a network."""
    n = keys.shape[0]
    a, b, c, d, e = keys[0], keys[1], keys[2], keys[3], keys[4]
    f = keys[5] if n > 5 else LAST
    g = keys[6] if n > 6 else LAST
    h = keys[7] if n > 7 else LAST
    (a, c), (b, d), (e, g), (f, h) = _in_order(a, c), _in_order(b, d), _in_order(e, g), _in_order(f, h)
    (a, e), (b, f), (c, g), (d, h) = _in_order(a, e), _in_order(b, f), _in_order(c, g), _in_order(d, h)
    (a, b), (c, d), (e, f), (g, h) = _in_order(a, b), _in_order(c, d), _in_order(e, f), _in_order(g, h)
    (c, e), (d, f) = _in_order(c, e), _in_order(d, f)
    (b, e), (d, g) = _in_order(b, e), _in_order(d, g)
    (b, c), (d, e), (f, g) = _in_order(b, c), _in_order(d, e), _in_order(f, g)
    out[0], out[1], out[2], out[3], out[4] = a, b, c, d, e
    if n > 5:
        out[5] = f
    if n > 6:
        out[6] = g
    if n > 7:
        out[7] = h


@inner_kernel()
def _rank_keys(keys, low, short_keys, out):
    """Put each key at the index given by the number of smaller keys: n^2 comparisons, but no branches.

    Keys are compared by code, and equal codes by index.  Both fit into 32 bits, and the processor compares more
    numbers of 32 bits than of 64 at a time.
    """
    n = keys.shape[0]
    for i in range(n):
        short_keys[uintp(i)] = np.int32((((keys[uintp(i)] >> 32) - low) << INDEX_BITS) | i)
    n_padded = n
    while n_padded & 3:  # four keys at a time, with none left over
        short_keys[uintp(n_padded)] = LAST_SHORT
        n_padded += 1
    for i in range(n):
        key = short_keys[uintp(i)]
        rank = np.int32(0)
        for j in range(n_padded):
            rank = np.int32(rank + np.int32(short_keys[uintp(j)] < key))
        out[uintp(rank)] = keys[uintp(i)]


@inner_kernel()
def _counting_pass(keys, out, counters, low, shift, bits):
    """Distribute keys stably by `bits` bits of code - low, starting at bit `shift`."""
    n_digits = 1 << bits
    mask = n_digits - 1
    counters[:n_digits] = 0
    for i in range(keys.shape[0]):
        counters[uintp((((keys[uintp(i)] >> 32) - low) >> shift) & mask)] += 1
    begin = 0
    for digit in range(n_digits):
        count = counters[uintp(digit)]
        counters[uintp(digit)] = begin
        begin += count
    for i in range(keys.shape[0]):
        key = keys[uintp(i)]
        digit = uintp((((key >> 32) - low) >> shift) & mask)
        out[uintp(counters[digit])] = key
        counters[digit] += 1


@inner_kernel()
def sort_keys(keys, scratch, short_keys, counters, low, high):
    """Sort two or more keys, whose codes are in [low, high]; return whether the result is in `scratch`.

    Few keys are sorted by a network or by ranking, many by a radix sort that starts with the least significant
    digit.
    """
    n = keys.shape[0]
    if n <= 4:
        _sort_four(keys, scratch)
        return True
    if n <= MAX_NETWORK:
        _sort_eight(keys, scratch)
        return True
    if n <= MAX_RANKING and high - low < MAX_RANKED_RANGE:
        _rank_keys(keys, low, short_keys, scratch)
        return True
    bits = _bit_length(high - low)
    n_passes = (bits + MAX_DIGIT_BITS - 1) // MAX_DIGIT_BITS
    digit_bits = (bits + n_passes - 1) // n_passes
    # More passes with smaller digits if that costs less.
    while digit_bits > 1:
        more_bits = (bits + n_passes) // (n_passes + 1)
        cost = n_passes * (COST_OF_KEY * n + (1 << digit_bits))
        if (n_passes + 1) * (COST_OF_KEY * n + (1 << more_bits)) >= cost:
            break
        n_passes, digit_bits = n_passes + 1, more_bits
    for i in range(n_passes):
        if i % 2 == 0:
            _counting_pass(keys, scratch, counters, low, i * digit_bits, digit_bits)
        else:
            _counting_pass(scratch, keys, counters, low, i * digit_bits, digit_bits)
    return n_passes % 2 == 1
