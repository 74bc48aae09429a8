"""The command `noisyaudit`."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from .audit_options import WEIGHTS, Options, read_character
from .command import CONTEXT, DONE, Command, NumberRange, limit_options, within_limits


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
@limit_options(
    "Memory limit of the process (Linux only).  [default: what is available]", "Stop after this time."
)
@click.option("-q", "--quiet", is_flag=True, help="Print only errors and the location of the results.")
@click.option("--json", "as_json", is_flag=True, help="Print the estimates as JSON.")
@click.version_option(package_name="boostnoise")
def main(max_memory: float | None, max_time: float | None, **values: Any) -> None:
    """Estimate how many labels of DATA are wrong, and which ones.

    DATA is a CSV, Parquet, ARFF or svmlight file.  Results go to <results_dir>/<name>_audit/: all rows, the
    most suspect first, in suspects.csv; the noise rate and the transition matrix in noise.json; a picture for
    everybody in audit.png; and audit.html, which shows all of it.  With --annotator, the error rates of the
    annotators go to annotators.json in <results_dir>/<name>_annotators/, and the most probable label of each
    row to labels.csv.

    noisyaudit predict FILE NEW_DATA predicts new rows by a model that --train has written; see noisyaudit
    predict --help.

    Exit status: 0 done, 2 bad data or usage, or the output cannot be written, 124 stopped by --max-time, 130
    interrupted, 141 output closed (broken pipe).
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = Options(**values)
    options.check_combination()
    hint = f"; run it again with: {shlex.join(['noisyaudit', *sys.argv[1:]])}"
    with within_limits("noisyaudit", max_memory, max_time, hint):
        from .audit_run import run  # slow to import

        run(options)
    sys.exit(DONE)
