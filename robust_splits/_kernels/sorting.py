"""Sort the rows of a node by their codes in one column.

A key is an int64 with the code in the high 32 bits.  The low 32 bits are payload.
"""

import numpy as np
from numpy import uintp

from .compile import inner_kernel

MAX_RANKING = 48
MAX_DIGIT_BITS = 11
N_COUNTERS = 1 << MAX_DIGIT_BITS


@inner_kernel()
def _bit_length(x):
    bits = 0
    while x > 0:
        bits += 1
        x >>= 1
    return bits


@inner_kernel()
def _rank_keys(keys, out):
    """Put each key at the index given by the number of smaller keys: n^2 comparisons, but no branches."""
    n = keys.shape[0]
    for i in range(n):
        out[i] = -1
    for i in range(n):
        key = keys[i]
        rank = 0
        for j in range(n):
            rank += np.int64(keys[j] < key)
        out[rank] = key
    # Equal keys share a rank, so the places after it are still empty; fill them with the same key.
    for i in range(1, n):
        if out[i] < 0:
            out[i] = out[i - 1]


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
def sort_keys(keys, scratch, counters, low, high):
    """Sort `keys`, whose codes are in [low, high], by code; return whether the result is in `scratch`.

    Few keys are sorted by ranking, many by a radix sort that starts with the least significant digit.
    """
    n = keys.shape[0]
    if n <= MAX_RANKING:
        _rank_keys(keys, scratch)
        return True
    bits = _bit_length(high - low)
    max_bits = min(max(_bit_length(n), 8), MAX_DIGIT_BITS)
    n_passes = (bits + max_bits - 1) // max_bits
    digit_bits = (bits + n_passes - 1) // n_passes
    for i in range(n_passes):
        if i % 2 == 0:
            _counting_pass(keys, scratch, counters, low, i * digit_bits, digit_bits)
        else:
            _counting_pass(scratch, keys, counters, low, i * digit_bits, digit_bits)
    return n_passes % 2 == 1
