"""The loop: budgets, batches, resuming, and who answers."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat._util import reporting
from karat.benchmarks import Judgments, Provenance, Truth
from karat.errors import InputError
from karat.estimation import make_candidates, vet
from karat.estimation.estimator import LabelEstimator
from karat.estimation.strategies.random_pairs import RandomPairs
from karat.estimation.vetting import as_number, truth_labels
from karat.measures import parse_measure
from karat.world import make_world, simulate_systems
from told import Told

P10 = parse_measure("P@10")
SMALL = make_world(images=20, captions=1, seed=2)
BENCH = SMALL.benchmark()


def candidates_of(depth=10, **options):
    return make_candidates(
        simulate_systems(SMALL)[:2], BENCH, "original", direction="t2i", depth=depth, **options
    )


PAIRS = candidates_of()
RIGHT = truth_labels(PAIRS, BENCH.truth("complete")) > 0


class Prior(LabelEstimator):
    """The share of positives among the vetted pairs, with some randomness: it learns and draws."""

    name = "prior"

    def probabilities(self, labels, measure, rng):
        share = (labels.relevant.sum() + 1) / (len(labels) + 2)
        return np.clip(share + 0.05 * rng.standard_normal(len(labels.candidates)), 0, 1)


class Guesses(RandomPairs):
    """The highest probabilities: what is chosen depends on everything before."""

    name = "guesses"
    adaptive = True

    def choose(self, labels, probability, measure, open_rows, n, rng):
        return open_rows[np.argsort(-probability[open_rows], kind="stable")[:n]]


class Counting:
    """An oracle that knows whom it was asked about, and can be killed."""

    def __init__(self, calls=None):
        self.asked, self.calls = [], calls

    def __call__(self, rows):
        if self.calls == 0:
            raise KeyboardInterrupt
        self.calls = None if self.calls is None else self.calls - 1
        self.asked += rows.tolist()
        return RIGHT[rows]


def loop(oracle=None, **options):
    options = {"estimator": Prior(), "strategy": Guesses(), "seed": 3, "batch": 30, **options}
    return vet(PAIRS, oracle or Counting(), P10, **options)


@settings(max_examples=40, deadline=None)
@given(
    budget=st.one_of(st.integers(1, 500), st.floats(0.001, 1)),
    batch=st.one_of(st.integers(1, 200), st.floats(0.001, 1)),
    measure=st.sampled_from(["P@3", "RP"]),
    seed=st.integers(0, 3),
)
def test_the_budget_is_never_overspent(budget, batch, measure, seed):
    oracle = Counting()
    total = int(PAIRS.matter(parse_measure(measure)).sum())
    allowed = min(total, as_number(budget, total, "budget"))
    if as_number(batch, total, "batch") * 40 < allowed:
        batch = 0.1
    done = vet(
        PAIRS, oracle, parse_measure(measure), estimator="naive", strategy="random", budget=budget,
        batch=batch, draws=8, seed=seed,
    )  # fmt: skip
    assert len(oracle.asked) == len(set(oracle.asked)) == allowed
    assert len(done.labels) == allowed
    assert all(len(step.rows) == as_number(batch, total, "batch") for step in done.rounds[:-1])
    assert PAIRS.matter(parse_measure(measure))[oracle.asked].all()
    assert done.effort[-1] == allowed / total


def test_shares_and_numbers():
    assert as_number(0.07, 100, "batch") == 7
    assert as_number(0.071, 100, "batch") == 8
    assert as_number(1, 100, "batch") == 1
    assert as_number(1.0, 100, "batch") == 100
    assert as_number(1000.0, 100, "batch") == 1000
    for wrong in (0, -1, 0.0, float("nan"), float("inf"), True):
        with pytest.raises(InputError, match=r"budget is .*; give a number of pairs, or a share from 0 to 1"):
            as_number(wrong, 100, "budget")
    with pytest.raises(InputError, match=r"batch is 1\.5; give a whole number of pairs"):
        as_number(1.5, 100, "batch")


def test_the_first_batch_is_random_by_query():
    # Nothing is known yet, so that the strategy cannot choose: each query gives as many pairs, ± 1.
    done = loop(batch=40, budget=80)
    share = np.bincount(PAIRS.query[done.rounds[0].rows], minlength=20)
    assert share.tolist() == [2] * 20
    again, other = loop(batch=40, budget=80), loop(batch=40, budget=80, seed=4)
    np.testing.assert_array_equal(done.labels.rows, again.labels.rows)
    np.testing.assert_array_equal(done.values(), again.values())
    assert done.rounds[0].rows.tolist() != other.rounds[0].rows.tolist()
    # What the estimator said after the first batch chooses the second.
    naive = vet(PAIRS, Counting(), P10, estimator="naive", strategy=Guesses(), batch=40, budget=80, seed=3)
    np.testing.assert_array_equal(done.rounds[0].rows, naive.rounds[0].rows)
    assert done.rounds[1].rows.tolist() != naive.rounds[1].rows.tolist()


def test_errors_before_and_after_the_estimator_learned():
    done = loop(budget=90)
    assert np.isnan(done.rounds[0].before).all()
    assert not np.isnan(done.values()).any()
    naive = vet(PAIRS, Counting(), P10, estimator="naive", strategy="random", batch=30, budget=90)
    # Naive never learns.
    np.testing.assert_array_equal(naive.values("before")[1:], naive.values()[1:])
    assert (done.values("before")[1:] != done.values()[1:]).any()


@pytest.mark.parametrize("strategy", ["random", Guesses()])
def test_everything_vetted_is_the_score_itself(strategy):
    done = loop(strategy=strategy, batch=0.3)
    card = karat.evaluate(simulate_systems(SMALL)[:2], BENCH, ["P@10"], truth="complete", direction="t2i")
    np.testing.assert_allclose(done.rounds[-1].after, [column.values for column in card], atol=1e-12)
    np.testing.assert_array_equal(done.probability[done.labels.rows], done.labels.relevant)
    assert done.effort[-1] == 1


def test_nothing_vetted_and_naive_is_the_score_by_noisy_labels():
    # One label, which is that of the noisy truth.
    done = vet(PAIRS, lambda rows: PAIRS.noisy[rows], P10, estimator="naive", strategy="random", budget=1)
    card = karat.evaluate(simulate_systems(SMALL)[:2], BENCH, ["P@10"], truth="original", direction="t2i")
    np.testing.assert_allclose(done.rounds[-1].after, [column.values for column in card], atol=1e-12)


def test_a_killed_loop_goes_on_where_it_ended(tmp_path):
    whole, full = loop(budget=100), Counting()
    loop(full, budget=100)
    for killed_at in range(4):
        log = tmp_path / f"{killed_at}.jsonl"
        first, second = Counting(calls=killed_at), Counting()
        with pytest.raises(KeyboardInterrupt):
            loop(first, budget=100, log=log)
        done = loop(second, budget=100, log=log)
        assert first.asked + second.asked == full.asked
        np.testing.assert_array_equal(done.values(), whole.values())
        np.testing.assert_array_equal(done.values("before"), whole.values("before"))
        # And once more: nobody is asked.
        third = Counting()
        np.testing.assert_array_equal(loop(third, budget=100, log=log).values(), whole.values())
        assert third.asked == []


def test_a_kill_while_the_oracle_answers_loses_that_batch_only(tmp_path):
    log = tmp_path / "log.jsonl"
    with pytest.raises(KeyboardInterrupt):
        loop(Counting(calls=2), budget=100, log=log)
    assert len(log.read_text(encoding="utf-8").splitlines()) == 1 + 2


def test_a_raised_budget_goes_on(tmp_path):
    log = tmp_path / "log.jsonl"
    first, second = Counting(), Counting()
    small = loop(first, budget=40, log=log)
    assert [len(step.rows) for step in small.rounds] == [30, 10]
    large = loop(second, budget=100, log=log)
    assert [len(step.rows) for step in large.rounds] == [30, 10, 30, 30]
    np.testing.assert_array_equal(large.values()[:2], small.values())
    assert not set(first.asked) & set(second.asked)
    assert len(first.asked) + len(second.asked) == 100
    # A smaller one cannot be kept: the answers are there.
    with pytest.raises(
        InputError, match="holds answers about 100 pairs, and the budget is 40; raise the bud"
    ):
        loop(budget=40, log=log)


def test_foreign_logs_are_refused(tmp_path):
    log = tmp_path / "log.jsonl"
    loop(budget=60, log=log)
    kept = log.read_text(encoding="utf-8")
    for options, said in (
        ({"seed": 4}, "was written with seed 3, not 4; give the same options, or another file"),
        ({"batch": 20}, "was written with batch 30, not 20"),
        ({"estimator": "naive"}, "was written with estimator prior, not naive"),
        ({"strategy": "random"}, "was written with strategy guesses, not random"),
    ):
        with pytest.raises(InputError, match=said):
            loop(budget=60, log=log, **options)
    with pytest.raises(InputError, match="was written with measure P@10, not P@5"):
        vet(PAIRS, Counting(), parse_measure("P@5"), estimator=Prior(), strategy=Guesses(), seed=3, log=log)
    assert log.read_text(encoding="utf-8") == kept
    lines = [json.loads(line) for line in kept.splitlines()]
    lines[1]["image"][:2] = lines[1]["image"][1::-1]
    lines[1]["caption"][:2] = lines[1]["caption"][1::-1]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(InputError, match="asked about other pairs; give the same runs and labels"):
        loop(budget=60, log=log)


@pytest.mark.parametrize(
    "text",
    [
        "", "nonsense", "[]", "3", '{"format": "karat-vetting"', '{"format": "other"}', "{}\n{}",
        "HEAD\n{}", 'HEAD\n{"image": [1], "caption": [2]}',
        'HEAD\n{"image": [1], "caption": [2], "relevant": []}',
        'HEAD\n{"image": 1, "caption": 2, "relevant": 3}', "HEAD\n[1]", "HEAD\nnull", "\xff",
        'HEAD\n{"image": [1], "caption": [2], "relevant": ["yes"]}',
    ],
)  # fmt: skip
def test_damaged_logs_are_refused(tmp_path, text):
    log = tmp_path / "log.jsonl"
    loop(budget=30, log=log)
    head = log.read_text(encoding="utf-8").splitlines()[0]
    log.write_bytes(text.replace("HEAD", head).encode("latin-1"))
    with pytest.raises(InputError, match=r"log.jsonl.* is not a log of vetting; give another file") as error:
        loop(budget=60, log=log)
    assert "\n" not in str(error.value)


def test_what_a_truth_does_not_list():
    image, caption = (side[:50] for side in PAIRS.pairs)
    part = Judgments(image, caption, rating=RIGHT[:50], sources=[Provenance("people")])
    truth = Truth("part", part, {"t2i": np.arange(20)})
    listed = np.arange(len(PAIRS)) < 50
    np.testing.assert_array_equal(np.isnan(truth_labels(PAIRS, truth)), ~listed)
    np.testing.assert_array_equal(truth_labels(PAIRS, truth, unlisted="no") > 0, RIGHT & listed)


def test_contradictory_labels():
    sources = [Provenance("ann"), Provenance("bob")]
    said = Judgments([0, 0, 1, 1], [0, 0, 1, 1], rating=[1, 0, 1, 1], source=[0, 1, 0, 1], sources=sources)
    truth = Truth("both", said, {"t2i": np.arange(20)})
    with pytest.raises(InputError, match="'both' has contradictory labels of 1 pair, first of image 0 with"):
        truth_labels(PAIRS, truth)
    agreed = Judgments([0, 1, 1], [0, 1, 1], rating=[1, 1, 1], source=[0, 0, 1], sources=sources)
    truth_labels(PAIRS, Truth("agreed", agreed, {"t2i": np.arange(20)}))


def test_estimators_that_look_at_scores(bench, ranked):
    class Scores(Prior):
        name = "scores"
        needs_scores = True

    pairs = make_candidates([ranked], bench, "original", direction="i2t", depth=5)
    with pytest.raises(
        InputError, match="lists: ranked lists have no scores, and this estimator learns from scores"
    ):
        vet(pairs, Counting(calls=0), P10, estimator=Scores(), strategy="random")


def test_progress_is_told():
    told = Told()
    with reporting(told):
        loop(budget=70)
    assert told.numbers("vetting") == [(0, 70), (30, 70), (60, 70), (70, 70)]
