"""Whatever a config holds, a run ends well or is refused: no traceback, no file elsewhere, no foreign module."""

import json
import os
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from boostnoise.eval import ConfigError
from boostnoise.eval._atomic_file import TEMPORARY
from boostnoise.eval._cache_folder import cache_folder
from boostnoise.eval.cli.main import main
from boostnoise.eval.config.reader import load_config
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.execution import forecast, runner
from boostnoise.eval.metrics.outcome import Outcome
from boostnoise.eval.report import files as report
from boostnoise.eval.report import up_to_date

CSV = "x,z,y\n" + "".join(f"{i % 7},{i % 5},{i % 2}\n" for i in range(40))
NO_PICTURE = {"save_fig": False}
BASE = {
    "datasets": [{"path": "a.csv", "target": "y"}, {"set": "iris", "max_rows": 60, "positive": [1], "drop": [0]}],
    "models": [
        {"name": "bagged", "module": "sklearn.ensemble", "model": "BaggingClassifier",
         "params": {"estimator": {"module": "sklearn.tree", "model": "DecisionTreeClassifier",
                                  "params": {"max_depth": 2}}}},
        {"name": "quick", "model": "robust_tree", "params": {"criterion": "gini"}},
        "adaboost",
    ],
    "noise": [{"kind": "uniform", "rates": [0.2]}, {"kind": "label", "rates": [0.1], "name": "study"}],
    "repeats": 2,
    "results_dir": "results",
    "tables": ["mean_ela"],
    "ela_fig": NO_PICTURE,
    "rla_fig": NO_PICTURE,
}  # fmt: skip

# Its report takes a fraction of the time.
SMALL = {
    **BASE,
    "datasets": BASE["datasets"][:1],
    "models": ["adaboost"],
    "noise": BASE["noise"][:1],
    "repeats": 1,
}

# A description of each of these must be refused without importing it.
FOREIGN = ("antigravity", "this", "canary_module", "__hello__")
NESTED = [
    {"module": module, "model": model, "params": {}}
    for module, model in [
        *((module, "Anything") for module in FOREIGN),
        ("os", "system"), ("builtins", "eval"), ("subprocess", "Popen"), ("sklearn.utils", "Bunch"),
        ("sklearn.externals", "_arff"), ("sklearn.pipeline", "Pipeline"), ("sklearn.tree", "DecisionTreeRegressor"),
        ("sklearn", "os"), ("boostnoise.eval.cli.main", "main"), ("numpy", "memmap"), ("sklearn.tree.canary_module", "Own"),
    ]
]  # fmt: skip
STRINGS = [
    "", " ", ".", "..", "../out", "../../out/", "a/b", "a\\b", "/", "~", "~/x", "C:\\x", "con", "NUL", "aux.csv", "COM1",
    "x" * 300, "y" * 5000, "a\0b", "\x1b[2J", "a\nb", "\u202e", "\ud800", "\u2028", "𝒳ü", "$\\frac{$", "$x^2$", "{0}",
    "%s", "[red]", "-", "--help", "'; DROP TABLE cells;--", *FOREIGN, "sklearn.tree", "DecisionTreeClassifier",
    "random_forest", "wine", "a.csv", "missing.csv", "uniform", "mahalanobis", "class_conditional", "y", "test",
]  # fmt: skip
NUMBERS = [
    0, -1, 1, 2, 4, 10**30, -(10**400), 0.0, -0.0, 0.3, 1.5, 1e-320, 1e308, 2**31, 2**63, True, False, None,
]  # fmt: skip
VALUES = st.sampled_from(
    [*STRINGS, *NUMBERS, *NESTED, [], {}, [[]], [{}], [0.1, 0.9], [[0.1, 0.3]], ["y", 0], ["iris"]]
)
KEYS = st.sampled_from(
    """datasets models noise repeats test_fraction stratify random_state results_dir resume tables ela_fig name module
    model params kind rates noise_on path target drop categorical missing positive max_rows split test_path format set
    memory n_jobs random_state estimator criterion fig_title fig_cmap fig_size plot_kwargs color $schema x""".split()  # noqa: SIM905 - a list of words
    + STRINGS
)

written, imported, watching = [], [], []


def watch(event, arguments):
    if not watching:
        return
    if event == "import":
        imported.append(arguments[0])
    elif event == "open":
        if isinstance(arguments[0], str | bytes) and arguments[2] & (os.O_WRONLY | os.O_RDWR):
            written.append(os.fsdecode(arguments[0]))
    elif event in ("os.mkdir", "os.remove", "os.rename", "os.symlink", "sqlite3.connect", "shutil.rmtree"):
        written.append(os.fsdecode(arguments[0]))
    elif event in ("os.system", "os.exec", "subprocess.Popen", "socket.connect"):
        pytest.fail(f"{event}: {arguments}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The working directory, with a module that must not be run, and with fits that cost nothing."""
    folder = tmp_path_factory.mktemp("around") / "a" / "b" / "work"
    folder.mkdir(parents=True)
    (folder / "a.csv").write_text(CSV)
    (folder / "canary_module.py").write_text("open('canary', 'w').close()\nclass Own: ...\n")

    def fit_nothing(cells, *_, **__):
        for i, (key, _) in enumerate(cells):
            yield (
                key,
                Outcome(
                    {
                        "accuracy": 0.5 + i % 7 / 20,
                        "realised_rate": 0.1,
                        "fit_seconds": 1.0,
                        "predict_seconds": 0.1,
                    }
                ),
            )

    sys.addaudithook(watch)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONSAFEPATH", "1")
        patch.setattr(runner, "fit_locally", fit_nothing)
        patch.setattr(up_to_date, "find_written", lambda _: None)  # every report is written
        patch.setattr(forecast, "_fit", lambda *_: Outcome({"accuracy": 0.5, "fit_seconds": 0.01}))
        # Once unwatched, for what libraries keep in places of their own, such as the list of fonts.
        (folder / "first.json").write_text(json.dumps({**SMALL, "ela_fig": {}}))
        assert CliRunner().invoke(main, ["first.json"]).exit_code == 0
        yield folder


def write_scores(run, published=None):
    """In place of the report, which takes seconds."""
    path = run.config.output_dir / "scores.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    run.scores.to_csv(path)
    return [path]


def check_refusal(lines):
    for line in lines:
        assert line.startswith(("noisyeval: error: ", "noisyeval: warning: ", "study: ")), line
        assert line.isprintable(), line


def absolute(path):
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve does not take every name


def check_command(folder, config, *options, with_report=False):
    (folder / "study.json").write_text(json.dumps(config))
    written.clear()
    imported.clear()
    watching.append(True)
    try:
        with pytest.MonkeyPatch.context() as patch:
            if not with_report:
                patch.setattr(report, "write_report", write_scores)
            done = CliRunner().invoke(main, ["study.json", "-j", "1", *options])
    finally:
        watching.clear()
    assert done.exit_code in (0, 2), (done.exception, done.output)
    assert done.exception is None or isinstance(done.exception, SystemExit)
    check_refusal(done.stderr.splitlines())
    assert bool(done.stderr) or done.exit_code == 0
    assert not {name.partition(".")[0] for name in imported} & set(FOREIGN)
    assert not set(FOREIGN) & set(sys.modules)
    assert not (folder / "canary").exists()
    results = config.get("results_dir", "results") if isinstance(config, dict) else ""
    allowed = absolute(folder / results) if isinstance(results, str) else None
    for path in map(Path, written):
        if "__pycache__" in path.parts or path == Path(os.devnull) or path.is_relative_to(cache_folder()):
            continue
        name = str(path)
        if name.startswith("file:"):  # as SQLite is told it
            name = unquote(name.removeprefix("file:").partition("?")[0])
        where = absolute(folder / name)
        assert allowed is not None
        is_temporary = TEMPORARY.fullmatch(where.name) is not None  # a store that is being created
        is_store = where.parent == allowed and (where.name.startswith("store.sqlite") or is_temporary)
        study = allowed / "study"
        assert is_store or where == study or study in where.parents or where in study.parents, where
    return done


@given(st.data())
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
def test_mutated_configs_through_the_command(folder, mutated, data):
    config = data.draw(mutated(BASE, VALUES, KEYS))
    check_command(folder, config, "-q", *data.draw(st.sampled_from([[], ["--fresh"], ["--dry-run"]])))


def is_accepted(config):
    try:
        parse_config(config, "study")
    except ConfigError:
        return False
    return True


@pytest.mark.release
@given(st.data())
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_mutated_configs_through_the_command_and_the_report(folder, mutated, data):
    """Most changes are refused; those that are not have reports of all kinds of configs."""
    config = {**SMALL, "models": BASE["models"]}
    check_command(folder, data.draw(mutated(config, VALUES, KEYS).filter(is_accepted)), with_report=True)


@pytest.mark.release
def test_every_wild_name_in_a_report(folder):
    """All names that a config may hold, with the page and the pictures."""
    (iris,) = (dataset for dataset in BASE["datasets"] if "set" in dataset)
    models = [{"name": name, "model": "gbm"} for name in STRINGS]
    datasets = [iris | {"name": name} for name in STRINGS]
    models = [model for model in models if is_accepted(BASE | {"models": [model]})]
    datasets = [dataset for dataset in datasets if is_accepted(BASE | {"datasets": [dataset]})]
    assert min(len(models), len(datasets)) > 25
    titles = [title for title in STRINGS if is_accepted(BASE | {"ela_fig": {"fig_title": title}})]
    drawn = {"ela_fig": {"fig_title": "\n".join(titles)}}
    # The picture is of means over data sets, so it does not name them.
    for wild in [{"models": models, **drawn}, {"datasets": datasets, "models": models[:2]}]:
        assert check_command(folder, SMALL | wild, with_report=True).exit_code == 0


@pytest.mark.release
@pytest.mark.parametrize("value", [*STRINGS, *NESTED], ids=ascii)
def test_every_wild_value_at_the_places_that_name_something(folder, value):
    """The name of a model, its module and class, and descriptions within parameters."""
    name = value if isinstance(value, str) else "m"
    bagging = {"module": "sklearn.ensemble", "model": "BaggingClassifier"}
    models = [[{"module": name, "model": name}], [value]]
    models += [
        [{**bagging, "params": {key: inner}}]
        for key, inner in [("estimator", value), ("x", [[value]]), (name, value)]
    ]
    keys = ("path", "target", "split", "test_path", "positive")
    changes = [
        *({"models": some} for some in models),
        *({"datasets": [{**SMALL["datasets"][0], key: value}]} for key in keys),
    ]
    names = [
        {"models": [{"name": name, "model": "gbm"}, "adaboost"]},
        {"ela_fig": {"fig_title": value, **NO_PICTURE}},
        {"datasets": [{**SMALL["datasets"][0], "name": value}]},
    ]

    def is_taken(change):
        # The plan takes each name that the reader takes, or else the run below fails.
        if change in names and is_accepted(SMALL | change):
            return True
        return check_command(folder, SMALL | change, "--dry-run").exit_code == 0

    # Accepted changes are run together: the first of the models and the last of the data sets, which has the name.
    taken = [change for change in [names[0], *changes, *names[1:]] if is_taken(change)]
    together = {key: item for change in taken for key, item in change.items() if key != "models"}
    together |= next(filter(lambda change: "models" in change, taken), {})
    assert not taken or check_command(folder, SMALL | together, "-q").exit_code == 0
    # A folder may be refused as late as it is made.
    check_command(folder, SMALL | {"results_dir": value}, "-q")


@pytest.mark.filterwarnings("ignore:.* of no known format")
@given(st.data())
@settings(max_examples=150)
def test_mutated_configs_through_the_reader(folder, mutated, data):
    read(folder, json.dumps(data.draw(mutated(BASE, VALUES, KEYS))))


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | VALUES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=9), inner, max_size=6),
    max_leaves=20,
)


@given(ANY_JSON)
@settings(max_examples=150)
def test_any_json_through_the_reader(folder, content):
    read(folder, json.dumps(content))


@given(st.data())
@settings(max_examples=150)
def test_broken_texts_through_the_reader(folder, data):
    text = json.dumps(BASE)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 20))
        put = data.draw(st.text('{}[]",:/*\\\n \0\ufeff0e-.NaInfy', max_size=6))
        text = text[:start] + put + text[end:]
    read(folder, text)


def read(folder, text):
    path = folder / "read.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        load_config(path)
    except ConfigError as error:
        for line in str(error).splitlines():
            assert line.startswith(f"{path}: ")
            assert line.isprintable(), line


@pytest.mark.parametrize(
    "name", ["CON", "nul", " ", "-x", "a b", "ü", "x" * 240, "\x1b[2J", "a\nb", "$x", "..", "%", "{0}"]
)
def test_names_of_configs(folder, monkeypatch, name):
    """The name of the file names the folder of the results."""
    if name not in ("$x", "{0}"):  # which are the most a page may stumble over
        monkeypatch.setattr(report, "write_report", write_scores)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(SMALL))
    before = set(folder.rglob("*"))
    done = CliRunner().invoke(main, ["--", path.name])
    assert done.exit_code in (0, 2), (done.exception, done.output)
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert all(folder / "results" / name in made.parents or made == folder / "results" / name
               for made in set(folder.rglob("*")) - before - {folder / "results"})  # fmt: skip


def test_fits_and_pictures_of_a_wild_name(tmp_path, noisyeval):
    """Elsewhere here fits are not real; what they write lies among the results too."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.csv").write_text(CSV)
    models = [{"name": "../../../out [b] $x$ ü", "model": "adaboost"}]
    (work / "study.json").write_text(json.dumps({**SMALL, "models": models, "ela_fig": {}}))
    before = set(tmp_path.rglob("*"))
    done = noisyeval(work, "study.json", "-j", "1")
    assert done.exit_code == 0, done.stderr
    check_refusal(done.stderr.splitlines())
    made = set(tmp_path.rglob("*")) - before
    assert made
    assert all(path.is_relative_to(work / "results") for path in made), made
