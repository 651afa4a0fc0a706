"""The word model, against its formula and the rules of probability."""

import numpy as np
import pytest

import karat
from karat.captions.language_model import END, UNKNOWN, WordModel, ngram

CAPTIONS = ["a dog runs", "a dog sleeps", "a cat sleeps on a mat", "the cat runs"]


def test_probabilities_after_any_words_add_up_to_one():
    model = WordModel(CAPTIONS)
    words = [*model.vocabulary, UNKNOWN]
    assert END in words
    for before in (("a", "dog"), ("dog", "a"), ("never", "seen"), ("a",), ()):
        assert sum(model.probability((*before, word)) for word in words) == pytest.approx(1)


def test_a_probability_by_hand():
    model = WordModel(["a a b"], order=2)
    # After "a": a once, b once, so 2 words of 2 kinds; alone: a, a, b, end, so 4 words of 3 kinds among 4.
    alone = (2 + 3 / 4) / (4 + 3)
    assert model.probability(("a",)) == pytest.approx(alone)
    assert model.probability(("a", "a")) == pytest.approx((1 + 2 * alone) / 4)


def test_likely_captions_score_higher(tmp_path):
    file = tmp_path / "captions.txt"
    file.write_text("\n".join(CAPTIONS))
    likely, shuffled = ngram(["a dog sleeps on a mat", "sleeps mat a dog on a"], str(file))
    assert likely > shuffled
    with pytest.raises(karat.KaratError, match="ngram needs captions to learn from"):
        ngram(["a"], "")
    file.write_text("\n")
    with pytest.raises(karat.KaratError, match="holds no caption"):
        ngram(["a"], str(file))


def test_the_score_is_a_mean_per_word():
    model = WordModel(CAPTIONS)
    grams = [("<s>", "<s>", "a"), ("<s>", "a", "dog"), ("a", "dog", "runs"), ("dog", "runs", "</s>")]
    assert model.score("A dog runs.") == pytest.approx(np.mean([np.log(model.probability(g)) for g in grams]))
