"""TREC qrels: grades, pairs that were pooled and not judged, ids that nobody ranks, and what is refused."""

import numpy as np
import pytest

import karat
from karat.benchmarks import BenchmarkSummary, write_qrels
from karat.cli.main import main
from karat.measures import READINGS
from karat.reports.sections.methods import truth_table

from reference import mean_range


def test_qrels(tmp_path):
    (tmp_path / "q.txt").write_text("q1 0 d1 2\nq1 0 d9 1\nq1 0 d2 0\nq2 0 d3 -2\n\nq2 0 d1 1\n")
    (tmp_path / "items.txt").write_text("d1\nd2\nd3\nd4\n")
    bench = karat.load_benchmark("trec", qrels=tmp_path / "q.txt", items=tmp_path / "items.txt")
    assert bench.captions.gallery.tolist() == ["d1", "d2", "d3", "d4"]
    assert bench.captions.extra.tolist() == ["d9"]
    row = bench.summary()[0]["q2d"]
    assert row == {"queries": 2, "positives": 3, "negatives": 2, "off_gallery": 1}
    assert sorted(bench.truth("qrels").judgments.pairs().grade) == [0, 0, 0.5, 0.5, 1]
    card = karat.evaluate(np.array([[4.0, 3, 2, 1], [1, 2, 3, 4]]), bench, ["R@1", "AP"], direction=["i2t"])
    assert card.value("R@1", direction="i2t") == 0.5
    turned = karat.load_benchmark("trec", qrels=tmp_path / "q.txt", direction="t2i")
    assert turned.images.gallery.tolist() == ["d1", "d9", "d2", "d3"]
    for text, message in (
        ("", "holds no judgment"),
        ("q1 0 d1\n", "row 1 is 'q1 0 d1'"),
        ("q1 0 d1 high\n", "row 1 is"),
        ("q1 0 d1 1\nq1 0 d1 0\n", "repeats the pair"),
        ("q1 0 d1 1\nq1 0 d1 -1\n", "repeats the pair"),
        (
            "q1 0 d1 -1\n",
            "every relevance is -1, which is pooled and not judged; pass --set minus_one=not-rel",
        ),
    ):
        (tmp_path / "q.txt").write_text(text)
        with pytest.raises(karat.KaratError, match=message):
            karat.load_benchmark("trec", qrels=tmp_path / "q.txt")
    with pytest.raises(karat.KaratError, match="unknown direction 'up'"):
        karat.load_benchmark("trec", qrels=tmp_path / "q.txt", direction="up")
    with pytest.raises(karat.KaratError, match="minus_one is 'junk'; choose one of pooled, not_relevant"):
        karat.load_benchmark("trec", qrels=tmp_path / "q.txt", minus_one="junk")


POOLED = "q1 0 d1 2\nq1 0 d2 -1\nq1 0 d3 -2\nq2 0 d1 0\nq2 0 d4 1\nq2 0 d2 -1\nq3 0 d5 -1\n"


@pytest.fixture
def pooled(tmp_path):
    """Two judged queries with a pooled pair each, and a query with nothing but a pooled pair."""
    path = tmp_path / "pooled.trec"
    path.write_text(POOLED)
    return path


def test_minus_one_is_pooled_and_not_judged(pooled):
    bench = karat.load_benchmark("trec", qrels=pooled)
    truth = bench.truth("qrels")
    assert bench.summary()[0]["q2d"] == {"queries": 2, "positives": 2, "negatives": 2, "off_gallery": 0}
    # Everything that the file names is ranked; a query is scored where something of it is judged.
    assert bench.captions.gallery.tolist() == ["d1", "d2", "d3", "d4", "d5"]
    assert bench.images[truth.queries["q2d"]].tolist() == ["q1", "q2"]
    image, caption = truth.judgments.pooled
    named = list(zip(bench.images[image].tolist(), bench.captions[caption].tolist()))
    assert named == [("q1", "d2"), ("q2", "d2"), ("q3", "d5")]
    turned = karat.load_benchmark("trec", qrels=pooled, direction="t2i").truth("qrels").judgments
    assert sorted(zip(*(column.tolist() for column in turned.pooled[::-1]))) == sorted(zip(image, caption))


def test_collections_that_use_minus_one_as_a_grade(pooled):
    bench = karat.load_benchmark("trec", qrels=pooled, minus_one="not-relevant")
    truth = bench.truth("qrels")
    assert truth.n_pooled == 0
    assert bench.summary()[0]["q2d"] == {"queries": 3, "positives": 2, "negatives": 5, "off_gallery": 0}
    assert BenchmarkSummary(bench).notes == []


def test_the_count_is_stated(pooled, tmp_path, monkeypatch, capsys):
    sentence = "qrels: 3 pairs pooled and not judged, read as unjudged"
    bench = karat.load_benchmark("trec", qrels=pooled)
    scores = np.random.default_rng(0).random((3, 5))
    summary = BenchmarkSummary(bench)
    assert str(summary).endswith(f"note: {sentence}")
    assert [record["pooled"] for record in summary.records()] == [3, 3]
    found = karat.inspect(scores, benchmark=bench)
    assert sentence in [finding.text for finding in found.findings]
    # Qrels have one direction, and nothing is said about the other.
    assert "t2i" not in str(found)
    table = truth_table(karat.evaluate(scores, bench, "R@1", direction="i2t"))
    assert "2; 3 pooled and not judged" in str(table["rows"])
    for words, expected in (((), True), (("--set", "minus_one=not-relevant"), False)):
        argv = ["karat", "benchmarks", "show", "trec", "--set", f"qrels={pooled}", *words]
        monkeypatch.setattr("sys.argv", argv)
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code in (0, None)
        assert (sentence in capsys.readouterr().out) == expected


def test_written_qrels_keep_the_mark(pooled, tmp_path):
    bench = karat.load_benchmark("trec", qrels=pooled, minus_one="pooled")
    truth = bench.truth("qrels")
    path = write_qrels(bench, truth, tmp_path)["q2d"]
    # -2 was judged not relevant, and queries that are not scored are not written.
    kept = POOLED.replace("-2", "0").replace("q3 0 d5 -1\n", "")
    assert sorted(path.read_text().splitlines()) == sorted(kept.splitlines())
    again = karat.load_benchmark("trec", qrels=path)
    assert again.truth("qrels").n_pooled == 2


def made_qrels(seed):
    """Relevance by query and item, −2 to 2, with queries that have no relevant item or nothing judged."""
    rng = np.random.default_rng(seed)
    table = rng.choice([-3, -2, -1, 0, 1, 2], p=[0.3, 0.05, 0.25, 0.15, 0.15, 0.1], size=(12, 20))
    table[0] = np.where(table[0] > 0, 0, table[0])
    table[1] = np.where(table[1] > -3, -1, -3)
    return table, rng.permutation(table.size).reshape(table.shape).astype(np.float64)


def write_lines(path, table, skip):
    rows = [(q, i) for q, i in np.argwhere(table > -3).tolist() if table[q, i] != skip]
    path.write_text("".join(f"q{q} 0 d{i} {table[q, i]}\n" for q, i in rows))
    return path


def plain(grades, measure):
    """R@K or AP of a ranking of 1, 0 and None, by its definition."""
    hits = [rank for rank, grade in enumerate(grades, start=1) if grade]
    if not hits:
        return float("nan")
    if measure == "AP":
        return sum((number + 1) / rank for number, rank in enumerate(hits)) / len(hits)
    return float(hits[0] <= int(measure.split("@")[1]))


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_reading_takes_pooled_pairs_as_unjudged(tmp_path, seed, reading):
    table, scores = made_qrels(seed)
    for kind, ids in (("q", table.shape[0]), ("d", table.shape[1])):
        (tmp_path / f"{kind}.txt").write_text("".join(f"{kind}{k}\n" for k in range(ids)))
    lists = {"queries": tmp_path / "q.txt", "items": tmp_path / "d.txt"}
    cards = [
        karat.evaluate(
            scores,
            karat.load_benchmark("trec", qrels=write_lines(tmp_path / f"{skip}.trec", table, skip), **lists),
            ["R(rel=0.5)@1", "R(rel=0.5)@3", "AP", "R@1", "P@5", "MRR", "nDCG", "Judged@5"],
            direction="i2t",
            unjudged=reading,
        )
        for skip in (None, -1)
    ]
    for column, without in zip(*cards):
        np.testing.assert_array_equal(column.query, without.query)
        np.testing.assert_array_equal(column.values, without.values)
        ends = [(one.value, one.lower_bound, one.upper_bound) for one in (column, without)]
        assert ends[0] == ends[1]
    # By the definitions, from the table itself: -3 is not in the file, -1 is pooled and not judged.
    graded = np.where(np.isin(table, (-3, -1)), None, (table > 0).astype(int))
    for measure in ("R(rel=0.5)@1", "R(rel=0.5)@3", "AP"):
        column = cards[0].column(measure, direction="i2t")
        expected, best = [], []
        for query in column.query:
            ranking = [graded[query, item] for item in np.argsort(-scores[query])]
            read = [grade for grade in ranking if grade is not None] if reading == "left_out" else ranking
            expected.append(plain(read, measure))
            best.append(plain([1 if grade is None else grade for grade in ranking], measure))
        np.testing.assert_allclose(column.values, expected)
        if reading == "bounds" and measure != "AP":
            # A query without a value may count, with 0 at worst and with its best at best, or not count.
            ends = list(zip(expected, best))
            known = [sorted(pair) for pair in ends if not np.isnan(pair[0])]
            maybe = [[0.0, top] for value, top in ends if np.isnan(value) and not np.isnan(top)]
            assert (column.lower_bound, column.upper_bound) == pytest.approx(mean_range(known, maybe))
    assert 1 not in cards[0].column("AP", direction="i2t").query


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("reading", "judged_only"), [("misses", False), ("left_out", True)])
def test_trec_eval_reads_minus_one_the_same(tmp_path, seed, reading, judged_only):
    """With trec_eval's own option -J only judged documents are ranked, which pooled ones are not."""
    import pytrec_eval

    table, scores = made_qrels(seed)
    # trec_eval takes every negative relevance as pooled and not judged; karat only -1.
    table = np.where(table == -2, 0, table)
    path = write_lines(tmp_path / "q.trec", table, None)
    (tmp_path / "d.txt").write_text("".join(f"d{k}\n" for k in range(table.shape[1])))
    bench = karat.load_benchmark("trec", qrels=path, items=tmp_path / "d.txt")
    rows = [int(name[1:]) for name in bench.images.gallery]
    card = karat.evaluate(scores[rows], bench, ["AP", "P(rel=0.5)@5"], direction="i2t", unjudged=reading)
    qrels = {
        f"q{q}": {f"d{i}": int(table[q, i]) for i in np.flatnonzero(table[q] > -3).tolist()}
        for q in range(len(table))
    }
    run = {f"q{q}": {f"d{i}": score for i, score in enumerate(row)} for q, row in enumerate(scores.tolist())}
    judge = pytrec_eval.RelevanceEvaluator(qrels, {"map", "P_5"}, judged_docs_only_flag=judged_only)
    theirs = judge.evaluate(run)
    for measure, name in (("AP", "map"), ("P(rel=0.5)@5", "P_5")):
        column = card.column(measure, direction="i2t")
        known = ~np.isnan(column.values)
        names = bench.images[column.query[known]].tolist()
        assert len(names) >= 8
        np.testing.assert_allclose(column.values[known], [theirs[query][name] for query in names])
