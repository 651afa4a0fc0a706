"""What judging costs, against the papers' own figures."""

import pytest

from karat.errors import InputError
from karat.forms import load_form
from karat.judging import Rates, estimate_cost, make_pool, pool_cost
from karat.judging.pools import GoldChoice
from karat.world import make_world, simulate_systems


def test_the_second_stage_of_eccv_caption():
    # 1,160 tasks at 0.65 each, 0.78 with the fee (appendix B.2).
    cost = estimate_cost(
        1160 * 20, load_form("pair"), task_size=20, gold=0, overlap=1, rates=Rates(per_task=0.65)
    )
    assert cost.tasks == 1160
    assert cost.money == pytest.approx(1160 * 0.78)


def test_the_crowd_of_hodosh():
    # 0.9 cents for three answers to a pair; 30,781 + 10,374 pairs, fifty in a task with ten gold ones.
    cost = estimate_cost(41_155, load_form("grid"), rates=Rates(per_task=50 * 0.009 / 3, fee=0.0))
    assert (cost.tasks, cost.gold, cost.answers) == (824, 8240, 3 * (41_155 + 8240))
    assert cost.money == pytest.approx(41_155 * 0.009, rel=0.002)


def test_the_experts_of_hodosh():
    # Ten minutes for fifty pairs.
    assert estimate_cost(50, load_form("expert"), task_size=50, gold=0, overlap=1).hours == pytest.approx(
        1 / 6
    )


def test_sentences_leave_out_what_does_not_apply():
    cost = estimate_cost(10, load_form("pair"), gold=0, overlap=1, rates=Rates(per_hour=0))
    assert cost.sentences() == [
        "10 pairs to judge in 1 task of up to 10.",
        "1 annotator per task: 10 answers, about 0.1 hours at 18 seconds per answer.",
    ]
    paid = estimate_cost(10, load_form("pair"), overlap=1, rates=Rates(per_task=10, fee=0))
    assert "Pay: 10.00." in paid.sentences()


@pytest.mark.parametrize(
    "wrong",
    [
        {"task_size": 0},
        {"gold": -1},
        {"overlap": 0},
    ],
)
def test_impossible_values_are_refused(wrong):
    with pytest.raises(InputError):
        estimate_cost(10, load_form("pair"), **wrong)


@pytest.mark.parametrize("wrong", [{"per_hour": -1}, {"fee": float("nan")}, {"seconds": -1}])
def test_impossible_rates_are_refused_at_once(wrong):
    with pytest.raises(InputError, match="give a number from 0"):
        Rates(**wrong)


def test_nothing_costs_nothing():
    cost = estimate_cost(0, load_form("pair"))
    assert (cost.tasks, cost.answers, cost.money) == (0, 0, 0)
    assert cost.sentences()[0].startswith("0 pairs to judge in 0 tasks")


def test_more_gold_than_pairs_is_noted():
    world = make_world(images=20, captions=2, seed=1)
    pool = make_pool(simulate_systems(world)[:2], world.benchmark(), top=2)
    notes = pool_cost(pool, load_form("pair"), task_size=3, gold=99).notes
    assert "each task hides 99 gold pairs among up to 3 to judge: most is gold" in notes
    assert not any("most is gold" in note for note in pool_cost(pool, load_form("pair")).notes)


def test_the_truth_of_gold_is_checked_before_the_pass(monkeypatch):
    def collect(*arguments):
        raise AssertionError("runs were read")

    monkeypatch.setattr("karat.judging.pools.candidates.collect", collect)
    world = make_world(images=20, captions=2, seed=1)
    with pytest.raises(InputError, match="no truth 'nope'"):
        make_pool(simulate_systems(world)[:2], world.benchmark(), gold=GoldChoice(truth="nope"))
