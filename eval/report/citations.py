"""References to cite for a run, and the citation of boostnoise itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from importlib.resources import files
from typing import Any, NamedTuple

from ..config.run import Config
from ..models.variants import ADAPTIVE_CRITERION, OWN_PACKAGES, criterion_synonyms, default_variant

ALWAYS = {"ELA and RLA": ["saez2016"], "comparisons over data sets": ["demsar2006"]}
# Learners by the top-level package of their module.
LIBRARIES = {
    "sklearn": ("scikit-learn", ["pedregosa2011"]),
    "xgboost": ("XGBoost", ["chen2016"]),
    "lightgbm": ("LightGBM", ["ke2017"]),
    "catboost": ("CatBoost", ["prokhorenkova2018"]),
    "tabicl": ("TabICL", ["qu2025"]),
    "tabpfn": ("TabPFN", ["hollmann2025"]),
}
# Wrapper classes by name, with the library they wrap.
CLASSES = {
    "RobustXGBClassifier": ("XGBoost", ["chen2016"]),
    "RobustLGBMClassifier": ("LightGBM", ["ke2017"]),
    "CleanlabClassifier": ("cleanlab", ["northcutt2021"]),
    "RobustClassifier": ("correction for label noise", ["patrini2017", "menon2015"]),
}
CRITERIA = {
    ADAPTIVE_CRITERION: ["wilton2024"],
    "misclassification": ["wilton2024"],
    "sqrt_gini": ["dietterich1996"],
    "gce": ["wilton2024", "zhang2018"],
    "negative_exponential": ["wilton2024"],
    "twoing": ["breiman1984"],
    "pairwise": ["yang2019"],
    "pairwise_sum": ["yang2019"],
    "credal": ["mantas2014"],
    "newton": ["chen2016"],
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
    "by_row": ["ghosh2017trees"],
}


class Reference(NamedTuple):
    """A reference: the reason to cite it, its text and URL, and its BibTeX entry."""

    reason: str
    text: str
    url: str
    bibtex: str


def references_of(config: Config) -> list[Reference]:
    """References for the metrics, kinds of noise and models of a run, in this order."""
    reasons: dict[str, list[str]] = {}
    for reason, keys in _reasons(config):
        for key in keys:
            known = reasons.setdefault(key, [])
            if reason not in known:
                known.append(reason)
    entries = _entries()
    return [_reference(", ".join(why), entries[key]) for key, why in reasons.items()]


def bibtex_of(references: list[Reference]) -> str:
    """BibTeX entries of the references."""
    return "\n\n".join(reference.bibtex for reference in references)


def _reasons(config: Config) -> Iterator[tuple[str, list[str]]]:
    yield from ALWAYS.items()
    for noise in config.noise:
        if noise.kind in NOISE:
            yield f"{noise.kind} noise", NOISE[noise.kind]
    for model in config.models:
        for module, name, params in _classes(model.model_dump()):
            yield from _class_reasons(module, name, params)


def _classes(value: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Module, name and parameters of the classes in a model description, at any depth."""
    if isinstance(value, dict):
        if isinstance(value.get("module"), str) and isinstance(value.get("model"), str):
            params = value.get("params")
            yield value["module"], value["model"], params if isinstance(params, dict) else {}
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from _classes(part)


def _class_reasons(module: str, name: str, params: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    library = module.partition(".")[0]
    if library in LIBRARIES:
        yield LIBRARIES[library]
    if library not in OWN_PACKAGES:
        return
    if name in CLASSES:
        yield CLASSES[name]
    chosen = default_variant(name) | params
    for parameter, known in (("criterion", CRITERIA), ("loss", LOSSES)):
        variant = str(chosen.get(parameter, "")).partition("(")[0]
        key = criterion_synonyms().get(variant, variant) if parameter == "criterion" else variant
        if key in known:
            yield f"{parameter} {variant}", known[key]


def _entries() -> dict[str, str]:
    text = (files("boostnoise.eval.report.html") / "templates" / "references.bib").read_text(encoding="utf-8")
    entries = [entry.strip() for entry in re.split(r"\n(?=@)", text)]
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries if entry}


def _reference(reason: str, entry: str) -> Reference:
    fields = dict(re.findall(r"^\s*(\w+) = \{(.*)\},?$", entry, re.MULTILINE))
    names = [name.split(",")[0] for name in fields["author"].split(" and ")]
    authors = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} & {names[-1]}"
    authors = authors.replace(" & others", " et al.")
    title = fields["title"].replace("{", "").replace("}", "")
    venue = fields.get("journal") or fields.get("booktitle") or fields.get("publisher", "")
    url = f"https://doi.org/{fields['doi']}" if "doi" in fields else fields.get("url", "")
    return Reference(reason, f"{authors}: {title}. {venue}, {fields['year']}.", url, entry)


YEAR = 2026  # of this version; package metadata has no year


def citation() -> str:
    """Citation of this version of boostnoise, in one line."""
    authors, title, version = _metadata()
    return f"{authors} ({YEAR}). {title}. Version {version}."


def bibtex() -> str:
    """BibTeX entry of this version of boostnoise."""
    authors, title, version = _metadata()
    return (
        "@software{boostnoise,\n"
        f"  author = {{{{{authors}}}}},\n"
        f"  title = {{{title}}},\n"
        f"  version = {{{version}}},\n"
        f"  year = {{{YEAR}}}\n"
        "}"
    )


def _metadata() -> tuple[str, str, str]:
    """Authors, title and version."""
    package = metadata.metadata("boostnoise")
    title, _, _ = package["Summary"].partition(":")
    return package["Author"], f"boostnoise: {title[0].lower()}{title[1:]}", package["Version"]
