import io

import numpy as np
import pandas as pd
import pytest

from boostnoise import Comparison
from boostnoise.eval import run
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.plotting.sweep_plot import plot_sweep
from boostnoise.eval.report.html.pictures import sweep_pictures

pytestmark = pytest.mark.usefixtures("fits_in_this_process")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    rows = [20, 90]
    content = {
        "datasets": [{"set": "iris", "train_rows": rows}, {"set": "wine", "train_rows": rows}],
        "models": [{"model": "decision_tree", "sweep": {"max_depth": [1, 8]}}, "robust_tree"],
        "noise": [{"kind": "uniform", "rates": [0.2]}],
        "folds": 3,
        "results_dir": str(folder),
    }
    return parse_config(content, "study")


@pytest.fixture
def found(study):
    return run(study, n_jobs=1)


def test_a_parameter(found):
    axes = plot_sweep(found.config, found.scores, "parameter_sweep")
    assert [ax.get_title() for ax in axes] == ["without noise", "at 20 % uniform noise"]
    (line,) = axes[1].lines
    assert line.get_label() == "decision_tree"
    noisy = found.scores[found.scores["noise_rate"] == 0.2]
    means = [
        noisy.loc[noisy["model"] == f"decision_tree, max_depth {depth}", "accuracy"].mean() for depth in (1, 8)
    ]
    assert line.get_xdata().tolist() == [1, 8]
    assert line.get_ydata() == pytest.approx(means)
    assert axes[0].get_xlabel() == "max_depth"
    assert axes[0].get_xscale() == "linear"


def test_kinds_of_noise_share_the_panel_without_noise(found):
    scores = pd.concat([found.scores, found.scores.assign(noise_kind="pair_flip")])
    axes = plot_sweep(found.config, scores, "parameter_sweep")
    titles = ["without noise", "at 20 % uniform noise", "at 20 % pair_flip noise"]
    assert [ax.get_title() for ax in axes] == titles


def test_numbers_of_training_rows(found):
    axes = plot_sweep(found.config, found.scores, "training_size")
    lines = {line.get_label(): line for line in axes[1].lines}
    assert list(lines) == ["decision_tree, max_depth 1", "decision_tree, max_depth 8", "robust_tree"]
    noisy = found.scores[(found.scores["noise_rate"] == 0.2) & (found.scores["model"] == "robust_tree")]
    means = [noisy.loc[noisy["dataset"].str.endswith(f" {n}"), "accuracy"].mean() for n in (20, 90)]
    assert lines["robust_tree"].get_xdata().tolist() == [20, 90]
    assert lines["robust_tree"].get_ydata() == pytest.approx(means)
    assert means[1] > means[0]


def test_data_sets_with_other_numbers_of_rows_have_their_own_lines(found):
    datasets = list(found.config.datasets)
    datasets[0] = datasets[0].model_copy(update={"train_rows": 30})
    config = found.config.model_copy(update={"datasets": datasets})
    lines = {
        line.get_label(): line.get_xdata().tolist()
        for line in plot_sweep(config, found.scores, "training_size")[0].lines
    }
    assert lines["robust_tree on iris"] == [30, 90]
    assert lines["robust_tree on wine"] == [20, 90]


def test_a_parameter_that_is_no_formula(found):
    models = [
        spec.model_copy(update={"params": {"$x^{$": spec.params["max_depth"]}})
        for spec in found.config.models[:2]
    ]
    config = found.config.model_copy(update={"models": models})
    axes = plot_sweep(config, found.scores, "parameter_sweep")
    axes[0].figure.canvas.draw()


def test_a_large_range_has_a_logarithmic_axis(found):
    models = [spec for spec in found.config.models if spec.params]
    models[1] = models[1].model_copy(update={"params": models[1].params | {"max_depth": 100}})
    config = found.config.model_copy(update={"models": models})
    assert plot_sweep(config, found.scores, "parameter_sweep")[0].get_xscale() == "log"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("failed", [[0.0, 0.2], [0.2]])
def test_failed_cells_leave_a_panel_empty(found, failed):
    """Of a parameter with a logarithmic axis, at all noise rates or at some."""
    models = [spec for spec in found.config.models if spec.params]
    models[1] = models[1].model_copy(update={"params": models[1].params | {"max_depth": 100}})
    config = found.config.model_copy(update={"models": models})
    names = [spec.name for spec in models]
    has_failed = found.scores["model"].isin(names) & found.scores["noise_rate"].isin(failed)
    numbers = found.scores.select_dtypes("number").columns.drop(["noise_rate", "repeat"])
    scores = found.scores.astype(dict.fromkeys(numbers, float))
    scores.loc[has_failed, numbers] = np.nan
    axes = plot_sweep(config, scores, "parameter_sweep")
    axes[0].figure.savefig(io.BytesIO(), format="svg")


def test_in_reports_and_comparisons(found):
    pictures = sweep_pictures(found)
    assert list(pictures) == ["max_depth: decision_tree", "training rows: iris, wine"]
    assert all(picture.startswith("data:image/svg+xml;base64,") for picture in pictures.values())
    comparison = Comparison(found)
    assert np.shape(comparison.plot("training_size")) == (2,)
    with pytest.raises(ValueError, match=r"noise_rate must be None for training_size, got 0\.2"):
        comparison.plot("training_size", noise_rate=0.2)


def test_nothing_is_varied(found):
    config = found.config.model_copy(
        update={"models": found.config.models[2:], "datasets": found.config.datasets[:1]}
    )
    with pytest.raises(ValueError, match="no two models differ in nothing but one parameter"):
        plot_sweep(config, found.scores, "parameter_sweep")
    with pytest.raises(ValueError, match="no two data sets differ in nothing but 'train_rows'"):
        plot_sweep(config, found.scores, "training_size")
