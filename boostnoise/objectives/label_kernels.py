"""Compiled passes that write gradient and curvature of losses of p_t.

They read probabilities, and one or two numbers per row from the loss; see `LabelLoss.irls_terms`.
"""

from robust_splits._kernels.compile import outer_kernel


@outer_kernel()
def write_two_classes(y, odds, first, second, weight, factor, smallest, gradient, hessian):
    """Write the derivatives with respect to the margin of class 1, and return whether they are finite.

    `odds` are those of the other class than the label.
    """
    one = odds.dtype.type(1)  # an integer would turn single into double precision
    is_finite = True
    for i in range(y.size):
        p = one / (one + odds[i])
        complement = odds[i] * p
        residual = -complement if y[i] == 1 else complement
        g, h = residual, p * complement
        if first.size > 0:
            g *= first[i]
            h *= first[i]
        if second.size > 0:
            h += second[i] * residual * residual
        h = max(h * factor, smallest)
        is_finite &= g - g == 0 and h - h == 0
        # As in both libraries, results are rounded to single precision only after weighting, because rounding
        # decides between tied gains.
        gradient[i] = g * weight[i] if weight.size > 0 else g
        hessian[i] = h * weight[i] if weight.size > 0 else h
    return is_finite


@outer_kernel()
def write_classes(y, exponentials, others, first, second, weight, factor, smallest, gradient, hessian):
    """Write the derivatives with respect to the margins of all classes, and return whether they are finite."""
    n_rows, n_classes = exponentials.shape
    one = others.dtype.type(1)
    is_finite = True
    for k in range(n_classes):
        for i in range(n_rows):
            total = one + others[i]
            p = exponentials[i, k] / total
            complement = others[i] / total if exponentials[i, k] == one else one - p
            residual = -complement if y[i] == k else p
            g, h = residual, p * complement
            if first.size > 0:
                g *= first[i]
                h *= first[i]
            if second.size > 0:
                h += second[i] * residual * residual
            h = max(h * factor, smallest)
            is_finite &= g - g == 0 and h - h == 0
            gradient[i, k] = g * weight[i] if weight.size > 0 else g
            hessian[i, k] = h * weight[i] if weight.size > 0 else h
    return is_finite
