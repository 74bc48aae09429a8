"""Whether models differ by more than chance, for the report: over data sets, at one noise rate."""

from __future__ import annotations

import base64
import io
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.figure import Figure

from boostnoise.eval._wording import listed
from boostnoise.eval.plotting.critical_difference import WIDTH, draw_critical_difference, height_of
from boostnoise.eval.plotting.figure import STYLE
from boostnoise.eval.statistics.friedman_nemenyi import FriedmanNemenyi, friedman_nemenyi
from boostnoise.eval.statistics.paired_t import PairedTTests, paired_t_tests
from boostnoise.eval.statistics.score_tables import higher_is_better, score_table
from boostnoise.eval.statistics.wilcoxon_holm import WilcoxonHolm, wilcoxon_holm


@dataclass(frozen=True)
class Tests:
    """The tests under one kind of noise.

    Attributes
    ----------
    ranks : FriedmanNemenyi
    signs : WilcoxonHolm
    repeats : PairedTTests
    picture : str
        The critical-difference diagram as an address that holds it all; empty where the test has no power.
    description : str
        What it shows, in words.
    """

    ranks: FriedmanNemenyi
    signs: WilcoxonHolm
    repeats: PairedTTests
    picture: str
    description: str


def tests_of(scores: pd.DataFrame, metric: str, level: float, looks: Mapping[str, Mapping[str, Any]]) -> Tests:
    """Friedman's test with Nemenyi's, Wilcoxon's of the best model, and paired t-tests on each data set.

    Parameters
    ----------
    scores : DataFrame
        Those under one kind of noise.
    metric : str
        What is compared.
    level : float
        The noise rate.
    looks : mapping
        Of the models; see `looks_of`.
    """
    table, better = score_table(scores, metric, level=level), higher_is_better(metric)
    ranks = friedman_nemenyi(table, higher_is_better=better)
    picture = _diagram(ranks, looks) if ranks.has_power else ""
    signs = wilcoxon_holm(table, higher_is_better=better)
    repeats = paired_t_tests(scores, metric, level=level)
    return Tests(ranks, signs, repeats, picture, _description(ranks))


def _diagram(result: FriedmanNemenyi, looks: Mapping[str, Mapping[str, Any]]) -> str:
    # As a picture of its own its ids meet no others, and what is in it can neither run nor load anything.
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": "critical difference"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph|Font")  # a script that the font lacks shows as boxes
        figure = Figure(figsize=(WIDTH, height_of(result)), layout="constrained")
        draw_critical_difference(figure.subplots(), result, looks)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(file.getvalue()).decode()}"


def _description(result: FriedmanNemenyi) -> str:
    ranks = ", ".join(f"{model} {rank:.2f}" for model, rank in result.mean_ranks.items() if math.isfinite(rank))
    groups: Sequence[list[str]] = result.groups
    joined = "; ".join(f"no significant difference between {listed(group)}" for group in groups)
    width = f"critical difference {result.critical_difference:.2f}"
    return f"Mean ranks: {ranks}; {'; '.join(filter(None, [width, joined]))}."
