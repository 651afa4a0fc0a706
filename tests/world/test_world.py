"""Making worlds, seeing them as benchmarks, and keeping them in folders."""

import json

import numpy as np
import polars as pl
import pytest

import karat
from karat._util import reporting
from karat.benchmarks import read_benchmark
from karat.errors import KaratError
from karat.world import make_world, read_world, save_world, simulate
from told import Told


@pytest.fixture(scope="module")
def world():
    return make_world(images=60, captions=3, seed=11)


def test_original_labels_are_incomplete():
    """As on photographs: a caption is true of several images, some of one only."""
    large = make_world(images=1000, captions=5, seed=7)
    true_of = large.positives[1]
    assert 10 < true_of.mean() < 60
    assert 3 <= np.median(true_of) <= 12
    assert 0.1 < (true_of == 1).mean() < 0.4


def test_sizes_and_reproducibility(world):
    assert repr(world) == "World(60 images, 180 captions, seed 11)"
    assert world.per_image == 3
    again = make_world(60, 3, 11)
    assert again.texts == world.texts
    np.testing.assert_array_equal(again.meanings.noun, world.meanings.noun)
    assert make_world(60, 3, 12).texts != world.texts


def test_more_images_leave_the_seed_alone_for_other_purposes(world):
    """Noise and answers have streams of their own."""
    longer = make_world(images=61, captions=3, seed=11)
    assert longer.digest != world.digest


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"images": 0}, "images is 0; give a whole number from 1"),
        ({"images": 2.5}, "images is 2.5"),
        ({"captions": 0}, "captions is 0"),
        ({"captions": 21}, "from 1 to 20"),
        ({"seed": -1}, "the seed is -1"),
        ({"seed": "x"}, "the seed is 'x'"),
        ({"images": True}, "images is True"),
    ],
)
def test_wrong_sizes_are_a_sentence(wrong, message):
    with pytest.raises(KaratError, match=message):
        make_world(**wrong)


def test_the_benchmark(world):
    bench = world.benchmark("tiny")
    assert repr(bench) == "Benchmark('tiny': 60 images, 180 captions; truths original, complete)"
    truth = np.zeros((60, 180), bool)
    pairs = bench.truth("complete").judgments.pairs()
    truth[pairs.image, pairs.caption] = True
    np.testing.assert_array_equal(truth, world.relevance())
    assert bench.truth("complete").complete
    assert not bench.truth("original").complete
    assert len(bench.truth("original").judgments) == 180
    assert bench.captions[4] == "000001.png#1"
    assert bench.texts == list(world.texts)
    np.testing.assert_array_equal(bench.caption_image, np.repeat(np.arange(60), 3))


def test_objects_say_what_the_scenes_show(world):
    things = world.benchmark().objects
    scenes = world.scenes
    assert len(things) == scenes.ptr[-1]
    assert things.synsets[things.categories.index("dog")] == "dog.n.01"
    np.testing.assert_allclose(things.box * 168, scenes.box, atol=1e-4)
    assert set(things.attributes) == {"colour", "size", "background"}
    large = things.attributes["size"] == "large"
    assert things.box[large, 2:].max(axis=1).min() > things.box[~large, 2:].max(axis=1).max()


def test_a_rule_answers_like_the_list(world):
    scores = simulate(world, 3.0).scores
    listed, asked = (world.benchmark(listed=listed) for listed in (True, False))
    cards = [
        karat.evaluate(scores, bench, ["R@1", "RP", "mAP@R"], truth="complete") for bench in (listed, asked)
    ]
    assert [c.value for c in cards[0]] == pytest.approx([c.value for c in cards[1]])


def test_too_many_pairs_to_list(world, monkeypatch):
    monkeypatch.setattr("karat.world.world.LISTED", 100)
    with pytest.raises(KaratError, match="is too long to list; make fewer"):
        world.benchmark()


def test_a_folder_reads_back(world, tmp_path):
    world.save(tmp_path / "new")
    bench, again = world.benchmark(), karat.load_benchmark(tmp_path / "new")
    assert again.texts == bench.texts
    assert again.truth("complete").complete
    for name in ("original", "complete"):
        mine, theirs = bench.truth(name).judgments, again.truth(name).judgments
        np.testing.assert_array_equal(mine.image, theirs.image)
        np.testing.assert_array_equal(mine.caption, theirs.caption)
    assert again.objects.synsets == bench.objects.synsets
    for name, texts in bench.objects.attributes.items():
        np.testing.assert_array_equal(again.objects.attributes[name], texts)
    for path in again.image_paths:
        assert (tmp_path / "new" / path).read_bytes().startswith(b"\x89PNG")
    assert read_world(tmp_path / "new").digest == world.digest
    said = pl.read_parquet(tmp_path / "new" / "meanings.parquet")
    assert len(said) == 180
    assert set(said["first_size"].unique()) == {None, "small", "large"}


def test_saving_twice_gives_the_same_bytes(world, tmp_path):
    for name in ("a", "b"):
        save_world(world, tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert len(files) == 60 + 10
    for path in files:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes(), path


@pytest.mark.parametrize(
    "stop_at", ["karat.world.pictures.encode_png", "karat.benchmarks.karat_format.write"]
)
def test_what_cannot_be_finished_leaves_the_folder_as_it_was(world, tmp_path, monkeypatch, stop_at):
    old = make_world(images=3, captions=1, seed=2)
    old.save(tmp_path)

    def interrupted(*arguments, **columns):
        raise KeyboardInterrupt

    monkeypatch.setattr(stop_at, interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_world(world, tmp_path)
    assert read_benchmark(tmp_path).images.size == 3
    assert read_world(tmp_path).digest == old.digest
    monkeypatch.undo()
    save_world(world, tmp_path)
    assert read_world(tmp_path).digest == world.digest


def test_without_pictures(world, tmp_path):
    told = Told()
    with reporting(told):
        save_world(world, tmp_path, pictures=False)
    assert not (tmp_path / "images").exists()
    assert read_benchmark(tmp_path).image_paths is None
    assert not told.numbers("drawing pictures")


def test_a_damaged_world_is_a_sentence(world, tmp_path):
    with pytest.raises(KaratError, match=r"there is no world\.json"):
        read_world(tmp_path)
    save_world(world, tmp_path, pictures=False)
    path = tmp_path / "world.json"
    head = json.loads(path.read_text())
    for change, message in (
        ({"seed": 12}, "seed 12 no longer makes the world of this folder"),
        ({"version": 2}, "is version 2 of karat-world"),
        ({"images": "many"}, "images is 'many'"),
        ({"images": None}, "images is None"),
    ):
        path.write_text(json.dumps(head | change))
        with pytest.raises(KaratError, match=message):
            read_world(tmp_path)
    for text in ("{", "[]", "{}"):
        path.write_text(text)
        with pytest.raises(KaratError, match="is damaged"):
            read_world(tmp_path)


def test_importing_loads_nothing_heavy():
    import subprocess
    import sys

    code = "import sys, karat.world; print(*sorted(m for m in sys.modules if '.' not in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"PIL", "scipy", "polars", "numba", "rich", "typer"} & set(done.stdout.split())
