"""The compiled reduction of another criterion on corrected counts.  Importing this module compiles it."""

import numpy as np
from numba import carray  # type: ignore[attr-defined]

from .compile import callback
from .gain import REDUCTION, ROUNDING, call_at

# The table begins with the address and the code of the other criterion, and the length of its table.  Addresses
# of code are below 2^53, so a float holds them exactly.
ADDRESS, CODE, TABLE_SIZE, TABLE = range(4)


@callback(REDUCTION)
def corrected_reduction(criterion, parameter, table, n_table, counts, left, right, n_classes):
    """Reduction n g of a split, from noisy class counts; see `CorrectedCriterion`.

    The table ends with the inverse of the transition matrix, row by row.
    """
    table = carray(table, n_table)
    end = TABLE + np.int64(table[TABLE_SIZE])
    inverse = table[end:].reshape((n_classes, n_classes))
    noisy = (carray(counts, n_classes), carray(left, n_classes), carray(right, n_classes))
    clean = np.empty((3, n_classes))
    amplification = np.abs(inverse).sum(axis=1).max()
    for part in range(3):
        n = noisy[part].sum()
        total = 0.0
        for k in range(n_classes):
            count = 0.0
            for j in range(n_classes):
                count += noisy[part][j] * inverse[j, k]
            # A count of 0 may come out as a tiny number, which would make the node impure.
            clean[part, k] = count if count > ROUNDING * amplification * n else 0.0
            total += clean[part, k]
        clean[part] *= n / total
    reduction = call_at(
        np.int64(table[ADDRESS]),
        np.int64(table[CODE]),
        parameter,
        table[TABLE:end],
        clean[0],
        clean[1],
        clean[2],
    )
    return reduction if abs(reduction) > ROUNDING * amplification * noisy[0].sum() else 0.0
