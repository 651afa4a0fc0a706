"""Measures of sampled pools in an evaluation: what they need and refuse, folds, directions, the command."""

import json

import numpy as np
import pytest

import karat
from karat.benchmarks import Benchmark, Fold, Ids, Judgments, PoolDesign, Provenance, Truth
from karat.errors import InputError

QRELS = "q1 0 a 1\nq1 0 b -1\nq1 0 c 0\nq1 0 d 1\nq2 0 a 0\nq2 0 e 1\nq2 0 f -1\n"
STRATA = "q1 0 a 1 1\nq1 0 b 2 -1\nq1 0 c 2 0\nq1 0 d 2 1\nq2 0 a 1 0\nq2 0 e 2 1\nq2 0 f 2 -1\n"
RUN = {"i2t": {"q1": ["a", "b", "x", "c", "d"], "q2": ["f", "e", "a"]}}
POOLED = ["infAP", "xinfAP", "infNDCG", "statAP"]


def evaluate(tmp_path, text, measures, **options):
    (tmp_path / "q.txt").write_text(text)
    return karat.evaluate(RUN, "trec", measures, setting={"qrels": tmp_path / "q.txt"}, **options)


def test_a_design_of_strata_serves_all_of_them(tmp_path):
    card = evaluate(tmp_path, STRATA, POOLED)
    # infAP of q1: 1, and (1 + 3 · 1/2)/5; of q2 (1 + 1 · 1/2)/2.
    assert card.value("infAP", direction="i2t") == pytest.approx((0.75 + 0.75) / 2, abs=1e-5)
    # statAP of q1: weights 1 and 3/2 of a and d: (1 + 1.5 · 2/5)/2.5; of q2 (1/2).
    assert card.value("statAP", direction="i2t") == pytest.approx((1.6 / 2.5 + 0.5) / 2)


@pytest.mark.parametrize("measure", POOLED[1:])
def test_a_pool_without_a_design_is_refused(tmp_path, measure):
    with pytest.raises(InputError) as caught:
        evaluate(tmp_path, QRELS, measure)
    message = str(caught.value)
    assert f"{measure} on qrels (q2d) needs the" in message
    assert "2 pairs not judged; give qrels of five columns" in message
    # Where all of the pool is judged nothing else is needed.
    card = evaluate(tmp_path, QRELS.replace("-1", "0"), [measure, "AP", "nDCG"])
    value, ap, ndcg = (column.value for column in card)
    assert value == pytest.approx(ndcg if measure == "infNDCG" else ap, abs=1e-5)


def test_probabilities_are_not_strata(tmp_path):
    text = "q1 0 a 1 0.5\nq1 0 c 0 0.25\nq1 0 d 1 1\n"
    assert evaluate(tmp_path, text, "statAP").columns[0].value is not None
    with pytest.raises(
        InputError, match=r"xinfAP .* its pool has the inclusion probability; give qrels of five"
    ):
        evaluate(tmp_path, text, "xinfAP")


def sampled(direction="i2t", **more):
    """Two images and three captions, of which image 0 has a sampled pool."""
    design = PoolDesign(direction, "stratum", [0, 0, 0], [0, 1, 2], [1, 2, 2])
    table = Judgments([0, 0], [0, 1], rating=[1, 0], sources=[Provenance("people")], design=design)
    table = (
        table.merge(Judgments([1], [2], sources=[Provenance("own")])) if more.pop("others", False) else table
    )
    truth = Truth("pool", table, {"i2t": np.arange(1), "t2i": np.arange(3)}, **more)
    return Benchmark("tiny", Ids(["i", "j"], kind="image"), Ids([0, 1, 2], kind="caption"), {"pool": truth})


SCORES = np.array([[0.5, 0.9, 0.7], [0.1, 0.2, 0.3]])


def test_a_design_belongs_to_one_direction():
    with pytest.raises(InputError, match=r"xinfAP on pool \(t2i\) .* choose --direction i2t, whose queries"):
        karat.evaluate(SCORES, sampled(), "xinfAP")
    card = karat.evaluate(SCORES, sampled(), ["xinfAP", "infAP"], direction="i2t")
    # Place 3, after one judged not relevant item and one pooled one, of the other stratum.
    assert [column.value for column in card] == pytest.approx([1 / 3, 1 / 3], abs=1e-5)
    # Marks of what was pooled have no direction: the pool of caption 2 is image 0.
    assert karat.evaluate(SCORES, sampled(), "infAP", direction="t2i").columns[0].n == 1


def test_judged_pairs_without_a_stratum_are_refused():
    bench = sampled(others=True)
    truth = bench.truth("pool")
    wide = Truth("pool", truth.judgments, {"i2t": np.arange(2)})
    with pytest.raises(InputError, match="1 judged pair without the stratum by which the pool was sampled"):
        karat.evaluate(SCORES, Benchmark("tiny", bench.images, bench.captions, {"pool": wide}), "statAP")


def test_folds_have_their_own_pools():
    folds = [Fold("first", np.array([0]), np.array([0, 1])), Fold("second", np.array([1]), np.array([2]))]
    card = karat.evaluate(SCORES, sampled(folds=folds), ["infAP", "AP"], direction="i2t")
    assert [column.value for column in card] == pytest.approx([0.5, 0.5], abs=1e-5)


def test_complete_truths_and_rules_have_nothing_to_infer():
    table = Judgments([0, 1], [0, 2], sources=[Provenance("own")])
    bench = karat.benchmarks.Benchmark(
        "tiny", Ids(["i", "j"], kind="image"), Ids([0, 1, 2], kind="caption"),
        {"own": Truth("own", table, {"i2t": np.arange(2)}, complete=True)},
    )  # fmt: skip
    card = karat.evaluate(SCORES, bench, [*POOLED, "AP", "nDCG"], direction="i2t")
    *values, ap, ndcg = (column.value for column in card)
    assert values == [ap, ap, ndcg, ap]


@pytest.mark.parametrize("reading", ["misses", "bounds"])
def test_condensed_lists_of_relevant_items_alone_are_perfect_and_a_note_says_so(reading):
    table = Judgments([0, 1], [0, 2], sources=[Provenance("own")])
    truth = Truth("own", table, {"i2t": np.arange(2)})
    bench = Benchmark("tiny", Ids(["i", "j"], kind="image"), Ids([0, 1, 2], kind="caption"), {"own": truth})
    note = "nothing is judged not relevant in own: AP′ there are as high as they can be"
    card = karat.evaluate(SCORES, bench, ["AP'", "AP"], direction="i2t", unjudged=reading)
    assert card.value("AP'", direction="i2t") == 1
    assert note in card.notes
    assert note not in karat.evaluate(SCORES, bench, "AP", direction="i2t", unjudged=reading).notes


@pytest.mark.parametrize("reading", ["misses", "left_out", "bounds"])
def test_they_have_a_reading_of_their_own(tmp_path, reading):
    values = [column.value for column in evaluate(tmp_path, STRATA, POOLED, unjudged=reading)]
    assert values == [column.value for column in evaluate(tmp_path, STRATA, POOLED)]


def test_labels_that_nobody_gave_cannot_be_drawn():
    table = Judgments(
        [0, 0], [0, 1], rating=[1, 0], sources=[Provenance("people")], pooled=([0], [2]),
        probability=[0.9, 0.1], grade_if_relevant=[1, 1],
    )  # fmt: skip
    truth = Truth("pool", table, {"i2t": np.arange(1)})
    bench = Benchmark("tiny", Ids(["i"], kind="image"), Ids([0, 1, 2], kind="caption"), {"pool": truth})
    with pytest.raises(InputError, match="infAP looks at pairs that nobody judged too"):
        karat.evaluate(SCORES[:1], bench, "infAP", direction="i2t", label_uncertainty=True)
    # Condensed lists and RBP look at labels.
    card = karat.evaluate(SCORES[:1], bench, ["AP'", "RBP"], direction="i2t", label_uncertainty=True)
    assert all(column.label_spread is not None for column in card)


def test_the_command(tmp_path, capsys, monkeypatch):
    from karat.cli.main import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "sampled.qrels").write_text(QRELS)
    lines = [
        f"{q} Q0 {item} {k} {9 - k} s\n" for q, listed in RUN["i2t"].items() for k, item in enumerate(listed)
    ]
    (tmp_path / "run.trec").write_text("".join(lines))
    words = ["evaluate", "run.trec", "-b", "sampled.qrels", "-m", "bpref,infAP,RBP(p=0.8)"]
    for more in ([], ["--like", "trec_eval"]):
        monkeypatch.setattr("sys.argv", ["karat", *words, *more, "--json", "o.json"])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code in (0, None)
        shown = capsys.readouterr().out
        numbers = "22.10 [22.10, 88.48]" if not more else "0.2210 [0.2210, 0.8848]"
        assert f"RBP(p=0.8)  {'all      ' if more else ''}{numbers}" in shown
        records = {r["measure"]: r for r in json.loads((tmp_path / "o.json").read_text())}
        # Weights 0.2 · 0.8^k: 0.2 + 0.08192 and 0.16; unjudged and after the end 0.61568 and 0.712.
        assert records["RBP(p=0.8)"]["value"] == pytest.approx((0.28192 + 0.16) / 2)
        assert records["RBP(p=0.8)"]["upper_bound"] == pytest.approx((0.8976 + 0.872) / 2)
        assert records["bpref"]["lower_bound"] is None
        assert records["infAP"]["value"] == pytest.approx(0.75, abs=1e-5)
