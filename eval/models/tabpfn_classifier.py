"""TabPFN's classifier with the parameters that a config may set."""

from __future__ import annotations

from typing import Any

import tabpfn


class TabPFNClassifier(tabpfn.TabPFNClassifier):
    """`tabpfn.TabPFNClassifier` without parameters for files, devices and model internals.

    The first fit downloads the weights of the pretrained model, whose terms must have been accepted.

    Parameters
    ----------
    n_estimators : int or "auto", default="auto"
        Number of forward passes that are averaged.
    softmax_temperature : float or "auto", default="auto"
    balance_probabilities : bool, default=False
    average_before_softmax : bool, default=False
    ignore_pretraining_limits : bool, default=False
        Whether to accept more rows and features than the model was trained for.
    random_state : int or None, default=None
    """

    def __init__(
        self,
        *,
        n_estimators: Any = "auto",
        softmax_temperature: Any = "auto",
        balance_probabilities: bool = False,
        average_before_softmax: bool = False,
        ignore_pretraining_limits: bool = False,
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            softmax_temperature=softmax_temperature,
            balance_probabilities=balance_probabilities,
            average_before_softmax=average_before_softmax,
            ignore_pretraining_limits=ignore_pretraining_limits,
            random_state=random_state,
        )
