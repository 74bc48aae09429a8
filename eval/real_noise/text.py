"""Text: rules and crowds against the truth; texts become numbers."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from ..downloads.raw_files import RawFiles
from .table import Labelled

COMPONENTS, DIGITS = 32, 4
HALF = 0.5


def build_sms(raw: RawFiles) -> Labelled:
    """Spam: votes of rules that people wrote, no spam where none matches, against the label."""
    table = raw.read_csv("spam.csv", encoding="latin1").iloc[:, :2].set_axis(["label", "text"], axis=1)
    table = table.dropna().drop_duplicates("text").reset_index(drop=True)
    lines = raw.find("rule.txt").read_text(encoding="latin1").splitlines()
    split = [line.split("\t") for line in lines]
    rules = [(fields[0].strip(), re.compile(fields[1], re.IGNORECASE)) for fields in split if len(fields) > 1]
    votes = [
        _most_frequent([label for label, rule in rules if rule.search(text)])
        for text in table["text"].str.lower()
    ]
    return Labelled(
        describe_texts(table["text"]), {"rules": np.array(votes) == "spam"}, table["label"] == "spam"
    )


def build_books(raw: RawFiles) -> Labelled:
    """Reviews of a book: the majority of five people, and one of them, against the product."""
    reviews = raw.read_csv().groupby("question")
    random = np.random.RandomState(0)
    one = reviews["crowd_label"].apply(lambda labels: labels.iloc[random.randint(len(labels))])
    noisy = {"majority": reviews["crowd_label"].mean() > HALF, "one": one}
    return Labelled(describe_texts(reviews["text"].first()), noisy, reviews["gold_label"].first())


def _most_frequent(labels: list[str]) -> str | None:
    """The most frequent label, the first of equals; None of none."""
    return max(dict.fromkeys(labels), key=labels.count, default=None)


def describe_texts(texts: pd.Series) -> pd.DataFrame:
    """Words weighted by rarity in 32 dimensions, and four lengths."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    weights = TfidfVectorizer(min_df=3, sublinear_tf=True, ngram_range=(1, 2)).fit_transform(texts)
    components = TruncatedSVD(COMPONENTS, random_state=0).fit_transform(weights)
    X = pd.DataFrame(components, texts.index).add_prefix("svd_").round(DIGITS)
    return X.assign(
        characters=texts.str.len(),
        words=texts.map(lambda text: len(text.split())),
        digits=texts.str.count(r"\d"),
        capitals=texts.str.count("[A-Z]"),
    )
