"""Runs from files, arrays, tensors and dictionaries, and the files of ids beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any

from karat._util import check_table, plural
from karat.benchmarks import DIRECTIONS, Benchmark
from karat.errors import InputError, MissingDataError
from karat.runs.embeddings import EmbeddingRun, Similarity
from karat.runs.formats import READERS, SHAPES, Content, format_of, plain, read_dictionary
from karat.runs.matrix import MatrixRun
from karat.runs.rankings import FORM, RankingsRun
from karat.runs.run import Run
from karat.runs.table import TableRun


def read(path: Path) -> Content:
    """Return what a file or a folder holds."""
    if not path.exists():
        raise MissingDataError("there is no such file", where=path)
    if format_of(path) not in READERS:
        raise InputError(
            f"has the extension {path.suffix!r}", where=path, fix=f"karat reads {', '.join(READERS)} here"
        )
    return READERS[format_of(path)](path)


def as_content(source: Any) -> Content:
    """Return what a path, a dictionary, an array or a tensor holds; nothing is copied."""
    if isinstance(source, str | Path):
        return read(Path(source))
    if isinstance(source, Mapping):
        return Content(lists=source)
    if hasattr(source, "detach"):
        try:
            source = source.detach().cpu().numpy()
        except (TypeError, RuntimeError) as error:
            # numpy has no bfloat16, for one.
            raise InputError(f"the tensor is not an array ({error})", fix="pass tensor.float()") from None
    return Content(tables=(source,))


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
        set of ranked lists. Tables are npy, npz, safetensors, Parquet or csv files, arrays or
        tensors; both embedding tables may be in one npz or safetensors file or in a folder of
        clip-retrieval. Lists are json, TREC, Parquet or csv files or dictionaries
        ``{"i2t": {image id: [caption ids]}, "t2i": {caption id: [image ids]}}``.
    benchmark
        Checks the run against it now; `karat.evaluate` does so in any case. It may also be given
        as the last of `sources`.
    name
        As tables show it; the file's name when left out.
    ids
        The order of rows and columns, ``{"images": [...], "captions": [...]}`` or an ids file; by
        default what the file itself names, else ``NAME.ids.json`` beside ``NAME.npy``, else the
        benchmark's own order.
    similarity
        For embeddings: "dot", or "cosine", which scales vectors to length 1.
    transpose
        The score table is captions by images.

    Examples
    --------
    >>> import numpy as np
    >>> run = load_run(np.array([[0.9, 0.1], [0.3, 0.8]]), name="tiny")
    >>> run.name, run.top("i2t", 1).item.tolist()
    ('tiny', [0, 1])
    """
    if sources and isinstance(sources[-1], Benchmark):
        sources, benchmark = sources[:-1], sources[-1]
    content, where, ids_where = gather(sources, ids)
    name = name or next((Path(s).stem for s in sources if isinstance(s, str | Path)), "run")
    run: Run
    if content.lists is not None:
        run = RankingsRun(with_directions(content.lists, benchmark, where), name, where)
    elif len(content.tables) == 1:
        table = check_table(content.tables[0], where)
        run = MatrixRun(table.T if transpose else table, name, content.ids, where)
    else:
        images, captions = content.tables
        run = EmbeddingRun(images, captions, name, similarity, content.ids, where)
    if isinstance(run, TableRun):
        run.ids_where = ids_where
        check_lengths(run, ids_where or where)
    return run if benchmark is None else run.align(benchmark)


def gather(
    sources: Sequence[Any], ids: Mapping[str, Sequence[Any]] | str | Path | None = None
) -> tuple[Content, str | None, str | None]:
    """Return what the sources of one run hold together, and for messages their files and that of the ids."""
    contents = [as_content(source) for source in sources]
    paths = [Path(source) for source in sources if isinstance(source, str | Path)]
    where = " and ".join(str(path) for path in paths) or None
    tables = tuple(table for content in contents for table in content.tables)
    lists = [content for content in contents if content.lists is not None]
    if len(contents) == 1 and lists:
        return contents[0], where, None
    if lists or len(tables) not in (1, 2):
        raise InputError(
            f"{len(contents)} sources do not make a run",
            where=where,
            fix="give one score table, an image and a caption embedding table, or one set of ranked lists",
        )
    if len(tables) == 1 and contents[0].vectors:
        raise InputError(
            "holds the embeddings of one side", where=where, fix="give the image and the caption embeddings"
        )
    if isinstance(ids, str | Path):
        return Content(tables=tables, ids=read_ids(Path(ids))), where, str(ids)
    if ids is not None:
        return Content(tables=tables, ids=dict(ids)), where, None
    known: dict[str, Any] = {}
    for path in paths:
        known.update(ids_beside(path))
    beside = [str(path.with_suffix(".ids.json")) for path in paths if ids_beside(path)]
    inside: dict[str, Any] = {}
    for kind, content in zip(("images", "captions"), contents):
        inside.update(content.ids if content.rows is None else {kind: content.rows})
    ids_where = " and ".join(beside) if known.keys() - inside.keys() else None
    return Content(tables=tables, ids=known | inside), where, ids_where


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
    raise InputError(f"has the key {strange[0]!r}, which is not a direction", where=where, fix=FORM)


def load_runs(
    sources: Any,
    benchmark: Benchmark,
    *,
    name: Iterable[str] | str | None = None,
    ids: Mapping[str, Sequence[Any]] | str | Path | None = None,
    similarity: str = "dot",
    transpose: bool = False,
) -> list[Run]:
    """Load several runs of one benchmark and name them.

    Parameters
    ----------
    sources
        A run or what `load_run` takes, or a list of these. In a list of paths an image and a caption
        embedding table that follow each other are one run.
    benchmark
        What the runs answer.
    name
        A name for each; by default that of its file, with its folder where two files share a name.
    ids, similarity, transpose
        As `load_run` takes them, for what is not loaded yet.
    """
    listed = list(sources) if isinstance(sources, list) else [sources]
    if not listed:
        raise InputError("no run was given", fix="give at least one")
    groups: list[tuple[Any, ...]]
    if all(isinstance(source, str | Path) for source in listed):
        groups = list(group_sources([Path(source) for source in listed], benchmark))
        names = [group[0].stem for group in groups]
        if len(set(names)) < len(names):
            # a/sims.npy and b/sims.npy: the folders distinguish them.
            names = [str(group[0].with_suffix("")) for group in groups]
    else:
        groups = [source if isinstance(source, tuple) else (source,) for source in listed]
        names = [None] * len(groups)
    if name is not None:
        names = [name] if isinstance(name, str) else list(name)
        if len(names) != len(groups):
            given = f"{plural(len(groups), 'run')} but {plural(len(names), 'name')}"
            raise InputError(given, fix="give as many names as runs")
    options: dict[str, Any] = {"ids": ids, "similarity": similarity, "transpose": transpose}
    runs = [as_run(group, benchmark, called, options) for group, called in zip(groups, names)]
    if all(isinstance(run, RankingsRun) for run in runs) and (ids or transpose):
        raise InputError(
            "ranked lists carry their own ids and directions", fix="leave out --ids and --transpose"
        )
    return runs


def as_run(group: tuple[Any, ...], benchmark: Benchmark, name: str | None, options: Mapping[str, Any]) -> Run:
    """Return a run as it is, under another name where one is given, or load it."""
    if len(group) != 1 or not isinstance(group[0], Run):
        return load_run(*group, benchmark=benchmark, name=name, **options)
    run = group[0]
    if name is not None and name != run.name:
        run = copy(run)
        run.name = name
    return run


def notes_on_loading(runs: Sequence[Run]) -> list[str]:
    """Return what a reader should know of how runs were read."""
    return [
        f"{run.name}: the embeddings are not of length 1 and scores are plain products; "
        "--similarity cosine scales them"
        for run in runs
        if isinstance(run, EmbeddingRun) and run.similarity == "dot" and not run.unit_length
    ]


def group_sources(files: Sequence[Path], benchmark: Benchmark) -> list[tuple[Path, ...]]:
    """Split a list of files into runs: an embedding table belongs with the one that follows it.

    Two tables are embeddings when they have as many columns as each other, and a row per image
    and per caption. Tables are looked at, not read.
    """
    runs: list[tuple[Path, ...]] = []
    rest = list(files)
    while rest:
        pair = rest[:2]
        shapes = [table_shape(path) for path in pair]
        rows = (benchmark.images.size, benchmark.captions.size)
        if (
            len(shapes) == 2
            and all(len(shape) == 2 for shape in shapes)
            and shapes[0] not in (rows, rows[::-1])
        ):
            lengths = (shapes[0][0], shapes[1][0])
            if shapes[0][1] == shapes[1][1] and sorted(lengths) == sorted(rows):
                runs.append(tuple(pair if lengths == rows else pair[::-1]))
                rest = rest[2:]
                continue
        runs.append((rest.pop(0),))
    return runs


def table_shape(path: Path) -> tuple[int, ...]:
    """Return the shape of the one table in a file; () where it holds something else."""
    if not path.exists():
        raise MissingDataError("there is no such file", where=path)
    return SHAPES[format_of(path)](path) if format_of(path) in SHAPES else ()


def read_ids(path: Path) -> dict[str, Any]:
    """Read an ids file: ``{"images": [...], "captions": [...]}``, either may be absent."""
    if not path.is_file():
        raise MissingDataError("there is no such ids file", where=path)
    ids = read_dictionary(path)
    kinds = ("images", "captions")
    if not ids.keys() <= set(kinds) or not all(isinstance(listed, list) for listed in ids.values()):
        raise InputError(
            "is not an ids file",
            where=path,
            fix='write {"images": [ids of rows], "captions": [ids of columns]}',
        )
    return ids


def ids_beside(path: Path) -> dict[str, Any]:
    """Return the ids in ``NAME.ids.json`` beside a table ``NAME.npy``; nothing when there is none."""
    beside = path.with_suffix(".ids.json")
    return read_ids(beside) if beside.is_file() else {}


def write_ids(ids: dict[str, Any], path: Path) -> None:
    """Write an ids file, as it is kept beside a table."""
    path.write_text(json.dumps({kind: plain(listed) for kind, listed in ids.items()}), encoding="utf-8")


def check_lengths(run: TableRun, where: str | None) -> None:
    """Raise where there is not one id for each row or column."""
    shape = run.shape if run.rows == "images" else run.shape[::-1]
    for kind, size in zip(("images", "captions"), shape):
        if kind in run.ids and len(run.ids[kind]) != size:
            raise InputError(
                f"names {plural(len(run.ids[kind]), f'{kind[:-1]} id')} for a table of {size:,} {kind}",
                where=where,
                fix="list an id for each, in the table's order",
            )
