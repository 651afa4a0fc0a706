"""Instances and detections from COCO's files, and what is said of files that are broken."""

import copy
import json

import numpy as np
import pytest
from pycocotools import mask as tool

from estimation.scenes import SIZE, scene, write
from karat.benchmarks import is_instances, load_instances, mask_boxes
from karat.benchmarks.masks import parse_counts
from karat.errors import InputError
from karat.runs import load_detections


@pytest.fixture(scope="module")
def files():
    return scene(1)


def test_all_forms_of_a_mask_are_one(tmp_path, files):
    content, results = copy.deepcopy(files)
    first = load_instances(write(tmp_path, content, results)[0])
    for one in content["annotations"]:
        counts = parse_counts(one["segmentation"]["counts"]).tolist()
        one["segmentation"] = {"size": [SIZE, SIZE], "counts": counts}
    second = load_instances(write(tmp_path, content, results)[0])
    assert [mask["counts"] for mask in first.masks] == [mask["counts"] for mask in second.masks]
    content["annotations"][0]["segmentation"] = [[2, 2, 10, 2, 10, 10, 2, 10]]
    polygon = load_instances(write(tmp_path, content, results)[0])
    assert mask_boxes(polygon.masks[:1]).tolist() == [[2, 2, 8, 8]]
    assert polygon.vetted.all()
    assert repr(polygon).startswith("Instances(")


@pytest.mark.parametrize("seed", range(5))
def test_run_lengths_are_read_as_pycocotools_does(seed):
    rng = np.random.default_rng(seed)
    for scale in (1, 60):
        picture = np.kron(rng.random((9, 11)) < rng.random(), np.ones((scale, scale))).astype(np.uint8)
        flat = picture.ravel(order="F")
        lengths = np.diff(np.r_[0, np.flatnonzero(np.diff(np.r_[0, flat])), len(flat)])
        counts = tool.encode(np.asfortranarray(picture))["counts"].decode()
        assert parse_counts(counts).tolist() == lengths.tolist()
        assert parse_counts(counts[:-1]) is None or parse_counts(counts[:-1]).sum() != len(flat)
    for broken in ("", "é", "PPPPPPPPPPPP1", "P"):
        assert parse_counts(broken) is None


def changed(key, value, at=0):
    def change(entries):
        if value is None:
            entries[at].pop(key)
        else:
            entries[at][key] = value

    return change


BROKEN_INSTANCES = {
    "annotations[0] has the unknown category 9": changed("category_id", 9),
    "annotations[0] has the image_id 77, which is not among the images": changed("image_id", 77),
    "annotations[1] repeats the annotation id 10": changed("id", 10, 1),
    "has no readable 'bbox'": changed("bbox", [1, 2, -3, 4]),
    "annotations[0] has an empty 'segmentation'": changed("segmentation", []),
    "has a polygon that is not x1, y1": changed("segmentation", [[1, 2, 3, 4]]),
    "has run lengths that do not fill the image": changed(
        "segmentation", {"size": [SIZE, SIZE], "counts": [5, 5]}
    ),
    "has the size [9, 9]": changed("segmentation", {"size": [9, 9], "counts": [81]}),
    "their sum must be 24 × 24": changed("segmentation", {"size": [SIZE, SIZE], "counts": "~~"}),
}


@pytest.mark.parametrize("message", BROKEN_INSTANCES)
def test_broken_annotations_are_named(tmp_path, files, message):
    content, results = copy.deepcopy(files)
    BROKEN_INSTANCES[message](content["annotations"])
    with pytest.raises(InputError) as error:
        load_instances(write(tmp_path, content, results)[0])
    assert message in str(error.value)


BROKEN_DETECTIONS = {
    "[0] has the unknown image_id 77; take the detections of the images of": changed("image_id", 77),
    "[0] has the unknown category_id 9": changed("category_id", 9),
    "[0] has the score nan": changed("score", float("nan")),
    "[1] has no mask, and the first detection has one; give masks and boxes in two files": changed(
        "segmentation", None, 1
    ),
    "[0].segmentation has run lengths that do not fill the image": changed(
        "segmentation", {"size": [SIZE, SIZE], "counts": "5"}
    ),
}


@pytest.mark.parametrize("message", BROKEN_DETECTIONS)
def test_broken_detections_are_named(tmp_path, files, message):
    content, results = copy.deepcopy(files)
    BROKEN_DETECTIONS[message](results)
    instances, detections = write(tmp_path, content, results)
    with pytest.raises(InputError) as error:
        load_detections(detections, load_instances(instances))
    assert message in str(error.value)


def test_what_the_files_may_hold(tmp_path, files):
    content, results = copy.deepcopy(files)
    instances, detections = write(tmp_path, content, results)
    assert is_instances(instances)
    assert not is_instances(detections)
    many = {"images": content["images"] * 2000, **{k: content[k] for k in ("annotations", "categories")}}
    (tmp_path / "many.json").write_text(json.dumps(many))
    assert is_instances(tmp_path / "many.json")
    captions = tmp_path / "captions.json"
    captions.write_text(json.dumps({"images": [], "annotations": [{"id": 1, "caption": "a dog"}]}))
    assert not is_instances(captions)
    content["annotations"][0] |= {"iscrowd": 1}
    del content["annotations"][0]["segmentation"]
    with pytest.raises(InputError, match="is a crowd without a 'segmentation'"):
        load_instances(write(tmp_path, content, results)[0])
    content["annotations"][0]["iscrowd"] = 0
    known = load_instances(write(tmp_path, content, results)[0])
    assert known.vetted.tolist() == [False] + [True] * (len(known) - 1)
    with pytest.raises(InputError, match="has no detections"):
        load_detections(write(tmp_path, content, [])[1], known)
    with pytest.raises(InputError, match="is not a json list"):
        load_detections(instances, known)
