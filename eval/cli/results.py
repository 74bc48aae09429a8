"""Write the results of a run, and show them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .command import DONE, SOME_CELLS_FAILED

if TYPE_CHECKING:
    from pathlib import Path

    from ..execution.run import Run
    from ..report.display import Display


@contextmanager
def shown_warnings(display: Display) -> Iterator[list[str]]:
    """Show warnings as a line of the display; yields the list of them."""
    shown: list[str] = []

    def show(message: Warning | str, *_: object, **__: object) -> None:
        shown.append(str(message))
        display.show_warning(str(message))

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield shown


def write_results(
    run: Run,
    display: Display,
    published: str | None,
    compare_with: str | None,
    bundle: Path | None = None,
    *,
    always: bool = False,
) -> int:
    """Write the results of a run, unless all files are up to date and not `always`, and show them."""
    from ..errors import ConfigError
    from ..papers.published_numbers import against_published
    from ..report.up_to_date import find_written, remember_written

    if bundle is not None:
        from ..bundles.bundle import write_bundle

        display.show_bundle(write_bundle(run, bundle))
    if compare_with is not None:
        from ..report.reference import add_models_of

        try:
            run, remarks = add_models_of(run, compare_with)
        except ConfigError:
            write_results(run, display, published, None, always=always)
            raise
        for remark in remarks:
            display.show_warning(remark)
    try:
        compared = None if published is None else against_published(run, published)
    except ConfigError:
        write_results(run, display, None, None, always=always)
        raise
    files = find_written(run) if compared is None and not always else None
    if files is None:
        from ..report.files import write_report

        with shown_warnings(display) as shown:
            files = write_report(run, compared)
        if compared is None and not shown:  # otherwise, the next command has to show them too
            remember_written(run, files)
    display.show_results(run, files)
    if compared is not None:
        display.show_published(compared)
    return SOME_CELLS_FAILED if run.scores["error"].notna().any() else DONE
