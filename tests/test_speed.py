"""Every script of `speed/` runs on tiny sizes; no file of a folder of scripts shadows one of another."""

import json
import multiprocessing
import os
import runpy
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = [ROOT / name for name in ("speed", "replications", "scripts", "examples", "fuzz")]
SCRIPTS = sorted(path.stem for path in (ROOT / "speed").glob("[a-z]*.py"))
NEEDS = {"encode": "transformers", "gpu": "torch", "meter": "torch", "sam": "torch", "cluster": "distributed"}
"""Extras without which a script cannot say anything."""
EMPTY = {"gpu"}
"""Scripts that may measure nothing, and say why."""
NUMBER = (int, float)
TYPES = {
    "name": str, "size": str, "karat_s": NUMBER, "karat_mb": (*NUMBER, type(None)), "peer": (str, type(None)),
    "peer_s": (*NUMBER, type(None)), "peer_mb": (*NUMBER, type(None)), "ratio": (*NUMBER, type(None)),
    "what": str,
}  # fmt: skip
# A process that has them forks once per script, so that their imports are paid once.
FORKS = multiprocessing.get_context("forkserver")
PRELOADED = (
    "numpy", "scipy.stats", "scipy.spatial", "numba", "sklearn.linear_model", "PIL.Image", "cv2", "nltk",
    "torch", "karat.scores.evaluation", "karat.estimation", "karat.captions", "karat.world",
)  # fmt: skip


def run_script(script: Path, words: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Do what ``python SCRIPT WORDS`` does, in a process of its own; what it says goes to a file."""
    os.environ.clear()
    os.environ.update(environment)
    with (folder / "said").open("w") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    sys.argv = [str(script), *words]
    sys.path.insert(0, str(script.parent))
    runpy.run_path(str(script), run_name="__main__")


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs_on_tiny_sizes(name: str, tmp_path: Path):
    pytest.importorskip(NEEDS.get(name, "numpy"))
    written = tmp_path / "records.json"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    arguments = ROOT / "speed" / f"{name}.py", ["--smoke", "--json", str(written)], tmp_path, environment
    FORKS.set_forkserver_preload(list(PRELOADED))
    process = FORKS.Process(target=run_script, args=arguments)
    process.start()
    process.join()
    said = (tmp_path / "said").read_text()
    assert process.exitcode == 0, said
    records = json.loads(written.read_text(encoding="utf-8"))
    assert records or name in EMPTY, said
    for record in records:
        assert list(record) == list(TYPES)
        assert [key for key, kind in TYPES.items() if not isinstance(record[key], kind)] == []
        with_peer = [record[key] is not None for key in ("peer", "peer_s", "ratio")]
        assert len(set(with_peer)) == 1, record
        assert record["name"] in said


def modules_of(folder: Path) -> set[str]:
    """Return what can be imported where a folder is on Python's path."""
    return {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }


def test_no_file_shadows_another():
    """Python puts a script's folder on its path, and some scripts put that of others beside it."""
    homes: dict[str, list[str]] = {}
    for folder in FOLDERS:
        for name in modules_of(folder):
            homes.setdefault(name, []).append(folder.name)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}
    elsewhere = [path for path in sys.path if path and not Path(path).is_relative_to(ROOT)]
    installed = [name for name in homes if PathFinder.find_spec(name, elsewhere)]
    assert installed + [name for name in homes if name in sys.stdlib_module_names] == []
