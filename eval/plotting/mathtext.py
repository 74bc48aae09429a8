"""What tables and pictures call metrics, and names as text of a figure."""

from __future__ import annotations

import textwrap

from matplotlib.mathtext import MathTextParser

# OF stands for the measure that a metric is computed from.
OF = "{of}"
MAX_NESTING, MAX_LATEX = 10, 1000  # of groups in LaTeX, and of its characters
LABELS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "macro_f1": "macro F1",
    "roc_auc": "ROC AUC",
    "log_loss": "log loss",
    "leaves": "leaves of a tree",
    "depth": "depth of a tree",
    "fit_seconds": "seconds to fit",
    "predict_seconds": "seconds to predict",
    "ela": f"ELA, equalised loss of {OF}",
    "rla": f"RLA, relative loss of {OF}",
    "retention": f"retention, share of {OF} that is kept",
    "area_under_ela": f"area under the curve of ELA, equalised loss of {OF}",
}


def label_of(metric: str, of: str = "accuracy") -> str:
    """What tables and axes call a metric that is computed from a measure."""
    return LABELS[metric].replace(OF, LABELS[of])


def short_label_of(metric: str, of: str = "accuracy") -> str:
    """What titles call it: the part before the explanation."""
    name = LABELS[metric].split(",")[0].replace(OF, LABELS[of])
    return name if OF not in LABELS[metric] or of == "accuracy" else f"{name} of {LABELS[of]}"


def text_of(text: str, wrap_at: int | None = None) -> str:
    """Text for a figure: valid LaTeX between dollar signs is drawn as such, other text wraps."""
    if "$" in text and text.count("$") % 2 == 0 and _is_flat(text):
        try:
            MathTextParser("path").parse(text)
        except (ValueError, RecursionError):
            pass
        else:
            return text
    if wrap_at is not None:
        text = "\n".join(textwrap.wrap(text, wrap_at))
    return text.replace("$", r"\$")


def _is_flat(text: str) -> bool:
    """Whether LaTeX is short, with groups nested so little that it can be drawn from any depth of calls."""
    depth = deepest = 0
    for character in text.replace(r"\left", "{").replace(r"\right", "}"):
        depth += (character == "{") - (character == "}")
        deepest = max(deepest, depth)
    return deepest <= MAX_NESTING and len(text) <= MAX_LATEX
