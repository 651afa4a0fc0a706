"""karat's own folder format for benchmarks: Parquet tables and one json file, versioned.

    benchmark.json          format, version, name, about, the sides (kind and words), the words for groups,
                            defaults, categories, their synsets, the objects' attributes, and each truth's
                            name, about, whether it is complete, has pooled pairs or probabilities, the
                            design of its pool, and sources (or rule); truth number k owns the tables -k
    images.parquet          id, gallery, path: the first side, of whatever kind
    captions.parquet        id, gallery, text, image (row of the image it was written for, or -1): the second
    groups.parquet          name: what is resampled together; each side then has a column "group" (row, or -1)
    other-captions.parquet  image (row), text: captions of images that are not in the gallery
    judgments-k.parquet     image, caption (rows), source (number), rating; and, of a truth that has
                            probabilities, probability and grade_if_relevant (NaN for none)
    pooled-k.parquet        image, caption (rows): pairs that were pooled and not judged
    design-k.parquet        image, caption (rows), and stratum or inclusion, as the head says: how the pairs
                            of the pool were chosen for judging
    queries-k.parquet       direction, row
    folds-k.parquet         fold (number), side ("images" or "captions"), row
    objects.parquet         image (row), category (number), left, top, width, height, and a column
                            "attribute-NAME" for each attribute

Rows with `gallery` false are known to judgments only. Paths of images are relative to the folder.
Sides (images and captions by default), groups, texts, other captions, paths, objects, synsets and
attributes may be absent; a truth is complete, made by
a machine, or has pooled pairs, probabilities or a design only where it says so.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import check_choice, check_parquet, fill_folder, parsing, read_description
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.ids import Ids
from karat.benchmarks.image_files import found_paths, kept_paths
from karat.benchmarks.judgments import PROBABILITIES, Judgments, Mapping, Provenance, Share, Steps
from karat.benchmarks.objects import Objects
from karat.benchmarks.plausible_match import PlausibleMatch
from karat.benchmarks.pool_design import PoolDesign
from karat.benchmarks.sides import IMAGE_TEXT, KINDS, Direction, Grouping, Side, directions_of
from karat.benchmarks.truth import Fold, Truth, nothing
from karat.errors import InputError, MissingDataError

if TYPE_CHECKING:
    import polars as pl


FORMAT, VERSION = "karat-benchmark", 1
HEAD = "benchmark.json"
OTHERS = "other-captions.parquet"
GROUPS = "groups.parquet"
BOX = ("left", "top", "width", "height")
TEXT = ("path", "text", "direction", "side")
ATTRIBUTE = "attribute-"


def save_benchmark(benchmark: Benchmark, folder: str | Path) -> None:
    """Write a benchmark into a folder, which is made when it does not exist.

    Paths of images are kept where the images lie inside that folder.

    Examples
    --------
    >>> import tempfile
    >>> from karat.benchmarks import Ids, Judgments, Provenance, read_benchmark
    >>> own = Judgments([0, 1], [0, 1], sources=[Provenance("original")])
    >>> truth = Truth("own", own, {"i2t": np.arange(2), "t2i": np.arange(2)})
    >>> tiny = Benchmark("tiny", Ids([1, 2], kind="image"), Ids([3, 4], kind="caption"), {"own": truth})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_benchmark(tiny, folder)
    ...     read_benchmark(folder)
    Benchmark('tiny': 2 images, 2 captions; truths own)
    """
    if benchmark.choices is not None:
        raise InputError(
            f"{benchmark.name} is a benchmark of choices, which karat's own format does not hold",
            fix="keep its files, and remember them with karat benchmarks add",
        )
    head = describe(benchmark)
    paths = kept_paths(benchmark.image_paths, Path(folder))
    fill_folder(Path(folder), lambda draft: write_tables(benchmark, head, paths, draft), last=[HEAD])


def write_tables(benchmark: Benchmark, head: dict[str, Any], paths: list[str] | None, folder: Path) -> None:
    """Write all files of a benchmark."""
    for number, truth in enumerate(benchmark.truths.values()):
        write_truth(truth, folder, number)
    kept = padded(paths, len(benchmark.images))
    texts = padded(benchmark.texts, len(benchmark.captions))
    image = np.full(len(benchmark.captions), -1)
    if benchmark.caption_image is not None:
        image[: benchmark.captions.size] = benchmark.caption_image
    group: list[dict[str, np.ndarray]] = [{}, {}]
    if (groups := benchmark.groups) is not None:
        write(folder / GROUPS, name=groups.names.astype(str))
        group = [{"group": groups.of_all(side, len(ids))} for side, ids in enumerate(benchmark.ids)]
    write(folder / "images.parquet", **id_columns(benchmark.images), path=kept, **group[0])
    write(folder / "captions.parquet", **id_columns(benchmark.captions), text=texts, image=image, **group[1])
    if benchmark.other_texts is not None:
        image = np.repeat(np.arange(len(benchmark.other_texts)), [len(own) for own in benchmark.other_texts])
        write(folder / OTHERS, image=image, text=[text for own in benchmark.other_texts for text in own])
    if benchmark.objects is not None:
        things = benchmark.objects
        boxes = dict(zip(BOX, things.box.T))
        named = {ATTRIBUTE + name: texts.tolist() for name, texts in things.attributes.items()}
        write(folder / "objects.parquet", image=things.image, category=things.category, **boxes, **named)
    (folder / HEAD).write_text(json.dumps(head, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def describe(benchmark: Benchmark) -> dict[str, Any]:
    """Return the head of a benchmark."""
    things = benchmark.objects
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": benchmark.name,
        "about": benchmark.about,
        "defaults": {name: list(measures) for name, measures in benchmark.defaults.items()},
        "categories": None if things is None else list(things.categories),
        "truths": [describe_truth(truth) for truth in benchmark.truths.values()],
    }
    if benchmark.sides != IMAGE_TEXT:
        head["sides"] = [{"kind": side.kind, "one": side.one, "many": side.many} for side in benchmark.sides]
    if benchmark.groups is not None:
        unit = benchmark.groups.unit
        head["groups"] = {"one": unit.one, "many": unit.many, "whole": benchmark.groups.whole}
    if benchmark.other_texts is not None:
        head["other_captions"] = True
    sides = {"images": benchmark.images, "captions": benchmark.captions}
    if any(ids.open for ids in sides.values()):
        head["open"] = [side for side, ids in sides.items() if ids.open]
    if things is not None and things.synsets is not None:
        head["synsets"] = list(things.synsets)
    if things is not None and things.attributes:
        head["attributes"] = list(things.attributes)
    return head


def describe_truth(truth: Truth) -> dict[str, Any]:
    """Return what the head says of a truth."""
    description: dict[str, Any] = {
        "name": truth.name,
        "about": truth.about,
        "folds": [f.name for f in truth.folds],
    }
    description |= {trait: True for trait in ("complete", "machine") if getattr(truth, trait)}
    if truth.n_pooled:
        description["pooled"] = True
    if truth.has_probabilities:
        description["probabilities"] = True
    if truth.judgments is not None:
        if (design := truth.judgments.design) is not None:
            description["design"] = {"direction": design.direction, "by": design.by}
        description["sources"] = [
            {"name": s.name, "scale": s.scale, "mapping": describe_mapping(s.mapping)}
            for s in truth.judgments.sources
        ]
    elif isinstance(truth.rule, PlausibleMatch):
        description["rule"] = {"kind": "plausible", "zeta": truth.rule.zeta}
    else:
        raise InputError(
            f"truth {truth.name!r} is a rule of {type(truth.rule).__name__}",
            fix="only Plausible Match is kept",
        )
    return description


def describe_mapping(mapping: Mapping) -> dict[str, Any]:
    """Return a mapping as data."""
    if isinstance(mapping, Steps):
        return {"steps": [list(step) for step in mapping.steps]}
    if isinstance(mapping, Share):
        return {"share": {"top": mapping.top, "least": mapping.least}}
    raise InputError(f"a mapping of {type(mapping).__name__} cannot be saved", fix="use Steps or Share")


def write_truth(truth: Truth, folder: Path, number: int) -> None:
    """Write the tables of one truth."""
    if truth.judgments is not None:
        rows = truth.judgments
        uncertain = {name: getattr(rows, name) for name in probability_columns(truth.has_probabilities)}
        write(folder / f"judgments-{number}.parquet", image=rows.image, caption=rows.caption,
              source=rows.source, rating=rows.rating, **uncertain)  # fmt: skip
        if truth.n_pooled:
            image, caption = rows.pooled
            write(folder / f"pooled-{number}.parquet", image=image, caption=caption)
        if (design := rows.design) is not None:
            value = {design.by: design.value}
            write(folder / f"design-{number}.parquet", image=design.image, caption=design.caption, **value)
    queries = {d: np.asarray(truth.queries[d], dtype=np.int64) for d in truth.directions}
    write(
        folder / f"queries-{number}.parquet",
        direction=np.repeat(list(queries), [len(rows) for rows in queries.values()]),
        row=np.concatenate([*queries.values()]),
    )
    sides = [
        (k, side, getattr(fold, side))
        for k, fold in enumerate(truth.folds)
        for side in ("images", "captions")
    ]
    if sides:
        lengths = [len(rows) for _, _, rows in sides]
        write(
            folder / f"folds-{number}.parquet",
            fold=np.repeat([k for k, _, _ in sides], lengths),
            side=np.repeat([side for _, side, _ in sides], lengths),
            row=np.concatenate([rows for _, _, rows in sides]),
        )


def probability_columns(present: bool) -> tuple[str, ...]:
    """Return the columns of judgments that a truth with probabilities has, and another has not."""
    return PROBABILITIES if present else ()


def id_columns(ids: Ids) -> dict[str, np.ndarray]:
    """Return the columns of ids, and whether they are in the gallery."""
    return {"id": ids.values, "gallery": np.arange(len(ids)) < ids.size}


def padded(values: Any, length: int) -> list[str | None]:
    """Return texts for every row; None for rows without."""
    known = [] if values is None else [str(value) for value in values]
    return [*known, *[None] * (length - len(known))]


def write(file: Path, **columns: Any) -> None:
    """Write one table."""
    import polars as pl

    kinds = {name: pl.String if name in TEXT or name.startswith(ATTRIBUTE) else None for name in columns}
    table = pl.DataFrame(
        {name: pl.Series(name, column, dtype=kinds[name]) for name, column in columns.items()}
    )
    table.write_parquet(file)


def read_benchmark(folder: str | Path) -> Benchmark:
    """Read a benchmark from karat's own folder format; every error in it is named."""
    folder = Path(folder)
    path = folder / HEAD
    if not path.is_file():
        raise MissingDataError(f"there is no {HEAD}", where=folder, fix="save one with save_benchmark")
    try:
        head = read_description(path)
        if head["format"] != FORMAT or head["version"] != VERSION:
            raise InputError(
                f"is version {head['version']} of {head['format']}",
                where=path,
                fix=f"this version of karat reads {FORMAT} {VERSION}",
            )
        return from_tables(head, folder)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"is damaged ({type(error).__name__}: {error})", where=path, fix="save the benchmark again"
        ) from None


def from_tables(head: dict[str, Any], folder: Path) -> Benchmark:
    """Build the benchmark from its tables."""
    images = read(folder / "images.parquet", "id", "gallery", "path")
    captions = read(folder / "captions.parquet", "id", "gallery", "text", "image")
    sides = read_sides(head)
    image_ids, caption_ids = (
        ids_of(table, side.one, folder, open=name in head.get("open", ()))
        for table, side, name in zip((images, captions), sides, ("images", "captions"))
    )
    directions = directions_of(sides)
    if len(directions) == 1:
        caption_ids = image_ids
    caption_image = captions["image"].to_numpy()[: caption_ids.size].astype(np.int64)
    in_range(caption_image, -1, image_ids.size, folder / "captions.parquet", "image")
    objects = None if head["categories"] is None else read_objects(head, folder, image_ids.size)
    truths = {}
    for number, description in enumerate(head["truths"]):
        truth = read_truth(
            description, folder, number, [image_ids, caption_ids], objects, caption_image, directions
        )
        truths[truth.name] = truth
    return Benchmark(
        str(head["name"]),
        image_ids,
        caption_ids,
        truths,
        caption_image=None if (caption_image < 0).all() else caption_image,
        defaults={str(name): tuple(map(str, measures)) for name, measures in head["defaults"].items()},
        about=str(head["about"]),
        texts=texts_of(captions, "text", caption_ids.size),
        other_texts=read_others(folder, image_ids.size) if head.get("other_captions") is True else None,
        image_paths=found_paths(texts_of(images, "path", image_ids.size), folder),
        objects=objects,
        image_folder=str(folder),
        sides=sides,
        groups=read_groups(head["groups"], folder, images, captions) if "groups" in head else None,
    )


def read_sides(head: dict[str, Any]) -> tuple[Side, Side]:
    """Read the kinds of the sides and the words for them; images and captions where nothing is said."""
    if "sides" not in head:
        return IMAGE_TEXT
    first, second = (Side(*(str(side[name]) for name in ("kind", "one", "many"))) for side in head["sides"])
    for side in (first, second):
        check_choice(side.kind, [known.kind for known in KINDS.values()], "the kind of a side")
    return first, second


def read_groups(words: dict[str, Any], folder: Path, *sides: pl.DataFrame) -> Grouping:
    """Read which items are resampled together."""
    names = text_column(read(folder / GROUPS, "name"), "name", folder / GROUPS)
    first, second = (table["group"].to_numpy().astype(np.int64) for table in sides)
    for rows in (first, second):
        in_range(rows, -1, len(names), folder / GROUPS, "group")
    one, many, whole = (str(words[name]) for name in ("one", "many", "whole"))
    return Grouping(Side("", one, many), whole, names, (first, second))


def read_others(folder: Path, n_images: int) -> list[list[str]]:
    """Read the captions of each image that are not in the gallery."""
    table = read(folder / OTHERS, "image", "text")
    image = table["image"].to_numpy()
    in_range(image, 0, n_images, folder / OTHERS, "image")
    texts: list[list[str]] = [[] for _ in range(n_images)]
    for row, text in zip(image.tolist(), text_column(table, "text", folder / OTHERS).tolist()):
        texts[row].append(text)
    return texts


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
        attributes={name: text_column(things, ATTRIBUTE + name, path) for name in names},
    )


def text_column(table: pl.DataFrame, column: str, path: Path) -> np.ndarray:
    """Return a column of texts; raise when it holds anything else."""
    if str(table[column].dtype) != "String":
        raise InputError(
            f"column {column!r} holds {table[column].dtype}, not text", where=path, fix="save it again"
        )
    return np.array(table[column].to_list(), dtype=str)


def has_trait(description: dict[str, Any], trait: str, folder: Path) -> bool:
    """Return whether a truth says of itself that it is complete, or machine-made, or has pooled pairs, …"""
    value = description.get(trait, False)
    if not isinstance(value, bool):
        raise InputError(
            f"truth {description['name']!r} is {trait}: {value!r}", where=folder / HEAD, fix="true or false"
        )
    return value


def ids_of(table: pl.DataFrame, kind: str, folder: Path, open: bool) -> Ids:
    """Return the ids of a table, the gallery first."""
    gallery = table["gallery"].to_numpy()
    size = int(gallery.sum())
    if not gallery[:size].all():
        raise InputError(
            f"{kind}s outside the gallery come before others", where=folder, fix="save the benchmark again"
        )
    values = table["id"].to_numpy() if table["id"].dtype.is_integer() else table["id"].cast(str).to_list()
    return Ids(values[:size], extra=values[size:], kind=kind, open=open)


def texts_of(table: pl.DataFrame, column: str, size: int) -> list[str] | None:
    """Return the texts of the gallery; None when there are none."""
    texts = table[column].to_list()[:size]
    return (
        None if all(text is None for text in texts) else ["" if text is None else str(text) for text in texts]
    )


def read_truth(
    description: dict[str, Any],
    folder: Path,
    number: int,
    ids: list[Ids],
    objects: Objects | None,
    caption_image: np.ndarray,
    directions: tuple[Direction, ...],
) -> Truth:
    """Read one truth and its tables."""
    path = folder / f"queries-{number}.parquet"
    table = read(path, "direction", "row")
    side, row = table["direction"].to_numpy(), table["row"].to_numpy().astype(np.int64)
    queries: dict[Direction, np.ndarray] = {}
    for direction, known in zip(directions, ids):
        queries[direction] = row[side == direction]
        in_range(queries[direction], 0, known.size, path, "row")
    folds = []
    if description["folds"]:
        path = folder / f"folds-{number}.parquet"
        parts = read(path, "fold", "side", "row")
        fold, kind, row = (parts[name].to_numpy() for name in ("fold", "side", "row"))
        in_range(row, 0, max(known.size for known in ids), path, "row")
        for k, name in enumerate(description["folds"]):
            folds.append(
                Fold(
                    str(name),
                    *(row[(fold == k) & (kind == s)].astype(np.int64) for s in ("images", "captions")),
                )
            )
    if "rule" in description:
        if objects is None or description["rule"]["kind"] != "plausible":
            raise InputError(
                f"truth {description['name']!r} is not a rule that karat knows", where=folder / HEAD
            )
        vectors = objects.class_vectors(ids[0].size)
        rule = PlausibleMatch(vectors, caption_image, int(description["rule"]["zeta"]))
        return Truth(str(description["name"]), None, queries, folds, rule, str(description["about"]))
    uncertain = probability_columns(has_trait(description, "probabilities", folder))
    rows = read_pairs(folder / f"judgments-{number}.parquet", ids, "source", "rating", *uncertain)
    pooled: tuple[np.ndarray, np.ndarray] = nothing(), nothing()
    if has_trait(description, "pooled", folder):
        marked = read_pairs(folder / f"pooled-{number}.parquet", ids)
        pooled = marked["image"].to_numpy(), marked["caption"].to_numpy()
    sources = [
        Provenance(str(s["name"]), str(s["scale"]), read_mapping(s["mapping"]))
        for s in description["sources"]
    ]
    columns = {name: rows[name].to_numpy() for name in ("rating", "source", *uncertain)}
    design = read_design(description["design"], folder, number, ids) if "design" in description else None
    judgments = Judgments(
        rows["image"].to_numpy(),
        rows["caption"].to_numpy(),
        **columns,
        sources=sources,
        pooled=pooled,
        design=design,
    )
    return Truth(
        str(description["name"]),
        judgments,
        queries,
        folds,
        about=str(description["about"]),
        complete=has_trait(description, "complete", folder),
        machine=has_trait(description, "machine", folder),
    )


def read_design(description: dict[str, Any], folder: Path, number: int, ids: list[Ids]) -> PoolDesign:
    """Read how the pool of a truth was sampled."""
    by = description["by"]
    rows = read_pairs(folder / f"design-{number}.parquet", ids, by)
    pair = rows["image"].to_numpy(), rows["caption"].to_numpy()
    return PoolDesign(description["direction"], by, *pair, rows[by].to_numpy())


def read_pairs(path: Path, ids: list[Ids], *columns: str) -> pl.DataFrame:
    """Read a table of pairs, whose images and captions must exist."""
    rows = read(path, "image", "caption", *columns)
    for name, known in zip(("image", "caption"), ids):
        in_range(rows[name].to_numpy(), 0, len(known), path, name)
    return rows


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
        check_parquet(path)
        table = pl.read_parquet(path)
    for column in columns:
        if column not in table.columns:
            raise InputError(f"has no column {column!r}", where=path, fix="save it again")
        if table[column].null_count() and column not in ("path", "text"):
            raise InputError(f"has an empty cell in {column!r}", where=path, fix="save it again")
    return table


def read_mapping(description: dict[str, Any]) -> Mapping:
    """Return a mapping from its data."""
    if "steps" in description:
        return Steps([(float(threshold), float(grade)) for threshold, grade in description["steps"]])
    return Share(top=float(description["share"]["top"]), least=float(description["share"]["least"]))
