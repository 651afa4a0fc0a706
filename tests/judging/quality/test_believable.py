"""Labels that a referee would accept: wrong originals are found, and probabilities mean what they say."""

from dataclasses import replace

import numpy as np
import pytest

from karat.benchmarks import Judgments, Provenance, Truth
from karat.forms import load_form
from karat.judging import aggregate, correct, make_pool, make_tasks, simulate_answers
from karat.judging.publication.data_card import data_card
from karat.judging.publication.evidence import Evidence
from karat.judging.publication.facts import find_facts
from karat.runs import MatrixRun
from karat.world import Annotator, average, careful, lazy, make_world, simulate_systems
from tests.judging.quality.samples import FOUR, simulated

WRONG = 0.2
RIGHT = 0.95


def planted(seed):
    """A world in which one caption in five is listed with a wrong image; annotators are right in 95%."""
    world = make_world(images=100, captions=2, seed=seed)
    complete = world.benchmark()
    rng = np.random.default_rng(seed)
    owner = np.asarray(complete.caption_image).copy()
    for caption in np.flatnonzero(rng.random(len(owner)) < WRONG):
        others = rng.permutation(len(complete.images))
        fits = world.pair_relevance(others, np.full(len(others), caption))
        owner[caption] = others[~fits][0]
    captions = np.arange(len(owner))
    truth = Truth(
        "original",
        Judgments(owner, captions, sources=[Provenance("original")]),
        complete.truths["original"].queries,
    )
    benchmark = replace(complete, truths={"original": truth}, caption_image=owner)
    # A model that has learned the listed pairs by heart: all originals are judged, wrong ones too.
    by_heart = np.random.default_rng([seed, 1]).random((len(complete.images), len(owner)))
    by_heart[owner, captions] += 2
    runs = [run.align(benchmark) for run in [*simulate_systems(world), MatrixRun(by_heart, "by heart")]]
    form = load_form("pair")
    # Only "100% yes" counts, as in the world's truth.
    grades = {"yes": 1.0, "partially": 0.0, "mostly_no": 0.0, "no": 0.0}
    strict = replace(form, answers=tuple(replace(a, grade=grades[a.code]) for a in form.answers))
    pool = make_pool(runs, benchmark, top=3, seed=seed)
    plan = make_tasks(pool, form, overlap=3, seed=seed)
    confusion = np.full((4, 4), (1 - RIGHT) / 3) + np.eye(4) * (RIGHT - (1 - RIGHT) / 3)
    people = [Annotator(f"p{k}", confusion) for k in range(60)]
    answers = simulate_answers(world, plan, people, form, seed=seed).table()
    evidence = Evidence(benchmark, strict, pool, answers, plan=plan)
    return world, owner, evidence


def test_the_card_finds_wrong_originals():
    """With one original in five wrong, the older labels' precision comes out within two points."""
    world, owner, evidence = planted(3)
    correction = correct(evidence, original_policy="people")
    facts = find_facts(evidence, correction)
    size = len(owner)
    fits = world.pair_relevance(owner, np.arange(size))
    assert 0.7 < fits.mean() < 0.9
    # By caption, and as a mean over images.
    true = {"t2i": fits.mean(), "i2t": np.mean([fits[owner == image].mean() for image in np.unique(owner)])}
    for quality in facts.by_answers[:2]:
        assert quality.judged_share == 1
        assert abs(quality.judged_precision.value - true[quality.direction]) < 0.02, quality.direction
    # "--keep-original people" drops them.
    published = correction.truth.judgments.pairs()
    kept = (published.image.astype(np.int64) * size + published.caption)[published.grade > 0]
    assert np.isin((owner * size + np.arange(size))[~fits], kept).mean() < 0.1
    card = data_card(evidence, correction, facts)
    assert "also among the pairs to judge; there, gold only tests the annotator" in card


def test_a_pair_under_judgment_is_not_told_its_answer(rng):
    """Six people say no about an original that is gold in another task: the answer is no."""
    people = [careful().confusion] * 6
    right = rng.choice([0, 3], 60)
    answers = simulated(people, right, 6, rng, gold_every=3)
    # The first pair is wrong gold: not relevant, gold yes, and asked about as well.
    rows = answers.caption == 0
    gold = answers.gold.copy()
    gold[rows] = np.where(np.arange(rows.sum()) % 2, 1, -1)
    rating = answers.rating.copy()
    rating[rows] = 1.0
    found = aggregate(replace(answers, gold=gold, rating=rating), FOUR, "dawid-skene")
    assert found.relevance[0] < 0.01


@pytest.mark.parametrize("prevalence", [0.08, 0.25, 0.5])
def test_claimed_and_actual(prevalence):
    """Of published positives, as many are right as their probabilities say, with three answers per pair."""
    crowd = [careful()] * 3 + [average()] * 6 + [lazy(looks=0.6)] * 3
    claimed, actual = [], []
    for seed in range(6):
        rng = np.random.default_rng([seed, 11])
        asked, hidden = 2000, 200
        relevant = np.concatenate([rng.random(asked) < prevalence, np.arange(hidden) % 2 == 0])
        near = rng.random(len(relevant)) < 0.5
        right = np.where(relevant, np.where(near, 2, 3), np.where(near, 1, 0))
        answers = simulated([one.confusion for one in crowd], right, 3, rng)
        gold = np.where(answers.caption < asked, -1, relevant[answers.caption].astype(np.int64))
        found = aggregate(replace(answers, gold=gold), FOUR, "dawid-skene")
        assert found.fit.calibration is not None
        assert found.fit.calibration.gold == hidden
        rows = found.relevant & (found.caption < asked)
        claimed.append(found.relevance[rows].mean())
        actual.append(relevant[found.caption[rows]].mean())
    assert abs(np.mean(claimed) - np.mean(actual)) < 0.03


def test_without_gold_it_says_that_probabilities_are_not_calibrated(rng):
    answers = simulated([average().confusion] * 4, rng.choice(4, 100), 3, rng)
    fit = aggregate(answers, FOUR, "ds").fit
    assert fit.calibration is None
    assert any("not calibrated" in note for note in fit.notes)


def test_wrong_gold_is_noticed(rng):
    right = rng.choice(4, 800)
    answers = simulated([average().confusion] * 8, right, 3, rng, gold_every=2)
    # One gold negative in four is labelled as a positive.
    wrong = (answers.caption % 8 == 0) & (right[answers.caption] < 2)
    gold = np.where(wrong & (answers.gold == 0), 1, answers.gold)
    fit = aggregate(replace(answers, gold=gold), FOUR, "ds").fit
    true = len(np.unique(answers.caption[wrong & (gold == 1)])) / len(np.unique(answers.caption[gold == 1]))
    assert true > 0.1
    assert abs(fit.calibration.wrong_yes - true) < 0.08
    assert any("gold positives contradict the annotators" in note for note in fit.notes)
