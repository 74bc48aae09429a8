import pytest

from boostnoise.eval.config.run import parse_config
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.metrics.registry import REGISTRY, label_of

SOURCE = """
from boostnoise.eval import Metric

def worst(y_true, y_pred):
    return 0.5

cost = Metric(worst, name="other", label="cost", maximum=10, higher_is_better=False)
"""


@pytest.fixture
def parse(plugin_package):
    plugin_package("own_metrics", SOURCE, metrics={"worst": "own_metrics:worst", "cost": "own_metrics:cost"})

    def parse(**keys):
        return parse_config(
            {"datasets": ["iris"], "models": ["gbm"], "noise": [{"kind": "uniform", "rates": [0.1]}], **keys},
            "run",
        )

    return parse


def test_metrics_are_added_where_they_are_named(parse):
    config = parse(metric="worst", tables=["mean_cost"], figures=["cost_by_dataset"])
    assert [metric.name for metric in config.metrics] == ["worst", "cost"]
    assert [metric.label for metric in config.metrics] == ["worst", "cost"]
    assert REGISTRY["cost"].maximum == 10
    assert label_of("ela", "worst") == "ELA, equalised loss of worst"
    assert [metric.name for metric in parse(metrics=["cost"], figures=["worst"]).metrics] == ["cost", "worst"]
    assert parse().metrics == []


def test_a_record_needs_no_package(parse, monkeypatch):
    content = parse(metric="worst", metrics=["cost"]).model_dump()
    monkeypatch.setattr("boostnoise.eval.config.metric_spec.plugin_names", lambda group, builtin: [])
    monkeypatch.setattr("boostnoise.eval.config.metric_spec.load", None)
    assert parse_config(content, "run").model_dump() == content


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"metrics": ["wrst"]}, r"metrics\[0\]: no installed package has such a metric \(did you mean 'worst'\?\), got \"wrst\""),
        ({"metrics": ["accuracy"]}, r"metrics\[0\]: no .* metric; measures of this project need not be listed"),
        ({"metrics": ["worst", "worst"]}, "two metrics are named 'worst'"),
        ({"metric": "cost"}, "metric: must be 'accuracy', .* got \"cost\""),
        ({"metric": "wrst"}, "metric: must be 'accuracy', .* 'roc_auc'"),
        ({"metrics": [{"name": "ela", "label": "x", "function": "worst"}]}, "must not be named 'ela', which is a measure of this project"),
        ({"metrics": [{"name": "dataset", "label": "x", "function": "worst"}]}, "must not be named 'dataset', which is a column of the scores"),
        ({"metrics": [{"name": "a", "label": "<b>", "function": "worst"}]}, r"metrics\[0\]\.label: "),
        ({"metrics": [{"name": "a", "label": "b", "minimum": 2.0, "function": "worst"}]}, "minimum must be below maximum, got 2 and 1"),
        ({"metrics": [{"name": "a", "label": "b", "function": "os.system"}]}, "function: must be the name of an extension"),
        ({"metrics": ["worst"], "datasets": [{"set": "iris", "labels": "noisy"}]}, "metrics: 'worst' cannot be computed on data set 'iris'"),
    ],
)  # fmt: skip
def test_mistakes(parse, keys, message):
    with pytest.raises(ConfigError, match=message):
        parse(**keys)
