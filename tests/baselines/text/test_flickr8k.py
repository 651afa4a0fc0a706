"""The similarities of words on Flickr8k's training captions, beside the paper's section 3.5 and figure 3."""

import numpy as np
import pytest

from karat.baselines.text import (
    AlignmentSimilarity,
    DistributionalSimilarity,
    LinSimilarity,
    Trigram,
    tagged_words,
)
from karat.captions.system_words import SystemWords
from karat.captions.tokens import STOP_WORDS


def read(data, file):
    """Return the captions of every training image."""
    folder = data / "flickr8k"
    if not folder.is_dir():
        pytest.skip("needs Flickr8k's captions in KARAT_DATA")
    captions: dict[str, list[str]] = {}
    for line in (folder / file).read_text(encoding="utf-8").splitlines():
        name, _, caption = line.partition("\t")
        captions.setdefault(name.partition("#")[0], []).append(caption)
    return [captions[name] for name in (folder / "Flickr_8k.trainImages.txt").read_text().split()]


@pytest.fixture(scope="module")
def training(data):
    items = read(data, "Flickr8k.token.txt")
    return tagged_words(SystemWords().fit([caption for item in items for caption in item]), items)


@pytest.fixture(scope="module")
def lemmas(data):
    """The authors' own lemmas, less stop words and signs."""
    return [
        [
            [word for word in caption.lower().split() if word not in STOP_WORDS and word[0].isalpha()]
            for caption in item
        ]
        for item in read(data, "Flickr8k.lemma.token.txt")
    ]


def nearest(learned, word, number):
    return {other for other, _ in learned.nearest(word, number)}


def test_alignments(training):
    learned = AlignmentSimilarity().fit(*training)
    # The paper has 1,180, 143 and 11, with another lemmatiser and tagger.
    assert len(learned.nouns_) == pytest.approx(1180, rel=0.05)
    assert len(learned.verbs_) == pytest.approx(143, rel=0.1)
    assert len({*learned.nouns_} & {*learned.verbs_}) == pytest.approx(11, abs=5)
    assert {"biker", "bicyclist", "cyclist", "bmx"} <= nearest(learned, "rider", 5)
    assert {"retrieve", "paddle", "dive", "come", "wade"} <= nearest(learned, "swim", 7)
    assert learned.matrix_[learned.matrix_ > 0].min() >= 0.05


def test_distributions(training):
    learned = DistributionalSimilarity().fit(*training)
    assert len(learned.words_) == pytest.approx(1928, rel=0.05)
    assert {"bike", "dirt", "motocross", "motorcycle", "ride"} <= nearest(learned, "rider", 7)
    assert {"pool", "trunk", "water", "dive"} <= nearest(learned, "swim", 7)
    assert learned.matrix_[learned.matrix_ > 0].min() >= 0.01


def test_distributions_of_the_authors_lemmas(lemmas):
    """Figure 3, the column of the training captions."""
    learned = DistributionalSimilarity().fit(lemmas)
    assert len(learned.words_) == pytest.approx(1928, rel=0.01)
    for word, near in {
        "rider": {"bike": 0.41, "dirt": 0.35, "motocross": 0.33, "motorcycle": 0.33, "ride": 0.33},
        "swim": {"pool": 0.53, "trunk": 0.35, "water": 0.34, "dive": 0.30, "goggles": 0.29},
    }.items():
        for other, paper in near.items():
            assert learned.kappa([word, other])[0, 1] == pytest.approx(paper, abs=0.015)


def test_lin(training):
    """Figure 3 prints Lin's similarity itself: traveler .94, horseman .84, jockey .84; sport .85."""
    learned = LinSimilarity(cosine=False).fit(*training)
    found = dict(learned.nearest("rider", 8)) | dict(learned.nearest("swim", 8))
    for word, paper in {"traveler": 0.94, "horseman": 0.84, "jockey": 0.84, "sport": 0.85}.items():
        assert found[word] == pytest.approx(paper, abs=0.03)


def test_a_kernel_of_real_captions(training):
    words, tags = training
    kernel = Trigram("sqrt-idf", DistributionalSimilarity(threshold=0)).fit(words[:300], tags[:300])
    values = kernel.kernel(words[:300])
    assert np.linalg.eigvalsh(values)[0] > -1e-9
    np.testing.assert_allclose(values.diagonal(), 1.0)
