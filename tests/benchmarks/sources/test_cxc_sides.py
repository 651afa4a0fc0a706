"""Images searched with images and captions with captions, by the ratings of Crisscrossed Captions."""

import csv
from collections import defaultdict

import numpy as np
import pytest

import karat
from karat.benchmarks.sources.cxc import pairs_within
from karat.errors import InputError, MissingDataError


def mean_ratings(path):
    """Return the mean rating of each pair, in whichever order, by plain Python."""
    ratings = defaultdict(list)
    with path.open() as file:
        rows = csv.reader(file)
        next(rows)
        for one, other, rating, _ in rows:
            ratings[frozenset((one, other))].append(float(rating))
    return {pair: sum(both) / len(both) for pair, both in ratings.items()}


@pytest.mark.parametrize(
    ("name", "file", "pairs", "relevant", "queries"),
    [
        ("cxc-i2i", "sis_test.csv", 43_856, 14_234, 5_000),
        ("cxc-t2t", "sts_test.csv", 44_045, 16_184, 25_000),
    ],
)
def test_counts_of_the_real_ratings(data, name, file, pairs, relevant, queries):
    bench = karat.load_benchmark(name, ratings=data / "cxc" / file)
    known = mean_ratings(data / "cxc" / file)
    assert len(known) == pairs
    assert sum(rating >= 3 for rating in known.values()) == relevant
    truth = bench.truth(name)
    table = truth.judgments
    assert len(table) == pairs
    assert (table.image < table.caption).all()
    assert np.sort(table.rating) == pytest.approx(np.sort(list(known.values())), abs=1e-12)
    (direction,) = bench.directions
    rows = truth.judged(direction)
    # Each pair is asked for from both of its ends, and no item is its own.
    assert len(rows.item) == 2 * pairs
    assert (rows.item != rows.query_of_row).all()
    counts = {"queries": queries, "positives": 2 * relevant, "negatives": 2 * (pairs - relevant)}
    assert truth.counts(direction) == counts
    assert bench.images is bench.captions
    assert bench.images.size == queries


def test_captions_of_an_image_are_a_group(data):
    bench = karat.load_benchmark("cxc-t2t")
    coco = karat.load_benchmark("coco")
    truth = bench.truth("co-captions")
    rows = truth.judged("t2t")
    assert truth.counts("t2t")["positives"] == (np.bincount(coco.caption_image) * (
        np.bincount(coco.caption_image) - 1)).sum()  # fmt: skip
    assert (coco.caption_image[rows.item] == coco.caption_image[rows.query_of_row]).all()
    queries = np.arange(12)
    assert bench.clusters("t2t", queries).tolist() == coco.clusters("t2i", queries).tolist()
    assert bench.cluster_names(np.array([0, -1])).tolist() == [str(coco.images[0]), ""]


def small(tmp_path, lines, head="image1,image2,agg_score,sampling_method"):
    path = tmp_path / "sis_test.csv"
    path.write_text("\n".join([head, *lines]) + "\n")
    return path


def test_both_orders_count_and_an_image_is_not_its_own(tmp_path):
    ids = karat.load_benchmark("coco").images.gallery[:3].tolist()
    a, b, c = (f"COCO_val2014_{number:012}.jpg" for number in ids)
    path = small(tmp_path, [f"{a},{b},4,x", f"{b},{a},1.5,x", f"{a},{a},5,x", f"{c},{a},3.5,x"])
    truth = karat.load_benchmark("cxc-i2i", ratings=path).truth("cxc-i2i")
    rows = truth.judged("i2i")
    assert rows.queries.tolist() == [0, 1, 2]
    assert rows.item.tolist() == [1, 2, 0, 0]
    assert rows.grade.tolist() == [0, 1, 0, 1]
    assert truth.judgments.rating.tolist() == [2.75, 3.5]


def test_wrong_files_are_sentences(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"no column .image2.; give the complete sis_test"):
        karat.load_benchmark("cxc-i2i", ratings=small(tmp_path, ["1,2,3,x"], "image1,image,agg_score,m"))
    with pytest.raises(InputError, match="image id 17 is not in the benchmark"):
        karat.load_benchmark("cxc-i2i", ratings=small(tmp_path, ["17,391895,3,x"]))
    with pytest.raises(InputError, match="rates nothing with another"):
        karat.load_benchmark("cxc-i2i", ratings=small(tmp_path, ["391895,391895,3,x"]))
    monkeypatch.setenv("KARAT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"cxc comes without ratings.*--set ratings=sts_test.csv"):
        karat.load_benchmark("cxc-t2t")


def test_pairs_of_groups():
    group = np.array([4, 1, 4, 2, 4, 1])
    first, second = pairs_within(group)
    wanted = {(i, j) for i in range(6) for j in range(i + 1, 6) if group[i] == group[j]}
    assert {tuple(sorted(pair)) for pair in zip(first.tolist(), second.tolist())} == wanted
    assert len(first) == len(wanted)


def test_scores_are_those_of_ir_measures(data):
    """Of a run without the image itself, as that package has to be given it; karat gets all vectors."""
    measures = pytest.importorskip("ir_measures")
    bench = karat.load_benchmark("cxc-i2i")
    names = [str(name) for name in bench.images.gallery]
    rows = bench.truth("cxc-i2i").judged("i2i")
    relevant = rows.query_of_row[rows.grade > 0], rows.item[rows.grade > 0]
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(len(names), 24))
    # Images that are rated alike are alike, a little.
    np.add.at(vectors, relevant[0], 0.4 * vectors[relevant[1]])
    scores = vectors @ vectors.T
    np.fill_diagonal(scores, -np.inf)
    asked = np.unique(relevant[0])[::20]
    some = set(asked.tolist())
    qrels = [
        measures.Qrel(names[query], names[item], int(grade > 0))
        for query, item, grade in zip(rows.query_of_row, rows.item, rows.grade)
        if query in some
    ]
    run = [
        measures.ScoredDoc(names[query], names[item], float(-place))
        for query in asked
        for place, item in enumerate(np.argsort(-scores[query], kind="stable")[:-1])
    ]
    wanted = [measures.P @ 10, measures.nDCG @ 10, measures.AP, measures.RR]
    theirs = measures.calc_aggregate(wanted, qrels, run)
    card = karat.evaluate(vectors, bench, ["P@10", "nDCG@10", "AP", "MRR"])
    for name, measure in zip(["P@10", "nDCG@10", "AP", "MRR"], wanted):
        column = card.column(name, direction="i2i")
        own = column.values[np.isin(column.query, asked)]
        assert own.mean() == pytest.approx(theirs[measure], abs=1e-9), name
