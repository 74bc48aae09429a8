"""TabICL's classifier with the parameters that a config may set."""

from __future__ import annotations

from typing import Any

import tabicl


class TabICLClassifier(tabicl.TabICLClassifier):
    """`tabicl.TabICLClassifier` without parameters for files, devices and model internals.

    The first fit downloads the weights of the pretrained model.

    Parameters
    ----------
    n_estimators : int, default=8
        Number of forward passes that are averaged.
    norm_methods : str, list of str or None, default=None
        Ways to scale the features; None for TabICL's own choice.
    feat_shuffle_method, class_shuffle_method : str
        How the forward passes permute features and classes.
    outlier_threshold : float, default=4.0
        Number of standard deviations beyond which values are clipped.
    softmax_temperature : float, default=0.9
    average_logits : bool, default=True
    support_many_classes : bool, default=True
        Whether to accept more classes than the model was trained for.
    random_state : int or None, default=None
    n_jobs : int or None, default=None
    """

    def __init__(
        self,
        *,
        n_estimators: int = 8,
        norm_methods: Any = None,
        feat_shuffle_method: str = "latin",
        class_shuffle_method: str = "shift",
        outlier_threshold: float = 4.0,
        softmax_temperature: float = 0.9,
        average_logits: bool = True,
        support_many_classes: bool = True,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            norm_methods=norm_methods,
            feat_shuffle_method=feat_shuffle_method,
            class_shuffle_method=class_shuffle_method,
            outlier_threshold=outlier_threshold,
            softmax_temperature=softmax_temperature,
            average_logits=average_logits,
            support_many_classes=support_many_classes,
            random_state=random_state,
            n_jobs=n_jobs,
        )
