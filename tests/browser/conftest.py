"""A browser for tests, and where its pictures go."""

import os
from pathlib import Path

import pytest

from browser.chromium import missing, start
from reports.conftest import hostile_comparison, hostile_report  # noqa: F401


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """One browser for all tests; each opens its own page."""
    if reason := missing():
        pytest.skip(reason)
    started = start(tmp_path_factory.mktemp("profile"))
    yield started
    started.driver.quit()


@pytest.fixture(autouse=True)
def _quiet(request):
    """Forget what the pages of other tests said on the console."""
    if "browser" in request.fixturenames:
        request.getfixturevalue("browser").complaints()


@pytest.fixture(scope="session")
def pictures(tmp_path_factory) -> Path:
    """Where screenshots are kept: the folder KARAT_SCREENSHOTS, else pytest's own."""
    given = os.environ.get("KARAT_SCREENSHOTS")
    if not given:
        return tmp_path_factory.mktemp("screenshots")
    Path(given).mkdir(parents=True, exist_ok=True)
    return Path(given)
