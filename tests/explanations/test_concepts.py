"""Concepts of images from objects, captions and scene graphs."""

import json
from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.benchmarks import Benchmark, Objects, build
from karat.errors import KaratError
from karat.explanations import NounSenses, compare_concepts, find_concepts
from karat.lexicon import COCO_SYNSETS, wordnet
from karat.world import make_world

OTHER_THAN_FIRST = {
    "kite": "kite.n.03", "hot dog": "hotdog.n.02", "cake": "cake.n.03", "mouse": "mouse.n.04",
    "toilet": "toilet.n.02", "tv": "television_receiver.n.01", "microwave": "microwave.n.02",
    "toaster": "toaster.n.02", "stop sign": "street_sign.n.01", "sports ball": "ball.n.01",
    "wine glass": "wineglass.n.01", "potted plant": "pot_plant.n.01", "cell phone": "cellular_telephone.n.01",
    # The plant, and the written work.
    "banana": "banana.n.02", "broccoli": "broccoli.n.02", "book": "book.n.02",
}  # fmt: skip


def pictures(things: Objects | None = None, texts=("a dog", "a cat")) -> Benchmark:
    bench = build("tiny", ["7", "8"], [0, 1], ["7", "8"], list(texts), where="", about="")
    return replace(bench, objects=things)


def test_cocos_categories_have_the_senses_of_things():
    wn = wordnet()
    assert len(COCO_SYNSETS) == 80
    for name, synset in COCO_SYNSETS.items():
        assert wn.name(wn.synset(synset)) == synset
        first = wn.first_sense(name, "n")
        assert synset == OTHER_THAN_FIRST.get(name, first is not None and wn.name(first)), name

    assert len(set(COCO_SYNSETS.values())) == 80


def test_cocos_table_needs_all_its_categories():
    box = np.tile([0, 0, 0.5, 0.5], (2, 1))
    few = find_concepts(pictures(Objects(("mouse", "cat"), [0, 1], [0, 1], box)))
    assert few.of_image(0) == {"mouse.n.01": 1}
    names = tuple(COCO_SYNSETS)
    coco = Objects(names, [0, 1], [names.index("mouse"), names.index("cat")], box)
    assert find_concepts(pictures(coco)).of_image(0) == {"mouse.n.04": 1}
    mapped = find_concepts(pictures(coco), synset_map={"mouse": "mouse.n.02"})
    assert [wordnet().name(wordnet().synset(name)) for name in mapped.of_image(0)] == [
        wordnet().name(wordnet().synset("mouse.n.02"))
    ]


def test_counts_areas_and_unmapped_names():
    box = [[0, 0, 0.5, 0.5], [0, 0, 0.1, 0.2], [0, 0, 0.0, 0.5], [0, 0, 1, 1]]
    things = Objects(("dog", "hound dog", "qwx"), [1, 1, 1, 0], [0, 0, 0, 2], box)
    concepts = find_concepts(pictures(things))
    assert concepts.of_image(0) == {}
    assert concepts.of_image(1) == {"dog.n.01": 3}
    # A box without area counts as a thing, and has no size.
    assert concepts.area.round(4).tolist() == [0.02, 0.25]
    assert concepts.unmapped == {"qwx": 1}
    assert concepts.notes == ("no synset for 1 name of 1 thing: qwx (1)",)
    assert "1 concept of 2 images from objects" in str(concepts)
    assert concepts.records() == [{"image": 1, "synset": "dog.n.01", "count": 3}]


def test_positions_come_from_the_largest_boxes():
    box = [
        [0, 0, 0.2, 0.2],
        [0.7, 0.6, 0.2, 0.2],
        [0.0, 0.9, 0.01, 0.01],
        [0.1, 0.1, 0.5, 0.5],
        [0.2, 0.2, 0.5, 0.5],
    ]
    things = Objects(("dog", "cat"), [0, 0, 0, 1, 1], [0, 1, 1, 0, 1], box)
    concepts = find_concepts(pictures(things))
    dog, cat = (concepts.synsets.index(f"{name}.n.01") for name in ("dog", "cat"))
    assert concepts.facts["position"].of_image(0) == [(cat, dog, "below"), (cat, dog, "right of")]
    # They overlap: neither is left of the other.
    assert concepts.facts["position"].of_image(1) == []
    assert concepts.facts["number"].of_image(0) == [(cat, -1, "2"), (dog, -1, "1")]


def test_facts_are_compared_on_common_concepts():
    box = np.tile([0.4, 0.4, 0.2, 0.2], (5, 1))
    things = Objects(
        ("dog", "ball"), [0, 0, 0, 1, 1], [0, 0, 1, 0, 0], box,
        attributes={"colour": ["red", "blue", "red", "red", "green"]},
    )  # fmt: skip
    concepts = find_concepts(pictures(things))
    metrics = compare_concepts(concepts, [0, 1, 0], [1, 0, 0])
    # The red and the blue dog: red is there too; nobody asks for the ball's colour, which is not common.
    assert metrics.fact_agreement("colour").tolist() == [0.5, 0.5, 1]
    assert metrics.fact_counts["colour"][0].tolist() == [2, 2, 3]
    assert metrics.fact_agreement("number").tolist() == [1, 1, 1]
    ball = concepts.synsets.index("ball.n.01")
    informed = compare_concepts(concepts, [0], [0], mentioned=(np.array([0, 1]), np.array([ball])))
    assert informed.fact_counts["colour"][0].tolist() == [1]


def test_worlds_have_concepts_colours_and_sizes():
    world = make_world(10, seed=2)
    concepts = find_concepts(world.benchmark())
    for image in range(10):
        kinds = np.bincount(world.scenes.kind[world.scenes.scene == image])
        assert sorted(concepts.of_image(image).values()) == sorted(kinds[kinds > 0].tolist())
    assert set(concepts.facts) == {"colour", "size", "number", "position"}


def test_captions_name_concepts_without_numbers():
    texts = ["Two small brown dogs left a teddy bear on a tennis court", "people near traffic lights"]
    concepts = find_concepts(pictures(texts=texts))
    assert concepts.source == "captions"
    assert not concepts.counted
    first, second = (set(concepts.of_image(image)) for image in (0, 1))
    assert first == {"dog.n.01", "teddy.n.01", "tennis_court.n.01"}
    assert second == {"person.n.01", "traffic_light.n.01"}
    dog = concepts.synsets.index("dog.n.01")
    assert (dog, -1, "brown") in concepts.facts["colour"].of_image(0)
    assert (dog, -1, "small") in concepts.facts["size"].of_image(0)
    assert (dog, -1, "two") in concepts.facts["number"].of_image(0)
    metrics = compare_concepts(concepts, [0], [0])
    assert metrics.agreement[0] == 1
    assert np.isnan(metrics.enumeration[0])
    assert np.isnan(metrics.size[0])


GRAPH = {
    "image_id": 7,
    "objects": [
        {"object_id": 1, "names": ["man"], "synsets": ["man.n.01"], "x": 0, "y": 0, "w": 50, "h": 100,
         "attributes": ["tall", "big"]},
        {"object_id": 2, "names": ["kites"], "synsets": [], "x": 60, "y": 0, "w": 40, "h": 20,
         "attributes": ["red"]},
        {"object_id": 3, "names": ["qwx"], "synsets": [], "x": 0, "y": 0, "w": 1, "h": 1},
    ],
    "relationships": [{"subject_id": 1, "object_id": 2, "predicate": " HOLDS "}],
}  # fmt: skip


def test_scene_graphs(tmp_path):
    path = tmp_path / "graphs.json"
    path.write_text(json.dumps([GRAPH, {**GRAPH, "image_id": 99}]), encoding="utf-8")
    concepts = find_concepts(pictures(), path, synset_map={"kites": "kite.n.03"})
    assert concepts.of_image(0) == {"kite.n.03": 1, "man.n.01": 1}
    assert concepts.of_image(1) == {}
    assert concepts.area.round(9).tolist() == [0.08, 0.5]
    assert concepts.facts["relation"].of_image(0) == [(1, 0, "holds")]
    assert concepts.facts["colour"].of_image(0) == [(0, -1, "red")]
    assert sorted(concepts.facts["size"].of_image(0)) == [(1, -1, "large"), (1, -1, "tall")]
    assert concepts.facts["position"].of_image(0) == [(0, 1, "right of")]
    assert concepts.unmapped == {"qwx": 1}
    assert concepts.notes[1] == "1 image without a scene graph"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{}", "has no image of the benchmark"),
        ("[{}]", "is not a file of scene graphs (KeyError"),
        ("[1", "is not a file of scene graphs (JSONDecodeError"),
        (json.dumps([GRAPH, GRAPH]), "has image 7 twice; give each once."),
        (json.dumps([{**GRAPH, "objects": [{"names": []}]}]), "is not a file of scene graphs"),
        (json.dumps([GRAPH]).replace('"w": 50', '"w": NaN'), "has a box that is not made of numbers"),
        (json.dumps([{**GRAPH, "image_id": 5}]), "has no image of the benchmark"),
    ],
)
def test_broken_scene_graphs_are_one_sentence(tmp_path, content, words):
    path = tmp_path / "graphs.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(KaratError) as error:
        find_concepts(pictures(), path)
    assert words in str(error.value)
    assert "graphs.json" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("source", "mapping", "words"),
    [
        ("objects", None, "tiny has no objects with boxes; choose a benchmark that has them."),
        ("boxes", None, "concepts is 'boxes'; choose objects or captions"),
        ("gone.json", None, "there is no such file"),
        (None, "gone.json", "there is no such file"),
        ("captions", {"dog": "run.v.01"}, "'run.v.01' is not a noun"),
        ("captions", {"dog": "hound"}, "'hound' is not the name of a synset"),
    ],
)
def test_wrong_sources_are_one_sentence(source, mapping, words):
    with pytest.raises(KaratError) as error:
        find_concepts(pictures(), source, synset_map=mapping)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_without_any_source_boxes_are_asked_for(monkeypatch):
    monkeypatch.delenv("KARAT_DATA", raising=False)
    with pytest.raises(KaratError, match="coco comes without boxes"):
        find_concepts(karat.load_benchmark("coco"))


def test_a_mapping_file_must_hold_names(tmp_path):
    for content in ("[1]", '{"dog": 1}', "{"):
        (tmp_path / "map.json").write_text(content, encoding="utf-8")
        with pytest.raises(KaratError, match="is not a mapping of names to synsets"):
            NounSenses(tmp_path / "map.json")


def test_coco_and_visual_genome(data, coco, monkeypatch):
    monkeypatch.setenv("KARAT_DATA", str(data))
    concepts = find_concepts(karat.load_benchmark("coco"))
    assert len(concepts.synsets) == 80
    assert not concepts.unmapped
    assert int((np.diff(concepts.ptr) > 0).sum()) == 4952
    content = json.loads((data / "coco" / "coco_karpathy_test_boxes.json").read_text(encoding="utf-8"))
    first = str(coco.images.values[0])
    boxes = [content["categories"][int(box[0])] for box in content["images"][first]]
    expected = {COCO_SYNSETS[name]: boxes.count(name) for name in boxes}
    assert concepts.of_image(0) == dict(sorted(expected.items()))
    graphs = data / "vg" / "scene_graphs_10.json"
    listed = json.loads(graphs.read_text(encoding="utf-8"))
    ids = [graph["image_id"] for graph in listed]
    texts = [str(k) for k in ids]
    bench = build("vg", ids, texts, ids, texts, where="", about="")
    vg = find_concepts(bench, graphs, synset_map=data / "vg" / "object_synsets.json")
    assert vg.count.sum() + sum(vg.unmapped.values()) == sum(len(graph["objects"]) for graph in listed) == 376
    assert {"colour", "size", "number", "position", "relation"} == set(vg.facts)
