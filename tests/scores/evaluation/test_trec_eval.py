"""The same TREC files through karat and trec_eval (pytrec_eval, through ir_measures): the same numbers."""

import gzip
import json

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.errors import InputError

NAMES = {
    "map": "AP",
    "map_cut_3": "AP@3",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "infAP": "infAP",
    "infAP(rel=2)": "infAP(rel=2)",
    "recip_rank": "RR",
    "P_1": "P@1",
    "P_5": "P@5",
    "recall_3": "R@3",
    "success_2": "Success@2",
    "ndcg": "nDCG",
    "ndcg_cut_3": "nDCG@3",
    "AP(rel=2)": "AP(rel=2)",
    "P(rel=2)@3": "P(rel=2)@3",
    "bpref(rel=2)": "Bpref(rel=2)",
    "Recall(rel=2)@2": "R(rel=2)@2",
}
"""Names here, by trec_eval's name where it has one, and in ir_measures."""

QUERIES, ITEMS = [f"q{k}" for k in range(4)], [f"d{k}" for k in (1, 2, 10, 11, 3, 20)]
# The last two differ in double precision alone.
SCORES = [0.0, 0.5, -1.0, 1.0, 1.0 + 1e-9]

qrels_of = st.dictionaries(
    st.sampled_from(QUERIES),
    st.dictionaries(st.sampled_from(ITEMS[:5]), st.sampled_from([-2, -1, 0, 0, 1, 2, 3]), min_size=1),
    min_size=1,
)
run_of = st.dictionaries(
    st.sampled_from([*QUERIES, "other"]),
    st.dictionaries(st.sampled_from(ITEMS), st.sampled_from(SCORES), min_size=1),
    min_size=1,
)


def write_qrels(path, qrels):
    lines = [f"{q} 0 {d} {rel}\n" for q, judged in qrels.items() for d, rel in judged.items()]
    path.write_text("# judged by hand\n\n" + "".join(lines))
    return path


def write_run(path, run, rank=lambda place: place):
    lines = [
        f"{q} Q0 {d} {rank(place)} {score!r} tag\n"
        for q, listed in run.items()
        for place, (d, score) in enumerate(listed.items(), start=1)
    ]
    path.write_text("# a run\n\n" + "".join(lines))
    return path


def scored(folder, qrels, run, **options):
    """Return the scorecard, and per measure and query the value."""
    files = write_run(folder / "run.trec", run), write_qrels(folder / "q.txt", qrels)
    card = karat.evaluate(
        files[0], "trec", list(NAMES), setting={"qrels": files[1]}, direction="i2t", **options
    )
    values = {
        name: dict(zip(card.benchmark.images[column.query].tolist(), column.values.tolist()))
        for name in NAMES
        for column in [card.column(name, direction="i2t")]
    }
    return card, values


def usable(qrels, run):
    """Whether karat has anything to score: something judged with a grade of 3, and a query in common."""
    ratings = [rel for judged in qrels.values() for rel in judged.values()]
    return max(ratings) >= 2 and not qrels.keys().isdisjoint(run)


def trec_eval(qrels, run):
    """Return trec_eval's value of every measure and query of the qrels; 0 where the run lacks the query.

    pytrec_eval 0.5.11 crashes on −2, which trec_eval takes as it takes −1, and in nDCG over the whole list on
    some qrels with −1: for that it gets the qrels without their negative lines.
    """
    known = {q: {d: max(rel, -1) for d, rel in judged.items()} for q, judged in qrels.items()}
    plain = {q: {d: rel for d, rel in judged.items() if rel >= 0} for q, judged in qrels.items()}
    plain = {q: judged for q, judged in plain.items() if judged}
    values = {name: dict.fromkeys(qrels, 0.0) for name in NAMES}
    for name, theirs in NAMES.items():
        labels = plain if name == "ndcg" else known
        if not labels.keys().isdisjoint(run):
            measure = ir_measures.parse_measure(theirs)
            metrics = ir_measures.pytrec_eval.iter_calc([measure], labels, run)
            values[name] |= {metric.query_id: metric.value for metric in metrics}
    return values


@settings(max_examples=60, deadline=None)
@given(qrels=qrels_of, run=run_of)
def test_like_trec_eval(tmp_path_factory, qrels, run):
    """Ties, extra and missing queries, unjudged items, every relevance from −2 to 3, short lists."""
    if not usable(qrels, run):
        return
    folder = tmp_path_factory.mktemp("trec")
    theirs = trec_eval(qrels, run)
    card, values = scored(folder, qrels, run, like="trec_eval")
    both, shared = scored(folder, qrels, run, like="trec_eval-intersection")
    lines = [line.split() for line in str(card).splitlines()]
    shown = {line[0]: line[2] for line in lines if line[1:2] == ["all"]}
    for name, expected in theirs.items():
        assert values[name] == pytest.approx(expected, abs=1e-9), name
        mean = np.mean(list(expected.values()))
        assert card.value(name, direction="i2t") == pytest.approx(mean, abs=1e-9), name
        assert float(shown[name]) == pytest.approx(mean, abs=0.5001e-4), name
        asked = {query: value for query, value in expected.items() if query in run}
        left = {query: value for query, value in shared[name].items() if not np.isnan(value)}
        assert left == pytest.approx(asked, abs=1e-9), name
        assert both.value(name, direction="i2t") == pytest.approx(np.mean(list(asked.values()))), name


def test_the_mean_and_the_values_per_query_agree(tmp_path):
    """Without a value for the mean, the queries that it lacks have none either."""
    qrels, run = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}, {"q1": {"a": 2.0}, "q2": {"b": 2.0, "a": 1.0}}
    paths = write_run(tmp_path / "r.trec", run), write_qrels(tmp_path / "q.txt", qrels)
    card = karat.evaluate(paths[0], "trec", ["AP", "R@1"], setting={"qrels": paths[1]}, direction="i2t")
    column = card.column("AP", direction="i2t")
    assert column.value is None
    np.testing.assert_array_equal(column.values, [np.nan, 0.5])
    assert any("--like trec_eval" in note for note in card.notes)
    frame = card.per_query().filter(measure="R@1")
    assert card.value("R@1", direction="i2t") == frame["value"].mean() == 0.5


@pytest.mark.parametrize(
    ("ties", "expected"),
    [("pessimistic", 1 / 3), ("optimistic", 1.0), ("expected", 11 / 18), ("stable", 0.5), ("trec_eval", 1.0)],
)
def test_tied_scores_follow_the_policy(tmp_path, ties, expected):
    """The rank column, which says 2 for the relevant item, is the order of a list and not its ranking."""
    paths = (
        write_run(tmp_path / "r.trec", {"q": {"a": 1.0, "c": 1.0, "b": 1.0}}),
        write_qrels(tmp_path / "q.txt", {"q": {"c": 1}}),
    )
    card = karat.evaluate(paths[0], "trec", "MRR", setting={"qrels": paths[1]}, direction="i2t", ties=ties)
    assert card.value("MRR", direction="i2t") == pytest.approx(expected)
    # Where the file has no scores, the rank is all there is.
    text = "".join(f"q Q0 {item} {rank} - tag\n" for item, rank in (("a", 3), ("c", 2), ("b", 1)))
    paths[0].write_text(text)
    card = karat.evaluate(paths[0], "trec", "MRR", setting={"qrels": paths[1]}, direction="i2t", ties=ties)
    assert card.value("MRR", direction="i2t") == 0.5


def test_score_tables_have_the_order_of_trec_eval_too(tmp_path):
    path = write_qrels(tmp_path / "q.txt", {"q": {"d9": 1, "d10": 0, "d8": 0}})
    values = {
        ties: karat.evaluate(
            np.ones((1, 3)), "trec", "MRR", setting={"qrels": path}, direction="i2t", ties=ties
        ).value("MRR", direction="i2t")
        for ties in ("trec_eval", "pessimistic")
    }
    assert values == {"trec_eval": 1.0, "pessimistic": pytest.approx(1 / 3)}


def test_runs_as_people_have_them(tmp_path):
    """Other queries, items that nobody judged, comments, gzip, no extension, names that begin alike."""
    qrels = write_qrels(tmp_path / "q.txt", {"q1": {"a": 1}, "q2": {"b": 2}})
    (tmp_path / "q.gz").write_bytes(gzip.compress(qrels.read_bytes()))
    run = {"q1": {"new": 3.0, "a": 2.0}, "q2": {"b": 1.0}, "q7": {"x": 1.0}, "q8": {"y": 1.0}}
    plain = write_run(tmp_path / "input.bm25", run)
    (tmp_path / "input.bm25.gz").write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, tmp_path / "input.bm25.gz"):
        for labels in (qrels, tmp_path / "q.gz"):
            card = karat.evaluate(path, "trec", ["R(rel=any)@1", "Judged@1"], setting={"qrels": labels})
            assert card.runs == ["input.bm25"]
            assert card.value("R(rel=any)@1", direction="i2t") == 0.5
            assert card.value("Judged@1", direction="i2t") == 0.5
            assert card.benchmark.captions.gallery.tolist() == ["a", "b", "new"]
            note = "input.bm25: 2 of 4 queries are not in the benchmark and are ignored, first q7"
            assert note in card.notes
    (tmp_path / "q.gz").write_bytes(gzip.compress(qrels.read_bytes())[:-9])
    with pytest.raises(InputError, match="is not a complete gzip file"):
        karat.load_benchmark("trec", qrels=tmp_path / "q.gz")
    write_run(plain, {"nobody": {"a": 1.0}})
    with pytest.raises(InputError, match="query id nobody is not in the benchmark"):
        karat.evaluate(plain, "trec", "R@1", setting={"qrels": qrels})


def test_runs_share_the_items_that_nobody_judged(tmp_path):
    qrels = write_qrels(tmp_path / "q.txt", {"q1": {"a": 1}})
    files = [
        write_run(tmp_path / f"{item}.run", {"q1": {item: 3.0, "a": 2.0, "z": 1.0}}) for item in ("x", "y")
    ]
    bench = karat.load_benchmark("trec", qrels=qrels)
    card = karat.evaluate(files, bench, "P@3", details=True)
    assert card.benchmark.captions.gallery.tolist() == ["a", "x", "z", "y"]
    assert card.benchmark.captions[card.details.first["y"]["q2d"]].tolist() == ["y"]
    assert bench.captions.gallery.tolist() == ["a"]
    karat.benchmarks.save_benchmark(bench, tmp_path / "saved")
    again = karat.evaluate(files, str(tmp_path / "saved"), "P@3")
    assert again.records() == card.records()


def test_two_files_of_one_direction_are_one_run(tmp_path):
    lists = {"i2t": {"i1": {"c1": 2.0}, "i2": {"c2": 1.0}}, "t2i": {"c1": {"i2": 2.0}, "c2": {"i2": 1.0}}}
    files = {way: write_run(tmp_path / f"clip.{way}.trec", run) for way, run in lists.items()}
    own = karat.benchmarks.Judgments([0, 1], [0, 1], sources=[karat.benchmarks.Provenance("original")])
    ids = (karat.benchmarks.Ids([f"{side}{k}" for k in (1, 2)], kind=kind) for side, kind in
           (("i", "image"), ("c", "caption")))  # fmt: skip
    truth = karat.benchmarks.Truth("own", own, {"i2t": np.arange(2), "t2i": np.arange(2)})
    bench = karat.benchmarks.Benchmark("tiny", *ids, {"own": truth})
    for order in (["i2t", "t2i"], ["t2i", "i2t"]):
        card = karat.evaluate([files[way] for way in order], bench, "R@1")
        assert card.runs == ["clip"]
        assert [card.value("R@1", direction=way) for way in ("i2t", "t2i", "mean")] == [1.0, 0.5, 0.75]
    assert karat.load_run(*files.values(), benchmark=bench).directions == ("i2t", "t2i")
    apart = karat.evaluate(list(files.values()), bench, "R@1", loading=karat.Loading(name=["a", "b"]))
    assert apart.runs == ["a", "b"]
    with pytest.raises(InputError, match="rankings of the same direction"):
        karat.load_run(files["i2t"], files["i2t"], benchmark=bench)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"like": "trec"}, "like is 'trec'; choose one of trec_eval, trec_eval_intersection"),
        ({"like": "trec_eval", "ties": "expected"}, "has a convention of its own for ties; leave out ties"),
        ({"like": "trec_eval", "unjudged": "left_out"}, "convention of its own for unjudged"),
        ({"like": "trec_eval", "measure": "num_rel_ret"}, "karat does not compute trec_eval's 'num_rel_ret'"),
        ({"measure": "P(rel=4)@5"}, "asks for a relevance of 4, but the highest of truth 'qrels' is 3"),
    ],
)
def test_choices_that_contradict(tmp_path, options, message):
    path = write_qrels(tmp_path / "q.txt", {"q": {"a": 3}})
    with pytest.raises(InputError, match=message):
        karat.evaluate({"i2t": {"q": ["a"]}}, "trec", setting={"qrels": path}, **options)


def test_rules_have_no_order_of_trec_eval():
    """A rule lists no labels; COCO's class vectors are one."""
    rule = karat.benchmarks.Truth("rule", None, {"i2t": np.arange(1)}, rule=object())
    ids = (karat.benchmarks.Ids([0], kind=kind) for kind in ("image", "caption"))
    bench = karat.benchmarks.Benchmark("tiny", *ids, {"rule": rule})
    with pytest.raises(InputError, match="R@1 on rule does not look at a list of labels"):
        karat.evaluate(np.ones((1, 1)), bench, "R@1", ties="trec_eval")


def test_rel_1_is_the_highest_grade_and_the_note_says_so(tmp_path):
    path = write_qrels(tmp_path / "q.txt", {"q": {"a": 2, "b": 1}})
    run = {"i2t": {"q": ["b", "a"]}}
    card = karat.evaluate(run, "trec", ["P(rel=1)@1", "P(rel=any)@1", "P(rel=2)@2"], setting={"qrels": path})
    assert [column.value for column in card] == [0.0, 1.0, 0.5]
    assert any("rel=1 is the highest grade, 2 in qrels" in note for note in card.notes)


def test_runs_with_different_queries_are_not_compared_over_their_intersection(tmp_path):
    path = write_qrels(tmp_path / "q.txt", {"q1": {"a": 1}, "q2": {"a": 1}})
    runs = [karat.load_run({"i2t": {q: ["a"] for q in queries}}, name=queries[-1]) for queries in
            (["q1", "q2"], ["q1"])]  # fmt: skip
    with pytest.raises(InputError, match="choose like=trec_eval, where they count 0"):
        karat.compare(runs, "trec", "map", setting={"qrels": path}, like="trec_eval-intersection")
    compared = karat.compare(runs, "trec", "map", setting={"qrels": path}, like="trec_eval", samples=9)
    assert compared.differences[0].difference == 0.5
    assert "As trec_eval -c" in str(compared)
    assert compared.to_dict()["method"]["like"] == "trec_eval"
    compared.save(tmp_path / "page.html")
    assert "As trec_eval -c" in (tmp_path / "page.html").read_text()


def test_the_command(tmp_path, capsys, monkeypatch):
    """``-b q.txt``, ``--like``, trec_eval's names and its layout."""
    from karat.cli.main import main

    run = write_run(tmp_path / "bm25.txt", {"q1": {"a": 1.0, "b": 1.0}, "q9": {"a": 1.0}})
    qrels = write_qrels(tmp_path / "q.txt", {"q1": {"a": 2, "b": 0}, "q2": {"a": 0}, "q3": {"b": 1}})
    words = [str(run), "-b", str(qrels), "-m", "map,P_1,bpref", "--like"]

    def call(*argv):
        monkeypatch.setattr("sys.argv", ["karat", *argv])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, capsys.readouterr()

    code, shown = call("evaluate", *words, "trec_eval", "--json", str(tmp_path / "o.json"))
    assert code in (0, None)
    lines = [line.split() for line in shown.out.splitlines()]
    assert [line for line in lines if line[1:2] == ["all"]] == [
        ["map", "all", "0.1667"], ["P_1", "all", "0.0000"], ["bpref", "all", "0.0000"],
    ]  # fmt: skip
    assert "As trec_eval -c" in shown.out
    assert "2 of 3 queries are not in the run and count 0" in shown.err
    records = json.loads((tmp_path / "o.json").read_text())
    assert [record["measure"] for record in records] == ["AP", "P(rel=any)@1", "bpref"]
    code, shown = call("evaluate", *words, "trec_eval-intersection")
    assert "map      all      0.5000" in shown.out
    assert "2 of 3 queries are not in the run and are left out" in shown.err
    code, shown = call("inspect", str(run), "-b", str(qrels))
    assert (code in (0, None), "fits q" in shown.out) == (True, True)
    code, shown = call("evaluate", str(run), "-b", str(qrels), "-m", "AP")
    assert code == 2
    assert "nothing could be computed: bm25: AP on qrels (q2d) has no value" in shown.err
