"""Similarities of words against literal versions; IBM model 1 against an example worked by hand."""

from collections import Counter, defaultdict
from math import log, log2, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.baselines.text import (
    AlignmentSimilarity,
    DistributionalSimilarity,
    LinSimilarity,
    MaxSimilarity,
    MeanSimilarity,
    TagRule,
    Trigram,
    read_corpus,
    tagged_words,
)
from karat.baselines.text.alignment_similarity import make_cells, translation_table
from karat.baselines.text.encoded_captions import encode
from karat.captions.system_words import SystemWords
from karat.errors import InputError, MissingDataError
from karat.lexicon import InformationContent, wordnet

from .caption_strategies import WORDS, items

quick = settings(max_examples=60, deadline=None)
ANY = TagRule(1, 0.0)


def cosine(x, y):
    dot = sum(value * y.get(key, 0.0) for key, value in x.items())
    norm = sqrt(sum(v * v for v in x.values())) * sqrt(sum(v * v for v in y.values()))
    return dot / norm if norm else 0.0


def check(learned, vectors, threshold):
    """κ is the cosine of the vectors, 0 below the threshold, and 1 of a word with itself."""
    assert learned.words_ == sorted(vectors)
    for i, one in enumerate(learned.words_):
        for j, other in enumerate(learned.words_):
            wanted = 1.0 if i == j else cosine(vectors[one], vectors[other])
            if abs(wanted - threshold) < 1e-9:
                continue
            wanted = wanted if wanted >= threshold else 0.0
            assert learned.matrix_[i, j] == pytest.approx(wanted, abs=1e-10)


def flat(captions):
    return [caption for item in captions for caption in item]


@quick
@given(items, st.integers(1, 4), st.sampled_from([0.0, 0.01, 0.3]), st.booleans())
def test_distributions(captions, least, threshold, itself):
    sentences = flat(captions)
    counts = Counter(word for sentence in sentences for word in sentence)
    frequent = [word for word in WORDS if counts[word] >= least]

    def p(*words):
        return sum(all(word in sentence for word in words) for sentence in sentences) / len(sentences)

    vectors = {
        w: {
            v: max(0.0, log2(p(w, v) / (p(w) * p(v)))) for v in frequent if p(w, v) > 0 and (itself or v != w)
        }
        for w in frequent
    }
    learned = DistributionalSimilarity(least, threshold, itself).fit(captions)
    check(learned, vectors, threshold)
    if threshold == 0 and frequent:
        assert np.linalg.eigvalsh(learned.matrix_)[0] > -1e-9


def test_distributions_in_another_corpus():
    captions = [[["dog"], ["dog"], ["cat"], ["cat"], ["boat"]]]
    corpus = [["dog", "bone"], ["dog", "bone"], ["cat", "milk"], ["cat", "milk"], ["boat", "sea"], ["bone"]]
    learned = DistributionalSimilarity(least=2, threshold=0, corpus=corpus).fit(captions)
    # boat stands in the captions once, bone and milk in the corpus alone; they are contexts.
    assert learned.words_ == ["cat", "dog"]
    own = DistributionalSimilarity(least=2, threshold=0).fit([corpus])
    assert learned.kappa(["cat", "dog"]) == pytest.approx(own.kappa(["cat", "dog"]))
    assert "bone" not in repr(DistributionalSimilarity(corpus=corpus))
    with pytest.raises(InputError, match="no sentences"):
        DistributionalSimilarity(corpus=[]).fit(captions)


def test_lin_over_hypernyms():
    wn = wordnet()
    captions = [[["dog", "dog", "puppy", "cat"], ["swim", "run", "xyzzy", "blue", "boat"]]]
    learned = LinSimilarity().fit(captions)
    counts = Counter(word for word in flat(captions)[0] + flat(captions)[1] if word != "xyzzy")
    content = InformationContent.from_counts(wn, counts, first_sense=True, add=0)
    vectors = {}
    for word in counts:
        sense = wn.first_sense(word, "n")
        above = [sense, *wn.closure(sense).tolist()]
        vectors[word] = dict(zip(above, wn.lin_similarity([sense], above, content)[0]))
    check(learned, vectors, 0.0)
    assert np.linalg.eigvalsh(learned.matrix_)[0] > -1e-9
    direct = LinSimilarity(cosine=False).fit(captions)
    # Eq. 22 by hand: of 8 nouns, 3 are dogs (a puppy is one), 1 is a puppy, 1 a cat, 4 carnivores.
    dog, puppy, cat = (direct.words_.index(word) for word in ("dog", "puppy", "cat"))
    assert direct.matrix_[dog, puppy] == pytest.approx(2 * log(3 / 8) / (log(3 / 8) + log(1 / 8)))
    assert direct.matrix_[dog, cat] == pytest.approx(2 * log(4 / 8) / (log(3 / 8) + log(1 / 8)))


def test_words_without_nouns():
    learned = LinSimilarity().fit([[["xyzzy"], []]])
    assert learned.words_ == []
    assert Trigram(similarity=LinSimilarity()).fit([[["xyzzy"]]]).kernel([[["xyzzy"]]]).tolist() == [[1]]


def sentences(*pairs):
    """Sources and targets of pairs of sentences, and the numbers of the words."""
    numbers: dict[str, int] = {}
    sources = encode([[[*source]] for source, _ in pairs], numbers)
    targets = encode([[[*target]] for _, target in pairs], numbers)
    return sources, targets, numbers


def test_ibm_model_1_by_hand():
    """Two pairs, "a b" = "x y" and "a" = "x", no empty word, two iterations.

    At first all translations are as likely. x of the first pair comes half from a and half from b, and so
    does y; x of the second pair comes from a. So a gives x 1/2 + 1 and y 1/2; b gives x 1/2 and y 1/2:

        t(x|a) = 3/4   t(y|a) = 1/4   t(x|b) = 1/2   t(y|b) = 1/2

    Again: x of the first pair comes from a by (3/4) / (3/4 + 1/2) = 3/5, from b by 2/5; y from a by
    (1/4) / (1/4 + 1/2) = 1/3, from b by 2/3; x of the second pair comes from a. So a gives x 3/5 + 1 = 8/5
    and y 1/3, 29/15 in all; b gives x 2/5 and y 2/3, 16/15 in all:

        t(x|a) = 24/29   t(y|a) = 5/29   t(x|b) = 3/8   t(y|b) = 5/8
    """
    sources, targets, at = sentences(("ab", "xy"), ("a", "x"))
    cells = make_cells(sources, targets, len(at), null=False)
    for iterations, wanted in (
        (1, [[3 / 4, 1 / 4], [1 / 2, 1 / 2]]),
        (2, [[24 / 29, 5 / 29], [3 / 8, 5 / 8]]),
    ):
        table = translation_table(cells, iterations, 0).toarray()
        found = table[np.ix_([at["a"], at["b"]], [at["x"], at["y"]])]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-15)


def translate(pairs, model1, model2, null):
    """Models 1 and 2 with dictionaries, as Brown et al. have them."""
    t = defaultdict(lambda: 1.0)
    a = defaultdict(lambda: 1.0)
    for iteration in range(model1 + model2):
        count, total = defaultdict(float), defaultdict(float)
        placed, places = defaultdict(float), defaultdict(float)
        for source, target in pairs:
            source = [None, *source] if null else source
            for j, f in enumerate(target):
                where = (j, len(source), len(target))
                norm = sum(t[e, f] * a[i, *where] for i, e in enumerate(source))
                for i, e in enumerate(source):
                    share = t[e, f] * a[i, *where] / norm
                    count[e, f] += share
                    total[e] += share
                    placed[i, *where] += share
                    places[where] += share
        t = {key: value / total[key[0]] for key, value in count.items()}
        if iteration >= model1:
            a = {key: value / places[key[1:]] for key, value in placed.items()}
    return t


texts = st.lists(st.sampled_from(WORDS), max_size=4)


@quick
@given(
    st.lists(st.tuples(texts, texts), min_size=1, max_size=5),
    st.integers(1, 3),
    st.integers(0, 3),
    st.booleans(),
)
def test_ibm_models_literally(pairs, model1, model2, null):
    sources, targets, at = sentences(*pairs)
    table = translation_table(make_cells(sources, targets, len(at), null), model1, model2).toarray()
    assert table.shape == (len(at) + 1, len(at))
    # Pairs with an empty side say nothing.
    literally = translate([pair for pair in pairs if all(pair)], model1, model2, null)
    wanted = np.zeros_like(table)
    for (e, f), value in literally.items():
        wanted[len(at) if e is None else at[e], at[f]] = value
    np.testing.assert_allclose(table, wanted, rtol=0, atol=1e-10)


@quick
@given(items, st.randoms(use_true_random=False), st.sampled_from([0.0, 0.05, 0.4]))
def test_alignments(captions, random, threshold):
    tags = [[[random.choice("nv-") for _ in caption] for caption in item] for item in captions]
    nouns, verbs = TagRule(2, 0.4), TagRule(1, 0.25)
    tagged = Counter((word, tag) for c, t in zip(flat(captions), flat(tags)) for word, tag in zip(c, t))
    total = Counter(word for caption in flat(captions) for word in caption)
    vectors: dict[str, dict] = {}
    for tag, rule in (("n", nouns), ("v", verbs)):
        kept = {w for w in total if tagged[w, tag] >= rule.least and tagged[w, tag] / total[w] >= rule.share}
        reduced = [[[w for w in caption if w in kept] for caption in item] for item in captions]
        pairs = [(s, t) for item in reduced for i, s in enumerate(item) for j, t in enumerate(item) if i != j]
        found = translate([pair for pair in pairs if all(pair)], 2, 2, True)
        for word in kept:
            vector = vectors.setdefault(word, defaultdict(float))
            for other in kept:
                vector[other] += found.get((word, other), 0.0) * tagged[word, tag] / total[word]
    learned = AlignmentSimilarity(nouns, verbs, threshold, model1=2, model2=2).fit(captions, tags)
    check(learned, vectors, threshold)
    if threshold == 0 and vectors:
        assert np.linalg.eigvalsh(learned.matrix_)[0] > -1e-9


def test_which_words_count_as_nouns_and_verbs():
    captions = [[["dog"]] * 5 + [["cat"]] * 4 + [["run"]] * 100]
    tags = [[["n"]] * 5 + [["n"]] * 4 + [["v"]] * 25 + [["n"]] * 50 + [["-"]] * 25]
    learned = AlignmentSimilarity().fit(captions, tags)
    assert (learned.nouns_, learned.verbs_) == (["dog", "run"], ["run"])
    tags[0][9] = ["-"]
    assert AlignmentSimilarity().fit(captions, tags).verbs_ == []


def test_tags_must_fit():
    with pytest.raises(InputError, match="parts of speech"):
        AlignmentSimilarity().fit([[["a"]]])
    with pytest.raises(InputError, match="item 1 has different numbers of tags"):
        AlignmentSimilarity().fit([[["a"]], [["a", "b"]]], [[["n"]], [["n"]]])
    with pytest.raises(InputError, match="iterations"):
        AlignmentSimilarity(ANY, model1=0, model2=0).fit([[["a"], ["a"]]], [[["n"], ["n"]]])


def test_one_caption_per_item_aligns_nothing():
    """Without a second caption there is nothing to translate: words match themselves."""
    learned = AlignmentSimilarity(ANY, ANY).fit([[["a", "b"]], [[]]], [[["n", "v"]], [[]]])
    assert learned.words_ == ["a", "b"]
    assert learned.matrix_.tolist() == [[1, 0], [0, 1]]


def test_combinations():
    captions = [[["a", "b"], ["a", "b", "c"], ["d"], ["c"], ["rare"]] * 2]
    tags = [[["n"] * len(caption) for caption in captions[0]]]
    first = AlignmentSimilarity(TagRule(3, 0.5), threshold=0)
    second = DistributionalSimilarity(least=2, threshold=0)
    words = ["a", "b", "c", "d", "rare", "unknown"]
    x, y = (one.fit(captions, tags).kappa(words) for one in (first, second))
    assert x[-1].tolist() == y[-1].tolist() == [0, 0, 0, 0, 0, 1]
    mean, larger = (kind(first, second).fit(captions, tags) for kind in (MeanSimilarity, MaxSimilarity))
    np.testing.assert_array_equal(mean.kappa(words), (x + y) / 2)
    np.testing.assert_array_equal(larger.kappa(words), np.maximum(x, y))
    assert larger.needs_tags
    assert not second.needs_tags
    assert second.nearest("unknown") == []
    with pytest.raises(InputError, match="call fit first"):
        MaxSimilarity(first, second).nearest("a")


def test_tagged_words_are_the_words_that_systems_see():
    captions = [["Two dogs are running near the swiming pool.", ""], ["The men run!"]]
    words = SystemWords().fit(["a swimming pool"] * 5)
    own, tags = tagged_words(words, captions)
    assert flat(own) == words.transform(["Two dogs are running near the swiming pool.", "", "The men run!"])
    assert [len(caption) for caption in flat(own)] == [len(caption) for caption in flat(tags)]
    assert dict(zip(own[1][0], tags[1][0])) == {"man": "n", "run": "v"}
    # The preprocessing itself stays as it was.
    assert words.stop_words
    assert words.tagger is None


def test_reading_a_corpus(tmp_path):
    words = SystemWords().fit(["a dog"])
    path = tmp_path / "corpus.txt"
    path.write_text("Dogs\nbark. Cats run!\n\nBirds", encoding="utf-8")
    assert read_corpus(path, words) == [("dog", "bark"), ("cat", "run"), ("bird",)]
    assert read_corpus(path, words, one_per_line=True)[0] == ("dog",)
    path.write_bytes(b"a caf\xe9")
    with pytest.raises(InputError, match="line 1 is not UTF-8 but probably Latin-1"):
        read_corpus(path, words)
    with pytest.raises(MissingDataError, match="no such text"):
        read_corpus(tmp_path / "none.txt", words)
