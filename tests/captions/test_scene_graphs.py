"""Scene graphs: what captions of every structure state, and how near they come to the original tool."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.captions.graphs import SceneGraph, scene_graph, scene_graphs
from karat.captions.graphs.pieces import cut, starts_bare
from karat.captions.graphs.words import lemmas
from karat.validation import InputError


def stated(caption, **options):
    """Everything that a caption states but its objects, as a set."""
    return set(scene_graph(caption, **options).tuples[len(scene_graph(caption, **options).objects) :])


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        # Attributes: adjectives, numbers, nouns before nouns, predicates.
        ("a big brown dog", {("dog", "big"), ("dog", "brown")}),
        ("two dogs", {("dog", "two")}),
        ("2 dogs", {("dog", "two")}),
        ("one dog", set()),
        ("a tennis racket", {("racket", "tennis")}),
        ("the shirt is white", {("shirt", "white")}),
        ("a red and white bus", {("bus", "red"), ("bus", "white")}),
        ("a lot of people", {("people", "lot")}),
        ("three pairs of gloves", {("glove", "three")}),
        # Verbs.
        ("a man riding a horse", {("man", "ride", "horse")}),
        ("A man is riding a horse.", {("man", "ride", "horse")}),
        ("a man who rides a horse", {("man", "ride", "horse")}),
        ("a bird is flying", {("bird", "fly")}),
        ("a man wearing a hat and a tie", {("man", "wear", "hat"), ("man", "wear", "tie")}),
        ("a man and a woman riding bikes", {("man", "ride", "bike"), ("woman", "ride", "bike")}),
        ("a group of people riding bikes", {("group", "of", "people"), ("people", "ride", "bike")}),
        ("a house surrounded by trees", {("house", "surround by", "tree")}),
        ("an ice covered lake", {("ice", "cover", "lake")}),
        # Prepositions.
        ("a cat on a sofa", {("cat", "on", "sofa")}),
        ("the cat is on the sofa", {("cat", "on", "sofa")}),
        ("there is a cat on the sofa", {("cat", "on", "sofa")}),
        ("a cat sitting on a sofa", {("cat", "sit on", "sofa")}),
        ("a cat in front of a sofa", {("cat", "in front of", "sofa")}),
        ("a lamp next to a sofa", {("lamp", "next to", "sofa")}),
        ("a bus parked on the side of a road", {("bus", "park on", "side"), ("side", "of", "road")}),
        # Owners.
        ("the dog's tail", {("dog", "have", "tail")}),
        ("a dog wagging its tail", {("dog", "wag", "tail"), ("dog", "have", "tail")}),
    ],
)
def test_what_captions_state(caption, expected):
    assert stated(caption) == expected


@pytest.mark.parametrize(
    ("caption", "objects"),
    [
        ("This is a wall.", ("wall",)),
        ("People in black shorts and jeans", ("people", "shorts", "jeans")),
        ("dogs, cats and mice", ("dog", "cat", "mouse")),
        ("THE DOG AND THE DOGS", ("dog",)),
        ("some selfies", ("selfie",)),
        ("it is there", ()),
    ],
)
def test_objects_are_lemmas_each_once(caption, objects):
    assert scene_graph(caption).objects == objects


def test_captions_that_start_without_an_article():
    assert stated("left hand of a boy") == {("hand", "left"), ("hand", "of", "boy")}
    assert stated("Paint stain on a shirt") == {("stain", "paint"), ("stain", "on", "shirt")}
    assert starts_bare(["left", "hand"])
    assert not starts_bare(["the", "left", "hand"])
    assert not starts_bare([])


def test_java_drops_participles_without_a_full_stop():
    caption = "a girl riding a pony"
    assert scene_graph(caption, convention="java").listing() == "( girl ) , ( pony )"
    assert scene_graph(f"{caption} .", convention="java").listing() == "( girl , ride , pony )"
    assert stated(caption) == {("girl", "ride", "pony")}
    assert scene_graph("a hat on top of a box", convention="java").relations == (
        ("hat", "on", "top"),
        ("hat", "of", "box"),
    )


def test_listing_names_objects_only_where_nothing_else_is_stated():
    assert scene_graph("a red bus").listing() == "( bus , is , red )"
    assert scene_graph("a bus").listing() == "( bus )"
    assert SceneGraph().listing() == ""
    assert str(SceneGraph()) == "nothing"


@pytest.mark.parametrize("caption", ["", " ", "...", "?!", "🐕", "\N{SOFT HYPHEN}"])
def test_captions_without_words_have_an_empty_graph(caption):
    assert scene_graph(caption) == SceneGraph()


def test_odd_captions_have_some_graph():
    long = " ".join(["a dog, a cat and a red bus on a road near"] * 1000)
    graph = scene_graph(long)
    assert set(graph.objects) == {"dog", "cat", "bus", "road"}
    assert ("bus", "red") in graph.attributes
    assert scene_graph("犬が走る").tuples == scene_graph("犬が走る").tuples
    assert scene_graph("a dog 🐕 on a sofa").objects == ("dog", "sofa")


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_text_gives_graphs_that_hold_together(captions):
    for graph in scene_graphs(captions):
        named = set(graph.objects)
        assert all(name in named for name, _ in graph.attributes)
        assert all({subject, target} <= named for subject, _, target in graph.relations)
        assert len(set(graph.tuples)) == len(graph.tuples)
        assert all(all(part.strip() for part in parts) for parts in graph.tuples)


WORDS = [
    "a",
    "the",
    "man",
    "woman",
    "dogs",
    "bus",
    "red",
    "two",
    "is",
    "are",
    "riding",
    "sits",
    "parked",
    "on",
]
WORDS += ["in", "of", "with", "and", ",", "'s", "his", "that", "there", "up"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=14), max_size=3))
def test_any_order_of_words_gives_graphs_that_hold_together(captions):
    for graph in scene_graphs([" ".join(words) for words in captions]):
        named = set(graph.objects)
        assert named.isdisjoint(
            ["a", "the", "is", "are", "on", "in", "of", "with", "and", ",", "'s", "his", "up"]
        )
        assert all({subject, target} <= named for subject, _, target in graph.relations)


def test_a_batch_equals_its_captions_one_by_one():
    captions = ["a man riding a horse", "", "Two dogs on a sofa.", "red bus"]
    assert scene_graphs(captions) == [scene_graph(caption) for caption in captions]


def test_another_parser_can_be_given():
    asked = []

    def parser(sentences):
        from karat.lexicon.syntax import load_parser

        asked.extend(sentences)
        return load_parser()(sentences)

    assert scene_graph("a cat on a sofa", parser=parser) == scene_graph("a cat on a sofa")
    assert asked == [["a", "cat", "on", "a", "sofa"]]


def test_wrong_input_is_explained():
    with pytest.raises(InputError, match="captions is one string"):
        scene_graphs("a dog")
    with pytest.raises(InputError, match="convention is 'jav'; choose one of full, java"):
        scene_graph("a dog", convention="jav")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A dog, a cat.", ["a", "dog", ",", "a", "cat", "."]),
        ("A dog, ", ["a", "dog", ","]),
        ("At 10:30 with Dr. Who", ["at", "10:30", "with", "dr.", "who"]),
        ("He runs. She walks.", ["he", "runs", ".", "she", "walks", "."]),
        ('A "big" dog!', ["a", '"', "big", '"', "dog", "!"]),
        ("wait...", ["wait", "."]),
        ("", []),
    ],
)
def test_cut(text, expected):
    assert cut(text) == expected


def test_lemmas():
    known = lemmas()
    assert [known.noun(word) for word in ("shorts", "people", "men", "skies", "selfies", "bus")] == [
        "shorts", "people", "man", "sky", "selfie", "bus",
    ]  # fmt: skip
    assert [known.verb(word) for word in ("riding", "sat", "worn")] == ["ride", "sit", "wear"]


def tuple_scores(data, half):
    """Micro F1 of the tuples in one half of the phrases: as printed, and as SPICE counts them."""
    lines = (data / "spice" / "spice_parses.tsv").read_text(encoding="utf-8").splitlines()
    phrases, listings = zip(*(line.split("\t") for line in lines[half::2]))
    truth = [{tuple(t.split(" , ")) for t in re.findall(r"\( (.*?) \)", text)} for text in listings]
    found = [set(graph.listed()) for graph in scene_graphs(phrases, convention="java")]
    return micro_f1(truth, found), micro_f1(map(counted, truth), map(counted, found))


def counted(listed):
    """The objects, attributes and relations that a listing names."""
    out = set()
    for parts in listed:
        out |= {parts} if len(parts) == 1 else {parts, (parts[0],)}
        if len(parts) == 3 and parts[1] != "is":
            out.add((parts[2],))
    return out


def micro_f1(truth, found):
    pairs = list(zip(truth, found, strict=True))
    return 2 * sum(len(a & b) for a, b in pairs) / sum(len(a) + len(b) for a, b in pairs)


def test_scoring_of_tuples_can_fail():
    assert micro_f1([{("a",)}], [{("b",)}]) == 0
    assert counted({("a", "is", "b"), ("a", "on", "c")}) == {
        ("a", "is", "b"),
        ("a", "on", "c"),
        ("a",),
        ("c",),
    }


def test_tuples_of_the_original_tool(data):
    """Floors a little below what docs/scene-graphs.md reports, so that a lasting loss shows."""
    printed, as_counted = tuple_scores(data, half=1)
    assert printed >= 0.73
    assert as_counted >= 0.83
