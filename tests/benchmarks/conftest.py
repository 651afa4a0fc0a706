"""A small benchmark with everything that one can have, and COCO with Plausible Match."""

import numpy as np
import pytest

import karat
from karat.benchmarks import (
    Benchmark,
    Ids,
    Judgments,
    Objects,
    Provenance,
    Steps,
    Truth,
)
from karat.benchmarks.plausible_match import PlausibleMatch


@pytest.fixture
def rich_bench() -> Benchmark:
    """Texts, paths, objects, a rule, two sources, pooled pairs and an off-gallery caption."""
    own = Judgments([0, 1, 1], [0, 1, 2], sources=[Provenance("original")])
    rated = Judgments(
        [0, 0],
        [1, 3],
        rating=[2.5, 4.5],
        sources=[Provenance("people", "0 to 5", Steps([(3, 0.5), (4, 1.0)]))],
        pooled=([1, 0], [3, 2]),
    )
    objects = Objects(
        ("dog", "ball"),
        [1, 0, 1],
        [1, 0, 0],
        np.full((3, 4), 0.25),
        synsets=("dog.n.01", "ball.n.01"),
        attributes={"colour": ["red", "blue", "grey"], "how big": ["large", "", "שלום 🙂"]},
    )
    asked = {"i2t": np.arange(2), "t2i": np.arange(3)}
    owner = np.array([0, 1, 1])
    return Benchmark(
        "rich",
        Ids(["a.jpg", "b/c.jpg"], kind="image"),
        Ids([10, 11, 12], extra=[99], kind="caption"),
        {
            "both": Truth("both", own.merge(rated), asked, about="two sources"),
            "whole": Truth("whole", own, asked, about="everything is judged", complete=True),
            "machine": Truth("machine", own, asked, about="by a machine", complete=True, machine=True),
            "pm(z=1)": Truth("pm(z=1)", None, asked, rule=PlausibleMatch(objects.class_vectors(2), owner, 1)),
        },
        caption_image=owner,
        defaults={"both": ("R@1",)},
        about="everything at once",
        texts=["a <b>dog</b>", "", "שלום\n🙂"],
        other_texts=[["two dogs", ""], []],
        image_paths=["a.jpg", "b/c.jpg"],
        objects=objects,
    )


@pytest.fixture(scope="module")
def plausible(data):
    return karat.load_benchmark("coco", boxes=data / "coco" / "coco_karpathy_test_boxes.json")
