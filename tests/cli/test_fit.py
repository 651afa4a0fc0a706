"""``karat fit``, ``karat encode`` and ``karat search`` as a user meets them."""

import csv
import json

import numpy as np
import pytest

from karat.world import make_world


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """A plain folder of pictures with captions.csv, as a user would have it."""
    folder = tmp_path_factory.mktemp("photos")
    world = make_world(16, captions=2, seed=3)
    world.save(folder / "world")
    photos = folder / "my photos"
    (folder / "world" / "images").rename(photos)
    names = sorted(path.name for path in photos.iterdir())
    with (photos / "captions.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["image", "caption"])
        rows.writerows((names[image], text) for image, text in zip(world.caption_image, world.texts))
    return photos


@pytest.fixture(scope="module")
def model(photos):
    import sys

    from karat.cli.main import main

    folder = photos.parent / "model"
    saved, sys.argv = (
        sys.argv,
        ["karat", "fit", str(photos), "-o", str(folder), "--n", "8", "--image-power", "1"],
    )
    try:
        with pytest.raises(SystemExit) as stop:
            main()
    finally:
        sys.argv = saved
    assert not stop.value.code
    return folder


def test_fit_says_what_it_did(model):
    head = json.loads((model / "model.json").read_text())
    assert head["parameters"]["text"] == "BoW5"
    assert (head["parameters"]["n"], head["parameters"]["image_power"]) == (8, 1)
    assert (model / "image-features.safetensors").is_file()


def test_search(command, photos, model, tmp_path):
    out = command("search", model, "a dog", "--in", photos, "-k", 3, "-o", tmp_path / "found.html")
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["1", "2", "3"]
    assert all(line.endswith(".png") for line in lines[:3])
    page = (tmp_path / "found.html").read_text(encoding="utf-8")
    assert page.count("data:image/webp;base64,") == 3
    hostile = "<script>alert(1)</script> dog"
    command("search", model, hostile, "--in", photos, "-o", tmp_path / "hostile.html")
    page = (tmp_path / "hostile.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_search_says_which_words_it_does_not_know(both, photos, model):
    assert "no word of 'zzz'" in both("search", model, "zzz", "--in", photos).err
    some = both("search", model, "a dog and a zzz", "--in", photos)
    assert "trained on: zzz" in some.err
    assert some.out
    assert not both("search", model, "a dog", "--in", photos).err


def test_one_picture_is_not_called_many(command, photos, model, tmp_path):
    command("search", model, "a dog", "--in", photos, "-k", 1, "-o", tmp_path / "one.html")
    page = (tmp_path / "one.html").read_text(encoding="utf-8")
    assert "The picture that fits best" in page


def test_fit_names_a_damaged_picture(command, photos, tmp_path):
    import shutil

    copy = tmp_path / "photos"
    shutil.copytree(photos, copy)
    damaged = sorted(copy.glob("*.png"))[5]
    damaged.write_bytes(damaged.read_bytes()[:300])
    assert damaged.name in command("fit", copy, "-o", tmp_path / "model", code=2)
    assert not (tmp_path / "model" / "model.json").exists()


def test_encode_makes_a_run(command, photos, model, tmp_path):
    out = command("encode", model, "-b", photos, "-o", tmp_path / "run.npz")
    assert "run.npz" in out
    scored = command("evaluate", tmp_path / "run.npz", "-b", photos, "-m", "R@5")
    assert "R@5" in scored
    with np.load(tmp_path / "run.npz") as stored:
        assert all(np.isfinite(stored[name]).all() for name in stored.files if stored[name].dtype.kind == "f")


def test_wrong_input_is_one_line(command, photos, model, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no pictures" in command("search", model, "a dog", "--in", empty, code=2)
    assert "there is nothing to look for" in command("search", model, " ", "--in", photos, code=2)
    assert "there is no model.json" in command("search", empty, "a dog", "--in", photos, code=2)
    assert "text kernel 'Bow9'" in command("fit", photos, "-o", tmp_path / "m", "--text", "Bow9", code=2)
    assert "does not say where its pictures are" in command("fit", "coco", "-o", tmp_path / "m", code=2)
