"""The command `noisyaudit predict`."""

from __future__ import annotations

import io
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .command import CONTEXT, DONE, Command, echo, limit_options, within_limits

if TYPE_CHECKING:
    import pandas as pd

    from ..saved_models.saved_model import SavedModel


@click.command("noisyaudit predict", cls=Command, context_settings=CONTEXT)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="CSV file to write.  [default: print it]"
)
@click.option(
    "--missing-value",
    "missing_values",
    multiple=True,
    metavar="TEXT",
    help="Text that stands for a missing value, in addition to those of the training data.  May be repeated.",
)
@limit_options("Memory limit of the process (Linux only).", "Stop after this time.")
@click.option("-q", "--quiet", is_flag=True, help="Print no warnings.")
def main(
    model: Path,
    data: str,
    out: Path | None,
    missing_values: tuple[str, ...],
    max_memory: float | None,
    max_time: float | None,
    quiet: bool,
) -> None:
    """Predict the rows of DATA by a MODEL that noisyaudit --train has written.

    DATA is a CSV, Parquet or ARFF file with the columns of the training data, in any order.  The predictions
    are CSV: the number of the row from 0, its name if the model was trained with --id, the predicted label,
    and the probability of each class on right labels.

    Exit status: 0 done, 2 bad data or usage, or the output cannot be written, 124 stopped by --max-time, 130
    interrupted, 141 output closed (broken pipe).
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with within_limits("noisyaudit", max_memory, max_time):
        content, remarks = _predictions(model, data, out, missing_values)
        if out is None:
            click.echo(content, nl=False)
        else:
            from .._atomic_file import write

            write(out, content)
    for remark in [] if quiet else remarks:
        echo(f"noisyaudit: warning: {remark}", is_error=True)
    sys.exit(DONE)


def _predictions(
    path: Path, data: str, out: Path | None, missing_values: tuple[str, ...]
) -> tuple[bytes, list[str]]:
    """The table of predictions as CSV, and remarks."""
    from ..errors import ConfigError
    from ..report.files import write_csv
    from ..saved_models.model_file import load_model

    if out is not None and out.exists():
        raise ConfigError(f"--out: {out} already exists and is not overwritten")
    model = load_model(path)
    frame = model.form.read(data, missing_values)
    X, remarks = model.form.encode(frame, data)
    content = io.BytesIO()
    write_csv(prediction_table(model, frame, model.mixture.predict_proba(X)), content)
    return content.getvalue(), remarks


def prediction_table(model: SavedModel, frame: pd.DataFrame, p: object) -> pd.DataFrame:
    """Number and name of each row, the predicted label, and the probabilities of the classes."""
    import numpy as np
    import pandas as pd

    probabilities = np.asarray(p)
    columns: dict[str, object] = {"row": np.arange(len(frame))}
    if model.id_column is not None and model.id_column in frame:
        columns["id"] = frame[model.id_column].astype(str).to_numpy()
    columns["predicted"] = model.classes_[model.decide(probabilities)].astype(str)
    table = pd.DataFrame(columns)
    names = [f"p_{label}" for label in model.classes_.tolist()]
    return pd.concat([table, pd.DataFrame(probabilities.round(6), columns=names)], axis=1)
