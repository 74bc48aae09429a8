"""Domains of the data sets with real noise."""

from __future__ import annotations

from boostnoise.eval.real_noise.catalogue import read_catalogue


def domain_of(name: str) -> str:
    """Domain and group of a data set, such as ``software/jira``; its own name if it is not in the catalogue."""
    groups = [group for group in read_catalogue().values() if name in group.sets]
    return f"{groups[0].domain}/{groups[0].name}" if groups else name
