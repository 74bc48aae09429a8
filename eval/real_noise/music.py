"""Music of ten genres, and what 44 people took it for."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..downloads.raw_files import RawFiles

ENDINGS = {"train": "gold.csv", "test": "test.csv", "answers": "mturk.csv"}


def build_music(raw: RawFiles) -> pd.DataFrame:
    """Songs: features, the split, one annotator's label and the majority, and the genre.

    Test rows have the genre in all columns of labels.
    """
    parts = {part: raw.read_csv(ENDINGS[part]).set_index("id") for part in ("train", "test")}
    songs = pd.concat(parts, names=["split"]).reset_index("split").rename(columns={"class": "target"})
    answers = raw.read_csv(ENDINGS["answers"]).groupby("id")["class"]
    random = np.random.RandomState(0)
    noisy = {
        "noisy_one": answers.apply(lambda given: given.iloc[random.randint(len(given))]),
        "noisy_majority": answers.agg(_first_of_most_frequent),
    }
    labels = {name: given.reindex(songs.index).fillna(songs["target"]) for name, given in noisy.items()}
    features = [name for name in map(str, songs) if name.startswith("feature")]
    columns = [songs[[*features, "split"]], pd.DataFrame(labels), songs["target"]]
    return pd.concat(columns, axis=1).reset_index(drop=True)


def build_music_annotators(raw: RawFiles) -> pd.DataFrame:
    """A column for each annotator, and the training rows of `build_music`; missing where one gave no answer."""
    answers = raw.read_csv(ENDINGS["answers"])
    table = answers.pivot_table(index="id", columns="annotator", values="class", aggfunc="first")
    table = table.reindex(raw.read_csv(ENDINGS["train"])["id"])
    return table.set_axis([f"annotator_{i}" for i in range(table.shape[1])], axis=1).reset_index(drop=True)


def _first_of_most_frequent(labels: pd.Series) -> str:
    counts = labels.value_counts()
    return str(counts.index[counts == counts.max()][0])
