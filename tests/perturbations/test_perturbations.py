"""Every perturbation: what it changes and what it leaves alone, on sentences written for it."""

import re

import numpy as np
import pytest

import karat
from karat.benchmarks import build
from karat.lexicon import COLOURS, colour_distance
from karat.perturbations import PERTURBATIONS
from karat.perturbations.wording import read_wordings


def made(texts, images=None):
    images = images or [str(k) for k in range(len(texts))]
    names = [f"c{k}" for k in range(len(texts))]
    return build("made", list(dict.fromkeys(images)), names, images, texts, where="made", about="")


def new_texts(kind, *texts, **options):
    """Return the new text of every caption, None where it stays."""
    new = {query.old: query.new for query in karat.perturb(made(list(texts)), kind, **options).queries}
    return [new.get(text) for text in texts]


EXACT = {
    "antonym-adjective": {
        "An old man sits on a wooden bench.": "A young man sits on a wooden bench.",
        "An old building near a street.": "A new building near a street.",
        "The dirty car is parked outside.": "The clean car is parked outside.",
        "A HOT MEAL ON A TABLE": "A COLD MEAL ON A TABLE",
    },
    "antonym-verb": {
        "A man holding a ball.": "A man letting go of a ball.",
        "A woman pushes a cart.": "A woman pulls a cart.",
        "Two boys pulled a wagon.": "Two boys pushed a wagon.",
    },
    "spatial-relation": {
        "A cat behind a chair.": "A cat in front of a chair.",
        "A dog in front of a house.": "A dog behind a house.",
        "A bird above a boat.": "A bird below a boat.",
        "A lamp on top of a table.": "A lamp underneath a table.",
        "A car on the left side of the street.": "A car on the right side of the street.",
    },
    "swap-nouns": {
        "A dog on a car.": "A car on a dog.",
        "An elephant behind a tree.": "A tree behind an elephant.",
        "The man holds the umbrella.": "The umbrella holds the man.",
    },
    "swap-attributes": {
        "A red bus and an old car.": "An old bus and a red car.",
        "A small dog behind a black chair.": "A black dog behind a small chair.",
    },
    "hypernym": {
        "A dog under the sky.": "An animal under the sky.",
        "Two cars at night.": "Two vehicles at night.",
    },
    "contraction": {
        "A dog that is running.": "A dog that's running.",
        "The bus is not moving.": "The bus isn't moving.",
        "The bus isn't moving.": "The bus is not moving.",
    },
    "article": {"A dog under the sky.": "The dog under the sky."},
    "letter-case": {"A Dog in London.": "a dog in london."},
    "letter-case(upper)": {"A dog's tail.": "A DOG'S TAIL."},
    "full-stop": {"A dog.": "A dog", "A dog": "A dog.", "A dog. ": "A dog "},
}


@pytest.mark.parametrize("kind", EXACT)
def test_what_a_kind_writes(kind):
    assert new_texts(kind, *EXACT[kind]) == list(EXACT[kind].values())


LEFT_ALONE = {
    "colour": [
        "An orange on a table.",
        "A black bear in a forest.",
        "A glass of white wine.",
        "A man dressed in black.",
        "The Red Sox play at home.",
        "A black and white photo of a street.",
        "A tall man.",
    ],
    "size": ["A little dancing at night.", "A man walks a little.", "A red bus."],
    "antonym-adjective": [
        "Some other people.",
        "A hot dog with mustard.",
        "A single green apple.",
        "A few dogs.",
    ],
    "antonym-verb": [
        "A man taking a nap.",
        "A vase sitting on a table.",
        "A field covered in snow.",
        "A boy holding up a sign.",
        "A man riding a wave.",
    ],
    "singular-plural": ["A man with his dog.", "A lot of water.", "This is a cat.", "Some jeans."],
    "spatial-relation": ["A road under construction.", "A man who left.", "A dog right next to a cat."],
    "swap-nouns": ["A cat and a dog.", "A man with a dog.", "A piece of a cake.", "A dog near a tree."],
    "swap-attributes": ["A red bus.", "A red bus and a red car.", "Many dogs and a red car."],
    "hypernym": ["The bat of a person.", "The sky at night.", "A group of giraffe."],
    "contraction": ["A dog.", "A dog with it's ball.", "A fish that's been grilled."],
    "article": ["A lot of dogs.", "The dog.", "A few cats."],
    "shuffle": ["A dog.", "dog dog dog"],
}


@pytest.mark.parametrize("kind", LEFT_ALONE)
def test_what_a_kind_leaves_alone(kind):
    assert new_texts(kind, *LEFT_ALONE[kind]) == [None] * len(LEFT_ALONE[kind])


@pytest.mark.parametrize("seed", range(6))
def test_colours_are_far_enough_and_articles_fit(seed):
    texts = ["An orange cat.", "A dark blue bus and a red car.", "The house is white.", "a light-green shirt"]
    for query in karat.perturb(made(texts), "colour", words="all", seed=seed).queries:
        for change in query.changes:
            if change.kind == "colour":
                old = change.word.replace("-", " ").split()[-1]
                assert colour_distance(old, change.new.lower()) >= 0.5
        for article, word in re.findall(r"\b(an?) (\w)", query.new.lower()):
            assert article == ("an" if word in "aeiou" else "a"), query.new
    near, far = new_texts("colour(distance=1.7)", "A gray bus.", "A black bus.", seed=seed)
    assert near is None
    assert "white" in far


def test_colours_of_the_data_alone():
    texts = ["A red bus.", "A blue car.", "A white house."]
    for seed in range(5):
        for query in karat.perturb(made(texts), "colour(in)", seed=seed).queries:
            assert query.changes[0].new in ("red", "blue", "white")


def test_colours_are_those_of_css():
    image_color = pytest.importorskip("PIL.ImageColor")
    theirs = {name: tuple(value / 255 for value in image_color.getrgb(name)) for name in image_color.colormap}
    assert {name.replace(" ", ""): value for name, value in COLOURS.items()} == theirs


def test_sizes_turn_around():
    for seed in range(8):
        small, large, minor = new_texts("size", "A large dog.", "A tiny bus.", "A minor road.", seed=seed)
        assert small in ("A small dog.", "A little dog.", "A tiny dog.")
        assert large in ("A large bus.", "A big bus.", "An enormous bus.", "A huge bus.")
        assert minor is not None
    words = {new_texts("size(minor=yes)", "A large dog.", seed=seed)[0] for seed in range(40)}
    assert words == {f"A {size} dog." for size in ("small", "little", "tiny", "minor")}


@pytest.mark.parametrize(
    ("text", "options"),
    {
        "A dog runs on the grass.": {f"{n} dogs run on the grass." for n in ("Two", "Three", "Several")},
        "There is a man outside.": {f"There are {n} men outside." for n in ("two", "three", "several")},
        "Three cats are sleeping.": {"One cat is sleeping.", "A cat is sleeping."},
        "A cat that is asleep.": {f"{n} cats that are asleep." for n in ("Two", "Three", "Several")},
        "Old dogs run.": {"An old dog runs."},
        "The women were singing.": {"The woman was singing."},
    }.items(),
)
def test_number_with_the_verb(text, options):
    found = {new_texts("singular-plural", text, seed=seed)[0] for seed in range(16)}
    assert found == options


def test_a_shuffle_has_the_same_words():
    text = "A man's dog, which isn't brown, runs."
    for seed in range(5):
        (new,) = new_texts("shuffle", text, seed=seed)
        assert sorted(re.findall(r"[\w']+", new.lower())) == sorted(re.findall(r"[\w']+", text.lower()))
        assert new != text
        assert re.fullmatch(r"[A-Z][^A-Z,]*,[^A-Z,]*,[^A-Z,]*\.", new)


def test_rare_synonyms_are_rarer():
    (new,) = new_texts("rare-synonym", "A building at night.")
    assert new == "An edifice at night."


def test_every_kind_is_named_once_and_says_what_it_promises():
    kinds = [PERTURBATIONS[name] for name in PERTURBATIONS]
    assert len(kinds) >= 15
    assert {kind.name for kind in kinds if kind.keeps_meaning} == {
        "article", "contraction", "full-stop", "hypernym", "letter-case", "rare-synonym",
    }  # fmt: skip
    # What is found quickly by its words is what is found by reading all.
    (wording,) = read_wordings(["A red bus under a big tree that is not on the left side."])
    for kind in kinds:
        places = [*kind().places(wording, np.random.default_rng(0))]
        needs = kind().needs()
        assert not places or needs is None or not needs.isdisjoint(wording.tagged.words), kind.name
