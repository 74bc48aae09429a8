"""A loss for XGBoost and LightGBM."""

from dataclasses import dataclass

import numpy as np

from boostnoise import Loss


@dataclass(frozen=True)
class TemperedCrossEntropy(Loss):
    """Cross entropy of probabilities that are pulled towards 1/2: ``-ln((1 - a) p_t + a / 2)``, two classes.

    No row has a larger loss than ``-ln(a / 2)``, and rows that contradict the model by far have almost no
    gradient.

    Parameters
    ----------
    a : float, default=0.1
        Weight of 1/2, from 0 (cross entropy) to 1.
    """

    a: float = 0.1
    binary_only = True

    def value(self, y, margin):
        """Loss of each row."""
        return -np.log(self._tempered(y, margin)[1])

    def gradient(self, y, margin):
        """Derivative with respect to the margin."""
        sign, tempered, slope, _ = self._parts(y, margin)
        return -sign * slope / tempered

    def exact_hessian(self, y, margin):
        """Second derivative with respect to the margin; it may be negative."""
        _, tempered, slope, bend = self._parts(y, margin)
        return (slope / tempered) ** 2 - bend / tempered

    def _tempered(self, y, margin):
        sign = np.where(np.asarray(y) == 1, 1.0, -1.0)
        p = 1 / (1 + np.exp(-sign * np.asarray(margin, dtype=np.float64)))
        return sign, (1 - self.a) * p + self.a / 2, p

    def _parts(self, y, margin):
        """Sign of the class, tempered probability, and its first two derivatives along the sign."""
        sign, tempered, p = self._tempered(y, margin)
        slope = (1 - self.a) * p * (1 - p)
        return sign, tempered, slope, slope * (1 - 2 * p)
