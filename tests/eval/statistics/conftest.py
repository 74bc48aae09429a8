import numpy as np
import pandas as pd
import pytest

from boostnoise.eval.metrics.correct_rows import pack_rows


@pytest.fixture(scope="session")
def demsar():
    """Demsar 2006, table 6: AUC of C4.5 with and without tuned m and cf on 14 data sets."""
    rows = [
        (0.763, 0.768, 0.771, 0.798),
        (0.599, 0.591, 0.590, 0.569),
        (0.954, 0.971, 0.968, 0.967),
        (0.628, 0.661, 0.654, 0.657),
        (0.882, 0.888, 0.886, 0.898),
        (0.936, 0.931, 0.916, 0.931),
        (0.661, 0.668, 0.609, 0.685),
        (0.583, 0.583, 0.563, 0.625),
        (0.775, 0.838, 0.866, 0.875),
        (1.000, 1.000, 1.000, 1.000),
        (0.940, 0.962, 0.965, 0.962),
        (0.619, 0.666, 0.614, 0.669),
        (0.972, 0.981, 0.9751, 0.975),
        (0.957, 0.978, 0.946, 0.970),
    ]
    return pd.DataFrame(rows, columns=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"])


@pytest.fixture(scope="session")
def study_2020(data_root):
    """Reads the published scores of a config of the 2020 study."""
    table = pd.read_csv(data_root / "reference" / "boosting_with_label_noise_2020_accuracies.csv")
    table = table.rename(columns={"level": "noise_rate"}).assign(noise_kind="label", repeat=0)
    return lambda config: table[table["config"] == config]


@pytest.fixture(scope="session")
def scores_of():
    """Makes scores of an array of data sets, repeats and models; kinds of noise and noise rates may come before."""

    def make(accuracy, rates=None):
        accuracy = np.asarray(accuracy, dtype=float)
        n_kinds, n_rates, n_sets, n_repeats, n_models = (1,) * (5 - accuracy.ndim) + accuracy.shape
        axes = {
            "noise_kind": ["uniform", "pair_flip"][:n_kinds],
            "noise_rate": np.arange(n_rates) / 10 if rates is None else rates,
            "dataset": [f"d{i}" for i in range(n_sets)],
            "repeat": range(n_repeats),
            "model": [f"m{i}" for i in range(n_models)],
        }
        cells = pd.MultiIndex.from_product(axes.values(), names=axes).to_frame(index=False)
        return cells.assign(accuracy=accuracy.ravel(), error=None)

    return make


@pytest.fixture(scope="session")
def noisy_table():
    """Makes a table of data sets and models: on average each model is better by `step` than the one before."""

    def make(n_datasets, n_models, step=1.0):
        noise = np.random.default_rng(n_datasets).normal(size=(n_datasets, n_models))
        return pd.DataFrame(
            noise + step * np.arange(n_models),
            index=[f"d{i}" for i in range(n_datasets)],
            columns=[f"m{j}" for j in range(n_models)],
        )

    return make


@pytest.fixture(scope="session")
def shared_scores():
    """Makes scores of data sets whose repeats share their test rows, from correct predictions.

    The axes are noise rates, data sets, repeats, models and test rows.
    """

    def make(correct, rates=(0.3,)):
        correct = np.asarray(correct)
        correct = correct.reshape((1,) * (5 - correct.ndim) + correct.shape)
        _, n_sets, n_repeats, n_models, _ = correct.shape
        axes = {
            "noise_rate": rates,
            "dataset": [f"d{i}" for i in range(n_sets)],
            "repeat": range(n_repeats),
            "model": [f"m{i}" for i in range(n_models)],
        }
        cells = pd.MultiIndex.from_product(axes.values(), names=axes).to_frame(index=False)
        rows = correct.reshape(len(cells), -1).astype(bool)
        return cells.assign(
            noise_kind="uniform",
            accuracy=rows.mean(axis=1),
            correct_rows=[pack_rows(row) for row in rows],
            error=None,
        )

    return make
