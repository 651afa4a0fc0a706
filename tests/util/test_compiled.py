"""Compiled functions are pickles: they are taken from folders that only the user can write."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from strangers import UNIX, WRITTEN

pytestmark = UNIX

MODULE = """
from karat._util import njit

@njit(cache=True)
def twice(number):
    return 2 * number

if __name__ == "__main__":
    import sys
    print(twice(21), twice.stats.cache_path, sum(twice.stats.cache_hits.values()))
"""


class Command:
    """Its pickle runs a command when it is read."""

    def __reduce__(self):
        return os.system, ("touch executed",)


@pytest.fixture
def run(tmp_path):
    (tmp_path / "twice.py").write_text(MODULE)

    def call(**environment):
        before = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        done = subprocess.run(
            [sys.executable, "twice.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**before, "KARAT_CACHE": str(tmp_path / "cache"), **environment},
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert not (tmp_path / "executed").exists()
        number, place, hits = done.stdout.split()
        assert number == "42"
        return Path(place), int(hits), done.stderr

    call.folder = tmp_path
    return call


def poison(folder):
    """Replace what is read first by what runs a command."""
    (index,) = folder.glob("*.nbi")
    index.write_bytes(pickle.dumps(Command()))


def test_a_folder_of_the_user_s_is_used(run):
    place, hits, said = run()
    assert (place, hits, said) == (run.folder / "__pycache__", 0, "")
    assert run() == (place, 1, "")


@pytest.mark.parametrize("spoil", WRITTEN)
@pytest.mark.parametrize("what", ["folder", "file"])
def test_code_that_others_may_have_written_is_not_run(run, spoil, what):
    place, _, _ = run()
    (index,) = place.glob("*.nbi")
    poison(place)
    spoil(place if what == "folder" else index)
    place, hits, said = run()
    assert place.parent == run.folder / "cache" / "compiled"
    assert hits == 0
    assert "compiled functions are not taken from there; remove it, or name a folder of yours in" in said
    assert run()[1] == 1


def test_a_folder_that_the_user_names_is_looked_at_too(run):
    shared = run.folder / "shared"
    shared.mkdir()
    place, _, said = run(NUMBA_CACHE_DIR=str(shared))
    assert (place.parent, said) == (shared, "")
    poison(place)
    shared.chmod(0o777)
    place, hits, said = run(NUMBA_CACHE_DIR=str(shared))
    assert place.parent == run.folder / "cache" / "compiled"
    assert hits == 0
    assert "shared can be changed by every user" in said


def test_without_any_folder_it_is_compiled_each_time(run):
    """Nothing can be written: numba itself raises there."""
    for name in ("__pycache__", "cache", "home"):
        (run.folder / name).write_text("a file")
    words = {"HOME": str(run.folder / "home"), "XDG_CACHE_HOME": str(run.folder / "home" / "x")}
    script = MODULE.replace("print(twice(21), twice.stats.cache_path,", 'print(twice(21), "none",')
    (run.folder / "twice.py").write_text(script)
    assert run(**words) == (Path("none"), 0, "")
