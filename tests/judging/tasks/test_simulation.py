"""Simulated annotators: who answers what, how well, and on any form."""

from collections import Counter

import numpy as np
import pytest

from karat.errors import InputError
from karat.forms import FORMS, GOLD_NO, GOLD_YES, load_form
from karat.judging import make_pool, make_tasks
from karat.judging.pools import GoldChoice
from karat.judging.tasks.simulation import on_scale, simulate_answers
from karat.world import Annotator, adversarial, average, careful, lazy, make_world, simulate_systems
from karat.world.annotators import right_answers


@pytest.fixture(scope="module")
def world():
    return make_world(images=80, captions=3, seed=4)


@pytest.fixture(scope="module")
def runs(world):
    return simulate_systems(world)[:4]


def planned(world, runs, name):
    form = load_form(name)
    pool = make_pool(runs, world.benchmark(), top=2, form=form, gold=GoldChoice(depth=5))
    return form, make_tasks(pool, form, overlap=2)


@pytest.mark.parametrize("name", FORMS)
def test_all_annotators_answer_on_the_scale_of_the_form(world, runs, name):
    form, plan = planned(world, runs, name)
    annotators = [average(f"p{k}") for k in range(12)]
    found = simulate_answers(world, plan, annotators, form, seed=1)
    assert len(found) == 2 * len(plan)
    assert [form.choice(code).rating for code in found.code] == found.rating.tolist()
    # Two different annotators for each task, and none sees a pair twice.
    assert set(Counter(zip(found.task, found.image, found.caption)).values()) == {2}
    assert max(Counter(zip(found.annotator, found.image, found.caption)).values()) == 1
    questions = {one.code: one for one in form.follow_ups}
    for code, given in zip(found.code, found.details):
        for question in form.follow_ups:
            if question.required and (not question.when or code in question.when):
                assert given[question.code]
        for question, choices in given.items():
            asked = questions[question]
            assert not asked.when or code in asked.when
            assert set(choices) <= {one.code for one in asked.choices}
            before, _, choice = asked.after.partition(".")
            assert not asked.after or choice in given[before]
    table = found.table()
    assert len(table) == len(found)
    assert len(np.unique(table.assignment)) == 2 * plan.tasks
    assert len(table.details) == sum(len(choices) for given in found.details for choices in given.values())


def test_careful_annotators_know_what_is_right(world, runs):
    form, plan = planned(world, runs, "pair")
    perfect = [Annotator(f"p{k}", np.eye(4)) for k in range(6)]
    found = simulate_answers(world, plan, perfect, form)
    assert np.array_equal(found.rating, right_answers(world.pair_shares(found.image, found.caption)))
    # Gold positives are true, so that the answer is yes; adversaries say no.
    assert (found.rating[found.gold == GOLD_YES] == 4).all()
    assert (found.rating[found.gold == GOLD_NO] < 4).all()
    wrong = simulate_answers(world, plan, [adversarial(f"p{k}") for k in range(6)], form)
    assert wrong.rating[wrong.gold == GOLD_YES].mean() < 1.5


def test_time_passes_and_the_lazy_are_quick(world, runs):
    form, plan = planned(world, runs, "pair")
    annotators = [*(careful(f"c{k}") for k in range(5)), *(lazy(f"l{k}", looks=0.1) for k in range(5))]
    found = simulate_answers(world, plan, annotators, form)
    quick = found.annotator >= 5
    assert found.seconds[quick].mean() < 0.8 * found.seconds[~quick].mean()
    assert 0.7 < found.seconds[~quick].mean() / form.seconds < 1.2
    for annotator in range(10):
        at = found.at[found.annotator == annotator]
        assert (np.diff(at) >= 0).all()
        assert at[-1] - at[0] == pytest.approx(
            found.seconds[found.annotator == annotator][1:].sum(), abs=1 + len(at) / 10
        )


def test_the_same_seed_gives_the_same_answers(world, runs):
    form, plan = planned(world, runs, "pair")
    annotators = [average(f"p{k}") for k in range(8)]
    one, two, other = (simulate_answers(world, plan, annotators, form, seed) for seed in (1, 1, 2))
    for name in ("task", "annotator", "rating", "seconds", "at"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    assert one.details == two.details
    assert not np.array_equal(one.rating, other.rating)


def test_too_few_annotators_and_equal_names(world, runs):
    form, plan = planned(world, runs, "pair")
    with pytest.raises(InputError, match="needs 2 annotators, but only 1 have"):
        simulate_answers(world, plan, [careful("only")], form)
    with pytest.raises(InputError, match="same name"):
        simulate_answers(world, plan, [careful("a"), careful("a")], form)


def test_four_answers_on_any_scale():
    rng = np.random.default_rng(0)
    said = np.repeat([1, 2, 3, 4], 500)
    for name, levels in (
        ("pair", [{1}, {2}, {3}, {4}]),
        ("grid", [{0}, {0}, {1}, {1}]),
        ("misread", [{1, 2, 3}, {4, 5}, {6, 7, 8, 9}, {10}]),
    ):
        found = on_scale(load_form(name), said, rng)
        assert [set(found[said == level].tolist()) for level in (1, 2, 3, 4)] == levels


@pytest.mark.parametrize("name", FORMS)
def test_the_store_takes_them_and_returns_the_same(world, runs, name, tmp_path):
    from karat.store import create_project

    form, plan = planned(world, runs, name)
    found = simulate_answers(world, plan, [average(f"p{k}") for k in range(12)], form, seed=3)
    with create_project(tmp_path / "project.db", world.benchmark(), form, source="world") as project:
        project.pools.add_tasks(plan)
        assert project.answers.record(found.rows()) == len(found)
        stored, expected = project.answers.read(), found.table()

    def rows(table):
        named = [table.annotators[one] for one in table.annotator.tolist()]
        columns = (table.image, table.caption, table.rating, table.gold, table.seconds, table.at)
        return sorted(zip(named, *(column.tolist() for column in columns)))

    assert rows(stored) == rows(expected)
    assert len(stored.details) == len(expected.details)
