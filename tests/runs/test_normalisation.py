"""Normalised scores against the literal formulas, in both directions, and what the run says about them."""

import numpy as np
import pytest

import karat
from karat.errors import InputError
from karat.runs import NORMALISATIONS, Fingerprint, MatrixRun, note_on_steps
from karat.scores import inspect

from made import make_benchmark, make_run


def softmax_over_queries(scores, temperature):
    """The literal formula: queries by items, summed over the queries of each item."""
    return np.exp(scores / temperature) / np.exp(scores / temperature).sum(axis=0)


def literal(how, scores):
    """One direction, queries by items, as the papers write it."""
    if how == "csls":
        of_item = np.array([np.mean(sorted(column)[-3:]) for column in scores.T])
        of_query = np.array([np.mean(sorted(row)[-3:]) for row in scores])
        return 2 * scores - of_item - of_query[:, None]
    shares = softmax_over_queries(scores, 0.1)
    return scores * shares if how == "dual-softmax" else shares


def ranked(run, direction, shape):
    return run.top(direction, shape[1]).item.reshape(shape)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("how", ["dual-softmax", "inverted-softmax", "csls"])
def test_ranks_are_those_of_the_formula(rng, how, negative, order):
    scores = rng.random((17, 23)) - 0.5 * negative
    params = {"k": 3} if how == "csls" else {"temperature": 0.1}
    run = karat.normalise(np.asarray(scores, order=order), how=how, **params)
    for direction, table in (("i2t", scores), ("t2i", scores.T)):
        expected = np.argsort(-literal(how, table), axis=1)
        assert (ranked(run, direction, table.shape) == expected).all()


def test_csls_has_the_published_values(rng):
    scores = rng.random((6, 9))
    assert np.allclose(karat.normalise(scores, how="csls", k=3).scores, literal("csls", scores))


def test_one_direction_leaves_the_other(rng):
    scores = rng.random((8, 12))
    run = karat.normalise(scores, how="inverted-softmax", direction="t2i")
    raw = MatrixRun(scores)
    assert (run.top("i2t", 12).item == raw.top("i2t", 12).item).all()
    assert (run.top("t2i", 8).item != raw.top("t2i", 8).item).any()
    assert "direction=t2i" in run.made_with.facts["scores.normalised"]


def test_dual_softmax_of_one_direction_leaves_the_other_or_is_refused(rng):
    scores = rng.random((8, 12))
    run = karat.normalise(scores, how="dual-softmax", direction="i2t")
    assert (run.top("t2i", 8).item == MatrixRun(scores).top("t2i", 8).item).all()
    # Products below 0 rank in reverse, and the other direction would show it.
    with pytest.raises(
        InputError, match=r"one direction alone needs scores of 0 or more; the lowest is -0.\d+"
    ):
        karat.normalise(scores - 0.5, how="dual-softmax", direction="i2t")


def test_more_neighbours_than_queries_are_all_of_them(rng):
    scores = rng.random((3, 500))
    all_of_them = karat.normalise(scores, how="csls", k=500)
    # As many rows of 500 numbers would be 4 TB.
    assert (karat.normalise(scores, how="csls", k=10**9).scores == all_of_them.scores).all()


def test_a_bank_as_large_as_the_test_set_needs_a_direction(rng):
    scores, bank = rng.random((5, 4)), rng.random((5, 4))
    with pytest.raises(
        InputError, match=r"queries may be other images or other captions; say which with the"
    ):
        karat.normalise(scores, how="csls", bank=bank)
    run = karat.normalise(scores, how="csls", bank=bank, direction="i2t", k=2)
    assert np.allclose(run.scores, 2 * scores - np.sort(bank, axis=0)[-2:].mean(axis=0))


def test_a_transposed_bank_is_read_as_the_run_is(rng):
    scores, bank = rng.random((4, 4)), rng.random((6, 4))
    straight = karat.normalise(scores, how="csls", bank=bank)
    turned = karat.normalise(scores.T, how="csls", bank=bank.T, loading=karat.Loading(transpose=True))
    assert turned.made_with.facts == straight.made_with.facts
    assert (turned.top("i2t", 4).item == straight.top("i2t", 4).item).all()


def test_embeddings_and_blocks(rng, monkeypatch):
    images, captions = rng.normal(size=(9, 5)), rng.normal(size=(14, 5))
    whole = karat.normalise(images @ captions.T, how="csls", k=2)
    monkeypatch.setattr("karat.runs.normalisation.rows_per_block", lambda shape, itemsize: 2)
    assert np.allclose(karat.normalise(images, captions, how="csls", k=2).scores, whole.scores)


def test_no_score_overflows(rng):
    scores = 1000 * rng.random((5, 6))
    run = karat.normalise(scores, how="inverted-softmax", temperature=0.001)
    assert np.isfinite(run.scores).all()


@pytest.fixture
def bank(rng):
    bench = make_benchmark(7, 2)
    scores = rng.random((7, 14))
    return bench, scores, rng.random((20, 14)), rng.random((7, 30))


def test_querybank_changes_activated_queries_alone(bank):
    bench, scores, train_images, train_captions = bank
    for direction, test, train in (
        ("i2t", scores, train_images),
        ("t2i", scores.T, train_captions.T),
    ):
        # QB-Norm, algorithm 1: its own code's β = 20 and k = 1.
        expected = test.copy()
        activated = set(train.argmax(axis=1).tolist())
        shares = np.exp(20 * test) / np.exp(20 * train).sum(axis=0)
        for query in range(len(test)):
            if int(test[query].argmax()) in activated:
                expected[query] = shares[query]
        source = train_images if direction == "i2t" else train_captions
        run = karat.normalise(scores, how="querybank", benchmark=bench, bank=source)
        assert run.directions == (direction,)
        assert (ranked(run, direction, test.shape) == np.argsort(-expected, axis=1)).all()
        assert run.made_with.facts["scores.uses_test_set"] is False


def test_a_bank_of_embeddings_serves_both_directions(rng):
    bench = make_benchmark(6, 2)
    images, captions = rng.normal(size=(6, 4)), rng.normal(size=(12, 4))
    others = rng.normal(size=(8, 4)), rng.normal(size=(10, 4))
    run = karat.normalise(images, captions, how="querybank", benchmark=bench, bank=others, top=3)
    assert run.directions == ("i2t", "t2i")
    run = karat.normalise(images, captions, how="inverted-softmax", bank=others, temperature=0.5)
    shares = np.exp(2 * images @ captions.T) / np.exp(2 * others[0] @ captions.T).sum(axis=0)
    assert (ranked(run, "i2t", shares.shape) == np.argsort(-shares, axis=1)).all()


def test_evaluations_say_so(bank):
    bench, scores, train_images, _ = bank
    transductive = karat.normalise(scores, how="dual-softmax")
    banked = karat.normalise(scores, how="inverted-softmax", bank=train_images)
    raw = make_run(bench, 3, 1, "raw")
    runs = {"dsl": transductive, "bank": banked, "raw": raw}
    notes = [note for note in karat.evaluate(runs, bench).notes if "went through" in note]
    assert notes == [
        "dsl: its scores went through dual-softmax(temperature=0.01), which uses the whole test set: "
        "compare it with runs that did so too",
        "bank: its scores went through inverted-softmax(temperature=0.01, bank=given, direction=i2t), with "
        "queries from elsewhere: each test query is ranked by itself",
    ]
    twice = karat.normalise(transductive, how="csls", bank=train_images)
    assert twice.made_with.facts["scores.normalised"].startswith("dual-softmax(temperature=0.01), then csls(")
    assert twice.made_with.facts["scores.uses_test_set"] is True
    assert "went through dual-softmax" in str(inspect(transductive, benchmark=bench))


def test_other_facts_stay(rng):
    run = MatrixRun(rng.random((3, 4)))
    run.made_with = Fingerprint({"image.resize": 224})
    assert karat.normalise(run, how="csls").made_with.facts["image.resize"] == 224
    assert note_on_steps(run.made_with) is None


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"how": "querybank"}, "querybank needs a bank"),
        ({"how": "csls", "k": 0}, "k is 0; give a whole number, 1 or more"),
        ({"how": "csls", "temperature": 1}, "csls has no parameter 'temperature'; it has k"),
        ({"how": "dual-softmax", "temperature": -1}, "give a number above 0"),
        ({"how": "softmax"}, "normalisation"),
        ({"how": "csls", "bank": np.zeros((5, 5))}, "the bank has 5 images by 5 captions, the run 3 by 4"),
        ({"how": "csls", "bank": np.zeros((5, 4)), "direction": "t2i"}, "no queries of t2i; choose i2t"),
    ],
)
def test_what_cannot_be_done(rng, keywords, message):
    with pytest.raises(InputError, match=message):
        karat.normalise(rng.random((3, 4)), **keywords)


def test_a_bank_in_another_order_is_refused(rng):
    run = karat.load_run(rng.random((3, 4)), ids={"captions": [1, 2, 3, 4]})
    bank = karat.load_run(rng.random((5, 4)), ids={"captions": [2, 1, 3, 4]})
    with pytest.raises(InputError, match="the bank has its captions in another order"):
        karat.normalise(run, how="csls", bank=bank)


def test_lists_have_no_scores_to_normalise():
    with pytest.raises(InputError, match="ranked lists have no scores"):
        karat.normalise({"i2t": {1: [2]}}, how="csls")


def test_steps_name_their_paper():
    assert all("arXiv:" in step.paper and step.formula for step in NORMALISATIONS.values())


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_inspection_finds_exact_traces(rng, dtype):
    bench = make_benchmark(30, 3)
    scores = rng.normal(size=(30, 90))
    scores[bench.caption_image, np.arange(90)] += 5
    rows = softmax_over_queries(scores.T, 1.0).T.astype(dtype)
    columns = softmax_over_queries(scores, 1.0).astype(dtype)

    def told(table):
        return [f.text for f in inspect(table, benchmark=bench).findings if "sum to 1" in f.text]

    softmax = "a softmax over the whole test set, which changes"
    assert told(rows) == [f"the scores of all images sum to 1 over the captions: {softmax} t2i ranks"]
    assert told(columns) == [f"the scores of all captions sum to 1 over the images: {softmax} i2t ranks"]
    cannot = "neither rows nor columns sum to 1; whether scores were normalised otherwise cannot be told"
    assert told(scores) == told(columns * rows) == [cannot]
    rows[4] *= 1.1
    assert told(rows) == [cannot]


def test_a_softmax_in_single_precision_leaves_its_trace(rng):
    # Numbers that are added one after the other, as along the first axis, are off by many last bits.
    bench = make_benchmark(5000, 1)
    shares = np.exp(3 * rng.standard_normal((5000, 5000), dtype=np.float32))
    shares /= shares.sum(axis=0)
    off = np.abs(shares.sum(axis=0, dtype=np.float64) - 1).max()
    assert off > 16 * np.finfo(np.float32).eps
    texts = [finding.text for finding in inspect(shares, benchmark=bench).findings]
    assert any(text.startswith("the scores of all captions sum to 1") for text in texts)
