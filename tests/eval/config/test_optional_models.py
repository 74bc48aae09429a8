import json
import sys

import pytest

from boostnoise import compare
from boostnoise.eval import ConfigError, load_config
from boostnoise.eval.config.run import parse_config

CATBOOST = {"model": "catboost", "optional": True}


@pytest.fixture(autouse=True)
def nothing_is_installed(monkeypatch):
    for package in ("catboost", "cleanlab"):
        monkeypatch.setitem(sys.modules, package, None)


@pytest.fixture
def load(tmp_path):
    def make(*models, **settings):
        path = tmp_path / "study.json"
        noise = [{"kind": "uniform", "rates": [0.1]}]
        path.write_text(json.dumps({"datasets": ["iris"], "models": models, "noise": noise, **settings}))
        return load_config(path)

    return make


def names(config):
    return [model.name for model in config.models]


def test_they_are_left_out_with_a_warning(load):
    said = r"^models: catboost is left out: catboost is not installed; pip install catboost$"
    with pytest.warns(UserWarning, match=said):
        assert names(load("adaboost", CATBOOST)) == ["adaboost"]
    with pytest.warns(UserWarning, match="catboost and cleanlab are not .* pip install catboost cleanlab$"):
        assert names(load("adaboost", {**CATBOOST, "model": "cleanlab+catboost"})) == ["adaboost"]
    swept = {**CATBOOST, "sweep": {"depth": [2, 4]}}
    with pytest.warns(UserWarning, match="left out"):
        assert names(load(swept, "adaboost")) == ["adaboost"]


def test_others_are_kept(load):
    assert names(load({"model": "adaboost", "optional": True}, "catboost")) == ["adaboost", "catboost"]


@pytest.mark.filterwarnings("ignore:models. catboost is left out")
def test_line_styles_stay_with_their_models(load):
    styles = {"ela_fig": {"plot_kwargs": [{"color": "red"}, {"color": "blue"}]}}
    config = load(CATBOOST, "adaboost", **styles)
    assert config.ela_fig.plot_kwargs == [{"color": "blue"}]
    assert parse_config(config.model_dump(exclude={"name"}), "again").ela_fig == config.ela_fig


@pytest.mark.filterwarnings("ignore:models. .* left out")
def test_none_is_left(load):
    with pytest.raises(
        ConfigError, match="models: none is left, as all are optional and catboost is not installed"
    ):
        load(CATBOOST)


@pytest.mark.usefixtures("fits_in_this_process")
@pytest.mark.filterwarnings("ignore:models. catboost is left out")
def test_in_python(tmp_path):
    compared = compare(
        [CATBOOST, "decision_tree"], ["iris"], [0.2], repeats=1, results_dir=tmp_path, n_jobs=1, progress=False
    )
    assert compared.scores["model"].unique().tolist() == ["decision_tree"]
