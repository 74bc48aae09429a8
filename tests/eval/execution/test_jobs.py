import dataclasses
import hashlib
import json

import numpy as np
import pytest

from boostnoise import __version__
from boostnoise.eval import AuditedNoise, LabelNoise, RowNoise, UniformNoise
from boostnoise.eval.config.model_spec import ModelSpec
from boostnoise.eval.config.noise_spec import NO_NOISE
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.datasets.dataset import Dataset
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.execution.jobs import PROTOCOL, Job, job_keys, make_jobs, noise_by_rate
from boostnoise.eval.models.resolved_model import resolve, resolve_all

TREE = {"module": "sklearn.tree", "model": "DecisionTreeClassifier"}
VERSIONS = (("numpy", "2.4"), ("sklearn", "1.9"))


def tree(versions=VERSIONS, **changes):
    """A decision tree, resolved where these versions are installed."""
    spec = {"name": "tree", **TREE, "params": {"max_depth": 3, "criterion": "gini"}, **changes}
    return dataclasses.replace(resolve(ModelSpec.model_validate(spec)), versions=versions)


JOB = Job(
    dataset="a",
    fingerprint="f" * 64,
    model=tree(),
    noise_kind="uniform",
    noise_rate=0.1,
    noise=UniformNoise(0.1),
    noise_on="train",
    repeat=0,
    seed=7,
    test_fraction=0.2,
    stratify=True,
)


def keys(is_test=None, **changes):
    """The keys of the jobs of a small config with some changes."""
    content = {"datasets": ["iris"], "models": ["gbm"], "noise": [{"kind": "uniform", "rates": [0.1]}]}
    data = Dataset("a", np.zeros((4, 1)), np.array([0, 1, 0, 1]), np.arange(2), is_test)
    config = parse_config({**content, **changes}, "run")
    return [job.key for job in make_jobs(config, resolve_all(config.models), [data])]


def hash_of_all(job):
    """The key, from one JSON object."""
    content = {
        "protocol": PROTOCOL,
        "data": job.fingerprint,
        "noise": None,
        "split": None if job.test_fraction is None else [job.test_fraction, job.stratify],
        "seed": job.seed,
        "model": job.model.spec.content,
        "versions": job.model.versions,
    }
    if job.noise_rate:
        content["noise"] = [*job.noise.identity, *([job.noise_on] * (job.noise_on != job.noise.noise_on))]
    if job.fold and job.test_fraction is not None:
        content["split"] = {"fold": job.fold, "stratify": job.stratify, "seed": job.split_seed}
    content |= {"columns": job.columns} if job.columns else {}
    content |= {"test labels": job.test_labels} if job.test_labels else {}
    content |= {"threads": job.threads} if job.threads != 1 else {}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def test_keys_of_many_jobs_are_those_of_each():
    """Also where jobs share models, noise and settings, whose JSON is made once."""
    changes = {
        "fingerprint": ["g" * 64],
        "model": [tree(params={"z": "ü", "a": None}), tree(versions=(("numpy", "2.5"),))],
        "noise_rate": [0.0],
        "noise": [UniformNoise(0.2)],
        "noise_on": ["train+test"],
        "seed": [8],
        "test_fraction": [None, 0.3],
        "stratify": [False],
        "threads": [2],
        "columns": [("a", "b"), ("b", "a")],
        "fold": [(5, 1), (5, 2)],
        "split_seed": [3],
        "test_labels": [("estimated", "1", "h")],
    }
    jobs = [JOB]
    for name, values in changes.items():
        jobs += [dataclasses.replace(job, **{name: value}) for job in jobs[-12:] for value in values]
    keys = [hash_of_all(job) for job in jobs]
    assert job_keys(jobs) == keys == [job.key for job in jobs]
    assert len(set(keys)) > len(jobs) / 4


def test_several_threads_change_keys_and_limits_do_not():
    assert keys(threads=1) == keys() == keys(time_limit=1.5, memory_limit=2)
    assert not set(keys(threads=2)) & set(keys())


def test_keys_of_scores_on_estimated_labels():
    """The noise is the same, as the fingerprint is; models are trained on the same labels."""
    config = parse_config(
        {"datasets": ["iris"], "models": ["gbm"], "noise": [{"kind": "uniform", "rates": [0]}]}, "run"
    )
    right = Dataset("a", np.zeros((4, 1)), np.array([0, 1, 0, 1]), np.arange(2))
    noisy = dataclasses.replace(right, checked=np.full(4, -1))
    checked = dataclasses.replace(right, checked=np.array([-1, 1, -1, -1]))
    jobs = [make_jobs(config, resolve_all(config.models), [data])[0] for data in (right, noisy, checked)]
    assert len({job.fingerprint for job in jobs}) == 1
    assert len({job.key for job in jobs}) == len({job.setting for job in jobs}) == 3


def test_split_settings_do_not_change_keys_of_data_sets_with_a_split():
    given = np.array([False, False, True, True])
    for change in ({"test_fraction": 0.5}, {"stratify": False}):
        assert keys(given, **change) == keys(given)
        assert not set(keys(**change)) & set(keys())


def test_a_run_is_the_cross_of_its_parts():
    config = parse_config(
        {
            "datasets": ["iris", "wine"],
            "models": ["adaboost", "gbm"],
            "noise": [{"kind": "uniform", "rates": [0.1, 0.2]}, {"kind": "label", "rates": [0.1]}],
            "repeats": 3,
            "random_state": 10,
        },
        "run",
    )
    datasets = [
        Dataset(name, np.zeros((4, 1)), np.array([0, 1, 0, 1]), np.arange(2)) for name in ("iris", "wine")
    ]
    jobs = make_jobs(config, resolve_all(config.models), datasets)
    assert len(jobs) == 2 * 2 * (3 + 2) * 3
    assert {job.seed for job in jobs} == {10, 11, 12}
    # The data are the same, and without noise so are the kinds.
    assert len({job.key for job in jobs}) == 2 * (1 + 2 + 1) * 3


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": "b"},
        {"noise_kind": "other name"},
        {"model": tree(name="other name", params={"criterion": "gini", "max_depth": 3})},
        {"repeat": 3},
    ],
)
def test_names_are_not_part_of_the_key(change):
    assert dataclasses.replace(JOB, **change).key == JOB.key


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": "e" * 64},
        {"model": tree(params={"max_depth": 4, "criterion": "gini"})},
        {"model": tree(model="ExtraTreeClassifier")},
        {"model": tree(search={"params": {"max_depth": [3]}})},
        {"noise": LabelNoise(0.1)},
        {"noise": UniformNoise(0.2)},
        {"noise_on": "train+test"},
        {"noise_rate": 0.0},
        {"seed": 8},
        {"test_fraction": 0.3},
        {"stratify": False},
        {"model": tree(versions=(("numpy", "2.4"), ("sklearn", "1.10")))},
    ],
)
def test_what_changes_the_scores_changes_the_key(change):
    assert dataclasses.replace(JOB, **change).key != JOB.key


@pytest.mark.parametrize(
    ("noise", "noise_on", "key"),
    [
        (UniformNoise(0.1), "train", "b96c487af9bda41474ec7c96f62ffe10ff7b0704f7dea2476fa4354ff2d6b089"),
        (LabelNoise(0.1), "train+test", "25e4d3a83267948e2e086d84064af30d22bb8914f9c7cb0bf1f3fa4f949586dc"),
        (UniformNoise(0.0), "train", "e8b163433199826656861c16ae9dbbe2c52dfdaea493a3203c6f6b3fed10c45a"),
    ],
)
def test_finished_cells_of_this_protocol_stay_usable(noise, noise_on, key):
    assert PROTOCOL == 3
    assert dataclasses.replace(JOB, noise=noise, noise_on=noise_on, noise_rate=noise.noise_rate).key == key


SET = Dataset("letters", np.zeros((8, 1)), np.array([0, 1, 2] * 2 + [0, 1]), np.array(["a", "b", "c"]))


def spec(noise):
    return parse_config({"datasets": ["iris"], "models": ["gbm"], "noise": [noise]}, "run").noise[0]


def test_no_noise_is_injected_if_true_labels_are_unknown():
    partly = dataclasses.replace(SET, is_known=np.array([True] * 4 + [False] * 4))
    with pytest.raises(
        ConfigError, match="'uniform': cannot be injected into data set 'letters', because true"
    ):
        noise_by_rate(spec({"kind": "uniform", "rates": [0.1]}), partly)
    audited = spec({"kind": "audited", "rates": [0.1]})
    with pytest.raises(ConfigError, match="'audited' noise with one column of noisy labels"):
        noise_by_rate(audited, partly)
    labelled = dataclasses.replace(partly, noisy={"rule": SET.y})
    assert noise_by_rate(audited, labelled) == [NO_NOISE, (0.1, AuditedNoise(0.1))]
    assert AuditedNoise(0.1).identity == ["audited", 0.1, __version__]


def test_noise_rates_of_rows_are_scaled_to_the_rate():
    config = parse_config(
        {"datasets": ["iris"], "models": ["gbm"], "noise": [{"kind": "by_row", "rates": [0.1, 0.25]}]}, "run"
    )
    (spec,), difficulty = config.noise, np.array([0.0, 1, 3, 4])
    data = Dataset("a", np.zeros((4, 1)), np.array([0, 1, 0, 1]), np.arange(2), noise_rates=difficulty)
    (_, none), (_, low), (rate, high) = noise_by_rate(spec, data)
    assert (none, rate) == (UniformNoise(0.0), 0.25)
    assert isinstance(low, RowNoise)
    np.testing.assert_allclose(low.rates, difficulty / 20)
    np.testing.assert_allclose(high.rates, difficulty / 8)
    assert high.identity != low.identity == RowNoise(low.rates.tolist()).identity
    steep = dataclasses.replace(data, noise_rates=difficulty**3)
    with pytest.raises(
        ConfigError, match=r"^noise 'by_row': rate 0.5 would .* rate 1.3913; the highest .* 0.3593"
    ):
        noise_by_rate(spec.model_copy(update={"rates": [0.0, 0.5]}), steep)
    with pytest.raises(ConfigError, match=r"^noise 'by_row': data set 'a' has no 'rate_column'"):
        noise_by_rate(spec, dataclasses.replace(data, noise_rates=None))


def test_a_matrix_for_another_number_of_classes():
    noise = spec({"kind": "class_conditional", "rates": [[0.1, 0.3]]})
    with pytest.raises(
        ConfigError,
        match="noise 'class_conditional': the rates are for 2 classes, but there are 3 in data set 'letters'",
    ):
        noise_by_rate(noise, SET)
