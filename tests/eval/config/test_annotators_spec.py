import pytest
from pydantic import ValidationError

from boostnoise.eval.config.annotators_spec import AnnotatorsSpec

LONG = {"path": "a.csv", "row": "task", "annotator": "worker", "label": "answer"}


def test_a_list_is_short_for_columns():
    assert AnnotatorsSpec.model_validate(["ann", 3]) == AnnotatorsSpec(columns=["ann", 3])
    assert AnnotatorsSpec.model_validate(LONG | {"id": "key"}).id == "key"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "must have either 'columns' or 'path'"),
        ({"columns": ["a", "b"], "path": "a.csv"}, "must have either 'columns' or 'path'"),
        (["a"], "at least 2 items"),
        ({"path": "a.arff"}, "must be a CSV or Parquet file"),
        ({"columns": ["a", "b"], "row": "task"}, "'row' requires 'path'"),
        ({"path": "a.csv", "row": "task", "annotator": "worker"}, "'row' requires 'label'"),
        ({"path": "a.csv", "id": "key"}, "'id' requires 'row'"),
        (LONG | {"worker": "x"}, "Extra inputs are not permitted"),
    ],
)
def test_mistakes(content, message):
    with pytest.raises(ValidationError, match=message):
        AnnotatorsSpec.model_validate(content)
