"""Simulated readers: what they read of a text, and how their scores follow from it."""

from dataclasses import fields

import numpy as np
import pytest

from karat.errors import InputError
from karat.world import make_world, read_meanings, simulate_reader


@pytest.mark.parametrize("seed", [0, 1])
def test_captions_of_a_world_are_read_as_they_were_meant(seed):
    world = make_world(images=400, captions=5, seed=seed)
    read = read_meanings(world.texts)
    for field in fields(read):
        assert np.array_equal(getattr(read, field.name), getattr(world.meanings, field.name)), field.name


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("The dog!", "a dog"),
        ("a little motorcar", "A small automobile."),
        ("a rebecca purple cat", "a purple cat"),
        ("an enormous elephant", "a large elephant"),
        ("several dogs", "some dogs"),
        ("Two pictures of a dog", "a dog"),
        ("a dog in a yellow field", "a dog in a field"),
    ],
)
def test_other_words_for_the_same(text, other):
    first, second = (read_meanings([each]).in_words() for each in (text, other))
    assert first == second


def test_what_is_not_understood_is_passed_over():
    read = read_meanings(["Ein roter Hund", "", "red on the left of", "next to a dog"])
    assert (read.noun[:3] == -1).all()
    assert read.noun[3].tolist() == [0, -1]
    assert (read.relation == -1).all()
    scores = simulate_reader(make_world(images=5, captions=1), ["", "xyz"], wording=0).scores
    assert np.isfinite(scores).all()
    assert (scores[:, 0] == scores[:, 1]).all()


def test_a_reader_reacts_to_what_it_sees_alone():
    world = make_world(images=200, captions=1, seed=2)
    texts = ["A small red dog.", "A small blue dog.", "A large red dog.", "the small RED dog"]
    for blind, same in (((), [3]), ("colour", [1, 3]), (("colour", "size"), [1, 2, 3])):
        scores = simulate_reader(world, texts, blind=blind, wording=0, seed=4).scores
        assert [k for k in (1, 2, 3) if (scores[:, k] == scores[:, 0]).all()] == same
    worded = simulate_reader(world, texts, wording=0.5, seed=4).scores
    silent = simulate_reader(world, texts, wording=0, seed=4).scores
    assert np.std(worded - silent) == pytest.approx(0.5, rel=0.1)
    assert (
        simulate_reader(world, texts, seed=4).scores == simulate_reader(world, texts, seed=4).scores
    ).all()


def test_a_reader_of_captions_is_as_good_as_a_system():
    world = make_world(images=100, captions=2, seed=3)
    own = (world.caption_image, np.arange(200))
    scores = simulate_reader(world, strength=12).scores
    assert (scores[own] > np.median(scores, axis=0)).mean() > 0.99
    for wrong in ({"strength": -1}, {"wording": np.nan}, {"blind": "taste"}):
        with pytest.raises(InputError):
            simulate_reader(world, ["a dog"], **wrong)
