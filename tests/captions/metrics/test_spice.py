"""SPICE against a plain Python version, on hand-made graphs and on every edge."""

import itertools

import numpy as np
import pytest

from karat.captions.graphs import SceneGraph, scene_graphs
from karat.captions.metric import CAPTION_METRICS
from karat.captions.metrics.spice import Spice, match_graphs, near_words
from karat.errors import InputError
from karat.lexicon import wordnet

CAPTIONS = [
    "a man riding a brown horse on the beach",
    "a guy on a horse near the sea",
    "two dogs on a couch",
    "a pair of dogs lying on a sofa .",
    "a red bus parked next to a tall building",
    "three people with umbrellas",
    "",
    "...",
    "🐕",
    "犬が走る",
]
REFERENCES = [CAPTIONS[:2], CAPTIONS[2:4], CAPTIONS[4:6], [], ["", "?"], [CAPTIONS[0]], CAPTIONS]


def same(a, b, pos=None):
    return a == b or bool(wordnet().synset_keys(a, pos) & wordnet().synset_keys(b, pos))


def tuples_match(a, b):
    """Element by element; objects by noun senses."""
    if len(a) != len(b):
        return False
    objects = (0, 2)
    return all(same(x, y, "n" if k in objects else None) for k, (x, y) in enumerate(zip(a, b)))


def plain_spice(references, candidate):
    """SPICE in a dozen lines, for comparison."""
    graphs = scene_graphs([*references, candidate])
    own = graphs.pop().tuples
    merged = []
    seen = []
    for tup in itertools.chain.from_iterable(graph.tuples for graph in graphs):
        if not any(tuples_match(tup, other) for other in seen):
            merged.append(tup)
        seen.append(tup)
    hits = min(sum(any(tuples_match(tup, other) for other in seen) for tup in own), len(merged))
    return 2 * hits / (len(own) + len(merged)) if own or merged else 0.0


@pytest.fixture(scope="module")
def prepared():
    return Spice().prepare(REFERENCES, CAPTIONS)


def test_equals_the_plain_version(prepared):
    expected = [[plain_spice(references, caption) for caption in CAPTIONS] for references in REFERENCES]
    found = prepared.block(0, len(REFERENCES))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert found.max() == 1
    assert (found == 0).any()


def test_pairs_equal_the_block(prepared, rng):
    image = rng.integers(0, len(REFERENCES), 200)
    caption = rng.integers(0, len(CAPTIONS), 200)
    block = prepared.block(0, len(REFERENCES))
    np.testing.assert_allclose(prepared.at(image, caption), block[image, caption], rtol=1e-6)
    np.testing.assert_array_equal(prepared.block(2, 5), block[2:5])
    np.testing.assert_array_equal(prepared.block(0, 7, threads=3), block)


def test_a_reference_can_be_left_out(prepared):
    image, caption, left = np.array([0, 0, 5, 1]), np.array([0, 1, 0, 2]), np.array([0, 1, 0, -1])
    found = prepared.at(image, caption, leave_out=left)
    expected = [
        plain_spice(CAPTIONS[1:2], CAPTIONS[0]),
        plain_spice(CAPTIONS[:1], CAPTIONS[1]),
        0,
        plain_spice(CAPTIONS[2:4], CAPTIONS[2]),
    ]
    np.testing.assert_allclose(found, expected)


def test_synonyms_match():
    spice = CAPTION_METRICS["spice"]
    assert spice.pair(["a couch"], "a sofa") == 1
    assert spice.pair(["a dog on a couch"], "a dog on a sofa") == 1
    assert spice.pair(["a dog on a couch"], "a sofa on a dog") == pytest.approx(2 * 2 / 6)
    assert spice.pair(["a couch", "a sofa"], "a couch") == 1


def test_hand_made_graphs():
    graphs = {
        "ref": SceneGraph(("cat", "box"), (("cat", "black"),), (("cat", "in", "box"),)),
        "same": SceneGraph(("cat", "box"), (("cat", "black"),), (("cat", "in", "box"),)),
        "half": SceneGraph(("cat", "box"), (("cat", "white"),), (("box", "in", "cat"),)),
        "none": SceneGraph(("tree",)),
    }
    spice = Spice(lambda texts: [graphs[text] for text in texts])
    found = spice.matrix([["ref"]], ["same", "half", "none"])
    np.testing.assert_allclose(found, [[1, 0.5, 0]])


def test_an_object_is_no_attribute_of_the_same_name():
    found = match_graphs([SceneGraph(("orange",), (("orange", "orange"),)), SceneGraph(("orange",))])
    assert found.n_tuples == 2
    assert np.diff(found.start).tolist() == [1, 1]


def test_more_words_than_numbers_are_refused(monkeypatch):
    monkeypatch.setattr("karat.captions.metrics.spice.MOST_WORDS", 3)
    assert match_graphs([SceneGraph(("cat", "box"))]).n_tuples == 2
    with pytest.raises(InputError, match="4 different words"):
        match_graphs([SceneGraph(("cat", "box", "tree"))])


def test_near_words_is_symmetric():
    words = [("object", w) for w in ("man", "guy", "person", "bike", "bicycle", "street", "road", "zzz")]
    start, near = near_words(words)
    pairs = {(k, n) for k in range(len(words)) for n in near[start[k] : start[k + 1]].tolist()}
    assert pairs == {(b, a) for a, b in pairs}
    assert {(k, k) for k in range(len(words))} <= pairs
    assert (3, 4) in pairs
    assert (3, 5) not in pairs


def test_long_captions_and_nothing_at_all():
    spice = Spice()
    long = "a dog on a sofa near a cat " * 1400
    assert spice.pair([long], long) == 1
    assert spice.matrix([], []).shape == (0, 0)
    assert spice.matrix([["a dog"]], []).shape == (1, 0)
    assert np.isfinite(spice.matrix([[], [""]], ["", "a dog"])).all()


def test_wrong_input_is_explained():
    with pytest.raises(InputError, match="references holds a caption"):
        Spice().prepare(["a dog"], ["a dog"])


def test_agrees_with_people(data):
    """CxC's ratings of a tenth of the images; docs/scene-graphs.md reports all of them."""
    import polars as pl

    captions = pl.read_csv(data / "coco" / "coco_karpathy_test_captions.tsv", separator="\t", quote_char=None)
    rated = pl.read_csv(data / "cxc" / "sits_test.csv").with_columns(
        pl.col("caption").str.extract(r"(\d+)$").cast(pl.Int64).alias("caption_id"),
        pl.col("image").str.extract(r"(\d+)\.jpg$").cast(pl.Int64).alias("image_id"),
    )
    keep = set(captions["image_id"].unique().sort().to_list()[::10])
    rated = rated.filter(pl.col("image_id").is_in(list(keep))).join(captions, on="caption_id")
    of_image = {
        key[0]: group["caption_raw"].to_list()
        for key, group in captions.filter(pl.col("image_id").is_in(list(keep))).group_by("image_id")
    }
    images = sorted(of_image)
    place = {image: k for k, image in enumerate(images)}
    at = np.array([place[image] for image in rated["image_id"].to_list()])
    texts = rated["caption_raw"].to_list()
    scores = Spice().prepare([of_image[image] for image in images], texts).at(at, np.arange(len(texts)))
    rating = rated["agg_score"].to_numpy()
    other = (rated["image_id"] != rated["image_id_right"]).to_numpy()
    assert np.corrcoef(scores, rating)[0, 1] >= 0.70
    assert np.corrcoef(scores[other], rating[other])[0, 1] >= 0.48
