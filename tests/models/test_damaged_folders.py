"""Some two hundred damaged folders of models, as `fuzz/model_folders.py` tries twenty thousand."""

import os
import sys
from pathlib import Path

import pytest

from karat.errors import KaratError

ROOT = Path(__file__).parents[2]
NAMES = ("clip", "siglip2", "sentence", "static", "words", "bert", "trained")


@pytest.fixture
def fuzz(monkeypatch):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    pytest.importorskip("sentence_transformers")
    monkeypatch.syspath_prepend(str(ROOT / "fuzz"))
    import model_folders
    import sandbox

    yield model_folders, sandbox
    for name in ("model_folders", "sandbox", "damage", "tiny_folders"):
        sys.modules.pop(name, None)


def test_damaged_folders_load_or_are_refused_in_one_sentence(fuzz, tmp_path, monkeypatch):
    model_folders, sandbox = fuzz
    for name in ("KARAT_CACHE", "HF_HUB_OFFLINE", "TOKENIZERS_PARALLELISM"):
        # Put back after the test, whatever they are set to.
        monkeypatch.setenv(name, os.environ.get(name, "1"))
    (tmp_path / "secret.json").write_text("{}")
    make = model_folders.prepare(tmp_path, 7, NAMES)
    kinds = {"loaded": 0, "refused": 0}
    for number in range(196):
        name, load = make(number)
        outcome = sandbox.attempt(number, name, load, KaratError)
        assert outcome.kind in kinds, (name, outcome.text)
        kinds[outcome.kind] += 1
    assert min(kinds.values()) > 20
    assert not [*tmp_path.glob("karat_canary*"), *tmp_path.glob("*/karat_canary-pickle")]
