"""Precision, recall and growth of labels, against sets of plain Python."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Share, Truth
from karat.errors import InputError
from karat.judging import growth, label_quality
from karat.judging.publication.label_quality import count_labels
from karat.stats import Intervals

GRADED = [Provenance("test", "0 to 1", Share(top=1))]
FEW = Intervals(resamples=20)


@st.composite
def two_truths(draw):
    """Two truths over four images and five captions, with queries of their own."""
    truths = []
    for name in ("old", "new"):
        pairs = st.tuples(st.integers(0, 3), st.integers(0, 4))
        judged = draw(st.dictionaries(pairs, st.sampled_from([0.0, 0.5, 1.0]), max_size=14))
        asked = {
            "i2t": np.array(draw(st.permutations(range(4)))[: draw(st.integers(1, 4))]),
            "t2i": np.array(draw(st.permutations(range(5)))[: draw(st.integers(0, 5))], dtype=int),
        }
        image, caption = np.array(sorted(judged), dtype=int).reshape(-1, 2).T
        rating = [judged[pair] for pair in sorted(judged)]
        complete = draw(st.booleans())
        table = Judgments(image, caption, rating=rating, sources=GRADED)
        truths.append((Truth(name, table, asked, complete=complete), judged))
    return truths


@settings(deadline=None)
@given(two_truths())
def test_counts_are_those_of_sets(made):
    (old, first), (new, second) = made
    for direction, side in (("i2t", 0), ("t2i", 1)):
        found = count_labels(old, new, direction)
        asked = sorted(set(old.queries[direction].tolist()) & set(new.queries[direction].tolist()))
        assert found.queries.tolist() == asked
        for k, query in enumerate(asked):
            r = {pair for pair, grade in first.items() if pair[side] == query and grade > 0}
            t = {pair for pair, grade in second.items() if pair[side] == query and grade > 0}
            seen = {pair for pair in r if new.complete or pair in second}
            expected = (len(r), len(seen), len(r & t), len(t))
            assert (found.listed[k], found.judged[k], found.found[k], found.wanted[k]) == expected
            for value, part, whole in (
                (found.precision[k], r & t, r),
                (found.judged_precision[k], r & t, seen),
                (found.recall[k], r & t, t),
            ):
                assert np.isnan(value) if not whole else value == len(part) / len(whole)


@settings(deadline=None)
@given(two_truths())
def test_estimates_are_means_over_queries(made):
    (old, _), (new, _) = made
    bench = Benchmark("b", Ids(range(4)), Ids(range(5)), {"old": old, "new": new})
    for method in ("percentile", "bca"):
        for one in label_quality(bench, "new", ["old"], intervals=Intervals(method, resamples=20)):
            for name in ("precision", "judged_precision", "recall"):
                values = getattr(one.counts, name)
                known = values[~np.isnan(values)]
                estimate = getattr(one, name)
                assert estimate.n == len(known)
                if len(known):
                    assert estimate.value == pytest.approx(known.mean())
                else:
                    assert np.isnan([estimate.value, estimate.low, estimate.high]).all()


@settings(deadline=None)
@given(two_truths())
def test_growth_counts_positives(made):
    (old, first), (new, _) = made
    bench = Benchmark("b", Ids(range(4)), Ids(range(5)), {"old": old, "new": new})
    found = growth(bench, "new", ["new", "old"])[1]
    for direction, side in (("i2t", 0), ("t2i", 1)):
        covered = set(old.queries[direction].tolist())
        expected = [
            sum(grade > 0 and pair[side] == query for pair, grade in first.items()) if query in covered else 0
            for query in new.queries[direction].tolist()
        ]
        assert found.positives[direction].tolist() == expected
        assert sum(found.histogram(direction).values()) == len(expected)


def test_the_people_must_list_their_pairs():
    class Everything:
        def relevant(self, direction, queries, items):
            return np.ones(len(items), bool)

        def positives(self, direction, queries):
            return np.full(len(queries), 5)

    asked = {"i2t": np.arange(4)}
    rule = Truth("rule", None, asked, rule=Everything())
    listed = Truth("listed", Judgments([0, 0], [1, 7], sources=[Provenance("own")]), asked)
    bench = Benchmark("b", Ids(range(4)), Ids(range(5), extra=[5, 6, 7]), {"rule": rule, "listed": listed})
    (one,) = label_quality(bench, "listed", "rule", intervals=FEW)
    # Caption 7 is outside the gallery, of which alone a rule knows.
    assert one.counts.found.tolist() == [1, 0, 0, 0]
    assert one.counts.wanted.tolist() == [2, 0, 0, 0]
    assert one.recall.value == 0.5
    with pytest.raises(InputError, match="is a rule"):
        label_quality(bench, "rule", "listed")
    with pytest.raises(InputError, match="no older truth"):
        label_quality(bench, "listed", [])


def test_table_3_of_eccv_caption():
    coco = karat.load_benchmark("coco")
    found = {one.truth: one for one in growth(coco, "eccv", ["coco-5k", "cxc", "eccv"])}
    counts = {name: (one.total("t2i"), one.total("i2t")) for name, one in found.items()}
    assert counts == {"coco-5k": (1332, 6305), "cxc": (1895, 8906), "eccv": (11279, 22550)}
    assert [round(found["eccv"].factor[d], 2) for d in ("t2i", "i2t")] == [8.47, 3.58]
    assert [round(found["cxc"].factor[d], 2) for d in ("t2i", "i2t")] == [1.42, 1.41]


def test_plausible_match_in_table_2_of_eccv_caption():
    """Of table 2, the row of Plausible Match comes out against ECCV Caption itself."""
    data = os.environ.get("KARAT_DATA")
    if not data:
        pytest.skip("KARAT_DATA does not name the data folder")
    coco = karat.load_benchmark("coco", boxes=Path(data) / "coco" / "coco_karpathy_test_boxes.json")
    found = label_quality(coco, "eccv", ["pm(z=2)"], intervals=FEW)
    ours = [100 * value for one in found for value in (one.precision.value, one.recall.value)]
    assert ours == pytest.approx([8.3, 74.6, 10.5, 69.0], abs=0.5)
