"""Config format of the study "Boosting with Label Noise" (2020), translated into the current format.

The study's protocol: every CSV file of a folder, with the labels in the last column; one split without
stratification; noise on training and test labels, drawn by `LabelNoise`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from ..errors import ConfigError
from .base import Strict, Title, validate
from .download_advice import advice_to_download
from .noise_base import MAX_RATES
from .run import MAX_MODELS, Config

Flag = Literal[0, 1]
TABLES = {
    "disp_accs": "accuracy",
    "disp_elas": "ela",
    "disp_rlas": "rla",
    "disp_avg_elas": "mean_ela",
    "disp_avg_rlas": "mean_rla",
}


class _StudyFigure(Strict):
    save_fig: Flag
    fig_size: list[Annotated[float, Field(ge=1, le=100)]] = Field(min_length=2, max_length=2)
    fig_dpi: Annotated[int, Field(ge=10, le=2000)]
    fig_title: Title
    fig_cmap: str
    plot_kwargs: list[dict[str, Any]] = Field(max_length=MAX_MODELS)


class _StudyModel(Strict):
    name: str
    module: str
    model: str
    params: dict[str, Any]


class _StudyConfig(Strict):
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
    ela_fig: _StudyFigure
    rla_fig: _StudyFigure
    warm_start: Flag
    models: list[_StudyModel] = Field(min_length=1, max_length=MAX_MODELS)

    @field_validator("data_dir")
    @classmethod
    def _is_folder(cls, data_dir: str) -> str:
        if not Path(data_dir).is_dir():
            advice = advice_to_download(data_dir)
            raise ValueError(f"no such folder (relative paths start at the working directory{advice})")
        return data_dir


def is_study_config(content: Mapping[str, Any]) -> bool:
    """Whether a config is in the study's format, recognised by keys that only this format has."""
    return "data_dir" in content or "noise_kinds" in content or "noise_levels" in content


def parse_study_config(content: Mapping[str, Any], name: str) -> Config:
    """Validate a config of the study and translate it.

    Raises
    ------
    ConfigError
        If the config is invalid, or its folder has no CSV file.
    """
    study = validate(_StudyConfig, content)
    files = sorted(Path(study.data_dir).iterdir())
    tables = [path for path in files if path.suffix == ".csv"]
    ignored = [path.name for path in files if path.suffix != ".csv"]
    if not tables:
        raise ConfigError(f"data_dir: must have a CSV file, got {study.data_dir!r}")
    if ignored:
        warnings.warn(f"data_dir: ignored files other than CSV: {', '.join(ignored)}", stacklevel=2)
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
