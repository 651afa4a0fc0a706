"""The COCO family: the counts that the papers and the package state."""

import numpy as np
import pytest

import karat
from karat._util import cache
from karat.benchmarks.sources import coco as sources


def test_counts(coco):
    assert (coco.images.size, coco.captions.size) == (5000, 25000)
    rows = {row["truth"]: row for row in coco.summary()}
    assert list(rows) == ["coco-5k", "coco-1k", "cxc", "eccv"]
    assert rows["eccv"]["i2t"] == {"queries": 1261, "positives": 22550, "negatives": 0, "off_gallery": 2}
    assert rows["eccv"]["t2i"] == {"queries": 1332, "positives": 11279, "negatives": 0, "off_gallery": 0}
    assert rows["cxc"]["t2i"]["queries"] == 24972
    assert rows["cxc"]["t2i"]["positives"] == rows["cxc"]["i2t"]["positives"] == 35585
    assert rows["coco-5k"]["i2t"]["positives"] == 25000
    assert rows["coco-1k"]["folds"] == 5


def test_order_of_ids(coco):
    assert coco.captions[:3].tolist() == [770337, 771687, 772707]
    assert coco.images[0] == 391895
    assert (coco.caption_image == np.repeat(np.arange(5000), 5)).all()
    assert coco.captions.extra.tolist() == [144675, 467259]


def test_folds_are_fifths(coco):
    folds = coco.truth("coco-1k").folds
    assert [len(fold.images) for fold in folds] == [1000] * 5
    assert sorted(np.concatenate([fold.captions for fold in folds])) == list(range(25000))


def test_clusters_are_images(coco):
    assert coco.clusters("t2i", np.array([0, 4, 5])).tolist() == [0, 0, 1]
    assert coco.clusters("i2t", np.array([3])).tolist() == [3]


def test_the_ids_equal_the_captions_file(coco, data):
    lines = (data / "coco" / "coco_karpathy_test_captions.tsv").read_text().splitlines()[1:]
    rows = np.array([line.split("\t")[:2] for line in lines], dtype=np.int64)
    np.testing.assert_array_equal(rows[:, 0], coco.captions.gallery)
    np.testing.assert_array_equal(rows[:, 1], coco.images[coco.caption_image])


def test_ratings_add_negatives_and_grades(coco, data):
    rated = karat.load_benchmark("coco", cxc_ratings=data / "cxc" / "sits_test.csv")
    rows = {row["truth"]: row["t2i"] for row in rated.summary()}
    # 44,833 rated pairs; 47 negatives belong to the 28 captions that have no positive.
    assert (rows["cxc"]["positives"], rows["cxc"]["negatives"]) == (35585, 44833 - 35585 - 47)
    pairs, plain = (b.truth("cxc").judgments.pairs() for b in (rated, coco))
    np.testing.assert_array_equal(pairs.image[pairs.grade > 0], plain.image)
    np.testing.assert_array_equal(pairs.caption[pairs.grade > 0], plain.caption)
    graded = rated.truth("cxc-graded").judgments.pairs().grade
    assert graded[graded > 0].min() == pytest.approx(0.6)
    assert graded.max() == 1
    assert "cxc-graded" not in coco.truths


def test_scores_with_ratings_stay_and_bounds_are_finite(coco, data, rng):
    rated = karat.load_benchmark("coco", cxc_ratings=data / "cxc" / "sits_test.csv")
    scores = rng.random((5000, 25000), dtype=np.float32)
    scores[coco.caption_image, np.arange(25000)] += 0.5
    plain = karat.evaluate(scores, coco, ["R@1", "R@5"], truth="cxc")
    bounded = karat.evaluate(scores, rated, ["R@1", "R@5", "Judged@5"], truth="cxc", unjudged="bounds")
    for column in plain:
        again = bounded.column(str(column.measure), direction=column.direction)
        assert again.value == column.value == again.lower_bound <= again.upper_bound <= 1
    assert 0 < bounded.value("Judged@5", direction="t2i") < 1
    assert not bounded.notes or "nothing is judged" not in " ".join(bounded.notes)


def test_a_damaged_cache_is_made_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path))
    first = karat.load_benchmark("coco")
    for damage in (b"PK damaged", b""):
        (tmp_path / "coco.npz").write_bytes(damage)
        again = karat.load_benchmark("coco")
        np.testing.assert_array_equal(first.caption_image, again.caption_image)
    assert [path.name for path in tmp_path.iterdir()] == ["coco.npz"]
    assert karat.load_benchmark("coco").summary() == first.summary()


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("KARAT_CACHE", str(blocked / "cache"))
    assert karat.load_benchmark("coco").captions.size == 25000


def test_cache_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("KARAT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.cache_folder() == tmp_path / "karat"


def test_a_missing_package_names_its_install_command(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(karat.KaratError, match="pip install eccv_caption"):
        karat.load_benchmark("coco")


def test_captions_and_boxes_of_coco(plausible, data, coco):
    path = data / "coco" / "coco_karpathy_test_captions.tsv"
    told = karat.load_benchmark("coco", captions=path)
    lines = path.read_text().splitlines()
    assert list(told.texts) == [line.split("\t")[3] for line in lines[1:]]
    box = plausible.objects.box
    assert len(plausible.objects.categories) == 80
    assert -0.01 < box[:, :2].min() <= box[:, :2].max() <= 1
    assert coco.objects is None


def test_wrong_files(tmp_path):
    path = tmp_path / "file"
    for option, text, message in (
        ("boxes", None, "there is no such file"),
        ("boxes", "[]", "is not a file of boxes"),
        ("boxes", "[" * 100_000, "is not a file of boxes"),
        ("boxes", '{"categories": ["a"], "images": {"391895": [[0, 1]]}}', "is not a file of boxes"),
        (
            "boxes",
            '{"categories": ["a"], "images": {"1": [[0, 0, 0, 1, 1]]}}',
            "image id 1 is not in the benchmark",
        ),
        ("boxes", '{"categories": [], "images": {"391895": [[0, 0, 0, 1, 1]]}}', "category is out of range"),
        ("captions", "a\tb\n", "has no column 'caption_id'"),
        ("captions", "caption_id\timage_id\tcaption_tokenised\tcaption_raw\nx\n", "row 2 holds 1 column"),
        (
            "captions",
            "caption_id\timage_id\tcaption_tokenised\tcaption_raw\n770337\t1\ta\ta\n",
            "are missing",
        ),
    ):
        if text is not None:
            path.write_text(text)
        with pytest.raises(karat.KaratError, match=message):
            karat.load_benchmark("coco", **{option: path})
    path.write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(karat.KaratError, match="line 1 is not UTF-8"):
        karat.load_benchmark("coco", captions=path)


def test_captions_and_boxes_are_found_when_needed(data, monkeypatch):
    monkeypatch.setenv("KARAT_DATA", str(data))
    coco = karat.load_benchmark("coco")
    assert list(coco.truths) == ["coco-5k", "coco-1k", "cxc", "eccv"]
    given = karat.load_benchmark(
        "coco", captions=data / "coco" / sources.CAPTIONS, boxes=data / "coco" / sources.BOXES
    )
    assert coco.texts is None
    assert list(coco.needed_texts) == list(given.texts)
    queries = np.arange(0, 5000, 100)
    for zeta in (0, 2):
        name = f"pm(z={zeta})"
        assert coco.truth(name) is coco.truth(name)
        found, named = (bench.truth(name).rule.positives("i2t", queries) for bench in (coco, given))
        assert np.array_equal(found, named)


def test_the_setting_is_named_where_nothing_is_found(monkeypatch, tmp_path):
    monkeypatch.delenv("KARAT_DATA", raising=False)
    coco = karat.load_benchmark("coco")
    with pytest.raises(
        karat.KaratError, match=r"--set captions=coco_karpathy_test_captions.tsv.*KARAT_DATA="
    ):
        coco.needed_texts
    for call in (
        lambda: coco.truth("pm(z=1)"),
        lambda: karat.evaluate({"i2t": {391895: [770337]}}, coco, "PMRP", truth="coco-5k"),
    ):
        with pytest.raises(karat.KaratError, match=r"--set boxes=coco_karpathy_test_boxes.json"):
            call()
    with pytest.raises(
        karat.KaratError, match=r"cider needs the captions of coco, which has none; name the file"
    ):
        karat.evaluate({"i2t": {391895: [770337]}}, coco, "NCS(cider)@5")
    monkeypatch.setenv("KARAT_DATA", str(tmp_path))
    with pytest.raises(karat.KaratError, match=f"there is no {tmp_path}/coco/coco_karpathy_test_boxes.json"):
        coco.truth("pm(z=1)")


def test_coco_files_are_other_names_of_images(coco):
    assert (
        coco.images.index(["COCO_val2014_000000391895.jpg", "391895.jpg"])[0]
        == coco.images.index([391895])[0]
    )
