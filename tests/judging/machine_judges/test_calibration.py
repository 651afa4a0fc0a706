"""A machine judge against people: agreement, the gate, the flag of competitors."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.forms import load_form, make_answers
from karat.judging.machine_judges import Calibration, Reply, calibrate
from karat.judging.machine_judges.calibration import competitor
from karat.stats import cohen_kappa

FORM = load_form("pair")
CODES = ["no", "mostly_no", "partially", "yes"]


def table(rows, kinds=None, gold=None):
    """An answer table from (image, caption, annotator, rating)."""
    image, caption, annotator, rating = np.array(rows).T
    names = tuple(f"w{n}" for n in range(int(annotator.max()) + 1))
    return make_answers(image, caption, annotator, rating, names, kinds=kinds, gold=gold)


def replies(ratings):
    """Replies about (n, n) for each rating; None for no answer."""
    return [Reply(n, n, None if r is None else CODES[r - 1], cost=0.5) for n, r in enumerate(ratings)]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_equals_the_plain_computation(seed):
    rng = np.random.default_rng(seed)
    rows, medians, own, others = [], [], [], []
    for pair in range(12):
        answers = rng.integers(1, 5, rng.integers(1, 5)).tolist()
        rows += [(pair, pair, annotator, rating) for annotator, rating in enumerate(answers)]
        medians.append(sorted(answers)[(len(answers) - 1) // 2])
        for at, one in enumerate(answers):
            rest = sorted(answers[:at] + answers[at + 1 :])
            if rest:
                own.append(one >= 3)
                others.append(rest[(len(rest) - 1) // 2] >= 3)
    machine = rng.integers(1, 5, 12).tolist()
    found = calibrate(replies(machine), table(rng.permutation(rows)), FORM, judge="m", resamples=10)
    yes, really = np.array(machine) >= 3, np.array(medians) >= 3
    plain = cohen_kappa(yes * 1.0, really * 1.0, categories=[0, 1], resamples=10)
    assert found.kappa.value == pytest.approx(plain.value, nan_ok=True)
    assert found.agreement == pytest.approx((yes == really).mean())
    assert found.too_lenient == pytest.approx((yes & ~really).mean())
    graded = cohen_kappa(machine, medians, weights="quadratic", categories=[1, 2, 3, 4], resamples=10)
    assert found.graded.value == pytest.approx(graded.value, nan_ok=True)
    if own:
        plain = cohen_kappa(np.array(own) * 1.0, np.array(others) * 1.0, categories=[0, 1], resamples=10)
        assert found.people is not None
        assert found.people.value == pytest.approx(plain.value, nan_ok=True)
    else:
        assert found.people is None


def test_machines_gold_and_other_pairs_do_not_count():
    rows = [(0, 0, 0, 4), (1, 1, 0, 1), (2, 2, 0, 4), (0, 0, 1, 1), (9, 9, 0, 4)]
    answers = table(rows, kinds=("person", "machine"), gold=np.array([-1, -1, 1, -1, -1]))
    found = calibrate(replies([4, 1, 1]), answers, FORM, judge="m", resamples=10)
    assert (found.asked, found.agreement) == (2, 1.0)


def test_unanswered_pairs_are_reported():
    answers = table([(n, n, 0, 1 + 3 * (n % 2)) for n in range(10)])
    found = calibrate(replies([1, 4, 1, 4, None, None, 1, 4, 1, 4]), answers, FORM, judge="m", resamples=50)
    assert (found.asked, found.answered, found.kappa.value) == (10, 8, 1.0)
    assert found.cost == 5.0


def test_the_gate():
    answers = table([(n, n, 0, 1 + 3 * (n % 2)) for n in range(60)])
    good = calibrate(replies([1 + 3 * (n % 2) for n in range(60)]), answers, FORM, judge="m", resamples=100)
    assert good.objections() == []
    assert "on 60 pairs, not 100" in good.objections(min_pairs=100)[0]
    bad = calibrate(replies([4] * 60), answers, FORM, judge="m", resamples=100)
    assert "lower end" in bad.objections()[0]
    constant = calibrate(
        replies([4] * 3), table([(n, n, 0, 4) for n in range(3)]), FORM, judge="m", resamples=10
    )
    assert np.isnan(constant.kappa.value)
    assert "undefined" in " ".join(constant.objections())
    with pytest.raises(InputError, match="none of the machine judge's pairs"):
        calibrate(replies([4]), table([(5, 5, 0, 4)]), FORM, judge="m")


def test_survives_json():
    answers = table([(n, n, w, 1 + 3 * (n % 2)) for n in range(6) for w in range(2)])
    made = calibrate(replies([1, 4, 1, 4, 4, 4]), answers, FORM, judge="m", systems=["M"], resamples=20)
    assert Calibration.from_data(json.loads(json.dumps(made.as_data()))) == made


def test_competitors_are_flagged():
    assert competitor("clip", "ViT", ["CLIP"]) == "CLIP"
    assert competitor("judge", "org/blip-2", ["blip2", "clip"]) == "blip2"
    assert competitor("judge", "gpt-4o", ["a", "clip"]) == ""
    answers = table([(n, n, 0, 1 + 3 * (n % 2)) for n in range(6)])
    made = calibrate(replies([1, 4] * 3), answers, FORM, judge="seer", systems=["seer"], resamples=20)
    assert "competitor 'seer'" in made.sentence()


def test_the_names_in_data_stay():
    answers = table([(n, n, 0, 1 + 3 * (n % 2)) for n in range(6)])
    made = calibrate(replies([4] * 6), answers, FORM, judge="m", resamples=10)
    assert "too_lenient" not in made.as_data()
    assert made.as_data()["too_kind"] == made.too_lenient == 0.5
