"""The command `noisyaudit`."""

from __future__ import annotations

import dataclasses
import json
import shlex
import signal
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._wording import is_or_are, numbered
from .audit_options import Options, read_character
from .command import BAD_USAGE, CONTEXT, DONE, INTERRUPTED, Command, NumberRange

if TYPE_CHECKING:
    import pandas as pd

    from ..audit.label_audit import LabelAudit
    from ..config.dataset_spec import DatasetSpec
    from ..datasets.dataset import Dataset
    from .clean_file import CleanFile
    from .train import TrainedModel

PRECISION = 0.8  # of a list of suspects to drop or relabel
WEIGHTS = "weights"  # the default of --clean-by


class AuditCommand(Command):
    """The command, and `noisyaudit predict`.  A data file has a suffix, so none is called "predict"."""

    def main(self, args: Sequence[str] | None = None, *others: Any, **options: Any) -> Any:
        """Run the command that the first argument names."""
        args = sys.argv[1:] if args is None else list(args)
        if args[:1] == ["predict"]:
            from .predict import main as predict

            return predict.main(args[1:], **options | {"prog_name": "noisyaudit predict"})
        return super().main(args, *others, **options)


@click.command("noisyaudit", cls=AuditCommand, context_settings=CONTEXT)
@click.argument("data")
@click.option("--target", metavar="COLUMN", help="Column of the labels.  [default: guessed]")
@click.option(
    "--annotator",
    "annotators",
    multiple=True,
    metavar="COLUMN",
    help="Column of the labels of one annotator, in place of --target.  Repeat it for each annotator, "
    "to see how often each is wrong.",
)
@click.option("--id", "id_column", metavar="COLUMN", help="Column of names of rows, for lists of rows.")
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
    callback=read_character,
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
    "--keep-spellings",
    is_flag=True,
    help="Labels that differ in case or blanks only are different classes.",
)
@click.option(
    "--keep-label-columns",
    is_flag=True,
    help="Use columns that were probably made from the label, which confirm wrong labels.",
)
@click.option(
    "--prediction",
    "predictions",
    multiple=True,
    metavar="COLUMN",
    help="Column of the predictions of a model that has not seen the labels of these rows: labels, or with two "
    "classes the probability of the second one.  Its accuracy on clean labels is estimated.  May be repeated.",
)
@click.option(
    "--checked",
    multiple=True,
    metavar="FILE",
    help="CSV file of rows that somebody has checked: columns row (from 0) or that of --id, and label.  Rows "
    "with an empty label are skipped.  May be repeated.",
)
@click.option(
    "--next",
    "n_next",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --out: draw N rows whose labels to check next.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --next: CSV file of these rows, with an empty column label.  When it is filled, give the file "
    "with --checked.",
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
    help="Write the CSV file again with weights for a model, and show what they are expected to do to one.",
)
@click.option(
    "--clean-by",
    type=click.Choice([WEIGHTS, "soft-labels", "drop", "relabel"]),
    help="With --clean: add the probability that each label is right, or those of all classes; leave the "
    "suspects out, or give them the suggested labels.  [default: weights]",
)
@click.option(
    "--precision",
    type=NumberRange(0, 1, min_open=True),
    help="With --clean: expected share of wrong labels among the suspects to drop or relabel.  [default: 0.8]",
)
@click.option(
    "--train",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Train a model on the audited rows, and write it; noisyaudit predict FILE NEW_DATA predicts with it.",
)
@click.option(
    "--cost",
    "costs",
    type=(str, str, NumberRange(0)),
    multiple=True,
    metavar="CLASS PREDICTED COST",
    help="With --train: cost of predicting the second class for a row of the first one.  May be repeated; each "
    "other wrong prediction costs 1.",
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
def main(**values: Any) -> None:
    """Estimate how many labels of DATA are wrong, and which ones.

    DATA is a CSV, Parquet, ARFF or svmlight file.  Results go to <results_dir>/<name>_audit/: all rows, the
    most suspect first, in suspects.csv; the noise rate and the transition matrix in noise.json; a picture for
    everybody in audit.png; and audit.html, which shows all of it.  With --annotator, the error rates of the
    annotators go to annotators.json in <results_dir>/<name>_annotators/, and the most probable label of each
    row to labels.csv.

    noisyaudit predict FILE NEW_DATA predicts new rows by a model that --train has written; see noisyaudit
    predict --help.

    Exit status: 0 done, 2 bad data or usage, or the output cannot be written, 130 interrupted, 141 output
    closed (broken pipe).
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = Options(**values)
    options.check_combination()
    from ..errors import ConfigError

    try:
        _run(options)
    except ConfigError as error:
        _echo(f"noisyaudit: error: {error}", is_error=True)
        sys.exit(BAD_USAGE)
    except MemoryError:
        _echo("noisyaudit: error: out of memory", is_error=True)
        sys.exit(BAD_USAGE)
    except KeyboardInterrupt:
        _echo(f"Interrupted; run it again with: {shlex.join(['noisyaudit', *sys.argv[1:]])}", is_error=True)
        sys.exit(INTERRUPTED)
    sys.exit(DONE)


def _echo(text: str, *, is_error: bool = False) -> None:
    from ..errors import printable

    for line in text.splitlines():
        click.echo(printable(line), err=is_error)


def _run(options: Options) -> None:
    """Read the data, then audit the labels or compare annotators."""
    from .checked_rows import read_checked

    _check_paths(options)
    frame, spec, remarks = _read_spec(options)
    _check_columns("--id", frame, [] if options.id_column is None else [options.id_column])
    _check_columns("--annotator", frame, options.annotators)
    _check_columns("--prediction", frame, options.predictions)
    if options.train is not None:
        _check_names(frame)
    checked = None
    if options.checked:
        # An annotator's column in the file of the expert does not have the expert's labels.
        target = None if options.annotators else spec.target
        checked, n_empty = read_checked(options.checked, frame, target, options.id_column)
        if n_empty:
            remarks.append(
                f"{numbered(n_empty, 'row')} of --checked without a label {is_or_are(n_empty)} skipped"
            )
    if not (options.quiet or options.as_json):
        for remark in remarks:
            _echo(f"noisyaudit: warning: {remark}", is_error=True)
    run = _run_comparison if options.annotators else _run_audit
    run(options, frame, spec, checked, remarks)


def _run_comparison(
    options: Options, frame: pd.DataFrame, spec: DatasetSpec, checked: pd.DataFrame | None, remarks: list[str]
) -> None:
    """Compare annotators, write the results and show them."""
    from .._atomic_file import check_folder
    from .annotators import compare_columns, summary, write_comparison
    from .checked_rows import labels_by_row

    found = compare_columns(
        frame,
        spec,
        options.annotators,
        labels_by_row(checked),
        merge_spellings=not options.keep_spellings,
        keep_label_columns=options.keep_label_columns,
        random_state=options.seed,
        n_jobs=options.jobs or -1,
    )
    folder = options.results_dir / f"{spec.name}_annotators"
    check_folder(folder)
    _, labels = write_comparison(found, frame, options.id_column, folder)
    if options.as_json:
        click.echo(json.dumps(summary(found) | {"folder": str(folder), "warnings": remarks}))
    elif options.quiet:
        _echo(str(folder))
    else:
        _echo(f"{found}\n\nThe most probable label of each row is in {labels}")


def _run_audit(
    options: Options, frame: pd.DataFrame, spec: DatasetSpec, checked: pd.DataFrame | None, remarks: list[str]
) -> None:
    """Audit the data, write the results and show them."""
    from .._atomic_file import check_folder, write
    from ..audit.cleaning import as_text
    from ..audit.files import records, summary, write_audit
    from ..datasets.loader import load_dataset
    from .checked_config import write_checked_config
    from .checked_rows import labels_by_row
    from .clean_file import WEIGHT, check_new_columns, clean_file
    from .next_rows import next_rows_table, read_predictions

    way, precision = options.clean_by or WEIGHTS, options.precision or PRECISION
    if options.clean is not None and way == WEIGHTS:
        check_new_columns(frame, [WEIGHT])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns and labels, which the remarks name
        dataset = load_dataset(spec)
    found = _audit(frame, dataset, checked, options)
    predictions = read_predictions(found, frame, options.predictions)
    next_rows = None
    if options.n_next is not None:
        next_rows = next_rows_table(found, frame, spec, options, predictions)
    scores = found.clean_scores(predictions) if predictions else None
    trained = None if options.train is None else _train(found, dataset, frame, spec, checked, options)
    cleaned = None if options.clean is None else clean_file(found, frame, spec, way, precision)
    folder = options.results_dir / f"{spec.name}_audit"
    check_folder(folder)
    page = write_audit(found, folder)[-1]
    is_shown = not (options.quiet or options.as_json)
    if is_shown:
        shown = str(found) if scores is None else f"{found}\n\n{scores}"
        _echo(f"{shown}\n\nResults are in {folder}; open {page} to view them")
    done: dict[str, Any] = {"folder": str(folder), "warnings": remarks}
    if options.clean is not None and cleaned is not None:
        if not options.quiet:
            table = _compare_cleaning(found, dataset, options)
            done |= {"cleaning": table.to_dict("index"), "changed": cleaned.n_changed}
            if is_shown:
                title = "Expected accuracy of a small LightGBM on right labels, by --clean-by"
                _echo(f"\n{title}\n{as_text(table)}\n\n")
        write(options.clean, cleaned.content)
    if options.out is not None and next_rows is not None:
        write(options.out, next_rows)
    if options.train is not None and trained is not None:
        trained.model.save(options.train)
    if options.config is not None:
        write_checked_config(options.config, folder, frame, spec, labels_by_row(checked), found.noise_rate)
    if options.as_json:
        if scores is not None:
            done |= {"clean_scores": records(scores.scores), "differences": records(scores.differences)}
        done |= {} if options.train is None else {"model": str(options.train)}
        click.echo(json.dumps(summary(found) | done))
    elif options.quiet:
        _echo(str(folder))
    else:
        _show_next_steps(options, found.n_checked, cleaned)
        if trained is not None:
            _echo("\n".join(f"{options.train}: {sentence}" for sentence in trained.sentences(found)))
            _echo(f"To predict new rows: noisyaudit predict {shlex.quote(str(options.train))} NEW_DATA")


def _compare_cleaning(found: LabelAudit, dataset: Dataset, options: Options) -> pd.DataFrame:
    """What cleaning is expected to do to a model."""
    return found.compare_cleaning(
        _features(dataset),
        groups=dataset.groups,
        precision=options.precision or PRECISION,
        random_state=options.seed,
        n_jobs=options.jobs or -1,
    )


def _show_next_steps(options: Options, n_checked: int, cleaned: CleanFile | None) -> None:
    """Show what to do with the suspects, and the other files that were written."""
    from .clean_file import DONE as CLEANED

    if options.n_next is not None:
        _echo(f"{options.out}: fill in the column label, and give the file with --checked {options.out}")
    elif not options.checked:
        _echo("Check some rows that --next 50 --out FILE draws, and give their right labels with --checked")
    if cleaned is not None:
        what = CLEANED[options.clean_by or WEIGHTS].format(numbered(cleaned.n_changed, "row"))
        _echo(f"{options.clean}: {what}")
    if options.config is not None:
        command = f"noisyeval {shlex.quote(str(options.config))}"
        _echo(f"To test models on the {n_checked} checked rows: {command}")


def _check_paths(options: Options) -> None:
    """Check the name of the results, and that other files can be written."""
    from ..config.data_paths import format_of
    from ..errors import ConfigError

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


def _read_spec(options: Options) -> tuple[pd.DataFrame, DatasetSpec, list[str]]:
    """Read a file, and guess what the options do not say; also return remarks for the user."""
    from ..config.base import validate
    from ..config.dataset_spec import DatasetSpec
    from ..config.reader import parse_text
    from .table_guesses import guess_keys

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


def _check_columns(option: str, frame: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise a ConfigError if a column that an option names does not exist."""
    from ..errors import ConfigError, nearest_first, suggest

    for name in names:
        if name not in frame:
            raise ConfigError(
                f"{option}: {name!r} is not a column{suggest(name, frame.columns)}; columns are "
                f"{nearest_first(name, frame.columns)}"
            )


def _check_names(frame: pd.DataFrame) -> None:
    """Raise a ConfigError if a column has no name by which new rows could have it."""
    from ..errors import ConfigError

    unnamed = [name for name in frame.columns if not isinstance(name, str)]
    if unnamed:
        raise ConfigError(f"--train: columns must have names, got {unnamed[0]!r}; write the data as a CSV file")


def _features(dataset: Dataset) -> pd.DataFrame:
    """Features with the names of their columns."""
    import pandas as pd

    return (
        dataset.X if isinstance(dataset.X, pd.DataFrame) else pd.DataFrame(dataset.X, columns=dataset.columns)
    )


def _audit(frame: pd.DataFrame, dataset: Dataset, checked: pd.DataFrame | None, options: Options) -> LabelAudit:
    """Audit the labels of a data set."""
    from ..audit.audit import audit
    from ..errors import ConfigError

    model = None if options.model is None else _build(options.model, options)
    assert dataset.rows is not None  # noqa: S101 - for the type checker: read from a file
    if options.costs:
        from .train import read_costs

        read_costs(options.costs, dataset.classes)  # before the audit, which takes long
    n_unlabelled = 0
    if checked is not None:
        is_known = checked.index.isin(dataset.rows)
        n_unlabelled = int((~is_known).sum())
        if not is_known.any():
            raise ConfigError("--checked: no checked row has a label in the data")
        position = {row: i for i, row in enumerate(dataset.rows.tolist())}
        checked = checked[is_known].rename(index=position)
    found = audit(
        _features(dataset),
        dataset.classes[dataset.y],
        model=model,
        groups=dataset.groups,
        checked=checked,
        merge_spellings=not options.keep_spellings,
        keep_label_columns=options.keep_label_columns,
        random_state=options.seed,
        n_jobs=options.jobs or -1,
        name=dataset.name,
    )
    ids = None if options.id_column is None else frame[options.id_column].to_numpy()[dataset.rows]
    features = frame.iloc[dataset.rows].reset_index(drop=True)
    if n_unlabelled:
        rows = numbered(n_unlabelled, "checked row")
        remark = f"{rows} without a label in the data {is_or_are(n_unlabelled)} not used"
        found = dataclasses.replace(found, remarks=(*found.remarks, remark))
    return dataclasses.replace(found, rows=dataset.rows, ids=ids, features=features)


def _train(
    found: LabelAudit,
    dataset: Dataset,
    frame: pd.DataFrame,
    spec: DatasetSpec,
    checked: pd.DataFrame | None,
    options: Options,
) -> TrainedModel:
    """Train a model on the audited rows."""
    import numpy as np

    from .train import train_model

    return train_model(
        found,
        dataset,
        spec,
        frame.columns,
        checked=[] if checked is None else np.flatnonzero(np.isin(found.rows, checked.index)),
        costs=options.costs,
        id_column=options.id_column,
        random_state=options.seed,
        n_jobs=options.jobs or -1,
    )


def _build(name: str, options: Options) -> Any:
    """Build a model by its short name."""
    from ..config.base import validate
    from ..config.model_spec import ModelSpec
    from ..errors import ConfigError
    from ..models.factory import build
    from ..models.resolved_model import resolve

    try:
        described = validate(ModelSpec, {"model": name})
        estimator = build(resolve(described), seed=options.seed, threads=options.jobs or 1)
    except ConfigError as error:
        raise ConfigError(f"--model: {error}") from None
    if not hasattr(estimator, "predict_proba"):
        raise ConfigError(f"--model: {name} has no probabilities")
    return estimator
