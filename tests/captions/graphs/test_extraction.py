"""Scene graphs: what captions of every structure state, and how near they come to the original tool."""

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.captions.graphs import SceneGraph, scene_graph, scene_graphs
from karat.captions.graphs.extraction import cut, starts_bare
from karat.captions.graphs.word_classes import lemmas
from karat.errors import InputError

sys.path.insert(0, str(Path(__file__).parents[3] / "scripts"))

from score_scene_graphs import counted, micro_f1, tuple_scores


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
        ("the dogs' tails", {("dog", "have", "tail")}),
        ("a sign with 'no dogs' on it", {("sign", "with", "dog"), ("dog", "on", "sign")}),
        ("a womans hat", {("woman", "have", "hat")}),
        # Words that are nouns here and verbs elsewhere.
        ("bright green leaves", {("leaf", "bright"), ("leaf", "green")}),
        ("a goat eating leaves", {("goat", "eat", "leaf")}),
        ("trash can on a lawn", {("can", "trash"), ("can", "on", "lawn")}),
        ("writing on a wall", {("writing", "on", "wall")}),
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


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        # Participles: nothing without a full stop, but for people, and for those that are nouns elsewhere.
        ("a girl riding a pony", "( girl ) , ( pony )"),
        ("a girl riding a pony .", "( girl , ride , pony )"),
        ("people waiting in a hall", "( people , wait in , hall )"),
        ("balloons floating over a town", "( town )"),
        ("a goat standing on a rock", "( standing , on , rock )"),
        (
            "black goat standing on rock",
            "( standing , on , rock ) , ( standing , is , black ) , ( standing , is , goat )",
        ),
        (
            "goat standing next to a rock",
            "( standing , to , rock ) , ( standing , is , next ) , ( standing , is , goat )",
        ),
        ("a uncle walking in a park", "( walking , in , park )"),
        ("uncle walking in a park", "( uncle ) , ( park )"),
        ("a uncle playing chess", "( chess , is , playing )"),
        ("uncle playing chess", "( chess , is , playing ) , ( chess , is , uncle )"),
        ("uncle wearing lipstick", "( uncle ) , ( lipstick )"),
        # The first noun as a verb.
        ("tie on a hook", "( hook )"),
        ("the tie on a hook", "( tie , on , hook )"),
        ("tie is on a hook", "( tie , on , hook )"),
        ("snow on a roof", "( snow , on , roof )"),
        ("knob on a drawer", "( knob , on , drawer )"),
        ("writing on a wall", "( wall )"),
        ("train whistle", "( whistle )"),
        # Noun phrases.
        ("a green cricket bat on a bed", "( bat , on , bed ) , ( cricket , is , green )"),
        ("a green cricket bat", "( bat , is , green ) , ( bat , is , cricket )"),
        (
            "large pink fluffy cushion",
            "( pink , is , large ) , ( cushion , is , pink ) , ( cushion , is , fluffy )",
        ),
        ("left paw", "( paw , is , leave )"),
        ("womans scarf", "( scarf , is , womans )"),
        ("the stairs", "( stair )"),
        # Prepositions and verbs.
        ("a hat on top of a box", "( hat , on , top ) , ( hat , of , box )"),
        ("cows on the edge of a cliff .", "( cow , on , edge ) , ( cow , of , cliff )"),
        ("cows on the edge of a cliff", "( cow , on , edge ) , ( edge , of , cliff )"),
        ("a van parked next to a shed", "( van , park to , shed )"),
        ("the boat is moored to a pier", "( boat ) , ( pier )"),
        ("a uncle carries a bag on the back", "( uncle , carry , bag )"),
        ("the jar is full of nuts", "( jar , is , full )"),
    ],
)
def test_the_original_tools_ways(caption, expected):
    assert scene_graph(caption, convention="java").listing() == expected


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
    for graph in [*scene_graphs(captions), *scene_graphs(captions, convention="java")]:
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
WORDS += [
    "in",
    "of",
    "with",
    "and",
    ",",
    "'s",
    "his",
    "that",
    "there",
    "up",
    "womans",
    "standing",
    "can",
    ".",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=14), max_size=3))
def test_any_order_of_words_gives_graphs_that_hold_together(captions):
    texts = [" ".join(words) for words in captions]
    for graph in scene_graphs(texts, convention="java"):
        named = set(graph.objects)
        assert all(name in named for name, _ in graph.attributes)
        assert all({subject, target} <= named for subject, _, target in graph.relations)
    for graph in scene_graphs(texts):
        named = set(graph.objects)
        assert named.isdisjoint(
            ["a", "the", "is", "are", "on", "in", "of", "with", "and", ",", "'s", "his", "up", "."]
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
    assert printed >= 0.76
    assert as_counted >= 0.845
