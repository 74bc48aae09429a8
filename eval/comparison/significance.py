"""What `Comparison.tests` finds: all tests of one comparison, together."""

from __future__ import annotations

from dataclasses import dataclass

from ..statistics.friedman_nemenyi import FriedmanNemenyi
from ..statistics.paired_t import PairedTTests
from ..statistics.wilcoxon_holm import WilcoxonHolm


@dataclass(frozen=True, eq=False, repr=False)
class SignificanceTests:
    """Tests of the differences between models at one noise rate.  Printed, they are prose and small tables.

    Attributes
    ----------
    metric, of : str
        What was compared, and the measure that it was computed from.
    level : float or None
        The noise rate; None for a metric over all of them.
    noise_kind : str
    friedman_nemenyi : FriedmanNemenyi
        Whether any models differ over the data sets, and which pairs.
    wilcoxon_holm : WilcoxonHolm
        Whether one model differs from each other over the data sets.
    paired_t : PairedTTests
        Wins, ties and losses of each pair, by the repeats of each data set.
    """

    metric: str
    of: str
    level: float | None
    noise_kind: str
    friedman_nemenyi: FriedmanNemenyi
    wilcoxon_holm: WilcoxonHolm
    paired_t: PairedTTests

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        from ..plotting.mathtext import label_of  # which loads Matplotlib

        label = label_of(self.metric, self.of)
        results = (self.friedman_nemenyi, self.wilcoxon_holm, self.paired_t)
        parts = [f"{label[0].upper()}{label[1:]} {under(self.level, self.noise_kind)}"]
        parts += [result.found for result in results]
        parts += [result.omitted for result in results]
        # All are of the same data sets and models, and told once what is true of all.
        return "\n\n".join(part for part in dict.fromkeys(parts) if part)


def under(level: float | None, noise_kind: str) -> str:
    """The noise, as the end of a title tells it."""
    if level == 0:
        return "without noise"
    return f"under {noise_kind} noise" if level is None else f"at {100 * level:.4g} % {noise_kind} noise"
