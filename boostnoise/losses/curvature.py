"""Hessian strategies: positive curvatures for the Newton steps of a booster.

For the value of a leaf, a booster divides the sum of the gradients of its rows by the sum of their curvatures.
The natural curvature is the second derivative of the loss, but that of a robust loss is negative for rows that
contradict the model.  A strategy, selected by the parameter ``hessian``, replaces it by a curvature that is
finite and non-negative at every finite margin:

=================== ========================= ==============================================================
strategy            curvature                 use
=================== ========================= ==============================================================
``"irls"``          ``max(|g| (1 - |r|), h)`` default of all losses
``"logistic"``      ``p (1 - p)``             more cautious: shorter steps where many rows contradict the model
``"fisher"``        ``sum_j p_j g_j r_j``     does not depend on the given labels
``"exact_clipped"`` ``max(h, p (1 - p)/10)``  Newton's method where the loss is convex
``"abs"``           ``|h|``                   for comparison only
``"unit"``          ``1``                     control: plain gradient steps
=================== ========================= ==============================================================

Here g and h are the first and second derivatives of the loss of a row with respect to one of its margins, p is
the probability of the class of that margin (for two classes, of class 1), and ``r = p - onehot(y)`` is the
gradient of cross entropy.

``"irls"``
    ``max(|g| (1 - |r|), h)``.  The first term is the curvature of cross entropy, ``p (1 - p) = |r| (1 - |r|)``,
    times the weight g / r that turns the gradient of cross entropy into that of the loss, as in iteratively
    reweighted least squares.  A row with a small weight has a small gradient and a small curvature, so the
    length of the step remains that of cross entropy.  For a loss of p_t with weight ``w(p_t) = g / r`` the term
    is ``w(p_t) p (1 - p)``, for GCE ``p_t^q p (1 - p)``; for a margin loss phi(v) it is
    ``|phi'(v)| / (1 + exp(-v))``.  The curvature is never below h.  So, to second order, the Newton step of one
    row in one margin does not increase its loss.  (`TangentLoss` replaces the first term by its own.)

    For losses that are concave functions of cross entropy (``ce``, ``gce``, ``alpha``, ``mae``, ``sce`` and
    ``sigmoid``), weighted cross entropy is a majoriser [1]_: shifted to touch the loss at the margin, it is
    nowhere below the loss, and a step that decreases it decreases the loss by at least as much.  Three losses
    have majorisers of their own: ``forward`` and ``bootstrap(hard=True)`` cross entropy with other targets (for
    ``forward`` the posterior of the class, as in expectation maximisation), whose curvature is ``p (1 - p)``,
    and ``negative_exponential`` the exponential or a constant.  For ``focal``, ``rfl``, ``mse``, soft
    ``bootstrap``, ``nce_mae``, ``nce_rce``, ``ramp``, ``savage``, ``tangent`` and ``distribution`` the strategy
    is an approximation.
``"logistic"``
    ``p (1 - p)`` for every loss.  Rows with a small weight keep their full share of the denominator.  For a
    loss with weights below 1, such as GCE, steps are therefore shorter than with "irls" where many rows
    contradict the model.  Doubling the loss doubles the step.
``"fisher"``
    ``sum_j p_j g_j r_j``, where p_j is the probability of label j under the model, and g_j and r_j are g and r
    for label j: the covariance of the gradient with that of cross entropy.  For a proper loss (``ce``, ``mse``)
    this is the expected second derivative, and the Fisher information if the loss is a negative log-likelihood.
    For other losses the expected second derivative may be zero or negative (for ``mae`` and ``sigmoid`` it is 0
    at p = 1/2); the covariance is what remains of it when the loss is made unbiased at p.  Special cases:

    - loss of p_t with weight w: ``p (1-p)^2 w(p) + p^2 sum_{j other} p_j w(p_j)``; for two classes
      ``p (1-p) {(1-p) w(p) + p w(1-p)}``;
    - margin loss phi, with p = 1 / (1 + exp(-f)): ``-p (1-p) {phi'(f) + phi'(-f)}``;
    - ``mse``: ``2 p^2 {(1-p)^2 + sum_{j other} p_j^2}``;
    - soft ``bootstrap``: ``beta p (1-p)``;
    - ``label_smoothing``, ``backward``, ``unbiased``, hard ``bootstrap``: ``p (1-p)``, which is h for every
      label;
    - ``forward``: ``sum_j q_j g_j^2`` with q_j the probability of observing label j.
``"exact_clipped"``
    ``max(h, p (1 - p) / 10)``: Newton's method where the loss is convex, elsewhere a lower limit proportional
    to the curvature of cross entropy.  With a tiny constant as the limit, steps would explode.
``"abs"``
    ``|h|``.  It vanishes where the loss changes from convex to concave.  For symmetric losses (``mae``,
    ``sigmoid``, ...) of two classes this is at margin 0, where a booster without an intercept starts, so its
    first steps are erratic.
``"unit"``
    1: plain gradient steps, scaled by the learning rate only.  Compare robust losses with this control, because
    much of what looks like robustness is damping.

References
----------
.. [1] Hunter & Lange, "A tutorial on MM algorithms", The American Statistician 58, 2004.
"""

from __future__ import annotations

from typing import Literal, get_args

Strategy = Literal["irls", "logistic", "fisher", "exact_clipped", "abs", "unit"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


def check_strategy(strategy: str) -> None:
    """Raise a ValueError if the hessian strategy is unknown; the message lists all strategies."""
    if strategy not in STRATEGIES:
        raise ValueError(
            f"hessian strategy {strategy!r} is unknown; allowed strategies: {', '.join(STRATEGIES)}"
        )
