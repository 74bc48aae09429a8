import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from boostnoise import RobustClassifier, RobustXGBClassifier
from boostnoise.eval.models.early_stopping import EarlyStoppingClassifier
from boostnoise.eval.models.fit_arguments import fit_arguments

X, Y = load_iris(return_X_y=True)
WEIGHTS = np.where(Y == 1, 9.0, 1.0)
GROUPS = np.arange(150) % 12
TREE = DecisionTreeClassifier(max_depth=1, random_state=0)
PIPELINE = make_pipeline(StandardScaler(), TREE)
KNN = KNeighborsClassifier()


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (TREE, {"sample_weight"}),
        (PIPELINE, {"decisiontreeclassifier__sample_weight"}),
        (make_pipeline(StandardScaler(), PIPELINE), {"pipeline__decisiontreeclassifier__sample_weight"}),
        (GridSearchCV(TREE, {"max_depth": [1]}, cv=GroupKFold(2)), {"sample_weight", "groups"}),
        (
            GridSearchCV(PIPELINE, {"decisiontreeclassifier__max_depth": [1]}, cv=GroupKFold(2)),
            {"decisiontreeclassifier__sample_weight", "groups"},
        ),
        (VotingClassifier([("a", TREE), ("b", LogisticRegression(max_iter=1000))]), {"sample_weight"}),
        (StackingClassifier([("a", TREE)], final_estimator=TREE), {"sample_weight"}),
        (CalibratedClassifierCV(TREE), {"sample_weight"}),
        (BaggingClassifier(TREE), {"sample_weight"}),
        (RobustClassifier(RandomForestClassifier()), {"sample_weight", "groups"}),
        (EarlyStoppingClassifier(XGBClassifier(n_estimators=5), random_state=0), {"sample_weight", "groups"}),
        (RobustXGBClassifier(n_estimators=5), {"sample_weight", "groups"}),
        (make_pipeline(StandardScaler(), RobustXGBClassifier(n_estimators=5)), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_fit_takes_them(model, names):
    arguments = fit_arguments(model, WEIGHTS, GROUPS)
    if names is None:
        names = {f"robustxgbclassifier__{name}" for name in ("sample_weight", "groups")}
    assert set(arguments) == names
    predicted = model.fit(X, Y, **arguments).predict(X)
    assert (predicted == Y).mean() > 0.5


@pytest.mark.parametrize(
    "model",
    [
        KNN,
        make_pipeline(StandardScaler(), KNN),
        GridSearchCV(KNN, {"n_neighbors": [3]}),
        VotingClassifier([("a", TREE), ("b", KNN)]),
        StackingClassifier([("a", TREE)], final_estimator=KNN),
        RobustClassifier(PIPELINE),
    ],
    ids=lambda value: type(value).__name__,
)
def test_models_without_weights(model):
    with pytest.raises(ValueError, match="takes no weights of rows"):
        fit_arguments(model, WEIGHTS, None)
    assert "sample_weight" not in fit_arguments(model, None, GROUPS)


def test_nothing_is_passed_without_them():
    assert fit_arguments(TREE, None, None) == {}
    assert fit_arguments(TREE, None, GROUPS) == {}
