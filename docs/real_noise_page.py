"""Write the page of data sets with real noise, from the folder that `noisyeval --fetch real_noise` fills."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict

from boostnoise.eval.real_noise.catalogue import Group, read_catalogue

PAGE = Path(__file__).with_name("real_noise_sets.md")
FOLDS, TREES = 3, 100
HEAD = """\
# Data sets with real noise

`noisyeval --fetch real_noise FOLDER` or {{py:obj}}`~boostnoise.eval.fetch_real_noise` makes these {sets} data
sets with {columns} columns of noisy labels, of {domains} domains. The files are downloaded from public
repositories, each at a fixed commit and with a checked SHA-256. Sources without a licence are not ours to pass
on, nor yours: ask their authors.

*Wrong* is the share of wrong labels, in brackets that of the rows whose right label is positive and of the
others; of `music`, of the training rows. *AUC* is what the features tell of the right labels: the area under
the ROC curve of a random forest of {trees} trees that is trained and tested on them, in {folds} folds with
copies of rows kept together (for `music` the mean over the genres). Weigh by domain, then by group, then by
data set, never by column: {software} of the {columns} columns are of software.
"""


def area(X: pd.DataFrame, y: NDArray[Any]) -> float:
    """Area under the ROC curve of a random forest, cross-validated."""
    copies = X.groupby(list(X), dropna=False, sort=False).ngroup()
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)
    forest = RandomForestClassifier(TREES, random_state=0, n_jobs=2)
    p = cross_val_predict(forest, X.to_numpy(), y, cv=folds, groups=copies, method="predict_proba")
    return float(roc_auc_score(y, p[:, 1] if p.shape[1] == 2 else p, multi_class="ovr"))


def percent(share: float) -> str:
    """As in 4.5 %."""
    return f"{100 * share:.1f} %"


def wrong(noisy: pd.Series, right: pd.Series) -> str:
    """Share of wrong labels, of all rows and by class."""
    is_wrong = noisy != right
    if right.nunique() > 2:
        return percent(is_wrong.mean())
    by_class = ", ".join(percent(is_wrong[right == label].mean()) for label in (1, 0))
    return f"{percent(is_wrong.mean())} ({by_class})"


def row(name: str, table: pd.DataFrame) -> str:
    """A line of the table of a group."""
    noisy = [column for column in table if column.startswith("noisy_")]
    X = table.drop(columns=[*noisy, "target", "split"], errors="ignore")
    known = table[table["split"] == "train"] if "split" in table else table
    labels = "; ".join(f"`{column}` {wrong(known[column], known['target'])}" for column in noisy)
    classes = table["target"].nunique()
    kinds = f"{percent(table['target'].mean())} positive" if classes == 2 else f"{classes} classes"
    auc = area(X, np.unique(table["target"], return_inverse=True)[1])
    return f"| `{name}` | {len(table):,} × {X.shape[1]} | {kinds} | {labels} | {auc:.2f} |"


def section(group: Group, folder: Path) -> list[str]:
    """Text and table of a group."""
    repositories = dict.fromkeys(file.repository for files in group.sets.values() for file in files)
    links = ", ".join(f"[{name}](https://github.com/{name})" for name in repositories)
    lines = [f"### {group.name}\n"]
    lines += [f"Labels given by: {group.given_by}. Checked by: {group.checked_by}.  "]
    lines += [f"Source: {links}. Licence: {group.licence or 'not stated'}. Cite: {group.citation}.\n"]
    lines += [f"**Note**: {group.trap}\n"] if group.trap else []
    lines += ["| data set | rows × features | right labels | wrong | AUC |", "|---|---|---|---|---|"]
    names = [name for name in group.sets if name != "music_annotators"]
    return [*lines, *(row(name, pd.read_parquet(folder / f"{name}.parquet")) for name in names), ""]


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(folder: Path) -> None:
    """Write the page."""
    groups = read_catalogue().values()
    columns = {
        group: sum(
            column.startswith("noisy_")
            for name in group.sets
            for column in pd.read_parquet(folder / f"{name}.parquet")
        )
        for group in groups
    }
    domains = dict.fromkeys(group.domain for group in groups)
    facts = {
        "sets": sum(len(group.sets) for group in groups) - 1,
        "columns": sum(columns.values()),
        "domains": len(domains),
        "software": sum(n for group, n in columns.items() if group.domain == "software"),
        "trees": TREES,
        "folds": FOLDS,
    }
    lines = [HEAD.format(**facts)]
    for domain in domains:
        lines.append(f"## {domain.capitalize()}\n")
        for group in groups:
            if group.domain == domain:
                lines += section(group, folder)
    PAGE.write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
