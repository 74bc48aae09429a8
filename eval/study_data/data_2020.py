"""The data sets of the study "Boosting with Label Noise" (2020), to download."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from .._atomic_file import write
from ..downloads.download import SourceFile, download
from ..errors import ConfigError, suggest

REPOSITORY = "phetdam/kenkyusha_proj"
COMMIT = "eb68415e40f8600e7fd37eb7f114e86e9e364386"
FOLDER = "data/csv_clean"
# SHA-256 of each file.  The sixteenth data set of the study, isolet, is too large for checked copies.
FILES = {
    "MiceProtein.csv": "2cbc089519c30669cd6f372b1567f801a30a08613926f8de8fdeb2c3da7d0334",
    "PhishingWebsites.csv": "b865f5926e888316ef92556ac088d7fa6f018c6d5133b442a3c1367578629b0c",
    "breast-w.csv": "5065d98035867498c8f856598f91d3a43ba4428550b16c70789c3f27bfc35b8d",
    "diabetes.csv": "05e31df98cc8386cea0a8477086bea0e6e061b0731491b3d35368e66b294017f",
    "iris.csv": "add5e0d8b0a868ea0961f3a4cec84d21bdfa19fdce94aad81aad3d88378d20a9",
    "mushroom.csv": "ed8b41d460a58f1fb28bfec281749c54d486622d853e76d06c86606851df66d2",
    "nursery.csv": "1a1f32cb2c4acb7aec2838665e1771a87a355a33fa1e991b05df7556e05e894e",
    "optdigits.csv": "c6d036d8f929dedaf6122da199e4d2481695108a115d8db9fb18172c28e73f3e",
    "semeion.csv": "f3ebd6117abf47e468008cabe3375c99eb0256a8a55930ee395e18e274f20d1b",
    "spambase.csv": "1bf3526855250c8970235833f86385daaa2b3e0bc45c9287061adc0125c38ec7",
    "splice.csv": "24a365e54faafec04337688c1b62369e226fe55137d26f39e68c9adeda69ec0f",
    "steel-plates-fault.csv": "f03c9091c5d769debe8b56c38395256ae59b2e577d9c3fac30fb2b57a78a121b",
    "vertebra-column.csv": "e4d3bf5f193c65ec645e22f23580489fc60172fde0ccdc604cf48d0ae109437e",
    "wdbc.csv": "0112f5d663c4f47feb24f195f5dcf30cf13b25b40e4dc5c0f08f4b8e742b8ce1",
    "yeast.csv": "629fc2530f177acf9d364ee9494cca096c927e98b9cbd4db3f7726abf4e3fb7a",
}


def fetch_data_2020(
    folder: str | Path, *, only: Collection[str] | None = None, progress: Callable[[str], object] | None = None
) -> list[Path]:
    """Download the cleaned data sets of the 2020 study, as its configs read them.

    They are fifteen of sixteen; `configs/README.md` says how to get isolet from OpenML.  They come from OpenML;
    the study's repository states no licence.

    Parameters
    ----------
    folder : str or Path
        Where the CSV files are written.
    only : collection of str or None, default=None
        Names of data sets, such as ``"yeast"``; None for all.
    progress : callable or None, default=None
        Called with the name of each data set before it is downloaded.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ConfigError
        If `only` names something else, or a file cannot be downloaded or written.  Earlier files are kept.
    """
    names = [name.removesuffix(".csv") for name in FILES]
    for name in only or ():
        if name not in names:
            raise ConfigError(f"only: {name!r} is no data set of the 2020 study{suggest(name, names)}")
    paths = []
    for name in names if only is None else [name for name in names if name in only]:
        if progress is not None:
            progress(name)
        file = f"{name}.csv"
        copy = download(SourceFile(REPOSITORY, COMMIT, f"{FOLDER}/{file}", FILES[file]))
        paths.append(Path(folder, file))
        write(paths[-1], copy.read_bytes())
    return paths
