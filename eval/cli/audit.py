"""The command `noisyaudit`."""

from __future__ import annotations

import dataclasses
import json
import shlex
import signal
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._wording import numbered
from .command import BAD_USAGE, CONTEXT, DONE, INTERRUPTED, Command, NumberRange

if TYPE_CHECKING:
    import pandas as pd

    from ..audit.label_audit import LabelAudit
    from ..config.dataset_spec import DatasetSpec

PRECISION = 0.8  # of a list of suspects to drop or relabel


def _one_character(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    value = "\t" if value == r"\t" else value
    if value is not None and len(value) != 1:
        raise click.BadParameter(rf"must be a single character, or \t for a tab, got {value!r}")
    return value


@click.command("noisyaudit", cls=Command, context_settings=CONTEXT)
@click.argument("data")
@click.option("--target", metavar="COLUMN", help="Column of the labels.  [default: guessed]")
@click.option("--id", "id_column", metavar="COLUMN", help="Column of names of rows, for the list of suspects.")
@click.option(
    "--group",
    metavar="COLUMN",
    help="Column of groups of rows, such as patients.  No row is judged by a model that saw its group.",
)
@click.option(
    "--drop", multiple=True, metavar="COLUMN", help="Column that is not used as a feature.  May be repeated."
)
@click.option(
    "--separator",
    metavar="CHARACTER",
    callback=_one_character,
    help=r"Separator of a CSV file; \t is a tab.  [default: guessed]",
)
@click.option("--encoding", metavar="NAME", help="Character encoding of a CSV file.  [default: guessed]")
@click.option(
    "--missing-value",
    "missing_values",
    multiple=True,
    metavar="TEXT",
    help="Text that stands for a missing value.  May be repeated.  [default: guessed]",
)
@click.option(
    "--model",
    metavar="NAME",
    help="Model that predicts the labels, by its short name; see noisyeval --list.  [default: two forests]",
)
@click.option(
    "--checked",
    metavar="FILE",
    help="CSV file of rows that somebody has checked: columns row (from 0) or that of --id, and label.",
)
@click.option(
    "--config",
    "config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --checked: write a config for noisyeval, to compare models on the checked rows, with right and "
    "with given labels.",
)
@click.option(
    "--clean",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the CSV file again without the suspects, as many as --precision allows.",
)
@click.option(
    "--relabel", is_flag=True, help="With --clean: keep the suspects, with the suggested labels instead."
)
@click.option(
    "--precision",
    type=NumberRange(0, 1, min_open=True),
    help="With --clean: expected share of wrong labels among the suspects.  [default: 0.8]",
)
@click.option("--name", help="Name of the data, for the results.  [default: that of the file]")
@click.option(
    "--results-dir", type=click.Path(path_type=Path), default="results", show_default=True, help="Folder."
)
@click.option("--seed", type=click.IntRange(0, 2**31), default=0, show_default=True, help="Random seed.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Threads.  [default: all cores]")
@click.option("-q", "--quiet", is_flag=True, help="Print only errors and the location of the results.")
@click.option("--json", "as_json", is_flag=True, help="Print the estimates as JSON.")
@click.version_option(package_name="boostnoise")
def main(
    data: str,
    target: str | None,
    id_column: str | None,
    group: str | None,
    drop: tuple[str, ...],
    separator: str | None,
    encoding: str | None,
    missing_values: tuple[str, ...],
    model: str | None,
    checked: str | None,
    config: Path | None,
    clean: Path | None,
    relabel: bool,
    precision: float | None,
    name: str | None,
    results_dir: Path,
    seed: int,
    jobs: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Estimate how many labels of DATA are wrong, and which ones.

    DATA is a CSV, Parquet, ARFF or svmlight file.  Results go to <results_dir>/<name>_audit/: all rows, the
    most suspect first, in suspects.csv; the noise rate and the transition matrix in noise.json; and audit.html,
    which shows both.

    Exit status: 0 done, 2 bad data or usage, or the output cannot be written, 130 interrupted, 141 output
    closed (broken pipe).
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if relabel and clean is None:
        raise click.UsageError("--relabel requires --clean")
    if precision is not None and clean is None:
        raise click.UsageError("--precision requires --clean")
    if config is not None and checked is None:
        raise click.UsageError("--config requires --checked")
    from ..errors import ConfigError, printable
    from .checked_rows import read_checked

    def say(text: str, *, is_error: bool = False) -> None:
        for line in text.splitlines():
            click.echo(printable(line), err=is_error)

    try:
        _check_clean(clean, data)
        _check_new(config, "--config")
        if name is not None and (not name.strip() or not name.isprintable() or set(name) & set("/\\")):
            raise ConfigError(f"--name: must be printable, not blank and without / or \\, got {name!r}")
        overrides = {
            "group": group,
            "separator": separator,
            "encoding": encoding,
            "missing_values": list(missing_values) or None,
            "name": name,
        }
        frame, spec, remarks = _read_spec(data, target, id_column, list(drop), overrides)
        right = {} if checked is None else read_checked(checked, frame, spec, id_column)
        found = _audit(frame, spec, id_column, model, right, seed, jobs)
        if not (quiet or as_json):
            for remark in remarks:
                say(f"noisyaudit: warning: {remark}", is_error=True)
        cleaned, n_changed = None, 0
        if clean is not None:
            cleaned, n_changed = _cleaned(
                found, frame, spec, relabel, PRECISION if precision is None else precision
            )
        folder = results_dir / f"{spec.name}_audit"
        from .._atomic_file import check_folder
        from ..audit.files import summary, write_audit
        from ..audit.label_audit import write
        from .checked_config import write_checked_config

        check_folder(folder)
        files = write_audit(found, folder)
        if clean is not None and cleaned is not None:
            write(clean, cleaned)
        if config is not None:
            write_checked_config(config, folder, frame, spec, right, found.noise_rate)
        if as_json:
            done = {"folder": str(folder), "warnings": remarks} | (
                {} if clean is None else {"changed": n_changed}
            )
            click.echo(json.dumps(summary(found) | done))
        elif quiet:
            say(str(folder))
        else:
            say(f"{found}\n\nResults are in {folder}; open {files[-1]} to view them")
            if checked is None:
                say("Check the first suspects and some random rows, and give their right labels with --checked")
            if clean is not None:
                say(f"{clean}: {numbered(n_changed, 'row')} {'relabelled' if relabel else 'left out'}")
            if config is not None:
                say(f"To test models on the {len(right)} checked rows: noisyeval {shlex.quote(str(config))}")
    except ConfigError as error:
        say(f"noisyaudit: error: {error}", is_error=True)
        sys.exit(BAD_USAGE)
    except MemoryError:
        say("noisyaudit: error: out of memory", is_error=True)
        sys.exit(BAD_USAGE)
    except KeyboardInterrupt:
        say(f"Interrupted; run it again with: {shlex.join(['noisyaudit', *sys.argv[1:]])}", is_error=True)
        sys.exit(INTERRUPTED)
    sys.exit(DONE)


def _check_clean(clean: Path | None, data: str) -> None:
    """Check where the cleaned data go."""
    from ..config.data_paths import format_of
    from ..errors import ConfigError

    if clean is None:
        return
    if format_of(data) != "csv":
        raise ConfigError(f"--clean: only CSV files can be written again, got {data}")
    _check_new(clean, "--clean")


def _check_new(path: Path | None, option: str) -> None:
    """Check that a file does not exist."""
    from ..errors import ConfigError

    if path is not None and path.exists():
        raise ConfigError(f"{option}: {path} already exists and is not overwritten")


def _read_spec(
    data: str, target: str | None, id_column: str | None, drop: list[str], overrides: dict[str, Any]
) -> tuple[pd.DataFrame, DatasetSpec, list[str]]:
    """Read a file, and guess what the options do not say; also return remarks for the user."""
    from ..config.base import validate
    from ..config.dataset_spec import DatasetSpec
    from ..config.reader import parse_text
    from .table_guesses import guess_keys

    remarks: list[str] = []
    given = {key: value for key, value in overrides.items() if value is not None}
    csv = {key: value for key, value in given.items() if key not in ("group", "name")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the columns, which the remarks name
        settled = [*drop, *(column for column in (id_column, overrides["group"]) if column is not None)]
        frame, guessed = guess_keys(data, target, remarks, csv, by_options=True, settled=settled)
    keys = parse_text("{" + ",\n".join(f'"{key}": {value}' for _, key, value in guessed) + "}")
    not_features = [*keys.get("drop", []), *drop, *([] if id_column is None else [id_column])]
    keys |= {"categorical": "ordinal", "missing": "keep", "drop": list(dict.fromkeys(not_features))} | given
    spec = validate(DatasetSpec, keys)
    return frame, spec, remarks


def _audit(
    frame: pd.DataFrame,
    spec: DatasetSpec,
    id_column: str | None,
    model: str | None,
    right: dict[int, Any],
    seed: int,
    jobs: int | None,
) -> LabelAudit:
    """Audit the labels of a data set."""
    import pandas as pd

    from .._suggestions import nearest_first, suggest
    from ..audit.audit import audit
    from ..config.base import validate
    from ..config.model_spec import ModelSpec
    from ..datasets.loader import load_dataset
    from ..errors import ConfigError
    from ..models.factory import build
    from ..models.resolved_model import resolve

    if id_column is not None and id_column not in frame:
        raise ConfigError(
            f"--id: {id_column!r} is not a column{suggest(id_column, frame.columns)}; columns are "
            f"{nearest_first(id_column, frame.columns)}"
        )
    n_jobs = jobs or -1
    estimator = None
    if model is not None:
        try:
            described = validate(ModelSpec, {"model": model})
            estimator = build(resolve(described), seed=seed, threads=jobs or 1)
        except ConfigError as error:
            raise ConfigError(f"--model: {error}") from None
        if not hasattr(estimator, "predict_proba"):
            raise ConfigError(f"--model: {model} has no probabilities")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns and labels, which the remarks name
        dataset = load_dataset(spec)
    X = dataset.X if isinstance(dataset.X, pd.DataFrame) else pd.DataFrame(dataset.X, columns=dataset.columns)
    assert dataset.rows is not None  # noqa: S101 - for the type checker: read from a file
    place = {row: i for i, row in enumerate(dataset.rows.tolist())}
    unlabelled = next((row for row in right if row not in place), None)
    if unlabelled is not None:
        raise ConfigError(f"--checked: row {unlabelled} has no label")
    found = audit(
        X,
        dataset.classes[dataset.y],
        model=estimator,
        groups=dataset.groups,
        checked={place[row]: label for row, label in right.items()} or None,
        random_state=seed,
        n_jobs=n_jobs,
        name=dataset.name,
    )
    ids = None if id_column is None else frame[id_column].to_numpy()[dataset.rows]
    shown = frame.iloc[dataset.rows].reset_index(drop=True)
    return dataclasses.replace(found, rows=dataset.rows, ids=ids, features=shown)


def _cleaned(
    found: LabelAudit, frame: pd.DataFrame, spec: DatasetSpec, relabel: bool, precision: float
) -> tuple[bytes, int]:
    """The CSV file without the suspects, or with other labels, and their number."""
    from ..audit.clean_csv import clean_csv
    from ..datasets.files import CsvOptions
    from ..errors import ConfigError

    try:
        suspect = ~found.clean_mask(precision)
    except ValueError as error:
        raise ConfigError(f"--precision: {error}") from None
    rows = dict(
        zip(found.labels.tolist()[::-1], found.rows.tolist()[::-1], strict=True)
    )  # the first of each label
    labels = found.errors.suggested[suspect].tolist()
    others = [rows[label] if relabel else None for label in labels]
    changes = dict(zip(found.rows[suspect].tolist(), others, strict=True))
    target = list(frame.columns).index(spec.target) if isinstance(spec.target, str) else int(spec.target or 0)
    csv = CsvOptions(spec.separator, spec.decimal, spec.encoding, spec.missing_values or ())
    return clean_csv(str(spec.path), csv, target, changes, len(frame)), len(changes)
