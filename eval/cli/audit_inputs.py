"""Read and check the data of `noisyaudit`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import pandas as pd

from .._input_file import check_input_file
from .._memory import check_forests
from ..config.base import validate
from ..config.data_paths import format_of
from ..config.dataset_spec import DatasetSpec
from ..config.reader import parse_text
from ..datasets.file_size import count_rows
from ..datasets.row_columns import check_single_values
from ..errors import ConfigError, nearest_first, suggest
from .audit_options import Options
from .table_guesses import guess_keys


def check_paths(options: Options) -> None:
    """Check the name of the results, and that other files can be written."""
    if options.clean is not None and format_of(options.data) != "csv":
        raise ConfigError(f"--clean: only CSV files can be written again, got {options.data}")
    files = (
        ("--clean", options.clean),
        ("--config", options.config),
        ("--out", options.out),
        ("--train", options.train),
    )
    for option, path in files:
        if path is not None and path.exists():
            raise ConfigError(f"{option}: {path} already exists and is not overwritten")
    name = options.name
    if name is not None and (not name.strip() or not name.isprintable() or set(name) & set("/\\")):
        raise ConfigError(f"--name: must be printable, not blank and without / or \\, got {name!r}")


def read_spec(options: Options) -> tuple[pd.DataFrame, DatasetSpec, list[str]]:
    """Read a file, and guess what the options do not say; also return remarks for the user."""
    file_format = format_of(options.data)
    if options.model is None and file_format is not None:
        _check_rows(options.data, file_format)
    remarks: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the columns, which the remarks name
        frame, guessed = guess_keys(
            options.data,
            options.annotators[0] if options.annotators else options.target,
            remarks,
            options.csv_keys,
            by_options=True,
            known_columns=options.not_features,
            labels_option="--annotator" if options.annotators else "--target",
        )
    keys = parse_text("{" + ",\n".join(f'"{key}": {value}' for _, key, value in guessed) + "}")
    named = {"group": options.group, "name": options.name}
    dropped = [*keys.get("drop", []), *options.drop, *options.predictions]
    dropped += [] if options.id_column is None else [options.id_column]
    keys |= {"categorical": "ordinal", "missing": "keep", "drop": list(dict.fromkeys(dropped))}
    keys |= options.csv_keys | {key: value for key, value in named.items() if value is not None}
    return frame, validate(DatasetSpec, keys), remarks


def _check_rows(data: str, file_format: str) -> None:
    """Check that the forests fit into the available memory, before a large file is read."""
    path = check_input_file(data)
    try:
        n_rows = count_rows(path, file_format)
    except Exception:  # noqa: BLE001 - of damaged files, which are reported when they are read
        return
    check_forests(n_rows, None, data)


def check_columns(option: str, frame: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise a ConfigError if a column that an option names does not exist, or has lists or objects."""
    for name in names:
        if name not in frame:
            raise ConfigError(
                f"{option}: {name!r} is not a column{suggest(name, frame.columns)}; columns are "
                f"{nearest_first(name, frame.columns)}"
            )
        check_single_values(frame[[name]], option)


def check_names(frame: pd.DataFrame) -> None:
    """Raise a ConfigError if a column has no name by which new rows could have it."""
    unnamed = [name for name in frame.columns if not isinstance(name, str)]
    if unnamed:
        raise ConfigError(f"--train: columns must have names, got {unnamed[0]!r}; write the data as a CSV file")
