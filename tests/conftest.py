"""Fixtures that many tests share."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import karat
from karat._util import SETTINGS

sys.path.insert(0, str(Path(__file__).parent))

# It registers things: a package that tests install elsewhere.
collect_ignore = ["plugin_package"]


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
