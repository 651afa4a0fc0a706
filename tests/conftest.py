"""Fixtures that many tests share."""

import os
import sys
from pathlib import Path

import hypothesis
import numpy as np
import pytest

import karat
from karat._util import SETTINGS

sys.path.insert(0, str(Path(__file__).parent))

# On a busy machine any example may take longer than the 0.2 s that Hypothesis allows.
hypothesis.settings.register_profile("karat", deadline=None)
hypothesis.settings.load_profile("karat")

# It registers things: a package that tests install elsewhere.
collect_ignore = ["plugin_package"]


PACKAGES = {path.name.strip("_") for path in Path(karat.__file__).parent.iterdir() if path.is_dir()}
CHEAP = {"_own_cache", "tmp_path_factory", "request", "pytestconfig"}
"""Shared fixtures that cost nothing."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what `make check` leaves out."""
    for item in items:
        # Examples in the sources are not ours to sort.
        if item.path.is_relative_to(Path(__file__).parent) and is_slow(item):
            item.add_marker("slow")


def is_slow(item) -> bool:
    """Whether a test does more than call a few functions of one package.

    Nobody keeps a list. What several tests share (a browser, a server, COCO, a model) is shared because
    it takes long; so do other processes and databases, properties of many examples, and oracles. A folder
    that no package has the name of (the net, the replications) tests all of them together.
    """
    definitions = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    shared = {name for name, found in definitions.items() if found[-1].scope != "function"} - CHEAP
    params = getattr(getattr(item, "callspec", None), "params", {}).values()
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    return bool(
        shared
        or hasattr(getattr(item, "module", None), "subprocess")
        or any(isinstance(value, str) and value == "postgresql" for value in params)
        or getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        or item.get_closest_marker("oracle")
        or not (folder.endswith(".py") or folder in PACKAGES)
    )


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Tests neither read nor write the user's cache and configuration, nor compute as it says."""
    for name in set(SETTINGS) - {"data", "wordnet"}:
        os.environ.pop(SETTINGS[name].variable, None)
    os.environ["KARAT_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["KARAT_CONFIG"] = str(tmp_path_factory.mktemp("config"))


@pytest.fixture(scope="session")
def coco(_own_cache) -> karat.Benchmark:
    return karat.load_benchmark("coco")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data; tests that need it skip without it."""
    folder = os.environ.get("KARAT_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs real data: set KARAT_DATA to a folder laid out like the data folder")
    return Path(folder)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20220408)
