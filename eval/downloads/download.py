"""Download files of public repositories, with checked content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from .._cache_folder import cache_folder
from ..errors import ConfigError, one_line

HOST = "https://raw.githubusercontent.com"
TIMEOUT = 60  # seconds without an answer


@dataclass(frozen=True)
class SourceFile:
    """A file in a public repository on GitHub.

    Attributes
    ----------
    repository : str
        Owner and name.
    commit : str
        Hash of the commit.
    path : str
        In the repository.
    sha256 : str
        Hash of the content.
    """

    repository: str
    commit: str
    path: str
    sha256: str

    @property
    def page(self) -> str:
        """Address of the repository at this commit."""
        return f"https://github.com/{self.repository}/tree/{self.commit}"


def source_files(
    repositories: Mapping[str, Mapping[str, str]], commits: Mapping[str, str]
) -> tuple[SourceFile, ...]:
    """Files from a catalogue: hashes by repository and path, and the commit of each repository."""
    return tuple(
        SourceFile(repository, commits[repository], path, sha256)
        for repository, paths in repositories.items()
        for path, sha256 in paths.items()
    )


def download(file: SourceFile) -> Path:
    """Local copy of a file, which is downloaded unless there is one with the right content.

    Raises
    ------
    ConfigError
        If the file cannot be downloaded, or has another content than expected.
    """
    import pooch
    from requests import ConnectionError as NoConnection
    from requests import RequestException

    url = f"{HOST}/{file.repository}/{file.commit}/{quote(file.path)}"
    name = Path(file.path)
    folder = cache_folder() / "downloads" / file.repository / file.commit / name.parent
    pooch.get_logger().setLevel("WARNING")
    try:
        found = pooch.retrieve(
            url,
            f"sha256:{file.sha256}",
            fname=name.name,
            path=folder,
            downloader=pooch.HTTPDownloader(timeout=TIMEOUT),
        )
    except NoConnection:
        raise ConfigError(f"no connection to {HOST}; repeat the command later") from None
    except RequestException as error:
        raise ConfigError(f"{url} cannot be downloaded: {one_line(error)}; repeat the command later") from None
    except ValueError:
        raise ConfigError(f"{url} has another content than expected, by its SHA-256") from None
    return Path(found)
