"""Each source's tables, from small stand-ins of its files."""

import sys

import numpy as np
import pandas as pd
import pytest

from boostnoise.eval.downloads.raw_files import RawFiles
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.real_noise.build import BUILDERS, build_set
from boostnoise.eval.real_noise.catalogue import read_catalogue
from boostnoise.eval.real_noise.fetch import _describe
from boostnoise.eval.real_noise.table import Labelled, to_table

pyreadr = pytest.importorskip("pyreadr")


@pytest.fixture
def build(tmp_path):
    """Builds a table from files: text, or a function that writes one."""

    def build_group(group, files, name=None):
        paths = {}
        for number, (path, content) in enumerate(files.items()):
            paths[path] = tmp_path / f"{number}{path[path.rindex('.') :]}"
            if callable(content):
                content(paths[path])
            else:
                paths[path].write_text(content)
        return build_set(group, name or group, RawFiles(paths))

    return build_group


def labels(table):
    """Features and labels of a table: numbers of rows by name."""
    return {name: table[name].tolist() for name in table if name == "target" or name.startswith("noisy_")}


def test_tables_have_numbers_and_at_most_20_000_rows():
    n = 30_000
    X = pd.DataFrame({"text": ["b", "a", None] * (n // 3), "flag": [True, False, True] * (n // 3), 3: range(n)})
    table = to_table(Labelled(X, {"one": np.arange(n) % 2 > 0}, np.arange(n) % 3))
    assert table.columns.tolist() == ["text", "flag", "3", "noisy_one", "target"]
    assert len(table) == 20_000
    assert table["3"].is_monotonic_increasing
    first = table.iloc[:3].set_index("3")
    for row in first.index.astype(int):
        assert first.loc[row, "target"] == row % 3
        assert first.loc[row, "noisy_one"] == row % 2
        assert first.loc[row, "flag"] == float(row % 3 != 1)
    np.testing.assert_array_equal(table["text"].unique()[:3], [1.0, 0.0, np.nan])


def test_szz(build):
    table = build(
        "szz", {"a.csv": "commit_id,la,fix,buggy_B2,buggy_RA\nx,1,True,buggy,clean\ny,2,False,clean,buggy\n"}
    )
    assert labels(table) == {"noisy_b2": [1, 0], "target": [0, 1]}
    assert table[["la", "fix"]].to_numpy().tolist() == [[1, 1], [2, 0]]
    assert BUILDERS["szzapp"] is BUILDERS["szz"]


def test_security(build):
    facts = "type,priority,votes,watches,description_words,comment_count"
    table = build(
        "security",
        {
            "r/p-matid-train.csv": "id,buglabel,key,leak\nA-1,1,2,0\nA-2,0,0,0\n",
            "r/p-matid-test.csv": "id,buglabel,key,leak\nA-3,0,0,7\n",
            "datasets/report/P.csv": f"id,security,{facts}\n3,1,Bug,Major,1,2,x,4\n1,1,Task,Minor,1,2,3,4\n",
        },
    )
    assert labels(table) == {"noisy_reported": [1, 0], "target": [1, 1]}
    assert table["word_leak"].tolist() == [0, 7]
    assert table["type"].tolist() == [1, 0]
    np.testing.assert_array_equal(table["description_words"], [3, np.nan])


def test_warnings(build):
    files = {}
    for project in ("ant", "cassandra", "commons", "derby", "jmeter", "lucene-solr", "maven", "tomcat"):
        files[f"d/reimplemented_2016_manual/test/{project}_C_features.csv"] = "F1,F115,F2,label\n1,2,a,close\n"
        files[f"d/reimplemented_2016/test/{project}_C_Features.csv"] = (
            "F1,F115,F2,label\n3,2,a,open\n1,2,a,open\n"
        )
    table = build("warnings", files)
    assert labels(table) == {"noisy_automatic": [0] * 8, "target": [1] * 8}
    assert table.columns.tolist() == ["F1", "noisy_automatic", "target"]


def test_mammography(build):
    table = build("mammography", {"m.data": "5,67,3,5,3,1\n55,46,?,4,2,0\n4,58,4,5,?,1\n"})
    assert labels(table) == {"noisy_birads5": [1, 0], "target": [1, 1]}
    assert table["age"].tolist() == [67, 58]


def test_cervical(build):
    table = build("cervical", {"c.csv": "Age,Hinselmann,Schiller,Cytology,Biopsy\n18,0,1,0,1\n?,1,0,0,0\n"})
    assert labels(table) == {
        "noisy_hinselmann": [0, 1], "noisy_schiller": [1, 0], "noisy_cytology": [0, 0], "target": [1, 0],
    }  # fmt: skip


def test_heart(build):
    rows = [
        "h" * 1 + "\th" * 13,
        "63\t1\t1\t145\t233\t1\t2\t150\t1\t0.9\t3\t0\t6\t2",
        "1" + "\t1" * 11 + "\t?\t0",
    ]
    table = build("heart", {"h.data": "\n".join(rows)})
    assert labels(table) == {
        "noisy_thallium": [1], "noisy_exercise_ecg": [0], "noisy_exercise_angina": [1], "target": [1],
    }  # fmt: skip
    assert table.shape == (1, 10 + 4)


def test_covid(build):
    frame = pd.DataFrame({"id": ["a", "b"], "cough": [1.0, 0.0], "nasal_ag": [0.0, 1.0], "result": [1.0, 1.0]})
    table = build("covid", {"c.RDS": lambda path: pyreadr.write_rds(path, frame)})
    assert labels(table) == {"noisy_antigen": [0, 1], "target": [1, 1]}


def test_maize(build):
    frame = pd.DataFrame({"zone": [1.0, 2, 3], "zone_1": 0.0, "dna": [1, 0, None], "belief": [0.0, 0, 1]})
    table = build("maize", {"c.rds": lambda path: pyreadr.write_rds(path, frame)})
    assert labels(table) == {"noisy_farmer": [0, 0], "target": [1, 0]}
    assert "zone_1" not in table


def test_referee(build):
    head = "period,time,call_type,committing,disadvantaged,decision,home_score,away_score,home_team,away_team"
    rows = [
        "Q4,01:30.5,Foul: Personal,A,B,IC,100,98,X,Y",
        "OT,00:10,Turnover,A,,INC,1,2,X,Y",
        "Q4,0:1,,A,B,CC,1,1,X,Y",
    ]
    table = build("referee", {"l.csv": "\n".join([head, *rows])}, "referee_2017")
    assert labels(table) == {"noisy_referee": [1, 0], "target": [0, 1]}
    assert table["seconds"].tolist() == [90.5, 10]
    assert table["margin"].tolist() == [2, -1]
    assert table["overtime"].tolist() == [0, 1]
    assert table["committing"].tolist() == [2, 2]


def test_recidivism(build):
    head = (
        "def_id,resp_decision,decile_score,two_year_recid,def_gender,def_age,juv_fel_count,juv_misd_count,"
        "juv_other_count,priors_count,c_charge_degree,c_charge_desc"
    )
    rows = [f"1,{answer},7,0,M,30,0,0,0,2,F,Theft" for answer in (1, 0, 0, 2)] + ["2,1,4,1,F,40,0,0,0,0,M,Rare"]
    table = build("recidivism", {"r.csv": "\n".join([head, *rows])})
    assert labels(table)["noisy_compas"] == [1, 0]
    assert labels(table)["noisy_majority"] == [0, 1]
    assert labels(table)["target"] == [0, 1]


def test_tess(build):
    head = "TESS Mag,TESS Mag err,Comments,Detection,Multiplanet System,Single Transit"
    rows = ["10,1,x,a,no,no,PC,FP", "11,1,x,b,no,no,FP,KP", "9,1,x,b,no,no,PC,PC"]
    table = build("tess", {"t.csv": "\n".join([f"{head},TESS Disposition,TFOPWG Disposition", *rows])})
    assert labels(table) == {"noisy_alert": [1, 0], "target": [0, 1]}
    assert table.shape[1] == 1 + 3 + 2


def test_books_and_sms(build):
    texts = [f"the story of word{i % 7} was w{i % 11} number {i}" for i in range(60)]
    answers = [
        f"{i},{text},{int(i % 3 > answer)},{i % 2}" for i, text in enumerate(texts) for answer in range(3)
    ]
    table = build("books", {"b.csv": "\n".join(["question,text,crowd_label,gold_label", *answers])})
    assert table["noisy_majority"].tolist() == [int(i % 3 == 2) for i in range(60)]
    assert table["target"].tolist() == [i % 2 for i in range(60)]
    assert table["words"].eq(8).all()
    messages = [f"{'spam' if i % 2 else 'ham'},{text},," for i, text in enumerate(texts)]
    rules = "spam\tword[13]\nham\tnumber 1$\nbroken\n"
    table = build("sms", {"d/spam.csv": "\n".join(["v1,v2,a,b", *messages]), "d/rule.txt": rules})
    assert table["target"].tolist() == [i % 2 for i in range(60)]
    assert table["noisy_rules"].tolist() == [
        int(i % 7 in (1, 3)) for i in range(60)
    ]  # the first of equal votes


def test_brain(build, monkeypatch):
    pytest.importorskip("rdkit")
    consensus = "CID\tSMILES\tBBB+/BBB-\n1\tCCO\tBBB+\n2\tnone\tBBB-\n2\tC\tBBB+\n\tC\tBBB+\n"
    source = pd.DataFrame({"CID": [2, 1, 1, "x", 9], "BBB+/BBB-": ["BBB+", "BBB+", "BBB-", "BBB-", "BBB+"]})
    monkeypatch.setattr(pd, "read_excel", lambda *_, **__: source)
    table = build("brain", {"b.tsv": consensus, "s.xls": ""}, "brain_r14")
    assert labels(table) == {"noisy_source": [1, 1], "target": [0, 1]}
    assert table["MolWt"].isna().tolist() == [True, False]
    assert table["MolWt"][1] == pytest.approx(46.07, abs=0.01)
    assert table.shape[1] == 46 + 64 + 2


@pytest.mark.parametrize("name", ["music", "music_annotators"])
def test_music(build, name):
    files = {
        "d/music_genre_gold.csv": "id,feature_1,class\ns1,1,rock\ns2,2,pop\n",
        "d/music_genre_test.csv": "id,feature_1,class\ns3,3,jazz\n",
        "d/music_genre_mturk.csv": "id,annotator,class\ns1,A,pop\ns1,B,rock\ns1,C,pop\ns2,B,jazz\n",
    }
    table = build("music", files, name)
    if name == "music":
        assert table["split"].tolist() == ["train", "train", "test"]
        assert table["target"].tolist() == ["rock", "pop", "jazz"]
        assert table["noisy_majority"].tolist() == ["pop", "jazz", "jazz"]
    else:
        assert table.fillna("").to_numpy().tolist() == [["pop", "rock", "pop"], ["", "jazz", ""]]


def test_the_real_tables(data_root):
    """As many noisy columns as the guide says, and labels that the catalogue describes."""
    found = {
        name: _describe(data_root / "data" / "real_noise" / f"{name}.parquet", group)
        for group in read_catalogue().values()
        for name in group.sets
        if name != "music_annotators"
    }
    assert sum(len(facts["noisy"]) for facts in found.values()) == 107
    assert all(0.02 < facts["wrong"] < 0.4 for facts in found.values())


def test_a_library_that_is_not_installed(build, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyreadr", None)
    with pytest.raises(ConfigError, match=r"needs the package pyreadr: pip install 'boostnoise\[real-noise\]'"):
        build("covid", {"c.RDS": ""})
