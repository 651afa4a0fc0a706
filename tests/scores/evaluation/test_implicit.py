"""A truth that is a rule gives what the same truth gives when its pairs are listed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.benchmarks import Benchmark, Fold, Ids, Judgments, Provenance, Truth
from karat.measures import TIE_POLICIES


class SameColour:
    """Relevant when the colours agree."""

    def __init__(self, images: np.ndarray, captions: np.ndarray) -> None:
        self.sides = {"i2t": (images, captions), "t2i": (captions, images)}

    def relevant(self, direction, queries, items):
        asking, asked = self.sides[direction]
        return asking[queries] == asked[items]

    def positives(self, direction, queries):
        asking, asked = self.sides[direction]
        return (asking[queries][:, None] == asked).sum(axis=1)


MEASURES = (
    "R@1",
    "R@3",
    "P@2",
    "Recall@4",
    "RP",
    "RP(cut=2)",
    "mAP@R",
    "AP",
    "MRR",
    "nDCG@3",
    "MedR",
    "Judged@3",
)


# A rule lists no labels, which trec_eval's order of ties needs; see test_trec_eval.py.
@pytest.mark.parametrize("policy", [policy for policy in TIE_POLICIES if policy != "trec_eval"])
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), folds=st.booleans())
def test_rule_equals_list(policy: str, seed: int, folds: bool):
    rng = np.random.default_rng(seed)
    n_images, n_captions = rng.integers(1, 7), rng.integers(1, 9)
    images, captions = rng.integers(0, 3, n_images), rng.integers(0, 3, n_captions)
    queries = {"i2t": np.arange(n_images), "t2i": np.arange(n_captions)}
    parts = [Fold("a", np.arange(0, n_images, 2), np.arange(0, n_captions, 2))] if folds else []
    everything = np.indices((n_images, n_captions)).reshape(2, -1)
    rating = (images[:, None] == captions).ravel()
    listed = Judgments(*everything, rating=rating, sources=[Provenance("list")])
    bench = Benchmark(
        "colours",
        Ids(range(n_images), kind="image"),
        Ids(range(n_captions), kind="caption"),
        {
            "list": Truth("list", listed, queries, folds=parts),
            "rule": Truth("rule", None, queries, folds=parts, rule=SameColour(images, captions)),
        },
    )
    scores = rng.integers(0, 4, (n_images, n_captions)).astype(np.float32)
    runs = [karat.load_run(scores, name="scores")]
    lists = {}
    for direction, table in (("i2t", scores), ("t2i", scores.T)):
        order = np.argsort(-table, axis=1, kind="stable")[:, :2]
        lists[direction] = dict(enumerate(order.tolist()))
    runs.append(karat.load_run(lists, name="two"))
    card = karat.evaluate(runs, bench, MEASURES, ties=policy)
    for column in card:
        if column.truth == "list":
            where = {"direction": column.direction, "run": column.run}
            rule = card.value(str(column.measure), truth="rule", **where)
            if column.value is None:
                assert rule is None, (str(column.measure), where)
            else:
                assert rule == pytest.approx(column.value, abs=1e-12), (str(column.measure), where)


def test_counts_of_a_rule_are_shown():
    rule = SameColour(np.array([0, 1]), np.array([0, 0, 1]))
    bench = Benchmark(
        "colours",
        Ids(range(2), kind="image"),
        Ids(range(3), kind="caption"),
        {"rule": Truth("rule", None, {"i2t": np.arange(2)}, rule=rule)},
    )
    assert bench.summary()[0]["i2t"]["positives"] == 3
    with pytest.raises(karat.KaratError, match="lists no pairs"):
        bench.truth("rule").judged("i2t")
