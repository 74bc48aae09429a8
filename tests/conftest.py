"""What tests of several modules share."""

import os
from pathlib import Path

import hypothesis
import pytest

# Other work on the machine makes no test fail.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder of real data sets, test vectors and published numbers, which not every checkout has."""
    path = os.environ.get("BOOSTNOISE_DATA")
    if path and Path(path).is_dir():
        return Path(path)
    reason = f"the folder of data and test vectors is not there: BOOSTNOISE_DATA={path!r}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
