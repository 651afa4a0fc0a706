"""Runs from files, arrays, tensors and dictionaries."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from karat._util import (
    COMPLETE,
    Registry,
    check_plain,
    check_table,
    check_written,
    import_later,
    plural,
    track,
)
from karat.benchmarks import Benchmark, is_direction, same_side, turned
from karat.errors import InputError, MissingDataError
from karat.runs.compute import Compute
from karat.runs.embeddings import EmbeddingRun
from karat.runs.fingerprint import made_with_beside, merge_fingerprints, note_on_steps, read_made_with
from karat.runs.formats import READERS, SHAPES, Blocks, Content, format_of, name_of, plain_path
from karat.runs.id_files import (
    UNNAMED,
    Order,
    check_lengths,
    facts_beside,
    ids_beside,
    name_sides,
    read_order,
)
from karat.runs.loading import Loading
from karat.runs.matrix import MatrixRun
from karat.runs.memory import check_list_memory, check_memory, with_memory
from karat.runs.preflight import check_dimensions, check_embeddings
from karat.runs.rankings import FORM, RankingsRun
from karat.runs.run import SIDES, Run
from karat.runs.table import TableRun
from karat.runs.vectors import as_vectors

Memory = int | float | str | None
"""A bound on memory: "4GB", a number of bytes, or none."""


@dataclass(frozen=True)
class RunMaker:
    """What makes a run of something else than a file.

    Parameters
    ----------
    takes
        Whether a text that names no file, or a folder, is the name of such a thing.
    make
        Returns the run of such a thing, or of its name, on a benchmark, computed as `Compute` says.
    """

    takes: Callable[[str], bool]
    make: Callable[[Any, Benchmark, Compute], Run]


RUN_MAKERS: Registry[RunMaker] = Registry("maker of runs", fill=lambda: import_later("run"))
"""What makes a run of something else than a file, such as a model."""

BY_NAME = '{"a": scores, "b": ("images.npy", "captions.npy")}'


def read(path: Path) -> Content:
    """Return what a file or a folder holds."""
    if not path.exists():
        raise MissingDataError("there is no such file", where=path)
    check_plain(path)
    check_written(path, COMPLETE)
    if format_of(path) not in READERS:
        raise InputError(
            f"has the extension {path.suffix!r}", where=path, fix=f"karat reads {', '.join(READERS)} here"
        )
    content = READERS[format_of(path)](path)
    if content.made_with is None and not path.is_dir():
        content = replace(content, made_with=read_made_with(made_with_beside(plain_path(path))))
    return content


def as_content(source: Any) -> Content:
    """Return what a path, a dictionary, an array or a tensor holds; nothing is copied."""
    if isinstance(source, Content):
        return source
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
    ids: Order | None = None,
    similarity: str = "dot",
    transpose: bool = False,
    memory: Memory = None,
) -> Run:
    """Return the run in a file, an array or a dictionary.

    Parameters
    ----------
    *sources
        One score table (images by captions), or an image and a caption embedding table, or one
        set of ranked lists, or one of each direction; several paths also as a list. Tables are npy, npz,
        safetensors, Parquet or csv files, arrays or tensors; both embedding tables may be in one npz or
        safetensors file, or in a folder of numbered files (docs/formats.md lists the layouts), and then are
        read where they are needed. Lists are json, TREC, Parquet or csv files or dictionaries
        ``{"i2t": {image id: [caption ids]}, "t2i": {caption id: [image ids]}}``. Or one model, or the name of
        one such as "hf:FOLDER", which encodes the benchmark.
    benchmark
        Checks the run against it now; `karat.evaluate` does so in any case. It may also be given
        as the last of `sources`.
    name
        As tables show it; the file's name when left out.
    ids
        The order of rows and columns: ``{"images": [...], "captions": [...]}``, an ids file, or a list of
        two: ids one per line, as json or npy, or a table with the columns image_id and caption_id. By
        default what the file itself names, else ``NAME.ids.json`` beside ``NAME.npy``, else the benchmark's
        own order.
    similarity
        For embeddings: "dot", or "cosine", which scales vectors to length 1.
    transpose
        The score table is captions by images.
    memory
        How much memory scoring the run may use, such as "4GB" or a number of bytes; the sizes of blocks
        follow from it. A bound that is too small is refused.

    Examples
    --------
    >>> import numpy as np
    >>> run = load_run(np.array([[0.9, 0.1], [0.3, 0.8]]), name="tiny")
    >>> run.name, run.top("i2t", 1).item.tolist()
    ('tiny', [0, 1])
    """
    if sources and isinstance(sources[-1], Benchmark):
        sources, benchmark = sources[:-1], sources[-1]
    if len(sources) == 1 and isinstance(sources[0], list | tuple):
        paths = sources[0]
        sources = tuple(paths) if all(isinstance(path, str | os.PathLike) for path in paths) else sources
    loading, compute = Loading(None, ids, similarity, transpose), Compute(memory=memory)
    if benchmark is None:
        if any(map(is_model, sources)):
            raise InputError("a model needs a benchmark to encode", fix="give `benchmark`")
        return read_run(sources, None, name, loading, compute)
    run = as_run(sources, benchmark, name, loading, compute).align(benchmark)
    return run if name is None else renamed(run, name)


def read_run(
    sources: Sequence[Any],
    benchmark: Benchmark | None = None,
    name: str | None = None,
    loading: Loading | None = None,
    compute: Compute | None = None,
) -> Run:
    """Return a run as it is or loaded; not matched to the benchmark yet, nor named as `loading` says."""
    if len(sources) == 1 and isinstance(sources[0], Run):
        return sources[0]
    loading, compute = loading or Loading(), compute or Compute()
    check_sources(sources)
    paths = paths_among(sources)
    check_list_memory(compute.memory, paths, name or next(map(name_of, paths), "run"))
    contents = [as_content(source) for source in sources]
    if len(contents) == 2 and all(content.lists is not None for content in contents):
        return both_directions(sources, contents, benchmark, name or joint_name(paths))
    content = gather(sources, benchmark, loading.ids, contents)
    name = name or next(map(name_of, paths), "run")
    if content.lists is not None:
        return as_rankings(content, benchmark, name, content.where)
    return with_memory(as_table_run(content, benchmark, name, loading, compute), compute.memory)


def both_directions(
    sources: Sequence[Any], contents: Sequence[Content], benchmark: Benchmark | None, name: str
) -> RankingsRun:
    """Return the run of two sets of ranked lists, one of each direction."""
    first, second = (
        as_rankings(content, benchmark, "run", str(source)) for source, content in zip(sources, contents)
    )
    if set(first.directions) & set(second.directions):
        raise InputError(
            "hold rankings of the same direction",
            where=shown_paths(sources),
            fix="give them as two runs, or one file of each direction",
        )
    return first.joined(second, name)


def as_table_run(
    content: Content, benchmark: Benchmark | None, name: str, loading: Loading, compute: Compute
) -> TableRun:
    """Return the run of a score table or of two embedding tables, with an id for each row and column."""
    run: TableRun
    loading = stated(loading, content)
    if len(content.tables) == 1:
        if isinstance(content.tables[0], Blocks):
            rows, *_, columns = content.tables[0].shape
            check_memory(compute.memory, (rows, columns), content.tables, name)
        table = check_table(content.tables[0], content.where)
        run = MatrixRun(table.T if loading.transpose else table, name, content.ids, content.where)
    else:
        images, captions = (as_vectors(table, content.where) for table in content.tables)
        check_memory(compute.memory, (len(images), len(captions)), (images, captions), name)
        # Before all vectors are read.
        check_dimensions(images.shape[1], captions.shape[1], content.where)
        sizes = dict(zip(SIDES, map(len, (images, captions))))
        where = content.ids_where or content.where
        content = replace(content, ids=name_sides(content.ids, sizes, where))
        checks = check_embeddings((images, captions), benchmark, where, cosine=loading.similarity == "cosine")
        run = EmbeddingRun(images, captions, name, loading.similarity, content.ids, content.where, checks)
    run.ids_where = content.ids_where
    run.made_with = content.made_with
    check_lengths(run, content.ids_where or content.where)
    return run


def of_one_collection(content: Content, benchmark: Benchmark) -> Content:
    """Return the tables of a run whose benchmark is searched with its own items.

    Of two embedding tables that of its side is taken, for queries and items. One table is embeddings too,
    where it is not as wide as it is long.
    """
    number = int(benchmark.sides[0].kind == "text")
    table = content.tables[min(number, len(content.tables) - 1)]
    own = content.ids.get(SIDES[number], next(iter(content.ids.values()), None))
    ids = {} if own is None else dict.fromkeys(SIDES, own)
    shape = np.shape(table)
    if len(content.tables) == 2 or content.vectors or shape[:1] != shape[1:]:
        return replace(content, tables=(table, table), ids=ids)
    return replace(content, ids={side: content.ids.get(side, listed) for side, listed in ids.items()})


def stated(loading: Loading, content: Content) -> Loading:
    """Return how a table is read with what the file beside it says."""
    cosine = "cosine" in (loading.similarity, content.facts.get("similarity"))
    transpose = loading.transpose or content.facts.get("transposed", False)
    return replace(loading, similarity="cosine" if cosine else "dot", transpose=transpose)


def as_rankings(content: Content, benchmark: Benchmark | None, name: str, where: str | None) -> RankingsRun:
    """Return ranked lists as a run, with the scores that are known."""
    assert content.lists is not None
    lists, scores = with_directions(content.lists, benchmark, where), content.scores
    if scores is not None and lists is not content.lists:
        scores = dict.fromkeys(lists, scores)
    run = RankingsRun(lists, name, where, scores)
    run.made_with = content.made_with
    return run


def gather(
    sources: Sequence[Any],
    benchmark: Benchmark | None = None,
    ids: Order | None = None,
    contents: Sequence[Content] | None = None,
) -> Content:
    """Return what the sources of one run hold together, with the files that messages name."""
    check_sources(sources)
    contents = contents or [as_content(source) for source in sources]
    where = shown_paths(sources)
    if len(contents) == 1 and contents[0].lists is not None:
        return replace(contents[0], where=where)
    tables = tuple(table for content in contents for table in content.tables)
    one_collection = benchmark is not None and benchmark.one_collection
    check_tables(contents, len(tables), where, one_collection)
    made_with = contents[0].made_with
    if len(contents) == 2:
        made_with = merge_fingerprints({kind: part.made_with for kind, part in zip(SIDES, contents)})
    paths = paths_among(sources)
    known, ids_where = ids_of(contents, paths) if ids is None else read_order(ids)
    content = Content(
        tables=tables, ids=known, made_with=made_with, where=where, ids_where=ids_where,
        facts=facts_beside(paths), vectors=contents[0].vectors,
    )  # fmt: skip
    return of_one_collection(content, benchmark) if benchmark is not None and one_collection else content


def check_tables(contents: Sequence[Content], tables: int, where: str | None, one_collection: bool) -> None:
    """Raise where sources are not one score table or the embeddings of both sides, or of the only one."""
    if tables not in (1, 2) or any(content.lists is not None for content in contents):
        raise not_a_run(len(contents), where)
    if tables == 1 and contents[0].vectors and not one_collection:
        raise InputError(
            "holds the embeddings of one side", where=where, fix="give the image and the caption embeddings"
        )


def check_sources(sources: Sequence[Any]) -> None:
    """Raise where there are more sources than any run has, or none; nothing is read."""
    if len(sources) not in (1, 2):
        raise not_a_run(len(sources), shown_paths(sources))


def not_a_run(number: int, where: str | None) -> InputError:
    """Return the error for sources that do not make a run."""
    return InputError(
        f"{number} sources do not make a run",
        where=where,
        fix="give one score table, an image and a caption embedding table, or one set of ranked lists",
    )


def ids_of(contents: Sequence[Content], paths: Sequence[Path]) -> tuple[dict[str, Any], str | None]:
    """Return the ids that tables themselves have, else those in files beside them, and these files."""
    known: dict[str, Any] = {}
    beside = []
    for kind, path in zip(SIDES, paths):
        if ids := ids_beside(path):
            beside.append(str(path.with_suffix(".ids.json")))
            # A plain list beside one of two embedding tables is of that side.
            known |= {kind: ids[UNNAMED]} if UNNAMED in ids and len(paths) == 2 else ids
    inside: dict[str, Any] = {}
    for kind, content in zip(SIDES, contents):
        inside.update(content.ids if content.rows is None else {kind: content.rows})
    return known | inside, " and ".join(beside) if known.keys() - inside.keys() else None


def paths_among(sources: Iterable[Any]) -> list[Path]:
    """Return the files and folders among sources."""
    return [Path(source) for source in sources if isinstance(source, str | Path)]


def shown_paths(sources: Iterable[Any]) -> str | None:
    """Return the files and folders among sources, for messages; None where there are none."""
    return " and ".join(map(str, paths_among(sources))) or None


def with_directions(
    lists: Mapping[str, Any], benchmark: Benchmark | None, where: str | None
) -> Mapping[str, Any]:
    """Return lists by direction; a bare dictionary is recognised by its ids."""
    strange = [key for key in lists if not is_direction(key)]
    if not strange:
        return lists
    if benchmark is not None and len(strange) == len(lists):
        covered = benchmark.asked_directions
        # The directions that are scored first: where ids are numbers, a query and an item may share one.
        for direction in dict.fromkeys([*covered, *benchmark.directions]):
            queries = benchmark.queries(direction)
            known = queries.find(strange) >= 0
            if known.all() or (queries.open and known.any()):
                return {direction: lists}
        if len(covered) == 1 and benchmark.queries(covered[0]).open:
            benchmark.queries(covered[0]).index(strange, where)
    raise InputError(
        f"has the key {strange[0]!r}, which is not a direction",
        where=where,
        fix=f"{FORM}; or runs by name, {BY_NAME}",
    )


def is_model(source: Any) -> bool:
    """Whether something is a model of pictures or texts, or the name of one: it is encoded into a run."""
    if isinstance(source, str | Path):
        possible = Path(source).is_dir() if Path(source).exists() else ":" in str(source)
        return possible and RUN_MAKERS["model"].takes(str(source))
    return any(callable(getattr(source, method, None)) for method in ("encode_images", "encode_texts"))


def is_source(value: Any) -> bool:
    """Whether a value of a dictionary is a run or what one is loaded from, and not a list of ranked ids."""
    if isinstance(value, tuple):
        # Of two texts, ids or files, the extension decides.
        files = (not isinstance(part, str) or Path(part).suffix in READERS for part in value)
        return len(value) == 2 and all(map(is_source, value)) and all(files)
    tables = getattr(value, "ndim", 0) in (2, 3)
    return tables or isinstance(value, Run | str | Path | Mapping) or is_model(value)


def by_name(sources: Any) -> bool:
    """Whether a dictionary holds runs by name, and not the ranked lists of one run."""
    named = isinstance(sources, Mapping) and bool(sources) and not any(map(is_direction, sources))
    return named and all(map(is_source, sources.values()))


def load_runs(
    sources: Any,
    benchmark: Benchmark,
    loading: Loading | None = None,
    compute: Compute | None = None,
) -> list[Run]:
    """Load several runs of one benchmark and name them.

    Parameters
    ----------
    sources
        A run or what `load_run` takes, or a list of these, or a dictionary of these by name. In a list of
        paths an image and a caption embedding table that follow each other are one run, and so are ranked
        lists of one direction and then of the other, unless each file is given a name; in a dictionary they
        are a tuple. A model (`karat.load_model`), or the name of one such as "hf:FOLDER", is encoded.
    benchmark
        What the runs answer.
    loading
        How they are read. A name is by default that of the file, with its folder where two files share a
        name; the rest concerns what is not loaded yet.
    compute
        How much memory scoring them may use.

    Returns
    -------
    list of Run
        Matched to the benchmark. Where its items are open, that is `run.benchmark`, which also has the items
        that nobody judged.
    """
    loading, compute = loading or Loading(), compute or Compute()
    benchmark.check_gallery()
    groups, names, given = list_sources(sources, benchmark, loading.name)
    paths = [path for group in groups for path in paths_among(group)]
    called = next(map(name_of, paths), "run") if len(groups) == 1 else plural(len(groups), "run")
    check_list_memory(compute.memory, paths, called)
    read = track(list(zip(groups, names)), lambda source: f"reading {source[1] or 'a run'}")
    runs = [as_run(group, benchmark, called, loading, compute) for group, called in read]
    if given is None or len(given) != len(runs):
        runs = join_directions(runs, groups)
    runs = give_names(runs, given, renamed)
    if all(isinstance(run, RankingsRun) for run in runs) and (loading.ids or loading.transpose):
        raise InputError("ranked lists carry their own ids and directions", fix="leave out ids and transpose")
    for run in runs:
        # All runs rank the same items: what one of them lists is an item for every other.
        benchmark = run.with_open_items(benchmark) if isinstance(run, RankingsRun) else benchmark
    return [run.align(benchmark) for run in runs]


def list_sources(
    sources: Any, benchmark: Benchmark, name: Iterable[str] | str | None = None
) -> tuple[list[tuple[Any, ...]], list[str | None], list[str] | None]:
    """Return the sources of each run, its name by its files, and the names that were given."""
    if by_name(sources):
        if name is not None:
            raise InputError("the runs have names already", fix="leave out `name`")
        name = [str(key) for key in sources]
        # Two paths in a row are two runs here.
        sources = [source if isinstance(source, tuple) else (source,) for source in sources.values()]
    listed = list(sources) if isinstance(sources, list) else [sources]
    if not listed:
        raise InputError("no run was given", fix="give at least one")
    given = None if name is None else [name] if isinstance(name, str) else list(name)
    if all(isinstance(source, str | Path) or is_model(source) for source in listed):
        groups = group_named(listed, benchmark)
        check_names(groups, given)
        return groups, names_by_files(groups), given
    groups = [source if isinstance(source, tuple) else (source,) for source in listed]
    check_names(groups, given)
    return groups, [None] * len(groups), given


def group_named(listed: Iterable[Any], benchmark: Benchmark) -> list[tuple[Any, ...]]:
    """Split a list of files and models into runs."""
    groups: list[tuple[Any, ...]] = []
    # A file after a model does not belong with one before it.
    for models, members in [(models, list(part)) for models, part in groupby(listed, is_model)]:
        groups += [(model,) for model in members] if models else group_sources(members, benchmark)
    return groups


def names_by_files(groups: Sequence[tuple[Any, ...]]) -> list[str | None]:
    """Return the names of runs by their first files; None for models."""
    files = [None if is_model(first) else first for first, *_ in groups]
    names = [None if file is None else name_of(file) for file in files]
    known = [name for name in names if name is not None]
    if len(set(known)) == len(known):
        return names
    # a/sims.npy and b/sims.npy: the folders distinguish them.
    return [None if file is None else str(file.with_name(name_of(file))) for file in files]


def check_names(groups: Sequence[tuple[Any, ...]], names: Sequence[str] | None) -> None:
    """Raise where there cannot be as many runs as names; two files of lists may be one run."""
    if names is None or len(names) == len(groups):
        return
    if not fewest(groups) <= len(names) <= len(groups):
        raise other_count(len(groups), names)


def fewest_runs(sources: Any, benchmark: Benchmark) -> int:
    """Return how many runs `load_runs` would return at least, by the heads of files."""
    return fewest(list_sources(sources, benchmark)[0])


def fewest(groups: Sequence[tuple[Any, ...]]) -> int:
    """Return how many runs there are at least: two files that follow each other may be lists of one run."""
    lists = sum(len(group) == 1 and may_hold_lists(group[0]) for group in groups)
    return len(groups) - lists // 2


def may_hold_lists(source: Any) -> bool:
    """Whether a source is a file that is not one table, by its head."""
    return isinstance(source, str | Path) and not is_model(source) and not table_shape(Path(source))


def other_count(runs: int, names: Sequence[str]) -> InputError:
    """Return the error for runs that are not as many as their names."""
    return InputError(
        f"{plural(runs, 'run')} but {plural(len(names), 'name')}", fix="give as many names as runs"
    )


R = TypeVar("R")


def give_names(runs: list[R], names: Sequence[str] | None, rename: Callable[[R, str], R]) -> list[R]:
    """Return the runs under the names that were given, one for each."""
    if names is None:
        return runs
    if len(names) != len(runs):
        raise other_count(len(runs), names)
    return [rename(run, name) for run, name in zip(runs, names)]


def as_run(
    group: tuple[Any, ...], benchmark: Benchmark, name: str | None, loading: Loading, compute: Compute
) -> Run:
    """Return a run as it is, or load it, or have it made by a model."""
    if len(group) == 1 and isinstance(group[0], Run):
        return with_memory(group[0], compute.memory)
    if len(group) == 1 and is_model(group[0]):
        return with_memory(RUN_MAKERS["model"].make(group[0], benchmark, compute), compute.memory)
    return read_run(group, benchmark, name, loading, compute)


def renamed(run: Run, name: str) -> Run:
    """Return a run under another name."""
    if name != run.name:
        run = copy(run)
        run.name = name
    return run


def join_directions(runs: Sequence[Run], groups: Sequence[tuple[Any, ...]]) -> list[Run]:
    """Return the runs with ranked lists of one direction joined to those of the other that follow them."""
    joined: list[Run] = []
    before: Path | None = None
    for run, group in zip(runs, groups):
        last = joined[-1] if joined else None
        path = Path(group[0]) if len(group) == 1 and isinstance(group[0], str | Path) else None
        if (
            before is not None and path is not None
            and isinstance(last, RankingsRun) and isinstance(run, RankingsRun)
            and len(last.directions) == 1 and not same_side(*last.directions)
            and run.directions == (turned(*last.directions),)
        ):  # fmt: skip
            joined[-1], before = last.joined(run, joint_name([before, path])), None
        else:
            joined.append(run)
            before = path
    return joined


def joint_name(paths: Sequence[Path]) -> str:
    """Return the name of a run that two files make: how both names begin, else both.

    >>> joint_name([Path("clip.i2t.trec"), Path("clip.t2i.trec")]), joint_name([Path("a.run"), Path("b.run")])
    ('clip', 'a+b')
    """
    names = [name_of(path) for path in paths]
    first, second = names if len(names) == 2 else ("", "")
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second)))
    return first[:same].rstrip("._- ") or "+".join(names) or "run"


def notes_on_lengths(runs: Sequence[Run]) -> list[str]:
    """Return of which runs the embeddings are multiplied though they are not of length 1."""
    return [
        f"{run.name}: the embeddings are not of length 1 and scores are plain products; "
        "--similarity cosine scales them"
        for run in runs
        if isinstance(run, EmbeddingRun) and run.similarity == "dot" and not run.unit_length
    ]


def notes_on_loading(runs: Sequence[Run]) -> list[str]:
    """Return what a reader should know of how runs were read."""
    notes = notes_on_lengths(runs)
    notes += [
        f"{run.name}: {warning}"
        for run in runs
        if isinstance(run, EmbeddingRun)
        for check in run.checks
        for warning in check.warnings
    ]
    notes += [f"{run.name}: {note}" for run in runs if (note := note_on_steps(run.made_with))]
    lists = [run for run in runs if isinstance(run, RankingsRun)]
    return notes + [
        f"{run.name}: {len(queries):,} of {len(run.raw[direction]):,} queries are not in the benchmark "
        f"and are ignored, first {queries[0]}"
        for run in lists
        for direction, queries in run.ignored.items()
        if queries
    ]


def group_sources(files: Sequence[str | Path], benchmark: Benchmark) -> list[tuple[Path, ...]]:
    """Split a list of files into runs: an embedding table belongs with the one that follows it.

    Two tables that could be embeddings of another benchmark, or of different widths, are one run too, whose
    error says so. Tables are looked at, not read.
    """
    runs: list[tuple[Path, ...]] = []
    rest = list(map(Path, files))
    while rest:
        pair = rest[:2]
        shapes = [table_shape(path) for path in pair]
        rows = (benchmark.images.size, benchmark.captions.size)
        # Where there is one collection, each table of it is a run.
        apart = benchmark.one_collection and all(shape and shape[0] == rows[0] for shape in shapes)
        if len(shapes) == 2 and not apart and are_embeddings(shapes, rows):
            # The images of a benchmark are no more than its captions.
            lengths = (shapes[0][0], shapes[1][0])
            turned = lengths == rows[::-1] != rows or (lengths != rows and lengths[0] > lengths[1])
            runs.append(tuple(pair[::-1] if turned else pair))
            rest = rest[2:]
            continue
        runs.append((rest.pop(0),))
    return runs


def are_embeddings(shapes: Sequence[tuple[int, ...]], rows: tuple[int, int]) -> bool:
    """Whether two tables are the embeddings of images and captions, if not those of this benchmark.

    >>> are_embeddings([(9, 64), (45, 64)], (9, 45)), are_embeddings([(9, 45), (9, 45)], (7, 35))
    (True, False)
    >>> are_embeddings([(9, 64), (45, 32)], (9, 45)), are_embeddings([(9, 64), (45, 64)], (7, 35))
    (True, True)
    """
    if not all(len(shape) == 2 for shape in shapes) or shapes[0] in (rows, rows[::-1]):
        return False
    fits = sorted((shapes[0][0], shapes[1][0])) == sorted(rows)
    if shapes[0][1] == shapes[1][1]:
        return fits or shapes[0][0] != shapes[1][0]
    return fits and shapes[1] not in (rows, rows[::-1])


def table_shape(path: Path) -> tuple[int, ...]:
    """Return the shape of the one table in a file; () where it holds something else."""
    if not path.exists():
        raise MissingDataError("there is no such file", where=path)
    check_plain(path)
    check_written(path, COMPLETE)
    return SHAPES[format_of(path)](path) if format_of(path) in SHAPES else ()
