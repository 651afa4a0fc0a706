"""Ranked lists: their heads, ids outside the gallery, and what is refused."""

import numpy as np
import pytest

import karat
from karat.runs import RankingsRun, pairs_to_place


def test_wrong_lists(coco):
    image, caption = int(coco.images[0]), int(coco.captions[0])
    for lists, message in (
        ({}, "holds no ranking"),
        ({"i2t": {}}, "holds no ranking"),
        ({"i2t": {12345678: [caption]}}, "image id 12345678 is not in the benchmark"),
        ({"i2t": {image: [caption, 1]}}, "caption id 1 is not in the benchmark"),
        ({"i2t": {image: [caption, caption]}}, "more than once"),
        ({"i2t": {image: "text"}}, "has no list of ids"),
        ({"i2t": {image: 7}}, "has no list of ids"),
        ({"i2t": {image: [[caption]]}}, "ids are not a plain list"),
        ({"x2y": {}}, "has the key 'x2y', which is not a direction"),
    ):
        with pytest.raises(karat.KaratError, match=message):
            karat.load_run(lists, benchmark=coco)


def test_lists_without_a_direction_are_recognised(coco):
    image, caption = int(coco.images[0]), int(coco.captions[0])
    assert karat.load_run({str(image): [caption]}, coco).directions == ("i2t",)
    assert karat.load_run({caption: [image]}, coco).directions == ("t2i",)


def test_listed_ids_outside_the_gallery_do_not_count(coco):
    image = int(coco.images[0])
    listed = [int(coco.captions.extra[0]), *coco.captions.gallery[:3].tolist()]
    run = RankingsRun({"i2t": {image: listed}}).align(coco)
    assert run.top("i2t", 3, queries=np.array([0])).item.tolist() == [0, 1, 2]
    places = run.place([pairs_to_place("i2t", np.zeros(1, int), np.array([2]))])[0]
    assert (places.above.tolist(), int(places.depth[0])) == ([2], 3)


def test_heads_of_lists(coco):
    image = int(coco.images[2])
    captions = coco.captions.gallery[[5, 3, 9]].tolist()
    run = RankingsRun({"i2t": {image: captions}}).align(coco)
    assert run.top("i2t", 2, queries=np.array([2])).item.tolist() == [5, 3]
    assert run.top("i2t", 2, queries=np.array([2]), gallery=np.array([3, 9])).item.tolist() == [3, 9]
    assert run.top("i2t", 2, queries=np.array([0])).item.tolist() == []
