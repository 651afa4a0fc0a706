"""Estimates where the sides are not images and captions: queries and documents, and one side alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.benchmarks import KINDS, Grouping, Judgments, Provenance, Truth
from karat.errors import InputError
from karat.estimation import estimate_project, make_candidates, next_pairs, truth_labels, vet
from karat.estimation.candidates import random_keys
from karat.estimation.query_means import clusters_of
from karat.estimation.relevance import KEY_BASE
from karat.forms import load_form
from karat.measures import parse_measure
from karat.store import create_project
from searches import make_search


def by_hand(search, path, k=5):
    """Return P@k and AP of a run, over the queries that the truth covers."""
    (direction,) = search.benchmark.asked_directions
    precisions, averages = [], []
    for query in search.benchmark.truth("qrels").queries[direction].tolist():
        # The benchmark's numbers are those of the files' order.
        hits = search.grade[query][search.order(path, query)]
        precisions.append(hits[:k].mean())
        places = np.flatnonzero(hits) + 1
        if len(places):
            averages.append(np.mean(np.arange(1, len(places) + 1) / places))
    return np.mean(precisions), np.mean(averages)


@pytest.mark.parametrize("direction", ["q2d", "it2i", "t2v", "i2i", "t2t"])
def test_all_labels_give_the_score_itself(tmp_path, direction):
    search = make_search(tmp_path, direction)
    how = search.files, search.benchmark, ["P@5", "AP"]
    estimate = karat.estimate(*how, noisy="qrels", vetted="qrels")
    card = karat.evaluate(*how, direction=direction)
    for path in search.files:
        for measure, value in zip(("P@5", "AP"), by_hand(search, path)):
            assert estimate.value(measure, path.stem, direction) == pytest.approx(value, abs=1e-9)
            assert card.value(measure, run=path.stem, direction=direction) == pytest.approx(value, abs=1e-9)
    assert {record["direction"] for record in estimate.records()} == {direction}
    for column in estimate.columns:
        np.testing.assert_allclose(column.spread, 0, atol=1e-12)


def test_the_words_are_those_of_the_sides(tmp_path):
    search = make_search(tmp_path, "q2d")
    how = search.files, search.benchmark, "P@5"
    assert "query→document" in str(karat.estimate(*how, noisy="qrels", vetted="qrels"))
    with pytest.raises(InputError, match=r"unknown direction .v2t.; known: q2d, d2q"):
        karat.estimate(*how, noisy="qrels", vetted="qrels", direction="v2t")
    with pytest.raises(InputError, match="truth 'qrels' has no d2q queries"):
        karat.estimate(*how, noisy="qrels", vetted="qrels", direction="d2q")
    labels = tmp_path / "labels.csv"
    labels.write_text("image,caption,label\nq0,d1,1\nq0,d2,7\n")
    with pytest.raises(InputError, match="the label of query q0 with document d2 is 7"):
        karat.estimate(*how, noisy="qrels", vetted=labels)
    sources = [Provenance("one"), Provenance("two")]
    twice = Judgments([0, 0], [1, 1], rating=[1, 0], source=[0, 1], sources=sources)
    both = Truth("both", twice, {"q2d": np.arange(1)})
    with pytest.raises(InputError, match="first of query 0 with document 1"):
        karat.estimate(*how, noisy="qrels", vetted=both)
    plan = str(karat.plan(*how, rho=0.6, prevalence=0.3))
    assert "query→document" in plan
    assert "which queries were drawn" in plan
    assert "from one query to the next (here 8 queries)" in plan
    assert "image" not in plan


def test_old_names_mean_the_first_and_the_second_side(tmp_path):
    search = make_search(tmp_path, "q2d")
    asked = karat.estimate(
        search.files, search.benchmark, "P@5", noisy="qrels", vetted="qrels", direction="i2t"
    )
    assert {column.direction for column in asked.columns} == {"q2d"}


def test_nothing_is_paired_with_itself_within_one_side(tmp_path):
    search = make_search(tmp_path, "i2i")
    candidates = make_candidates(search.runs(), search.benchmark, "qrels", direction="i2i", depth=3, sample=4)
    first, second = candidates.pairs
    assert (first != second).all()
    for sample, drawn in ((7, 7), (99, 29)):
        keys = random_keys(np.arange(30), 30, sample, np.random.default_rng(0), themselves=True)
        query, item = keys // KEY_BASE, keys % KEY_BASE
        assert (query != item).all()
        assert len(np.unique(keys)) == len(keys) == 30 * drawn
        assert set(item.tolist()) == set(range(30))


def test_a_pair_within_one_side_is_one_pair_in_whichever_order(tmp_path):
    search = make_search(tmp_path, "i2i")
    candidates = make_candidates(search.runs(), search.benchmark, "qrels", direction="i2i", depth=3)
    pairs = [frozenset(pair) for pair in zip(*(side.tolist() for side in candidates.pairs), strict=True)]
    numbers = {}
    for pair, number in zip(pairs, candidates.pair.tolist(), strict=True):
        assert numbers.setdefault(pair, number) == number
    assert candidates.count(np.ones(len(candidates), bool)) == len(set(pairs)) < len(pairs)
    # Drawn labels agree: the random number that decides is one for the pair.
    luck = candidates.luck(3, np.random.default_rng(0))
    for number in np.unique(candidates.pair):
        assert np.ptp(luck[:, candidates.pair == number], axis=1).max() == 0


def test_a_label_within_one_side_is_that_of_both_orders(tmp_path):
    search = make_search(tmp_path, "i2i")
    labels = tmp_path / "labels.csv"
    rows = [
        f"{a},{b},{int(search.grade[int(a[1:]), int(b[1:])])}\n"
        for a in search.benchmark.images.gallery
        for b in search.benchmark.images.gallery
        if a > b
    ]
    labels.write_text("image,caption,label\n" + "".join(rows))
    estimate = karat.estimate(search.files, search.benchmark, "P@5", noisy="qrels", vetted=labels)
    candidates = make_candidates(
        search.runs(), search.benchmark, "qrels", direction="i2i", depth=5, noisy_positives=False
    )
    different = candidates.count(np.ones(len(candidates), bool))
    assert different < len(candidates)
    for record, path in zip(estimate.records(), search.files, strict=True):
        assert record["vetted"] == record["candidates"] == different
        assert record["value"] == pytest.approx(by_hand(search, path)[0], abs=1e-9)
    labels.write_text("image,caption,label\n" + "".join(rows) + "x0,x1,1\n")
    with pytest.raises(InputError, match="has the pair x0 and x1 in both orders"):
        karat.estimate(search.files, search.benchmark, "P@5", noisy="qrels", vetted=labels)


def test_queries_of_a_group_vary_together(tmp_path):
    search = make_search(tmp_path, "t2t")
    of = np.arange(30) // 3
    groups = Grouping(KINDS["i"], "captions by image", np.arange(10), (of, of))
    bench = replace(search.benchmark, groups=groups)
    (column,) = karat.estimate(
        search.files, bench, "P@5", noisy="qrels", vetted="qrels", target="population"
    ).columns
    queries = column.candidates.queries
    assert clusters_of(bench, column.candidates).tolist() == of[queries].tolist()
    # All labels are known: the spread over queries, in groups, is all that is left.
    for values, spread in zip(column.values, column.spread, strict=True):
        sums = [(values - values.mean())[of[queries] == group].sum() for group in np.unique(of[queries])]
        variance = np.square(sums).sum() / len(queries) ** 2 * len(sums) / (len(sums) - 1)
        assert spread == pytest.approx(np.sqrt(variance), abs=1e-9)


def test_a_project_draws_for_the_queries_of_qrels(tmp_path):
    search = make_search(tmp_path, "q2d")
    with create_project(tmp_path / "own.db", search.benchmark, load_form("pair"), source="qrels") as project:
        first = next_pairs(project, search.files, "P@5", budget=20)
        assert (first.batch.direction, len(first)) == ("q2d", 20)
        assert "query→document" in str(first)
        second = next_pairs(project, search.files, budget=20, direction="i2t")
        assert second.batch.direction == "q2d"
        keys = np.concatenate([batch.keys for batch in project.draws.read()])
        assert len(np.unique(keys)) == len(keys) == 40
        found = estimate_project(project, search.files)
        assert (found.direction, found.drawn) == ("q2d", 40)


def test_pairs_within_one_side_are_not_drawn(tmp_path):
    search = make_search(tmp_path, "i2i")
    sentence = "pairs are not drawn where images are searched with images: each would be drawn in both orders"
    with pytest.raises(InputError, match=sentence):
        karat.plan(search.files, search.benchmark, "P@3", rho=0.6, prevalence=0.3)
    with pytest.raises(InputError, match=sentence):
        karat.simulate(search.files, search.benchmark, "P@3", noisy="qrels", vetted="qrels")
    candidates = make_candidates(search.runs(), search.benchmark, "qrels", direction="i2i", depth=3)
    relevant = truth_labels(candidates, search.benchmark.truth("qrels")) > 0
    with pytest.raises(InputError, match=sentence):
        vet(
            candidates, relevant.__getitem__, parse_measure("P@3"), estimator="naive", strategy="random",
            budget=3,
        )  # fmt: skip
    with (
        create_project(tmp_path / "own.db", search.benchmark, load_form("pair"), source="qrels") as project,
        pytest.raises(InputError, match=sentence),
    ):
        next_pairs(project, search.files, "P@3")
