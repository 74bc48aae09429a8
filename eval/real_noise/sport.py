"""Sport: decisions of umpires and referees against a review."""

from __future__ import annotations

import pandas as pd

from ..downloads.raw_files import RawFiles
from .table import Labelled

PITCH = (
    "pitch_type", "release_speed", "release_pos_x", "release_pos_y", "release_pos_z", "release_spin_rate",
    "release_extension", "effective_speed", "stand", "p_throws", "balls", "strikes", "outs_when_up", "inning",
    "inning_topbot", "pfx_x", "pfx_z", "vx0", "vy0", "vz0", "ax", "ay", "az", "sz_top", "sz_bot", "bat_score",
    "fld_score",
)  # fmt: skip
NOT_SWUNG_AT = ("ball", "called_strike", "blocked_ball")
LAST_ZONE = 9  # of the strike zone; others are outside
CALLED, SHOULD_BE_CALLED = ("CC", "IC"), ("CC", "INC")
FREQUENT = 10


def build_umpire(raw: RawFiles) -> Labelled:
    """Baseball: the umpire's call of pitches that nobody swung at, against the tracking system."""
    table = pd.concat(raw.read_all_csv(na_values=["null"], low_memory=False))
    table = table.drop_duplicates(["game_pk", "at_bat_number", "pitch_number"])
    table = table[table["description"].isin(NOT_SWUNG_AT) & table["zone"].notna()]
    called = table["description"] == "called_strike"
    return Labelled(table[[*PITCH]], {"umpire": called}, table["zone"] <= LAST_ZONE)


def build_referee(raw: RawFiles) -> Labelled:
    """Basketball: the referees' calls in the last two minutes against the league's review."""
    table = raw.read_csv(dtype=str)
    is_decided = table["decision"].isin({*CALLED, *SHOULD_BE_CALLED, "CNC"})
    table = table[is_decided & table["call_type"].notna()].reset_index(drop=True)
    clock = table["time"].str.extract(r"(\d+):(\d+\.?\d*)").astype(float)
    call = table["call_type"].str.strip().str.lower()
    home, away = (pd.to_numeric(table[f"{team}_score"], errors="coerce") for team in ("home", "away"))
    X = pd.DataFrame(
        {
            "call": call.where(_frequency(call) >= FREQUENT, "other"),
            "group": call.str.split(":").str[0],
            "overtime": ~table["period"].astype(str).str.contains("4"),
            "seconds": clock[0] * 60 + clock[1],
            "margin": home - away,
            "committing": _frequency(table["committing"]),
            "disadvantaged": _frequency(table["disadvantaged"]),
            "home_team": table["home_team"],
            "away_team": table["away_team"],
        }
    )
    noisy = {"referee": table["decision"].isin(CALLED)}
    return Labelled(X, noisy, table["decision"].isin(SHOULD_BE_CALLED))


def _frequency(names: pd.Series) -> pd.Series:
    """How often the name of each row occurs."""
    return names.map(names.value_counts())
