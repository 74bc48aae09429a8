import pytest
from lightgbm import LGBMClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from xgboost import XGBClassifier, XGBRFClassifier

from boostnoise import RobustClassifier, RobustLGBMClassifier, RobustXGBClassifier
from boostnoise.eval import CleanlabClassifier
from boostnoise.eval.models.input_form import enable_categories, input_form, selected_columns
from robust_splits import RobustForestClassifier

SELECTING = make_pipeline(make_column_transformer((StandardScaler(), ["x"])), LogisticRegression())


@pytest.mark.parametrize(
    ("model", "form"),
    [
        (RandomForestClassifier(), "numbers"),
        (RobustForestClassifier(), "numbers"),
        (SVC(), "numbers"),
        (make_pipeline(StandardScaler(), SVC()), "numbers"),
        (make_pipeline(StandardScaler(), XGBClassifier()), "numbers"),
        (XGBClassifier(), "categories"),
        (XGBRFClassifier(), "categories"),
        (XGBClassifier(booster="gblinear"), "numbers"),
        (XGBClassifier(tree_method="exact"), "numbers"),
        (RobustXGBClassifier(), "categories"),
        (LGBMClassifier(), "categories"),
        (RobustLGBMClassifier(), "categories"),
        (HistGradientBoostingClassifier(), "few_categories"),
        (HistGradientBoostingClassifier(categorical_features=[0, 2]), "numbers"),
        (HistGradientBoostingClassifier(categorical_features=None), "numbers"),
        (make_pipeline("passthrough", LGBMClassifier()), "categories"),
        (SELECTING, "frame"),
        (make_pipeline(OneHotEncoder(), SVC()), "frame"),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(), SVC()), "frame"),
        (make_pipeline(FeatureUnion([("words", TfidfVectorizer())]), SVC()), "frame"),
        (GridSearchCV(SELECTING, {}), "frame"),
        (GridSearchCV(LGBMClassifier(), {}), "categories"),
        (CalibratedClassifierCV(XGBClassifier()), "categories"),
        (CleanlabClassifier(LGBMClassifier()), "categories"),
        (RobustClassifier(CleanlabClassifier(SELECTING)), "frame"),
        (RobustClassifier(), "numbers"),
        (VotingClassifier([("a", SELECTING), ("b", SVC())]), "frame"),
        (VotingClassifier([("a", XGBClassifier()), ("b", LGBMClassifier())]), "categories"),
        (VotingClassifier([("a", XGBClassifier()), ("b", SVC())]), "numbers"),
        (VotingClassifier([("a", XGBClassifier()), ("b", "drop")]), "categories"),
        (BaggingClassifier(XGBClassifier()), "numbers"),  # makes an array of its input
    ],
)
def test_forms(model, form):
    assert input_form(model) == form


def test_nested_xgboost_models_accept_categories():
    model = GridSearchCV(make_pipeline("passthrough", XGBClassifier()), {})
    enable_categories(model)
    assert model.estimator[-1].enable_categorical
    enable_categories(SVC())


def test_selected_columns():
    columns = make_column_transformer(
        (TfidfVectorizer(), "text"), (StandardScaler(), ["a", "b"]), (StandardScaler(), [0]), ("drop", slice(2))
    )
    for model in (make_pipeline(columns, SVC()), GridSearchCV(make_pipeline(columns, SVC()), {})):
        assert selected_columns(model) == ["text", "a", "b"]
    union = FeatureUnion([("a", columns), ("b", StandardScaler())])
    assert selected_columns(make_pipeline(union, SVC())) == ["text", "a", "b"]
    vote = VotingClassifier([("a", SELECTING), ("b", make_pipeline(columns, SVC()))])
    assert selected_columns(vote) == ["x", "text", "a", "b"]
    assert selected_columns(make_pipeline(StandardScaler(), columns, SVC())) == []
    assert selected_columns(XGBClassifier()) == []
    for wrapper in (RobustClassifier, CleanlabClassifier):
        assert selected_columns(wrapper(RobustForestClassifier())) == []  # which has no length before fit
