"""Domains of data sets: each counts once, however many data sets it has.

The domain of a data set is a path such as ``software/jira``.  The data sets under a path have equal weights,
and so have the paths under a longer one: with two data sets in ``software/jira`` and one in ``software/szz``
and in ``medicine``, the weights are 1/8, 1/8, 1/4 and 1/2.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from .._wording import numbered

DOMAIN = "domain"
SEPARATOR = "/"


def domains_of(scores: pd.DataFrame) -> dict[str, str]:
    """Domain of each data set of the scores; empty unless all have one."""
    if DOMAIN not in scores or scores[DOMAIN].isna().any():
        return {}
    known = scores.drop_duplicates("dataset")
    return dict(zip(known["dataset"], known[DOMAIN], strict=True))


def domain_shares(domains: Mapping[str, str]) -> pd.DataFrame:
    """Shares of the data sets in their domains.

    Where all paths begin alike, the first part that differs tells the domain.

    Parameters
    ----------
    domains : dict of str to str
        Path of each data set.

    Returns
    -------
    DataFrame
        One row per data set, its index: ``domain``, and ``share``.  The shares of a domain sum to 1.
    """
    # The leading separator tells the name of a data set from a part of a path.
    paths = {name: (*path.split(SEPARATOR), SEPARATOR + name) for name, path in domains.items()}
    while len(paths) > 1 and len({path[0] for path in paths.values()}) == 1:
        paths = {name: path[1:] for name, path in paths.items()}
    shares = {}
    for name, path in paths.items():
        share = 1.0
        for depth in range(1, len(path)):
            share /= len({other[: depth + 1] for other in paths.values() if other[:depth] == path[:depth]})
        shares[name] = (path[0].removeprefix(SEPARATOR), share)
    return pd.DataFrame.from_dict(shares, orient="index", columns=[DOMAIN, "share"])


def weigh_domains(values: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Scale the values of a metric so that their plain mean over the data sets weighs domains alike.

    Parameters
    ----------
    values : DataFrame
        As `per_repeat` returns it.
    metric : str

    Returns
    -------
    DataFrame
        The same frame if the data sets have no domains.
    """
    if not domains_of(values):
        return values
    return pd.concat([_scaled(of_kind, metric) for _, of_kind in values.groupby("noise_kind", sort=False)])


def domain_weights(scores: pd.DataFrame) -> dict[str, float]:
    """Weight of each data set under one kind of noise; the mean weight is 1.  Empty without domains."""
    domains = domains_of(scores)
    if not domains:
        return {}
    shares = domain_shares(domains)
    weights = shares["share"] * len(shares) / shares[DOMAIN].nunique()
    return {str(name): float(weight) for name, weight in weights.items()}


def _scaled(of_kind: pd.DataFrame, metric: str) -> pd.DataFrame:
    return of_kind.assign(**{metric: of_kind[metric] * of_kind["dataset"].map(domain_weights(of_kind))})


def domain_means(table: pd.DataFrame, domains: Mapping[str, str]) -> pd.DataFrame:
    """Means of the data sets of each domain.

    Parameters
    ----------
    table : DataFrame
        One row per data set, its index.
    domains : dict of str to str
        Path of each data set; empty if they have none.

    Returns
    -------
    DataFrame
        One row per domain, or `table` if no domain has several data sets.
    """
    if not domains or table.empty or table.index.name == DOMAIN:
        return table
    shares = domain_shares({name: domains[name] for name in table.index})
    if shares[DOMAIN].is_unique:
        return table
    weighted = table.mul(shares["share"], axis=0)
    # A domain with a missing value has no mean.
    groups = weighted.groupby(shares[DOMAIN], sort=False)
    means = groups.sum().where(groups.count().eq(groups.size(), axis=0))
    means.attrs = table.attrs
    return means


def count_units(scores: pd.DataFrame) -> tuple[int, str]:
    """Number of data sets under one kind of noise, or of domains if some have several, and the noun."""
    domains = domains_of(scores)
    n = n_sets = int(scores["dataset"].nunique())
    if domains:
        n = int(domain_shares(domains)[DOMAIN].nunique())
    return n, DOMAIN if n < n_sets else "data set"


def unit_of(table: pd.DataFrame) -> str:
    """Noun for the rows of a table: domain or data set."""
    return DOMAIN if table.index.name == DOMAIN else "data set"


def averaged_over(scores: pd.DataFrame) -> str:
    """Describe a mean for titles, such as "mean over 6 data sets of 3 domains".

    Kinds of noise with different numbers of data sets give a range.
    """
    kinds = [of_kind for _, of_kind in scores.groupby("noise_kind", sort=False)]
    n_sets = {int(of_kind["dataset"].nunique()) for of_kind in kinds}
    if n_sets == {1}:
        return "one data set"
    units = [count_units(of_kind) for of_kind in kinds]
    what = f"mean over {_numbers(n_sets, 'data set')}"
    if any(noun == DOMAIN for _, noun in units):
        what += f" of {_numbers({n for n, _ in units}, DOMAIN)}"
    return what


def _numbers(found: set[int], noun: str) -> str:
    low, high = min(found), max(found)
    return numbered(low, noun) if low == high else f"{low} to {high} {noun}s"
