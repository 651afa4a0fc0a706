"""What is read from WordNet's files, what the cache keeps, and what broken files lead to."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError, KaratError
from karat.lexicon import WordNet, arrays, files, wordnet
from karat.lexicon.files import Files

from .tiny_wordnet import write_tiny


def test_the_tiny_wordnet(tiny):
    wn = wordnet(tiny)
    assert wordnet(tiny) is wn
    assert repr(wn) == f"WordNet({str(tiny)!r}, 9 synsets)"
    rex, dog = wn.synset("rex.n.01"), wn.synset("dog.n.01")
    assert wn.lemmas(rex) == ("Rex", "king")
    assert wn.instance_hypernyms(rex).tolist() == [dog]
    assert [wn.name(row) for row in wn.closure(rex)] == ["dog.n.01", "animal.n.01", "entity.n.01"]
    assert wn.lemmas(wn.synset("huge.s.01")) == ("huge",)
    assert wn.antonyms("smaller") == ("big",)
    assert wn.morphy("dogen", "n") == "dog"
    assert wn.sense_counts("dogs", "n").tolist() == [42]
    assert wn.definition(wn.synset("beast.n.01")) == "it moves"
    assert wn.path_similarity([rex], [dog, 0, wn.synset("bark.v.01")]).tolist() == [[1 / 2, 1 / 4, 1 / 6]]


def test_exceptions_and_counts_may_be_missing(tiny):
    for name in ("noun.exc", "index.sense"):
        (tiny / name).unlink()
    wn = wordnet(tiny)
    assert wn.morphy("dogs") == "dog"
    assert wn.sense_counts("dog", "n").tolist() == [0]


def test_line_ends_do_not_matter(folder, nltk_data):
    windows = arrays.read_arrays(Files(folder))
    unix = arrays.parse(Files(nltk_data / "corpora" / "wordnet"))
    assert b"\r\n" in (folder / "data.adv").read_bytes()
    assert windows.keys() == unix.keys()
    assert all(np.array_equal(windows[name], unix[name]) for name in windows.keys() - {"lines"})


def test_the_cache_gives_the_same_and_notices_changes(tiny):
    first = arrays.read_arrays(Files(tiny))
    again = arrays.read_arrays(Files(tiny))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    (tiny / "noun.exc").write_text("dogen dog\nkine king\n")
    assert len(arrays.read_arrays(Files(tiny))["exceptions"]) == 2


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("data.noun", "n 01 entity", "n 09 entity", r"data\.noun: line 2 is not a synset"),
        ("data.noun", "n 01 entity", "q 01 entity", r"data\.noun: line 2 is not a synset"),
        ("data.noun", "n 01 entity", "v 01 entity", r"data\.noun: line 2 is not a synset"),
        ("data.noun", "all there is", "all", r"data\.noun: line 3 should begin with 000000"),
        ("data.adj", "002 &", "999 &", r"data\.adj: line 2 is not a synset"),
        ("data.adj", "a 0101", "a 0901", "the word of an antonym is missing"),
        (
            "data.noun",
            "@ 00000026 n",
            "@ 00000027 n",
            r"pointers name the synset 27, which is not in data\.noun",
        ),
        ("index.verb", "bark v 1", "bark v 2", r"index\.verb: line 2 lists no senses"),
        ("index.verb", "00000026", "00000027", "index files name the synset 27"),
        ("index.sense", "42", "many", r"index\.sense: line 1 is not a sense"),
        ("index.sense", "dog%1", "dog%7", r"index\.sense: line 1 is not a sense"),
    ],
)
def test_damage_is_said_in_a_sentence(tiny, name, old, new, message):
    (tiny / name).write_text((tiny / name).read_text().replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        arrays.parse(Files(tiny))


def test_circles_and_emptiness(tiny):
    dog = next(line[:8] for line in (tiny / "data.noun").read_text().splitlines() if " dog " in line)
    text = (tiny / "data.noun").read_text()
    (tiny / "data.noun").write_text(text.replace("@ 00000026 n", f"@ {dog} n", 1))
    with pytest.raises(InputError, match=r"tiny: hypernyms form a cycle; install it again"):
        arrays.parse(Files(tiny))
    for part in files.PARTS.values():
        (tiny / f"data.{part}").write_text("")
    with pytest.raises(InputError, match="hold no synsets"):
        arrays.parse(Files(tiny))


def test_a_file_that_changed_under_our_feet(tiny):
    wn = wordnet(tiny)
    (tiny / "data.noun").write_text("gone")
    with pytest.raises(InputError, match="has changed since it was read"):
        wn.definition(2)


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(["data.noun", "data.adj", "index.noun", "noun.exc", "index.sense"]),
    place=st.integers(0, 400),
    junk=st.one_of(st.binary(max_size=4), st.sampled_from([b"\n", b" ", b"99", b"@ ", b"-1", b"\xff"])),
    cut=st.integers(0, 30),
)
def test_any_damage_gives_a_wordnet_or_a_sentence(tmp_path_factory, name, place, junk, cut):
    folder = write_tiny(tmp_path_factory.getbasetemp() / "damaged")
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:place] + junk + content[place + cut :])
    said = str(folder)
    try:
        wn = WordNet(arrays.parse(Files(folder)), Files(folder))
        for row in range(len(wn)):
            wn.path_similarity([row], [0])
            wn.name(row)
    except KaratError as error:
        said = str(error)
    assert str(folder) in said
