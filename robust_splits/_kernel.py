"""How every kernel of the package is compiled."""

from functools import partial

from numba import njit

# Cached on disk: a second process starts in a fraction of a second.  Without the interpreter's lock: threads
# run kernels side by side.  NumPy's error model: a division compiles to a division.
kernel = partial(njit, cache=True, nogil=True, error_model="numpy")

# For kernels that allocate nothing: compiled without reference counts, which threads that share an array would
# otherwise fight over, and which make up most of the code of a short function.
outer_kernel = partial(kernel, _nrt=False)

# The same, for kernels that only other kernels call.
inner_kernel = partial(outer_kernel, no_cpython_wrapper=True, no_cfunc_wrapper=True)

# The same, compiled into the one place that calls them: a call would hand over the fields of every array, which
# takes longer than the work on a few rows.
inlined_kernel = partial(inner_kernel, forceinline=True)
