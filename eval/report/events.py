"""Output of the command `noisyeval` as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .display import Display, print_out

if TYPE_CHECKING:  # these take long to load, and an error in the config should show at once
    import pandas as pd

    from ..bundles.verification import Verification
    from ..execution.forecast import Forecast
    from ..execution.plan import Plan, Progress
    from ..execution.run import Run
    from ..papers.published_comparison import PublishedComparison


class Events(Display):
    """JSON lines for scripts: one object per event."""

    def __call__(self, progress: Progress) -> None:
        """Write the event start or cell."""
        counts = {"done": progress.done, "failed": progress.failed, "total": progress.total}
        from ..metrics.registry import RANGES

        job, outcome = progress.job, progress.outcome
        if job is None or outcome is None:
            self._write("start", run=self.name, cached=progress.cached, **counts)
            return
        own = [metric.name for metric in job.metrics]
        self._write(
            "cell",
            **counts,
            dataset=job.dataset,
            noise_kind=job.noise_kind,
            noise_rate=job.noise_rate,
            realised_rate=outcome.scores.get("realised_rate"),
            repeat=job.repeat,
            model=job.model.name,
            **{name: outcome.scores.get(name) for name in [*RANGES, *own] if name != "realised_rate"},
            error=outcome.error,
        )

    def show_warning(self, message: str) -> None:
        """Write the event warning."""
        self._write("warning", message=message)

    def show_merge(self, n_cells: int) -> None:
        """Write the event merged."""
        self._write("merged", cells=n_cells)

    def show_error(self, message: str) -> None:
        """Write one event error per problem."""
        for line in message.splitlines():
            self._write("error", message=line)

    def show_interruption(self, command: str, reason: str = "Interrupted", kept: str = "cells") -> None:
        """Write the event interrupted."""
        self._write("interrupted", resume_with=command)

    def show_starter(self, path: Path, hint: str) -> None:
        """Write the event written."""
        self._write("written", file=str(path))

    def show_step(self, name: str) -> None:
        """Write the event step."""
        self._write("step", name=name)

    def show_fetched(self, folder: Path, datasets: pd.DataFrame) -> None:
        """Write the event fetched."""
        self._write("fetched", folder=str(folder), datasets=datasets.reset_index().to_dict("records"))

    def show_file(self, path: Path) -> None:
        """Write the event written."""
        self._write("written", file=str(path))

    def show_bundle(self, path: Path) -> None:
        """Write the event written."""
        self._write("written", file=str(path))

    def show_verification(self, verification: Verification) -> None:
        """Write the event verified."""
        self._write(
            "verified",
            run=verification.name,
            is_verified=verification.is_verified,
            cells=json.loads(verification.cells.to_json(orient="records")),
            other_data=list(verification.other_data),
            versions=verification.versions,
            random_state=verification.random_state,
        )

    def show_forecast(self, plan: Plan, forecast: Forecast) -> None:
        """Write the event plan."""
        from ..execution.repeats import repeats_by_dataset
        from .forecast_text import rows_by_class

        repeats = [vars(needed) for needed in repeats_by_dataset(plan)]
        pairs = [vars(pair) for pair in forecast.pairs]
        total = {"seconds": forecast.seconds, "at_least": forecast.at_least}
        datasets = {
            name: {"features": data.X.shape[1], "rows": data.y.size, "rows_by_class": rows_by_class(data)}
            for name, data in plan.datasets.items()
        }
        self._write(
            "plan",
            run=self.name,
            **total,
            jobs=forecast.n_jobs,
            pairs=pairs,
            datasets=datasets,
            repeats=repeats,
        )

    def show_results(self, run: Run, files: list[Path]) -> None:
        """Write the event end."""
        from ..metrics.outcome import missing_cells
        from .text_tables import table_of

        config, scores = run.config, run.scores
        tables = {
            name: json.loads(table_of(name, config, scores).to_json(orient="records")) for name in config.tables
        }
        cells = missing_cells(scores)
        self._write(
            "end",
            failed=cells.n_failed,
            not_fitted=cells.n_not_fitted,
            results_dir=str(config.output_dir),
            report=str(run.report_path),
            files=list(map(str, files)),
            tables=tables,
        )

    def show_published(self, comparison: PublishedComparison) -> None:
        """Write the event published."""
        agreement = comparison.rank_agreement.to_json(orient="records")
        n_found, share, claims = len(comparison.reproduced), comparison.share_within, comparison.claims
        self._write(
            "published",
            cells=len(comparison.cells),
            found=n_found,
            share_within=share if n_found else None,
            rank_agreement=json.loads(agreement),
            claims=[] if claims is None else json.loads(claims.to_json(orient="records")),
        )

    def _write(self, event: str, **content: Any) -> None:
        print_out(json.dumps({"event": event, **content}, allow_nan=False))
