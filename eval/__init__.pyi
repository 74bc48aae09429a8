from .bundles.bundle import write_bundle
from .bundles.verification import verify_bundle
from .config.reader import load_config
from .config.run import Config
from .errors import ConfigError
from .execution.cell_labels import cell_labels
from .execution.plan import Plan, Progress, plan
from .execution.run import Run, load_run
from .execution.runner import merge, run
from .metrics.curves import curve, mean_curve
from .metrics.own_metric import Metric
from .metrics.registry import higher_is_better
from .metrics.robustness import area_under_ela, ela, retention, rla
from .models.cleanlab_classifier import CleanlabClassifier
from .noise.annotators import AnnotatorNoise, SoftLabels
from .noise.audited import AuditedNoise
from .noise.base import NoisyLabels
from .noise.class_dependent import ByClassNoise, ClassConditionalNoise, LabelNoise, PairFlipNoise, UniformNoise
from .noise.feature_dependent import InstanceDependentNoise, MahalanobisNoise, RowNoise
from .noise.function_noise import FunctionNoise
from .noise.given import GivenNoise
from .papers.published_comparison import compare_with_published
from .plotting.curves import plot_curves
from .plotting.plot import plot
from .real_noise.fetch import fetch_real_noise
from .report.files import write_report
from .report.reference import reference
from .statistics.bayesian_signed_rank import bayesian_signed_rank
from .statistics.confidence_band import confidence_band
from .statistics.friedman_nemenyi import friedman_nemenyi
from .statistics.intervals import best_and_overlapping
from .statistics.paired_t import paired_t_tests
from .statistics.score_tables import rank_table, score_table
from .statistics.verdict import verdict
from .statistics.wilcoxon_holm import wilcoxon_holm

__all__ = [
    "AnnotatorNoise",
    "AuditedNoise",
    "ByClassNoise",
    "ClassConditionalNoise",
    "CleanlabClassifier",
    "Config",
    "ConfigError",
    "FunctionNoise",
    "GivenNoise",
    "InstanceDependentNoise",
    "LabelNoise",
    "MahalanobisNoise",
    "Metric",
    "NoisyLabels",
    "PairFlipNoise",
    "Plan",
    "Progress",
    "RowNoise",
    "Run",
    "SoftLabels",
    "UniformNoise",
    "area_under_ela",
    "bayesian_signed_rank",
    "best_and_overlapping",
    "cell_labels",
    "compare_with_published",
    "confidence_band",
    "curve",
    "ela",
    "fetch_real_noise",
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
    "reference",
    "retention",
    "rla",
    "run",
    "score_table",
    "verdict",
    "verify_bundle",
    "wilcoxon_holm",
    "write_bundle",
    "write_report",
]
