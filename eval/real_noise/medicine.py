"""Medicine: quick tests and assessments against better ones."""

from __future__ import annotations

from ..downloads.raw_files import RawFiles
from .table import Labelled

HEART = (
    "age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca",
    "thal", "num",
)  # fmt: skip
MASSES = ("birads", "age", "shape", "margin", "density", "severity")
NORMAL_SCAN = 3  # of thallium
ST_DEPRESSION = 1  # millimetres
SUSPICIOUS = 5  # BI-RADS
TESTS = ("Hinselmann", "Schiller", "Cytology")


def build_mammography(raw: RawFiles) -> Labelled:
    """Masses in mammograms: the radiologist's assessment against biopsy."""
    table = raw.read_csv(header=None, na_values="?", names=MASSES)
    table = table[table["birads"].between(0, 6)]
    X = table[["age", "shape", "margin", "density"]]
    return Labelled(X, {"birads5": table["birads"] >= SUSPICIOUS}, table["severity"])


def build_cervical(raw: RawFiles) -> Labelled:
    """Cervical cancer: Hinselmann's test, Schiller's test and cytology against biopsy."""
    table = raw.read_csv(na_values="?")
    X = table.drop(columns=[*TESTS, "Biopsy"])
    return Labelled(X, {test.lower(): table[test] for test in TESTS}, table["Biopsy"])


def build_heart(raw: RawFiles) -> Labelled:
    """Heart disease: three tests without a catheter, at their usual thresholds, against angiography."""
    table = raw.read_csv(header=0, na_values="?", sep="\t", names=HEART).dropna(subset="thal")
    noisy = {
        "thallium": table["thal"] > NORMAL_SCAN,
        "exercise_ecg": table["oldpeak"] >= ST_DEPRESSION,
        "exercise_angina": table["exang"] > 0,
    }
    return Labelled(table.drop(columns=["thal", "exang", "oldpeak", "num"]), noisy, table["num"] > 0)


def build_covid(raw: RawFiles) -> Labelled:
    """People with symptoms: rapid antigen test against PCR."""
    table = raw.read_r(".RDS")
    X = table.drop(columns=["id", "nasal_ag", "result"])
    return Labelled(X, {"antigen": table["nasal_ag"] > 0}, table["result"] > 0)
