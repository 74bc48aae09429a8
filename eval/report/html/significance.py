"""Significance tests of the report at one noise rate, with a critical-difference diagram."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from boostnoise.eval._wording import listed
from boostnoise.eval.plotting.critical_difference import WIDTH, diagram_height, draw_critical_difference
from boostnoise.eval.statistics.friedman_nemenyi import FriedmanNemenyi
from boostnoise.eval.statistics.significance import SignificanceTests, significance_tests

from .pictures import as_data_uri


@dataclass(frozen=True)
class TestsWithDiagram:
    """Tests under one kind of noise, with a critical-difference diagram.

    Attributes
    ----------
    tests : SignificanceTests
    diagram : str
        Data URI of the diagram; empty where the test has no power.
    description : str
        The diagram in words.
    """

    tests: SignificanceTests
    diagram: str
    description: str


def tests_with_diagram(
    scores: pd.DataFrame,
    metric: str,
    noise_rate: float,
    noise_kind: str,
    styles: Mapping[str, Mapping[str, Any]],
    test_fraction: float | None,
    fixed: Collection[str],
) -> TestsWithDiagram:
    """Test whether models differ at one noise rate, and draw their mean ranks.

    Parameters
    ----------
    scores, metric, noise_rate, noise_kind
        See `significance_tests`.
    styles : mapping
        Line styles of the models; see `line_styles`.
    test_fraction, fixed
        See `significance_tests`.
    """
    tests = significance_tests(
        scores,
        metric,
        noise_rate=noise_rate,
        noise_kind=noise_kind,
        test_fraction=test_fraction,
        fixed=fixed,
    )
    ranks = tests.friedman_nemenyi
    return TestsWithDiagram(tests, _diagram(ranks, styles) if ranks.has_power else "", _description(ranks))


def _diagram(result: FriedmanNemenyi, styles: Mapping[str, Mapping[str, Any]]) -> str:
    def draw() -> Figure:
        figure = Figure(figsize=(WIDTH, diagram_height(result)), layout="constrained")
        draw_critical_difference(figure.subplots(), result, styles)
        return figure

    return as_data_uri(draw, "critical difference")


def _description(result: FriedmanNemenyi) -> str:
    ranks = ", ".join(f"{model} {rank:.2f}" for model, rank in result.mean_ranks.items() if math.isfinite(rank))
    groups: Sequence[list[str]] = result.groups
    joined = "; ".join(f"no significant difference between {listed(group)}" for group in groups)
    width = f"critical difference {result.critical_difference:.2f}"
    return f"Mean ranks: {ranks}; {'; '.join(filter(None, [width, joined]))}."
