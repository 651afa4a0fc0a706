"""The failure browser: every failure with its pictures, boxes, metrics and matched concepts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from karat.benchmarks import Benchmark, Objects, asks_first, in_order
from karat.errors import KaratError
from karat.explanations import ALL, FAULTS, INFORMED, ConceptMetrics, Concepts, ExplainedFailures
from karat.reports.bundle import Pack, packed_texts
from karat.reports.material import FailureMaterial
from karat.reports.presentation import direction_heading
from karat.reports.section import SectionData, section
from karat.reports.thumbnails import page_pictures

SIDE = 320
"""The longest side of a small picture, in pixels: two are side by side."""
GRID = 1000
"""Boxes are whole numbers of this part of the picture's width and height."""
NO_PATH = 255
"""Steps between concepts without a path."""
METRICS = {
    "agreement": ("Concept agreement", "CA", "%"),
    "similarity": ("Similarity of other concepts", "NCS", ""),
    "enumeration": ("Difference in numbers", "CE", ""),
    "size": ("Size disagreement", "size", ""),
    "size_binary": ("Sizes that disagree", "SD", "%"),
    "same_colour": ("Same colours", "colours", "%"),
    "same_number": ("Same numbers", "numbers", "%"),
    "same_size": ("Same words for sizes", "sizes", "%"),
    "same_position": ("Same positions", "positions", "%"),
    "same_relation": ("Same relations", "relations", "%"),
}
"""The metrics that are shown: their titles, the same in short, and units."""


@section("failures", "Failure by failure", "Failures", order=20, pages=["failures"])
def collect(material: FailureMaterial) -> SectionData:
    """Return the failures of every column, compressed, and what is known of their images and captions."""
    found = material.found
    if not any(len(column.failures) for column in found.columns):
        return "There is no failure to show."
    bench = found.benchmark
    images = first_seen(
        part
        for column in material.columns
        for part in (column.failures.ground_image, column.failures.retrieved_image)
    )
    captions = shown_captions(bench, found.columns, images)
    owner = np.full(len(captions), len(images))
    if bench.caption_image is not None:
        known = captions < len(bench.caption_image)
        owner[known] = places_of(images, np.asarray(bench.caption_image)[captions[known]])
    shared = Pack()
    data = {
        "tables": [column_data(column, found.slices, images, captions) for column in material.columns],
        "images": packed_texts([str(bench.images.values[k]) for k in images.tolist()]),
        "captions": packed_texts([str(bench.captions.values[k]) for k in captions.tolist()]),
        "texts": packed_captions(bench, captions),
        "owner": shared.add(owner),
        "concepts": concept_data(found.concepts, images, shared),
        "objects": object_data(bench, images, shared),
        "thumbnails": pictures(material, images),
        "sides": [
            {"one": side.one, "many": side.many, "head": side.one.capitalize()} for side in bench.sides
        ],
    }
    return {**data, "pack": shared.describe(), "grid": GRID}


def first_seen(columns: Any) -> np.ndarray:
    """Return every number once, those that are needed first before others.

    >>> first_seen([np.array([4, 4, 9]), np.array([7, 4, 1])]).tolist()
    [4, 7, 9, 1]
    """
    parts = list(columns)
    # Pairs of ground truth and retrieved image, failure by failure.
    pairs = [np.stack(parts[k : k + 2], axis=1).ravel() for k in range(0, len(parts), 2)]
    numbers = np.concatenate(pairs)
    values, place = np.unique(numbers, return_index=True)
    return values[np.argsort(place, kind="stable")]


def places_of(values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return where each number is among the values; their length where it is not.

    >>> places_of(np.array([4, 9, 7]), np.array([7, 4, 1])).tolist()
    [2, 0, 3]
    """
    order = np.argsort(values, kind="stable")
    place = np.minimum(np.searchsorted(values[order], wanted), max(len(values) - 1, 0))
    if not len(values):
        return np.zeros(len(wanted), np.int64)
    return np.where(values[order[place]] == wanted, order[place], len(values))


def shown_captions(
    benchmark: Benchmark, columns: Sequence[ExplainedFailures], images: np.ndarray
) -> np.ndarray:
    """Return the captions that are queries or items of a failure, or belong to a shown image."""
    parts = []
    for column in columns:
        failures = column.failures
        items = [failures.ground, failures.retrieved]
        parts += items if asks_first(failures.direction) else [failures.query]
    if benchmark.caption_image is not None:
        parts.append(np.flatnonzero(np.isin(benchmark.caption_image, images)))
    return np.unique(np.concatenate(parts))


def packed_captions(benchmark: Benchmark, captions: np.ndarray) -> str | None:
    """Return the captions compressed; None where they are not known."""
    try:
        texts = benchmark.needed_texts
    except KaratError:
        return None
    return packed_texts([str(texts[k]) if k < len(texts) else "" for k in captions.tolist()])


def column_data(
    column: ExplainedFailures, slices: Any, images: np.ndarray, captions: np.ndarray
) -> dict[str, Any]:
    """Return the failures of one run, truth and direction."""
    failures, pack = column.failures, Pack()
    query, item = in_order(failures.direction, images, captions)
    ways = {"query": query, "ground": item, "retrieved": item}
    arrays = {name: pack.add(places_of(ways[name], getattr(failures, name))) for name in ways}
    for name in ("ground_image", "retrieved_image"):
        arrays[name] = pack.add(places_of(images, getattr(failures, name)))
    arrays |= {name: pack.add(getattr(failures, name)) for name in ("rank", "ground_rank")}
    marks = {} if column.faults is None else column.faults.marks()
    return {
        "key": [failures.run, failures.truth, direction_heading(failures.direction)],
        "direction": failures.direction,
        "asks": in_order(failures.direction, 0, 1)[0],
        "rows": len(failures),
        "ranks": list(failures.ranks),
        **arrays,
        "metrics": [
            {"title": title, "short": short, "unit": unit, "informed": informed, "array": pack.add(values)}
            for title, short, unit, informed, values in shown_metrics(column)
        ],
        "pairs": pair_data(column.metrics[ALL], pack),
        "marks": [
            {"title": FAULTS[name].split(":")[0], "about": FAULTS[name].split(": ")[1],
             "array": pack.add(values.astype(np.uint8))}
            for name, values in marks.items()
        ],
        "slices": [
            {"title": name, "array": pack.add(inside[failures.query].astype(np.uint8))}
            for name, inside in slices.get(failures.direction, {}).items()
        ],
        "pack": pack.describe(),
    }  # fmt: skip


def shown_metrics(column: ExplainedFailures) -> list[tuple[str, str, str, bool, np.ndarray]]:
    """Return title, short title, unit, whether only what the query mentions counts, and values.

    A metric that is not defined for any failure is left out.
    """
    out = []
    for counted, metrics in column.metrics.items():
        values = metrics.values()
        for name, (title, short, unit) in METRICS.items():
            if name in values and not np.isnan(values[name]).all():
                out.append((title, short, unit, counted == INFORMED, values[name]))
    return out


def pair_data(metrics: ConceptMetrics, pack: Pack) -> dict[str, int]:
    """Return the matched concepts of every failure: how many, which, and how many steps they are apart."""
    with np.errstate(divide="ignore"):
        steps = np.where(metrics.pair_similarity > 0, np.rint(1 / metrics.pair_similarity) - 1, NO_PATH)
    return {
        "count": pack.add(np.diff(metrics.pair_ptr)),
        "ground": pack.add(metrics.pair_concepts[0]),
        "retrieved": pack.add(metrics.pair_concepts[1]),
        "steps": pack.add(np.minimum(steps, NO_PATH)),
    }


def concept_data(concepts: Concepts, images: np.ndarray, pack: Pack) -> dict[str, Any]:
    """Return the concepts of the shown images: their names, and per image which and how many."""
    length = np.diff(concepts.ptr)[images]
    rows = np.repeat(concepts.ptr[images] - (np.cumsum(length) - length), length) + np.arange(length.sum())
    return {
        "names": packed_texts(short_names(concepts.synsets)),
        "synsets": packed_texts(concepts.synsets),
        "counted": concepts.counted,
        "length": pack.add(length),
        "concept": pack.add(concepts.synset[rows]),
        "count": pack.add(concepts.count[rows]),
    }


def short_names(synsets: Sequence[str]) -> list[str]:
    """Return the word of each synset; the synset where two have the same word.

    >>> short_names(["hot_dog.n.02", "mouse.n.01", "mouse.n.04"])
    ['hot dog', 'mouse.n.01', 'mouse.n.04']
    """
    words = [name.rsplit(".", 2)[0].replace("_", " ") for name in synsets]
    times = Counter(words)
    return [word if times[word] == 1 else name for word, name in zip(words, synsets)]


def object_data(benchmark: Benchmark, images: np.ndarray, pack: Pack) -> dict[str, Any] | None:
    """Return the boxes of the shown images; None where there are none."""
    try:
        things: Objects = benchmark.needed_objects
    except KaratError:
        return None
    begin = np.searchsorted(things.image, images)
    length = np.searchsorted(things.image, images, side="right") - begin
    rows = np.repeat(begin - (np.cumsum(length) - length), length) + np.arange(length.sum())
    box = things.box[rows].astype(np.float64)
    corners = np.clip(np.c_[box[:, :2], box[:, :2] + box[:, 2:]], 0, 1)
    return {
        "names": packed_texts([str(name) for name in things.categories]),
        "length": pack.add(length),
        "category": pack.add(things.category[rows]),
        "corners": pack.add(np.rint(corners * GRID).ravel()),
    }


def pictures(material: FailureMaterial, images: np.ndarray) -> dict[str, Any] | None:
    """Return small pictures and links of the shown images."""
    bench = material.found.benchmark
    if not bench.image_paths:
        return None
    paths = [bench.image_paths[k] for k in images.tolist()]
    return page_pictures(paths, bench, material.page, material.target, SIDE)
