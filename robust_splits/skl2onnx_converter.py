"""Converter of trees and forests for skl2onnx, which converts whole pipelines of scikit-learn to ONNX."""

from __future__ import annotations

from typing import Any

from .decision_tree import RobustDecisionTreeClassifier
from .forest import RobustExtraTreesClassifier, RobustForestClassifier
from .onnx_trees import LABEL, PROBABILITIES, ROWS, constants_of, operators_of
from .sklearn_trees import check_convertible


def register_onnx_converters() -> None:
    """Let skl2onnx convert trees and forests, alone or in a pipeline; see `to_onnx`.

    Categories of data frames need a step before the model that makes them numbers.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.

    Examples
    --------
    >>> from robust_splits import RobustForestClassifier
    >>> from robust_splits.export import register_onnx_converters
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skl2onnx import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), RobustForestClassifier(10)).fit(X, y)
    >>> register_onnx_converters()
    >>> model = to_onnx(pipeline, X[:1].astype("float32"), options={"zipmap": False})
    >>> [output.name for output in model.graph.output]
    ['label', 'probabilities']
    """
    from skl2onnx import update_registered_converter
    from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes

    for cls in (RobustDecisionTreeClassifier, RobustForestClassifier, RobustExtraTreesClassifier):
        update_registered_converter(
            cls,
            f"RobustSplits{cls.__name__}",
            calculate_linear_classifier_output_shapes,
            _convert,
            options={
                "zipmap": [True, False, "columns"],
                "nocl": [True, False],
                "output_class_labels": [False, True],
            },
        )


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the operators of a model to a graph of skl2onnx."""
    model = operator.raw_operator
    check_convertible(model, categories=True)
    label, probabilities = (output.full_name for output in operator.outputs)
    names = {ROWS: operator.inputs[0].full_name, LABEL: label, PROBABILITIES: probabilities}
    for name, (element_type, shape, values) in constants_of(model).items():
        names[name] = scope.get_unique_variable_name(name)
        container.add_initializer(names[name], element_type, shape, values)
    for one in operators_of(model):
        for name in one.outputs:
            names.setdefault(name, scope.get_unique_variable_name(name))
        container.add_node(
            one.name,
            [names[name] for name in one.inputs],
            [names[name] for name in one.outputs],
            op_domain=one.domain,
            op_version=one.version,
            name=scope.get_unique_operator_name(one.name),
            **one.attributes,
        )
