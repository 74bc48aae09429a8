"""Models that are left out where a package is not installed."""

from __future__ import annotations

import warnings
from itertools import compress

from ..errors import ConfigError
from ..models.packages import described_classes, missing_extras, not_installed, packages_of
from .model_spec import ModelSpec
from .run import Config


def leave_out_missing(config: Config) -> Config:
    """Leave out optional models whose packages are not installed, with a warning for each.

    Raises
    ------
    ConfigError
        If no model is left.
    """
    missing = [_missing(model) if model.optional else [] for model in config.models]
    for model, packages in zip(config.models, missing, strict=True):
        if packages:
            warnings.warn(f"models: {model.name} is left out: {not_installed(packages)}", stacklevel=3)
    kept = [not packages for packages in missing]
    if not any(kept):
        packages = sorted({package for packages in missing for package in packages})
        raise ConfigError(f"models: none is left, as all are optional and {not_installed(packages)}")
    figures = {
        name: options.model_copy(update={"plot_kwargs": list(compress(options.plot_kwargs, kept))})
        for name, options in (("ela_fig", config.ela_fig), ("rla_fig", config.rla_fig))
    }
    return config.model_copy(update={"models": list(compress(config.models, kept)), **figures})


def _missing(model: ModelSpec) -> list[str]:
    return missing_extras(packages_of(described_classes(model)))
