"""Runs on benchmarks of choices, in every form."""

import json

import numpy as np
import pytest

import karat
from karat.runs import Loading, load_choices
from tests import choice_files


@pytest.fixture
def two_by_two(tmp_path):
    return karat.load_benchmark(choice_files.winoground(tmp_path, count=4))


@pytest.fixture
def one_image(tmp_path):
    return karat.load_benchmark(choice_files.sugarcrepe(tmp_path / "data", count=2))


def scores_of(source, bench, **options):
    return load_choices(source, bench, Loading(**options))[0].scores


def test_tables(two_by_two, one_image, tmp_path):
    table = np.random.default_rng(0).normal(size=(4, 2, 2))
    np.save(tmp_path / "a.npy", table)
    np.savez(tmp_path / "b.npz", table)
    for source in (table, tmp_path / "a.npy", tmp_path / "b.npz"):
        np.testing.assert_array_equal(scores_of(source, two_by_two), table)
    np.testing.assert_array_equal(scores_of(table.transpose(0, 2, 1), two_by_two, transpose=True), table)
    by_captions = np.random.default_rng(0).normal(size=(4, 2))
    np.testing.assert_array_equal(scores_of(by_captions, one_image)[:, 0], by_captions)
    runs = load_choices({"x": table, "y": tmp_path / "a.npy"}, two_by_two)
    assert [run.name for run in runs] == ["x", "y"]
    assert load_choices([tmp_path / "a.npy", tmp_path / "b.npz"], two_by_two)[1].name == "b"


def test_long_tables(two_by_two, one_image, tmp_path):
    table = np.random.default_rng(0).normal(size=(4, 2, 2))
    rows = [
        {"example": n, "image": f"ex_{n}_img_{i}", "caption": c if i else f"{n}#{c}", "score": table[n, i, c]}
        for n in range(4)
        for i in range(2)
        for c in range(2)
    ]
    lines = ["example,image,caption,score", *(",".join(map(str, row.values())) for row in rows)]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    (tmp_path / "a.tsv").write_text("\n".join(lines).replace(",", "\t"))
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows[::-1]))
    for extension in ("csv", "tsv", "jsonl"):
        np.testing.assert_allclose(scores_of(tmp_path / f"a.{extension}", two_by_two), table)
    names = one_image.choices.examples
    lines = [
        "example,caption,score",
        *(f"{name},{c},{n + c / 2}" for n, name in enumerate(names) for c in (0, 1)),
    ]
    (tmp_path / "b.csv").write_text("\n".join(lines))
    np.testing.assert_allclose(
        scores_of(tmp_path / "b.csv", one_image)[:, 0], np.arange(4)[:, None] + [0, 0.5]
    )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["example,caption,score", "0,0,1"], "has no column 'image'"),
        (["example,image,caption,score", "9,0,0,1"], "row 1 has the unknown example '9'; examples of winogr"),
        (
            ["example,image,caption,score", "0,2,0,1"],
            "row 1 has the image '2', which example 0 does not have",
        ),
        (["example,image,caption,score", "0,0,0,nan"], "row 1 has the score 'nan'"),
        (["example,image,caption,score", "0,0,0,1", "0,0,0,2"], "row 2 repeats a pair of example 0"),
        (
            ["example,image,caption,score", "0,0,0,1"],
            "lacks 15 scores, first that of example 0, image 0, capt",
        ),
    ],
)
def test_long_tables_that_are_wrong(two_by_two, tmp_path, lines, message):
    (tmp_path / "a.csv").write_text("\n".join(lines))
    with pytest.raises(karat.KaratError, match=message):
        load_choices(tmp_path / "a.csv", two_by_two)


def test_embeddings_and_scores_of_all_pairs(two_by_two):
    rng = np.random.default_rng(0)
    images, captions = rng.normal(size=(8, 5)), rng.normal(size=(8, 5))
    order = {
        "images": two_by_two.images.gallery.tolist(),
        "captions": two_by_two.captions.gallery.tolist()[::-1],
    }
    run = load_choices((images, captions[::-1]), two_by_two, loading=Loading(ids=order))[0]
    expected = np.stack([images[2 * n : 2 * n + 2] @ captions[2 * n : 2 * n + 2].T for n in range(4)])
    np.testing.assert_allclose(run.scores, expected, rtol=1e-5)
    assert "--similarity cosine" in run.notes[0]
    cosine = captions / np.linalg.norm(captions, axis=1, keepdims=True)
    np.testing.assert_allclose(run.captions[1], cosine[2:4] @ cosine[2:4].T, rtol=1e-5)
    whole = load_choices(images @ captions.T, two_by_two)[0]
    np.testing.assert_allclose(whole.scores, expected)
    assert whole.captions is None


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros((4, 2)), r"has 4 by 2 scores, but winoground has 4 examples by 2 images by 2 captions"),
        (np.zeros((3, 2, 2)), "score every example, in the order of winoground's file"),
        (np.full((4, 2, 2), np.nan), "example 0, image 0, caption 0 is nan; scores must be finite numbers"),
        (np.zeros((4, 2, 2), bool), "holds bool, not numbers"),
    ],
)
def test_tables_that_are_wrong(two_by_two, table, message):
    with pytest.raises(karat.KaratError, match=message):
        load_choices(table, two_by_two)


def test_a_table_with_captions_before_images(tmp_path):
    from karat.benchmarks import ChoiceExample, build_choices

    example = ChoiceExample("a", ["1", "2"], ["x", "y", "z"], [(0, 0), (1, 1)])
    bench = build_choices("made", [example], where="made", about="")
    with pytest.raises(karat.KaratError, match="it is examples by captions by images: write"):
        load_choices(np.zeros((1, 3, 2)), bench)
    with pytest.raises(karat.KaratError, match="holds ranked lists, and choices need the scores"):
        load_choices({"i2t": {"1": ["a#0"]}}, bench)
