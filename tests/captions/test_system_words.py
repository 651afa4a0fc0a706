"""What retrieval systems see: words corrected, compounds joined, lemmas."""

from itertools import pairwise

import pytest

from karat.captions.system_words import Compounds, Spelling, SystemWords, slips
from karat.captions.tokens import (
    tokenise,
)


def distance(a: str, b: str) -> int:
    """Damerau–Levenshtein distance with neighbours swapped at most once, by its table."""
    rows = [[i + j if not i * j else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            rows[i][j] = min(
                rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] != b[j - 1])
            )
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


@pytest.mark.parametrize("word", ["dog", "girl", "aab"])
def test_slips_are_all_words_at_distance_one(word):
    found = set(slips(word)) - {word}
    assert {distance(word, other) for other in found} == {1}
    letters, n = 26, len(word)
    # Without doubles these would be n deletions, n - 1 swaps, 25 n changes and 26 (n + 1) - n insertions.
    most = n + (n - 1) + 25 * n + letters * (n + 1) - n
    doubles = sum(a == b for a, b in pairwise(word))
    assert len(found) == most - 2 * doubles


@pytest.fixture
def spelling():
    seen = [["skateboard"]] * 30 + [["grill"]] * 6 + [["girl"]] * 50 + [["cart"]] * 6 + [["card"]] * 6
    return Spelling(least=5, known=lambda word: word == "carp").fit(seen)


@pytest.mark.parametrize(
    ("word", "mended"),
    [
        ("skatebord", "skateboard"), ("skatebaord", "skateboard"), ("skateboarrd", "skateboard"),
        ("skatebird", "skatebird"),  # two slips away
        ("girls", "girl"), ("girll", "girll"),  # girl, or grill with two letters swapped
        ("carx", "carx"),  # cart or card?
        ("carp", "carp"),  # known
        ("car", "car"),  # too short to tell
        ("gi-rl", "gi-rl"), ("g1rl", "g1rl"), ("gïrl", "gïrl"),
        ("skateboard", "skateboard"),
    ],
)  # fmt: skip
def test_spelling_is_mended_where_it_is_clear(spelling, word, mended):
    assert spelling(word) == mended


def test_no_slips_are_tried_of_a_word_that_is_far_too_long(spelling, monkeypatch):
    tried = []
    monkeypatch.setattr("karat.captions.system_words.slips", lambda word: tried.append(word) or iter(()))
    for length in (11, 12, 100_000):
        assert spelling("x" * length) == "x" * length
    assert [len(word) for word in tried] == [11]


def test_the_likelier_word_wins_only_by_far():
    words = ["ball"] * 100, ["bell"] * 9
    near = Spelling(least=5, factor=10).fit(words)
    assert near("bxll") == "ball"
    assert Spelling(least=5, factor=12).fit(words)("bxll") == "bxll"


def test_all_spellings_of_a_compound_become_one():
    seen = [["t-shirt"]] * 3 + [["close-up"]] * 3 + [["closeup"]] * 5 + [["a", "close", "up", "view"]] * 2
    compounds = Compounds().fit(seen)
    for spelt in ("t shirt", "tee shirt", "tee-shirt", "tshirt", "t-shirt"):
        assert compounds(["a", *spelt.split()]) == ["a", "t-shirt"]
    for spelt in ("close up", "close-up", "closeup"):
        assert compounds([*spelt.split(), "view"]) == ["closeup", "view"]


@pytest.mark.parametrize("number", ["", "s"])
def test_the_table_decides_whatever_is_commoner(number):
    compounds = Compounds().fit([[f"t-shirt{number}"]] * 2 + [[f"tshirt{number}"]] * 5)
    for spelt in ("t shirt", "t-shirt", "tshirt"):
        assert compounds(f"{spelt}{number}".split()) == [f"t-shirt{number}"]


def test_a_rare_hyphen_joins_nothing():
    seen = [["a", "young-girl"]] * 2 + [["a", "young", "girl"]] * 50
    assert Compounds().fit(seen)(["a", "young", "girl"]) == ["a", "young", "girl"]
    assert Compounds(least=3).fit(seen[:2])(["younggirl"]) == ["younggirl"]


def test_compounds_of_nothing():
    assert Compounds().fit([])([]) == []


def test_systems_see_mended_lemmas():
    seen = ["A man wears a t-shirt on his skateboard.", "People ride waves at the beach."] * 5
    words = SystemWords().fit(seen)
    captions = ["Two men in tee shirts rode a skatebord.", "", "...", "The people's waves", "犬 🐕"]
    assert words.transform(captions) == [
        ("two", "man", "t-shirt", "ride", "skateboard"),
        (),
        (),
        ("person", "wave"),
        ("犬", "🐕"),
    ]


def test_systems_may_keep_stop_words():
    words = SystemWords(stop_words=frozenset()).fit(["a dog"])
    assert words.transform(["the dogs are running"]) == [("the", "dog", "be", "run")]


def test_near_to_the_authors_lemmas(data):
    """Most captions have the same lemmas; articles are left aside, since the authors changed them."""
    folder = data / "flickr8k"
    texts, theirs = (
        dict(line.split("\t") for line in (folder / name).read_text(encoding="utf-8").splitlines())
        for name in ("Flickr8k.token.txt", "Flickr8k.lemma.token.txt")
    )
    keys = sorted(texts.keys() & theirs.keys())[::5]
    words = SystemWords(stop_words=frozenset(["a", "an", "the"])).fit([texts[key] for key in keys])
    pairs = list(zip(words.transform([texts[key] for key in keys]), (tokenise(theirs[key]) for key in keys)))
    same = sum(ours == tuple(w for w in other if w not in ("a", "an", "the")) for ours, other in pairs)
    assert same > 0.8 * len(keys)
