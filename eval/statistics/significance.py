"""All significance tests of one comparison."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import pandas as pd

from .._wording import sentence, under_noise, wrap_sentences
from ..metrics.registry import higher_is_better, label_of
from .bayesian_signed_rank import ROPE, BayesianSignedRank, bayesian_signed_rank
from .friedman_nemenyi import FriedmanNemenyi, friedman_nemenyi
from .paired_t import PairedTTests, paired_t_tests
from .score_tables import score_table
from .wilcoxon_holm import WilcoxonHolm, wilcoxon_holm


@dataclass(frozen=True, eq=False, repr=False)
class SignificanceTests:
    """Tests of the differences between models at one noise rate.  Printed, they are prose and small tables.

    Attributes
    ----------
    metric, measure : str
        The compared metric, and the measure that it is computed from.
    noise_rate : float or None
        None for a metric over all noise rates.
    noise_kind : str
    friedman_nemenyi : FriedmanNemenyi
        Whether any models differ over the data sets, and which pairs.
    wilcoxon_holm : WilcoxonHolm
        Whether the control model differs from each other model over the data sets.
    bayesian : BayesianSignedRank
        How probable it is that the control is better than each other model, practically equal, or worse.
    paired_t : PairedTTests
        Wins, ties and losses of each pair of models, over the repeats of each data set.
    """

    metric: str
    measure: str
    noise_rate: float | None
    noise_kind: str
    friedman_nemenyi: FriedmanNemenyi
    wilcoxon_holm: WilcoxonHolm
    bayesian: BayesianSignedRank
    paired_t: PairedTTests

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        label = sentence(label_of(self.metric, self.measure))
        title = f"{label} {under_noise(self.noise_kind, self.noise_rate)}"
        results = (self.friedman_nemenyi, self.wilcoxon_holm, self.bayesian, self.paired_t)
        parts = [title, *(result.summary for result in results), *(result.exclusions for result in results)]
        # The tests share most remarks, because they share data sets and models.  Each is printed once.
        return "\n\n".join(wrap_sentences(part) for part in dict.fromkeys(parts) if part)


def significance_tests(
    scores: pd.DataFrame,
    metric: str = "accuracy",
    control: str | None = None,
    *,
    noise_rate: float | None,
    noise_kind: str,
    measure: str = "accuracy",
    alpha: float = 0.05,
    rope: float = ROPE,
    test_fraction: float | None = None,
    fixed: Collection[str] = (),
) -> SignificanceTests:
    """Run all tests of the differences between models at one noise rate.

    Parameters
    ----------
    scores, metric, noise_rate, noise_kind, of
        See `score_table`.
    control : str or None, default=None
        The model that `wilcoxon_holm` and `bayesian_signed_rank` compare with all others; None for the model
        with the best mean rank.
    alpha : float, default=0.05
        Significance level.
    rope : float, default=0.01
        See `bayesian_signed_rank`.
    test_fraction, fixed
        See `paired_t_tests`.

    Returns
    -------
    SignificanceTests
    """
    table = score_table(scores, metric, noise_rate=noise_rate, noise_kind=noise_kind, measure=measure)
    better = higher_is_better(metric)
    return SignificanceTests(
        metric=metric,
        measure=measure,
        noise_rate=noise_rate,
        noise_kind=noise_kind,
        friedman_nemenyi=friedman_nemenyi(table, higher_is_better=better, alpha=alpha),
        wilcoxon_holm=wilcoxon_holm(table, control, higher_is_better=better, alpha=alpha),
        bayesian=bayesian_signed_rank(table, control, higher_is_better=better, rope=rope),
        paired_t=paired_t_tests(
            scores,
            metric,
            noise_rate=noise_rate,
            noise_kind=noise_kind,
            measure=measure,
            alpha=alpha,
            test_fraction=test_fraction,
            fixed=fixed,
        ),
    )
