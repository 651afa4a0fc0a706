"""``karat parse``: the scene graphs of captions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat._util import check_writable, write_file
from karat.cli.lines import read_lines
from karat.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.captions import SceneGraph

app = typer.Typer()


@app.command()
def parse(
    captions: Annotated[
        list[str] | None, typer.Argument(help="Captions, each in quotes.", show_default=False)
    ] = None,
    file: Annotated[Path | None, typer.Option(help="A text file with one caption per line.")] = None,
    convention: Annotated[
        str, typer.Option(help="full: all that is stated; java: as the original SPICE tool prints it.")
    ] = "full",
    listing: Annotated[
        bool, typer.Option("--listing", help="One line per caption: it, a tab, its tuples in parentheses.")
    ] = False,
    json: Annotated[Path | None, typer.Option(help="Write the graphs here as json.")] = None,
) -> None:
    """Show what captions say: objects, their attributes, and relations between them.

    These are the tuples that SPICE counts.
    """
    from karat.captions import scene_graphs

    check_writable(json)
    texts = [*(captions or []), *(read_lines(file) if file is not None else [])]
    if not texts:
        raise InputError("no caption", fix='give one in quotes, as "a man riding a horse", or --file')
    graphs = scene_graphs(texts, convention=convention)
    if json is not None:
        # Bytes that are no text reach us as lone surrogates; json writes those as \udcff.
        text = as_json(texts, graphs)
        write_file(json, partial(Path.write_text, data=text, encoding="utf-8", errors="backslashreplace"))
    if listing:
        for text, graph in zip(texts, graphs):
            print(f"{' '.join(text.split())}\t{graph.listing()}")
        return
    for k, (text, graph) in enumerate(zip(texts, graphs)):
        print("\n" * (k > 0) + text)
        for label, line in lines_of(graph):
            print(f"  {label:10}  {line}")


def lines_of(graph: SceneGraph) -> list[tuple[str, str]]:
    """Return the lines that show a graph, each with its label.

    >>> from karat.captions.graphs import SceneGraph
    >>> lines_of(SceneGraph(("cat", "sofa"), (), (("cat", "on", "sofa"),)))
    [('objects', 'cat, sofa'), ('relations', 'cat – on – sofa')]
    >>> lines_of(SceneGraph())
    [('objects', 'none')]
    """
    lines = [
        ("objects", ", ".join(graph.objects) or "none"),
        ("attributes", ", ".join(f"{name} is {what}" for name, what in graph.attributes)),
        ("relations", ", ".join(" – ".join(triple) for triple in graph.relations)),
    ]
    return [(label, line) for label, line in lines if line]


def as_json(texts: Sequence[str], graphs: Sequence[SceneGraph]) -> str:
    """Return captions and graphs as json: a list of records."""
    from json import dumps

    records = [{"caption": text, **graph.to_dict()} for text, graph in zip(texts, graphs)]
    return dumps(records, indent=1, ensure_ascii=False) + "\n"
