import json

import pytest

from boostnoise.eval import ConfigError, load_config

FIGURE = {"save_fig": 1, "fig_size": [6, 5], "fig_dpi": 150, "fig_title": "Average $\\gamma$", "fig_cmap": "viridis",
          "plot_kwargs": [{"marker": "s", "markersize": 5}]}  # fmt: skip
STUDY = {
    "data_dir": "data",
    "results_dir": "out",
    "test_fraction": 0.2,
    "random_state": 7,
    "noise_kinds": ["label"],
    "noise_levels": [0.1, 0.5],
    "disp_accs": 1,
    "disp_elas": 0,
    "disp_rlas": 0,
    "disp_avg_elas": 1,
    "disp_avg_rlas": 0,
    "ela_fig": FIGURE,
    "rla_fig": {**FIGURE, "save_fig": 0},
    "warm_start": 0,
    "models": [
        {
            "name": "$\\gamma = 1$",
            "module": "sklearn.ensemble",
            "model": "AdaBoostClassifier",
            "params": {
                "base_estimator": {
                    "module": "sklearn.tree",
                    "model": "DecisionTreeClassifier",
                    "params": {"criterion": "entropy", "max_depth": 1},
                }
            },
        }
    ],
}


@pytest.fixture
def load(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "b.csv").write_text("x,y\n1,1\n")
    (tmp_path / "data" / "a.csv").write_text("x,y\n1,1\n")
    monkeypatch.chdir(tmp_path)

    def load(**changes):
        (tmp_path / "study.json").write_text(json.dumps({**STUDY, **changes}))
        return load_config("study.json")

    return load


def test_translation(load):
    config = load()
    assert [dataset.name for dataset in config.datasets] == ["a", "b"]
    assert all(dataset.target == -1 for dataset in config.datasets)
    assert config.noise[0].kind == "label"
    assert config.noise[0].rates == [0.0, 0.1, 0.5]
    assert (config.repeats, config.stratify, config.random_state) == (1, False, 7)
    assert config.tables == ["accuracy", "mean_ela"]
    assert not config.resume
    assert config.output_dir.as_posix() == "out/study"
    assert config.ela_fig.fig_size == [6, 5]
    assert config.ela_fig.plot_kwargs == [{"marker": "s", "markersize": 5}]
    assert not config.rla_fig.save_fig
    assert config.models[0].name == "$\\gamma = 1$"


def test_other_files_are_ignored_with_a_warning(load, tmp_path):
    (tmp_path / "data" / "readme.txt").write_text("")
    with pytest.warns(UserWarning, match=r"ignored files other than CSV: readme\.txt"):
        assert len(load().datasets) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data_dir": "nowhere"}, "data_dir: no such folder"),
        ({"noise_kinds": ["attribute"]}, r"noise_kinds\[0\]: must be 'label'"),
        ({"noise_levels": [2]}, r"noise_levels\[0\]: must be less than or equal to 1, got 2"),
        ({"disp_accs": 2}, "disp_accs: must be 0 or 1, got 2"),
        ({"repeats": 3}, "repeats: unexpected key; allowed keys: data_dir"),
    ],
)
def test_mistakes(load, changes, message):
    with pytest.raises(ConfigError, match=message):
        load(**changes)


def test_a_folder_without_data(load, tmp_path):
    (tmp_path / "data" / "a.csv").unlink()
    (tmp_path / "data" / "b.csv").unlink()
    with pytest.raises(ConfigError, match="data_dir: must have a CSV file"):
        load()
