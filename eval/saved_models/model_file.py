"""Files of trained models: a zip of NumPy arrays and JSON.

Reading one runs no code of the file: NumPy reads no pickles from it, and the JSON is validated.  The arrays are
checked before compiled code walks down the trees.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationError

from boostnoise.ensemble.tree_mixture import Kind, TreeMember, TreeMixture
from boostnoise.label_noise.costs import check_costs
from robust_splits.tree_sums import DTYPES, TreeSums

from .._atomic_file import write
from .._input_file import check_input_file
from ..config.base import Strict
from ..errors import ConfigError, one_line
from .saved_model import SavedModel
from .table_form import TableForm

HEADER = "model"  # name of the array with the JSON


class _Member(Strict):
    """A forest or booster; its arrays have names of their own."""

    kind: Kind
    share: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    classes: tuple[int, ...]


class _Header(Strict):
    """All of a model but the arrays of its trees."""

    format: Literal["boostnoise model"] = "boostnoise model"
    version: Literal[1] = 1
    classes: tuple[str | int | float | bool, ...] = Field(min_length=2)
    form: TableForm
    costs: tuple[tuple[float, ...], ...] | None
    id_column: str | None
    members: tuple[_Member, ...] = Field(min_length=1)


def write_model(model: SavedModel, path: Path) -> None:
    """Write a model atomically.

    Raises
    ------
    ConfigError
        If the file cannot be written.
    """
    members = model.mixture.members
    header = _Header(
        classes=tuple(model.classes_.tolist()),
        form=model.form,
        costs=None if model.costs is None else tuple(map(tuple, model.costs.tolist())),
        id_column=model.id_column,
        members=tuple(_Member(kind=m.kind, share=m.share, classes=tuple(m.classes)) for m in members),
    )
    arrays: dict[str, Any] = {HEADER: np.frombuffer(header.model_dump_json().encode(), dtype=np.uint8)}
    for number, member in enumerate(members):
        arrays |= {f"{number}_{name}": getattr(member.trees, name) for name in DTYPES}
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    write(path, content.getvalue())


def load_model(path: str | Path) -> SavedModel:
    """Read a model that `noisyaudit` has trained.

    It is safe to load a file from someone else: no code in it is run.  Its predictions may still be wrong.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    SavedModel

    Raises
    ------
    ConfigError
        A ValueError, if the file cannot be read, or is not such a model.
    """
    file = check_input_file(path)
    try:
        content = io.BytesIO(file.read_bytes())
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    if not zipfile.is_zipfile(content):
        raise ConfigError(f"{path} is not a model that noisyaudit has saved")
    try:
        with np.load(content, allow_pickle=False) as arrays:
            return _model(arrays)
    except MemoryError:
        raise
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        raise ConfigError(f"{path} is damaged, or of another version: {where}: {problem['msg']}") from None
    except Exception as error:  # noqa: BLE001 - parsers may raise anything for damaged files
        raise ConfigError(f"{path} is damaged: {one_line(error)}") from None


def _model(arrays: Any) -> SavedModel:
    """The model in an archive, checked."""
    header = _Header.model_validate_json(arrays[HEADER].astype(np.uint8).tobytes())
    classes = np.array(header.classes)
    if np.unique(classes).size != len(header.classes) or classes.tolist() != list(header.classes):
        raise ValueError("classes must differ and be of one type")
    members = [
        TreeMember(
            member.share,
            member.kind,
            list(member.classes),
            TreeSums(**{name: arrays[f"{number}_{name}"] for name in DTYPES}),
        )
        for number, member in enumerate(header.members)
    ]
    mixture = TreeMixture(members, len(header.form.columns), classes.size)
    mixture.check()
    costs = None if header.costs is None else check_costs(header.costs, "costs", classes.size)
    return SavedModel(classes, header.form, mixture, costs, header.id_column)
