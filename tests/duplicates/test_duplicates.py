"""Duplicates against brute force and planted copies, and what they do to labels and scores."""

import io
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from PIL import Image

import karat
from karat.benchmarks import Benchmark, Fold, Ids, Judgments, Provenance, Truth, build, with_duplicates
from karat.captions import tokenise
from karat.duplicates import (
    caption_duplicates,
    close_rows,
    find_duplicates,
    picture_duplicates,
    print_pictures,
    texts,
    vectors,
)
from karat.errors import InputError
from karat.runs import Loading
from karat.world import make_world

from made import make_benchmark

WORDS = ["a", "the", "two", "man", "dog", "red", "ball", "on", "runs"]


def links(part):
    return list(zip(part.first.tolist(), part.second.tolist()))


def kinds(report):
    return {(part.side, part.kind): part for part in report.pairs}


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path_factory.mktemp("cache")))


# Captions.


def bag(words):
    """Words and pairs of neighbours as a list, whose repetitions count."""
    return [*words, *pairwise(words)]


def jaccard(first, second):
    first, second = bag(first), bag(second)
    shared = sum(min(first.count(f), second.count(f)) for f in set(first))
    return shared / (len(first) + len(second) - shared)


def random_captions(rng, number):
    return [" ".join(rng.choice(WORDS, rng.integers(1, 9))) for _ in range(number)]


@pytest.mark.parametrize("least", [0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("chunk", [7, 10**6])
def test_near_captions_are_those_of_brute_force(rng, monkeypatch, least, chunk):
    monkeypatch.setattr(texts, "CHUNK", chunk)
    words = list(dict.fromkeys(tokenise(text) for text in random_captions(rng, 150)))
    near = texts.near_captions(words, None, least)
    expected = {(i, j) for i, j in combinations(range(len(words)), 2) if jaccard(words[i], words[j]) >= least}
    assert sorted(links(near)) == sorted(expected)
    assert all(
        s == pytest.approx(jaccard(words[i], words[j])) for (i, j), s in zip(links(near), near.similarity)
    )
    others = list(dict.fromkeys(tokenise(text) for text in random_captions(rng, 80)))
    near = texts.near_captions(words, others, least)
    pairs = product(range(len(words)), range(len(others)))
    assert set(links(near)) == {
        (i, j) for i, j in pairs if words[i] != others[j] and jaccard(words[i], others[j]) >= least
    }


def test_captions_of_the_same_text_and_words():
    captions = ["A dog.", "a dog", "", "A dog.", "...", "A  DOG", "", "a cat"]
    same, words, near = caption_duplicates(captions)
    assert links(same) == [(0, 3), (2, 6)]
    assert links(words) == [(0, 1), (0, 5)]
    assert links(near) == []
    same, words, near = caption_duplicates(["a dog", "A cat!"], captions)
    assert (links(same), links(words), links(near)) == ([(0, 1)], [(1, 7)], [])


# Vectors.


@pytest.mark.parametrize("rows", [3, 1024])
def test_close_vectors_are_those_of_brute_force(rng, monkeypatch, rows):
    monkeypatch.setattr(vectors, "ROWS", rows)
    monkeypatch.setattr(vectors, "COLUMNS", 5 * rows)
    table, other = rng.normal(size=(40, 3)), rng.normal(size=(30, 3))
    table[7] = 0
    unit = [t / np.maximum(np.linalg.norm(t, axis=1, keepdims=True), 1e-9) for t in (table, other)]
    first, second, cosine = close_rows(table, 0.7)
    cosines = unit[0] @ unit[0].T
    assert list(zip(first, second)) == [(i, j) for i, j in combinations(range(40), 2) if cosines[i, j] >= 0.7]
    assert np.allclose(cosine, cosines[first, second], atol=1e-6)
    first, second, _ = close_rows(table, 0.7, other)
    assert list(zip(first, second)) == list(zip(*np.nonzero(unit[0] @ unit[1].T >= 0.7)))


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(vectors, "MOST_PAIRS", 10)
    with pytest.raises(InputError, match=r"more than 10 pairs have a similarity of 0\.9 or more"):
        close_rows(np.ones((20, 4)), 0.9)


def test_equal_rows_of_a_run_and_of_another_table(rng):
    bench = make_benchmark(6, 2)
    images, captions = rng.normal(size=(6, 8)), rng.normal(size=(12, 8))
    images[4] = images[1]
    captions[3] = 2 * captions[9]
    order = np.arange(5, -1, -1)
    ids = {"images": bench.images.gallery[order].tolist()}
    run = karat.load_run(images[order], captions, ids=ids, benchmark=bench)
    found = kinds(find_duplicates(bench, run))
    assert links(found["images", "same vector"]) == [(1, 4)]
    assert links(found["captions", "same vector"]) == []
    assert links(found["captions", "near vector"]) == [(3, 9)]
    report = find_duplicates(bench, run, against=(images[[2, 3]], captions[:2]))
    assert links(kinds(report)["images", "same vector"]) == [(2, 0), (3, 1)]
    assert "3 of 6 images and 6 of 12 captions" in report.notes[-1]
    with pytest.raises(InputError, match="vectors of 5 dimensions, the run of 8"):
        find_duplicates(bench, run, against=rng.normal(size=(3, 5)))


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_equal_rows_are_found_whatever_the_other_table_is_kept_in(rng, tmp_path, monkeypatch, similarity):
    monkeypatch.chdir(tmp_path)
    bench = make_benchmark(6, 2)
    images, captions = (rng.normal(size=(size, 8)).astype(np.float16) for size in (6, 12))
    train = np.concatenate([rng.normal(size=(3, 8)), images[2:4]]).astype(np.float16)
    names = [f"train{row}" for row in range(5)]
    np.save("images.npy", images)
    np.save("captions.npy", captions)
    for dtype in ("float16", "float32", "float64"):
        np.save(f"{dtype}.npy", train.astype(dtype))
    for name in ("train.parquet", "train.tar"):
        ids = {"images": names, "captions": names}
        karat.convert(train, train, target=name, kind="embeddings", ids=ids)
    (tmp_path / "shards").mkdir()
    for number in range(2):
        np.save(f"shards/part_{number}.npy", train[3 * number : 3 * number + 3])
    others = [
        "float16.npy",
        "float32.npy",
        "float64.npy",
        "train.images.parquet",
        "train.images.tar",
        "shards",
    ]
    for against in (*others, ["shards", "shards"], train):
        report = find_duplicates(
            bench, "images.npy", "captions.npy", against=against, loading=Loading(similarity=similarity)
        )
        assert links(kinds(report)["images", "same vector"]) == [(2, 3), (3, 4)]
        assert "2 of 6 images" in report.notes[-1]
        assert report.records()[0]["second"] in (3, "train3")


# Pictures.


def saved_again(picture, quality=30):
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=quality)
    return Image.open(file).convert("RGB")


def cropped(picture, share=0.02):
    width, height = picture.size
    x, y = round(width * share), round(height * share)
    return picture.crop((x, y, width - x, height - y))


COPIES = {
    "jpeg": saved_again,
    "half": lambda picture: picture.resize((picture.width // 2, picture.height // 2)),
    "cropped": cropped,
    "grey": lambda picture: picture.convert("L"),
}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Drawn pictures: 12 of them, four copies of each, and its mirror image."""
    folder = tmp_path_factory.mktemp("drawn")
    world = make_world(12, seed=5)
    world.save(folder / "world")
    bench = karat.load_benchmark(folder / "world")
    for number, path in enumerate(bench.image_paths):
        picture = Image.open(path).convert("RGB")
        for name, change in COPIES.items():
            change(picture).save(folder / f"{number:02}-{name}.png")
        picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(folder / f"{number:02}-mirrored.png")
    return bench, folder


def test_planted_copies_are_found(drawn):
    bench, folder = drawn
    report = find_duplicates(bench, against=folder)
    found = kinds(report)
    names = report.other_ids["images"]

    def copies(kind):
        return {
            (own, names[other].partition("-")[2].removesuffix(".png"))
            for own, other in links(found["images", kind])
            if names[other].startswith(f"{own:02}-")
        }

    # The folder also holds the world itself.
    assert len(found["images", "same file"]) == 12
    same, near = copies("same picture"), copies("near picture")
    assert {(own, name) for own in range(12) for name in ("jpeg", "grey")} <= same
    assert {(own, name) for own in range(12) for name in COPIES} <= same | near
    assert not any(name == "mirrored" for _, name in same | near)
    # Each picture is the same picture as its own copies alone.
    assert all(
        names[other].startswith((f"{own:02}-", "world"))
        for own, other in links(found["images", "same picture"])
    )
    assert "12 of 12 images" in report.notes[-1]


def test_unreadable_pictures_are_noted(drawn, tmp_path):
    bench, _ = drawn
    (tmp_path / "broken.jpg").write_bytes(b"not a picture")
    paths = [
        bench.image_paths[0],
        str(tmp_path / "broken.jpg"),
        str(tmp_path / "missing.png"),
        bench.image_paths[0],
    ]
    assert print_pictures(paths).unread.tolist() == [1, 2]
    files, same, near = picture_duplicates(print_pictures(paths))
    assert (links(files), len(same), len(near)) == ([(0, 3)], 0, 0)
    ids = Ids(range(4), kind="image"), Ids(range(4), kind="caption")
    own = Truth("own", Judgments(range(4), range(4), sources=[Provenance("original")]), {"i2t": np.arange(4)})
    report = find_duplicates(Benchmark("pets", *ids, {"own": own}, image_paths=paths))
    assert report.notes[0] == "2 pictures of pets could not be read, first 1"


def test_prints_are_kept_until_a_file_changes(drawn, tmp_path, monkeypatch):
    bench, _ = drawn
    path = tmp_path / "a.png"
    Image.open(bench.image_paths[0]).save(path)
    before = print_pictures([path])
    monkeypatch.setattr("karat.duplicates.pictures.decode_bytes", lambda *_, **__: 1 / 0)
    assert (print_pictures([path]).outlines == before.outlines).all()
    monkeypatch.undo()
    Image.open(bench.image_paths[1]).save(path)
    assert (print_pictures([path]).digests != before.digests).any()


# Labels.


def slow_truth(pairs, judged, images, captions):
    """Pair by pair: relevant where any member of both groups is, unless it is judged already."""
    added = set()
    for (image, caption), (i, c) in product(pairs, product(range(len(images)), range(len(captions)))):
        if images[i] == images[image] and captions[c] == captions[caption] and (i, c) not in judged:
            added.add((i, c))
    return added


def test_labels_are_those_of_brute_force(rng):
    judged = {
        (int(i), int(c)): float(r)
        for i, c, r in zip(rng.integers(0, 8, 30), rng.integers(0, 12, 30), rng.random(30) < 0.6)
    }
    image, caption = np.array(list(judged)).T
    table = Judgments(image, caption, rating=list(judged.values()), sources=[Provenance("people")])
    truth = Truth("own", table, {"i2t": np.arange(8), "t2i": np.arange(12)})
    images, captions = rng.integers(0, 4, 8), rng.integers(0, 6, 12)
    # Groups are numbered without gaps.
    images, captions = (np.unique(groups, return_inverse=True)[1] for groups in (images, captions))
    more = with_duplicates(truth, images, captions)
    source = [s.name for s in more.judgments.sources].index("duplicate")
    rows = more.judgments.source == source
    added = set(zip(more.judgments.image[rows].tolist(), more.judgments.caption[rows].tolist()))
    assert added == slow_truth([pair for pair, rating in judged.items() if rating], judged, images, captions)
    # Both directions have the same pairs.
    sides = [more.judged(way) for way in ("i2t", "t2i")]
    both = [{*zip(r.query_of_row.tolist(), r.item.tolist(), r.grade.tolist())} for r in sides]
    assert both[0] == {(i, c, g) for c, i, g in both[1]}


@pytest.fixture
def pets():
    """Captions 1 and 2 say the same of two images; captions 3 and 4 belong to the third image."""
    captions = ["a dog", "two dogs run", "Two dogs run.", "a cat", "a black cat"]
    return build("pets", ["x", "y", "z"], range(5), ["x", "x", "y", "z", "z"], captions, where="", about="")


def test_positives_outside_the_gallery_and_grades(pets):
    graded = Judgments(
        [0, 0, 1], [1, 7, 2], rating=[0.5, 1, 1], sources=[Provenance("p", mapping=lambda rating: rating)]
    )
    truth = Truth("graded", graded, {"i2t": np.arange(3)})
    more = with_duplicates(truth, np.array([0, 0, 1]), np.array([0, 1, 1, 2, 3]))
    pairs = more.judgments.pairs()
    # Added pairs have the highest grade; what is judged keeps its own. Caption 7 is outside the gallery.
    assert [*zip(pairs.image, pairs.caption, pairs.grade)] == [
        (0, 1, 0.5),
        (0, 2, 1),
        (0, 7, 1),
        (1, 1, 1),
        (1, 2, 1),
        (1, 7, 1),
    ]


def test_scores_with_duplicates(pets):
    scores = np.zeros((3, 5))
    scores[0, [0, 2]] = 0.5, 1
    scores[1, 1], scores[2, 3] = 1, 1
    truths = ["original", "duplicates(original)"]
    card = karat.evaluate(scores, pets, ["R@1", "RP"], truth=truths)
    assert card.value("R@1", truth="original", direction="i2t") == pytest.approx(1 / 3)
    assert card.value("R@1", truth="duplicates(original)", direction="i2t") == 1
    note = (
        "duplicates(original): 2 pairs are relevant by a duplicate; 2 images and 2 captions have a higher R"
    )
    assert note in card.notes
    # "Two dogs run." is not the same text.
    exact = karat.evaluate(scores, pets, ["R@1"], truth="duplicates(original, exact)", direction="i2t")
    assert exact.value("R@1", direction="i2t") == pytest.approx(1 / 3)
    report = find_duplicates(pets, scores)
    assert note in report.notes
    assert report.scores.value("R@1", truth="duplicates(original)", direction="i2t") == 1


def test_folds_keep_their_galleries(pets):
    truth = pets.truths["original"]
    folds = [Fold("a", np.array([0, 2]), np.array([0, 1, 3, 4])), Fold("b", np.array([1]), np.array([2]))]
    bench = replace(pets, truths={"own": replace(truth, name="own", folds=folds)})
    scores = np.zeros((3, 5))
    values = [
        karat.evaluate(scores, bench, ["RP"], truth=name, direction="i2t", ties="optimistic")
        for name in ("own", "duplicates(own)")
    ]
    # The duplicates are in different folds, so that no query ranks both.
    assert values[0].value("RP", direction="i2t") == values[1].value("RP", direction="i2t")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("duplicates()", "does not name a truth with duplicates"),
        ("duplicates(cxc)", "cxc"),
        ("duplicates(complete)", "is complete"),
    ],
)
def test_what_has_no_duplicates(pets, name, message):
    complete = replace(pets.truths["original"], name="complete", complete=True)
    bench = replace(pets, truths={**pets.truths, "complete": complete})
    with pytest.raises(karat.KaratError, match=message):
        karat.evaluate(np.zeros((3, 5)), bench, ["R@1"], truth=name)


def test_nothing_to_compare():
    with pytest.raises(InputError, match="has neither image files nor captions"):
        find_duplicates(make_benchmark(4, 2))
    with pytest.raises(InputError, match="has neither image files nor captions"):
        karat.evaluate(np.zeros((4, 8)), make_benchmark(4, 2), truth="duplicates(own)")
    with pytest.raises(InputError, match="near_words is 0"):
        find_duplicates(make_benchmark(4, 2), near_words=0)


def test_records_name_both(pets, tmp_path):
    report = find_duplicates(pets)
    assert report.records() == [
        {"side": "captions", "kind": "same words", "first": 1, "second": 2, "similarity": 1.0}
    ]
    report.save(tmp_path / "pairs.csv")
    assert (tmp_path / "pairs.csv").read_text().splitlines()[1] == "captions,same words,1,2,1.0"
    assert [(c.kind, c.items, c.groups, c.across) for c in report.counts()] == [
        ("same text", 0, 0, 0), ("same words", 2, 1, 1), ("near words", 0, 0, 0),
    ]  # fmt: skip


def test_coco_has_296_repeated_captions(data):
    file = data / "coco" / "coco_karpathy_test_captions.tsv"
    coco = karat.load_benchmark("coco", captions=file)
    counts = {count.kind: count for count in find_duplicates(coco).counts()}
    lines = [line.split("\t")[3] for line in file.read_text(encoding="utf-8").splitlines()[1:]]
    repeated = [number for number in Counter(lines).values() if number > 1]
    assert (
        (counts["same text"].items, counts["same text"].groups)
        == (sum(repeated), len(repeated))
        == (296, 123)
    )
