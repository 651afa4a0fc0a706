"""Query words: what a caption mentions, read from its text by the tagger, the parser and WordNet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeVar

from karat.captions import SceneGraph, scene_graphs, tokenise
from karat.lexicon import COLOUR_WORDS, NUMBER_WORDS, SIZE_WORDS, WordNet, wordnet

T = TypeVar("T")

PLACES = (
    "to the left of", "to the right of", "left of", "right of", "on the left", "on the right", "in front of",
    "on top of", "at the top", "at the bottom", "next to", "close to", "higher up than", "lower down than",
    "above", "below", "under", "underneath", "beneath", "behind", "beside", "between", "near", "over",
    "inside", "against", "across", "around", "along", "through", "among",
)  # fmt: skip
"""Spatial relations, as phrases; longer ones come before those that they contain."""

IDLE = frozenset(("be", "have", "do", "can", "see", "picture", "show", "get"))
"""Verbs that say nothing about what is seen: *a dog can be seen*."""

NO_THINGS = frozenset(
    (
        "picture", "photo", "photograph", "image", "view", "side", "left", "right", "top", "bottom", "front",
        "back", "piece", "article", "group", "couple", "pair", "lot", "bunch", "set",
    )
)  # fmt: skip
"""Nouns that speak of the picture or of a place in it, or that count what follows *of*."""

SHALLOWEST = 4
"""Hypernyms with fewer steps to WordNet's root say nothing: *entity*, *object*, *whole*."""


@dataclass(frozen=True)
class Mentions:
    """What one caption mentions.

    Parameters
    ----------
    words
        All its words in order, in lower case.
    things
        The things that are named, as lemmas.
    attributes
        (thing, what it is like), where the attribute is a colour, a size or a number by its name.
    colours, sizes, numbers
        The names of those that occur.
    several
        Whether a thing is mentioned in the plural.
    actions
        Verbs, as lemmas.
    relations
        How things relate: spatial phrases, and verbs and prepositions between two things.

    Examples
    --------
    >>> mentions = read_mentions(["Two small dogs are chasing a red ball next to a house."])[0]
    >>> mentions.things, mentions.numbers, mentions.colours, mentions.actions
    (('dog', 'ball', 'house'), ('two',), ('red',), ('chase',))
    >>> mentions.attributes
    (('dog', 'two'), ('dog', 'small'), ('ball', 'red'))
    """

    words: tuple[str, ...]
    things: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]
    colours: tuple[str, ...]
    sizes: tuple[str, ...]
    numbers: tuple[str, ...]
    several: bool
    actions: tuple[str, ...]
    relations: tuple[str, ...]


def read_mentions(texts: Sequence[str]) -> list[Mentions]:
    """Return what each caption mentions; captions with the same text are read once.

    Parameters
    ----------
    texts
        English captions.
    """
    known = read_distinct(tuple(dict.fromkeys(texts)))
    return [known[text] for text in texts]


@lru_cache(maxsize=4)
def read_distinct(distinct: tuple[str, ...]) -> dict[str, Mentions]:
    """Return what each of some captions mentions; those of the last benchmarks are remembered."""
    from karat.lexicon.syntax import TAGS, XPOS, load_parser

    words = [tuple(tokenise(text)) for text in distinct]
    parsed = load_parser()(words)
    graphs = scene_graphs(distinct)
    verb, plurals = TAGS.index("VERB"), [XPOS.index("NNS"), XPOS.index("NNPS")]
    net = wordnet()
    lemma = cache(lambda word: net.lemma(word, "v"))
    known = {}
    for k, (text, own, graph) in enumerate(zip(distinct, words, graphs)):
        part = slice(int(parsed.ptr[k]), int(parsed.ptr[k + 1]))
        verbs = [lemma(word) for word, tag in zip(own, parsed.tag[part].tolist()) if tag == verb]
        several = any(tag in plurals for tag in parsed.xpos[part].tolist())
        known[text] = mentions_of(own, graph, once(v for v in verbs if v not in IDLE), several)
    return known


def mentions_of(words: tuple[str, ...], graph: SceneGraph, verbs: tuple[str, ...], several: bool) -> Mentions:
    """Return what a caption mentions, from its words and its scene graph."""
    things = tuple(name for name in graph.objects if name not in NO_THINGS)
    # *An orange on a table* names a thing; *an orange table* does not.
    named = set(things)
    attributes = once(
        (thing, names[word])
        for thing, word in graph.attributes
        for names in (COLOUR_WORDS, SIZE_WORDS, NUMBER_WORDS)
        if word in names and thing in named
    )
    line = f" {' '.join(words)} "
    places = []
    for phrase in PLACES:
        if f" {phrase} " in line:
            places.append(phrase)
            line = line.replace(f" {phrase} ", " ")
    between = (how for first, how, second in graph.relations if {first, second} <= named and how != "of")
    return Mentions(
        words,
        things,
        attributes,
        once(COLOUR_WORDS[word] for word in words if word in COLOUR_WORDS and word not in named),
        once(SIZE_WORDS[word] for word in words if word in SIZE_WORDS),
        once(NUMBER_WORDS[word] for word in words if word in NUMBER_WORDS),
        several,
        verbs,
        once([*places, *between]),
    )


def once(items: Iterable[T]) -> tuple[T, ...]:
    """Return items in order, each once."""
    return tuple(dict.fromkeys(items))


@cache
def concepts_of(noun: str) -> tuple[str, ...]:
    """Return the names of a noun's commonest sense and of what that is a kind of, the nearest first.

    >>> concepts_of("automobile")
    ('car', 'motor vehicle', 'self-propelled vehicle', 'wheeled vehicle', 'container', 'vehicle', ...)
    """
    net: WordNet = wordnet()
    sense = net.first_sense(noun, "n")
    if sense is None:
        return (noun,)
    above = (int(row) for row in net.closure(sense) if net.min_depth(int(row)) >= SHALLOWEST)
    return once(net.lemmas(row)[0].replace("_", " ").lower() for row in (sense, *above))
