"""Whether a model can be fitted here: its packages, and the weights of pretrained ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ConfigError, one_line
from .packages import described_classes, import_extras, missing_extras, not_installed, packages_of

PRETRAINED = {"tabicl": "TabICLClassifier", "tabpfn": "TabPFNClassifier"}


def why_unusable(spec: Any) -> str:
    """Why a model of a config cannot be fitted here, as a clause; empty if it can.

    The weights of pretrained models are loaded to find out, which downloads them the first time.
    """
    packages = packages_of(described_classes(spec))
    missing = missing_extras(packages)
    return not_installed(missing) if missing else _why_no_weights(packages)


def _why_no_weights(packages: list[str]) -> str:
    from .factory import import_class  # slow to import

    for package in PRETRAINED.keys() & set(packages):
        try:
            import_extras([package])
            import_class(package, PRETRAINED[package], ())().fit(np.eye(4), np.array([0, 0, 1, 1]))
        except ConfigError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - the package and its network may raise anything
            return f"the weights of {package} cannot be loaded: {type(error).__name__}: {one_line(error)}"
    return ""
