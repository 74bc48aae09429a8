"""Software engineering: defects, security bug reports, and warnings of a static analyser."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from ..downloads.raw_files import RawFiles
from .table import Labelled

IDENTIFIERS = ("commit_id", "commit_hash", "author_date", "commit_date", "Unnamed: 0")
PROJECTS = ("ant", "cassandra", "commons", "derby", "jmeter", "lucene-solr", "maven", "tomcat")
FEATURES_WITH_THE_LABEL = r"F(1[01]\d|12[0-3])$"  # and others of the history of a warning


def build_jira(raw: RawFiles) -> Labelled:
    """Files with defects: by keywords in messages of commits, against the issue tracker."""
    table = raw.read_csv()
    X = table.drop(columns=["File", "HeuBug", "HeuBugCount", "RealBug", "RealBugCount"])
    return Labelled(X, {"heuristic": table["HeuBug"]}, table["RealBug"])


def build_szz(raw: RawFiles) -> Labelled:
    """Changes that induced a defect: three generations of the SZZ algorithm against a fourth one."""
    table = raw.read_csv()
    generations = [name for name in map(str, table) if name.startswith("buggy")]
    labels = {name: table[name].astype(str).str.lower() == "buggy" for name in generations}
    X = table.drop(columns=[*generations, *(name for name in IDENTIFIERS if name in table)])
    checked = labels.pop("buggy_RA")
    return Labelled(X, {name.removeprefix("buggy_").lower(): label for name, label in labels.items()}, checked)


def build_security(raw: RawFiles) -> Labelled:
    """Bug reports that concern security: as reported, against a check by hand."""
    words = _by_number(pd.concat([raw.read_csv("-train.csv"), raw.read_csv("-test.csv")]))
    (report,) = (name for name in raw.paths if name.startswith("datasets/report/"))
    reports = _by_number(raw.read_csv(report, encoding="latin1"))
    both = words.index.intersection(reports.index)
    words, reports = words.loc[both], reports.loc[both]
    counts = ["votes", "watches", "description_words", "comment_count"]
    facts = reports[["type", "priority"]].join(reports[counts].apply(pd.to_numeric, errors="coerce"))
    features = words.drop(columns="buglabel").add_prefix("word_")
    features = features.loc[:, ~features.columns.duplicated()]
    reported = pd.to_numeric(words["buglabel"]) > 0
    return Labelled(pd.concat([features, facts], axis=1), {"reported": reported}, reports["security"] > 0)


def _by_number(table: pd.DataFrame) -> pd.DataFrame:
    """The first row of each number of a bug report."""
    numbers = table["id"].astype(str).str.extract(r"(\d+)", expand=False).astype(int)
    return table.assign(id=numbers).drop_duplicates("id").set_index("id")


def _rows(table: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    return map(tuple, table.astype(str).to_numpy())


def build_warnings(raw: RawFiles) -> Labelled:
    """Warnings of a static analyser: closed by a later version, against a check by hand."""
    projects = []
    for project in PROJECTS:
        by_hand = raw.read_csv(f"2016_manual/test/{project}_C_features.csv", dtype=str)
        automatic = raw.read_csv(f"_2016/test/{project}_C_Features.csv", dtype=str)
        label = by_hand.columns[-1]
        of_features = dict(zip(_rows(automatic.drop(columns=label)), automatic[label], strict=True))
        given = [of_features[row] for row in _rows(by_hand.drop(columns=label))]
        projects.append(by_hand.rename(columns={label: "manual"}).assign(automatic=given))
    table = pd.concat(projects, join="inner", ignore_index=True)
    X = table.drop(columns=["manual", "automatic"]).apply(pd.to_numeric, errors="coerce")
    X = X.loc[:, X.notna().all() & ~X.columns.str.match(FEATURES_WITH_THE_LABEL)]
    return Labelled(X, {"automatic": table["automatic"] == "close"}, table["manual"] == "close")
