"""How every kernel of the package is compiled."""

from functools import partial

from numba import njit

# Cached on disk: a second process starts in a fraction of a second.  Without the interpreter's lock: threads
# run kernels side by side.  NumPy's error model: a division compiles to a division.
kernel = partial(njit, cache=True, nogil=True, error_model="numpy")
