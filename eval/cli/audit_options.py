"""Options of the command `noisyaudit`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

WEIGHTS = "weights"  # the default of --clean-by


@dataclass(frozen=True)
class Options:
    """Values of the command line; the options' help says what they mean."""

    data: str
    target: str | None
    annotators: tuple[str, ...]
    id_column: str | None
    group: str | None
    drop: tuple[str, ...]
    separator: str | None
    encoding: str | None
    missing_values: tuple[str, ...]
    model: str | None
    predictions: tuple[str, ...]
    checked: tuple[str, ...]
    n_next: int | None
    out: Path | None
    config: Path | None
    keep_spellings: bool
    keep_label_columns: bool
    clean: Path | None
    clean_by: str | None
    precision: float | None
    train: Path | None
    costs: tuple[tuple[str, str, float], ...]
    name: str | None
    results_dir: Path
    seed: int
    jobs: int | None
    quiet: bool
    as_json: bool

    def check_combination(self) -> None:
        """Raise a UsageError for an option without the one that it requires, or with one that it excludes."""
        required = (
            ("--clean-by", self.clean_by is not None, "--clean", self.clean),
            ("--precision", self.precision is not None, "--clean", self.clean),
            ("--config", self.config is not None, "--checked", self.checked or None),
            ("--next", self.n_next is not None, "--out", self.out),
            ("--out", self.out is not None, "--next", self.n_next),
            ("--cost", bool(self.costs), "--train", self.train),
        )
        for option, is_set, needed, argument in required:
            if is_set and argument is None:
                raise click.UsageError(f"{option} requires {needed}")
        if not self.annotators:
            return
        if len(self.annotators) == 1:
            raise click.UsageError("--annotator: give it once for each of two or more columns")
        if len(set(self.annotators)) < len(self.annotators):
            raise click.UsageError("--annotator: names a column twice")
        used = (("--id", self.id_column), ("--group", self.group), *(("--drop", name) for name in self.drop))
        for option, name in used:
            if name in self.annotators:
                raise click.UsageError(f"{option}: {name!r} is an annotator")
        excluded: tuple[tuple[str, object], ...] = (
            ("--target", self.target),
            ("--model", self.model),
            ("--clean", self.clean),
            ("--config", self.config),
            ("--next", self.n_next),
            ("--prediction", self.predictions or None),
            ("--train", self.train),
        )
        for option, other in excluded:
            if other is not None:
                raise click.UsageError(f"{option} does not go with --annotator")

    @property
    def csv_keys(self) -> dict[str, Any]:
        """Keys of a data set that say how to read a CSV file, of those that are set."""
        values = {
            "separator": self.separator,
            "encoding": self.encoding,
            "missing_values": list(self.missing_values) or None,
        }
        return {key: value for key, value in values.items() if value is not None}

    @property
    def not_features(self) -> list[str]:
        """Columns that the options name, apart from the labels."""
        named = (column for column in (self.id_column, self.group) if column is not None)
        return [*self.drop, *self.annotators[1:], *self.predictions, *named]


def read_character(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Read a single character, or a backslash and t for a tab."""
    value = "\t" if value == r"\t" else value
    if value is not None and len(value) != 1:
        raise click.BadParameter(rf"must be a single character, or \t for a tab, got {value!r}")
    return value
