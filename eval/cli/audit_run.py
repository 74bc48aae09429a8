"""Run `noisyaudit`: audit labels or compare annotators, write the results and show them."""

from __future__ import annotations

import dataclasses
import json
import warnings
from typing import Any

import click
import numpy as np
import pandas as pd

from .._atomic_file import check_folder, write
from .._wording import is_or_are, numbered
from ..audit.audit import audit
from ..audit.cleaning import as_text
from ..audit.files import records, summary, write_audit
from ..audit.label_audit import LabelAudit
from ..config.base import validate
from ..config.dataset_spec import DatasetSpec
from ..config.model_spec import ModelSpec
from ..datasets.dataset import Dataset
from ..datasets.loader import load_dataset
from ..errors import ConfigError, shell_word
from ..models.factory import build
from ..models.resolved_model import resolve
from ..saved_models.model_file import write_model
from .annotators import compare_columns, write_comparison
from .annotators import summary as comparison_summary
from .audit_inputs import check_columns, check_names, check_paths, read_spec
from .audit_options import WEIGHTS, Options
from .checked_config import write_checked_config
from .checked_rows import check_right_labels, labels_by_row, read_checked
from .clean_file import DONE as CLEANED
from .clean_file import WEIGHT, CleanFile, check_new_columns, clean_file
from .command import echo
from .next_rows import next_rows_table, read_predictions
from .train import TrainedModel, read_costs, train_model

PRECISION = 0.8  # of a list of suspects to drop or relabel


def run(options: Options) -> None:
    """Read the data, then audit the labels or compare annotators."""
    check_paths(options)
    frame, spec, remarks = read_spec(options)
    check_columns("--id", frame, [] if options.id_column is None else [options.id_column])
    check_columns("--annotator", frame, options.annotators)
    check_columns("--prediction", frame, options.predictions)
    if options.train is not None:
        check_names(frame)
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
            echo(f"noisyaudit: warning: {remark}", is_error=True)
    carry_out = _run_comparison if options.annotators else _run_audit
    carry_out(options, frame, spec, checked, remarks)


def _run_comparison(
    options: Options, frame: pd.DataFrame, spec: DatasetSpec, checked: pd.DataFrame | None, remarks: list[str]
) -> None:
    """Compare annotators, write the results and show them."""
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
        click.echo(json.dumps(comparison_summary(found) | {"folder": str(folder), "warnings": remarks}))
    elif options.quiet:
        echo(str(folder))
    else:
        echo(f"{found}\n\nThe most probable label of each row is in {labels}")


def _run_audit(
    options: Options, frame: pd.DataFrame, spec: DatasetSpec, checked: pd.DataFrame | None, remarks: list[str]
) -> None:
    """Audit the data, write the results and show them."""
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
    model_scores = None if trained is None else trained.scores(found)
    cleaned = None if options.clean is None else clean_file(found, frame, spec, way, precision)
    folder = options.results_dir / f"{spec.name}_audit"
    check_folder(folder)
    page = write_audit(found, folder, scores)[-1]
    is_shown = not (options.quiet or options.as_json)
    if is_shown:
        shown = str(found) if scores is None else f"{found}\n\n{scores}"
        echo(f"{shown}\n\nResults are in {folder}; open {page} to view them")
    done: dict[str, Any] = {"folder": str(folder), "warnings": remarks}
    if options.clean is not None and cleaned is not None:
        if not options.quiet:
            table = _compare_cleaning(found, dataset, options)
            done |= {"cleaning": table.to_dict("index"), "changed": cleaned.n_changed}
            if is_shown:
                title = "Expected accuracy of a small LightGBM on right labels, by --clean-by"
                echo(f"\n{title}\n{as_text(table)}\n\n")
        write(options.clean, cleaned.content)
    if options.out is not None and next_rows is not None:
        write(options.out, next_rows)
    if options.train is not None and trained is not None:
        write_model(trained.model, options.train)
    if options.config is not None:
        write_checked_config(options.config, folder, frame, spec, labels_by_row(checked), found.noise_rate)
    if options.as_json:
        if scores is not None:
            done |= {"clean_scores": records(scores.scores), "differences": records(scores.differences)}
        if model_scores is not None:
            done |= {"model": str(options.train), "model_scores": records(model_scores.scores)}
        click.echo(json.dumps(summary(found) | done))
    elif options.quiet:
        echo(str(folder))
    else:
        _show_next_steps(options, found.n_checked, cleaned)
        if trained is not None and model_scores is not None:
            echo("\n".join(f"{options.train}: {sentence}" for sentence in trained.sentences(model_scores)))
            echo(f"To predict new rows: noisyaudit predict {shell_word(str(options.train))} NEW_DATA")


def _compare_cleaning(found: LabelAudit, dataset: Dataset, options: Options) -> pd.DataFrame:
    """Estimate how each way of cleaning changes the accuracy of a model."""
    return found.compare_cleaning(
        _features(dataset),
        groups=dataset.groups,
        precision=options.precision or PRECISION,
        random_state=options.seed,
        n_jobs=options.jobs or -1,
    )


def _show_next_steps(options: Options, n_checked: int, cleaned: CleanFile | None) -> None:
    """Show what to do with the suspects, and the other files that were written."""
    if options.n_next is not None:
        again = f"--checked {shell_word(str(options.out))}"
        echo(f"{options.out}: fill in the column label, and give the file with {again}")
    elif not options.checked:
        echo("Check some rows that --next 50 --out FILE draws, and give their right labels with --checked")
    if cleaned is not None:
        what = CLEANED[options.clean_by or WEIGHTS].format(numbered(cleaned.n_changed, "row"))
        echo(f"{options.clean}: {what}")
    if options.config is not None:
        command = f"noisyeval {shell_word(str(options.config))}"
        echo(f"To test models on the {n_checked} checked rows: {command}")


def _features(dataset: Dataset) -> pd.DataFrame:
    """Features with the names of their columns."""
    return (
        dataset.X if isinstance(dataset.X, pd.DataFrame) else pd.DataFrame(dataset.X, columns=dataset.columns)
    )


def _audit(frame: pd.DataFrame, dataset: Dataset, checked: pd.DataFrame | None, options: Options) -> LabelAudit:
    """Audit the labels of a data set."""
    model = None if options.model is None else _build(options.model, options)
    assert dataset.rows is not None  # noqa: S101 - for the type checker: read from a file
    if options.costs:
        read_costs(options.costs, dataset.classes)  # before the audit, which takes long
    n_unlabelled = 0
    if checked is not None:
        is_known = checked.index.isin(dataset.rows)
        n_unlabelled = int((~is_known).sum())
        if not is_known.any():
            raise ConfigError("--checked: no checked row has a label in the data")
        checked = checked[is_known]
        names = checked.index if options.id_column is None else frame[options.id_column].iloc[checked.index]
        check_right_labels(checked, names, dataset.classes, merge_spellings=not options.keep_spellings)
        checked = checked.rename(index={row: i for i, row in enumerate(dataset.rows.tolist())})
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
    try:
        described = validate(ModelSpec, {"model": name})
        estimator = build(resolve(described), seed=options.seed, threads=options.jobs or 1)
    except ConfigError as error:
        raise ConfigError(f"--model: {error}") from None
    if not hasattr(estimator, "predict_proba"):
        raise ConfigError(f"--model: {name} has no probabilities")
    return estimator
