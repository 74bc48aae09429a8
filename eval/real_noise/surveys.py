"""Surveys: what people say against what was measured or seen."""

from __future__ import annotations

import re

from ..downloads.raw_files import RawFiles
from .table import Labelled

PEOPLE = (
    "demo_age_years", "demo_race", "demo_gender", "demo_pregnant", "cc_smoke", "cc_bmi", "cc_diabetes",
    "cc_acr", "cc_egfr", "cc_hba1c", "cc_cvd_mi", "cc_cvd_chd", "cc_cvd_stroke", "cc_cvd_hf",
)  # fmt: skip
CHOLESTEROL = ("chol_total", "chol_hdl", "chol_trig")
LAST_YEARS = "2011"  # from here on, high blood pressure is defined in another way


def build_pressure(raw: RawFiles) -> Labelled:
    """High blood pressure: told so by a doctor, or treated, against measured or treated."""
    table = raw.read_r(".rda")
    table = table[table["svy_year"].astype(str) < LAST_YEARS]
    noisy = {"aware": table["htn_aware"] == "Yes", "treated": table["bp_med_use"] == "Yes"}
    return Labelled(table[[*PEOPLE, *CHOLESTEROL]], noisy, table["htn_jnc7"] == "Yes")


def build_pills(raw: RawFiles) -> Labelled:
    """Takes a drug against cholesterol: by own account against the containers shown."""
    table = raw.read_r(".rda").dropna(subset=["chol_med_use", "chol_med_use_sr"])
    X = table[[*PEOPLE, "bp_sys_mean", "bp_dia_mean", "bp_med_use", *CHOLESTEROL, "chol_measured_last"]]
    return Labelled(X, {"reported": table["chol_med_use_sr"] == "Yes"}, table["chol_med_use"] == "Yes")


def build_maize(raw: RawFiles) -> Labelled:
    """Maize fields: an improved variety as the farmer says against DNA."""
    table = raw.read_r(".rds").dropna(subset="dna")
    # Columns of codes have copies of zeros and ones, with a number at the end.
    names = {name: re.sub(r"_\d+$", "", name) for name in map(str, table)}
    kept = [name for name, stem in names.items() if stem == name or stem not in table]
    return Labelled(table[kept].drop(columns=["dna", "belief"]), {"farmer": table["belief"]}, table["dna"])
