"""The cleaning list and LEMoN's scores against brute force and planted wrong captions."""

import csv

import numpy as np
import pytest

from karat.benchmarks import build
from karat.explanations import make_cleaning_list
from karat.stats import auroc
from karat.world import make_world, plant_wrong_captions, simulate
from statistical.lemon import neighbour_scores


def test_planted_captions_are_wrong():
    world = make_world(60, captions=4, seed=3)
    bench = world.benchmark()
    planted = plant_wrong_captions(bench, 0.1, seed=1, avoid="complete")
    true = world.relevance()
    assert planted.wrong.sum() == 24
    assert not true[world.caption_image, planted.origin][planted.wrong].any()
    kept = ~planted.wrong
    assert [planted.benchmark.texts[k] for k in np.flatnonzero(kept)] == [
        bench.texts[k] for k in planted.origin[kept]
    ]
    assert sorted(planted.origin.tolist()) == list(range(240))


def test_planted_captions_come_first(tmp_path):
    world = make_world(80, seed=3)
    planted = plant_wrong_captions(world.benchmark(), 0.08, seed=1, avoid="complete")
    run = simulate(world, 4).scores[:, planted.origin]
    cleaning = make_cleaning_list(run, planted.benchmark)
    assert set(cleaning.signs) == {"concepts", "words", "rank"}
    both = auroc(cleaning.score, planted.wrong)
    assert both.low > 0.85
    # No sign alone is as good.
    assert all(auroc(sign, planted.wrong).value < both.value for sign in cleaning.signs.values())
    cleaning.save(tmp_path / "cleaning.csv")
    with open(tmp_path / "cleaning.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert len(rows) == 400
    assert rows[0]["reasons"]
    names = planted.benchmark.captions.values.tolist()
    first = [planted.wrong[names.index(row["caption"])] for row in rows[:10]]
    assert np.mean(first) > 0.7


def test_signs_by_hand():
    texts = ["A dog with a ball", "The dog has a ball", "Two cats", "A red bus", "a bus in a street"]
    bench = build("tiny", ["x", "y"], list(range(5)), list("xxxyy"), texts, where="", about="")
    scores = np.array([[9, 8, 1, 2, 3], [1, 2, 8, 9, 7]], float)
    cleaning = make_cleaning_list(scores, bench)
    np.testing.assert_allclose(cleaning.signs["concepts"], [0, 0, 1, 0, 0.5])
    np.testing.assert_allclose(cleaning.signs["words"], [0, 0, 1, 0.5, 0.5])
    # Two cats: second of two images, fifth of five captions.
    np.testing.assert_allclose(cleaning.signs["rank"][2], 1)
    assert cleaning.records()[0]["caption"] == 2
    assert cleaning.records()[0]["reasons"].count(";") == 2


def test_neighbours_equal_brute_force(rng):
    images, captions, owner = rng.normal(size=(12, 5)), rng.normal(size=(30, 5)), rng.integers(0, 12, 30)

    def distance(a, b):
        return 1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b)

    x, expected = images[owner], []
    for i in range(30):
        total = distance(x[i], captions[i])
        for near, far, weight in ((x, captions, 2.0), (captions, x, 3.0)):
            others = sorted((j for j in range(30) if j != i), key=lambda j: distance(near[i], near[j]))
            # Pairs of the same image are equally near: any of them may be the seventh.
            total += weight * np.mean([
                distance(far[i], far[j]) * np.exp(-0.1 * distance(near[i], near[j]))
                * np.exp(-5 * distance(x[j], captions[j]))
                for j in others
            ])  # fmt: skip
        expected.append(total)
    found = neighbour_scores(images, captions, owner, k=29, beta=2, gamma=3)
    np.testing.assert_allclose(found, expected)
    one_each = neighbour_scores(images, captions[:12], np.arange(12), k=1, beta=1, gamma=0)
    i = 4
    j = min((j for j in range(12) if j != i), key=lambda j: distance(images[i], images[j]))
    known = distance(images[i], captions[i]) + distance(captions[i], captions[j]) * np.exp(
        -0.1 * distance(images[i], images[j]) - 5 * distance(images[j], captions[j])
    )
    assert one_each[i] == pytest.approx(known)
