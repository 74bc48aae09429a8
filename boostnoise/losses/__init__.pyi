from . import curvature
from .base import Loss
from .registry import LOSSES, get_loss, needed_parameters
from .softmax import Classes, Floats, probabilities

__all__ = ["LOSSES", "Classes", "Floats", "Loss", "curvature", "get_loss", "needed_parameters", "probabilities"]
