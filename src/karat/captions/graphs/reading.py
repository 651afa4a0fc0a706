"""From captions to scene graphs: cut into words, tag and parse, cut into phrases, collect what they state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from karat.captions.graphs.conventions import as_java, as_stated
from karat.captions.graphs.facts import Facts
from karat.captions.graphs.graph import SceneGraph
from karat.captions.graphs.phrases import cut_phrases
from karat.captions.graphs.pieces import cut, starts_bare
from karat.captions.graphs.rewriting import rewrite
from karat.captions.graphs.tags import Tagged, mend
from karat.captions.graphs.words import Lemmas, lemmas
from karat.validation import InputError, check_choice

if TYPE_CHECKING:
    from karat.lexicon.syntax import Parsed, Sentence

    ParseWords = Callable[[Sequence[Sequence[str]]], Parsed]

CONVENTIONS: dict[str, Callable[[Facts], SceneGraph]] = {"full": as_stated, "java": as_java}


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
        What tags and parses lists of words: `karat.lexicon.syntax.SpacyParser(nlp)`, or anything that
        returns the same. karat's own by default.
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
    return [write(read_facts(tagged, known)) for tagged in tag(captions, parser)]


def tag(captions: Sequence[str], parser: ParseWords | None = None) -> Iterator[Tagged]:
    """Yield each caption with its tags and tree."""
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


def read_facts(tagged: Tagged, known: Lemmas) -> Facts:
    """Return what a tagged caption states."""
    mend(tagged, known)
    return Facts(tagged, rewrite(tagged, cut_phrases(tagged, known)), known)
