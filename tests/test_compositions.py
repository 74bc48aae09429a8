"""Our classifiers inside scikit-learn's estimators, as its user guide composes them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_validate,
    learning_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from boostnoise import RobustClassifier, RobustLGBMClassifier, RobustXGBClassifier
from robust_splits import RobustDecisionTreeClassifier, RobustExtraTreesClassifier, RobustForestClassifier

pytestmark = pytest.mark.release  # many small fits

FOREST = RobustForestClassifier(8, random_state=0)
CLASSIFIERS = {
    "tree": RobustDecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": FOREST,
    "extra-trees": RobustExtraTreesClassifier(8, random_state=0),
    "XGBoost": RobustXGBClassifier(n_estimators=8, learning_rate=0.3, random_state=0, n_jobs=1),
    "LightGBM": RobustLGBMClassifier(n_estimators=8, learning_rate=0.3, random_state=0, n_jobs=1, verbose=-1),
    "mixture": RobustClassifier([FOREST, LogisticRegression(max_iter=1000)], cv=2, random_state=0),
}
X, y = make_classification(240, 6, n_informative=4, weights=[0.7], flip_y=0.1, random_state=0)
WEIGHTS = np.where(np.arange(240) < 160, 1.0, 0.0)
GROUPS = np.repeat(np.arange(60), 4)


@pytest.fixture(params=CLASSIFIERS)
def classifier(request):
    return clone(CLASSIFIERS[request.param])


COMPOSITIONS = {
    "calibrated": lambda inner: CalibratedClassifierCV(inner, cv=2),
    "calibrated as fitted": lambda inner: CalibratedClassifierCV(FrozenEstimator(inner.fit(X, y))),
    "tuned threshold": lambda inner: TunedThresholdClassifierCV(inner, scoring="balanced_accuracy", cv=2),
    "fixed threshold": lambda inner: FixedThresholdClassifier(inner, threshold=0.4),
    "bagged": lambda inner: BaggingClassifier(inner, 2, max_features=0.8, random_state=0),
    "boosted": lambda inner: AdaBoostClassifier(inner, n_estimators=2, random_state=0),
    "stacked": lambda inner: StackingClassifier([("a", inner), ("b", LogisticRegression())], cv=2, passthrough=True),
    "voting": lambda inner: VotingClassifier([("a", inner), ("b", LogisticRegression())], voting="soft"),
    "one against the rest": OneVsRestClassifier,
    "scaled": lambda inner: make_pipeline(StandardScaler(), inner),
}  # fmt: skip


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_compositions(classifier, composition):
    composed = COMPOSITIONS[composition](classifier).fit(X, y)
    assert composed.score(X, y) > 0.75
    p = composed.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-6)
    assert clone(composed).fit(X, y).predict_proba(X) == pytest.approx(p)


@pytest.mark.parametrize(
    "search",
    [
        lambda inner, grid: GridSearchCV(inner, grid, cv=2),
        lambda inner, grid: RandomizedSearchCV(inner, grid, n_iter=2, cv=2, random_state=0),
        lambda inner, grid: HalvingGridSearchCV(inner, grid, cv=2, min_resources=60, random_state=0),
    ],
    ids=["grid", "random", "halving"],
)
def test_searches(classifier, search):
    names = {"RobustDecisionTreeClassifier": "max_depth", "RobustClassifier": "decision"}
    name = names.get(type(classifier).__name__, "n_estimators")
    values = ["accuracy", "balanced_accuracy"] if name == "decision" else [3, 6]
    found = search(classifier, {name: values}).fit(X, y)
    assert found.best_params_[name] in values
    assert found.score(X, y) > 0.75


def test_several_targets():
    Y = np.column_stack([y, X[:, 0] > 0])
    assert MultiOutputClassifier(FOREST).fit(X, Y).predict(X).shape == (240, 2)
    assert ClassifierChain(FOREST).fit(X, Y).predict(X).shape == (240, 2)


def test_choice_of_features(classifier):
    if isinstance(classifier, RobustClassifier):
        classifier.set_params(estimator=FOREST)  # the other model of the mixture has no importances
    assert 0 < RFECV(classifier, cv=2, step=2).fit(X, y).n_features_ <= 6
    assert 0 < SelectFromModel(classifier).fit(X, y).get_support().sum() < 6


def test_unlabelled_rows(classifier):
    some = np.where(np.arange(240) % 3 == 0, y, -1)
    trained = SelfTrainingClassifier(classifier, max_iter=2).fit(X, some)
    assert trained.score(X, y) > 0.7


def test_inspection(classifier):
    classifier.fit(X, y)
    importances = permutation_importance(classifier, X, y, n_repeats=2, random_state=0).importances_mean
    assert importances.max() > 0.02
    assert partial_dependence(classifier, X, [0], grid_resolution=5)["average"].shape == (1, 5)
    sizes, _, scores = learning_curve(classifier, X, y, cv=2, train_sizes=[0.5, 1.0])
    assert scores.shape == (2, 2)
    assert sizes[1] == 120


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_weights_are_routed(classifier):
    """Labels of rows without weight do not matter, however deep the classifier is nested."""
    if isinstance(classifier, RobustClassifier):
        classifier.set_params(estimator=clone(FOREST).set_fit_request(sample_weight=True))
    weighted = classifier.set_fit_request(sample_weight=True)
    wrong = np.where(WEIGHTS > 0, y, 1 - y)

    def predictions(labels):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        voting = VotingClassifier([("pipeline", make_pipeline(scaler, clone(weighted)))], voting="soft")
        return voting.fit(X, labels, sample_weight=WEIGHTS).predict_proba(X)

    np.testing.assert_allclose(predictions(y), predictions(wrong), atol=1e-12)
    unweighted = make_pipeline(StandardScaler(), clone(classifier)).fit(X, wrong).predict_proba(X)
    assert np.abs(unweighted - predictions(y)).max() > 0.05


@pytest.mark.usefixtures("routing")
def test_groups_and_weights_are_routed_through_searches():
    forest = RobustForestClassifier(5, random_state=0).set_fit_request(sample_weight=True, groups=True)
    forest.set_score_request(sample_weight=True)
    search = GridSearchCV(forest, {"max_depth": [2, 4]}, cv=GroupKFold(2))
    search.fit(X, y, sample_weight=WEIGHTS, groups=GROUPS)
    for rows in search.best_estimator_.estimators_samples_:
        counts = np.bincount(rows, minlength=240).reshape(60, 4)
        assert (counts == counts[:, :1]).all()  # whole groups are drawn
    scorer = make_scorer(balanced_accuracy_score).set_score_request(sample_weight=True)
    params = {"sample_weight": WEIGHTS, "groups": GROUPS}
    found = cross_validate(forest, X, y, cv=GroupKFold(2), scoring=scorer, params=params)
    assert (found["test_score"] >= 0.5).all()


def test_frames_of_polars_inside_a_pipeline():
    data = load_breast_cancer(as_frame=True)
    sizes = pd.cut(data.data["mean area"], 4, labels=list("abcd")).astype(str)
    frame = pl.from_pandas(data.data).with_columns(size=pl.Series(sizes).cast(pl.Categorical))
    scale = ColumnTransformer(
        [("scale", StandardScaler(), list(data.data))], remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="polars")
    pipeline = make_pipeline(scale, RobustForestClassifier(10, random_state=0)).fit(frame, data.target)
    assert isinstance(pipeline[0].transform(frame), pl.DataFrame)
    assert list(pipeline[-1].feature_names_in_) == frame.columns
    assert pipeline[-1].is_categorical_.sum() == 1
    assert pipeline.score(frame, data.target) > 0.9
