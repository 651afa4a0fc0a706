"""Parsed captions: what each of several captions says, beside its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat._util import TEXT_FORMATS, Layout, Part, Result, json_text
from karat.captions.caption_file import read_captions
from karat.captions.graphs.extraction import scene_graphs
from karat.captions.graphs.graph import SceneGraph
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.captions.graphs.extraction import ParseWords

WIDEST_LABEL = len("attributes")


@dataclass(frozen=True)
class ParsedCaptions(Result):
    """Captions with their scene graphs.

    Parameters
    ----------
    captions, graphs
        One graph per caption.
    listing
        Whether each caption is shown in one line with its tuples, as the original SPICE tool prints them.
    """

    captions: tuple[str, ...]
    graphs: tuple[SceneGraph, ...]
    listing: bool = False
    formats = TEXT_FORMATS

    def records(self) -> list[dict[str, Any]]:
        """Return one record per tuple: an object, an attribute of it, or a relation to another object."""
        out = []
        for caption, graph in zip(self.captions, self.graphs):
            tuples = [
                *(("object", name, None, None) for name in graph.objects),
                *(("attribute", name, "is", what) for name, what in graph.attributes),
                *(("relation", *triple) for triple in graph.relations),
            ]
            out += [
                {"caption": caption, "kind": kind, "object": first, "relation": how, "other": second}
                for kind, first, how, second in tuples
            ]
        return out

    def to_json(self) -> str:
        """Return one entry per caption as json, with its objects, attributes and relations."""
        return json_text(
            [{"caption": caption, **graph.to_dict()} for caption, graph in zip(self.captions, self.graphs)]
        )

    def parts(self) -> list[Part]:
        """Return each caption with what it says."""
        pairs = list(zip(self.captions, self.graphs))
        if self.listing:
            return ["\n".join(f"{' '.join(caption.split())}\t{graph.listing()}" for caption, graph in pairs)]
        return [Layout(["", ""], rows_of(graph), labels=2, title=caption) for caption, graph in pairs]


def rows_of(graph: SceneGraph) -> list[list[str]]:
    """Return the lines that show a graph, each with its label.

    >>> rows_of(SceneGraph(("cat", "sofa"), (), (("cat", "on", "sofa"),)))
    [['objects   ', 'cat, sofa'], ['relations ', 'cat – on – sofa']]
    >>> rows_of(SceneGraph())
    [['objects   ', 'none']]
    """
    lines = [
        ("objects", ", ".join(graph.objects) or "none"),
        ("attributes", ", ".join(f"{name} is {what}" for name, what in graph.attributes)),
        ("relations", ", ".join(" – ".join(triple) for triple in graph.relations)),
    ]
    # As wide as the widest, so that the graphs of several captions stand in line.
    return [[label.ljust(WIDEST_LABEL), line] for label, line in lines if line]


def parse_captions(
    captions: str | Sequence[str] = (),
    *,
    file: str | Path | None = None,
    convention: str = "full",
    listing: bool = False,
    parser: ParseWords | None = None,
) -> ParsedCaptions:
    """Return what captions say: objects, their attributes, and relations between them.

    Parameters
    ----------
    captions
        One or several.
    file
        A text file with further captions, one per line.
    convention, parser
        As `scene_graphs` takes them.
    listing
        Whether each caption is shown in one line with its tuples, as the original SPICE tool prints them.

    Examples
    --------
    >>> import karat
    >>> print(karat.captions.parse("a cat on a sofa"))
    a cat on a sofa
      objects     cat, sofa
      relations   cat – on – sofa
    """
    texts = [captions] if isinstance(captions, str) else list(captions)
    texts += read_captions(file) if file is not None else []
    if not texts:
        raise InputError("no caption", fix='give one in quotes, such as "a man riding a horse", or a file')
    graphs = scene_graphs(texts, parser=parser, convention=convention)
    return ParsedCaptions(tuple(texts), tuple(graphs), listing)
