import shutil
from functools import partial

import pytest

from boostnoise.eval import run
from boostnoise.eval.execution import open_cells, runner
from boostnoise.eval.execution.plan import plan
from boostnoise.eval.execution.run import load_run
from boostnoise.eval.execution.store import Store
from boostnoise.eval.metrics.outcome import Outcome

pytestmark = pytest.mark.usefixtures("fits_in_this_process")


@pytest.fixture
def make(small_config):
    return partial(small_config, datasets=["iris"], models=["decision_tree"])


@pytest.fixture
def config(make):
    return make()


@pytest.fixture
def fitted(monkeypatch):
    """Keys of the cells that this process fits."""
    keys = []
    fit_locally = runner.fit_locally

    def fit(cells, *arguments, **options):
        for key, outcome in fit_locally(cells, *arguments, **options):
            keys.append(key)
            yield key, outcome

    monkeypatch.setattr(runner, "fit_locally", fit)
    return keys


class Claimed(runner.Claims):
    """Claims while another process holds those of `keys`; after `n_refused` refusals it puts its outcomes."""

    def __init__(self, path, *, config, outcomes, n_refused):
        super().__init__(path)
        self._config, self._outcomes, self._left = config, outcomes, n_refused

    def claim(self, key):
        if key not in self._outcomes:
            return super().claim(key)
        if self._left == 0:
            return super().claim(key)
        self._left -= 1
        if self._left == 0:
            with Store(self._config.store_path) as store:
                cells = plan(self._config).cells
                store.put_all((cells[key], outcome) for key, outcome in self._outcomes.items() if outcome)
        return False


@pytest.fixture
def claimed(config, monkeypatch):
    def hold(outcomes, n_refused):
        monkeypatch.setattr(
            runner, "Claims", partial(Claimed, config=config, outcomes=outcomes, n_refused=n_refused)
        )

    monkeypatch.setattr(open_cells, "WAIT_SECONDS", 0.0)
    return hold


SCORES = Outcome({"accuracy": 0.125, "balanced_accuracy": 0.5, "macro_f1": 0.5})
FAILED = Outcome(error="ValueError: elsewhere")


def test_cells_that_another_process_fits_are_read_from_the_store(config, claimed, fitted):
    scored, failed, *others = plan(config).cells
    claimed({scored: SCORES, failed: FAILED}, n_refused=2)
    states = []
    scores = run(config, n_jobs=1, progress=lambda state: states.append((state.done, state.failed))).scores
    assert fitted == others
    assert scores["accuracy"].tolist()[0] == 0.125
    assert scores["error"].tolist()[1] == FAILED.error
    assert states == [(0, 0), (1, 0), (2, 0), (3, 0), (4, 1)]


def test_the_run_waits_for_the_last_cells(config, claimed, fitted):
    first, second, *others = plan(config).cells
    claimed(
        {first: SCORES, second: None}, n_refused=8
    )  # the other process ends before the second one is fitted
    with pytest.warns(
        UserWarning, match="another process is fitting the last 2 cells; waiting for it"
    ) as caught:
        scores = run(config, n_jobs=1).scores
    assert len(caught) == 1
    assert fitted == [*others, second]
    assert scores["error"].isna().all()


def test_a_cell_that_failed_before_is_fitted_again(config, fitted):
    cells = plan(config).cells
    with Store(config.store_path) as store:
        store.put(next(iter(cells.values())), FAILED)
    assert run(config, n_jobs=1).scores["error"].isna().all()
    assert fitted == [*cells]


def test_a_cell_that_fails_in_another_process_too_is_not_fitted_again(config, claimed, fitted):
    first, *others = cells = plan(config).cells
    with Store(config.store_path) as store:
        store.put(cells[first], FAILED)
    claimed({first: FAILED}, n_refused=1)
    scores = run(config, n_jobs=1).scores
    assert fitted == others
    assert scores["error"].tolist()[0] == FAILED.error


@pytest.mark.parametrize("done", [1, 3, 4])
@pytest.mark.parametrize("how", ["deleted", "moved"])
def test_results_that_are_moved_or_deleted(config, how, done, without_times):
    folder = config.store_path.parent
    first = run(config.model_copy(update={"results_dir": str(folder.with_name("first"))}), n_jobs=1)

    def lose(state):
        if state.done == done and folder.exists() and not folder.with_name("moved").exists():
            folder.rename(folder.with_name("moved"))
            if how == "deleted":
                shutil.rmtree(folder.with_name("moved"))
                folder.with_name("moved").touch()

    message = (
        "store.sqlite was moved or deleted during the run; the . finished cells? of this run are in a new one"
    )
    with pytest.warns(UserWarning, match=message):
        ran = run(config, n_jobs=1, progress=lose)
    loaded = load_run(folder)
    for scores in (ran.scores, loaded.scores):
        assert without_times(scores).equals(without_times(first.scores))
    assert loaded.sessions == ran.sessions
    assert [session.fitted for session in loaded.sessions] == [4]


def test_results_that_are_deleted_before_an_interrupt(config):
    def lose(state):
        if state.done == 3:
            shutil.rmtree(config.store_path.parent)
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="the 3 finished cells of this run"), pytest.raises(KeyboardInterrupt):
        run(config, n_jobs=1, progress=lose)
    assert load_run(config.store_path.parent).scores["accuracy"].notna().sum() == 3
