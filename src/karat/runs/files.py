"""Loading runs: files, arrays and dictionaries."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from karat.benchmarks import DIRECTIONS, Benchmark
from karat.registry import Registry
from karat.runs.embeddings import EmbeddingRun, Similarity
from karat.runs.matrix import MatrixRun
from karat.runs.rankings import FORM, RankingsRun
from karat.runs.run import Run
from karat.runs.table import TableRun
from karat.validation import InputError, MissingDataError, check_table

READERS: Registry[Callable[[Path], Any]] = Registry("file format")
"""By extension: what reads a file into a table or into ranked lists."""


def read_npy(path: Path) -> np.ndarray:
    """Map a npy file into memory; one that holds Python objects is refused unread."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        if "Python objects" in str(error):
            raise InputError(
                "holds Python objects, which are never executed", where=path, fix="save a plain float32 array"
            ) from None
        raise InputError("is not a complete npy file", where=path, fix="write it with np.save") from None


def read_json(path: Path) -> dict[str, Any]:
    """Read a json file that holds a dictionary, as ranked lists and ids do."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise InputError(f"is not json ({error})", where=path, fix="write it with json.dump") from None
    if not isinstance(found, dict):
        raise InputError(f"holds no dictionary but a {type(found).__name__}", where=path, fix=FORM)
    return found


READERS.add(".npy", read_npy)
READERS.add(".json", read_json)


def read(path: Path) -> Any:
    """Return the table or the ranked lists in a file."""
    if not path.is_file():
        raise MissingDataError("there is no such file", where=path)
    if path.suffix not in READERS:
        raise InputError(
            f"has the extension {path.suffix!r}", where=path, fix=f"karat reads {', '.join(READERS)} here"
        )
    return READERS[path.suffix](path)


def read_ids(path: Path) -> dict[str, Any]:
    """Read an ids file: ``{"images": [...], "captions": [...]}``, either may be absent."""
    if not path.is_file():
        raise MissingDataError("there is no such ids file", where=path)
    ids = read_json(path)
    kinds = ("images", "captions")
    if not ids.keys() <= set(kinds) or not all(isinstance(listed, list) for listed in ids.values()):
        raise InputError(
            "is not an ids file",
            where=path,
            fix='write {"images": [ids of rows], "captions": [ids of columns]}',
        )
    return ids


def ids_beside(path: Path) -> dict[str, Any]:
    """Return the ids in ``NAME.ids.json`` beside ``NAME.npy``; nothing when there is none."""
    beside = path.with_suffix(".ids.json")
    return read_ids(beside) if beside.is_file() else {}


def load_run(
    *sources: Any,
    benchmark: Benchmark | None = None,
    name: str | None = None,
    ids: Mapping[str, Sequence[Any]] | str | Path | None = None,
    similarity: Similarity = "dot",
    transpose: bool = False,
) -> Run:
    """Return the run in a file, an array or a dictionary.

    Parameters
    ----------
    *sources
        One score table (images by captions), or an image and a caption embedding table, or one
        set of ranked lists. Tables are npy files or arrays, lists are json files or dictionaries
        ``{"i2t": {image id: [caption ids]}, "t2i": {caption id: [image ids]}}``.
    benchmark
        Checks the run against it now; `karat.evaluate` does so in any case. It may also be given
        as the last of `sources`.
    name
        As tables show it; the file's name when left out.
    ids
        The order of rows and columns, ``{"images": [...], "captions": [...]}`` or an ids file; by
        default ``NAME.ids.json`` beside ``NAME.npy``, else the benchmark's own order.
    similarity
        For embeddings: "dot", or "cosine", which scales vectors to length 1.
    transpose
        The score table is captions by images.

    Examples
    --------
    >>> run = load_run(np.array([[0.9, 0.1], [0.3, 0.8]]), name="tiny")
    >>> run.name, run.top("i2t", 1).item.tolist()
    ('tiny', [0, 1])
    """
    if sources and isinstance(sources[-1], Benchmark):
        sources, benchmark = sources[:-1], sources[-1]
    contents = [read(Path(s)) if isinstance(s, str | Path) else s for s in sources]
    paths = [Path(s) for s in sources if isinstance(s, str | Path)]
    where = " and ".join(str(path) for path in paths) or None
    name = name or (paths[0].stem if paths else "run")
    known: dict[str, Any] = {}
    if isinstance(ids, str | Path):
        known = read_ids(Path(ids))
    elif ids is not None:
        known = dict(ids)
    else:
        for path in paths:
            known.update(ids_beside(path))
    run: Run
    if len(contents) == 1 and isinstance(contents[0], Mapping):
        run = RankingsRun(with_directions(contents[0], benchmark, where), name, where)
    elif len(contents) == 1:
        table = check_table(contents[0], where)
        run = MatrixRun(table.T if transpose else table, name, known, where)
    elif len(contents) == 2 and not any(isinstance(content, Mapping) for content in contents):
        run = EmbeddingRun(contents[0], contents[1], name, similarity, known, where)
    else:
        raise InputError(
            f"{len(contents)} sources do not make a run",
            where=where,
            fix="give one score table, an image and a caption embedding table, or one set of ranked lists",
        )
    if isinstance(run, TableRun) and known:
        beside = [str(path.with_suffix(".ids.json")) for path in paths if ids_beside(path)]
        run.ids_where = str(ids) if isinstance(ids, str | Path) else " and ".join(beside) or None
    return run if benchmark is None else run.align(benchmark)


def with_directions(
    lists: Mapping[str, Any], benchmark: Benchmark | None, where: str | None
) -> Mapping[str, Any]:
    """Return lists by direction; a bare dictionary is recognised by its ids."""
    strange = [key for key in lists if key not in DIRECTIONS]
    if not strange:
        return lists
    if benchmark is not None and len(strange) == len(lists):
        for direction in DIRECTIONS:
            if (benchmark.queries(direction).find(strange) >= 0).all():
                return {direction: lists}
    raise InputError(f"has the key {strange[0]!r}, which is no direction", where=where, fix=FORM)


def group_sources(files: Sequence[Path], benchmark: Benchmark) -> list[tuple[Path, ...]]:
    """Split a list of files into runs: an embedding table belongs with the one that follows it.

    Two tables are embeddings when they have as many columns as each other, and a row per image
    and per caption. Tables are mapped, not read.
    """
    runs: list[tuple[Path, ...]] = []
    rest = list(files)
    while rest:
        pair = rest[:2]
        shapes: list[tuple[int, ...]] = [
            np.shape(read(path)) if path.suffix == ".npy" else () for path in pair
        ]
        rows = (benchmark.images.size, benchmark.captions.size)
        if (
            len(shapes) == 2
            and all(len(shape) == 2 for shape in shapes)
            and shapes[0] not in (rows, rows[::-1])
        ):
            given = (shapes[0][0], shapes[1][0])
            if shapes[0][1] == shapes[1][1] and sorted(given) == sorted(rows):
                runs.append(tuple(pair if given == rows else pair[::-1]))
                rest = rest[2:]
                continue
        runs.append((rest.pop(0),))
    return runs
