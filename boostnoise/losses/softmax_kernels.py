"""Compiled passes over margins.  NumPy computes the exponentials between them, several at a time.

The inner loops are over rows, along contiguous memory.
"""

from robust_splits._kernels.compile import outer_kernel


@outer_kernel()
def oppose(y, margin, opposite):
    """Write the log-odds of the other class than the label, for two classes."""
    for i in range(y.size):
        opposite[i] = -margin[i] if y[i] == 1 else margin[i]


@outer_kernel()
def shift_margins(margin, highest, shifted):
    """Write the highest margin of each row, and all margins minus that."""
    n_rows, n_classes = margin.shape
    for i in range(n_rows):
        highest[i] = margin[i, 0]
    for k in range(1, n_classes):
        for i in range(n_rows):
            highest[i] = max(highest[i], margin[i, k])
    for k in range(n_classes):
        for i in range(n_rows):
            shifted[i, k] = margin[i, k] - highest[i]


@outer_kernel()
def sum_others(exponentials, others):
    """Write the sum of the exponentials of each row without that of the highest margin, which is 1.

    The 1 would absorb the digits of the others.  If several are highest, one is omitted.
    """
    n_rows, n_classes = exponentials.shape
    zero, one = others.dtype.type(0), others.dtype.type(1)  # integers would turn single into double precision
    for i in range(n_rows):
        others[i] = -one
    for k in range(n_classes):
        for i in range(n_rows):
            others[i] += one if exponentials[i, k] == one else zero
    for k in range(n_classes):
        for i in range(n_rows):
            others[i] += zero if exponentials[i, k] == one else exponentials[i, k]
