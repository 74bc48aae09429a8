"""The compiled loop of ``_cost_complexity.py``."""

from .compile import outer_kernel


@outer_kernel()
def sum_worth(left, removed, alpha, worth):
    """Write what the subtree of each node is worth to `worth`; see `worthwhile_splits`."""
    for node in range(left.shape[0] - 1, -1, -1):  # children come after their parents
        child = left[node]
        worth[node] = 0.0
        if child >= 0:
            worth[node] = max(0.0, removed[node] - alpha + worth[child] + worth[child + 1])
