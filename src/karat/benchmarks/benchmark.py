"""A benchmark: two ordered sides, and truths about their pairs, counted; `build` makes one of lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import COMPLETE, Layout, Part, Result, check_unique_ids, plural
from karat.benchmarks.choices import Choices
from karat.benchmarks.ids import Ids, as_id_array
from karat.benchmarks.image_files import common_folder
from karat.benchmarks.instances import Instances
from karat.benchmarks.judgments import Judgments, Provenance
from karat.benchmarks.objects import Objects
from karat.benchmarks.sides import (
    IMAGE_TEXT,
    KINDS,
    Direction,
    Grouping,
    Side,
    asks_first,
    direction_in,
    directions_of,
    in_order,
    is_direction,
)
from karat.benchmarks.truth import COUNTS, Truth
from karat.errors import InputError, MissingDataError, unknown_name

ORIGINAL = "original"
"""The truth that every captioned collection has: each caption belongs to the image it was written for."""
RECALLS = ("R@1", "R@5", "R@10")
LONGEST_ID = 1000
"""Characters; numpy stores every id as wide as the widest, so one endless id would fill the memory."""


@dataclass(frozen=True, eq=False)
class Benchmark:
    """What models are evaluated on.

    Parameters
    ----------
    name
        The name for `load_benchmark`.
    images, captions
        Ordered ids of the two sides, images and captions where `sides` says nothing else: a bare score table
        has its rows and columns in this order. Both are the same where a collection is searched with its own
        items.
    truths
        By name.
    caption_image
        For each caption of the gallery, the index of the image it was written for (−1: unknown).
    defaults
        For each truth, the measures that are computed by default.
    about
        A line on what it is, with its paper.
    texts
        The captions themselves, in gallery order, where they are known.
    other_texts
        Per image, captions that were written for it and are not in the gallery, where there are any:
        further references for metrics that compare captions.
    image_paths
        Where the image files are, in gallery order, where they are known.
    objects
        What the images show, where it is known.
    find_texts, find_truths, find_objects
        What reads the captions, a truth by its name, or the objects, when they are needed and not given: from
        files that need not be there, so that they may raise.
    caption_orders
        Other orders that its captions are likely to come in, such as that of an annotation file: by what it
        is called, indices of the gallery. They only serve to explain a run at chance level.
    shown_as
        What follows ``-b`` on the command line to load it again, quoted for the shell; the name by default.
    image_folder
        The folder that the source of `image_paths` was given; the web application shows no file outside it.
    choices
        The examples of a benchmark of choices, such as Winoground; None of one whose galleries are ranked.
    instances
        Where the captions are objects whose masks are vetted, what they look like; None elsewhere.
    sides
        Of which kind each side is, and what people call its items.
    groups
        Which items the statistics resample together; by default the image with its captions, where
        `caption_image` says which these are, and else each query by itself.

    Examples
    --------
    >>> import karat
    >>> coco = karat.load_benchmark("coco")
    >>> coco
    Benchmark('coco': 5,000 images, 25,000 captions; truths coco-5k, coco-1k, cxc, eccv)
    """

    name: str
    images: Ids
    captions: Ids
    truths: Mapping[str, Truth]
    caption_image: np.ndarray | None = None
    defaults: Mapping[str, Sequence[str]] = field(default_factory=dict)
    about: str = ""
    texts: Sequence[str] | None = None
    other_texts: Sequence[Sequence[str]] | None = None
    image_paths: Sequence[str] | None = None
    objects: Objects | None = None
    find_texts: Callable[[], Sequence[str]] | None = None
    find_truths: Mapping[str, Callable[[], Truth]] = field(default_factory=dict)
    find_objects: Callable[[], Objects] | None = None
    caption_orders: Mapping[str, np.ndarray] = field(default_factory=dict)
    shown_as: str = ""
    image_folder: str | None = None
    choices: Choices | None = None
    instances: Instances | None = None
    sides: tuple[Side, Side] = IMAGE_TEXT
    groups: Grouping | None = None

    def __post_init__(self) -> None:
        if not self.truths:
            raise InputError(f"benchmark {self.name!r} has no truth", fix="give it at least one")
        for name, truth in self.truths.items():
            if strange := [way for way in truth.queries if way not in self.directions]:
                raise InputError(
                    f"truth {name!r} of benchmark {self.name!r} has queries of the direction {strange[0]!r}",
                    fix=f"the directions of its sides are {' and '.join(self.directions)}",
                )
        if self.other_texts is not None and len(self.other_texts) != self.images.size:
            raise InputError(
                f"benchmark {self.name!r} has other captions of {plural(len(self.other_texts), 'image')}",
                fix=f"give a list for each of its {self.images.size:,} images",
            )
        # Frozen from outside, set once here: a truth that takes long to find is found once.
        once = {name: cache(find) for name, find in self.find_truths.items()}
        object.__setattr__(self, "find_truths", once)

    def __repr__(self) -> str:
        return f"Benchmark({self.name!r}: {self.extent}; truths {', '.join(self.truths)})"

    @property
    def extent(self) -> str:
        """How many items each side has, in words."""
        return ", ".join(dict.fromkeys(side.counted(ids.size) for side, ids in zip(self.sides, self.ids)))

    @property
    def ids(self) -> tuple[Ids, Ids]:
        """The ids of the two sides."""
        return self.images, self.captions

    @property
    def directions(self) -> tuple[Direction, ...]:
        """That in which the first side asks, then the other; one where the sides are the same."""
        return directions_of(self.sides)

    def _repr_html_(self) -> str:
        """Return it for notebooks: the counts of every truth."""
        return BenchmarkSummary(self)._repr_html_()

    @property
    def asked_directions(self) -> list[Direction]:
        """The directions in which any of its truths has queries."""
        truths = self.truths.values()
        return [way for way in self.directions if any(way in truth.directions for truth in truths)]

    def direction(self, name: str) -> Direction:
        """Return the direction that is meant by a name; raise where it is none of the benchmark's."""
        return direction_in(self.directions, name)

    @property
    def image_root(self) -> Path | None:
        """The folder of the image files: the source's, else the one that all of them lie below."""
        if not self.image_paths:
            return None
        return Path(self.image_folder) if self.image_folder else common_folder(self.image_paths)

    def truth(self, name: str) -> Truth:
        """Return the truth called `name`."""
        if name in self.truths:
            return self.truths[name]
        if name in self.find_truths:
            return self.find_truths[name]()
        raise unknown_name("truth", name, [*self.truths, *self.find_truths], owner=self.name)

    @cached_property
    def needed_texts(self) -> Sequence[str]:
        """The captions, for what cannot do without: given, or found; raises where there are none."""
        if self.texts is not None:
            return self.texts
        if self.find_texts is None:
            raise InputError(f"{self.name} has no captions", fix="choose a benchmark that has captions")
        return self.find_texts()

    @property
    def needed_image_paths(self) -> Sequence[str]:
        """The picture files, for what cannot do without; raises where there are none."""
        if not self.image_paths:
            fix = "load it with its pictures, for flickr8k images=FOLDER"
            raise InputError(f"{self.name} does not say where its pictures are", fix=fix)
        return self.image_paths

    @property
    def one_collection(self) -> bool:
        """Whether both sides are one collection, which is searched with its own items."""
        return len(self.directions) == 1

    def check_gallery(self) -> None:
        """Raise for a benchmark of choices, where a gallery is needed."""
        if self.choices is not None:
            raise InputError(
                f"{self.name} is a benchmark of choices: it has no gallery to rank",
                fix="score it with karat evaluate or karat compare",
            )

    def check_image_text(self) -> None:
        """Raise where the sides are not images and texts, for what looks at pictures or words."""
        if self.sides[0].kind != "image" or self.sides[1].kind != "text":
            kinds = " and ".join(dict.fromkeys(side.many for side in self.sides))
            raise InputError(
                f"{self.name} is a benchmark of {kinds}, and this needs images and their captions",
                fix="choose a benchmark of images and captions",
            )

    @cached_property
    def needed_objects(self) -> Objects:
        """The objects of the images, for what cannot do without: given, or found; raises without any."""
        if self.objects is not None:
            return self.objects
        if self.find_objects is None:
            raise MissingDataError(
                f"{self.name} has no objects with boxes", fix="choose a benchmark that has them"
            )
        return self.find_objects()

    def queries(self, direction: Direction) -> Ids:
        """The ids of the queries."""
        return in_order(direction, self.images, self.captions)[0]

    def items(self, direction: Direction) -> Ids:
        """The ids of the ranked items."""
        return in_order(direction, self.images, self.captions)[1]

    def query_side(self, direction: Direction) -> Side:
        """The side that asks, with the words for it."""
        return in_order(direction, *self.sides)[0]

    def item_side(self, direction: Direction) -> Side:
        """The side that is ranked, with the words for it."""
        return in_order(direction, *self.sides)[1]

    def with_items(self, direction: Direction, ids: Sequence[Any] | np.ndarray) -> Benchmark:
        """Return the benchmark with further items, which nobody judged; its own keep their indices."""
        side = in_order(direction, "images", "captions")[1]
        return replace(self, **{side: getattr(self, side).with_more(ids)})

    @cached_property
    def grouping(self) -> Grouping | None:
        """Which items are resampled together; None where each query is by itself."""
        if self.groups is not None or self.caption_image is None:
            return self.groups
        whole = f"{self.sides[0].many} with their {self.sides[1].many}"
        of = np.arange(len(self.images)), self.caption_image
        return Grouping(self.sides[0], whole, self.images.values, of)

    def unit(self, directions: Iterable[str]) -> Side:
        """Return the words for what is resampled, for queries of these directions: groups, else queries."""
        if self.grouping is not None:
            return self.grouping.unit
        sides = {self.query_side(direction) for direction in directions if is_direction(direction)}
        return sides.pop() if len(sides) == 1 else KINDS["q"]

    def clusters(self, direction: Direction, queries: np.ndarray) -> np.ndarray:
        """Return the group that each query belongs to, as a number; one of its own when unknown."""
        side = 0 if asks_first(direction) else 1
        if self.grouping is None:
            return -1 - queries if side else queries
        return self.grouping.find(side, queries)

    def cluster_names(self, clusters: np.ndarray) -> np.ndarray:
        """Return the names of groups as text; empty for a query of which it is unknown."""
        names = self.images.values if self.grouping is None else self.grouping.names
        return np.where(clusters < 0, "", names.astype(str)[np.maximum(clusters, 0)])

    @property
    def order_shown(self) -> str:
        """What has the order of its ids, for messages."""
        if not self.shown_as:
            return f"{' and '.join(dict.fromkeys(side.many for side in self.sides))} of {self.name} have"
        return f"`karat benchmarks show {self.shown_as} --ids ids.json` writes"

    def summary(self) -> list[dict[str, Any]]:
        """Return, per truth, how many queries and judged pairs it has in each direction."""
        return [summarise(self, truth) for truth in self.truths.values()]

    def pooled_notes(self) -> list[str]:
        """Return a sentence on each truth that has pairs which were pooled and not judged."""
        return [f"{truth.name}: {note}" for truth in self.truths.values() for note in truth.notes]


def build(
    name: str,
    images: Sequence[Any],
    captions: Sequence[Any],
    image_of: Sequence[Any],
    texts: Sequence[str],
    *,
    where: str | Path,
    about: str,
    image_paths: Sequence[str] | None = None,
    image_files: Sequence[str] | None = None,
    caption_orders: Mapping[str, np.ndarray] | None = None,
    image_folder: str | Path | None = None,
) -> Benchmark:
    """Return a benchmark with the truth "original": each caption belongs to its own image.

    Parameters
    ----------
    name, about
        The benchmark's.
    images, captions
        Ids in order. An image without a caption is ranked but is not a query.
    image_of, texts
        For each caption, the id of its image and its text.
    where
        The file they came from, for messages.
    image_paths, image_folder
        In the order of `images`, and the folder that they are in.
    image_files
        The names of the images' files, in the order of `images`: other names of their ids; see `Ids`.
    caption_orders
        See `Benchmark`.

    Examples
    --------
    >>> texts = ["a dog runs", "a brown dog", "a red bus"]
    >>> build("pets", ["dog", "bus"], [0, 1, 2], ["dog", "dog", "bus"], texts, where="pets.tsv", about="")
    Benchmark('pets': 2 images, 3 captions; truths original)
    """
    for kind, ids in (("image", images), ("caption", captions)):
        if not len(ids):
            raise InputError(f"holds no {kind}", where=where, fix=COMPLETE)
        if max(len(str(value)) for value in ids) > LONGEST_ID:
            what = f"has {kind} ids of over {LONGEST_ID:,} characters"
            raise InputError(what, where=where, fix="shorten them")
        check_unique_ids(as_id_array(ids), kind, where)
    image_ids = Ids(images, kind="image", files=image_files)
    caption_ids = Ids(captions, kind="caption")
    caption_image = image_ids.index(image_of, where)
    own = Judgments(caption_image, np.arange(len(captions)), sources=[Provenance(ORIGINAL)])
    queries: dict[Direction, np.ndarray] = {"i2t": np.unique(caption_image), "t2i": np.arange(len(captions))}
    truth = Truth(ORIGINAL, own, queries, about="each caption belongs to the image it was written for")
    return Benchmark(
        name, image_ids, caption_ids, {ORIGINAL: truth}, caption_image,
        defaults={ORIGINAL: (*RECALLS, "MedR")}, about=about, texts=list(texts), image_paths=image_paths,
        caption_orders=caption_orders or {},
        image_folder=None if image_folder is None else str(image_folder),
    )  # fmt: skip


def build_numbered(
    name: str,
    captions: Mapping[Any, Sequence[str]],
    *,
    where: str | Path,
    about: str,
    image_paths: Sequence[str] | None = None,
    image_folder: str | Path | None = None,
) -> Benchmark:
    """Return a benchmark of images with their captions, which are called ``IMAGE#0``, ``IMAGE#1``, ….

    >>> bench = build_numbered("pets", {"dog": ["a dog runs", "a brown dog"]}, where="pets.tsv", about="")
    >>> bench.captions.gallery.tolist()
    ['dog#0', 'dog#1']
    """
    return build(
        name,
        list(captions),
        [f"{image}#{number}" for image, texts in captions.items() for number in range(len(texts))],
        [image for image, texts in captions.items() for _ in texts],
        [text for texts in captions.values() for text in texts],
        where=where,
        about=about,
        image_paths=image_paths,
        image_folder=image_folder,
    )


def summarise(benchmark: Benchmark, truth: Truth) -> dict[str, Any]:
    """Count what one truth covers."""
    row: dict[str, Any] = {"truth": truth.name, "about": truth.about, "folds": len(truth.folds) or 1}
    for direction in benchmark.directions:
        counts = {**truth.counts(direction), "off_gallery": 0}
        if truth.rule is None:
            rows = truth.judged(direction)
            off = (rows.item >= benchmark.items(direction).size) & (rows.grade > 0)
            counts["off_gallery"] = int(off.sum())
            if truth.complete:
                inside = counts["positives"] - counts["off_gallery"]
                counts["negatives"] = counts["queries"] * benchmark.items(direction).size - inside
        row[direction] = counts
    return row


def choice_parts(choices: Choices) -> list[Part]:
    """Return the counts of the groups of examples, and what a run has to give."""
    rows = [[row["truth"], *(f"{row[key]:,}" for key in list(row)[1:])] for row in choices.summary()]
    others = [field for field in choices.groups if field not in choices.shown]
    lines = [f"a run is a table of {choices.shape_shown()}, or embeddings of all images and captions"]
    if others:
        lines.append(f"--truth {','.join(others)} scores these groups, too")
    return [Layout(["truth", "examples", "images", "captions"], rows, labels=1), "\n".join(lines)]


@dataclass(frozen=True, eq=False)
class BenchmarkSummary(Result):
    """A benchmark with the counts of its truths.

    Parameters
    ----------
    benchmark
        What is shown.
    added
        The name under which it was just remembered.

    Examples
    --------
    >>> from karat.benchmarks import build
    >>> texts = ["a dog runs", "a brown dog", "a red bus"]
    >>> print(BenchmarkSummary(
    ...     build("pets", ["dog", "bus"], [0, 1, 2], ["dog", "dog", "bus"], texts, where="pets.tsv", about="")
    ... ))
    pets: 2 images, 3 captions
    <BLANKLINE>
    truth     queries   number  relevant  judged not  off-gallery  folds
    ────────  ────────  ──────  ────────  ──────────  ───────────  ─────
    original  images         2         3           0            0      1
              captions       3         3           0            0
    <BLANKLINE>
    original: each caption belongs to the image it was written for
    """

    benchmark: Benchmark
    added: str | None = None

    def records(self) -> list[dict[str, Any]]:
        """Return one record per truth and direction; of choices, one per truth."""
        if self.benchmark.choices is not None:
            return self.benchmark.choices.summary()
        return [
            {
                "truth": row["truth"],
                "direction": direction,
                **row[direction],
                "pooled": self.benchmark.truth(row["truth"]).n_pooled,
                "folds": row["folds"],
            }
            for row in self.benchmark.summary()
            for direction in self.benchmark.directions
        ]

    @property
    def notes(self) -> list[str]:
        """How many pairs were pooled and not judged, where there are some."""
        return self.benchmark.pooled_notes()

    def parts(self) -> list[Part]:
        """Return the counts of every truth, and what each is."""
        bench = self.benchmark
        counts = "" if self.added is None else f"added; use it as --benchmark {self.added}\n"
        counts += f"{bench.name}: {bench.extent}"
        if bench.choices is not None:
            return [f"{counts}\n{bench.about}", *choice_parts(bench.choices)]
        rows = []
        for record in self.records():
            begins = record["direction"] == bench.directions[0]
            rows.append([
                record["truth"] if begins else "",
                bench.query_side(record["direction"]).many,
                *(f"{record[key]:,}" for key in (*COUNTS, "off_gallery")),
                str(record["folds"]) if begins else "",
            ])  # fmt: skip
        table = Layout(["truth", "queries", *COUNTS.values(), "off-gallery", "folds"], rows, labels=2)
        about = [f"{truth.name}: {truth.about}" for truth in bench.truths.values() if truth.about]
        return ["\n".join(filter(None, [counts, bench.about])), table, *(["\n".join(about)] if about else [])]
