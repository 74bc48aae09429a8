"""Early labels against later ones: forecasts of people and scores, and alerts of a telescope."""

from __future__ import annotations

import re

import numpy as np

from ..downloads.raw_files import RawFiles
from .table import Labelled

DEFENDANT = (
    "def_gender", "def_age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count",
    "c_charge_degree", "c_charge_desc",
)  # fmt: skip
HIGH_RISK, HALF, FREQUENT = 5, 0.5, 5
MEASURED = re.compile(
    "TESS Mag|Epoch|Period|Duration|Depth|Planet Radius|Planet Insolation|Planet Equil|Planet SNR|Stellar"
)
NOT_MEASURED = re.compile("err$|Metallicity|mmag")
PLANETS, FALSE_ALARMS, CANDIDATES = ("CP", "KP"), ("FP", "FA"), ("PC", "CP", "KP")


def build_recidivism(raw: RawFiles) -> Labelled:
    """Defendants: forecasts of a risk score, of the majority of twenty people and of one, against two years."""
    table = raw.read_csv(low_memory=False)
    defendants = table[table["resp_decision"].isin([0, 1])].groupby("def_id")
    X = defendants[[*DEFENDANT]].first()
    charge = X["c_charge_desc"]
    X["c_charge_desc"] = charge.where(charge.map(charge.value_counts()) >= FREQUENT, "other")
    random = np.random.RandomState(0)
    noisy = {
        "compas": defendants["decile_score"].first() >= HIGH_RISK,
        "majority": defendants["resp_decision"].mean() > HALF,
        "one": defendants["resp_decision"].apply(lambda answers: answers.iloc[random.randint(len(answers))]),
    }
    return Labelled(X, noisy, defendants["two_year_recid"].first())


def build_tess(raw: RawFiles) -> Labelled:
    """Signals of planets: the label at the alert against the label after further observations."""
    table = raw.read_csv(low_memory=False)
    final, alert = table["TFOPWG Disposition"], table["TESS Disposition"]
    is_known = final.isin([*PLANETS, *FALSE_ALARMS]) & alert.notna()
    measured = [name for name in map(str, table) if MEASURED.match(name) and not NOT_MEASURED.search(name)]
    X = table.loc[is_known, [*measured, "Detection", "Multiplanet System", "Single Transit"]]
    return Labelled(X, {"alert": alert[is_known].isin(CANDIDATES)}, final[is_known].isin(PLANETS))
