"""Concept metrics: the paper's example, brute force, and the algebra that they promise."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from karat.errors import InputError
from karat.explanations import MentionedConcepts, compare_concepts, make_concepts
from karat.explanations.concept_metrics import path_steps
from karat.lexicon import wordnet

NAMES = ("dog", "cat", "car", "bus", "tree", "grass", "hill", "field", "zebra", "mane", "sky", "leaf", "cup")
NOUNS = [f"{name}.n.01" for name in NAMES]


def sides(concepts, pair):
    """Return what each of two images alone has."""
    first, second = (concepts.of_image(image) for image in pair)
    return [name for name in first if name not in second], [name for name in second if name not in first]


@pytest.fixture(scope="module")
def zebras():
    """§6.3: five zebras for the numbers, and four boxes of them for the sizes."""
    alone = {f"{name}.n.01": 1 for name in ["trunk", "hill", "tree", "sky", "branch", "head", "leg", "leaf"]}
    ground = alone | {
        "zebra.n.01": [0.10, 0.11, 0.12, 0.13, 0.0],
        "field.n.01": [0.4],
        "mane.n.01": [0.01],
    }
    retrieved = {"grassland.n.01": 1, "grass.n.01": 1} | {
        "zebra.n.01": [0.10, 0.11, 0.12, 0.13, 0.5, 0.5, 0.5],
        "field.n.01": [0.4 * 2.369],
        "mane.n.01": [0.033, 0.05, 0.06, 0.07, 0.08],
    }
    return compare_concepts(make_concepts([ground, retrieved]), [0], [1])


def test_the_zebras_of_the_paper(zebras):
    assert zebras.agreement[0] == 3 / 11
    assert zebras.enumeration[0] == 6
    assert (zebras.ground_only[0], zebras.retrieved_only[0]) == (8, 2)
    local = zebras.local(0)
    assert {(g, r): round(weight, 3) for g, r, weight in local["pairs"]} == {
        ("hill.n.01", "grassland.n.01"): 0.111,
        ("tree.n.01", "grass.n.01"): 0.167,
    }
    assert round(zebras.similarity[0], 3) == 0.139
    # 1 mane, 4 zebras and 1 field were matched; mane and field differ by the threshold or more.
    assert [round(size[3], 3) for size in local["sizes"]] == [1.369, 2.3, 0, 0, 0, 0]
    assert zebras.size_binary[0] == pytest.approx(2 / 6)
    assert zebras.size_binary_by_concept[0] == 2
    assert zebras.size[0] == pytest.approx((2.30 + 1.369) / 6)
    assert zebras.size_by_concept[0] == pytest.approx(2.30 + 1.369)


def test_the_dogs_of_the_paper():
    """§4.1: ten dogs with a frisbee, against one dog with a frisbee, or ten dogs with a ball."""
    images = [
        {"dog.n.01": 10, "frisbee.n.01": 1},
        {"dog.n.01": 1, "frisbee.n.01": 1},
        {"dog.n.01": 10, "ball.n.01": 1},
    ]
    metrics = compare_concepts(make_concepts(images), [0, 0], [1, 2])
    assert metrics.enumeration.tolist() == [9, 0]
    assert metrics.agreement.tolist() == [1, 0.5]


def test_steps_are_wordnets_path_similarity():
    steps = path_steps(NOUNS)
    rows = [wordnet().synset(name) for name in NOUNS]
    np.testing.assert_allclose(
        1 / (1 + steps.astype(float)), wordnet().path_similarity(rows, rows), atol=1e-12
    )


areas = st.floats(0.001, 1.0)
image = st.dictionaries(st.sampled_from(NOUNS), st.lists(areas, min_size=1, max_size=4), max_size=5)


@settings(max_examples=80, deadline=None)
@given(image, image, st.sampled_from(["ground_truth", "smaller"]))
def test_matching_is_the_best_of_all(ground, retrieved, relative_to):
    concepts = make_concepts([ground, retrieved])
    metrics = compare_concepts(concepts, [0], [1], relative_to=relative_to)
    first, second = sides(concepts, (0, 1))
    wn = wordnet()
    pairs = metrics.local(0)["pairs"]
    if first and second:
        table = wn.path_similarity([wn.synset(n) for n in first], [wn.synset(n) for n in second])
        table = table if len(first) <= len(second) else table.T
        sums = [
            sum(table[k, column] for k, column in enumerate(chosen))
            for chosen in permutations(range(table.shape[1]), table.shape[0])
        ]
        assert sum(weight for *_, weight in pairs) == pytest.approx(max(sums), abs=1e-12)
        assert metrics.similarity[0] == pytest.approx(max(sums) / min(len(first), len(second)))
    else:
        assert not pairs
        assert np.isnan(metrics.similarity[0])
    for side in (0, 1):
        assert len({pair[side] for pair in pairs}) == len(pairs)
    apart = 0.0
    for name in set(ground) & set(retrieved):
        g, r = np.array(ground[name])[:, None], np.array(retrieved[name])[None]
        cost = abs(g - r) / (g if relative_to == "ground_truth" else np.minimum(g, r))
        apart += cost[linear_sum_assignment(cost)].sum()
    assert metrics.size_difference.sum() == pytest.approx(apart, abs=1e-9)


def test_matching_of_large_sets_equals_scipy(rng):
    names = [
        wordnet().name(row) for row in rng.choice(np.flatnonzero(wordnet().parts == 0), 300, replace=False)
    ]
    names = list(dict.fromkeys(names))
    images = [
        dict.fromkeys(rng.choice(names, int(rng.integers(1, 60)), replace=False).tolist(), 1)
        for _ in range(40)
    ]
    concepts = make_concepts(images)
    ground, retrieved = np.arange(40), np.roll(np.arange(40), 1)
    metrics = compare_concepts(concepts, ground, retrieved)
    wn = wordnet()
    for k, pair in enumerate(zip(ground, retrieved)):
        first, second = sides(concepts, pair)
        table = wn.path_similarity([wn.synset(n) for n in first], [wn.synset(n) for n in second])
        assert metrics.similarity[k] == pytest.approx(table[linear_sum_assignment(-table)].mean(), abs=1e-12)
    alone = compare_concepts(concepts, ground, retrieved, threads=1)
    np.testing.assert_array_equal(alone.pair_concepts, metrics.pair_concepts)


@settings(max_examples=50, deadline=None)
@given(image, image)
def test_algebra(first, second):
    concepts = make_concepts([first, second])
    same = compare_concepts(concepts, [0], [0])
    if first:
        assert (same.agreement[0], same.enumeration[0], same.size[0], same.size_binary[0]) == (1, 0, 0, 0)
        assert same.size_by_concept[0] == 0
    else:
        assert np.isnan([same.agreement[0], same.enumeration[0], same.size[0]]).all()
    assert np.isnan(same.similarity[0])
    # What is promised to be symmetric: similarity and numbers; sizes when divided by the smaller area.
    metrics = compare_concepts(concepts, [0, 1], [1, 0], relative_to="smaller")
    for name in ("similarity", "enumeration", "size", "size_binary", "size_by_concept"):
        one, other = getattr(metrics, name)
        assert one == pytest.approx(other, abs=1e-9, nan_ok=True), name
    assert metrics.common[0] == metrics.common[1]
    assert metrics.ground_only[0] == metrics.retrieved_only[1]


def test_undefined_where_a_side_is_empty():
    metrics = compare_concepts(
        make_concepts([{"dog.n.01": [0.5]}, {}, {"cat.n.01": 2}]), [0, 1, 0], [1, 0, 2]
    )
    assert metrics.agreement.tolist()[::2] == [0, 0]
    assert np.isnan(metrics.agreement[1])
    assert np.isnan(metrics.similarity).tolist() == [True, True, False]
    assert np.isnan(metrics.enumeration).all()
    assert np.isnan(metrics.size).all()
    # A count without boxes: numbers are compared, sizes are not.
    counted = compare_concepts(make_concepts([{"dog.n.01": 3}, {"dog.n.01": [0.5]}]), [0], [1])
    assert counted.enumeration[0] == 2
    assert np.isnan(counted.size[0])


def test_threshold_counts_equality():
    concepts = make_concepts([{"dog.n.01": [0.25]}, {"dog.n.01": [0.5]}])
    assert compare_concepts(concepts, [0], [1]).size_binary[0] == 1
    assert compare_concepts(concepts, [0], [1], threshold=1.001).size_binary[0] == 0
    assert compare_concepts(concepts, [1], [0]).size[0] == 0.5
    assert compare_concepts(concepts, [1], [0], relative_to="smaller").size[0] == 1


@settings(max_examples=50, deadline=None)
@given(image, image, st.sets(st.sampled_from(NOUNS)))
def test_query_informed_is_the_metric_of_what_is_mentioned(first, second, kept):
    concepts = make_concepts([first, second])
    mentioned = sorted(k for k, name in enumerate(concepts.synsets) if name in kept)
    informed = compare_concepts(
        concepts, [0], [1], mentioned=(np.array([0, len(mentioned)]), np.array(mentioned, int))
    )
    fewer = [{name: known for name, known in one.items() if name in kept} for one in (first, second)]
    direct = compare_concepts(make_concepts(fewer), [0], [1])
    for name, values in direct.values().items():
        np.testing.assert_allclose(informed.values()[name], values, err_msg=name)


def test_mentions_reach_up_and_down():
    names = (
        "bicycle.n.01",
        "cat.n.01",
        "mouse.n.04",
        "person.n.01",
        "television_receiver.n.01",
        "zebra.n.01",
    )
    mentions = MentionedConcepts(names)
    ptr, concept = mentions.of_texts(
        ["A man on a bike", "several animals near a tv", "people with a computer mouse", "a red thing", ""]
    )
    listed = [[names[k] for k in concept[b:e]] for b, e in pairwise(ptr)]
    assert listed[0] == ["bicycle.n.01", "person.n.01"]
    assert listed[1] == ["cat.n.01", "television_receiver.n.01", "zebra.n.01"]
    assert listed[2] == ["mouse.n.04", "person.n.01"]
    assert listed[4] == []


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: compare_concepts(c, [0], [9]), "there is no image 9; images are numbers from 0 to 1."),
        (lambda c: compare_concepts(c, [0.5], [1]), "type float64; give their numbers."),
        (
            lambda c: compare_concepts(c, [0], [1, 1]),
            "1 ground-truth images and 2 retrieved ones; give pairs.",
        ),
        (lambda c: compare_concepts(c, [0], [1], threshold=0), "is 0; give a number above 0; 1 is 100%."),
        (lambda c: compare_concepts(c, [0], [1], threshold=float("nan")), "is nan; give a number"),
        (lambda c: compare_concepts(c, [0], [1], relative_to="area"), "relative_to is 'area'; choose one of"),
        (
            lambda c: compare_concepts(c, [0], [1], mentioned=(np.zeros(3, int), np.zeros(0, int))),
            "2 lists of mentioned concepts for 1 pairs; give one each.",
        ),
        (lambda c: make_concepts([{"dog": 1}]), "'dog' is not the name of a synset; write it like dog.n.01."),
        (lambda c: make_concepts([{"dog.n.99": 1}]), "there is no synset 'dog.n.99'"),
        (lambda c: make_concepts([{"dog.n.01": 0}]), "dog.n.01 of image 0 has 0; give a count from 1"),
        (lambda c: make_concepts([{"dog.n.01": [-1]}]), "dog.n.01 of image 0 has [-1]; give a count"),
    ],
)
def test_wrong_input_is_one_sentence(call, words):
    with pytest.raises(InputError) as error:
        call(make_concepts([{"dog.n.01": 1}, {"cat.n.01": 1}]))
    assert words in str(error.value)
    assert "\n" not in str(error.value)
