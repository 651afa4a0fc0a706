"""Orders that explain a run at chance level: found where they are true, and never in noise."""

import json
from math import exp, factorial

import numpy as np
import pytest

import karat
from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth, build, sides_of
from karat.scores.evaluation.id_orders import caption_numbers, likely_orders, poisson_tail, suggest_order


@pytest.fixture
def bench():
    """Images and captions in an order that is not sorted; images have one to four captions."""
    rng = np.random.default_rng(8)
    names = [f"{n}.jpg" for n in rng.permutation(np.arange(5, 185))]
    owner = np.repeat(names, rng.integers(1, 5, len(names)))
    captions = [f"c{k}" for k in rng.permutation(len(owner))]
    return build("made", names, captions, owner, ["text"] * len(owner), where="", about="")


def table(bench, rng, strength=4.0):
    scores = rng.normal(size=(bench.images.size, bench.captions.size))
    scores[bench.caption_image, np.arange(bench.captions.size)] += strength
    return scores


def suggestion(bench, scores):
    return suggest_order(karat.load_run(scores, benchmark=bench), bench, "original")


def test_each_side_is_found_alone_and_with_the_other(bench, rng):
    scores = table(bench, rng)
    images, captions = np.argsort(bench.images.gallery), np.argsort(bench.captions.gallery)
    assert suggestion(bench, scores[images]).images == "sorted by id as text"
    assert suggestion(bench, scores[:, captions]).captions == "sorted by id as text"
    both = suggestion(bench, scores[images][:, captions])
    assert (both.images, both.captions) == ("sorted by id as text", "sorted by id as text")
    natural = np.argsort([int(name.split(".")[0]) for name in bench.images.gallery])
    assert suggestion(bench, scores[natural]).images == "sorted by id, numbers in it as numbers"


def test_captions_grouped_by_image_and_one_after_the_other(bench, rng):
    scores = table(bench, rng)
    place = np.argsort(np.argsort(bench.images.gallery))[bench.caption_image]
    images = np.argsort(bench.images.gallery)
    grouped = np.argsort(place, kind="stable")
    assert (
        suggestion(bench, scores[images][:, grouped]).captions
        == "grouped by image, images sorted by id as text"
    )
    striped = np.lexsort((bench.caption_image, caption_numbers(bench.caption_image)))
    assert suggestion(bench, scores[:, striped]).captions.startswith(
        "with the first of every image, then the second"
    )


def test_distances_in_another_order(bench, rng):
    images = np.argsort(bench.images.gallery)
    found = suggestion(bench, -table(bench, rng)[images])
    assert found.negated
    assert found.images == "sorted by id as text"
    assert not suggestion(bench, -table(bench, rng)).reordered


def test_it_says_what_an_evaluation_of_that_order_says(bench, rng):
    images = np.argsort(bench.images.gallery)
    scores = table(bench, rng, 2.0)[images]
    found = suggestion(bench, scores)
    run = karat.load_run(scores, ids={"images": bench.images.gallery[images]})
    card = karat.evaluate(run, bench, "R@1")
    for direction in ("i2t", "t2i"):
        whole = card.value("R@1", direction=direction)
        assert found.recalls[direction] == pytest.approx(
            whole, abs=3 * np.sqrt(whole / found.queries[direction])
        )
    assert found.recalls["i2t"] == pytest.approx(card.value("R@1", direction="i2t"))  # all images were asked


def test_noise_and_a_collapsed_model_get_no_suggestion(bench):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        assert suggestion(bench, rng.normal(size=(bench.images.size, bench.captions.size))) is None
    assert suggestion(bench, np.zeros((bench.images.size, bench.captions.size))) is None


def test_one_answer_for_all_is_not_an_order(rng):
    """A class that is often relevant and always first: far above chance of a random ranking, by no order."""
    names = [f"i{k}" for k in rng.permutation(300)]
    kinds = np.r_[np.full(240, 0), rng.integers(1, 10, 60)]
    from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth

    own = Judgments(np.arange(300), kinds, sources=[Provenance("class")])
    truth = Truth("class", own, {"i2t": np.arange(300)})
    bench = Benchmark(
        "classes", Ids(names, kind="image"), Ids([f"k{k}" for k in rng.permutation(10)], kind="caption"),
        {"class": truth},
    )  # fmt: skip
    for always in range(10):
        scores = np.zeros((300, 10))
        scores[:, always] = 1
        assert suggest_order(karat.load_run(scores, benchmark=bench), bench, "class") is None


def test_ids_that_are_wrong_are_told_from_the_benchmarks_own_order(bench, rng):
    ids = {"images": np.sort(bench.images.gallery)}
    run = karat.load_run(table(bench, rng), benchmark=bench, ids=ids)
    assert suggest_order(run, bench, "original").images == "in the benchmark's own order"


def test_the_order_of_an_annotation_file(tmp_path, rng):
    images = [{"id": int(k), "file_name": f"{k}.jpg"} for k in rng.permutation(80)]
    annotations = [{"id": int(k), "image_id": int(k % 80), "caption": "x"} for k in rng.permutation(240)]
    path = tmp_path / "captions_small.json"
    path.write_text(json.dumps({"images": images, "annotations": annotations}))
    bench = karat.load_benchmark(path)
    in_file = bench.captions.index([entry["id"] for entry in annotations])
    found = suggestion(bench, table(bench, rng)[:, in_file])
    assert found.captions == "in the order of captions_small.json"


def test_a_suggestion_is_in_the_words_of_the_sides(rng):
    names, number = rng.permutation(np.arange(100, 200)), np.arange(100)
    own = Judgments(number, number, sources=[Provenance("original")])
    truth = Truth("original", own, {"q2d": number, "d2q": number})
    ids = Ids(names, kind="query"), Ids(names, kind="document")
    bench = Benchmark("made", *ids, {"original": truth}, sides=sides_of("q2d"))
    order = np.argsort(names)
    assert str(suggestion(bench, np.eye(100)[order])).startswith(
        "with the queries sorted by id as numbers R@1"
    )
    assert str(suggestion(bench, np.eye(100)[:, order])).startswith("with the documents sorted by id")


def test_orders_are_permutations_and_differ(bench):
    sizes = [ids.size for ids in bench.ids]
    for orders, size in zip(likely_orders(bench, *map(np.arange, sizes)), sizes):
        assert orders[0].words == ""
        assert all(np.array_equal(np.sort(order.row), np.arange(size)) for order in orders)
        assert len({order.row.tobytes() for order in orders}) == len(orders)


def test_the_bound_is_one():
    for mean in (0.1, 1.0, 5.0):
        for count in range(1, 30):
            tail = 1 - sum(exp(-mean) * mean**k / factorial(k) for k in range(count))
            assert poisson_tail(count, mean) >= tail - 1e-12


def test_recall_at_more_tells_where_there_is_no_recall_at_one(bench, rng):
    noise = rng.normal(size=(bench.images.size, bench.captions.size))
    assert (
        "R@5 on original (i2t) is at chance level" in karat.evaluate(noise, bench, ["R@5", "R@10"]).notes[0]
    )
    assert "R@1 on original" in karat.evaluate(noise, bench, ["R@10", "R@1"]).notes[0]
    assert not karat.evaluate(table(bench, rng), bench, ["R@100", "MedR"]).notes
