"""What a file holds, whatever its format, and the registries of what reads and writes one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from karat.benchmarks import DIRECTIONS
from karat.registry import Registry, import_all

FOLDER = "clip-retrieval"
"""The format of a folder; every other format goes by its extension."""


@dataclass(frozen=True, eq=False)
class Content:
    """Tables or ranked lists, and the ids of their rows where the file names them.

    Parameters
    ----------
    tables
        One table (scores, or embeddings of one side) or two (image and caption embeddings): arrays,
        memory maps or `Blocks`.
    lists
        Ranked items, ``{"i2t": {image id: [caption ids]}, …}``, or without directions.
    scores
        Their scores in the same form, where they are known.
    ids
        ``{"images": [...], "captions": [...]}``, either may be absent.
    vectors
        Whether a single table is known to hold embeddings of one side.
    rows
        The ids of such a table: the file does not say of which side.
    where
        Where the tables come from, for messages of what writes them elsewhere.
    """

    tables: tuple[Any, ...] = ()
    lists: Mapping[Any, Any] | None = None
    scores: Mapping[Any, Any] | None = None
    ids: dict[str, Any] = field(default_factory=dict)
    vectors: bool = False
    rows: Sequence[Any] | None = None
    where: str | None = None

    @property
    def kind(self) -> str:
        """What it is: scores, embeddings, vectors (of one side) or lists.

        >>> Content(tables=([[1.0]],)).kind, Content(lists={}).kind
        ('scores', 'lists')
        """
        if self.lists is not None:
            return "lists"
        if len(self.tables) == 2:
            return "embeddings"
        return "vectors" if self.vectors else "scores"


@dataclass(frozen=True)
class Writer:
    """What writes a format: a function of a content and a path, and the kinds of content it takes."""

    write: Callable[[Content, Path], object]
    holds: tuple[str, ...]
    keeps_ids: tuple[str, ...] = ()
    """The kinds whose ids of rows and columns stand in the file itself; others go beside it."""
    one_direction: bool = False
    """Whether ranked lists of both directions do not fit into one file."""


def fill() -> None:
    """Import every format: each registers itself, adding one touches nothing else."""
    import_all("karat.runs.formats")


READERS: Registry[Callable[[Path], Content]] = Registry("file format", fill=fill)
"""By extension: what reads a file."""
WRITERS: Registry[Writer] = Registry("file format", fill=fill)
"""By extension: what writes a file."""
SHAPES: Registry[Callable[[Path], tuple[int, ...]]] = Registry("file format", fill=fill)
"""By extension: the shape of the one table in a file, cheaply; () where it holds something else."""


def register(
    name: str,
    read: Callable[[Path], Content],
    writer: Writer,
    shape: Callable[[Path], tuple[int, ...]] | None = None,
    aliases: Iterable[str] = (),
) -> None:
    """Register a format under its extension."""
    READERS.add(name, read, aliases)
    WRITERS.add(name, writer, aliases)
    if shape is not None:
        SHAPES.add(name, shape, aliases)


def shape_of(content: Content) -> tuple[int, ...]:
    """Return the shape of the one table of a content whose tables are not read yet."""
    return tuple(content.tables[0].shape) if len(content.tables) == 1 else ()


def format_of(path: Path) -> str:
    """Return the name that a path's format would be registered under.

    >>> format_of(Path("sims.npy"))
    '.npy'
    """
    return FOLDER if path.is_dir() else path.suffix


def by_direction(lists: Mapping[Any, Any]) -> dict[str, Mapping[Any, Any]]:
    """Return lists by direction; those without one stand under "".

    >>> by_direction({"i2t": {1: [2]}}), by_direction({1: [2]})
    ({'i2t': {1: [2]}}, {'': {1: [2]}})
    """
    known = all(key in DIRECTIONS for key in lists)
    return {str(key): lists[key] for key in lists} if known else {"": lists}
