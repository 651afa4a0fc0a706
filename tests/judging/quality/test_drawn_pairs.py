"""Drawn pairs: which of them need a question, and what the answers say about them."""

import numpy as np
import pytest

import karat
from karat.forms import NOT_GOLD, AnswerRows, DrawBatch, key_of, load_form
from karat.judging import (
    AcceptanceRule,
    drawn_labels,
    make_pool,
    make_tasks,
    plan_draws,
    project_verdicts,
    simulate_answers,
)
from karat.store import create_project
from karat.world import average, careful, make_world, simulate_systems

FORM = load_form("pair")
PEOPLE = [average(f"ann {k}") for k in range(8)] + [careful(f"bob {k}") for k in range(4)]


def uniform(rows, pool, seed=0):
    """A batch of some pairs of a pool, as a uniform design would draw them."""
    n = len(rows)
    return DrawBatch(
        "uniform", "P@5", "t2i", ("a",), seed, len(pool), pool.image[rows], pool.caption[rows],
        np.full(n, n / len(pool)),
    )  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn") / "world"
    made = make_world(images=40, captions=2, seed=6)
    made.save(folder, pictures=False)
    return made, folder, make_pool(simulate_systems(made)[:3], karat.load_benchmark(folder), top=3)


@pytest.fixture
def project(world, tmp_path):
    _, folder, pool = world
    bench = karat.load_benchmark(folder)
    with create_project(tmp_path / "p.db", bench, FORM, source=str(folder)) as made:
        made.pools.set(pool)
        yield made


def keys_of(table):
    return key_of(table.image, table.caption)


def test_labels_are_the_verdicts_of_publish(project, world):
    made, _, pool = world
    rng = np.random.default_rng(2)
    rows = rng.permutation(len(pool))
    first, second = uniform(rows[:60], pool), uniform(rows[60:100], pool, 1)
    for batch in (first, second):
        project.draws.add(batch, plan_draws(project, batch, seed=batch.seed))
    stored = project.draws.read()
    gold = np.concatenate([batch.gold for batch in stored])
    labels = drawn_labels(project)
    # Without answers, only what is known beforehand has a label.
    assert 0 < (gold != NOT_GOLD).sum() < len(gold)
    assert np.isnan(labels.relevant).tolist() == (gold == NOT_GOLD).tolist()
    assert (labels.relevant[gold != NOT_GOLD] == gold[gold != NOT_GOLD]).all()
    assert (labels.answers == 0).all()

    project.answers.record(simulate_answers(made, project.pools.plan(), PEOPLE, FORM).rows())
    labels = drawn_labels(project, stored)
    _, verdicts = project_verdicts(project)
    by_key = dict(zip(keys_of(verdicts).tolist(), zip(verdicts.relevant, verdicts.relevance, strict=True)))
    drawn = np.concatenate([batch.keys for batch in stored])
    for key, relevant, probability, answers, known in zip(
        drawn.tolist(), labels.relevant, labels.probability, labels.answers, gold, strict=True
    ):
        expected = by_key.get(key, (known, known))
        assert (relevant, probability) == expected
        assert answers == (3 if known == NOT_GOLD else 0)
    assert repr(labels) == "DrawnLabels(100 of 100 drawn pairs labelled)"

    only_first = drawn_labels(project, stored[:1])
    assert only_first.relevant.tolist() == labels.relevant[:60].tolist()
    majority = drawn_labels(project, acceptance=AcceptanceRule("majority"))
    assert np.isnan(majority.probability).all()
    _, voted = project_verdicts(project, AcceptanceRule("majority"))
    assert majority.relevant[gold == NOT_GOLD].sum() == voted.relevant[np.isin(keys_of(voted), drawn)].sum()


def test_rejected_and_unfinished_assignments_give_no_label(project, world):
    _, _, pool = world
    batch = uniform(np.arange(40), pool)
    project.draws.add(batch, plan_draws(project, batch, overlap=1))
    asked = project.draws.read()[0].gold == NOT_GOLD
    lease = project.queue.lease("ann")
    for item in lease.items:
        project.answers.give(lease.token, item.id, "yes")
    assert np.isnan(drawn_labels(project).relevant[asked]).all()
    project.queue.submit(lease.token)
    labels = drawn_labels(project)
    shown = {(item.image, item.caption) for item in lease.items}
    mine = np.array(
        [pair in shown for pair in zip(batch.image.tolist(), batch.caption.tolist(), strict=True)]
    )
    assert labels.relevant[mine & asked].tolist() == [1.0] * int((mine & asked).sum())
    assert np.isnan(labels.relevant[~mine & asked]).all()
    # The first task asks about the first pairs.
    assert mine[asked].tolist() == sorted(mine[asked].tolist(), reverse=True)
    project.reviews.add([lease.assignment], "reject", "me", "random")
    labels = drawn_labels(project)
    assert np.isnan(labels.relevant[asked]).all()
    assert "of rejected assignments are left out" in labels.notes[0]


def test_what_is_known_needs_no_question(project, world):
    _, _, pool = world
    gold = set(key_of(pool.gold_image, pool.gold_caption).tolist())
    free = [row for row, key in enumerate(keys_of(pool).tolist()) if key not in gold]
    answered, guessed, planned = free[:5], free[5:10], free[10:20]
    for rows, name, kind in ((answered, "data", "dataset"), (guessed, "model", "machine")):
        pairs = pool.image[rows].tolist(), pool.caption[rows].tolist()
        project.answers.record(AnswerRows([-1] * 5, *pairs, [name] * 5, ["yes"] * 5, kind=kind))
    chosen = pool.image[planned], pool.caption[planned]
    project.pools.add_tasks(make_tasks(pool, FORM, chosen=chosen))
    batch = uniform(np.array(free[:30]), pool)
    plan = plan_draws(project, batch)
    # Guesses of a machine are no labels; what a task asks about already is not asked twice.
    expected = keys_of(pool)[guessed + free[20:30]]
    assert sorted(keys_of(plan)[plan.gold == NOT_GOLD].tolist()) == sorted(expected.tolist())
    assert plan.notes[0] == "5 drawn pairs had been answered before"
    project.draws.add(batch, plan)
    labels = drawn_labels(project)
    assert labels.relevant[:5].tolist() == [1.0] * 5
    assert labels.answers[:5].tolist() == [1] * 5
    assert np.isnan(labels.relevant[5:]).all()
    # Nothing is left to ask: the answers of the data set, and gold.
    known = np.flatnonzero(np.isin(keys_of(pool), list(gold)))[:3]
    rest = uniform(known, pool)
    assert plan_draws(project, rest) is None
    project.draws.add(rest)
    assert not np.isnan(drawn_labels(project).relevant[-3:]).any()


def test_own_answers_decide_about_gold_that_is_also_asked(project, world):
    """A pair that is pinned in one task as the twin of a gold item in another."""
    _, _, pool = world
    project.pools.add_tasks(make_tasks(pool, FORM, overlap=3))
    plan = project.pools.plan()
    twins = np.intersect1d(*(keys_of(plan)[rows] for rows in (plan.gold == NOT_GOLD, plan.gold != NOT_GOLD)))
    rows = np.flatnonzero(np.isin(keys_of(pool), twins))
    batch = uniform(rows, pool)
    assert plan_draws(project, batch) is None
    project.draws.add(batch)
    assert (project.draws.read()[0].gold == 1).all()
    assert (drawn_labels(project).relevant == 1).all()
    columns = [-1] * len(rows), batch.image.tolist(), batch.caption.tolist()
    project.answers.record(AnswerRows(*columns, ["eve"] * len(rows), ["no"] * len(rows)))
    assert (drawn_labels(project).relevant == 0).all()


def test_a_project_without_a_pool_can_be_drawn_for(world, tmp_path):
    _, folder, pool = world
    batch = uniform(np.arange(20), pool)
    with create_project(tmp_path / "p.db", karat.load_benchmark(folder), FORM, source=str(folder)) as project:
        plan = plan_draws(project, batch)
        project.draws.add(batch, plan)
        assert (plan.gold == NOT_GOLD).sum() == 20
        assert (plan.gold != NOT_GOLD).sum() == 2 * plan.tasks
        assert len(project.pools.read()) == 20
        assert np.isnan(drawn_labels(project).relevant).all()
