"""The table of each data set, from small stand-ins of its files, and against the files of the studies."""

import gzip
import re
import struct
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.io

from boostnoise.eval.downloads.raw_files import RawFiles
from boostnoise.eval.study_data.fetch import read_catalogue
from boostnoise.eval.study_data.tables import ATTACKS, BUILDERS, COVERTYPE_RANGES

NUMBERS = "1, 22.5, 0\n0, 3, 1\n"


def idx(values, *shape):
    return struct.pack(f">{1 + len(shape)}I", 2048 + len(shape), *shape) + bytes(values)


def zipped(path, text):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", text)


def digits(path):
    scipy.io.savemat(
        path,
        {
            "traindata": np.array([[0, 0.5], [1, 0.25]]), "trainlabel": [[10, 3]],
            "testdata": np.array([[0.75], [1]]), "testlabel": [[9]],
        },
    )  # fmt: skip


# Content of the files by their names in the catalogue, and the table: features by column, split, class.
CASES = {
    "a9a": (
        {"data/a9a": "-1 1:1 123:1\n+1 2:1\n", "data/a9a.t": "-1 2:1\n"},
        {"f001": [1, 0, 0], "f002": [0, 1, 1], "f123": [1, 0, 0], "split": ["train", "train", "test"]},
        [0, 1, 0],
    ),
    "australian": (
        {"australian.dat": "A1, A2, class \n1, 22.08, 0\n0, 3, 1\n"},
        {"a1": [1, 0], "a2": [np.float32(22.08), 3]},
        [0, 1],
    ),
    "breast_cancer": (
        {"breast-w.csv": "Clump_Thickness,Bare_Nuclei,Class\n5,1,benign\n4,?,benign\n8,10,malignant\n"},
        {"clump_thickness": [5, 8], "bare_nuclei": [1, 10]},
        [0, 1],
    ),
    "diabetes": (
        {"diabetes.csv": "preg,plas,class\n6,148,tested_positive\n1,85,tested_negative\n"},
        {"a1": [6, 1], "a2": [148, 85]},
        [1, 0],
    ),
    "dna": (
        {
            "data/dna.scale.tr": "3 1:1\n1 180:1\n",
            "data/dna.scale.val": "2 2:1\n",
            "data/dna.scale.t": "3 1:1\n",
        },
        {"b001": [1, 0, 0, 1], "b002": [0, 0, 1, 0], "b180": [0, 1, 0, 0], "split": ["train"] * 3 + ["test"]},
        [2, 0, 1, 2],
    ),
    "fourclass": (
        {"fourclass_scale": "-1 1:0.5 2:0.25 \n+1 2:0.75 \n"},
        {"x1": [0.5, 0], "x2": [0.25, 0.75]},
        [0, 1],
    ),
    "german": ({"german.data-numeric": "1,  6, 2 \n2, 48, 1 \n"}, {"a1": [1, 2], "a2": [6, 48]}, [1, 0]),
    "heart": (
        {"heart.dat": "age sex disease\n70.0 1.0 2\n67.0 0.0 1\n"},
        {"age": [70, 67], "sex": [1, 0]},
        [1, 0],
    ),
    "ionosphere": ({"ionosphere.csv": "1,0.5,g\n0,-1,b\n"}, {"a1": [1, 0], "a2": [0.5, -1]}, [1, 0]),
    "magic": (
        {"magic04.data": "1,2,3,4,5,6,7,8,9,10,g\n9,8,7,6,5,4,3,2,1,0,h\n"},
        {"fLength": [1, 9], "fDist": [10, 0]},
        [1, 0],
    ),
    "mushrooms": (
        {"mushroom.csv": "cap-shape,bruises%3F,stalk-root,class\n'x','t','e','p'\n'b','t',,'e'\n"},
        {"cap_shape_b": [0, 1], "cap_shape_x": [1, 0], "bruises_t": [1, 1]},
        [1, 0],
    ),
    "phishing": (
        {"PhishingWebsites.csv": "port,URL,Result\n-1,1,-1\n1,0,1\n"},
        {"port_m1": [1, 0], "port_p1": [0, 1], "URL_z0": [0, 1], "URL_p1": [1, 0]},
        [0, 1],
    ),
    "sonar": ({"sonar.csv": "0.5,0.25,R\n0.75,1,M\n"}, {"a1": [0.5, 0.75], "a2": [0.25, 1]}, [0, 1]),
    "spambase": (
        {"spambase.csv": "word_freq_make,word_freq_all,class\n0,0.5,1\n1,0,0\n"},
        {"word_freq_make": [0, 1], "word_freq_all": [0.5, 0]},
        [1, 0],
    ),
    "splice": (
        {"splice.csv": "Instance_name,attribute_1,attribute_2,Class\nX,C,T,EI\nY,A,N,IE\nZ,A,G, N\n"},
        {"pos00": [2, 1], "pos01": [4, 3]},
        [1, 0],
    ),
    "unsw_nb15_test": (
        {
            "a.zip": lambda path: zipped(
                path,
                "id,dur,proto,service,state,rate,attack_cat,label\n1,0.5,udp,-,INT,2,Worms,1\n2,1,,,,3,Normal,0\n",
            )
        },
        {"dur": [0.5, 1], "rate": [2, 3]},
        [ATTACKS.index("Worms"), 0],
    ),
    "usps": (
        {"usps.mat": digits},
        {"p000": [0, 0.5, 0.75], "p001": [1, 0.25, 1], "split": ["train", "train", "test"]},
        [0, 3, 9],
    ),
    "vehicle": (
        {"xab.dat": "1 2 saab\n", "xaa.dat": "95 48 van\n93 41 opel\n", "xac.dat": "3 4 bus\n"},
        {"a1": [95, 93, 1, 3], "a2": [48, 41, 2, 4]},
        [3, 0, 1, 2],
    ),
    "wine_white": (
        {"w.csv": "7,0.25,0,20,0,45,170,1,3,0.5,9,6\n6,0.5,0,1,0,14,132,1,3,0.5,9,5\n"},
        {"fixed_acidity": [7, 6], "alcohol": [9, 9]},
        [1, 0],
    ),
}


def build(folder, name, files):
    paths = {}
    for number, (path, content) in enumerate(files.items()):
        paths[path] = folder / f"{number}{path[path.rindex('.') :] if '.' in path else ''}"
        if callable(content):
            content(paths[path])
        elif isinstance(content, bytes):
            paths[path].write_bytes(content)
        else:
            paths[path].write_text(content)
    return BUILDERS[name](RawFiles(paths))


@pytest.mark.parametrize("name", CASES)
def test_table(tmp_path, name):
    files, features, target = CASES[name]
    table = build(tmp_path, name, files)
    assert table["target"].tolist() == target
    assert {column: table[column].tolist() for column in features} == features
    assert table.columns[-1] == "target"
    assert table["target"].dtype == np.int8
    assert set(table.drop(columns=["target", "split"], errors="ignore").dtypes) <= {
        np.dtype("f4"),
        np.dtype("u1"),
    }


def test_mnist(tmp_path):
    files = {
        "train-images-idx3-ubyte": idx(range(256), 1, 16, 16)[:16] + bytes(784) + bytes([7] * 784),
        "train-labels-idx1-ubyte": idx([5, 0], 2),
        "t10k-images-idx3-ubyte": struct.pack(">IIII", 2051, 1, 28, 28) + bytes([9] * 784),
        "t10k-labels-idx1-ubyte": idx([4], 1),
    }
    table = build(tmp_path, "mnist", files)
    assert table[["p000", "p783", "split", "target"]].to_numpy().tolist() == [
        [0, 0, "train", 5], [7, 7, "train", 0], [9, 9, "test", 4],
    ]  # fmt: skip


def test_letter(tmp_path):
    rows = "\n".join(f"{letter},2,3" for letter in ["T", *["A"] * 15_999, *["Z"] * 4_000])
    table = build(tmp_path, "letter", {"letter-recognition.data": f"lettre,x-box,y-ege\n{rows}\n"})
    assert table.columns.tolist() == ["x_box", "y_ege", "split", "target"]
    assert table["target"].iloc[[0, 1, -1]].tolist() == [19, 0, 25]
    assert table.groupby("split", sort=False).size().to_dict() == {"train": 16_000, "test": 4_000}


def test_covertype_has_its_units_again(tmp_path):
    columns = [*COVERTYPE_RANGES, "Soil_Type1", "Cover_Type"]
    scaled = pd.DataFrame([[0.67984, 0.952778, *[0] * 8, 1, 7], [*[1] * 10, 0, 1]], columns=columns)
    content = gzip.compress(scaled.to_csv(index=False).encode())
    table = build(tmp_path, "covertype_92k", {"data/test.csv.gz": content})
    assert table.iloc[0, :3].tolist() == [3218, 343, 0]
    assert table.iloc[1, :10].tolist() == [high for _, high in COVERTYPE_RANGES.values()]
    assert table["Soil_Type1"].tolist() == [1, 0]
    assert table["target"].tolist() == [6, 0]


def test_each_set_has_a_builder_and_a_case():
    assert set(BUILDERS) == set(read_catalogue()) == {*CASES, "mnist", "letter", "covertype_92k"}


def test_the_configs_read_these_sets(root):
    configs = (root / "configs").rglob("*.json")
    read = {name for path in configs for name in re.findall(r'"data/(\w+)\.parquet"', path.read_text())}
    own = {"20news_glove", "cifar_10_vgg11"}  # which users make, as configs/README.md says
    assert read - own == set(read_catalogue())
