"""The folder of this user for files that can be made again."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "BOOSTNOISE_CACHE"


def cache_folder() -> Path:
    """Folder that ``BOOSTNOISE_CACHE``, an environment variable, names; otherwise the system's for caches."""
    import platformdirs  # slow to import

    chosen = os.environ.get(VARIABLE)
    return Path(chosen) if chosen else platformdirs.user_cache_path("boostnoise", appauthor=False)
