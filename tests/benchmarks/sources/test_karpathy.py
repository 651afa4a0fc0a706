"""Karpathy's split files: order, ids and mistakes, on small files of the same shape."""

import json
import re

import pytest

import karat


def image(number, split="test", coco=True, **changed):
    sentences = [
        {"sentid": 10 * number + k, "raw": f"Caption {k} of {number}.", "tokens": ["x"], "imgid": number}
        for k in range(2)
    ]
    record = {
        "split": split, "filename": f"{number}.jpg", "imgid": number, "sentences": sentences,
        "sentids": [sentence["sentid"] for sentence in sentences],
    }  # fmt: skip
    if coco:
        record |= {"cocoid": 1000 + number, "filepath": "val2014"}
    return record | changed


def write(path, *images):
    path.write_text(json.dumps({"images": images, "dataset": "small"}))
    return path


def load(path, **options):
    return karat.load_benchmark("karpathy", file=path, **options)


def test_ids_order_and_splits(tmp_path):
    path = write(
        tmp_path / "dataset.json", image(3), image(1, "train"), image(2), image(4, "restval"), image(5, "val")
    )
    bench = load(path)
    assert bench.images.gallery.tolist() == [1003, 1002]
    assert bench.captions.gallery.tolist() == [30, 31, 20, 21]
    assert bench.caption_image.tolist() == [0, 0, 1, 1]
    assert bench.texts[2] == "Caption 0 of 2."
    assert bench.defaults["original"] == ("R@1", "R@5", "R@10", "MedR")
    assert load(path, split="train").images.gallery.tolist() == [1001, 1004]
    assert load(path, split="restval").images.gallery.tolist() == [1004]
    assert load(path, split="val").images.gallery.tolist() == [1005]


def test_files_without_cocoid(tmp_path):
    path = write(tmp_path / "dataset.json", image(3, coco=False), image(1, coco=False))
    (tmp_path / "3.jpg").touch()
    (tmp_path / "1.jpg").touch()
    bench = load(path, images=tmp_path)
    assert bench.images.gallery.tolist() == [3, 1]
    assert bench.image_paths == [str(tmp_path / "3.jpg"), str(tmp_path / "1.jpg")]


def test_folders_of_images(tmp_path):
    path = write(tmp_path / "dataset.json", image(3))
    (tmp_path / "val2014").mkdir()
    (tmp_path / "val2014" / "3.jpg").touch()
    assert load(path, images=tmp_path).image_paths == [str(tmp_path / "val2014" / "3.jpg")]


def without(record, key):
    return {name: value for name, value in record.items() if name != key}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such file"),
        ("", "is not json (Expecting value: line 1"),
        ('{"images": [{"split": "te', "is not json (Unterminated string"),
        ("[" * 100_000, "is not json (maximum recursion"),
        ("[" + "1" * 5000 + "]", "is not json (Exceeds the limit"),
        (b"\xff\xfe{}", "line 1 is not UTF-8 but probably UTF-16"),
        ("[]", "is not a json object"),
        ("{}", "has no key 'images'"),
        ('{"images": {}}', "has the 'images' {}; give a list"),
        ('{"images": []}', "has no image of the split 'test'; its splits are none"),
        ([image(1, "val"), image(2, "val")], "has no image of the split 'test'; its splits are val (2)"),
        ([3], "images[0] is not a json object"),
        ([without(image(1), "split")], "images[0] has no key 'split'"),
        ([image(1), without(image(2), "cocoid")], "images[1] has no key 'cocoid'"),
        ([image(1, cocoid=True)], "images[0] has the 'cocoid' True; give a whole number or text"),
        ([image(1, cocoid=1.5)], "images[0] has the 'cocoid' 1.5"),
        ([image(1), image(1)], "images[1] repeats the image cocoid 1001 of images[0]"),
        ([without(image(1), "sentences")], "images[0] has no key 'sentences'"),
        ([image(1, sentids=[4, 5])], "images[0] lists other 'sentids' than its sentences have"),
        ([image(1, imgid=2)], "images[0].sentences[0] has the 'imgid' of another image"),
        ([image(1, sentences=[{"sentid": 10}], sentids=[10])], "images[0].sentences[0] has no key 'raw'"),
        ([image(1, sentences=[{"raw": "x"}])], "images[0].sentences[0] has no key 'sentid'"),
        ([image(1, sentences=[], sentids=[])], "holds no caption"),
        (
            [image(1), image(2, sentences=[{"sentid": 10, "raw": "x"}], sentids=[10])],
            "images[1].sentences[0] repeats the caption sentid 10 of images[0].sentences[0]",
        ),
    ],
)
def test_mistakes(tmp_path, content, message):
    path = tmp_path / "dataset.json"
    if isinstance(content, list):
        write(path, *content)
    elif content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(karat.KaratError, match=re.escape(message)) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))
    assert caught.value.fix


def test_files_are_other_names_of_images(tmp_path):
    bench = load(write(tmp_path / "dataset.json", image(3), image(1), image(2)))
    assert bench.images.index(["1.jpg", "val2014/3.jpg", 1002]).tolist() == [1, 0, 2]
    lists = {"i2t": {"3.jpg": [30], "1.jpg": [10], "2.jpg": [20]}}
    assert karat.evaluate(lists, bench, "R@1").value("R@1", direction="i2t") == 1
    flickr = load(
        write(tmp_path / "flickr.json", *(image(k, coco=False, filename=f"9{k}.jpg") for k in (3, 1)))
    )
    assert flickr.images.gallery.tolist() == [3, 1]
    assert flickr.images.index(["91.jpg", "93"]).tolist() == [1, 0]
    plain = load(write(tmp_path / "plain.json", *(without(image(k), "filename") for k in (3, 1))))
    assert plain.images.files is None
