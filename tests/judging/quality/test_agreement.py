"""Agreement of annotators: alpha and kappa as `karat.stats` computes them."""

import numpy as np
import pytest
from hypothesis import given, settings

from karat.forms.answer_table import MACHINE, PERSON
from karat.judging.quality.agreement import annotator_agreement
from karat.stats import Intervals, krippendorff_alpha
from karat.stats.kappa import cohen_kappa
from tests.judging.quality.samples import FOUR, answer_tables, table

FEW = Intervals(resamples=20)


def wide(answers):
    """Pairs by annotators, NaN without an answer."""
    pairs = sorted({*zip(answers.image.tolist(), answers.caption.tolist())})
    out = np.full((len(pairs), len(answers.annotators)), np.nan)
    for image, caption, who, rating in zip(answers.image, answers.caption, answers.annotator, answers.rating):
        out[pairs.index((image, caption)), who] = rating
    return out, [image for image, _ in pairs]


@settings(deadline=None, max_examples=40)
@given(answer_tables())
def test_alpha_and_kappa_are_those_of_the_library(answers):
    found = annotator_agreement(answers, FOUR, FEW, common=2)
    ratings, images = wide(answers)
    for scale, one in found.alpha.items():
        expected = krippendorff_alpha(ratings, scale, clusters=images, resamples=20)
        for end in ("value", "low", "high"):
            assert np.isclose(getattr(one, end), getattr(expected, end), equal_nan=True)
    kappas = []
    for a in range(ratings.shape[1]):
        for b in range(a):
            if (~np.isnan(ratings[:, [a, b]]).any(axis=1)).sum() >= 2:
                kappas.append(cohen_kappa(ratings[:, a], ratings[:, b], resamples=1).value)
    assert found.couples == len(kappas)
    known = [one for one in kappas if not np.isnan(one)]
    assert np.isclose(found.kappa.value, np.mean(known)) if known else np.isnan(found.kappa.value)


def test_annotators_who_always_agree_have_an_interval():
    answers = table([(pair, 0, who, 1 + 2 * (pair % 2)) for pair in range(6) for who in range(3)])
    ratings, images = wide(answers)
    for scale, one in annotator_agreement(answers, FOUR, FEW).alpha.items():
        expected = krippendorff_alpha(ratings, scale, clusters=images, resamples=20)
        assert (one.value, one.low, one.high) == pytest.approx((1, expected.low, 1))
        assert one.low < 1


def test_machine_judges_and_gold_pairs_do_not_count():
    rows = [(pair, 0, who, 1 + (pair + (who == 2)) % 4) for pair in range(40) for who in range(3)]
    people = table(rows, kinds=(PERSON, PERSON, MACHINE))
    assert annotator_agreement(people, FOUR, FEW).alpha["nominal"].value == pytest.approx(1)
    everyone = table(rows)
    assert annotator_agreement(everyone, FOUR, FEW).alpha["nominal"].value < 0.5
    assert annotator_agreement(everyone, FOUR, FEW).couples == 3
    gold = table([(*row, 1) for row in rows])
    assert annotator_agreement(gold, FOUR, FEW).pairs == 0


def test_the_sentence_counts_pairs_of_annotators():
    rows = [(pair, 0, who, 1 + pair % 4) for pair in range(40) for who in range(2)]
    assert annotator_agreement(table(rows), FOUR, FEW).lines()[-1].endswith("mean of 1 pair of annotators")
    alone = annotator_agreement(table(rows[::2]), FOUR, FEW)
    assert alone.lines()[-1].endswith("no two annotators share enough pairs")
