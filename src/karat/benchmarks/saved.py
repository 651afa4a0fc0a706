"""Reading karat's own folder format for benchmarks; `saving` says what it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.ids import Ids
from karat.benchmarks.image_paths import found_paths
from karat.benchmarks.judgments import Judgments
from karat.benchmarks.objects import Objects
from karat.benchmarks.plausible import PlausibleMatch
from karat.benchmarks.ratings import Mapping, Provenance, Share, Steps
from karat.benchmarks.saving import ATTRIBUTE, BOX, FORMAT, HEAD, OTHERS, VERSION
from karat.benchmarks.sources import Source, register
from karat.benchmarks.truth import DIRECTIONS, Direction, Fold, Truth
from karat.registry import Param
from karat.validation import InputError, MissingDataError, parsing

if TYPE_CHECKING:
    import polars as pl


def read_benchmark(folder: str | Path) -> Benchmark:
    """Read a benchmark from karat's own folder format; every mistake in it is named."""
    folder = Path(folder)
    path = folder / HEAD
    if not path.is_file():
        raise MissingDataError(f"there is no {HEAD}", where=folder, fix="save one with save_benchmark")
    try:
        head = json.loads(path.read_text(encoding="utf-8"))
        if head["format"] != FORMAT or head["version"] != VERSION:
            raise InputError(
                f"is version {head['version']} of {head['format']}",
                where=path,
                fix=f"this karat reads {FORMAT} {VERSION}",
            )
        return build(head, folder)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"is damaged ({type(error).__name__}: {error})", where=path, fix="save the benchmark again"
        ) from None


def build(head: dict[str, Any], folder: Path) -> Benchmark:
    """Put the tables together."""
    images = read(folder / "images.parquet", "id", "gallery", "path")
    captions = read(folder / "captions.parquet", "id", "gallery", "text", "image")
    image_ids, caption_ids = ids_of(images, "image", folder), ids_of(captions, "caption", folder)
    ids = [image_ids, caption_ids]
    caption_image = captions["image"].to_numpy()[: ids[1].size].astype(np.int64)
    in_range(caption_image, -1, ids[0].size, folder / "captions.parquet", "image")
    objects = None if head["categories"] is None else read_objects(head, folder, ids[0].size)
    truths = {}
    for number, described in enumerate(head["truths"]):
        truth = read_truth(described, folder, number, ids, objects, caption_image)
        truths[truth.name] = truth
    return Benchmark(
        str(head["name"]),
        image_ids,
        caption_ids,
        truths,
        caption_image=None if (caption_image < 0).all() else caption_image,
        defaults={str(name): tuple(map(str, measures)) for name, measures in head["defaults"].items()},
        about=str(head["about"]),
        texts=texts_of(captions, "text", ids[1].size),
        other_texts=read_others(folder, ids[0].size) if head.get("other_captions") is True else None,
        image_paths=found_paths(texts_of(images, "path", ids[0].size), folder),
        objects=objects,
    )


def read_others(folder: Path, n_images: int) -> list[list[str]]:
    """Read the captions of each image that are not in the gallery."""
    table = read(folder / OTHERS, "image", "text")
    image = table["image"].to_numpy()
    in_range(image, 0, n_images, folder / OTHERS, "image")
    others: list[list[str]] = [[] for _ in range(n_images)]
    for row, text in zip(image.tolist(), texts(table, "text", folder / OTHERS).tolist()):
        others[row].append(text)
    return others


def read_objects(head: dict[str, Any], folder: Path, n_images: int) -> Objects:
    """Read what the images show; synsets and attributes where they are known."""
    path = folder / "objects.parquet"
    names = [str(name) for name in head.get("attributes", [])]
    things = read(path, "image", "category", *BOX, *(ATTRIBUTE + name for name in names))
    in_range(things["image"].to_numpy(), 0, n_images, path, "image")
    synsets = head.get("synsets")
    return Objects(
        tuple(map(str, head["categories"])),
        things["image"].to_numpy(),
        things["category"].to_numpy(),
        things.select(BOX).to_numpy(),
        synsets=None if synsets is None else tuple(map(str, synsets)),
        attributes={name: texts(things, ATTRIBUTE + name, path) for name in names},
    )


def texts(table: pl.DataFrame, column: str, path: Path) -> np.ndarray:
    """Return a column of texts; raise when it holds anything else."""
    if str(table[column].dtype) != "String":
        raise InputError(
            f"column {column!r} holds {table[column].dtype}, not text", where=path, fix="save it again"
        )
    return np.array(table[column].to_list(), dtype=str)


def has_trait(described: dict[str, Any], trait: str, folder: Path) -> bool:
    """Return whether a truth says that it is complete, or machine-made."""
    value = described.get(trait, False)
    if not isinstance(value, bool):
        raise InputError(
            f"truth {described['name']!r} is {trait}: {value!r}", where=folder / HEAD, fix="true or false"
        )
    return value


def ids_of(table: pl.DataFrame, kind: str, folder: Path) -> Ids:
    """Return the ids of a table, the gallery first."""
    gallery = table["gallery"].to_numpy()
    size = int(gallery.sum())
    if not gallery[:size].all():
        raise InputError(
            f"{kind}s outside the gallery stand before others", where=folder, fix="save the benchmark again"
        )
    values = table["id"].to_numpy() if table["id"].dtype.is_integer() else table["id"].cast(str).to_list()
    return Ids(values[:size], extra=values[size:], kind=kind)


def texts_of(table: pl.DataFrame, column: str, size: int) -> list[str] | None:
    """Return the texts of the gallery; None when there are none."""
    texts = table[column].to_list()[:size]
    return (
        None if all(text is None for text in texts) else ["" if text is None else str(text) for text in texts]
    )


def read_truth(
    described: dict[str, Any],
    folder: Path,
    number: int,
    ids: list[Ids],
    objects: Objects | None,
    caption_image: np.ndarray,
) -> Truth:
    """Read one truth and its tables."""
    path = folder / f"queries-{number}.parquet"
    asked = read(path, "direction", "row")
    side, row = asked["direction"].to_numpy(), asked["row"].to_numpy().astype(np.int64)
    queries: dict[Direction, np.ndarray] = {}
    for direction, known in zip(DIRECTIONS, ids):
        queries[direction] = row[side == direction]
        in_range(queries[direction], 0, known.size, path, "row")
    folds = []
    if described["folds"]:
        path = folder / f"folds-{number}.parquet"
        parts = read(path, "fold", "side", "row")
        fold, kind, row = (parts[name].to_numpy() for name in ("fold", "side", "row"))
        in_range(row, 0, max(known.size for known in ids), path, "row")
        for k, name in enumerate(described["folds"]):
            folds.append(
                Fold(
                    str(name),
                    *(row[(fold == k) & (kind == s)].astype(np.int64) for s in ("images", "captions")),
                )
            )
    if "rule" in described:
        if objects is None or described["rule"]["kind"] != "plausible":
            raise InputError(f"truth {described['name']!r} is no rule that karat knows", where=folder / HEAD)
        vectors = objects.class_vectors(ids[0].size)
        rule = PlausibleMatch(vectors, caption_image, int(described["rule"]["zeta"]))
        return Truth(str(described["name"]), None, queries, folds, rule, str(described["about"]))
    path = folder / f"judgments-{number}.parquet"
    rows = read(path, "image", "caption", "source", "rating")
    for name, known in zip(("image", "caption"), ids):
        in_range(rows[name].to_numpy(), 0, len(known), path, name)
    sources = [
        Provenance(str(s["name"]), str(s["scale"]), read_mapping(s["mapping"])) for s in described["sources"]
    ]
    columns = {name: rows[name].to_numpy() for name in ("rating", "source")}
    judgments = Judgments(rows["image"].to_numpy(), rows["caption"].to_numpy(), **columns, sources=sources)
    return Truth(
        str(described["name"]),
        judgments,
        queries,
        folds,
        about=str(described["about"]),
        complete=has_trait(described, "complete", folder),
        machine=has_trait(described, "machine", folder),
    )


def in_range(values: np.ndarray, low: int, high: int, path: Path, column: str) -> None:
    """Raise when a row number is outside its table."""
    bad = np.flatnonzero((values < low) | (values >= high))
    if len(bad):
        raise InputError(
            f"{column} of row {bad[0]} is {values[bad[0]]}, outside the {high} that exist",
            where=path,
            fix="save it again",
        )


def read(path: Path, *columns: str) -> pl.DataFrame:
    """Read one table and check its columns."""
    import polars as pl

    if not path.is_file():
        raise MissingDataError("there is no such file", where=path, fix="save the benchmark again")
    with parsing(path, "is not Parquet", "save it again"):
        table = pl.read_parquet(path)
    for column in columns:
        if column not in table.columns:
            raise InputError(f"has no column {column!r}", where=path, fix="save it again")
        if table[column].null_count() and column not in ("path", "text"):
            raise InputError(f"has an empty cell in {column!r}", where=path, fix="save it again")
    return table


def read_mapping(found: dict[str, Any]) -> Mapping:
    """Return a mapping from its data."""
    if "steps" in found:
        return Steps([(float(threshold), float(grade)) for threshold, grade in found["steps"]])
    return Share(top=float(found["share"]["top"]), least=float(found["share"]["least"]))


register(
    Source(
        "saved",
        "a folder in karat's own format, as save_benchmark writes it",
        read_benchmark,
        (Param("folder", Path, "the folder"),),
        lambda folder: (folder / HEAD).is_file(),
    )
)
