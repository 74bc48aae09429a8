"""Positive curvatures for the Newton steps of a booster, from losses that need not be convex.

A booster divides the sum of the gradients of a leaf by the sum of its curvatures.  The second derivative of a
robust loss is negative for the rows that contradict the model, so something else must take its place.  In what
follows g is the gradient and h the second derivative of the loss of a row by one of its margins, p the
probability of the class that this margin belongs to, and r the gradient of cross entropy, ``p - onehot(y)``;
for two classes that is the second class.  Every strategy is finite and not negative at every finite margin.

``"irls"``
    ``max(|g| (1 - |r|), h)``, the default of all losses.  The first term is the curvature of cross entropy,
    ``p (1 - p) = |r| (1 - |r|)``, with the weight g / r that gives it the gradient of the loss, as in
    iteratively reweighted least squares.  A row that the loss does not trust has little of both, and the step
    is the one that cross entropy would take.  For a loss of p_t with the weight ``w(p_t) = g / r`` the term is
    ``w(p_t) p (1 - p)``, for GCE ``p_t^q p (1 - p)``; for a margin loss phi(v) it is
    ``|phi'(v)| / (1 + exp(-v))``.  The curvature is never below h: to second order, the Newton step of one row
    by one margin does not raise its loss.  (`TangentLoss` has its own first term.)

    More is true of a loss that is a concave function of cross entropy: of ``ce``, ``gce``, ``alpha``, ``mae``,
    ``sce`` and ``sigmoid``.  There the weighted cross entropy, shifted to touch the loss at the margin, lies
    above it everywhere, and what lowers it lowers the loss by as much.  The same holds for losses
    with a majoriser of their own: cross entropy with other targets for ``forward`` (the posterior of the class,
    as in expectation maximisation) and for ``bootstrap(hard=True)``, whose curvature is ``p (1 - p)``, and the
    exponential or a constant for ``negative_exponential``.  For ``focal``, ``rfl``, ``mse``, soft
    ``bootstrap``, ``nce_mae``, ``nce_rce``, ``ramp``, ``savage``, ``tangent`` and ``distribution`` it is an
    approximation.
``"logistic"``
    ``p (1 - p)``, whatever the loss.  Rows that are not trusted keep their weight in the denominator, so for a
    loss with weights below 1, such as GCE, steps are shorter than with "irls" where many rows contradict the
    model: the cautious choice.  Twice the loss takes twice the step.
``"fisher"``
    ``sum_j p_j g_j r_j`` over the labels j that the model expects: the covariance of the gradient with that of
    cross entropy, without the given label.  For a proper loss (``ce``, ``mse``) this is the expected second
    derivative, the Fisher information where the loss is a likelihood.  For one that is not proper the expected
    second derivative may vanish or be negative (that of ``mae`` and ``sigmoid`` is 0 at p = 1/2), and the
    covariance is what remains of it when the loss is made unbiased at p.  In particular

    - loss of p_t with weight w: ``p (1-p)^2 w(p) + p^2 sum_{j other} p_j w(p_j)``; for two classes
      ``p (1-p) {(1-p) w(p) + p w(1-p)}``;
    - margin loss phi, with p = 1 / (1 + exp(-f)): ``-p (1-p) {phi'(f) + phi'(-f)}``;
    - ``mse``: ``2 p^2 {(1-p)^2 + sum_{j other} p_j^2}``;
    - soft ``bootstrap``: ``beta p (1-p)``;
    - ``label_smoothing``, ``backward``, ``unbiased``, hard ``bootstrap``: ``p (1-p)``, which is h for any
      label;
    - ``forward``: ``sum_j q_j g_j^2`` with q_j the probability of observing the label j.
``"exact_clipped"``
    ``max(h, p (1 - p) / 10)``.  Newton's method where the loss is convex; elsewhere a floor in proportion to
    the curvature of cross entropy, as with a tiny constant in its place steps explode.
``"abs"``
    ``|h|``.  It vanishes where the loss changes from convex to concave, which for symmetric losses (``mae``,
    ``sigmoid``, ...) of two classes is the margin 0, so a booster that starts there takes wild steps.  For
    comparison only.
``"unit"``
    1: plain gradient steps, as large as the learning rate makes them.  The control against which to compare
    robust losses, as much of what looks like robustness is damping.

References
----------
.. [1] Hunter & Lange, "A tutorial on MM algorithms", The American Statistician 58, 2004.
"""

from __future__ import annotations

from typing import Literal, get_args

Strategy = Literal["irls", "logistic", "fisher", "exact_clipped", "abs", "unit"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


def check_strategy(strategy: str) -> None:
    """Raise a ValueError that lists the known strategies where this is none of them."""
    if strategy not in STRATEGIES:
        raise ValueError(f"hessian strategy {strategy!r} is unknown; known are {', '.join(STRATEGIES)}")
