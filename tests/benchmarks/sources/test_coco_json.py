"""COCO's official files: order, ids files, objects and mistakes."""

import copy
import json
import re

import numpy as np
import pytest

import karat

CAPTIONS = {
    "images": [
        {"id": 7, "file_name": "7.jpg", "width": 100, "height": 50},
        {"id": 3, "file_name": "3.jpg", "width": 10, "height": 20},
        {"id": 5, "file_name": "5.jpg", "width": 10, "height": 10},
    ],
    "annotations": [
        {"id": 1, "image_id": 3, "caption": "three, first"},
        {"id": 4, "image_id": 7, "caption": "seven"},
        {"id": 2, "image_id": 3, "caption": "three, second"},
    ],
}
INSTANCES = {
    "images": CAPTIONS["images"],
    "categories": [{"id": 18, "name": "dog"}, {"id": 2, "name": "bicycle"}],
    "annotations": [
        {"image_id": 3, "category_id": 2, "bbox": [1, 2, 5, 10], "iscrowd": 0},
        {"image_id": 7, "category_id": 18, "bbox": [0, 0, 100, 50], "iscrowd": 0},
        {"image_id": 7, "category_id": 2, "bbox": [0, 0, 9, 9], "iscrowd": 1},
    ],
}


def write(folder, captions=CAPTIONS, **others):
    """Write the files and return the options that name them."""
    options = {"file": folder / "captions_val.json"}
    options["file"].write_text(json.dumps(captions))
    for name, content in others.items():
        options[name] = folder / f"{name}.json"
        options[name].write_text(json.dumps(content))
    return options


def load(folder, *args, **others):
    return karat.load_benchmark("coco-json", **write(folder, *args, **others))


def test_order_is_by_image(tmp_path):
    bench = load(tmp_path)
    assert bench.images.gallery.tolist() == [7, 3, 5]
    assert bench.captions.gallery.tolist() == [4, 1, 2]
    assert bench.caption_image.tolist() == [0, 1, 1]
    assert bench.texts == ["seven", "three, first", "three, second"]
    # The image without a caption is ranked but never asks.
    assert bench.truth("original").queries["i2t"].tolist() == [0, 1]
    assert bench.objects is None


def test_an_ids_file_restricts_and_orders(tmp_path):
    bench = load(tmp_path, ids={"images": [3, 7]})
    assert (bench.images.gallery.tolist(), bench.captions.gallery.tolist()) == ([3, 7], [1, 2, 4])
    bench = load(tmp_path, ids={"images": [3], "captions": [2]})
    assert (bench.images.gallery.tolist(), bench.captions.gallery.tolist()) == ([3], [2])


def test_objects_are_shares_without_crowds(tmp_path):
    bench = load(tmp_path, instances=INSTANCES)
    assert bench.objects.categories == ("dog", "bicycle")
    assert bench.objects.image.tolist() == [0, 1]
    assert bench.objects.category.tolist() == [0, 1]
    np.testing.assert_allclose(bench.objects.box, [[0, 0, 1, 1], [0.1, 0.1, 0.5, 0.5]], rtol=1e-6)
    # An object of an image outside the split is left out.
    assert len(load(tmp_path, instances=INSTANCES, ids={"images": [3]}).objects) == 1
    assert len(load(tmp_path, instances={**INSTANCES, "annotations": []}).objects) == 0


def test_paths(tmp_path):
    options = write(tmp_path)
    for name in (7, 3, 5):
        (tmp_path / f"{name}.jpg").touch()
    bench = karat.load_benchmark("coco-json", images=tmp_path, **options)
    assert bench.image_paths[0] == str(tmp_path / "7.jpg")


def test_objects_of_the_real_file(data, tmp_path):
    path = data / "cocoapi" / "instances_val2014_100.json"
    images = json.loads(path.read_text())["images"]
    captions = [{"id": n, "image_id": image["id"], "caption": "?"} for n, image in enumerate(images)]
    options = write(tmp_path, {"images": images, "annotations": captions})
    objects = karat.load_benchmark("coco-json", instances=path, **options).objects
    assert len(objects) == 839 - 9
    assert len(objects.categories) == 80
    assert objects.box.min() >= 0
    assert (objects.box[:, :2] + objects.box[:, 2:]).max() <= 1 + 1e-3


def changed(content, *path_and_value):
    """Return a copy with the value at a path replaced, or removed where it is `...`."""
    *path, last, value = path_and_value
    content = copy.deepcopy(content)
    at = content
    for step in path:
        at = at[step]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return content


def captions(*path_and_value):
    return {"captions": changed(CAPTIONS, *path_and_value)}


def instances(*path_and_value):
    return {"instances": changed(INSTANCES, *path_and_value)}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"captions": []}, "captions_val.json: is not a json object"),
        (captions("images", ...), "captions_val.json: has no key 'images'"),
        (captions("annotations", ...), "has no key 'annotations'; give a list"),
        (captions("annotations", []), "captions_val.json: holds no caption"),
        ({"captions": {"images": [], "annotations": []}}, "captions_val.json: holds no image"),
        (captions("images", 1, "id", 7), "images[1] repeats the image id 7 of images[0]"),
        (captions("images", 1, "id", ...), "images[1] has no key 'id'"),
        (captions("images", 2, "id", "7"), "captions_val.json: duplicate image id 7, 2 times"),
        (captions("annotations", 1, "id", 1), "repeats the caption id 1 of annotations[0]"),
        (
            captions("annotations", 1, "image_id", 9),
            "annotations[1] has the image_id 9, which is not among the images",
        ),
        (captions("annotations", 1, "caption", None), "has the 'caption' None; give text"),
        ({"ids": {"pictures": []}}, "ids.json: has no key 'images'"),
        ({"ids": {"images": []}}, "holds no image"),
        ({"ids": {"images": [9]}}, "ids.json: images[0] is not in captions_val.json"),
        ({"ids": {"images": [[7]]}}, "ids.json: images[0] is not in captions_val.json"),
        ({"ids": {"images": [7, 7]}}, "ids.json: images[1] repeats the image id 7 of images[0]"),
        ({"ids": {"images": [7], "captions": [1]}}, "lists the caption 1 without its image 3"),
        ({"ids": {"images": [5]}}, "holds no caption"),
        (instances("categories", ...), "instances.json: has no key 'categories'"),
        (instances("images", []), "instances.json: does not list the image 7"),
        (instances("images", 0, "width", 0), "images[0] has an impossible 'width'"),
        (instances("images", 0, "height", ...), "images[0] has no key 'height'"),
        (instances("annotations", 0, "image_id", 9), "annotations[0] has the image_id 9"),
        (instances("annotations", 0, "category_id", 9), "has the unknown category 9"),
        (instances("annotations", 0, "bbox", [1, 2]), "[0] has no readable 'bbox'"),
        (instances("annotations", 0, "bbox", [0, 0, -1, 2]), "no readable 'bbox'"),
        (instances("annotations", 0, "bbox", [0, 0, None, 2]), "no readable 'bbox'"),
        (instances("annotations", 0, "bbox", [0, 0, np.nan, 2]), "no readable 'bbox'"),
        (instances("annotations", 0, "iscrowd", "no"), "has the 'iscrowd' 'no'"),
    ],
)
def test_mistakes(tmp_path, files, message):
    with pytest.raises(karat.KaratError, match=re.escape(message)) as caught:
        load(tmp_path, **files)
    assert caught.value.fix


@pytest.mark.parametrize("option", ["file", "instances", "ids"])
def test_missing_files(tmp_path, option):
    options = write(tmp_path) | {option: tmp_path / "none.json"}
    with pytest.raises(karat.KaratError, match=r"none.json: there is no such file"):
        karat.load_benchmark("coco-json", **options)
