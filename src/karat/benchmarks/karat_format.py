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
from dataclasses import asdict, dataclass, replace
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
SIDES = ("images", "captions")
PAIR = ("image", "caption")
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
    known: list[dict[str, Any]] = [
        {"path": texts_padded(paths, len(benchmark.images))},
        {
            "text": texts_padded(benchmark.texts, len(benchmark.captions)),
            "image": rows_padded(benchmark.caption_image, len(benchmark.captions)),
        },
    ]
    for number, (side, ids) in enumerate(zip(SIDES, benchmark.ids)):
        if benchmark.groups is not None:
            known[number]["group"] = rows_padded(benchmark.groups.of[number], len(ids))
        gallery = np.arange(len(ids)) < ids.size
        write(folder / f"{side}.parquet", id=ids.values, gallery=gallery, **known[number])
    if benchmark.groups is not None:
        write(folder / GROUPS, name=benchmark.groups.names.astype(str))
    if benchmark.other_texts is not None:
        image = np.repeat(np.arange(len(benchmark.other_texts)), [len(own) for own in benchmark.other_texts])
        write(folder / OTHERS, image=image, text=[text for own in benchmark.other_texts for text in own])
    if (things := benchmark.objects) is not None:
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
        head["sides"] = [asdict(side) for side in benchmark.sides]
    if (groups := benchmark.groups) is not None:
        head["groups"] = {"one": groups.unit.one, "many": groups.unit.many, "whole": groups.whole}
    if benchmark.other_texts is not None:
        head["other_captions"] = True
    if some := [side for side, ids in zip(SIDES, benchmark.ids) if ids.open]:
        head["open"] = some
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
    traits = {
        "complete": truth.complete,
        "machine": truth.machine,
        "pooled": truth.n_pooled > 0,
        "probabilities": truth.has_probabilities,
    }
    description |= {trait: True for trait, present in traits.items() if present}
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
    if (rows := truth.judgments) is not None:
        write(folder / f"judgments-{number}.parquet", **rows.columns)
        if truth.n_pooled:
            write(folder / f"pooled-{number}.parquet", **dict(zip(PAIR, rows.pooled)))
        if (design := rows.design) is not None:
            columns = {"image": design.image, "caption": design.caption, design.by: design.value}
            write(folder / f"design-{number}.parquet", **columns)
    queries = {d: np.asarray(truth.queries[d], dtype=np.int64) for d in truth.directions}
    write(
        folder / f"queries-{number}.parquet",
        direction=np.repeat(list(queries), [len(rows) for rows in queries.values()]),
        row=np.concatenate([*queries.values()]),
    )
    if truth.folds:
        parts = [(k, side, getattr(fold, side)) for k, fold in enumerate(truth.folds) for side in SIDES]
        numbers, sides, members = zip(*parts)
        lengths = [len(rows) for rows in members]
        write(
            folder / f"folds-{number}.parquet",
            fold=np.repeat(numbers, lengths),
            side=np.repeat(sides, lengths),
            row=np.concatenate(members),
        )


def texts_padded(values: Any, length: int) -> list[str | None]:
    """Return texts for every row; None for rows without."""
    known = [] if values is None else [str(value) for value in values]
    return [*known, *[None] * (length - len(known))]


def rows_padded(values: np.ndarray | None, length: int) -> np.ndarray:
    """Return the row of another table for every row; −1 for rows without."""
    known = nothing() if values is None else values
    return np.r_[known, np.full(length - len(known), -1)]


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
    sides = read_sides(head)
    group = ("group",) if "groups" in head else ()
    images = read(folder / "images.parquet", "id", "gallery", "path", *group)
    captions = read(folder / "captions.parquet", "id", "gallery", "text", "image", *group)
    image_ids, caption_ids = (
        ids_of(table, side.one, open=name in head.get("open", ()))
        for table, side, name in zip((images, captions), sides, SIDES)
    )
    directions = directions_of(sides)
    if len(directions) == 1:
        caption_ids = image_ids
    caption_image = captions.rows("image", image_ids.size, least=-1)[: caption_ids.size]
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


def read(path: Path, *columns: str) -> Table:
    """Read one table and check its columns."""
    import polars as pl

    if not path.is_file():
        raise MissingDataError("there is no such file", where=path, fix="save the benchmark again")
    with parsing(path, "is not Parquet", "save it again"):
        check_parquet(path)
        frame = pl.read_parquet(path)
    for column in columns:
        if column not in frame.columns:
            raise InputError(f"has no column {column!r}", where=path, fix="save it again")
        if frame[column].null_count() and column not in ("path", "text"):
            raise InputError(f"has an empty cell in {column!r}", where=path, fix="save it again")
    return Table(path, frame)


@dataclass(frozen=True)
class Table:
    """A table of a folder, whose columns are checked where they are taken."""

    path: Path
    frame: pl.DataFrame

    def __getitem__(self, column: str) -> np.ndarray:
        return self.frame[column].to_numpy()

    def where(self, column: str, value: Any) -> Table:
        """Return the part with a value in a column."""
        return replace(self, frame=self.frame.filter(self[column] == value))

    def rows(self, column: str, number: int, least: int = 0) -> np.ndarray:
        """Return a column of rows of another table, which has so many."""
        values = self[column].astype(np.int64)
        for row in np.flatnonzero((values < least) | (values >= number)):
            what = f"{column} of row {row} is {values[row]}, outside the {number} that exist"
            raise InputError(what, where=self.path, fix="save it again")
        return values

    def texts(self, column: str) -> np.ndarray:
        """Return a column of texts."""
        texts = self.frame[column]
        if str(texts.dtype) != "String":
            what = f"column {column!r} holds {texts.dtype}, not text"
            raise InputError(what, where=self.path, fix="save it again")
        return np.array(texts.to_list(), dtype=str)


def read_sides(head: dict[str, Any]) -> tuple[Side, Side]:
    """Read the kinds of the sides and the words for them; images and captions where nothing is said."""
    if "sides" not in head:
        return IMAGE_TEXT
    first, second = (Side(*(str(side[name]) for name in ("kind", "one", "many"))) for side in head["sides"])
    for side in (first, second):
        check_choice(side.kind, [known.kind for known in KINDS.values()], "the kind of a side")
    return first, second


def read_groups(words: dict[str, Any], folder: Path, *sides: Table) -> Grouping:
    """Read which items are resampled together."""
    names = read(folder / GROUPS, "name").texts("name")
    first, second = (table.rows("group", len(names), least=-1) for table in sides)
    one, many, whole = (str(words[name]) for name in ("one", "many", "whole"))
    return Grouping(Side("", one, many), whole, names, (first, second))


def read_others(folder: Path, n_images: int) -> list[list[str]]:
    """Read the captions of each image that are not in the gallery."""
    table = read(folder / OTHERS, "image", "text")
    texts: list[list[str]] = [[] for _ in range(n_images)]
    for image, text in zip(table.rows("image", n_images).tolist(), table.texts("text").tolist()):
        texts[image].append(text)
    return texts


def read_objects(head: dict[str, Any], folder: Path, n_images: int) -> Objects:
    """Read what the images show; synsets and attributes where they are known."""
    names = [str(name) for name in head.get("attributes", [])]
    columns = ("image", "category", *BOX, *(ATTRIBUTE + name for name in names))
    things = read(folder / "objects.parquet", *columns)
    synsets = head.get("synsets")
    return Objects(
        tuple(map(str, head["categories"])),
        things.rows("image", n_images),
        things["category"],
        things.frame.select(BOX).to_numpy(),
        synsets=None if synsets is None else tuple(map(str, synsets)),
        attributes={name: things.texts(ATTRIBUTE + name) for name in names},
    )


def has_trait(description: dict[str, Any], trait: str, folder: Path) -> bool:
    """Return whether a truth says of itself that it is complete, or machine-made, or has pooled pairs, …"""
    value = description.get(trait, False)
    if not isinstance(value, bool):
        raise InputError(
            f"truth {description['name']!r} is {trait}: {value!r}", where=folder / HEAD, fix="true or false"
        )
    return value


def ids_of(table: Table, kind: str, open: bool) -> Ids:
    """Return the ids of a table, the gallery first."""
    gallery, ids = table["gallery"], table.frame["id"]
    size = int(gallery.sum())
    if not gallery[:size].all():
        what = f"{kind}s outside the gallery come before others"
        raise InputError(what, where=table.path.parent, fix="save the benchmark again")
    values = ids.to_numpy() if ids.dtype.is_integer() else ids.cast(str).to_list()
    return Ids(values[:size], extra=values[size:], kind=kind, open=open)


def texts_of(table: Table, column: str, size: int) -> list[str] | None:
    """Return the texts of the gallery; None when there are none."""
    texts = table.frame[column].to_list()[:size]
    known = any(text is not None for text in texts)
    return ["" if text is None else str(text) for text in texts] if known else None


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
    table = read(folder / f"queries-{number}.parquet", "direction", "row")
    queries = {
        direction: table.where("direction", direction).rows("row", known.size)
        for direction, known in zip(directions, ids)
    }
    judgments, rule = None, None
    if "rule" not in description:
        judgments = read_judgments(description, folder, number, ids)
    elif objects is None or description["rule"]["kind"] != "plausible":
        what = f"truth {description['name']!r} is not a rule that karat knows"
        raise InputError(what, where=folder / HEAD)
    else:
        zeta = int(description["rule"]["zeta"])
        rule = PlausibleMatch(objects.class_vectors(ids[0].size), caption_image, zeta)
    return Truth(
        str(description["name"]),
        judgments,
        queries,
        read_folds(description["folds"], folder, number, ids),
        rule,
        about=str(description["about"]),
        complete=has_trait(description, "complete", folder),
        machine=has_trait(description, "machine", folder),
    )


def read_folds(names: list[Any], folder: Path, number: int, ids: list[Ids]) -> list[Fold]:
    """Read the folds of a truth, which has a table of them only where there are some."""
    if not names:
        return []
    table = read(folder / f"folds-{number}.parquet", "fold", "side", "row")
    folds = []
    for k, name in enumerate(names):
        own = table.where("fold", k)
        sides = (own.where("side", side).rows("row", known.size) for side, known in zip(SIDES, ids))
        folds.append(Fold(str(name), *sides))
    return folds


def read_judgments(description: dict[str, Any], folder: Path, number: int, ids: list[Ids]) -> Judgments:
    """Read the judgments of a truth, the pairs that were pooled and not judged, and the pool's design."""
    uncertain = PROBABILITIES if has_trait(description, "probabilities", folder) else ()
    rated = read_pairs(folder / f"judgments-{number}.parquet", ids, "source", "rating", *uncertain)
    pooled, design = {name: nothing() for name in PAIR}, None
    if has_trait(description, "pooled", folder):
        pooled = read_pairs(folder / f"pooled-{number}.parquet", ids)
    if "design" in description:
        direction, by = description["design"]["direction"], description["design"]["by"]
        rows = read_pairs(folder / f"design-{number}.parquet", ids, by)
        design = PoolDesign(direction, by, rows["image"], rows["caption"], rows[by])
    sources = [
        Provenance(str(s["name"]), str(s["scale"]), read_mapping(s["mapping"]))
        for s in description["sources"]
    ]
    return Judgments(**rated, sources=sources, pooled=(pooled["image"], pooled["caption"]), design=design)


def read_pairs(path: Path, ids: list[Ids], *columns: str) -> dict[str, np.ndarray]:
    """Read the columns of a table of pairs, whose images and captions must exist."""
    table = read(path, *PAIR, *columns)
    pairs = {name: table.rows(name, len(known)) for name, known in zip(PAIR, ids)}
    return pairs | {name: table[name] for name in columns}


def read_mapping(description: dict[str, Any]) -> Mapping:
    """Return a mapping from its data."""
    if "steps" in description:
        return Steps([(float(threshold), float(grade)) for threshold, grade in description["steps"]])
    return Share(top=float(description["share"]["top"]), least=float(description["share"]["least"]))
