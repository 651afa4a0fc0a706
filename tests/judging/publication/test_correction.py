"""From answers to a corrected truth."""

from dataclasses import replace

import numpy as np

from karat.forms import key_of
from karat.judging import AcceptanceRule, correct
from tests.judging.publication.published import CAPTION, IMAGE, WORLD, small_evidence


def test_the_truth_is_people_and_originals(made):
    evidence, found = made
    verdicts, truth = found.correction.verdicts, found.correction.truth
    expected = dict(zip(key_of(verdicts.image, verdicts.caption).tolist(), verdicts.grade.tolist()))
    own = evidence.benchmark.truth("original").judgments
    for key in key_of(own.image, own.caption).tolist():
        expected[key] = 1.0
    gone = {k for k in expected if k >> 32 == IMAGE or k & 0xFFFFFFFF == CAPTION}
    pairs = truth.judgments.pairs()
    got = dict(zip(key_of(pairs.image, pairs.caption).tolist(), pairs.grade.tolist()))
    assert got == {key: grade for key, grade in expected.items() if key not in gone}


def test_people_may_reject_originals():
    evidence = small_evidence()
    wrong = np.flatnonzero(
        WORLD.benchmark().caption_image[evidence.answers.caption] == evidence.answers.image
    )
    rating = evidence.answers.rating.copy()
    rating[wrong] = 1
    evidence = replace(
        evidence, answers=replace(evidence.answers, rating=rating), acceptance=AcceptanceRule("majority")
    )
    kept = correct(evidence)
    gone = correct(evidence, original_policy="people")
    own = key_of(WORLD.benchmark().caption_image, np.arange(80))
    asked = np.isin(own, key_of(evidence.pool.image, evidence.pool.caption))
    assert asked.sum() > 40
    for found, expected in ((kept, 1.0), (gone, 0.0)):
        pairs = found.truth.judgments.pairs()
        grade = dict(zip(key_of(pairs.image, pairs.caption).tolist(), pairs.grade.tolist()))
        assert {grade[key] for key in own[asked].tolist()} == {expected}
        assert {grade[key] for key in own[~asked].tolist()} <= {1.0}


def test_a_pool_without_queries_asks_what_its_pairs_hold(tmp_path):
    evidence = small_evidence()
    found = correct(replace(evidence, pool=replace(evidence.pool, queries={})))
    assert found.truth.queries["i2t"].tolist() == np.unique(evidence.pool.image).tolist()
    assert found.truth.queries["t2i"].tolist() == np.unique(evidence.pool.caption).tolist()


def test_verdicts_are_published_with_their_probabilities():
    """Dawid–Skene's posteriors are probabilities; shares of answers are not; originals are certain."""
    evidence = small_evidence(right=0.6)
    found = correct(evidence)
    rows, verdicts = found.truth.judgments, found.verdicts
    own = key_of(rows.image, rows.caption)
    by_people = rows.source == 0
    assert [source.name for source in rows.sources] == ["people", "original"]
    at = np.searchsorted(key_of(verdicts.image, verdicts.caption), own[by_people])
    np.testing.assert_array_equal(rows.probability[by_people], verdicts.relevance[at])
    assert np.isnan(rows.probability[~by_people]).all()
    # Where the verdict is yes its grade stays; elsewhere it is that of the likelier relevant answer.
    posterior, no = verdicts.posterior[at], ~verdicts.relevant[at]
    grade = rows.grade_if_relevant[by_people]
    np.testing.assert_array_equal(grade[~no], verdicts.grade[at][~no])
    np.testing.assert_array_equal(grade[no], np.where(posterior[no][:, 2] >= posterior[no][:, 3], 0.5, 1.0))
    # An original positive stays relevant in every version; other pairs do not.
    drawn = rows.uncertain.draw(rows.uncertain.luck(50, np.random.default_rng(1)))
    pairs = rows.pairs()
    original = np.isin(key_of(pairs.image, pairs.caption), own[~by_people])
    assert (drawn[:, original] > 0).all()
    assert ((drawn > 0) != (pairs.grade > 0)).any()
    rejected = correct(evidence, original_policy="people").truth.judgments
    assert rejected.uncertain.n_pairs > rows.uncertain.n_pairs
    for aggregation in ("majority", "mean"):
        other = replace(evidence, acceptance=AcceptanceRule(aggregation))
        assert not correct(other).truth.has_probabilities
