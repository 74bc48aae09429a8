"""Advice on data files of ready studies that are not there yet."""

from __future__ import annotations

import shlex
from pathlib import PurePath


def advice_to_download(path: str) -> str:
    """End of a message on a missing file or folder of a ready study: the command that downloads it.

    Empty if the path is of no such file.
    """
    # Only messages need the catalogues.
    from ..real_noise.catalogue import read_catalogue as read_real_noise
    from ..study_data.data_2020 import FILES as FILES_2020
    from ..study_data.fetch import read_catalogue as read_study_data

    file = PurePath(path)
    stem = file.stem if file.suffix == ".parquet" else ""
    real_noise = [name for group in read_real_noise().values() for name in group.sets]
    if file.name == "boosting_with_label_noise":
        folder, what = file, "data_2020"
    elif file.parent.name == "boosting_with_label_noise" and file.name in FILES_2020:
        folder, what = file.parent, "data_2020"
    elif file.parent.name == "real_noise" and stem in real_noise:
        folder, what = file.parent, "real_noise"
    elif file.parent.name == "data" and stem in read_study_data():
        folder, what = file.parent, "study_data"
    else:
        return ""
    return f"; to download it: {shlex.join(['noisyeval', str(folder), '--fetch', what])}"
