"""What a file of a run holds, whatever its format, and the registries of what reads and writes one.

A format is one file of this package that calls `register`; nothing else changes when one is added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import Registry, import_all, plural
from karat.benchmarks import as_id_array, is_direction
from karat.errors import InputError
from karat.runs.fingerprint import Fingerprint
from karat.runs.vectors import Shard, Shards, ids_of

FOLDER = "clip-retrieval"
"""The format that a folder is written in; every other format is found by its extension."""
SHARDS = "shards"
"""The format of a folder that `karat encode` wrote, which has an index."""
TABLES = {
    "images": ("images", "img", "image_embeddings"),
    "captions": ("captions", "txt", "text_embeddings"),
}
"""The keys of the embedding tables in files that hold arrays by key, npz and safetensors."""
SIDE_NAMES = {
    "images": (*TABLES["images"], "image", "img_emb", "image_emb", "image_embedding"),
    "captions": (*TABLES["captions"], "caption", "text", "text_emb", "txt_emb", "text_embedding"),
}
"""What folders, numbered files and members of a tar are called that hold vectors of a side."""
IDS = {"images": "image_ids", "captions": "caption_ids"}
"""The keys of the ids there."""
MADE_WITH = "made_with"
"""The key of what the run was made with there."""
FIX = (
    "give one table of scores, or the embedding tables 'images' and 'captions'; "
    "ids are called 'image_ids' and 'caption_ids'"
)


@dataclass(frozen=True, eq=False)
class Content:
    """Tables or ranked lists, and the ids of their rows where the file names them.

    Parameters
    ----------
    tables
        One table (scores, or embeddings of one side) or two (image and caption embeddings): arrays,
        memory maps, `Vectors` or `Blocks`.
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
    where, ids_where
        The files of the tables, and of the ids where these are in others, for messages.
    made_with
        What the run was made with, where the file says so.
    facts
        What the file beside a table says of it besides ids: whether it is transposed, the similarity.
    """

    tables: tuple[Any, ...] = ()
    lists: Mapping[Any, Any] | None = None
    scores: Mapping[Any, Any] | None = None
    ids: dict[str, Any] = field(default_factory=dict)
    vectors: bool = False
    rows: Sequence[Any] | None = None
    where: str | None = None
    ids_where: str | None = None
    made_with: Fingerprint | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

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
class FormatWriter:
    """What writes a format: a function of a content and a path, and the kinds of content it takes."""

    write: Callable[[Content, Path], object]
    holds: tuple[str, ...]
    keeps_ids: tuple[str, ...] = ()
    """The kinds whose ids of rows and columns are in the file itself; those of others go beside it."""
    keeps_made_with: bool = False
    """Whether what the run was made with is in the file itself, not beside it."""
    one_direction: bool = False
    """Whether ranked lists of both directions do not fit into one file."""


def fill() -> None:
    """Import every format: each registers itself, adding one changes nothing else."""
    import_all("karat.runs.formats")


READERS: Registry[Callable[[Path], Content]] = Registry("file format", fill=fill, group="karat.run_formats")
"""By extension: what reads a file."""
WRITERS: Registry[FormatWriter] = Registry("file format", fill=fill, group="karat.run_formats")
"""By extension: what writes a file."""
SHAPES: Registry[Callable[[Path], tuple[int, ...]]] = Registry("file format", fill=fill)
"""By extension: the shape of the one table in a file, cheaply; () where it holds something else."""

SHARD_READERS: Registry[Callable[[Path], dict[str, Shard]]] = Registry("file format", fill=fill)
"""By extension: the embedding tables of a file as parts of larger ones, by side; "" where it does not say."""
RECOGNISERS: Registry[Callable[[Path], bool]] = Registry("file format", fill=fill)
"""By extension: whether a file of another extension begins like this format."""


def register(
    name: str,
    read: Callable[[Path], Content],
    writer: FormatWriter,
    shape: Callable[[Path], tuple[int, ...]] | None = None,
    aliases: Iterable[str] = (),
    recognise: Callable[[Path], bool] | None = None,
    shards: Callable[[Path], dict[str, Shard]] | None = None,
) -> None:
    """Register a format under its extension."""
    READERS.add(name, read, aliases)
    WRITERS.add(name, writer, aliases)
    if shape is not None:
        SHAPES.add(name, shape, aliases)
    if recognise is not None:
        RECOGNISERS.add(name, recognise)
    if shards is not None:
        SHARD_READERS.add(name, shards, aliases)


def shape_of(content: Content) -> tuple[int, ...]:
    """Return the shape of the one table of a content whose tables are not read yet."""
    return tuple(content.tables[0].shape) if len(content.tables) == 1 else ()


def one_file(shards: Mapping[str, Shard]) -> Content:
    """Return the content of a single file that is kept as shards are: one side, or both."""
    return joined({side: [shard] for side, shard in shards.items()})


def joined(shards: Mapping[str, Sequence[Shard]]) -> Content:
    """Return tables of one side or of both, each in one or several files."""
    ids = {side: ids_of(parts) for side, parts in shards.items()}
    if len(shards) == 1:
        ((side, parts),) = shards.items()
        return Content(tables=(Shards(parts),), vectors=True, rows=ids[side])
    return Content(
        tables=tuple(Shards(shards[side]) for side in TABLES),
        ids={side: listed for side, listed in ids.items() if listed is not None},
    )


def side_named(name: str) -> str | None:
    """Return the side that a folder or a file is named after, None where it is another name.

    >>> side_named("img_emb"), side_named("shard")
    ('images', None)
    """
    return next((side for side, names in SIDE_NAMES.items() if name.lower() in names), None)


def format_of(path: Path) -> str:
    """Return the name that a path's format would be registered under; ``.gz`` after it does not count.

    A file of an unknown extension is looked into.

    >>> format_of(Path("sims.npy")), format_of(Path("bm25.run.gz"))
    ('.npy', '.run')
    """
    if path.is_dir():
        return SHARDS if RECOGNISERS[SHARDS](path) else FOLDER
    suffix = plain_path(path).suffix
    if suffix in READERS or not path.is_file():
        return suffix
    return next((name for name in RECOGNISERS if RECOGNISERS[name](path)), suffix)


def plain_path(path: Path) -> Path:
    """Return the path without the extension of gzip.

    >>> plain_path(Path("bm25.run.gz")).name
    'bm25.run'
    """
    return path.with_suffix("") if path.suffix == ".gz" else path


def name_of(path: Path) -> str:
    """Return what a run is called: its file's name without the extension of a format.

    >>> name_of(Path("runs/bm25.run.gz")), name_of(Path("input.bm25")), name_of(Path("bm25.txt"))
    ('bm25', 'input.bm25', 'bm25')
    """
    path = plain_path(path)
    return path.stem if path.suffix in READERS or path.suffix == ".txt" else path.name


def by_direction(lists: Mapping[Any, Any]) -> dict[str, Mapping[Any, Any]]:
    """Return lists by direction; those without one are under "".

    >>> by_direction({"i2t": {1: [2]}}), by_direction({1: [2]})
    ({'i2t': {1: [2]}}, {'': {1: [2]}})
    """
    known = all(map(is_direction, lists))
    return {str(key): lists[key] for key in lists} if known else {"": lists}


def plain(ids: Any) -> list[Any]:
    """Return ids as Python's own numbers and text."""
    return np.asarray(ids).tolist() if isinstance(ids, np.ndarray) else list(ids)


def content_of(arrays: Mapping[str, Any], where: Path, facts: str | None) -> Content:
    """Return what named arrays mean: embeddings by their keys, else the one table there is.

    `facts` is what the file says that they were made with.
    """
    ids = {kind: as_ids(arrays[key], f"{where}, {key}") for kind, key in IDS.items() if key in arrays}
    sides = {kind: [key for key in keys if key in arrays] for kind, keys in TABLES.items()}
    for kind, keys in sides.items():
        if len(keys) > 1:
            raise InputError(f"has two tables of {kind}, {' and '.join(keys)}", where=where, fix="keep one")
    tables = [keys[0] for keys in sides.values()] if all(sides.values()) else [table_among(arrays, where)]
    made_with = None if facts is None else Fingerprint.from_json(facts, f"{where}, {MADE_WITH}")
    return Content(tables=tuple(arrays[key] for key in tables), ids=ids, made_with=made_with)


def table_among(arrays: Mapping[str, Any], where: Path) -> str:
    """Return the key of the one table among named arrays, or raise."""
    sizes = {key: len(array.shape) for key, array in arrays.items() if key not in IDS.values()}
    # The scores of choices have three dimensions.
    tables = [key for key, size in sizes.items() if size == 2] or [key for key in sizes if sizes[key] == 3]
    if len(tables) != 1:
        named = ", ".join(repr(key) for key in list(arrays)[:6]) or "none"
        raise InputError(
            f"holds {plural(len(tables), 'table')} but no single table of scores (keys: {named})",
            where=where,
            fix=FIX,
        )
    return tables[0]


def as_ids(array: Any, where: str) -> np.ndarray:
    """Return an array of ids as whole numbers or text, or raise."""
    array = np.asarray(array)
    if array.ndim != 1 or array.dtype.kind not in "iuUS":
        raise InputError(
            f"are ids of {array.dtype} in {plural(array.ndim, 'dimension')}",
            where=where,
            fix="save a plain list of whole numbers or of text",
        )
    try:
        if array.dtype.kind == "S":
            array = np.char.decode(array, "utf-8")
        # Broken bytes may be no text at all, which shows only when it is taken out.
        array.tolist()
        return as_id_array(array)
    except ValueError:
        raise InputError("are ids that are not text", where=where, fix="save them as text") from None


def arrays_of(content: Content) -> dict[str, Any]:
    """Return a content's tables and ids by the keys that `content_of` knows."""
    names = ("scores",) if len(content.tables) == 1 else tuple(TABLES)
    named = dict(zip(names, content.tables))
    return named | {IDS[kind]: as_id_array(ids) for kind, ids in content.ids.items()}
