"""From captions to scene graphs: cut into words, tag and parse, cut into phrases, collect what they state.

The words for the parser are those of `karat.captions.tokens`, with the punctuation that those leave out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from karat._util import check_choice, track
from karat.captions.graphs.conventions import CONVENTIONS
from karat.captions.graphs.facts import CaptionFacts
from karat.captions.graphs.graph import SceneGraph
from karat.captions.graphs.phrases import cut_phrases, rewrite
from karat.captions.graphs.tags import Tagged, correct_tags
from karat.captions.graphs.word_classes import OPENERS, Lemmas, lemmas
from karat.captions.tokens import DOTTED, tokenise
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.lexicon.syntax import Parsed, Sentence

    ParseWords = Callable[[Sequence[Sequence[str]]], Parsed]

OWNS = r"(?<=[sS])\s?['’](?=\s\w)"
MARK = re.compile(OWNS + r"""|(?:(?<=\s)|(?<=^))[("]|[,;:!?)"]+(?=\s|$|[).,"])|\.+(?=["')]*(?:\s|$))""")

OPENS = re.compile(r"(?:^|\s)['‘](?=\w)")
"""A quotation mark; the next single one closes it."""


def scene_graph(caption: str, *, parser: ParseWords | None = None, convention: str = "full") -> SceneGraph:
    """Return the scene graph of one caption.

    Parameters
    ----------
    parser, convention
        As in :func:`scene_graphs`.

    Examples
    --------
    >>> graph = scene_graph("a man riding a brown horse")
    >>> graph.objects, graph.attributes, graph.relations
    (('man', 'horse'), (('horse', 'brown'),), (('man', 'ride', 'horse'),))
    >>> print(graph)
    man, horse; horse is brown; man – ride – horse
    """
    return scene_graphs([caption], parser=parser, convention=convention)[0]


def scene_graphs(
    captions: Sequence[str], *, parser: ParseWords | None = None, convention: str = "full"
) -> list[SceneGraph]:
    """Return the scene graph of every caption; a caption without a noun has an empty one.

    Parameters
    ----------
    captions
        English captions.
    parser
        What tags and parses lists of words into a `karat.lexicon.syntax.Parsed`. karat's own by default.
    convention
        "full" keeps all that a caption states. "java" leaves out and distorts what the original tool does,
        for comparison with its output; docs/scene-graphs.md lists how.

    Examples
    --------
    >>> for graph in scene_graphs(["a cat on a sofa", "two dogs", ""]):
    ...     print(graph)
    cat, sofa; cat – on – sofa
    dog; dog is two
    nothing
    """
    if isinstance(captions, str):
        raise InputError("captions is one string", fix="give a list, or call scene_graph")
    write = CONVENTIONS[check_choice(convention, tuple(CONVENTIONS), "convention")]
    known = lemmas()
    tagged_captions = track(tag(captions, parser), "reading captions", len(captions))
    return [write(read_facts(tagged, known)) for tagged in tagged_captions]


def tag_captions(captions: Sequence[str]) -> Iterator[Tagged]:
    """Yield each caption as words with tags and tree, mistakes that are common in captions corrected.

    >>> (tagged,) = tag_captions(["Two red buses"])
    >>> tagged.words, tagged.pos, tagged.labels
    (['two', 'red', 'buses'], ['NUM', 'ADJ', 'NOUN'], ['nummod', 'amod', 'root'])
    """
    known = lemmas()
    for tagged in track(tag(captions), "reading captions", len(captions)):
        correct_tags(tagged, known)
        yield tagged


def tag(captions: Sequence[str], parser: ParseWords | None = None) -> Iterator[Tagged]:
    """Yield each caption with its tags and tree, as the parser gives them."""
    if parser is None:
        from karat.lexicon.syntax import load_parser

        parser = load_parser()
    words = [cut(caption) for caption in captions]
    stops = [caption[-1:] == ["."] for caption in words]
    words = [caption[:-1] if stop else caption for caption, stop in zip(words, stops)]
    bare = [starts_bare(caption) for caption in words]
    parsed = parser([["the", *caption] if is_bare else caption for caption, is_bare in zip(words, bare)])
    for sentence, is_bare, stop in zip(parsed, bare, stops):
        yield without_article(sentence, stop) if is_bare else as_tagged(sentence, stop)


def as_tagged(sentence: Sentence, stop: bool) -> Tagged:
    """Return a parsed sentence for the rules, which may change its tags."""
    return Tagged(
        sentence.words, list(sentence.tags), list(sentence.xpos), sentence.heads, sentence.labels, stop
    )


def without_article(sentence: Sentence, stop: bool) -> Tagged:
    """Return a parsed sentence without the article that was put before it."""
    above = sentence.heads[0]
    heads = [max((above if head == 0 else head) - 1, -1) for head in sentence.heads[1:]]
    heads = [-1 if head == at else head for at, head in enumerate(heads)]
    return Tagged(
        sentence.words[1:], list(sentence.tags[1:]), list(sentence.xpos[1:]), heads, sentence.labels[1:], stop
    )


def read_facts(tagged: Tagged, known: Lemmas) -> CaptionFacts:
    """Return what a tagged caption states."""
    correct_tags(tagged, known)
    return CaptionFacts(tagged, rewrite(tagged, cut_phrases(tagged, known)), known)


def cut(text: str) -> list[str]:
    """Return the words and marks of a caption, in lower case.

    >>> cut("A man, with Mr. Smith's dog (brown).")
    ['a', 'man', ',', 'with', 'mr.', 'smith', "'s", 'dog', '(', 'brown', ')', '.']
    >>> cut("two dogs' tails"), cut("it says 'no dogs' here")
    (['two', 'dogs', "'", 'tails'], ['it', 'says', 'no', 'dogs', 'here'])
    """
    out: list[str] = []
    begin = 0
    for mark in MARK.finditer(text):
        if mark.group().startswith(".") and mark.end() < len(text) and keeps_dot(text[begin : mark.start()]):
            continue
        owns = mark.group()[-1] in "'’"
        if owns and OPENS.search(text, 0, mark.start()):
            continue
        out += words_of(text[begin : mark.start()])
        out.append("'" if owns else mark.group()[0])
        begin = mark.end()
    out += words_of(text[begin:])
    return out


def words_of(text: str) -> list[str]:
    """Return the words of a text without signs and emoji, which no rule can read; *&* is *and*."""
    words = ("and" if word == "&" else word for word in tokenise(text))
    return [word for word in words if any(map(str.isalnum, word))]


def keeps_dot(text: str) -> bool:
    """Whether a text ends with an abbreviation: *Mr*, *a.m*."""
    last = text.rsplit(maxsplit=1)[-1:]
    return bool(last) and (last[0].lower() in DOTTED or "." in last[0])


def starts_bare(words: list[str]) -> bool:
    """Whether a caption starts with a noun phrase that lacks its article: *left hand of a boy*.

    Parsers, trained on sentences, take the first word of such phrases for a verb; with an article before it
    they do not.
    """
    return bool(words) and words[0][:1].isalpha() and words[0] not in OPENERS and not words[0].endswith("ing")
