"""Fixtures for the tests of boostnoise."""

import pytest
from scipy import stats

from boostnoise import get_loss
from boostnoise.losses import LOSSES

T3 = [[0.8, 0.1, 0.1], [0.1, 0.9, 0.0], [0.2, 0.1, 0.7]]
PARAMETERS = {
    "forward": {"T": T3},
    "backward": {"T": T3},
    "unbiased": {"noise_rate_pos": 0.1, "noise_rate_neg": 0.2},
    "distribution": {"dist": stats.norm()},
}


@pytest.fixture(scope="session", params=LOSSES)
def every_loss(request):
    """Each loss of the registry, and a number of classes that it supports: three, or two if these are all."""
    loss = get_loss(request.param, **PARAMETERS.get(request.param, {}))
    return loss, 2 if loss.binary_only or request.param == "unbiased" else 3
