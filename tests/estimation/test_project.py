"""From drawn pairs to answers to an estimate, and on to the next pairs."""

import shutil

import numpy as np
import pytest

import karat
from estimation.projects import PEOPLE, answer, make_place, new_project, true_scores
from karat.errors import InputError, KaratError
from karat.estimation import (
    Draw,
    VettedLabels,
    clusters_of,
    estimate_goal,
    estimate_project,
    interval_estimates,
    make_candidates,
    next_pairs,
    truth_labels,
)
from karat.estimation.project_labels import read_project
from karat.estimation.score_intervals import ask_labels
from karat.estimation.statistics import IN_OWN_TASKS, NOWHERE
from karat.forms import NOT_GOLD, key_of
from karat.judging import count_answers, drawn_labels, make_pool, make_tasks
from karat.judging.pools import GoldChoice, Rates
from karat.measures import parse_measure
from karat.store import Goal, open_project
from karat.world import Annotator

FLAWLESS = [Annotator(f"eve {k}", np.eye(4)) for k in range(8)]
"""People who never err."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    return folder, *make_place(folder)


@pytest.fixture
def project(place, tmp_path):
    folder, _, _ = place
    shutil.copytree(folder / "world", tmp_path / "world")
    with new_project(tmp_path) as made:
        yield made


def test_next_answer_estimate_and_again(project, place):
    _, world, runs = place
    two = runs[:2]
    empty = estimate_project(project, two, "P@10", direction="t2i")
    assert empty.scores[0].method == "bounds"
    assert empty.drawn == 0
    assert "no pairs were drawn" in empty.notes[0]
    asked, widths = 0, []
    for number in range(3):
        drawn = next_pairs(project, two, "P@10", budget=100, direction="t2i")
        assert len(drawn) == 100
        assert drawn.stored
        assert drawn.batch.number == number + 1
        assert drawn.before == 100 * number
        if number == 0:
            waiting = estimate_project(project, two)
            assert waiting.scores[0].method == "bounds"
            assert waiting.notes[0] == "too few drawn pairs have an answer for an interval of P@10"
        asked = answer(project, world, asked, seed=number)
        found = estimate_project(project, two)
        assert (found.drawn, found.answered, found.batches) == (100 * (number + 1),) * 2 + (number + 1,)
        widths.append(found.scores[0].half_width)
        assert [one.verdict for one in found.differences] in (["yes"], ["no"], ["not yet"])
    assert widths == sorted(widths, reverse=True)
    keys = np.concatenate([batch.keys for batch in project.draws.read()])
    assert len(np.unique(keys)) == len(keys) == 300
    # Later batches look at the answers: chances differ.
    assert np.ptp(project.draws.read()[2].probability) > 0.01
    assert "seer beats learner" in str(found)
    assert "300 of 300 drawn pairs answered" in str(found)


def test_intervals_hold_the_true_scores(place, tmp_path):
    # `make test-statistical` counts how often; here a wrong probability, or a lost label, would show.
    folder, world, runs = place
    shutil.copytree(folder / "world", tmp_path / "world")
    truth, covered = true_scores(world, runs[:2], "P@10", "t2i"), 0
    for seed in range(1, 7):
        with new_project(tmp_path, f"{seed}.db") as project:
            asked = 0
            for _ in range(2):
                next_pairs(project, runs[:2], "P@10", budget=100, direction="t2i", seed=seed)
                asked = answer(project, world, asked, people=FLAWLESS, seed=seed)
            found = estimate_project(project, runs[:2])
        covered += sum(one.low <= true <= one.high for one, true in zip(found.scores, truth, strict=True))
        for one, true in zip(found.scores, truth, strict=True):
            assert abs(one.value - true) < 2 * one.half_width
    assert covered >= 10


def test_a_dry_run_stores_nothing(project, place):
    runs = place[2][:2]
    drawn = next_pairs(project, runs, budget=50, dry_run=True, rates=Rates(per_hour=36))
    assert any("the direction is t2i" in note for note in drawn.notes)
    assert not drawn.stored
    assert not len(project.draws.read())
    assert project.pools.plan().tasks == 0
    assert "Would draw 50 pairs out of" in str(drawn)
    assert drawn.cost.money > 0
    # The same seed draws the same pairs for real.
    real = next_pairs(project, runs, budget=50, direction="t2i")
    assert real.batch.keys.tolist() == drawn.batch.keys.tolist()
    assert len(real.records()) == 50
    assert real.records()[0]["batch"] == 1


def test_an_unfinished_batch_counts_in_part(project, place):
    _, world, runs = place
    next_pairs(project, runs[:2], budget=200, direction="t2i")
    answer(project, world, part=0.5)
    found = estimate_project(project, runs[:2])
    assert 80 < found.answered < 150
    assert found.drawn == 200
    assert any("not answered yet" in note for note in found.notes)
    assert found.scores[0].low < found.scores[0].value < found.scores[0].high


def test_gold_alone_is_no_sample(project, place):
    """Gold pairs are known at the draw, and nearly all of the drawn ones are relevant."""
    _, world, runs = place
    project.pools.set(make_pool(runs[:2], project.benchmark(), top=2, gold=GoldChoice(depth=5)))
    drawn = next_pairs(project, runs[:2], budget=200, direction="t2i", overlap=1)
    assert drawn.cost.pairs < 200
    found = estimate_project(project, runs[:2])
    assert 0 < found.answered < 20
    assert {score.method for score in found.scores} == {"bounds"}
    assert any("too few drawn pairs have an answer" in note for note in found.notes)
    answer(project, world, part=0.2)
    true = true_scores(world, runs[:2], "P@10", "t2i")
    for score, value in zip(estimate_project(project, runs[:2], certain=True).scores, true):
        assert score.low < value < score.high


def test_later_batches_do_not_lose_what_an_unfinished_one_says(project, place):
    _, world, runs = place
    next_pairs(project, runs[:2], budget=200, direction="t2i")
    asked = project.pools.plan().tasks
    answer(project, world, part=0.5)
    early = estimate_project(project, runs[:2])
    next_pairs(project, runs[:2], budget=200)
    answer(project, world, asked, seed=1)
    late = estimate_project(project, runs[:2])
    for one, other in zip(late.scores, early.scores, strict=True):
        assert one.half_width < 0.8 * other.half_width


def test_the_store_adds_nothing_to_what_was_drawn(project, place):
    # Coverage was once thought to be lower through the store: the numbers are those of the draws alone.
    _, world, runs = place
    asked = 0
    for number in range(2):
        next_pairs(project, runs[:2], "P@10", budget=100, direction="t2i", seed=3)
        asked = answer(project, world, asked, people=FLAWLESS, seed=number)
    found = estimate_project(project, runs[:2], seed=3)
    bench, p10 = world.benchmark(), parse_measure("P@10")
    candidates = make_candidates(runs[:2], bench, "original", direction="t2i", depth=10, exact=False)
    truth = truth_labels(candidates, bench.truth("complete"))
    samples = []
    for batch in project.draws.read():
        rows = candidates.find(batch.caption, batch.image)
        samples.append(Draw(rows, batch.probability))
    rows = np.concatenate([sample.rows for sample in samples])
    labels = VettedLabels(candidates, rows, truth[rows] > 0)
    plain = interval_estimates(labels, samples, p10, cluster=clusters_of(bench, candidates), seed=3)
    for one, other in zip((*found.scores, *found.differences), (*plain.scores, *plain.differences)):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_pairs_of_earlier_tasks_are_answered_at_their_own_rate(project, place):
    _, world, runs = place
    two = runs[:2]
    pool = make_pool(two, project.benchmark(), top=2, direction=["t2i"], form=project.form)
    project.pools.set(pool)
    project.pools.add_tasks(make_tasks(pool, project.form, overlap=1, benchmark=project.benchmark))
    earlier = answer(project, world, people=FLAWLESS)
    drawn = next_pairs(project, two, "P@10", budget=300, direction="t2i", overlap=1)
    before = read_project(project, two)
    gold = project.draws.read()[0].gold
    assert (before.draws[0].asked[gold != NOT_GOLD] == NOWHERE).all()
    kinds = np.bincount(before.draws[0].asked + 1, minlength=3)
    assert kinds.min() > 0
    # What is known of some kinds of pairs says nothing about those that nobody has answered.
    assert estimate_project(project, two).scores[0].method == "bounds"
    answer(project, world, earlier, part=0.5, people=FLAWLESS)
    known = read_project(project, two)
    sample = known.draws[0]
    question = ask_labels(known.labels, known.draws, known.plain)
    (told,) = question.answered.values()
    own = np.isin(told.rows, question.unit[sample.rows[sample.asked == IN_OWN_TASKS]])
    chance = dict(zip(question.unit[sample.rows].tolist(), sample.probability.tolist(), strict=True))
    rate = told.probability / [chance[unit] for unit in told.rows.tolist()]
    assert rate[~own] == pytest.approx(1)
    assert rate[own] == pytest.approx(own.sum() / kinds[IN_OWN_TASKS + 1])
    assert 0.4 < rate[own][0] < 0.6
    assert len(drawn) == kinds.sum()


def test_a_measure_of_all_labels_after_batches_of_single_pairs_has_bounds(project, place):
    # Some queries have no pair that the measure looks at, the last among them.
    _, world, runs = place
    asked = 0
    for number, measure in enumerate(("P@10", "P@5", "R@20", "P@10")):
        next_pairs(project, runs[:2], measure, budget=60, direction="t2i", seed=number)
        asked = answer(project, world, asked, people=FLAWLESS, seed=number)
    for measure in ("RP", "AP"):
        found = estimate_project(project, runs[:2], measure)
        assert {one.method for one in found.scores} == {"bounds"}
    assert estimate_project(project, runs[:2], "P@10").scores[0].method == "difference"


def test_whole_queries_for_measures_of_all_labels(project, place):
    _, world, runs = place
    one = runs[:1]
    with pytest.raises(InputError, match="draws single pairs, and RP depends on all labels of a query"):
        next_pairs(project, one, "RP", budget=500, design="uniform", direction="i2t", depth=10)
    drawn = next_pairs(project, one, "RP", budget=600, direction="i2t", depth=10, gold=0)
    assert drawn.design.name == "whole-queries"
    assert (drawn.batch.query >= 0).all()
    assert "whole queries" in str(drawn)
    # The pairs of a query are asked about together.
    assert (np.diff(drawn.batch.query) != 0).sum() == len(np.unique(drawn.batch.query)) - 1
    waiting = estimate_project(project, one)
    assert (waiting.scores[0].low, waiting.scores[0].high) == (0, 1)
    answer(project, world, people=FLAWLESS)
    found = estimate_project(project, one)
    assert str(found.measure) == "RP"
    assert found.scores[0].half_width < 0.3
    # The same answers serve P@5, which looks at fewer pairs.
    other = estimate_project(project, one, "P@5")
    true = true_scores(world, one, "P@5", "i2t")[0]
    assert other.scores[0].low <= true <= other.scores[0].high


def test_one_answer_per_pair(project, place):
    _, world, runs = place
    one = runs[:1]
    next_pairs(project, one, budget=300, direction="t2i", overlap=1)
    answer(project, world)
    counts = count_answers(project, project.draws.read())
    asked = counts.answers > 0
    assert counts.answers.max() == 1
    assert counts.gold_yes[1] >= 10
    labels = drawn_labels(project)
    assert (counts.yes[asked] == labels.relevant[asked]).all()
    # Nothing agrees with a single answer: gold says how far it can be trusted, and the interval is wider.
    sure, found = (estimate_project(project, one, certain=certain) for certain in (True, False))
    assert found.scores[0].half_width > sure.scores[0].half_width
    true = true_scores(world, one, "P@10", "t2i")[0]
    assert found.scores[0].low <= true <= found.scores[0].high


def test_one_answer_per_pair_without_gold(project, place):
    _, world, runs = place
    next_pairs(project, runs[:1], budget=80, direction="t2i", overlap=1, gold=0)
    answer(project, world)
    found = estimate_project(project, runs[:1])
    assert any("answers are taken as right" in note for note in found.notes)


def test_a_run_that_comes_later(project, place):
    _, world, runs = place
    next_pairs(project, runs[:2], budget=150, direction="t2i")
    asked = answer(project, world)
    # Pairs that only the new run ranks first could not be drawn: their labels may be anything.
    early = estimate_project(project, runs)
    assert early.scores[2].half_width > early.scores[0].half_width
    next_pairs(project, runs, budget=150)
    answer(project, world, asked, seed=1)
    late = estimate_project(project, runs)
    truth = true_scores(world, runs, "P@10", "t2i")
    for one, true in zip(late.scores, truth, strict=True):
        assert abs(one.value - true) < 2 * one.half_width
    assert late.scores[2].half_width < early.scores[2].half_width / 2
    # One run of the three: what was drawn for others alone does not count.
    alone = estimate_project(project, runs[2:])
    assert alone.drawn < 300
    assert any("not among the first items of these runs" in note for note in alone.notes)


def test_a_run_that_changed(project, place):
    _, world, runs = place
    next_pairs(project, runs[:1], budget=150, direction="t2i")
    answer(project, world)
    noise = np.random.default_rng(0).normal(0, runs[0].scores.std(), runs[0].scores.shape)
    other = karat.load_run(runs[0].scores + noise, name=runs[0].name)
    found = estimate_project(project, [other])
    assert any("stand for themselves alone: the batch was drawn from" in note for note in found.notes)
    assert found.scores[0].method == "bounds"
    # Both directions: pairs drawn for the one keep their labels in the other.
    back = estimate_project(project, runs[:1], direction="i2t")
    assert any("was for the other direction" in note for note in back.notes)


def test_goals_and_rules(project, place):
    folder, world, runs = place
    with pytest.raises(InputError, match="the project has no goal"):
        estimate_goal(project)
    files = tuple(str(folder / f"{run.name}.npy") for run in runs[:2])
    project.goals.set(Goal(files, "P@10", "t2i", "width", 0.15))
    next_pairs(project, runs[:2], "P@10", budget=40, direction="t2i")
    asked = answer(project, world)
    few = estimate_goal(project)
    assert few.anytime
    assert not few.stop
    assert np.isnan(few.scores[0].low)
    assert any("needs 50 labels, and there are 40" in note for note in few.notes)
    next_pairs(project, runs[:2], budget=160)
    answer(project, world, asked, seed=1)
    found, loaded = estimate_goal(project), estimate_goal(project, run=runs[:2])
    assert found.records() == loaded.records()
    fixed = estimate_project(project, runs[:2], "P@10", direction="t2i")
    assert found.scores[0].half_width > fixed.scores[0].half_width
    assert found.stop
    assert found.decision.sentence.startswith("Stop: the score is known to ±")
    narrow = estimate_goal(project, Goal(files, "P@10", "t2i", "width", 0.01))
    assert not narrow.stop
    assert 0 < narrow.more < 1000
    assert "more labels will be needed" in str(narrow)
    spent = estimate_goal(project, Goal(files, "P@10", "t2i", "budget", 200))
    assert spent.stop
    assert "the budget of 200 labels is spent" in spent.decision.sentence
    winner = estimate_goal(project, Goal(files, "P@10", "t2i", "winner"))
    assert winner.stop == (winner.differences[0].verdict != "not yet")


MISTAKES = {
    "no run was given": {"runs": []},
    "the budget is 0 pairs; give 1 or more": {"budget": 0},
    "pairs are drawn for one direction; choose t2i or i2t": {"direction": ["i2t", "t2i"]},
    "unknown direction 'up'": {"direction": "up"},
    "pairs are drawn for one measure; choose P@10": {"measure": "P@10,RP"},
    "MedR is not a mean of shares over queries": {"measure": "MedR"},
    "unknown design 'magic'": {"design": "magic"},
    "unknown estimator 'magic'": {"estimator": "magic"},
    "a difference needs two runs": {"design": "difference"},
    "world has no truth 'absent'": {"noisy": "absent"},
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_mistakes(project, place, sentence):
    given = {"runs": place[2][:1], "measure": "P@10", "budget": 10, "direction": "t2i"} | MISTAKES[sentence]
    with pytest.raises(InputError) as raised:
        next_pairs(project, given.pop("runs"), **given)
    assert sentence in str(raised.value)
    assert not project.draws.read()


def test_further_mistakes(project, place, tmp_path):
    run = place[2][:1]
    for rule, sentence in {
        "winner": "the rule winner compares two runs",
        "soon": "rule is 'soon'",
    }.items():
        with pytest.raises(InputError, match=sentence):
            estimate_project(project, run, direction="t2i", rule=rule)
    with pytest.raises(InputError, match="has no intervals that hold at any time"):
        estimate_project(project, run, direction="t2i", interval_method="bounds", anytime=True)
    shutil.rmtree(tmp_path / "world")
    with open_project(tmp_path / "p.db") as again, pytest.raises(KaratError, match="no such folder"):
        next_pairs(again, run, budget=10, direction="t2i")


def test_everything_drawn(project, place):
    _, world, runs = place
    drawn = next_pairs(project, runs[:1], "P@1", budget=10_000, direction="t2i", gold=0)
    assert len(drawn) == 120
    assert "these are all 120 pairs that were left" in drawn.notes
    with pytest.raises(InputError, match="all 120 pairs that P@1 looks at are drawn already"):
        next_pairs(project, runs[:1], budget=10)
    answer(project, world, people=FLAWLESS)
    found = estimate_project(project, runs[:1], certain=True)
    true = true_scores(world, runs[:1], "P@1", "t2i")[0]
    assert found.scores[0].value == pytest.approx(true)
    assert found.scores[0].half_width == pytest.approx(0)


def test_answers_that_are_there_need_no_question(project, place):
    _, world, runs = place
    next_pairs(project, runs[:1], budget=60, direction="t2i")
    answer(project, world)
    first = project.draws.read()[0]
    assert len(np.unique(key_of(first.image, first.caption))) == 60
    # Bounds use every answer, drawn or not.
    bounds = estimate_project(project, runs[:1], interval_method="bounds")
    assert bounds.scores[0].n == 60
    assert len(PEOPLE) == 12
