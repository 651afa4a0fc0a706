"""Document frequencies: counted per image, kept in a file, fixed for several sets of captions."""

import numpy as np
import pytest

from karat.captions.frequencies import DocumentFrequencies
from karat.captions.metrics.cider import Cider
from karat.captions.metrics.plain_cider import PlainCider
from karat.errors import InputError, MissingDataError

REFERENCES = [["a dog runs", "a dog"], ["a cat runs", "the cat sits"], ["a dog sits"]]


def test_an_image_counts_once():
    corpus = DocumentFrequencies.from_references(REFERENCES)
    assert [corpus[gram] for gram in ("a", "dog", "a dog", "cat", "a dog runs", "zebra")] == [
        3,
        2,
        2,
        1,
        1,
        0,
    ]


@pytest.mark.parametrize("metric", [Cider, PlainCider])
def test_frequencies_of_the_references_are_the_default(metric):
    candidates = ["a dog sits", "the cat", "a bird"]
    fixed = metric(frequencies=DocumentFrequencies.from_references(REFERENCES))
    np.testing.assert_array_equal(
        fixed.scores(REFERENCES, candidates), metric().scores(REFERENCES, candidates)
    )
    assert fixed.pair(REFERENCES[0], "a dog") == pytest.approx(
        metric().scores(REFERENCES, ["a dog", "a dog", "a dog"])[0]
    )


def test_saved_and_loaded_are_the_same(tmp_path):
    corpus = DocumentFrequencies.from_references([*REFERENCES, ["犬 🐕"]])
    corpus.save(tmp_path / "corpus.npz")
    loaded = DocumentFrequencies.load(tmp_path / "corpus.npz")
    assert loaded.images == corpus.images == 4
    assert list(loaded.grams) == list(corpus.grams)
    np.testing.assert_array_equal(loaded.counts, corpus.counts)


def test_a_corpus_without_words(tmp_path):
    DocumentFrequencies.from_references([]).save(tmp_path / "empty.npz")
    empty = DocumentFrequencies.load(tmp_path / "empty.npz")
    assert empty.images == 0
    assert Cider(frequencies=empty).pair(["a dog"], "a dog") == 0


def test_what_is_no_corpus_is_refused(tmp_path):
    with pytest.raises(MissingDataError, match="no such file"):
        DocumentFrequencies.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("no")
    with pytest.raises(InputError, match="is not a file of document frequencies"):
        DocumentFrequencies.load(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    with pytest.raises(InputError, match="is not a file of document frequencies"):
        DocumentFrequencies.load(tmp_path / "other.npz")


@pytest.mark.parametrize(
    ("images", "grams", "counts", "says"),
    [(2, ["a"], [3], "3 of 2 images"), (2, ["a"], [0], "0 to 0"), (2, ["a", "b"], [1], "2 n-grams have 1")],
)
def test_counts_that_cannot_be_are_refused(images, grams, counts, says):
    with pytest.raises(InputError, match=says):
        DocumentFrequencies(images, grams, np.array(counts))
