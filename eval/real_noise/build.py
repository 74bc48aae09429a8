"""Build a data set with real noise from the files of its source."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from ..downloads.raw_files import RawFiles
from . import chemistry, forecasts, medicine, music, software, sport, surveys, text
from .table import Labelled, to_table

BUILDERS: dict[str, Callable[[RawFiles], Labelled]] = {
    "books": text.build_books,
    "brain": chemistry.build_brain,
    "cervical": medicine.build_cervical,
    "covid": medicine.build_covid,
    "heart": medicine.build_heart,
    "jira": software.build_jira,
    "maize": surveys.build_maize,
    "mammography": medicine.build_mammography,
    "pills": surveys.build_pills,
    "pressure": surveys.build_pressure,
    "recidivism": forecasts.build_recidivism,
    "referee": sport.build_referee,
    "screening": chemistry.build_screening,
    "security": software.build_security,
    "sms": text.build_sms,
    "szz": software.build_szz,
    "szzapp": software.build_szz,
    "tess": forecasts.build_tess,
    "umpire": sport.build_umpire,
    "warnings": software.build_warnings,
}
TABLES: dict[str, Callable[[RawFiles], pd.DataFrame]] = {  # in a form of their own
    "music": music.build_music,
    "music_annotators": music.build_music_annotators,
}


def build_set(group: str, name: str, raw: RawFiles) -> pd.DataFrame:
    """The table of a data set: features, noisy labels, and the checked ones in the column ``target``.

    Parameters
    ----------
    group, name : str
        As in the catalogue.
    raw : RawFiles
    """
    return TABLES[name](raw) if name in TABLES else to_table(BUILDERS[group](raw))
