"""Concepts of images: the WordNet synsets of what each image shows, how often, and how large."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from karat._util import Layout, Part, Result, plural
from karat.errors import InputError
from karat.explanations.image_facts import NOTHING, ImageFacts, make_facts, position_facts

SHOWN = 10
"""How many unmapped names a note lists."""


@dataclass(frozen=True, eq=False)
class Concepts(Result):
    """The concepts of every image, compressed by image: image i has rows ptr[i] to ptr[i + 1].

    `find_concepts` takes them from a benchmark, `make_concepts` from plain data.

    Parameters
    ----------
    synsets
        The names of all synsets that occur, sorted.
    ptr, synset
        Where the rows of each image begin, and per row the number of its synset, rising within an image.
    count
        Per row, how many things of this concept the image shows.
    area_ptr, area
        Per row, compressed, the areas of their boxes as shares of the image; boxes without area are left out.
    source
        "objects", "captions" or a file.
    counted
        Whether `count` and `area` are known; of captions they are not.
    facts
        By kind, what else is known: `karat.explanations.FACT_KINDS`.
    unmapped
        The names that have no synset, with how many things have them.
    notes
        What a reader should know.

    Examples
    --------
    >>> concepts = make_concepts([{"dog.n.01": 10, "frisbee.n.01": 1}, {"dog.n.01": [0.2]}])
    >>> concepts.of_image(0)
    {'dog.n.01': 10, 'frisbee.n.01': 1}
    """

    synsets: tuple[str, ...]
    ptr: np.ndarray
    synset: np.ndarray
    count: np.ndarray
    area_ptr: np.ndarray
    area: np.ndarray
    source: str = "objects"
    counted: bool = True
    facts: Mapping[str, ImageFacts] = field(default_factory=dict)
    unmapped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def of_image(self, image: int) -> dict[str, int]:
        """Return the concepts of an image, by name, with how many there are of each."""
        rows = slice(int(self.ptr[image]), int(self.ptr[image + 1]))
        return {self.synsets[s]: n for s, n in zip(self.synset[rows].tolist(), self.count[rows].tolist())}

    def records(self) -> list[dict[str, Any]]:
        """Return one record per image (as a number) and concept."""
        image = np.repeat(np.arange(len(self)), np.diff(self.ptr))
        rows = zip(image.tolist(), self.synset.tolist(), self.count.tolist())
        return [
            {"image": i, "synset": self.synsets[s], "count": n if self.counted else None} for i, s, n in rows
        ]

    def parts(self) -> list[Part]:
        """Return how many concepts there are, and the most frequent ones."""
        images = np.bincount(self.synset, minlength=len(self.synsets))
        things = np.bincount(self.synset, weights=self.count, minlength=len(self.synsets))
        order = np.argsort(-images, kind="stable")[:SHOWN]
        rows = [
            [self.synsets[k], f"{images[k]:,}", f"{things[k]:,.0f}" if self.counted else "—"]
            for k in order.tolist()
        ]
        empty = int((np.diff(self.ptr) == 0).sum())
        text = (
            f"{plural(len(self.synsets), 'concept')} of {plural(len(self), 'image')} from {self.source}; "
            f"{len(self.synset) / max(len(self), 1):.2f} per image, none in {empty:,}"
        )
        return [text, Layout(["most frequent", "images", "things"], rows)]


def make_concepts(images: Sequence[Mapping[str, int | Sequence[float]]]) -> Concepts:
    """Return the concepts of images that are given one by one.

    Parameters
    ----------
    images
        Per image, the names of its synsets, each with how many things there are of it, or with their areas.

    Examples
    --------
    >>> make_concepts([{"zebra.n.01": 5, "mane.n.01": [0.01]}, {}]).ptr.tolist()
    [0, 2, 2]
    """
    from karat.lexicon import wordnet

    wn = wordnet()
    image, names, counts, areas = [], [], [], []
    for number, things in enumerate(images):
        for name, known in things.items():
            listed = [] if isinstance(known, int | np.integer) else [float(area) for area in known]
            count = int(known) if isinstance(known, int | np.integer) else len(listed)
            if count < 1 or not all(np.isfinite(area) and area >= 0 for area in listed):
                raise InputError(
                    f"{name} of image {number} has {known!r}",
                    fix="give a count from 1, or areas of 0 or more",
                )
            image.append(number)
            names.append(wn.name(wn.synset(name)))
            counts.append(count)
            areas.append(listed)
    length = [len(listed) for listed in areas]
    thing = np.repeat(np.arange(len(areas)), length)
    return rows_of(
        len(images), np.array(image, int), names, np.array(counts, int),
        (thing, np.array([area for listed in areas for area in listed], float)),
    )  # fmt: skip


def rows_of(
    n_images: int,
    image: np.ndarray,
    names: Sequence[str],
    count: np.ndarray,
    areas: tuple[np.ndarray, np.ndarray],
) -> Concepts:
    """Return concepts from entries in any order; entries of the same image and synset are added up.

    `areas` are pairs of an entry and an area.
    """
    synsets = sorted(set(names))
    number = {name: k for k, name in enumerate(synsets)}
    code = image * max(len(synsets), 1) + np.array([number[name] for name in names], np.int64)
    rows, row = np.unique(code, return_inverse=True)
    owner, synset = np.divmod(rows, max(len(synsets), 1))
    thing, area = areas
    known = area > 0
    of_row, area = row[thing[known]], area[known]
    order = np.lexsort((area, of_row))
    return Concepts(
        tuple(synsets),
        np.searchsorted(owner, np.arange(n_images + 1)),
        synset,
        np.bincount(row, weights=count, minlength=len(rows)).astype(np.int64),
        np.searchsorted(of_row[order], np.arange(len(rows) + 1)),
        area[order],
    )


def with_unmapped(concepts: Concepts, unmapped: Counter[str]) -> Concepts:
    """Return the concepts with the names that have no synset, and a note on them."""
    if not unmapped:
        return concepts
    shown = ", ".join(f"{name} ({times:,})" for name, times in unmapped.most_common(SHOWN))
    more = f" and {plural(len(unmapped) - SHOWN, 'other')}" if len(unmapped) > SHOWN else ""
    note = (
        f"no synset for {plural(len(unmapped), 'name')} of {plural(unmapped.total(), 'thing')}: {shown}{more}"
    )
    return replace(concepts, unmapped=dict(unmapped), notes=(*concepts.notes, note))


def with_facts(
    concepts: Concepts,
    said: Mapping[str, tuple[Any, Any, Any]],
    boxes: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    relations: Sequence[tuple[int, int, int, str]] = (),
) -> Concepts:
    """Return the concepts with facts.

    Parameters
    ----------
    concepts
        Their numbers are the facts' too.
    said
        By kind of attribute: images, concepts and values.
    boxes
        Image, concept and box of every object: positions come from the largest of each concept.
    relations
        Image, first concept, second concept and how they relate.
    """
    size = len(concepts.synsets)
    facts = {
        kind: make_facts(image, concept, np.full(len(image), NOTHING), value, size)
        for kind, (image, concept, value) in said.items()
    }
    if boxes is not None:
        image, concept, box = boxes
        owner = np.repeat(np.arange(len(concepts)), np.diff(concepts.ptr))
        nothing = np.full(len(owner), NOTHING)
        facts["number"] = make_facts(owner, concepts.synset, nothing, concepts.count.astype(str), size)
        row = np.searchsorted(owner * size + concepts.synset, image * size + concept)
        order = np.lexsort((-(box[:, 2] * box[:, 3]), row))
        largest = order[np.searchsorted(row[order], np.arange(len(owner)))]
        facts["position"] = position_facts(concepts.ptr, concepts.synset, box[largest], size)
    if relations:
        images, firsts, seconds, how = (list(column) for column in zip(*relations))
        facts["relation"] = make_facts(images, firsts, seconds, how, size)
    return replace(concepts, facts={kind: known for kind, known in facts.items() if len(known)})
