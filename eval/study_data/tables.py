"""The tables of the data sets of studies, from the files of their sources.

Features, ``split`` where the source has a training and a test part, and the class in the column ``target``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..downloads.raw_files import RawFiles

TARGET, SPLIT = "target", "split"

# Least and largest values of the first ten columns of covertype, which its file has on a scale from 0 to 1.
COVERTYPE_RANGES = {
    "Elevation": (1859, 3858),
    "Aspect": (0, 360),
    "Slope": (0, 66),
    "Horizontal_Distance_To_Hydrology": (0, 1397),
    "Vertical_Distance_To_Hydrology": (-173, 601),
    "Horizontal_Distance_To_Roadways": (0, 7117),
    "Hillshade_9am": (0, 254),
    "Hillshade_Noon": (0, 254),
    "Hillshade_3pm": (0, 254),
    "Horizontal_Distance_To_Fire_Points": (0, 7173),
}
ATTACKS = (
    *("Normal", "Generic", "Exploits", "Fuzzers", "DoS", "Reconnaissance"),
    *("Analysis", "Backdoor", "Shellcode", "Worms"),
)
WINE = (
    *("fixed_acidity", "volatile_acidity", "citric_acid", "residual_sugar", "chlorides", "free_sulfur_dioxide"),
    *("total_sulfur_dioxide", "density", "pH", "sulphates", "alcohol"),
)
MAGIC = ("fLength", "fWidth", "fSize", "fConc", "fConc1", "fAsym", "fM3Long", "fM3Trans", "fAlpha", "fDist")


def build_a9a(raw: RawFiles) -> pd.DataFrame:
    """Incomes of adults above 50,000 dollars a year, one-hot encoded."""
    return _one_hot_svmlight(raw, 123, "f", {"train": ("a9a",), "test": ("a9a.t",)})


def build_australian(raw: RawFiles) -> pd.DataFrame:
    """Applications for credit cards: granted or not."""
    table = raw.read_csv(skipinitialspace=True)
    return _table(_numbered(table.iloc[:, :-1], "a"), table.iloc[:, -1])


def build_breast_cancer(raw: RawFiles) -> pd.DataFrame:
    """Biopsies: benign or malignant.  Rows without a value are left out."""
    table = raw.read_csv(na_values="?").dropna()
    return _table(_lower(table.drop(columns="Class")), table["Class"] == "malignant")


def build_covertype_92k(raw: RawFiles) -> pd.DataFrame:
    """Forest cover of 92,962 of the 581,012 squares of land."""
    table = raw.read_csv()
    cover = table.iloc[:, -1] - 1
    X = table.iloc[:, :-1].astype(np.uint8)
    for name, (least, largest) in COVERTYPE_RANGES.items():
        X[name] = np.rint(least + table[name] * (largest - least)).astype(np.float32)
    return _table(X, cover)


def build_diabetes(raw: RawFiles) -> pd.DataFrame:
    """Diabetes in Pima women.  Zeros that stand for missing values are left as they are."""
    table = raw.read_csv()
    return _table(_numbered(table.drop(columns="class"), "a"), table["class"] == "tested_positive")


def build_dna(raw: RawFiles) -> pd.DataFrame:
    """Boundaries between exons and introns, one-hot encoded; three classes."""
    parts = {"train": ("dna.scale.tr", "dna.scale.val"), "test": ("dna.scale.t",)}
    return _one_hot_svmlight(raw, 180, "b", parts)


def build_fourclass(raw: RawFiles) -> pd.DataFrame:
    """Points in the plane, two irregular classes."""
    X, y = _read_svmlight(raw, "fourclass_scale", 2)
    return _table(_numbered(X, "x"), y > 0)


def build_german(raw: RawFiles) -> pd.DataFrame:
    """Credits in a German bank: good or bad."""
    table = raw.read_csv(header=None, skipinitialspace=True)
    return _table(_numbered(table.iloc[:, :-1], "a"), table.iloc[:, -1] - 1)


def build_heart(raw: RawFiles) -> pd.DataFrame:
    """Heart diseases of patients."""
    table = raw.read_csv(sep=r"\s+")
    return _table(table.iloc[:, :-1], table.iloc[:, -1] - 1)


def build_ionosphere(raw: RawFiles) -> pd.DataFrame:
    """Radar returns from the ionosphere: good or bad."""
    table = raw.read_csv(header=None)
    return _table(_numbered(table.iloc[:, :-1], "a"), table.iloc[:, -1] == "g")


def build_letter(raw: RawFiles) -> pd.DataFrame:
    """Pictures of capital letters.  The first 16,000 rows are those to train with."""
    table = raw.read_csv().rename(columns=lambda name: name.replace("-", "_"))
    return _table(table.iloc[:, 1:], table.iloc[:, 0].map(ord) - ord("A"), {"train": 16_000, "test": 4_000})


def build_magic(raw: RawFiles) -> pd.DataFrame:
    """Showers of particles in a telescope: gamma rays or hadrons."""
    table = raw.read_csv(header=None, names=[*MAGIC, TARGET])
    return _table(table[list(MAGIC)], table[TARGET] == "g")


def build_mnist(raw: RawFiles) -> pd.DataFrame:
    """Pictures of handwritten digits, 28 times 28 pixels from 0 to 255."""
    parts = {"train": "train", "t10k": "test"}
    pixels = [_read_idx(raw, f"{part}-images-idx3-ubyte", 16).reshape(-1, 784) for part in parts]
    digits = [_read_idx(raw, f"{part}-labels-idx1-ubyte", 8) for part in parts]
    X = pd.DataFrame(np.vstack(pixels), columns=[f"p{i:03}" for i in range(784)])
    lengths = {split: len(y) for split, y in zip(parts.values(), digits, strict=True)}
    return _table(X, np.concatenate(digits), lengths)


def build_mushrooms(raw: RawFiles) -> pd.DataFrame:
    """Mushrooms: edible or poisonous.  Attributes are one-hot encoded, without stalk-root, which has gaps."""
    table = raw.read_csv().apply(lambda column: column.str.strip("'"))
    table.columns = [name.replace("-", "_").removesuffix("%3F") for name in table.columns]
    return _table(_one_hot(table.drop(columns=["class", "stalk_root"])), table["class"] == "p")


def build_phishing(raw: RawFiles) -> pd.DataFrame:
    """Websites: phishing or legitimate.  Attributes are one-hot encoded: -1 as m1, 0 as z0, 1 as p1."""
    table = raw.read_csv()
    values = pd.CategoricalDtype([-1, 0, 1])
    coded = table.drop(columns="Result").astype(values)
    coded = coded.apply(lambda column: column.cat.rename_categories({-1: "m1", 0: "z0", 1: "p1"}))
    return _table(_one_hot(coded), table["Result"] == 1)


def build_sonar(raw: RawFiles) -> pd.DataFrame:
    """Echoes of rocks and of mines."""
    table = raw.read_csv(header=None)
    return _table(_numbered(table.iloc[:, :-1], "a"), table.iloc[:, -1] == "M")


def build_spambase(raw: RawFiles) -> pd.DataFrame:
    """Frequencies of words and characters in e-mails: spam or not."""
    table = raw.read_csv()
    return _table(table.iloc[:, :-1], table.iloc[:, -1])


def build_splice(raw: RawFiles) -> pd.DataFrame:
    """Boundaries in sequences of 60 bases: any or none.  Sequences with unclear bases are left out."""
    table = raw.read_csv()
    bases = table.drop(columns=["Instance_name", "Class"]).apply(lambda column: column.str.strip())
    codes = bases.apply(lambda column: column.map({"A": 1, "C": 2, "G": 3, "T": 4}))
    known = codes.notna().all(axis=1)
    X = codes[known].set_axis([f"pos{i:02}" for i in range(codes.shape[1])], axis=1)
    return _table(X, table.loc[known, "Class"].str.strip() != "N")


def build_unsw_nb15_test(raw: RawFiles) -> pd.DataFrame:
    """Connections in a network: normal, or one of nine kinds of attack.  Text is left out."""
    table = raw.read_csv()
    X = table.drop(columns=["id", "proto", "service", "state", "attack_cat", "label"])
    return _table(X, table["attack_cat"].map({name: i for i, name in enumerate(ATTACKS)}))


def build_usps(raw: RawFiles) -> pd.DataFrame:
    """Pictures of handwritten digits, 16 times 16 pixels from 0 to 1."""
    from scipy.io import loadmat

    content = loadmat(raw.find())
    X = np.hstack([content["traindata"], content["testdata"]]).T
    digits = np.hstack([content["trainlabel"], content["testlabel"]])[0] % 10  # 10 is the digit 0
    columns = [f"p{i:03}" for i in range(X.shape[1])]
    lengths = {"train": content["trainlabel"].size, "test": content["testlabel"].size}
    return _table(pd.DataFrame(X, columns=columns), digits, lengths)


def build_vehicle(raw: RawFiles) -> pd.DataFrame:
    """Silhouettes of four vehicles."""
    table = pd.concat(raw.read_all_csv(header=None, sep=r"\s+"), ignore_index=True)
    codes = {"opel": 0, "saab": 1, "bus": 2, "van": 3}
    return _table(_numbered(table.iloc[:, :-1], "a"), table.iloc[:, -1].map(codes))


def build_wine_white(raw: RawFiles) -> pd.DataFrame:
    """White wines: of quality 6 or better."""
    table = raw.read_csv(header=None, names=[*WINE, "quality"])
    return _table(table[list(WINE)], table["quality"] >= 6)


BUILDERS: dict[str, Callable[[RawFiles], pd.DataFrame]] = {
    build.__name__.removeprefix("build_"): build
    for build in (
        *(build_a9a, build_australian, build_breast_cancer, build_covertype_92k, build_diabetes, build_dna),
        *(build_fourclass, build_german, build_heart, build_ionosphere, build_letter, build_magic, build_mnist),
        *(build_mushrooms, build_phishing, build_sonar, build_spambase, build_splice, build_unsw_nb15_test),
        *(build_usps, build_vehicle, build_wine_white),
    )
}


def _table(X: pd.DataFrame, y: Any, lengths: Mapping[str, int] | None = None) -> pd.DataFrame:
    """Features as float32 unless they are bytes, the split by the lengths of its parts, and the class."""
    labels = {} if lengths is None else {SPLIT: np.repeat(list(lengths), list(lengths.values()))}
    labels[TARGET] = np.asarray(y).astype(np.int8)
    X = X.astype({name: np.float32 for name, dtype in X.dtypes.items() if dtype != np.uint8})
    return pd.concat([X.reset_index(drop=True), pd.DataFrame(labels)], axis=1)


def _numbered(X: pd.DataFrame, letter: str) -> pd.DataFrame:
    """Features under the names a1, a2, ..."""
    return X.set_axis([f"{letter}{i + 1}" for i in range(X.shape[1])], axis=1)


def _lower(X: pd.DataFrame) -> pd.DataFrame:
    return X.set_axis([name.lower() for name in X.columns], axis=1)


def _one_hot(X: pd.DataFrame) -> pd.DataFrame:
    """A column of bytes for each value of each attribute that some row has."""
    coded = pd.get_dummies(X, dtype=np.uint8)
    return coded.loc[:, coded.any()]


def _read_idx(raw: RawFiles, ending: str, header: int) -> np.ndarray:
    """Bytes of a file in the format of MNIST, after its header."""
    return np.frombuffer(raw.find(ending).read_bytes(), np.uint8, offset=header)


def _read_svmlight(raw: RawFiles, ending: str, n_features: int) -> tuple[pd.DataFrame, np.ndarray]:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(raw.find(ending)), n_features=n_features)
    return pd.DataFrame(X.toarray()), y


def _one_hot_svmlight(
    raw: RawFiles, n_features: int, letter: str, parts: Mapping[str, tuple[str, ...]]
) -> pd.DataFrame:
    """Table of files with features that are 0 or 1, by the part that they belong to."""
    read = {
        split: [_read_svmlight(raw, f"/{name}", n_features) for name in names] for split, names in parts.items()
    }
    X = pd.concat([X for files in read.values() for X, _ in files], ignore_index=True).astype(np.uint8)
    y = np.concatenate([y for files in read.values() for _, y in files])
    lengths = {split: sum(len(y) for _, y in files) for split, files in read.items()}
    X.columns = [f"{letter}{i + 1:03}" for i in range(n_features)]
    return _table(X, np.searchsorted(np.unique(y), y), lengths)
