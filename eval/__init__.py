"""Evaluation under label noise: inject noise, run models on data sets, compute ELA and RLA curves.

The chain: a validated config becomes jobs, the runner fits what the store does not hold yet, metrics and report
read the store's scores.
"""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from .bootstrap import bootstrap_band
    from .cleanlab_filter import CleanlabClassifier
    from .config import Config
    from .errors import ConfigError
    from .intervals import best_and_overlapping
    from .metrics import area_under_ela, curve, ela, mean_curve, retention, rla
    from .noise import NoisyLabels
    from .noise_by_class import ClassConditionalNoise, LabelNoise, PairFlipNoise, UniformNoise
    from .noise_by_features import InstanceDependentNoise, MahalanobisNoise
    from .noise_given import GivenNoise
    from .planning import Plan, Progress, plan
    from .plots import plot, plot_curves
    from .reading import load_config
    from .repeat_tests import paired_t_tests
    from .report import write_report
    from .runner import complete, merge, run
    from .runs import Run, load_run
    from .score_tables import higher_is_better, rank_table, score_table
    from .signed_ranks import wilcoxon_holm
    from .statistics import friedman_nemenyi
    from .verdicts import verdict

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "bootstrap": ["bootstrap_band"],
        "cleanlab_filter": ["CleanlabClassifier"],
        "config": ["Config"],
        "errors": ["ConfigError"],
        "intervals": ["best_and_overlapping"],
        "metrics": ["area_under_ela", "curve", "ela", "mean_curve", "retention", "rla"],
        "noise": ["NoisyLabels"],
        "noise_by_class": ["ClassConditionalNoise", "LabelNoise", "PairFlipNoise", "UniformNoise"],
        "noise_by_features": ["InstanceDependentNoise", "MahalanobisNoise"],
        "noise_given": ["GivenNoise"],
        "planning": ["Plan", "Progress", "plan"],
        "plots": ["plot", "plot_curves"],
        "reading": ["load_config"],
        "repeat_tests": ["paired_t_tests"],
        "report": ["write_report"],
        "runner": ["complete", "merge", "run"],
        "runs": ["Run", "load_run"],
        "score_tables": ["higher_is_better", "rank_table", "score_table"],
        "signed_ranks": ["wilcoxon_holm"],
        "statistics": ["friedman_nemenyi"],
        "verdicts": ["verdict"],
    },
)

__all__ = [
    "ClassConditionalNoise",
    "CleanlabClassifier",
    "Config",
    "ConfigError",
    "GivenNoise",
    "InstanceDependentNoise",
    "LabelNoise",
    "MahalanobisNoise",
    "NoisyLabels",
    "PairFlipNoise",
    "Plan",
    "Progress",
    "Run",
    "UniformNoise",
    "area_under_ela",
    "best_and_overlapping",
    "bootstrap_band",
    "complete",
    "curve",
    "ela",
    "friedman_nemenyi",
    "higher_is_better",
    "load_config",
    "load_run",
    "mean_curve",
    "merge",
    "paired_t_tests",
    "plan",
    "plot",
    "plot_curves",
    "rank_table",
    "retention",
    "rla",
    "run",
    "score_table",
    "verdict",
    "wilcoxon_holm",
    "write_report",
]
