"""Does an interval with uncertain labels hold the score under the true labels? Over many judged worlds."""

from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.benchmarks import Judgments, Provenance, Share
from karat.forms import load_form
from karat.judging import make_pool, make_tasks, simulate_answers
from karat.judging.publication.correction import correct
from karat.judging.publication.evidence import Evidence
from karat.world import average, careful, lazy, make_world, simulate
from tests.judging.pipeline import strict_form

WORLDS = 40
IMAGES, QUERY_IMAGES = 500, 100
"""A world's images, and how many of them are drawn as queries: the world is the population."""
MEASURES = ("R@1", "RP", "mAP@R", "nDCG@5")


def judged_world(seed):
    """A world with a published truth, made of three answers a pair; and the same pairs as they truly are."""
    rng = np.random.default_rng([seed, 3])
    world = make_world(IMAGES, captions=2, seed=seed)
    benchmark = world.benchmark()
    known = replace(benchmark, truths={"original": benchmark.truths["original"]})
    runs = [
        simulate(world, strength, seed=seed, name=f"system-{k}").align(known)
        for k, strength in enumerate((2.5, 3.5, 4.5))
    ]
    pool = make_pool(runs, known, top=4, seed=seed)
    plan = make_tasks(pool, load_form("pair"), task_size=30, gold=2, overlap=3, seed=seed)
    kinds = (careful, average, average, lazy)
    people = [kinds[rng.integers(4)](f"person-{k}") for k in range(40)]
    answers = simulate_answers(world, plan, people, load_form("pair"), seed=seed).table()
    made = correct(Evidence(known, strict_form(), pool, answers, plan=plan)).benchmark
    truth = made.truth("corrected")
    pairs = truth.judgments.pairs()
    right = world.pair_relevance(pairs.image, pairs.caption).astype(float)
    true = Judgments(pairs.image, pairs.caption, rating=right, sources=[Provenance("true", mapping=Share(1))])
    images = rng.permutation(IMAGES)[:QUERY_IMAGES]
    drawn = {"i2t": np.sort(images), "t2i": np.flatnonzero(np.isin(made.caption_image, images))}
    truths = {"corrected": replace(truth, queries=drawn), "true": replace(truth, name="true", judgments=true)}
    return replace(made, truths=truths), runs


def one_world(seed):
    """Whether each interval, with and without uncertain labels, holds the true score of the population."""
    made, runs = judged_world(seed)
    true = {column_key(c): c.value for c in karat.evaluate(runs, made, MEASURES, truth="true")}
    held = {}
    for with_labels in (False, True):
        card = karat.evaluate(
            runs, made, MEASURES, truth="corrected", intervals=True, resamples=2000, seed=seed,
            label_uncertainty=with_labels,
        )  # fmt: skip
        held |= {(with_labels, *column_key(c)): c.low <= true[column_key(c)] <= c.high for c in card}
    return held


def column_key(column):
    return column.run, str(column.measure), column.direction


@pytest.mark.statistical
def test_intervals_with_uncertain_labels_hold_the_true_score(capsys):
    """100 of 500 images are drawn without replacement, so that a perfect interval holds in 97% of worlds."""
    found = [one_world(seed) for seed in range(WORLDS)]
    columns = [(measure, direction) for measure in MEASURES for direction in ("i2t", "t2i", "mean")]

    def share(with_labels, *column):
        return np.mean(
            [h for one in found for k, h in one.items() if k[0] == with_labels and k[2:] == column]
        )

    shares = {column: (share(False, *column), share(True, *column)) for column in columns}
    with capsys.disabled():
        print(f"\n95% intervals that hold the true score, {WORLDS} worlds: published labels, drawn labels")
        for (measure, direction), (plain, drawn) in shares.items():
            print(f"  {measure:8}{direction:6}{plain:6.3f}{drawn:7.3f}")
    plain, drawn = np.array(list(shares.values())).T
    assert drawn.min() >= 0.85
    assert drawn.mean() >= 0.93
    assert plain.mean() <= 0.80
