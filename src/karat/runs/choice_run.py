"""A run on a benchmark of choices: the scores of every example's images with its captions.

Given as a table of examples by images by captions (examples by captions where each has one image), as a long
table of example, image, caption and score, or as what a run is elsewhere: two tables of embeddings, or the
scores of all images with all captions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import check_parquet, parsing, plural, read_json_lines, track
from karat.benchmarks import Benchmark, Choices
from karat.errors import InputError
from karat.runs.compute import Compute
from karat.runs.embeddings import EmbeddingRun
from karat.runs.files import as_content, as_run, give_names, is_model, list_sources, notes_on_lengths
from karat.runs.fingerprint import Fingerprint, made_with_beside, read_made_with
from karat.runs.id_files import TURN, facts_beside
from karat.runs.loading import Loading
from karat.runs.run import Run
from karat.runs.table import TableRun

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("example", "image", "caption", "score")
LONG = (".csv", ".tsv", ".jsonl", ".parquet")


@dataclass(frozen=True, eq=False)
class ChoiceRun:
    """What one model returned on a benchmark of choices.

    Parameters
    ----------
    name, where
        As tables show it, and the file it came from.
    scores
        Examples by images by captions; 0 where an example has no such image or caption.
    captions
        Similarities of captions with captions, examples by captions by captions, where embeddings are given.
    notes
        What a reader should know of how it was read.
    made_with
        What the run was made with, where its file says so.
    """

    name: str
    scores: np.ndarray
    captions: np.ndarray | None = None
    where: str | None = None
    notes: tuple[str, ...] = ()
    made_with: Fingerprint | None = None


def load_choices(
    sources: Any,
    benchmark: Benchmark,
    loading: Loading | None = None,
    compute: Compute | None = None,
) -> list[ChoiceRun]:
    """Load several runs on a benchmark of choices and name them; see `load_runs` for the parameters.

    Examples
    --------
    >>> from karat.benchmarks import ChoiceExample, build_choices
    >>> pair = ChoiceExample("0", ["a.jpg", "b.jpg"],
    ...     ["a cup on a mat", "a mat on a cup"], [(0, 0), (1, 1)])
    >>> bench = build_choices("cups", [pair], where="cups.json", about="")
    >>> load_choices(np.array([[[0.9, 0.2], [0.3, 0.8]]]), bench)[0].scores.shape
    (1, 2, 2)
    """
    loading, compute = loading or Loading(), compute or Compute()
    groups, names, given = list_sources(sources, benchmark, loading.name)
    read = track(list(zip(groups, names)), lambda source: f"reading {source[1] or 'a run'}")
    runs = [load_choice(group, benchmark, called or "run", loading, compute) for group, called in read]
    return give_names(runs, given, lambda run, called: replace(run, name=called))


def load_choice(
    group: tuple[Any, ...], benchmark: Benchmark, name: str, loading: Loading, compute: Compute
) -> ChoiceRun:
    """Return one run, whatever its form."""
    source = group[0]
    if len(group) == 1 and isinstance(source, ChoiceRun):
        return source
    alone = len(group) == 1 and not isinstance(source, Run) and not is_model(source)
    where = " and ".join(str(part) for part in group if isinstance(part, str | Path)) or None
    if alone and (known := read_examples(source, benchmark, name, where, loading.transpose)) is not None:
        return known
    run = as_run(group, benchmark, name, loading, compute).align(benchmark)
    return from_pairs(run, benchmark, run.name if is_model(source) else name, where)


def read_examples(
    source: Any, benchmark: Benchmark, name: str, where: str | None, transpose: bool
) -> ChoiceRun | None:
    """Return the run of a file or an array with the scores of each example; None where it is another."""
    if isinstance(source, str | Path) and (frame := long_table(Path(source))) is not None:
        made_with = read_made_with(made_with_beside(Path(source)))
        return ChoiceRun(name, from_long(frame, benchmark, Path(source)), where=where, made_with=made_with)
    content = as_content(source)
    whole = (benchmark.images.size, benchmark.captions.size)
    if len(content.tables) != 1 or tuple(content.tables[0].shape) in (whole, whole[::-1]):
        return None
    if isinstance(source, str | Path):
        transpose = transpose or facts_beside([Path(source)]).get("transposed", False)
    scores = as_examples(np.asarray(content.tables[0]), benchmark, where, transpose)
    return ChoiceRun(name, scores, where=where, made_with=content.made_with)


def from_pairs(run: Run, benchmark: Benchmark, name: str, where: str | None) -> ChoiceRun:
    """Return a run of embeddings, or of the scores of all pairs, as the scores of each example."""
    choices = benchmark.choices
    assert choices is not None
    if not isinstance(run, TableRun):
        raise InputError(
            "holds ranked lists, and choices need the scores of every example",
            where=where,
            fix=f"give a table of {choices.shape_shown()}, or two tables of embeddings",
        )
    cells = np.nonzero(choices.known)
    scores = np.zeros(choices.shape)
    scores[cells] = run.pairs("i2t", choices.images[cells[:2]], choices.captions[cells[0], cells[2]])
    check_finite(scores, choices, where)
    captions = caption_scores(run, choices) if isinstance(run, EmbeddingRun) else None
    return ChoiceRun(name, scores, captions, where, tuple(notes_on_lengths([run])), run.made_with)


def caption_scores(run: EmbeddingRun, choices: Choices) -> np.ndarray:
    """Return the cosines of the captions of each example with each other, as TOT compares them."""
    # The table may have the captions in another order than the benchmark.
    place = run.maps("i2t")[1]
    vectors = run.captions[place].astype(np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    own = vectors[choices.captions]
    return np.einsum("ncd,nkd->nck", own, own)


def as_examples(table: np.ndarray, benchmark: Benchmark, where: str | None, transpose: bool) -> np.ndarray:
    """Return a table as examples by images by captions, or raise."""
    choices = benchmark.choices
    assert choices is not None
    expected = choices.shape
    if table.dtype.kind not in "fiu":
        raise InputError(f"holds {table.dtype}, not numbers", where=where, fix="save a float32 array")
    if table.ndim == 3 and transpose:
        table = table.transpose(0, 2, 1)
    scores = table[:, None, :] if table.ndim == 2 else table
    if scores.shape != expected:
        shape = " by ".join(f"{size:,}" for size in table.shape)
        fix = f"score {choices.shape_shown()}, in this order"
        if scores.ndim == 3 and scores.shape == (expected[0], expected[2], expected[1]):
            fix = f"it is examples by captions by images: {TURN}"
        elif scores.ndim == 3 and scores.shape[1:] == expected[1:]:
            fix = f"score every example, in the order of {benchmark.name}'s file"
        raise InputError(
            f"has {shape} scores, but {benchmark.name} has {choices.shape_shown()}", where=where, fix=fix
        )
    scores = np.where(choices.known, scores, 0).astype(np.float64)
    check_finite(scores, choices, where)
    return scores


def check_finite(scores: np.ndarray, choices: Choices, where: str | None) -> None:
    """Raise on the first NaN or infinity."""
    wrong = np.argwhere(~np.isfinite(scores))
    if len(wrong):
        example, image, caption = wrong[0]
        place = f"example {choices.examples[example]}, image {image}, caption {caption}"
        value = float(scores[example, image, caption])
        raise InputError(f"{place} is {value}", where=where, fix="scores must be finite numbers")


def long_table(path: Path) -> pl.DataFrame | None:
    """Return a file with a column "example" as a table; None for any other file."""
    if path.suffix not in LONG or not path.is_file():
        return None
    import polars as pl

    if path.suffix == ".jsonl":
        rows = read_json_lines(path)
        missing = [(row, key) for row in rows for key in ("example", "score") if key not in row]
        if missing:
            row, key = missing[0]
            raise row.wrong(f"has no key {key!r}", f"write {', '.join(COLUMNS)}")
        return pl.DataFrame([row.fields for row in rows], strict=False)
    with parsing(path, "is not a table", f"write the columns {', '.join(COLUMNS)}"):
        if path.suffix == ".parquet":
            check_parquet(path)
            return pl.read_parquet(path) if "example" in pl.read_parquet_schema(path) else None
        sign = "\t" if path.suffix == ".tsv" else ","
        if "example" not in pl.read_csv(path, separator=sign, n_rows=0, infer_schema=False).columns:
            return None
        return pl.read_csv(path, separator=sign, infer_schema=False)


def from_long(frame: pl.DataFrame, benchmark: Benchmark, path: Path) -> np.ndarray:
    """Return the scores of a long table; images and captions are named by id or by place in the example."""
    import polars as pl

    choices = benchmark.choices
    assert choices is not None
    columns = [key for key in COLUMNS if key != "image" or choices.shape[1] > 1]
    missing = [key for key in columns if key not in frame.columns]
    if missing:
        fix = f"its columns are {', '.join(columns)}"
        raise InputError(f"has no column {missing[0]!r}", where=path, fix=fix)
    score = frame["score"].cast(pl.Float64, strict=False).to_numpy().astype(float)
    texts = {key: frame[key].cast(pl.String).fill_null("").to_list() for key in columns[:-1]}
    scores = np.full(choices.shape, np.nan)
    for row, cell in enumerate(cells_of(texts, benchmark, path)):
        if not np.isnan(scores[cell]):
            what = f"row {row + 1} repeats a pair of example {texts['example'][row]}"
            raise InputError(what, where=path, fix="remove it")
        if not np.isfinite(score[row]):
            shown = frame["score"][row]
            raise InputError(
                f"row {row + 1} has the score {shown!r}", where=path, fix="scores must be finite numbers"
            )
        scores[cell] = score[row]
    lacking = np.argwhere(choices.known & np.isnan(scores))
    if len(lacking):
        example, image, caption = lacking[0]
        raise InputError(
            f"lacks {plural(len(lacking), 'score')}, first that of example {choices.examples[example]}, "
            f"image {image}, caption {caption}",
            where=path,
            fix="give every pair of every example",
        )
    return np.nan_to_num(scores)


def cells_of(
    texts: Mapping[str, Sequence[str]], benchmark: Benchmark, path: Path
) -> Iterator[tuple[int, ...]]:
    """Yield the example, image and caption of each row of a long table, or raise."""
    choices = benchmark.choices
    assert choices is not None
    index = {name: n for n, name in enumerate(choices.examples.tolist())}
    sides = {
        "image": (choices.images, benchmark.images.values.astype(str)),
        "caption": (choices.captions, benchmark.captions.values.astype(str)),
    }
    for row, example in enumerate(texts["example"]):
        if example not in index:
            raise InputError(
                f"row {row + 1} has the unknown example {example!r}",
                where=path,
                fix=f"examples of {benchmark.name} are called {', '.join(choices.examples[:3])}, …",
            )
        cell = [index[example]]
        for key, (own, ids) in sides.items():
            members = [ids[n] for n in own[index[example]] if n >= 0]
            text = texts[key][row] if key in texts else "0"
            place = place_of(text, members)
            if place is None:
                raise InputError(
                    f"row {row + 1} has the {key} {text!r}, which example {example} does not have",
                    where=path,
                    fix=f"name one of {', '.join(members)}, or its place from 0 on",
                )
            cell.append(place)
        yield tuple(cell)


def place_of(text: str, members: Sequence[str]) -> int | None:
    """Return the place of an image or a caption in its example, by its id or by the place itself.

    >>> place_of("7", ["7", "12"]), place_of("1", ["7", "12"]), place_of("2", ["7", "12"])
    (0, 1, None)
    """
    if text in members:
        return members.index(text)
    return int(text) if text.isascii() and text.isdigit() and int(text) < len(members) else None
