"""What is not installed is named, with the command that installs it."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from karat._util import extra, missing
from karat._util.extras import EXTRAS, PACKAGES
from karat.errors import MissingDataError

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_an_installed_package_is_returned():
    assert extra("json") is json


@pytest.mark.parametrize(
    ("module", "says"),
    [
        ("PIL.Image", "the package Pillow is not installed; pip install 'karat[images]'."),
        ("cv2", "the package opencv-python-headless is not installed; pip install 'karat[models]'."),
        ("torch", "the package torch is not installed; pip install 'karat[train]'."),
        ("eccv_caption", "the package eccv_caption is not installed; pip install eccv_caption."),
    ],
)
def test_a_missing_package_names_its_command(monkeypatch, module, says):
    for name in (module.split(".")[0], module):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDataError, match=f"^{re.escape(says)}$"):
        extra(module)


def test_the_sentence_may_say_what_for():
    assert str(missing("eccv_caption", ", which holds the truths,")).startswith(
        "the package eccv_caption, which holds the truths, is not installed"
    )
    assert str(missing("sqlalchemy", extra_name="web")).endswith("pip install 'karat[web]'.")


def test_every_extra_brings_its_package():
    extras = PROJECT["optional-dependencies"]
    for module, names in EXTRAS.items():
        brought = [requirement for name in names.split(",") for requirement in extras[name]]
        package = re.compile(rf"{re.escape(PACKAGES.get(module, module))}(?![\w-])", re.IGNORECASE)
        assert any(map(package.match, brought)), module
