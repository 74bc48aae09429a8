"""Names of the plots that a config or `plot` may ask for."""

from ..metrics.registry import MEASURES, PAIRED

CURVES = (*PAIRED, *MEASURES)  # against the noise rate
BY_DATASET = "_by_dataset"
COMPARISONS = ("critical_difference", "ranks", "time", "heatmap")
PLOTS = (*CURVES, *(f"{metric}{BY_DATASET}" for metric in CURVES), *COMPARISONS)
