"""The whole baseline: it learns, it is saved and found again, and wrong input is a sentence."""

import json
from pathlib import Path

import numpy as np
import pytest

import karat
from karat.baselines import ImageTextModel
from karat.baselines.images import ImageFeatures
from karat.errors import InputError, KaratError
from karat.models.cosine import unit
from karat.world import make_world

SMALL = {"side": 96, "points": 24, "colour_words": 32, "texture_words": 32, "sift_words": 32, "cache": False}
SIZE, TRAINED = 260, 220


@pytest.fixture(scope="module")
def world():
    return make_world(SIZE, captions=3, seed=11)


@pytest.fixture(scope="module")
def items(world):
    pictures = [world.picture(k) for k in range(SIZE)]
    captions = [[world.texts[c] for c in np.flatnonzero(world.caption_image == k)] for k in range(SIZE)]
    return pictures, captions


@pytest.fixture(scope="module")
def model(items):
    pictures, captions = items
    return ImageTextModel(n=20, features=ImageFeatures(**SMALL)).fit(pictures[:TRAINED], captions[:TRAINED])


def test_new_pictures_and_captions_meet(model, items):
    pictures, captions = items
    images = unit(model.encode_images(pictures[TRAINED:]))
    texts = unit(model.encode_captions([text for own in captions[TRAINED:] for text in own]))
    owner = np.repeat(np.arange(SIZE - TRAINED), 3)
    rank = (images @ texts.T > (images[owner] * texts).sum(axis=1)).sum(axis=0)
    # By chance the own picture is in the middle of forty.
    assert np.median(rank) < 13


@pytest.mark.parametrize("text", ["BoW1", "TAGRANK", "TRI5-A,Dic-sqrt-idf"])
def test_every_part_comes_back_from_disk(items, tmp_path, text):
    pictures, captions = items
    model = ImageTextModel(text, "histogram", n=5, features=ImageFeatures(**SMALL))
    model.fit(pictures[:20], captions[:20]).save(tmp_path / "model")
    again = ImageTextModel.load(tmp_path / "model")
    assert {**again.get_params(), "features": None} == {**model.get_params(), "features": None}
    new = ["a red dog", "", "two unheard-of zorbs", captions[3][0]]
    np.testing.assert_array_equal(model.encode_captions(new), again.encode_captions(new))
    np.testing.assert_array_equal(model.encode_images(pictures[20:24]), again.encode_images(pictures[20:24]))
    assert not model.encode_captions([""]).any()


def test_search_finds_what_a_caption_says(model, items):
    pictures, captions = items
    places = []
    for k in range(0, 60, 5):
        found = model.search(captions[k][0], pictures[:60], top=60)
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
        places.append([image for image, _ in found].index(k))
    assert np.median(places) < 6
    assert model.search("zzz qqq", pictures[:3]) == []


def test_a_run_of_a_benchmark(model, world, tmp_path):
    world.save(tmp_path / "world")
    bench = karat.load_benchmark(tmp_path / "world")
    card = karat.evaluate(model.run(bench), bench, ["MedR"], truth="original")
    assert card.value("MedR", direction="t2i") < SIZE / 10
    with pytest.raises(InputError, match="does not say where its pictures are"):
        model.run(world.benchmark())


def test_wrong_input_says_so(items, tmp_path):
    pictures, captions = items
    for wrong, sentence in (
        (ImageTextModel("BoW9"), "text kernel 'BoW9'"),
        (ImageTextModel(image="disc"), "image is 'disc'"),
    ):
        with pytest.raises(KaratError, match=sentence):
            wrong.fit(pictures[:4], captions[:4])
    with pytest.raises(InputError, match="picture number 1 has no caption"):
        ImageTextModel().fit(pictures[:2], [captions[0], []])
    with pytest.raises(InputError, match="fewer than two"):
        ImageTextModel().fit(pictures[:1], captions[:1])
    with pytest.raises(InputError, match="2 pictures and captions of 1"):
        ImageTextModel().fit(pictures[:2], captions[:1])
    with pytest.raises(InputError, match="not fitted"):
        ImageTextModel().encode_captions(["a dog"])
    with pytest.raises(KaratError, match=r"there is no model\.json"):
        ImageTextModel.load(tmp_path)


@pytest.mark.parametrize("name", ["model.json", "model.npz", "words.json"])
def test_damage_is_a_sentence(model, tmp_path, name):
    model.save(tmp_path)
    whole = (tmp_path / name).read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"[1, 2]"):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(KaratError, match="karat fit"):
            ImageTextModel.load(tmp_path)
    (tmp_path / name).write_bytes(whole)
    head = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps({**head, "version": 99}))
    with pytest.raises(KaratError, match="version 99"):
        ImageTextModel.load(tmp_path)


def test_a_model_that_version_0_4_saved_finds_what_it_found():
    world = make_world(24, captions=2, seed=4)
    model = ImageTextModel.load(Path(__file__).parent / "model-0.4.0")
    assert model.text == "TRI5-A,Dic-sqrt-idf"
    first, second = model.search("Four big books on the beach.", [world.picture(k) for k in range(24)], top=2)
    assert (first[0], second[0]) == (3, 2)
    assert (first[1], second[1]) == pytest.approx((0.782, 0.687), abs=1e-3)
