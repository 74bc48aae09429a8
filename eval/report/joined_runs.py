"""Place the models of a run among those of another run, on the cells that both have."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

import pandas as pd

from .._wording import counted, joined, listed, sentence
from ..config.figures import FigureOptions
from ..config.model_spec import ModelSpec
from ..errors import ConfigError
from ..execution.run import Run
from ..metrics.curves import has_baseline

PLACE = ["dataset", "noise_kind", "noise_rate", "repeat"]
FACTS = ["noisy_labels", "test_labels", "domain"]  # of a place, where a run has them


def join_runs(run: Run, other: Run, other_name: str) -> tuple[Run, list[str]]:
    """Add the models of another run to a run.

    Cells of the two runs match if models are trained and tested on the same: the same rows, split, noise and
    seed, whatever the names.  Only data sets, noise rates and repeats that both runs have are kept.

    Parameters
    ----------
    run : Run
    other : Run
        Models of both runs are taken from `run`.
    other_name : str
        Name of the other run, added to the names of its models if `run` has others of these names.

    Returns
    -------
    run : Run
        Under the names of `run`, whose models come first.  Its remarks also say which models were added.
    remarks : list of str
        What was left out, and packages whose versions differ.

    Raises
    ------
    ConfigError
        If the runs have no cells in common, or one of them was made by an earlier version.
    """
    mine, theirs = _with_settings(run, "the run"), _with_settings(other, other_name)
    facts = [name for name in FACTS if name in mine]
    places = mine.drop_duplicates(PLACE)[[*PLACE, *facts, "setting"]]
    shared = _complete(places[places["setting"].isin(theirs["setting"])])
    if shared.empty:
        raise ConfigError(_nothing_in_common(other, other_name))
    names = _names(run.config.models, other.config.models, other_name)
    theirs = theirs.drop(columns=[*PLACE, *FACTS], errors="ignore").drop_duplicates(["setting", "model"])
    added = shared.merge(theirs, on="setting")
    if not names:
        raise ConfigError(f"{other_name} has no models that the run lacks")
    added = added[added["model"].isin(names)]
    added = added.assign(model=added["model"].map(names))
    own = mine.merge(shared[PLACE], on=PLACE)
    added = added.reindex(columns=own.columns).astype(own.dtypes.to_dict())
    scores = pd.concat([own, added], ignore_index=True)
    order = {column: {name: i for i, name in enumerate(run.scores[column].unique())} for column in PLACE[:2]}
    models = run.config.models + [
        spec.model_copy(update={"name": names[spec.name]}) for spec in other.config.models if spec.name in names
    ]
    order["model"] = {spec.name: i for i, spec in enumerate(models)}
    scores = scores.sort_values(
        [*PLACE, "model"], key=lambda column: column.map(order.get(str(column.name), lambda value: value))
    ).reset_index(drop=True)
    config = run.config.model_copy(
        update={
            "models": models,
            "repeats": int(shared["repeat"].nunique()),
            "datasets": [spec for spec in run.config.datasets if spec.name in set(shared["dataset"])],
            "noise": [spec for spec in run.config.noise if spec.name in set(shared["noise_kind"])],
            **{key: _padded(getattr(run.config, key), len(models)) for key in ("ela_fig", "rla_fig")},
        }
    )
    remarks = [*_left_out(places, shared, other_name), *_other_versions(run, other, other_name)]
    result = dataclasses.replace(
        run,
        config=config,
        scores=scores.drop(columns="setting"),
        datasets={name: facts for name, facts in run.datasets.items() if name in set(shared["dataset"])},
        sessions=(*run.sessions, *other.sessions),
        settings=tuple(scores["setting"]),
        remarks=(_origin(list(names.values()), other_name), *(f"{sentence(text)}." for text in remarks)),
    )
    return result, remarks


def check_shared_cells(settings: Collection[str], other: Run, other_name: str) -> None:
    """Check before a run that it will have cells in common with another run.

    Raises
    ------
    ConfigError
        If no cell of the other run has one of the settings, or it was made by an earlier version.
    """
    if not _with_settings(other, other_name)["setting"].isin(settings).any():
        raise ConfigError(_nothing_in_common(other, other_name))


def _nothing_in_common(other: Run, other_name: str) -> str:
    """Message that says which cells another run has."""
    noises = sorted({f"{kind} ({_rates(cells)})" for kind, cells in other.scores.groupby("noise_kind")})
    return (
        f"no cells in common with {other_name}, which has the data sets "
        f"{joined(other.scores['dataset'].unique())}, the noise {', '.join(noises)}, "
        f"{counted(other.config.repeats, 'repeat')}, test_fraction {other.config.test_fraction:g} and "
        f"random_state {other.config.random_state}; rows, noise rates and seeds must be the same"
    )


def _with_settings(run: Run, name: str) -> pd.DataFrame:
    if not run.settings or None in run.settings:
        raise ConfigError(f"{name} was made by an earlier version; repeat its command to update its record")
    return run.scores.assign(setting=pd.Series(run.settings, run.scores.index))


def _complete(shared: pd.DataFrame) -> pd.DataFrame:
    """Drop noise rates with fewer repeats than others, and data sets without the rate 0 or any other."""
    if shared.empty:
        return shared
    cells = shared.groupby(["dataset", "noise_kind", "noise_rate"])["repeat"].nunique()
    most = cells.groupby(["dataset", "noise_kind"]).transform("max")
    whole = cells[cells == most].reset_index()[PLACE[:3]]
    shared = shared.merge(whole, on=PLACE[:3])
    return shared[has_baseline(shared) & shared.groupby(PLACE[:2])["noise_rate"].transform("max").gt(0)]


def _names(own: list[ModelSpec], others: list[ModelSpec], other_name: str) -> dict[str, str]:
    """Names of the added models.  Those that the run has itself are not added."""
    contents, taken = [spec.content for spec in own], {spec.name for spec in own}
    added = [spec.name for spec in others if spec.content not in contents]
    return {name: f"{name} ({other_name})" if name in taken else name for name in added}


def _padded(options: FigureOptions, n_models: int) -> FigureOptions:
    """Figure options with line styles for all models."""
    styles = options.plot_kwargs
    if not styles:
        return options
    return options.model_copy(update={"plot_kwargs": [*styles, *[{}] * (n_models - len(styles))]})


def _rates(scores: pd.DataFrame) -> str:
    return ", ".join(f"{noise_rate:g}" for noise_rate in sorted(scores["noise_rate"].unique()))


def _left_out(places: pd.DataFrame, shared: pd.DataFrame, other_name: str) -> list[str]:
    """Sentences on data sets, kinds and rates of noise and repeats that the other run does not have."""
    remarks = []
    sets = [name for name in places["dataset"].unique() if name not in set(shared["dataset"])]
    rates = {
        kind: _missing_rates(of_kind, shared[shared["noise_kind"] == kind])
        for kind, of_kind in places.groupby("noise_kind", sort=False)
    }
    parts = [f"data set{'s' * (len(sets) > 1)} {listed(sets)}"] if sets else []
    parts += [f"{kind!s} noise at {missing}" for kind, missing in rates.items() if missing]
    n, n_all = shared["repeat"].nunique(), places["repeat"].nunique()
    parts += [f"{n_all - n} of {n_all} repeats"] if n < n_all else []
    if parts:
        remarks.append(f"left out, because {other_name} does not have them: {'; '.join(parts)}")
    return remarks


def _missing_rates(places: pd.DataFrame, shared: pd.DataFrame) -> str:
    missing = sorted(set(places["noise_rate"]) - set(shared["noise_rate"]))
    return listed([f"{noise_rate:g}" for noise_rate in missing]) if missing else ""


def _origin(added: list[str], other_name: str) -> str:
    """A sentence on the models of the other run."""
    whose = "Its" if len(added) == 1 else "Their"
    return (
        f"The scores of {counted(len(added), 'model')} come from the run {other_name}: {listed(added)}. "
        f"{whose} times to fit and predict were measured in that run, maybe on another machine; do not compare "
        "them with the others."
    )


def _other_versions(run: Run, other: Run, other_name: str) -> list[str]:
    """A sentence on packages whose versions differ between the runs."""
    own, theirs = (
        {package: version for session in sessions for package, version in session.versions.items()}
        for sessions in (run.sessions, other.sessions)
    )
    differing = [
        f"{package} {theirs[package]} (here {own[package]})"
        for package in sorted(own.keys() & theirs.keys())
        if own[package] != theirs[package]
    ]
    return [f"{other_name} was fitted with {listed(differing)}"] if differing else []
