"""Forms of features that models take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

# numbers: a matrix.  categories: a frame of numbers and pandas categories.  few_categories: the same, but text
# with many values as numbers.  frame: a frame with the types of the source.
Form = Literal["numbers", "categories", "few_categories", "frame"]

FORM_OF_CLASS: dict[str, Form] = {
    "CatBoostClassifier": "categories",
    "ColumnTransformer": "frame",
    "HistGradientBoostingClassifier": "few_categories",
    "LGBMClassifier": "categories",
    "TabICLClassifier": "categories",
    "TabPFNClassifier": "categories",
    "XGBClassifier": "categories",
}

# Estimators that pass features on unchanged, and their parameters with nested estimators.
PASS_ON = {
    "CalibratedClassifierCV": "estimator",
    "CleanlabClassifier": "estimator",
    "EarlyStoppingClassifier": "estimator",
    "FeatureUnion": "transformer_list",
    "FixedThresholdClassifier": "estimator",
    "GridSearchCV": "estimator",
    "NodeSizeSearch": "estimator",
    "RandomizedSearchCV": "estimator",
    "RobustClassifier": "estimator",
    "StackingClassifier": "estimators",
    "TunedThresholdClassifierCV": "estimator",
    "VotingClassifier": "estimators",
}


def input_form(estimator: Any) -> Form:
    """Form of features that an estimator takes.

    Boosters take categories unless a parameter excludes them.  Pipelines take a frame if a step selects
    columns, as `ColumnTransformer` does, or transforms text.  Searches, votes and the like take what their
    estimators take.
    """
    names = class_names(estimator)
    if "Pipeline" in names:
        *transformers, last = [input_form(step) for step in parts(estimator.steps)]
        return "frame" if "frame" in transformers else "numbers" if transformers else last
    for name in names:
        if name in PASS_ON:
            forms = {input_form(part) for part in parts(getattr(estimator, PASS_ON[name]))}
            return "frame" if "frame" in forms else forms.pop() if len(forms) == 1 else "numbers"
        if name in FORM_OF_CLASS:
            return FORM_OF_CLASS[name] if _accepts_categories(estimator) else "numbers"
    return "frame" if hasattr(estimator, "transform") and _transforms_text(estimator) else "numbers"


def selected_columns(estimator: Any) -> list[str]:
    """Columns of the data set that an estimator selects by name."""
    names = class_names(estimator)
    if "ColumnTransformer" in names:
        selections = [columns for _, _, columns in estimator.transformers]
        lists = [[columns] if isinstance(columns, str) else columns for columns in selections]
        return [name for names in lists if isinstance(names, list) for name in names if isinstance(name, str)]
    if "Pipeline" in names:
        nested = estimator.steps[:1]  # other steps get columns of the first one
    else:
        nested = next((getattr(estimator, PASS_ON[name]) for name in names if name in PASS_ON), [])
    return [column for part in parts(nested) for column in selected_columns(part)]


def class_names(estimator: Any) -> list[str]:
    """Names of the class of an estimator and its bases."""
    return [cls.__name__ for cls in type(estimator).__mro__]


def parts(nested: Any) -> Iterator[Any]:
    """Estimators of a parameter: a single one, or a list of pairs of a name and an estimator."""
    for part in nested if isinstance(nested, list | tuple) else [(None, nested)]:
        if hasattr(part[1], "get_params"):
            yield part[1]


def _accepts_categories(estimator: Any) -> bool:
    """Whether the parameters of a booster allow categories."""
    params = estimator.get_params(deep=False)
    columns = params.get("categorical_features", "from_dtype")  # by position, they are columns of a matrix
    linear_or_exact = params.get("booster") == "gblinear" or params.get("tree_method") == "exact"
    return isinstance(columns, str) and not linear_or_exact


def _transforms_text(estimator: Any) -> bool:
    from sklearn.utils import get_tags

    tags = get_tags(estimator).input_tags
    return bool(tags.categorical or tags.string)


def enable_categories(estimator: Any) -> None:
    """Let the XGBoost models in an estimator accept categories."""
    params = estimator.get_params(deep=True)
    names = [name for name in params if name.rpartition("__")[2] == "enable_categorical"]
    if names:
        estimator.set_params(**dict.fromkeys(names, True))
