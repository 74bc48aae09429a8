"""Names of plots, for configs and for `plot`."""

from ..metrics.registry import MEASURES, PAIRED

CURVES = (*PAIRED, *MEASURES)  # against the noise rate
BY_DATASET = "_by_dataset"
COMPARISONS = ("critical_difference", "ranks", "time", "heatmap")
SWEEPS = ("parameter_sweep", "training_size")
PLOTS = (*CURVES, *(f"{metric}{BY_DATASET}" for metric in CURVES), *COMPARISONS)
FIGURES = (*PLOTS, *SWEEPS)
