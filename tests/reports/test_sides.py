"""Reports of benchmarks whose sides are not images and captions: their words, and the table of queries."""

import re
from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.benchmarks import (
    KINDS,
    Benchmark,
    Grouping,
    Ids,
    Judgments,
    Provenance,
    Side,
    Truth,
    directions_of,
    same_side,
    sides_of,
)
from karat.estimation import ESTIMATORS, ScoreEstimate, Simulation
from karat.reports import write_report
from karat.world import make_world, simulate
from reports.test_estimate_page import make_column, make_simulated
from reports.test_failure_page import texts, unpacked
from reports.test_report import Page

SIZES = (30, 40)
QUERIES_DOCUMENTS = sides_of("q2d")
IMAGES_TAGS = (KINDS["i"], Side("text", "tag", "tags"))
CLIPS_TEXTS = sides_of("t2a")


def make(sides, directions=None, complete=False, **more) -> Benchmark:
    """A benchmark of these sides with random labels, asked in these directions."""
    rng = np.random.default_rng(0)
    directions = directions or directions_of(sides)
    same = same_side(directions[0])
    one, other = (SIZES[1], SIZES[1]) if same else SIZES
    first, second = np.nonzero(rng.random((one, other)) < 0.15)
    if same:
        first, second = (side[first < second] for side in (first, second))
    rating = (rng.random(len(first)) < 0.6).astype(int)
    judged = Judgments(first, second, rating=rating, sources=[Provenance("people")])
    if complete:
        judged = Judgments(first, second, sources=[Provenance("people")])
    asked = dict(zip(directions_of(sides), (np.arange(one), np.arange(other))))
    truth = Truth("people", judged, {way: asked[way] for way in directions}, complete=complete)
    ids = [Ids([f"{letter}{k}" for k in range(n)]) for letter, n in (("a", one), ("b", other))]
    if same:
        ids[1] = ids[0]
    return Benchmark("made", *ids, {"people": truth}, sides=sides, **more)


def make_runs(bench: Benchmark, number: int = 2) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    shape = bench.images.size, bench.captions.size
    return {f"run {k}": rng.normal(size=shape).astype(np.float32) for k in range(number)}


def page_of(bench: Benchmark, folder, runs: int = 2, measure=("R@1", "mAP@R")) -> Page:
    target = folder / "report.html"
    karat.report(make_runs(bench, runs), bench, list(measure), output=target, samples=99, resamples=50)
    return Page(target)


def strings(data) -> list[str]:
    """Every text in a page's data, without those that are packed."""
    if isinstance(data, str):
        return [data] if len(data) < 500 else []
    parts = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return [text for part in parts for text in strings(part)]


def all_words(page: Page) -> str:
    """Everything that a reader sees or hears, and what the scripts draw, without the name of a paper."""
    seen = page.text.split("Skip to the findings")[1]
    heard = [value for name, value in page.attributes if name in ("aria-label", "alt", "title") and value]
    return " ".join([seen, *heard, *strings(page.data)]).replace("ECCV Caption", "")


@pytest.mark.parametrize("runs", [1, 2])
def test_queries_and_documents(tmp_path, runs):
    page = page_of(make(QUERIES_DOCUMENTS, ["q2d"]), tmp_path, runs)
    for said in (
        "for each of 30 queries, find the documents that fit", "documents fit a query, on average",
        "Nobody can judge every query with every document", "query → document",
        "a query has", "right documents on average", "Right documents", "Number of queries",
        "by the number of documents to choose from", "made: 30 queries, 40 documents", "30 queries",
        "Queries drawn one by one",
    ):  # fmt: skip
        assert said in page.text, said
    assert bool(re.search(r", on \d+ queries\.", page.text)) == (runs == 2)
    assert not re.search("image|caption|picture|text → ", all_words(page), re.IGNORECASE)
    [table] = page.data["queries"]["tables"]
    assert [side["head"] for side in page.data["queries"]["sides"]] == ["Query", "Document"]
    assert table["asks"] == 0


def test_composed_queries_and_images(tmp_path):
    page = page_of(make(sides_of("it2i"), ["it2i"]), tmp_path)
    for said in (
        "for each of 30 queries, find the images that fit", "images fit a query, on average",
        "every query with every image", "image+text → image", "30 queries, 40 images",
    ):  # fmt: skip
        assert said in page.text, said
    assert not re.search("caption|picture", all_words(page), re.IGNORECASE)


@pytest.mark.parametrize("complete", [False, True])
def test_a_collection_that_is_searched_with_its_own_items(tmp_path, complete):
    page = page_of(make(sides_of("i2i"), complete=complete), tmp_path)
    for said in (
        "for each of 40 images, find the other images that fit", "other images fit an image, on average",
        "every image with every other", "image → image", "made: 40 images.",
    ):  # fmt: skip
        assert said in page.text, said
    assert ("every pair of images is judged" in page.text) == complete
    assert not re.search("caption|picture", all_words(page), re.IGNORECASE)


def test_tags_are_called_tags(tmp_path):
    bench = make(IMAGES_TAGS, texts=[f"tag {k}" for k in range(SIZES[1])], complete=True)
    page = page_of(bench, tmp_path)
    for said in (
        "for each of 30 images, find the tags that fit, and for each of 40 tags, find the images that fit",
        "images fit a tag, on average", "every pair of image and tag is judged", "every image with every tag",
        "30 images, 40 tags", "a tag has",
    ):  # fmt: skip
        assert said in page.text, said
    assert not re.search("caption|picture", all_words(page), re.IGNORECASE)


def test_the_direction_in_which_the_second_side_asks_is_first(tmp_path):
    page = page_of(make(QUERIES_DOCUMENTS), tmp_path)
    ways = ["document → query", "query → document"]
    for name in ("positives", "gallery"):
        assert list(dict.fromkeys(view["key"][1] for view in page.data[name]["views"])) == ways
    assert [table["key"][1] for table in page.data["queries"]["tables"]] == ways
    assert [table["asks"] for table in page.data["queries"]["tables"]] == [1, 0]


def test_groups_have_their_own_words(tmp_path):
    owner = np.arange(SIZES[1]) % SIZES[0]
    text = page_of(make(CLIPS_TEXTS, caption_image=owner), tmp_path).text
    for said in (
        "of 30 clips.", "since captions of one clip are not independent", "clustered by clip",
        "Clips (clusters)",
    ):  # fmt: skip
        assert said in text, said
    names = np.array(["rain", "trade", "ships"])
    topics = Grouping(
        Side("", "topic", "topics"), "topics with their queries", names, (np.arange(30) % 3, None)
    )
    text = page_of(make(QUERIES_DOCUMENTS, ["q2d"], groups=topics), tmp_path).text
    for said in (" of 3 topics.", "since queries of one topic are not independent", "Topics (clusters)"):
        assert said in text, said


@pytest.mark.parametrize("direction", ["q2d", "it2i", "i2i"])
def test_the_table_of_queries_counts_right_answers(tmp_path, direction):
    bench = make(sides_of(direction), [direction])
    page = page_of(bench, tmp_path)
    [table] = page.data["queries"]["tables"]
    arrays = unpacked(table["pack"])
    pairs = bench.truth("people").judgments.pairs()
    right = {(q, i) for q, i, grade in zip(pairs.image, pairs.caption, pairs.grade) if grade > 0}
    if direction == "i2i":
        right |= {(i, q) for q, i in right}
    count = [sum(q == query for q, _ in right) for query in arrays[table["query"]]]
    assert arrays[table["count"]].tolist() == count
    listed = [
        item for query in arrays[table["query"]] for item in sorted(i for q, i in right if q == query)[:12]
    ]
    assert arrays[table["right"]].tolist() == listed
    firsts = unpacked(page.data["queries"]["firsts"][direction])
    for run, first in enumerate(firsts):
        hits = [(query, first[query]) in right for query in arrays[table["query"]]]
        assert arrays[table["hits"][run]].tolist() == hits
        if direction == "i2i":
            assert not any(first[query] == query for query in arrays[table["query"]])


def test_texts_of_one_collection_are_those_of_queries_and_answers(tmp_path):
    sentences = [f"sentence {k}" for k in range(SIZES[1])]
    same = page_of(make(sides_of("t2t"), texts=sentences), tmp_path).data["queries"]
    assert [side["texts"] for side in same["sides"]] == [True, True]
    apart = page_of(make(QUERIES_DOCUMENTS, ["q2d"], texts=sentences), tmp_path).data["queries"]
    assert [side["texts"] for side in apart["sides"]] == [False, True]
    assert [side["listed"] for side in apart["sides"]] == ["gallery", "texts"]
    assert texts(apart["texts"]) == sentences


def test_estimates_show_queries_and_documents(tmp_path):
    bench = make(QUERIES_DOCUMENTS, ["q2d"])
    pictured = make(sides_of("i2t"), ["i2t"])
    runs = [karat.load_run(scores, pictured, name=name) for name, scores in make_runs(bench).items()]
    column = replace(make_column(pictured, runs, "i2t", "people"), direction="q2d")
    made = ScoreEstimate((column,), ESTIMATORS["naive"](), "population", "a", "b", (), bench)
    page = Page(write_report(made, tmp_path / "estimate.html"))
    queries = page.data["strips"]["groups"][0]["queries"]
    assert {one["query"]["text"][0] for one in queries} == {"a"}
    assert {result["text"][0] for one in queries for result in one["results"]} == {"b"}
    assert "over queries is added." in page.text
    assert not re.search("image →|caption of|captions|picture", all_words(page), re.IGNORECASE)
    loose = Page(write_report(replace(made, benchmark=None), tmp_path / "loose.html"))
    [group] = loose.data["strips"]["groups"][:1]
    assert group["queries"][0]["query"]["text"].startswith("query ")
    assert group["queries"][0]["results"][0]["text"].startswith("document ")


@pytest.mark.parametrize(
    ("direction", "said"),
    [
        ("q2d", "Every query asks, and all documents are ranked"),
        ("i2i", "Every image asks, and all other images are ranked"),
    ],
)
def test_effort_is_told_in_the_words_of_the_sides(tmp_path, direction, said):
    made = Simulation((replace(make_simulated(), direction=direction),), 3, "a", "b", ())
    assert said in Page(write_report(made, tmp_path / "effort.html")).text


def test_failures_of_tags(tmp_path):
    world = make_world(20, captions=2, seed=2)
    bench = replace(world.benchmark(), sides=IMAGES_TAGS)
    karat.explain(simulate(world, 1), bench).save(tmp_path / "failures.html")
    page = Page(tmp_path / "failures.html")
    assert "% of tags (text → image" in page.text
    assert [side["head"] for side in page.data["failures"]["sides"]] == ["Image", "Tag"]
    assert [table["asks"] for table in page.data["failures"]["tables"]] == [1, 0]


def test_similarities_are_not_of_captions(tmp_path):
    bench = make(QUERIES_DOCUMENTS, ["q2d"])
    like = np.random.default_rng(2).random((bench.images.size, bench.captions.size))
    target = tmp_path / "report.html"
    measure = [f"SR(n, m={m})@5" for m in (1, 4, 9)]
    given = {"phi": {"n": like}, "direction": "q2d", "samples": 99, "resamples": 50}
    karat.report(make_runs(bench), bench, measure, output=target, **given)
    assert "the m items most similar to the query count as right" in Page(target).text
