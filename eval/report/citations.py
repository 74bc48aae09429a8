"""What a run owes to others: the papers of its metrics, models, criteria, losses and kinds of noise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from importlib.resources import files
from typing import Any, NamedTuple

from ..config.run import Config
from ..models.criterion_names import ADAPTIVE_CRITERION, criterion_synonyms
from ..models.factory import OWN_PACKAGES, default_parameter

ALWAYS = {"ELA and RLA": ["saez2016"], "comparisons over data sets": ["demsar2006"]}
# By the first part of a class's module.
LIBRARIES = {
    "sklearn": ("scikit-learn", ["pedregosa2011"]),
    "xgboost": ("XGBoost", ["chen2016"]),
    "lightgbm": ("LightGBM", ["ke2017"]),
    "catboost": ("CatBoost", ["prokhorenkova2018"]),
}
# By the name of a class, what it rests on.
CLASSES = {
    "RobustXGBClassifier": ("XGBoost", ["chen2016"]),
    "RobustLGBMClassifier": ("LightGBM", ["ke2017"]),
    "CleanlabClassifier": ("cleanlab", ["northcutt2021"]),
}
CRITERIA = {
    ADAPTIVE_CRITERION: ["wilton2024"],
    "misclassification": ["wilton2024"],
    "sqrt_gini": ["dietterich1996"],
    "gce": ["wilton2024", "zhang2018"],
    "negative_exponential": ["wilton2024"],
    "twoing": ["breiman1984"],
    "pairwise": ["yang2019"],
    "credal": ["mantas2014"],
}
LOSSES = {
    "mae": ["ghosh2017"],
    "gce": ["zhang2018"],
    "sce": ["wang2019"],
    "focal": ["lin2017"],
    "rfl": ["luo2023"],
    "alpha": ["sypherd2022"],
    "label_smoothing": ["szegedy2016", "lukasik2020"],
    "bootstrap": ["reed2015"],
    "nce_mae": ["ma2020"],
    "nce_rce": ["ma2020"],
    "sigmoid": ["charoenphakdee2019"],
    "ramp": ["charoenphakdee2019"],
    "savage": ["masnadi2008"],
    "tangent": ["masnadi2010"],
    "negative_exponential": ["wilton2024"],
    "forward": ["patrini2017"],
    "backward": ["patrini2017"],
    "unbiased": ["natarajan2013"],
}
NOISE = {
    "pair_flip": ["han2018"],
    "mahalanobis": ["wilton2024"],
    "instance_dependent": ["menon2018", "zhang2021"],
}


class Work(NamedTuple):
    """A work to cite: what for, who wrote it and what it is called, its address, and its entry of BibTeX."""

    reason: str
    text: str
    address: str
    bibtex: str


def works_of(config: Config) -> list[Work]:
    """The works that a run rests on, those of the metrics first."""
    reasons: dict[str, list[str]] = {}
    for reason, keys in _reasons(config):
        for key in keys:
            known = reasons.setdefault(key, [])
            if reason not in known:
                known.append(reason)
    entries = _entries()
    return [_work(", ".join(why), entries[key]) for key, why in reasons.items()]


def bibtex_of(works: list[Work]) -> str:
    """The entries of all works."""
    return "\n\n".join(work.bibtex for work in works)


def _reasons(config: Config) -> Iterator[tuple[str, list[str]]]:
    yield from ALWAYS.items()
    for noise in config.noise:
        if noise.kind in NOISE:
            yield f"noise {noise.kind}", NOISE[noise.kind]
    for model in config.models:
        for module, name, params in _classes(model.model_dump()):
            yield from _of_class(module, name, params)


def _classes(value: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The classes that a description names, also those nested in it."""
    if isinstance(value, dict):
        if isinstance(value.get("module"), str) and isinstance(value.get("model"), str):
            params = value.get("params")
            yield value["module"], value["model"], params if isinstance(params, dict) else {}
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from _classes(part)


def _of_class(module: str, name: str, params: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    library = module.partition(".")[0]
    if library in LIBRARIES:
        yield LIBRARIES[library]
    if library not in OWN_PACKAGES:
        return
    if name in CLASSES:
        yield CLASSES[name]
    for parameter, known in (("criterion", CRITERIA), ("loss", LOSSES)):
        value = params[parameter] if parameter in params else default_parameter(module, name, parameter)
        variant = str(value).partition("(")[0]
        key = criterion_synonyms().get(variant, variant) if parameter == "criterion" else variant
        if key in known:
            yield f"{parameter} {variant}", known[key]


def _entries() -> dict[str, str]:
    text = (files("boostnoise.eval.report.html") / "templates" / "references.bib").read_text(encoding="utf-8")
    entries = [entry.strip() for entry in re.split(r"\n(?=@)", text)]
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries if entry}


def _work(reason: str, entry: str) -> Work:
    fields = dict(re.findall(r"^\s*(\w+) = \{(.*)\},?$", entry, re.MULTILINE))
    names = [name.split(",")[0] for name in fields["author"].split(" and ")]
    authors = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} & {names[-1]}"
    authors = authors.replace(" & others", " et al.")
    title = fields["title"].replace("{", "").replace("}", "")
    where = fields.get("journal") or fields.get("booktitle") or fields.get("publisher", "")
    address = f"https://doi.org/{fields['doi']}" if "doi" in fields else fields.get("url", "")
    return Work(reason, f"{authors}: {title}. {where}, {fields['year']}.", address, entry)


YEAR = 2026  # of this version; metadata have none


def citation() -> str:
    """One line for a list of references."""
    authors, title, version = _facts()
    return f"{authors} ({YEAR}). {title}. Version {version}."


def bibtex() -> str:
    """The same as an entry for BibTeX."""
    authors, title, version = _facts()
    return (
        "@software{boostnoise,\n"
        f"  author = {{{{{authors}}}}},\n"
        f"  title = {{{title}}},\n"
        f"  version = {{{version}}},\n"
        f"  year = {{{YEAR}}}\n"
        "}"
    )


def _facts() -> tuple[str, str, str]:
    """Authors, title and version."""
    of = metadata.metadata("boostnoise")
    title, _, _ = of["Summary"].partition(":")
    return of["Author"], f"boostnoise: {title[0].lower()}{title[1:]}", of["Version"]
