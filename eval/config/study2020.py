"""The config format of the study "Boosting with Label Noise" (2020), translated into ours.

Its protocol: every CSV file of a folder, last column the label; one split that is not stratified; noise on
training and test labels, drawn by `LabelNoise`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from ..errors import ConfigError
from .base import Strict, Title, validate
from .noise_spec import MAX_RATES
from .run import MAX_MODELS, Config

Flag = Literal[0, 1]
TABLES = {
    "disp_accs": "accuracy",
    "disp_elas": "ela",
    "disp_rlas": "rla",
    "disp_avg_elas": "mean_ela",
    "disp_avg_rlas": "mean_rla",
}


class _Figure(Strict):
    save_fig: Flag
    fig_size: list[Annotated[float, Field(ge=1, le=100)]] = Field(min_length=2, max_length=2)
    fig_dpi: Annotated[int, Field(ge=10, le=2000)]
    fig_title: Title
    fig_cmap: str
    plot_kwargs: list[dict[str, Any]] = Field(max_length=MAX_MODELS)


class _Model(Strict):
    name: str
    module: str
    model: str
    params: dict[str, Any]


class _Study2020(Strict):
    data_dir: str
    results_dir: str
    test_fraction: float = Field(gt=0, lt=1)
    random_state: int = Field(ge=0, lt=2**31)
    noise_kinds: list[Literal["label"]] = Field(min_length=1, max_length=1)
    noise_levels: list[Annotated[float, Field(ge=0, le=1)]] = Field(min_length=1, max_length=MAX_RATES)
    disp_accs: Flag
    disp_elas: Flag
    disp_rlas: Flag
    disp_avg_elas: Flag
    disp_avg_rlas: Flag
    ela_fig: _Figure
    rla_fig: _Figure
    warm_start: Flag
    models: list[_Model] = Field(min_length=1, max_length=MAX_MODELS)

    @field_validator("data_dir")
    @classmethod
    def _is_folder(cls, data_dir: str) -> str:
        if not Path(data_dir).is_dir():
            raise ValueError("no such folder (it is looked for from where the command is run)")
        return data_dir


def is_study2020(content: Mapping[str, Any]) -> bool:
    """Whether a config is in the study's format: by the keys that only it has."""
    return "data_dir" in content or "noise_kinds" in content or "noise_levels" in content


def translate(content: Mapping[str, Any], name: str) -> Config:
    """Validate a config of the study and translate it.

    Raises
    ------
    ConfigError
        If it is not valid, or its folder holds no CSV file.
    """
    study = validate(_Study2020, content)
    files = sorted(Path(study.data_dir).iterdir())
    tables = [path for path in files if path.suffix == ".csv"]
    ignored = [path.name for path in files if path.suffix != ".csv"]
    if not tables:
        raise ConfigError(f"data_dir: holds no CSV file, got {study.data_dir!r}")
    if ignored:
        warnings.warn(f"data_dir: not CSV files, ignored: {', '.join(ignored)}", stacklevel=2)
    return validate(
        Config,
        {
            "name": name,
            "datasets": [{"path": str(path), "target": -1} for path in tables],
            "models": [model.model_dump() for model in study.models],
            "noise": [{"kind": "label", "rates": study.noise_levels}],
            "repeats": 1,
            "test_fraction": study.test_fraction,
            "stratify": False,
            "random_state": study.random_state,
            "results_dir": study.results_dir,
            "resume": bool(study.warm_start),
            "tables": [table for key, table in TABLES.items() if getattr(study, key)],
            "ela_fig": study.ela_fig.model_dump() | {"save_fig": bool(study.ela_fig.save_fig)},
            "rla_fig": study.rla_fig.model_dump() | {"save_fig": bool(study.rla_fig.save_fig)},
        },
    )
