"""Versions of the packages that scores depend on."""

from __future__ import annotations

import json
from importlib import metadata

from robust_splits.plugins import GROUPS, package_of, plugins

from .source_hash import source_hash

# Distributions whose name differs from the package.
DISTRIBUTIONS = {"sklearn": "scikit-learn", "robust_splits": "boostnoise"}


def version_of(package: str) -> str:
    """Installed version of a package, or a hash of its source if it is the user's own; see `source_hash`.

    Packages that are installed in development mode keep their version while their source changes, so they are
    hashed too.
    """
    name = DISTRIBUTIONS.get(package) or _distribution_of_plugin(package) or package
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return source_hash(package)
    return f"{version}+{source_hash(package)}" if _is_editable(name) else version


def _distribution_of_plugin(package: str) -> str | None:
    """Distribution of a package with entry points; None for other packages."""
    points = (point for group in GROUPS for point in plugins(group).values())
    return next((point.dist.name for point in points if point.dist and package_of(point) == package), None)


def _is_editable(name: str) -> bool:
    """Whether a distribution is installed in development mode; this project itself counts as installed."""
    text = metadata.distribution(name).read_text("direct_url.json")
    if text is None or name == "boostnoise":
        return False
    return bool(json.loads(text).get("dir_info", {}).get("editable"))
