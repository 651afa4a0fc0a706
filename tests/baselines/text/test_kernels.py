"""Every text kernel against its literal version, and the decided outcomes at the edges."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat._util import reporting
from karat.baselines.text import TEXT_KERNELS, BagOfWords, Similarity, TagRank, Trigram, text_kernel
from karat.baselines.text.encoded_captions import encode
from karat.errors import InputError, UnknownNameError
from told import Told

from . import literal_kernels as literal
from .caption_strategies import WORDS, asked, items, weights

quick = settings(max_examples=100, deadline=None)


def table(function, a, b):
    return np.array([[function(x, y) for y in b] for x in a])


def same(kernel, function, a, b):
    np.testing.assert_allclose(kernel.kernel(a, b), table(function, a, b), rtol=0, atol=1e-10)
    own = kernel.kernel(a)
    np.testing.assert_allclose(own, table(function, a, a), rtol=0, atol=1e-10)
    assert np.array_equal(own, own.T)


@quick
@given(items, asked, weights)
def test_bags_of_all_captions(training, other, weight):
    kernel = BagOfWords(weight=weight).fit(training)
    same(kernel, lambda a, b: literal.bag(a, b, training, weight), other, training)


@quick
@given(items, asked, st.integers(0, 2))
def test_bags_of_one_caption(training, other, number):
    def only(item):
        return [item[min(number, len(item) - 1)]]

    kernel = BagOfWords(caption=number, weight="idf").fit(training)
    chosen = [only(item) for item in training]
    same(kernel, lambda a, b: literal.bag(only(a), only(b), chosen, "idf"), other, training)


@quick
@given(items, asked, st.booleans())
def test_tag_ranks(training, other, normalise):
    kernel = TagRank(normalise=normalise).fit(training)
    same(kernel, partial(literal.tag_rank, training=training, normalise=normalise), other, training)


class Given(Similarity):
    """A table as it is."""

    def __init__(self, words, matrix):
        self.words, self.matrix = words, matrix

    def fit(self, captions, tags=None):
        self.words_, self.matrix_ = self.words, self.matrix
        return self


def similarity(seed):
    """Some words of training, one of the others, and one that occurs nowhere; the rest match themselves."""
    words = ["a", "c", "x", "nowhere"]
    half = np.random.default_rng(seed).random((4, 4)).round(1)
    return Given(words, np.maximum(np.triu(half, 1) + np.triu(half, 1).T, np.eye(4)))


@quick
@given(items, asked, weights, st.integers(1, 3), st.none() | st.integers(0, 9))
def test_trigrams(training, other, weight, longest, seed):
    given_ = None if seed is None else similarity(seed)
    kernel = Trigram(weight, given_, longest=longest).fit(training)

    def kappa(one, two):
        if given_ is None or one not in given_.words or two not in given_.words:
            return float(one == two)
        return given_.matrix[given_.words.index(one), given_.words.index(two)]

    def value(word):
        return literal.weight(weight, word, training)

    same(kernel, lambda a, b: literal.trigram(a, b, value, kappa, longest), other, training)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from("ab"), max_size=9), st.lists(st.sampled_from("abc"), max_size=9))
def test_repeated_words_count_spans_not_places(s, t):
    literally = literal.trigram([s], [t], lambda word: 1.0, lambda a, b: float(a == b))
    found = Trigram().fit([[s]]).kernel([[s]], [[t]])[0, 0]
    assert found == pytest.approx(literally, abs=1e-10)


def test_a_span_counts_once():
    """ "a b b c" holds "a b c" once: of 5 + 7 + 1 shared sequences, only one is a triple."""
    kernel = Trigram(match=1).fit([[[*"abbc"]]])
    # By hand. Single words: a, b twice, c. Pairs: ab twice, ac, bc twice. Triples: abc.
    shared = 4 + 5 + 1
    # "abc" with itself: 3 words, 3 pairs, 1 triple.
    # "abbc": 1 + 2² + 1; ab, bc twice each, ac, bb: 4 + 4 + 1 + 1; abb, abc, bbc: 1 each.
    assert kernel.kernel([[[*"abbc"]]], [[[*"abc"]]])[0, 0] == pytest.approx(shared / np.sqrt(19 * 7))


@quick
@given(items, weights)
def test_single_words_are_the_bag_of_words(training, weight):
    one = Trigram(weight, longest=1).fit(training).kernel(training)
    np.testing.assert_allclose(one, BagOfWords(weight=weight).fit(training).kernel(training), atol=1e-10)


@quick
@given(items)
def test_promised_to_be_semidefinite(training):
    root = np.random.default_rng(0).random((4, 3))
    root /= np.linalg.norm(root, axis=1)[:, None]
    for kernel in (BagOfWords(), TagRank(), Trigram(), Trigram("sqrt-idf", Given(WORDS, root @ root.T))):
        assert np.linalg.eigvalsh(kernel.fit(training).kernel(training))[0] > -1e-9


@pytest.fixture(scope="module")
def many():
    """More items than a group of rows has, with captions of all lengths."""
    rng = np.random.default_rng(5)
    return [
        [[f"w{k}" for k in rng.zipf(1.5, rng.integers(0, 12)) % 50] for _ in range(rng.integers(1, 6))]
        for _ in range(150)
    ]


@pytest.mark.parametrize("kernel", [Trigram("sqrt-idf"), TagRank(), BagOfWords()])
def test_groups_and_threads_change_nothing(kernel, many):
    kernel.fit(many)
    told = Told()
    with reporting(told):
        whole = kernel.kernel(many, threads=3)
    assert told.reached == ({} if isinstance(kernel, BagOfWords) else {"comparing captions": 150})
    np.testing.assert_allclose(kernel.kernel(many[:7], many, threads=1), whole[:7], rtol=0, atol=1e-12)
    np.testing.assert_allclose(kernel.kernel(many, many), whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["BoW1", "BoW5-idf", "TRI5", "TRI5-sqrt-idf"])
def test_items_without_words_are_zero_to_all(name):
    kernel = text_kernel(name).fit([[["a", "b"]], [["b"]], [[]]])
    found = kernel.kernel([[[]], [["a"], []], [["new"]]])
    assert found[0].tolist() == found[:, 0].tolist() == [0, 0, 0]
    assert np.isfinite(found).all()
    # A new word matches itself.
    assert found[2].tolist() == [0, 0, 1]


def test_tag_rank_of_empty_captions():
    kernel = TagRank().fit([[["a", "b"]], [[]]])
    found = kernel.kernel([[[]], [["a"]], [[], []]])
    assert found[0, 0] == found[0, 2] == 1
    assert 0 < found[0, 1] < 1
    only = TagRank().fit([[[]]])
    assert only.kernel([[[]], [["a"]]]).tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("kernel", [Trigram("idf"), TagRank(), BagOfWords(weight="sqrt-idf")])
def test_one_item_and_no_items(kernel):
    # With one training item, every word it has weighs 0.
    kernel.fit([[["a"]]])
    assert np.isfinite(kernel.kernel([[["a"], ["b"]]])).all()
    assert kernel.kernel([], [[["a"]]]).shape == (0, 1)
    assert kernel.kernel([]).shape == (0, 0)
    with pytest.raises(InputError, match="no training items"):
        kernel.fit([])


@pytest.mark.parametrize(
    ("captions", "message"),
    [
        ("a dog", "one text"), (["a dog"], "a text, not words"), ([["a dog"]], "a text, not words"),
        ([[["a"]], []], "item 1 has no captions"), ([[["a", 3]]], "a word that is not text"),
    ],
)  # fmt: skip
def test_captions_that_cannot_be_used(captions, message):
    for kernel in (BagOfWords(), TagRank(), Trigram()):
        with pytest.raises(InputError, match=message):
            kernel.fit(captions)
        with pytest.raises(InputError, match=message):
            kernel.fit([[["a"]]]).kernel(captions)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (BagOfWords(weight="tf"), "weight"), (BagOfWords(caption=-1), "caption is -1"),
        (Trigram(weight="tf"), "weight"), (Trigram(match=0), "match"), (Trigram(longest=4), "longest"),
    ],
)  # fmt: skip
def test_wrong_parameters(kernel, message):
    with pytest.raises(InputError, match=message):
        kernel.fit([[["a"]]])
    # What could not be fitted is not half fitted.
    with pytest.raises(InputError, match="call fit first"):
        kernel.kernel([[["a"]]])


def test_fit_comes_first():
    with pytest.raises(InputError, match="call fit first"):
        Trigram().kernel([[["a"]]])
    with pytest.raises(InputError, match="give 1 or more"):
        Trigram().fit([[["a"]]]).kernel([[["a"]]], threads=0)


@pytest.mark.parametrize("kernel", [Trigram("idf", similarity(1)), TagRank(), BagOfWords(weight="idf")])
def test_saved_and_restored(kernel, tmp_path):
    training = [[["a", "b"], ["c"]], [["a", "é\n"]], [["d", ""]]]
    kernel.fit(training)
    np.savez(tmp_path / "kernel.npz", **kernel.state())
    with np.load(tmp_path / "kernel.npz", allow_pickle=False) as held:
        again = type(kernel)(**kernel.get_params()).restore(dict(held))
    assert np.array_equal(again.kernel(training), kernel.kernel(training))
    assert again.vocabulary_ == kernel.vocabulary_
    with pytest.raises(InputError, match="lacks vocabulary"):
        type(kernel)(**kernel.get_params()).restore({})


def test_scikit_learn_clones_them():
    from sklearn.base import clone

    kernel = Trigram("sqrt-idf", match=0.3).fit([[["a"]]])
    assert clone(kernel).get_params() == kernel.get_params()
    assert not hasattr(clone(kernel), "vocabulary_")


def test_all_names_make_kernels():
    made = {name: text_kernel(name) for name in TEXT_KERNELS}
    assert len({repr(kernel) for kernel in made.values()}) == len(made)
    assert text_kernel("bow5").get_params() == {"caption": None, "weight": "none"}
    assert [name for name, kernel in made.items() if kernel.needs_tags] == [
        name for name in made if name.startswith("TRI5-A")
    ]
    with pytest.raises(UnknownNameError, match="did you mean"):
        text_kernel("TRI6")


def test_fitting_leaves_parameters_alone():
    given_ = similarity(0)
    kernel = Trigram(similarity=given_).fit([[["a"]]])
    assert not hasattr(given_, "matrix_")
    assert kernel.similarity_.words_ == given_.words


def test_encoding_by_parts():
    numbers: dict[str, int] = {}
    encoded = encode([[["a", "b"]], [[], ["b"]], [["c"]]], numbers)
    part = encoded.part(1, 3)
    assert part.words.tolist() == [1, 2]
    assert part.start.tolist() == [0, 0, 1, 2]
    assert part.first.tolist() == [0, 2, 3]
    assert encoded.document_counts(4).tolist() == [1, 2, 1, 0]
