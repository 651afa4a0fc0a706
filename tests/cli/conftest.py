"""Calling commands as a user does."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from estimation.scenes import scene, write
from karat.benchmarks import load_benchmark
from karat.cli.main import main
from karat.forms import load_form
from karat.store import create_project
from net import folders

FILES = Path(__file__).parents[1] / "net" / "files"


@pytest.fixture
def both(capsys, monkeypatch):
    """Call a command in this process and return what it printed on both streams; errors are one line."""

    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["karat", *map(str, arguments)])
        monkeypatch.delenv("KARAT_DEBUG", raising=False)
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        assert (stop.value.code or 0) == code, captured.err
        if code == 2:
            # Notes may stand before it.
            *notes, last = captured.err.splitlines()
            assert last.startswith("karat: ")
            assert all(note.startswith("note: ") for note in notes), captured.err
        return captured

    return call


@pytest.fixture
def command(both):
    """Call a command and return what it printed; its error when it should fail."""

    def call(*arguments, code=0):
        captured = both(*arguments, code=code)
        return captured.out if code == 0 else captured.err

    return call


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A small world with runs, tables, a model, and a project in every state."""
    folder = tmp_path_factory.mktemp("made")

    def karat(place, *words):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(place)
            patch.setattr(sys, "argv", ["karat", *words, "-q"])
            with pytest.raises(SystemExit) as stop:
                main()
        assert not stop.value.code

    karat(
        folder, "world", "make", "-o", "my", "--images", "16", "--captions", "2", "--seed", "7", "--systems"
    )
    for name, system in {"a": "seer", "b": "learner"}.items():
        shutil.copy(folder / "my" / "runs" / f"{system}.npy", folder / f"{name}.npy")
    karat(folder, "perturb", "my", "--kind", "full-stop", "-o", "queries.tsv")
    world = folders.World(folder / "my")
    folders.make_tables(folder, world)
    shutil.copytree(FILES / "model", folder / "model")
    photos = folder / "my-photos"
    photos.mkdir()
    for path in world.paths:
        shutil.copy(path, photos)
    rows = [[world.images[world.own[c]], text] for c, text in enumerate(world.texts)]
    folders.write(photos / "captions.csv", ["image", "caption"], rows)
    for name, ids in (("img", world.images), ("txt", world.captions)):
        np.save(folder / f"{name}.npy", np.random.default_rng(1).normal(size=(len(ids), 4)))
    content, results = scene(0, images=6)
    for written, name in zip(write(folder, content, results), ("instances.json", "detections.json")):
        Path(written).rename(folder / name)
    (folder / "rules.csv").write_text("red,failed\n" + "1,1\n1,1\n0,0\n0,1\n" * 5)
    pictures = folder / "pictures"
    pictures.mkdir()
    for image in content["images"]:
        Image.new("RGB", (image["width"], image["height"])).save(pictures / image["file_name"])
    create_project(folder / "empty.db", load_benchmark(folder / "my"), load_form("pair"), source="my").close()
    karat(
        folder,
        "project",
        "pool",
        "a.npy",
        "b.npy",
        "-b",
        "my",
        "--top",
        "2",
        "--gold-depth",
        "5",
        "-o",
        "pooled.db",
    )
    shutil.copy(folder / "pooled.db", folder / "packed.db")
    karat(folder, "project", "tasks", "packed.db", "--task-size", "16", "--gold", "2")
    karat(folder, "project", "export", "packed.db", "-o", "sheet.csv")
    folders.filled(folder / "sheet.csv", world, folder / "results.csv", tasks=2)
    for name in ("partly.db", "calibrated.db"):
        shutil.copy(folder / "packed.db", folder / name)
        karat(folder, "project", "import", name, "results.csv")
    karat(folder, "project", "calibrate", "calibrated.db", "--run", "a.npy")
    karat(folder, "project", "publish", "partly.db", "-o", "published")
    karat(folder, "benchmarks", "show", "my", "--save", "saved")
    shutil.copytree(folder / "saved", folder / "world")
    return folder
