"""Files that a command reads."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

from .errors import ConfigError


def check_input_file(path: str | Path, context: str = "", advise: Callable[[str], str] | None = None) -> Path:
    """Check that a path names a regular file, before anything opens it.

    Libraries download from web addresses, and opening a named pipe or a device can wait forever.

    Parameters
    ----------
    path : str or Path
    context : str, default=""
        Prefix of error messages.
    advise : callable or None, default=None
        Makes the end of the message from the path, if there is no such file.

    Returns
    -------
    Path
        Absolute, which no library takes for a web address.

    Raises
    ------
    ConfigError
        If there is no such file, or it is a folder, a named pipe or a device.
    """
    prefix = f"{context}: " if context else ""
    try:
        mode = Path(path).stat().st_mode
    except PermissionError as error:
        raise ConfigError(f"{prefix}{path} cannot be read: {error.strerror}") from None
    except (OSError, ValueError):  # for example, the name is too long or has a null character
        hint = "" if advise is None else advise(str(path))
        hint = "; web addresses are not read" if "://" in str(path) else hint
        raise ConfigError(f"{prefix}no such file: {path}{hint}") from None
    if not stat.S_ISREG(mode):
        raise ConfigError(f"{prefix}not a regular file: {path}")
    return Path(path).absolute()
