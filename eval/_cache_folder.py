"""The folder of this user for files that can be made again."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "BOOSTNOISE_CACHE"


def cache_folder() -> Path:
    """Folder that the environment variable ``BOOSTNOISE_CACHE`` names, otherwise that of the system for caches."""
    import platformdirs  # slow to import

    chosen = os.environ.get(VARIABLE)
    return Path(chosen) if chosen else platformdirs.user_cache_path("boostnoise", appauthor=False)
