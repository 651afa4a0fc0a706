"""Failures and slices where the sides are not images and captions, and what is about pictures and words."""

from __future__ import annotations

import numpy as np
import pytest

import karat
from karat.benchmarks import asks_first
from karat.errors import InputError
from karat.explanations import (
    FaultChoices,
    find_failures,
    find_slices,
    make_cleaning_list,
    slice_table,
)
from karat.explanations.fault import FaultFinder
from searches import make_search


@pytest.mark.parametrize("direction", ["q2d", "it2i", "t2v", "i2i"])
def test_failures_are_those_of_the_direction(tmp_path, direction):
    search = make_search(tmp_path, direction)
    bench, path = search.benchmark, search.files[0]
    failures = find_failures(karat.load_run(path, bench), bench, "qrels", direction)
    expected = [
        (query, first)
        for query in bench.truth("qrels").queries[direction].tolist()
        if search.grade[query].any() and not search.grade[query, first := search.order(path, query)[0]]
    ]
    assert list(zip(failures.query.tolist(), failures.retrieved.tolist(), strict=True)) == expected
    assert expected
    for query, ground, place in zip(
        failures.query.tolist(), failures.ground.tolist(), failures.ground_rank.tolist(), strict=True
    ):
        assert ground == np.flatnonzero(search.grade[query])[0]
        assert place == search.order(path, query).index(ground) + 1
    # What is ranked is the first side of the pairs, or its owner there is not known.
    known = failures.retrieved if not asks_first(direction) else np.full(len(failures), -1)
    assert failures.retrieved_image.tolist() == known.tolist()
    marks = FaultFinder(bench, FaultChoices(better="qrels")).of(failures)
    assert marks.covered.all()
    assert not marks.alternative.any()


def test_an_old_name_of_a_direction_is_that_of_the_side(tmp_path):
    search = make_search(tmp_path, "q2d")
    run = karat.load_run(search.files[0], search.benchmark)
    assert find_failures(run, search.benchmark, "qrels", "i2t").direction == "q2d"
    with pytest.raises(InputError, match="unknown direction 'v2t'"):
        find_failures(run, search.benchmark, "qrels", "v2t")


@pytest.mark.parametrize("direction", ["q2d", "i2i", "t2v", "t2i"])
def test_slices_of_queries_without_words(tmp_path, direction):
    search = make_search(tmp_path, direction, queries=60, items=40)
    path, bench = search.files[0], search.benchmark
    queries = bench.truth("qrels").queries[direction]
    # Hits of the first items, and a slice in which there are none.
    first = np.array([search.order(path, query)[0] for query in range(len(search.grade))])
    weak = ~search.grade[np.arange(len(first)), first]
    report = find_slices(path, bench, slices={"weak": weak}, min_support=2, deals=99)
    assert (report.direction, report.n) == (direction, len(queries))
    found = report.slice("weak")
    assert (found.inside, found.outside, found.n) == (0, 1, weak[queries].sum())
    assert set(report.table.kinds) <= {"own", "positives", "conjunction"}
    assert report.table.direction == direction
    side = bench.query_side(direction)
    of = "" if side.many == "queries" else f" of {side.counted(len(queries))}"
    assert f"{len(queries)} queries{of} dealt out anew" in str(report)
    card = karat.evaluate(path, bench, ["R@1"], direction=direction)
    again = find_slices(card, slices={"weak": weak}, min_support=2, deals=99)
    assert again.records() == report.records()
    with pytest.raises(InputError, match=r"and this needs images and their captions|has no captions"):
        find_slices(path, bench, kinds="colours")
    assert set(slice_table(bench, kinds="positives", min_support=5).kinds) == {"positives"}


def test_few_queries_are_named_by_their_side(tmp_path):
    search = make_search(tmp_path, "q2d")
    with pytest.raises(InputError, match=r"8 queries are too few .* give 20 queries or more"):
        find_slices(search.files[0], search.benchmark)


def test_what_is_about_pictures_and_words_says_so(tmp_path):
    search = make_search(tmp_path, "q2d")
    sentence = "qrels is a benchmark of queries and documents, and this needs images and their captions"
    for call in (
        lambda: karat.explain(search.files[0], search.benchmark),
        lambda: make_cleaning_list(None, search.benchmark),
        lambda: karat.perturb(search.benchmark, "full-stop"),
        lambda: karat.robustness(search.files[0], search.files[1], search.benchmark, []),
        lambda: karat.duplicates.find_duplicates(search.benchmark),
        lambda: karat.evaluate(search.files[0], search.benchmark, ["R@1"], truth="duplicates(qrels)"),
        lambda: karat.encode(len, search.benchmark),
        lambda: karat.fit(search.benchmark),
    ):
        with pytest.raises(InputError, match=sentence):
            call()
