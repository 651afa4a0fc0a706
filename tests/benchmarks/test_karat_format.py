"""karat's own folder format: written and read back the same; every kind of damage is a sentence."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import karat
from karat.benchmarks import (
    Benchmark,
    Fold,
    Ids,
    Judgments,
    Provenance,
    Truth,
    read_benchmark,
    save_benchmark,
)
from karat.errors import InputError

from worlds import Small, smalls


def same(a: Benchmark, b: Benchmark) -> None:
    assert (a.name, a.about, list(a.truths), a.texts, a.image_paths) == (
        b.name,
        b.about,
        list(b.truths),
        b.texts,
        b.image_paths,
    )
    assert {k: tuple(v) for k, v in a.defaults.items()} == dict(b.defaults)
    for mine, theirs in ((a.images, b.images), (a.captions, b.captions)):
        np.testing.assert_array_equal(mine.values, theirs.values)
        assert (mine.size, mine.values.dtype.kind, mine.kind) == (
            theirs.size,
            theirs.values.dtype.kind,
            theirs.kind,
        )
    np.testing.assert_array_equal(a.caption_image, b.caption_image)
    assert a.other_texts == b.other_texts
    for name, truth in a.truths.items():
        other = b.truth(name)
        assert (truth.about, truth.complete, truth.machine) == (other.about, other.complete, other.machine)
        for direction in ("i2t", "t2i"):
            np.testing.assert_array_equal(truth.queries.get(direction, []), other.queries[direction])
        assert [fold.name for fold in truth.folds] == [fold.name for fold in other.folds]
        for mine, theirs in zip(truth.folds, other.folds):
            np.testing.assert_array_equal(mine.images, theirs.images)
            np.testing.assert_array_equal(mine.captions, theirs.captions)
        if truth.judgments is not None:
            for column in ("image", "caption", "source", "rating", "grade"):
                np.testing.assert_array_equal(
                    getattr(truth.judgments, column), getattr(other.judgments, column)
                )
            np.testing.assert_array_equal(truth.judgments.pooled, other.judgments.pooled)
            for column in ("probability", "grade_if_relevant"):
                np.testing.assert_array_equal(
                    getattr(truth.judgments, column), getattr(other.judgments, column)
                )
            assert [s.name for s in truth.judgments.sources] == [s.name for s in other.judgments.sources]
    if a.objects is not None:
        assert (a.objects.categories, a.objects.synsets) == (b.objects.categories, b.objects.synsets)
        for column in ("image", "category", "box"):
            np.testing.assert_array_equal(getattr(a.objects, column), getattr(b.objects, column))
        assert list(a.objects.attributes) == list(b.objects.attributes)
        for name, texts in a.objects.attributes.items():
            np.testing.assert_array_equal(texts, b.objects.attributes[name])
    assert a.summary() == b.summary()


@settings(max_examples=25, deadline=None)
@given(small=smalls())
def test_small_benchmarks_round_trip(small: Small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    save_benchmark(small.benchmark, folder)
    same(small.benchmark, read_benchmark(folder))


def test_everything_round_trips(rich_bench, tmp_path):
    folder = tmp_path / "new" / "folder"
    bench = replace(rich_bench, image_paths=[str(folder / "a.jpg"), str(folder / "b" / "c.jpg")])
    save_benchmark(bench, folder)
    again = karat.load_benchmark(folder)
    same(bench, again)
    assert again.objects.attributes["colour"].tolist() == ["blue", "red", "grey"]
    scores = np.array([[0.1, 0.3, 0.2], [0.5, 0.4, 0.1]])
    cards = [karat.evaluate(scores, bench, ["R@1", "RP"]) for bench in (rich_bench, again)]
    assert [c.value for c in cards[0]] == [c.value for c in cards[1]]


def test_other_captions_stand_beside_every_image(rich_bench):
    with pytest.raises(InputError, match="other captions of 1 image; give a list for each of its 2"):
        replace(rich_bench, other_texts=[["two dogs"]])


def test_paths_of_images_elsewhere_are_not_kept(rich_bench, tmp_path):
    save_benchmark(rich_bench, tmp_path / "bench")
    assert read_benchmark(tmp_path / "bench").image_paths is None


def test_what_cannot_be_finished_leaves_the_folder_as_it_was(rich_bench, tmp_path, monkeypatch):
    save_benchmark(rich_bench, tmp_path)
    own = Judgments([0], [0], sources=[Provenance("x", mapping=lambda rating: rating)])
    odd = Benchmark("odd", Ids([1]), Ids([1]), {"own": Truth("own", own, {"i2t": np.arange(1)})})
    with pytest.raises(karat.KaratError, match="cannot be saved"):
        save_benchmark(odd, tmp_path)
    same(replace(rich_bench, image_paths=None), read_benchmark(tmp_path))  # nothing was touched

    def interrupted(file, **columns):
        raise KeyboardInterrupt

    monkeypatch.setattr("karat.benchmarks.karat_format.write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_benchmark(rich_bench, tmp_path)
    same(replace(rich_bench, image_paths=None), read_benchmark(tmp_path))
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_folder_whose_files_are_half_moved_does_not_look_complete(rich_bench, tmp_path, monkeypatch):
    save_benchmark(rich_bench, tmp_path)
    move = os.replace

    def interrupted(draft, target):
        if Path(target).name == "images.parquet":
            raise KeyboardInterrupt
        move(draft, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_benchmark(rich_bench, tmp_path)
    with pytest.raises(karat.KaratError, match=r"there is no benchmark\.json"):
        read_benchmark(tmp_path)


def test_coco_round_trips(coco, tmp_path):
    save_benchmark(coco, tmp_path)
    same(coco, read_benchmark(tmp_path))


def edit_head(folder, change):
    head = json.loads((folder / "benchmark.json").read_text())
    change(head)
    (folder / "benchmark.json").write_text(json.dumps(head))


def edit_table(folder, name, change):
    path = folder / name
    change(pl.read_parquet(path)).write_parquet(path)


DAMAGE = {
    "is damaged": lambda f: (f / "benchmark.json").write_text("{"),
    "is version 9": lambda f: edit_head(f, lambda head: head.update(version=9)),
    "is damaged \\(KeyError": lambda f: edit_head(f, lambda head: head.pop("truths")),
    "there is no benchmark.json": lambda f: (f / "benchmark.json").unlink(),
    "images.parquet: there is no such file": lambda f: (f / "images.parquet").unlink(),
    "captions.parquet: is not Parquet": lambda f: (f / "captions.parquet").write_bytes(b"PAR1 and nonsense"),
    "has no column 'rating'": lambda f: edit_table(f, "judgments-0.parquet", lambda t: t.drop("rating")),
    "has an empty cell in 'rating'": lambda f: edit_table(
        f, "judgments-0.parquet", lambda t: t.with_columns(rating=pl.lit(None, pl.Float64))
    ),
    "caption of row 0 is 77": lambda f: edit_table(
        f, "judgments-0.parquet", lambda t: t.with_columns(caption=pl.lit(77))
    ),
    "row of row 0 is -1": lambda f: edit_table(
        f, "queries-0.parquet", lambda t: t.with_columns(row=pl.lit(-1))
    ),
    "points outside its folder": lambda f: edit_table(
        f, "images.parquet", lambda t: t.with_columns(path=pl.lit("../../etc/passwd"))
    ),
    "image path '/etc/passwd' points outside": lambda f: edit_table(
        f, "images.parquet", lambda t: t.with_columns(path=pl.lit("/etc/passwd"))
    ),
    "come before others": lambda f: edit_table(f, "captions.parquet", lambda t: t.reverse()),
    "duplicate image id a.jpg, 2 times": lambda f: edit_table(
        f, "images.parquet", lambda t: t.with_columns(id=pl.lit("a.jpg"))
    ),
    "is not a rule that karat knows": lambda f: edit_head(
        f, lambda head: head["truths"][3]["rule"].update(kind="magic")
    ),
    "truth 'whole' is complete: 'perhaps'": lambda f: edit_head(
        f, lambda head: head["truths"][1].update(complete="perhaps")
    ),
    "1 synsets for 2 categories": lambda f: edit_head(f, lambda head: head["synsets"].pop()),
    "has no column 'attribute-colour'": lambda f: edit_table(
        f, "objects.parquet", lambda t: t.drop("attribute-colour")
    ),
    "has an empty cell in 'attribute-colour'": lambda f: edit_table(
        f, "objects.parquet", lambda t: t.with_columns(pl.lit(None, pl.String).alias("attribute-colour"))
    ),
    "column 'attribute-colour' holds List": lambda f: edit_table(
        f, "objects.parquet", lambda t: t.with_columns(pl.concat_list("image").alias("attribute-colour"))
    ),
    "truth 'both' is pooled: 'perhaps'": lambda f: edit_head(
        f, lambda head: head["truths"][0].update(pooled="perhaps")
    ),
    "pooled-0.parquet: there is no such file": lambda f: (f / "pooled-0.parquet").unlink(),
    "pooled-0.parquet: caption of row 0 is 77": lambda f: edit_table(
        f, "pooled-0.parquet", lambda t: t.with_columns(caption=pl.lit(77))
    ),
    "truth 'both' is complete, with 2 pairs not judged": lambda f: edit_head(
        f, lambda head: head["truths"][0].update(complete=True)
    ),
    "is damaged \\(TypeError": lambda f: edit_head(f, lambda head: head.update(attributes=3)),
}


@pytest.mark.parametrize("message", list(DAMAGE))
def test_damage_is_a_sentence(rich_bench, tmp_path, message):
    save_benchmark(rich_bench, tmp_path)
    DAMAGE[message](tmp_path)
    with pytest.raises(karat.KaratError, match=message):
        read_benchmark(tmp_path)


def test_a_fold_has_rows_of_its_own_side(rich_bench, tmp_path):
    whole = replace(rich_bench.truth("whole"), folds=[Fold("1", np.arange(2), np.arange(3))])
    save_benchmark(replace(rich_bench, truths={"whole": whole}), tmp_path)
    edit_table(tmp_path, "folds-0.parquet", lambda t: t.with_columns(row=pl.lit(2)))
    with pytest.raises(InputError, match="row of row 0 is 2, outside the 2 that exist"):
        read_benchmark(tmp_path)  # there are three captions, but two images


def test_folders_written_before_synsets_and_attributes_load(rich_bench, tmp_path):
    save_benchmark(rich_bench, tmp_path)

    def older(head):
        del head["synsets"], head["attributes"], head["truths"][1]["complete"]

    edit_head(tmp_path, older)
    again = read_benchmark(tmp_path)
    assert again.objects.synsets is None
    assert again.objects.attributes == {}
    assert not again.truth("whole").complete


def test_pooled_pairs_are_kept_and_older_folders_load(rich_bench, tmp_path):
    truth = rich_bench.truth("both")
    save_benchmark(rich_bench, tmp_path)
    again = read_benchmark(tmp_path).truth("both").judgments
    assert [column.tolist() for column in again.pooled] == [[0, 1], [2, 3]]
    # A table that the head does not name was left there by an earlier save.
    edit_head(tmp_path, lambda head: head["truths"][0].pop("pooled"))
    assert read_benchmark(tmp_path).truth("both").n_pooled == 0
    rows = truth.judgments
    plain = Judgments(rows.image, rows.caption, rating=rows.rating, source=rows.source, sources=rows.sources)
    bare = replace(rich_bench, truths={"both": replace(truth, judgments=plain)})
    save_benchmark(bare, tmp_path)
    assert read_benchmark(tmp_path).truth("both").n_pooled == 0
    save_benchmark(bare, tmp_path / "new")
    assert not list((tmp_path / "new").glob("pooled*"))
    assert "pooled" not in (tmp_path / "new" / "benchmark.json").read_text()


def test_probabilities_are_kept_and_older_folders_load(rich_bench, tmp_path):
    truth = rich_bench.truth("both")
    rows = truth.judgments
    probability = np.where(rows.grade > 0, 0.75, np.nan)
    uncertain = Judgments(
        rows.image, rows.caption, rating=rows.rating, source=rows.source, sources=rows.sources,
        probability=probability, grade_if_relevant=np.where(rows.grade > 0, 0.5, np.nan),
    )  # fmt: skip
    bench = replace(rich_bench, truths={"both": replace(truth, judgments=uncertain)}, image_paths=None)
    save_benchmark(bench, tmp_path / "new")
    again = read_benchmark(tmp_path / "new")
    same(bench, again)
    assert again.truth("both").has_probabilities
    edit_table(tmp_path / "new", "judgments-0.parquet", lambda t: t.with_columns(probability=pl.lit(1.5)))
    with pytest.raises(InputError, match=r"probability of the pair .* is 1\.5; give numbers from 0 to 1"):
        read_benchmark(tmp_path / "new")
    edit_table(tmp_path / "new", "judgments-0.parquet", lambda t: t.drop("probability"))
    with pytest.raises(InputError, match="has no column 'probability'"):
        read_benchmark(tmp_path / "new")
    # A folder of an older version, whose head says nothing of them.
    edit_head(tmp_path / "new", lambda head: head["truths"][0].pop("probabilities"))
    assert not read_benchmark(tmp_path / "new").truth("both").has_probabilities
    save_benchmark(rich_bench, tmp_path / "plain")
    assert "probabilities" not in (tmp_path / "plain" / "benchmark.json").read_text()
    assert "probability" not in pl.read_parquet(tmp_path / "plain" / "judgments-0.parquet").columns


def test_what_cannot_be_saved(rich_bench, tmp_path):
    own = Judgments([0], [0], sources=[Provenance("x", mapping=lambda rating: rating)])
    odd = Benchmark("odd", Ids([1]), Ids([1]), {"own": Truth("own", own, {"i2t": np.arange(1)})})
    with pytest.raises(karat.KaratError, match="cannot be saved"):
        save_benchmark(odd, tmp_path)
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(karat.KaratError, match="cannot create a folder there"):
        save_benchmark(rich_bench, blocked / "bench")
    (tmp_path / "bench" / "benchmark.json").mkdir(parents=True)
    with pytest.raises(karat.KaratError, match=r"benchmark\.json: is a folder"):
        save_benchmark(rich_bench, tmp_path / "bench")


def test_a_link_out_of_the_folder_is_refused(rich_bench, tmp_path):
    """A folder from elsewhere may hold a symbolic link to anything."""
    folder, secret = tmp_path / "bench", tmp_path / "secret"
    secret.mkdir()
    (secret / "a.jpg").write_bytes(b"")
    save_benchmark(
        replace(rich_bench, image_paths=[str(folder / "images" / n) for n in ("a.jpg", "b.jpg")]), folder
    )
    assert read_benchmark(folder).image_paths is not None
    (folder / "images").symlink_to(secret)
    with pytest.raises(InputError, match="points outside its folder"):
        read_benchmark(folder)
