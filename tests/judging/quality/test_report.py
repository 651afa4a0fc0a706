"""The report as a whole, on a world whose truth is known."""

import json

import numpy as np
import pytest

from karat.errors import InputError
from karat.forms import load_form
from karat.judging import AcceptanceRule, make_pool, make_tasks, simulate_answers
from karat.judging.quality.report import answer_quality
from karat.stats import Intervals
from karat.world import make_world, simulate_systems
from karat.world.annotators import adversarial, average, careful, lazy
from tests.judging.quality.samples import FOUR, YES_NO, table

FEW = Intervals(resamples=50)


@pytest.fixture(scope="module")
def judged():
    """A pool, its form, and the answers of ten annotators, two of whom are useless."""
    world = make_world(images=150, captions=2, seed=1)
    pool = make_pool(simulate_systems(world)[:3], world.benchmark(), top=2)
    form = load_form("pair")
    people = [careful(f"c{k}") for k in range(4)] + [average(f"a{k}") for k in range(4)]
    people += [adversarial("eve"), lazy("joe", looks=0.1, habit="yes")]
    answers = simulate_answers(
        world, make_tasks(pool, form, task_size=16, gold=2), people, form, seed=2
    ).table()
    right = world.pair_shares(pool.image, pool.caption) >= 0.5
    return pool, form, answers, right


def test_it_tells_the_story(judged):
    pool, form, answers, right = judged
    report = answer_quality(answers, form, pool, intervals=FEW)
    assert report.asked == len(pool)
    found, majority = report.verdicts
    assert (found.image.tolist(), found.caption.tolist()) == (pool.image.tolist(), pool.caption.tolist())
    assert (found.relevant == right).mean() > max(0.95, (majority.relevant == right).mean())
    named = dict(zip(report.annotators.name, map(report.annotators.flags_of, range(10))))
    assert "gold" in named["eve"]
    assert "gold" in named["joe"]
    assert not any(named[f"c{k}"] for k in range(4))
    expected = dict(zip(report.annotators.name, report.annotators.expected))
    assert expected["eve"] < 0.3 < 0.8 < expected["c0"]
    # Dawid–Skene weighs annotators itself: none is left out.
    assert len(report.accepted.answers) == len(answers)
    assert report.assignments.submitted[-1] == len(np.unique(answers.assignment))
    assert set(report.review.annotator) >= {"eve", "joe"}


def test_majority_leaves_out_who_fails(judged):
    pool, form, answers, _ = judged
    report = answer_quality(answers, form, pool, acceptance=AcceptanceRule("vote"), intervals=FEW)
    assert len(report.verdicts) == 1
    left = {report.accepted.answers.annotators[k] for k in np.unique(report.accepted.answers.annotator)}
    assert not left & {"eve", "joe"}
    assert any("fail the gold check" in note for note in report.notes)
    every = answer_quality(
        answers, form, pool, acceptance=AcceptanceRule("majority", exclude=False), intervals=FEW
    )
    assert len(every.accepted.answers) == len(answers)
    assert every.agreement.alpha["ordinal"].value < report.agreement.alpha["ordinal"].value


def test_text_and_records(judged):
    pool, form, answers, _ = judged
    report = answer_quality(
        answers, form, pool, acceptance=AcceptanceRule("mean", {"threshold": 0.25}), intervals=FEW
    )
    text = str(report)
    for part in (
        "Submitted assignments",
        "Annotators",
        "Assignments to review",
        "alpha, ordinal",
        "Verdicts",
        "system",
        "Cramér",
    ):
        assert part in text
    records = json.loads(report.to_json())
    assert {"hand_ins", "workers", "agreement", "verdicts", "review", "answers_by_rank"} <= set(records)
    assert [one["aggregation"] for one in records["verdicts"]] == ["mean", "majority"]
    assert records["verdicts"][0]["settings"] == {"threshold": 0.25}
    by_rank = [one for one in records["answers_by_rank"] if one["rank"] != "all"]
    places = np.bincount(pool.place_pair, minlength=len(pool))
    counted = report.accepted.answers.asked
    keys = {pair: k for k, pair in enumerate(zip(pool.image.tolist(), pool.caption.tolist()))}
    expected = sum(places[keys[pair]] for pair in zip(counted.image.tolist(), counted.caption.tolist()))
    assert sum(one["count"] for one in by_rank) == expected
    assert "QualityReport(" in repr(report)


def test_without_cramers_v_the_report_says_why(judged):
    """Every reason that was given is the same: nothing differs between the systems."""
    pool, form, answers, _ = judged
    details = answers.details
    others = details.choice != details.names.index("shortcomings.not_in_image")
    same = answers.where(~np.isin(np.arange(len(answers)), details.row[others]))
    text = str(
        answer_quality(same, form, pool, acceptance=AcceptanceRule("majority", exclude=False), intervals=FEW)
    )
    assert "no Cramér's V: not_in_image is the only answer that was given" in text
    assert "nan" not in text


def test_nothing_to_report():
    with pytest.raises(InputError, match="no answers"):
        answer_quality(table([], annotators=1), FOUR)
    with pytest.raises(InputError, match="all are about gold pairs"):
        answer_quality(table([(0, 0, 0, 4, 1)]), FOUR)
    with pytest.raises(InputError, match="no answer counts"):
        answer_quality(
            table([(0, 0, 0, 1, 1, 3), (0, 1, 0, 4, -1, 3)]), FOUR, acceptance=AcceptanceRule("mean")
        )


def test_without_pool_tasks_or_company():
    """One annotator, one answer: nothing to compare, and still a report."""
    report = answer_quality(table([(0, 0, 0, 4)]), FOUR, intervals=FEW)
    assert "1 answer by 1 annotator, 1 pair to judge" in str(report)
    assert report.by_rank is None
    assert np.isnan(report.agreement.kappa.value)
    assert json.loads(report.to_json())["agreement"][0]["value"] is None


def test_two_ratings_have_one_scale():
    rows = [(pair, 0, who, 1 + pair % 2) for pair in range(30) for who in range(2)]
    assert list(answer_quality(table(rows), YES_NO, intervals=FEW).agreement.alpha) == ["nominal"]


def test_it_says_that_em_needs_more_steps(judged):
    pool, form, answers, _ = judged
    report = answer_quality(answers, form, pool, acceptance=AcceptanceRule("ds", {"steps": 1}), intervals=FEW)
    assert any("did not converge after" in note for note in report.notes)
