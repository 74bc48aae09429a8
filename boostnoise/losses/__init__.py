"""Losses, and the names that select them.

From class numbers y and margins f, a loss computes its value, its gradient and a curvature.  For two classes, f
has shape (n,), the probability of class 1 is ``p = 1 / (1 + exp(-f))``, and the margin of the label is v = f
for class 1 and v = -f for class 0.  For K classes, f has shape (n, K) and ``p = softmax(f)``.  The probability
of the given label is p_t, and T is the transition matrix.

======================== ========================================== ===========================
name                     loss                                       class
======================== ========================================== ===========================
``ce``                   ``-ln p_t``                                `CrossEntropy`
``mae``                  ``2 (1 - p_t)``                            `MeanAbsoluteError`
``mse``                  ``sum_k (p_k - onehot_k)^2``               `BrierScore`
``gce``                  ``(1 - p_t^q) / q``                        `GeneralizedCrossEntropy`
``sce``                  ``alpha CE - beta A (1 - p_t)``            `SymmetricCrossEntropy`
``focal``                ``-(1 - p_t)^r ln p_t``                    `FocalLoss`
``rfl``                  ``(1 - p_t)^r (1 - p_t^q) / q``            `RobustFocalLoss`
``alpha``                ``a / (a-1) (1 - p_t^(1 - 1/a))``          `GeneralizedCrossEntropy`
``label_smoothing``      CE with smoothed targets                   `LabelSmoothing`
``bootstrap``            CE with partly predicted targets           `Bootstrap`
``nce_mae``              ``alpha NCE + beta MAE``                   `NormalizedCrossEntropyMAE`
``nce_rce``              ``alpha NCE + beta RCE``                   `NormalizedCrossEntropyRCE`
``sigmoid``              ``1 - p_t = 1 / (1 + exp(v))``             `GeneralizedCrossEntropy`
``ramp``                 ``min{1, max{0, (1-v)/2}}``, two classes   `RampLoss`
``savage``               ``1 / (1 + exp(2v))^2``, two classes       `SavageLoss`
``tangent``              ``(2 arctan v - 1)^2``, two classes        `TangentLoss`
``negative_exponential`` ``min{1, exp(-v-mu)}``, two classes        `NegativeExponential`
``distribution``         ``F(-v)``, two classes                     `DistributionLoss`
``forward``              ``-ln sum_i p_i T[i, y]``                  `ForwardCorrection`
``backward``             ``-sum_k inverse(T)[y, k] ln p_k``         `BackwardCorrection`
``unbiased``             ``backward`` from noise rates, two classes `BackwardCorrection`
======================== ========================================== ===========================
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
