r"""Concept metrics: how two images differ in what they show (Lymperaiou et al. 2022, §4.1).

For a ground-truth image g and a retrieved image r with the concepts (WordNet synsets) V(g) and V(r),
D_g = V(g) \ V(r) and D_r = V(r) \ V(g):

- concept agreement: |V(g) ∩ V(r)| / |V(g)|;
- concept similarity, of the non-common concepts: the mean WordNet path similarity over the pairs of the
  maximum-weight matching of D_g with D_r;
- concept enumeration: Σ over common concepts of the difference of their counts;
- size disagreement: the boxes of each common concept are paired so that the sum of their differences is
  smallest;
  a difference is |A_g − A_r| / A_g, or divided by the smaller area.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_choice, check_file, or_none
from karat._util import threads as thread_loop
from karat.errors import InputError
from karat.explanations.concepts import Concepts

RELATIVE_TO = ("ground_truth", "smaller")
"""What a difference of two areas is a share of: the ground truth's area, or the smaller of both."""
THRESHOLD = 1.0
"""The difference from which on two areas disagree, in the binary reading: 100%."""
NO_PATH = 255
ROWS_OF_PATHS = 512


@dataclass(frozen=True, eq=False)
class ConceptMetrics:
    """The concept metrics of many pairs of images; `compare_concepts` makes them.

    A metric is NaN where it is not defined: agreement where the ground truth has no concept, similarity where
    one side has no concept of its own, enumeration and size where nothing is common or nothing is counted.

    Parameters
    ----------
    concepts
        Of all images.
    ground, retrieved
        The images of each pair.
    common, ground_only, retrieved_only
        Per pair, how many concepts both have, and how many one has alone.
    pair_ptr, pair_concepts, pair_similarity
        Per pair of images, compressed, the matched concepts [2, M] as numbers, and their path similarity.
    differences, differing
        Per pair, the sum of the differences of counts, and how many common concepts differ in number.
    size_ptr, size_concept, size_area, size_difference
        Per pair, compressed, the matched boxes: their concept, their two areas [2, M], and their difference.
    fact_counts
        By kind of fact: how many facts of the ground truth can be compared, and how many agree.
    threshold
        Of the binary size disagreement.
    """

    concepts: Concepts
    ground: np.ndarray
    retrieved: np.ndarray
    common: np.ndarray
    ground_only: np.ndarray
    retrieved_only: np.ndarray
    pair_ptr: np.ndarray
    pair_concepts: np.ndarray
    pair_similarity: np.ndarray
    differences: np.ndarray
    differing: np.ndarray
    size_ptr: np.ndarray
    size_concept: np.ndarray
    size_area: np.ndarray
    size_difference: np.ndarray
    fact_counts: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    threshold: float = THRESHOLD

    def __len__(self) -> int:
        return len(self.ground)

    @cached_property
    def agreement(self) -> np.ndarray:
        """Concept agreement: the share of the ground truth's concepts that the retrieved image has."""
        return share(self.common, self.common + self.ground_only)

    @cached_property
    def similarity(self) -> np.ndarray:
        """Concept similarity: the mean path similarity of matched non-common concepts."""
        return means(self.pair_similarity, self.pair_ptr)

    @cached_property
    def enumeration(self) -> np.ndarray:
        """Concept enumeration: the sum over common concepts of the difference of their counts."""
        return np.where(self._comparable, self.differences.astype(float), np.nan)

    @cached_property
    def differing_share(self) -> np.ndarray:
        """The share of common concepts that differ in number."""
        return np.where(self._comparable, share(self.differing, self.common), np.nan)

    @property
    def _comparable(self) -> np.ndarray:
        return (self.common > 0) & self.concepts.counted

    @cached_property
    def size(self) -> np.ndarray:
        """Size disagreement: the mean difference over all matched boxes."""
        return means(self.size_difference, self.size_ptr)

    @cached_property
    def size_binary(self) -> np.ndarray:
        """The share of matched boxes that differ by the threshold or more."""
        return means(self._over, self.size_ptr)

    @cached_property
    def size_by_concept(self) -> np.ndarray:
        """Size disagreement by the paper's formula: the mean of each concept, added up."""
        return self._by_concept(self.size_difference)

    @cached_property
    def size_binary_by_concept(self) -> np.ndarray:
        """The share of matched boxes of each concept that differ by the threshold or more, added up."""
        return self._by_concept(self._over)

    @property
    def _over(self) -> np.ndarray:
        return (self.size_difference >= self.threshold).astype(float)

    def _by_concept(self, values: np.ndarray) -> np.ndarray:
        pair = np.repeat(np.arange(len(self)), np.diff(self.size_ptr))
        new = np.ones(len(pair), bool)
        new[1:] = (np.diff(pair) != 0) | (np.diff(self.size_concept) != 0)
        group = np.flatnonzero(new)
        mean = means(values, np.r_[group, len(pair)])
        sums = np.bincount(pair[group], weights=mean, minlength=len(self))
        return np.where(np.diff(self.size_ptr) > 0, sums, np.nan)

    def fact_agreement(self, kind: str) -> np.ndarray:
        """Return the share of the ground truth's facts of a kind that hold of the retrieved image too."""
        compared, agreeing = self.fact_counts[kind]
        return share(agreeing, compared)

    def values(self) -> dict[str, np.ndarray]:
        """Return every metric by name, one value per pair of images."""
        return {
            "agreement": self.agreement,
            "similarity": self.similarity,
            "enumeration": self.enumeration,
            "size": self.size,
            "size_binary": self.size_binary,
            "size_by_concept": self.size_by_concept,
            "size_binary_by_concept": self.size_binary_by_concept,
            **{f"same_{kind}": self.fact_agreement(kind) for kind in self.fact_counts},
        }

    def local(self, pair: int) -> dict[str, Any]:
        """Return one pair of images in full: its metrics, and which concepts and boxes were matched.

        Returns
        -------
        dict
            The metrics by name, None where undefined; ``common`` with both counts; ``pairs`` of matched
            concepts with their path similarity; ``sizes``: concept, both areas and their difference.
        """
        synsets = self.concepts.synsets
        sides = [self.concepts.of_image(int(images[pair])) for images in (self.ground, self.retrieved)]
        matched = slice(int(self.pair_ptr[pair]), int(self.pair_ptr[pair + 1]))
        sized = slice(int(self.size_ptr[pair]), int(self.size_ptr[pair + 1]))
        return {
            **{name: or_none(float(values[pair])) for name, values in self.values().items()},
            "common": [(name, n, sides[1][name]) for name, n in sides[0].items() if name in sides[1]],
            "pairs": [
                (synsets[g], synsets[r], weight)
                for g, r, weight in zip(
                    *self.pair_concepts[:, matched].tolist(), self.pair_similarity[matched].tolist()
                )
            ],
            "sizes": [
                (synsets[c], *areas, difference)
                for c, areas, difference in zip(
                    self.size_concept[sized].tolist(),
                    self.size_area[:, sized].T.tolist(),
                    self.size_difference[sized].tolist(),
                )
            ],
        }


def share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return part / whole, NaN where there is no whole.

    >>> share(np.array([1, 0]), np.array([2, 0])).tolist()
    [0.5, nan]
    """
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def means(values: np.ndarray, ptr: np.ndarray) -> np.ndarray:
    """Return the mean of each stretch of values, NaN where it is empty.

    >>> means(np.array([1.0, 2.0]), np.array([0, 2, 2])).tolist()
    [1.5, nan]
    """
    length = np.diff(ptr)
    group = np.repeat(np.arange(len(length)), length)
    return share(np.bincount(group, weights=values, minlength=len(length)), length)


def path_steps(synsets: Sequence[str]) -> np.ndarray:
    """Return the length of the shortest path between every two synsets, as bytes; 255 where there is none.

    >>> path_steps(("dog.n.01", "cat.n.01")).tolist()
    [[0, 4], [4, 0]]
    """
    from karat.lexicon import wordnet

    wn = wordnet()
    rows = np.array([wn.synset(name) for name in synsets], np.int64)
    steps = np.empty((len(rows), len(rows)), np.uint8)
    for begin in range(0, len(rows), ROWS_OF_PATHS):
        part = wn.path_similarity(rows[begin : begin + ROWS_OF_PATHS], rows)
        with np.errstate(divide="ignore"):
            length = np.where(part > 0, np.rint(1 / part) - 1, NO_PATH)
        steps[begin : begin + ROWS_OF_PATHS] = np.minimum(length, NO_PATH)
    return steps


@dataclass(frozen=True, eq=False)
class ConceptComparison:
    """How the concepts of images are compared in failures.

    Parameters
    ----------
    synset_map
        Names with their synsets, or the json file of such a mapping.
    query_informed
        Also compute every metric over the concepts that the query mentions alone.
    relative_to
        What a difference of two areas is divided by: "ground_truth" (its area) or "smaller" (the smaller
        one).
    size_threshold
        From which difference on sizes disagree in the binary reading; 1 is 100%.

    Examples
    --------
    >>> ConceptComparison(relative_to="smaller").size_threshold
    1.0
    """

    synset_map: Mapping[str, str] | str | Path | None = None
    query_informed: bool = False
    relative_to: str = "ground_truth"
    size_threshold: float = THRESHOLD

    def __post_init__(self) -> None:
        object.__setattr__(self, "relative_to", check_choice(self.relative_to, RELATIVE_TO, "relative_to"))
        check_threshold(self.size_threshold)
        if isinstance(self.synset_map, str | Path):
            check_file(Path(self.synset_map))


def compare_concepts(
    concepts: Concepts,
    ground: Sequence[int] | np.ndarray,
    retrieved: Sequence[int] | np.ndarray,
    *,
    mentioned: tuple[np.ndarray, np.ndarray] | None = None,
    relative_to: str = "ground_truth",
    threshold: float = THRESHOLD,
    steps: np.ndarray | None = None,
    threads: int | None = None,
) -> ConceptMetrics:
    """Compare pairs of images by their concepts.

    Parameters
    ----------
    concepts
        Of all images.
    ground, retrieved
        The numbers of the images of each pair.
    mentioned
        For query-informed metrics: per pair, compressed, the concepts that count (sorted numbers); None for
        all.
    relative_to
        What a difference of areas is divided by: "ground_truth" (its area) or "smaller" (the smaller area).
    threshold
        From which difference on sizes disagree in the binary reading; 1 is 100%.
    steps
        What `path_steps` returns for `concepts.synsets`, where it is known already.
    threads
        How many; all by default. Results do not depend on it.

    Returns
    -------
    ConceptMetrics

    Examples
    --------
    The zebras of Lymperaiou et al. (2022, §6.3):

    >>> from karat.explanations import make_concepts
    >>> names = "trunk hill tree sky branch head leg leaf".split()
    >>> ground = {f"{name}.n.01": 1 for name in names} | {"zebra.n.01": 5, "field.n.01": 1, "mane.n.01": 1}
    >>> retrieved = {"grassland.n.01": 1, "grass.n.01": 1, "zebra.n.01": 7, "field.n.01": 1, "mane.n.01": 5}
    >>> zebras = compare_concepts(make_concepts([ground, retrieved]), [0], [1])
    >>> zebras.agreement.round(3), zebras.similarity.round(3), zebras.enumeration
    (array([0.273]), array([0.139]), array([6.]))
    >>> for pair in zebras.local(0)["pairs"]:
    ...     print(*pair)
    tree.n.01 grass.n.01 0.16666666666666666
    hill.n.01 grassland.n.01 0.1111111111111111
    """
    from karat.explanations.concept_kernels import compare_rows, count_rows

    by_smaller = check_choice(relative_to, RELATIVE_TO, "relative_to") == "smaller"
    check_threshold(threshold)
    ground, retrieved = (check_images(images, len(concepts)) for images in (ground, retrieved))
    if len(ground) != len(retrieved):
        raise InputError(
            f"{len(ground)} ground-truth images and {len(retrieved)} retrieved ones", fix="give pairs"
        )
    informed = mentioned is not None
    none = np.zeros(len(ground) + 1, np.int64), np.zeros(0, np.int64)
    mention_ptr, mention = (np.asarray(part, np.int64) for part in (none if mentioned is None else mentioned))
    if len(mention_ptr) != len(ground) + 1:
        raise InputError(
            f"{len(mention_ptr) - 1} lists of mentioned concepts for {len(ground)} pairs", fix="give one each"
        )
    table = (
        concepts.ptr.astype(np.int64), concepts.synset.astype(np.int64), concepts.count.astype(np.int64),
        concepts.area_ptr.astype(np.int64), concepts.area.astype(np.float64),
    )  # fmt: skip
    most = max(1, int(np.diff(concepts.ptr).max(initial=0)))
    widest = max(most, int(np.diff(concepts.area_ptr).max(initial=0)))
    steps = path_steps(concepts.synsets) if steps is None else steps
    similarity = 1 / (1 + np.arange(NO_PATH + 1.0))
    similarity[NO_PATH] = 0
    n = len(ground)
    counts = np.zeros((4, n), np.int64)
    with thread_loop(threads) as loop:
        loop(
            lambda begin, end: count_rows(
                begin, end, ground, retrieved, table, informed, mention_ptr, mention, most, counts
            ),
            0,
            n,
        )
        pair_ptr = np.r_[0, np.cumsum(np.minimum(counts[1], counts[2]))]
        size_ptr = np.r_[0, np.cumsum(counts[3])]
        matched, weight = np.empty((2, pair_ptr[-1]), np.int32), np.empty(pair_ptr[-1])
        sized, difference = np.empty((3, size_ptr[-1]), np.int64), np.empty(size_ptr[-1])
        enumeration = np.zeros((2, n), np.int64)
        loop(
            lambda begin, end: compare_rows(
                begin, end, ground, retrieved, table, informed, mention_ptr, mention, most, widest,
                steps, similarity, by_smaller, pair_ptr, matched, weight, size_ptr, sized, difference,
                enumeration,
            ),
            0,
            n,
        )  # fmt: skip
    return ConceptMetrics(
        concepts, ground, retrieved, counts[0], counts[1], counts[2], pair_ptr, matched, weight,
        enumeration[0], enumeration[1],
        size_ptr, sized[0], concepts.area[sized[1:]], difference,
        {kind: facts.compare(ground, retrieved, mentioned) for kind, facts in concepts.facts.items()},
        threshold,
    )  # fmt: skip


def check_threshold(threshold: float) -> None:
    """Raise unless a threshold of sizes is a number above 0."""
    if not 0 < threshold < float("inf"):
        raise InputError(f"the threshold of sizes is {threshold}", fix="give a number above 0; 1 is 100%")


def check_images(images: Sequence[int] | np.ndarray, size: int) -> np.ndarray:
    """Return numbers of images, or raise where there is no such image."""
    numbers = np.atleast_1d(np.asarray(images))
    if numbers.ndim != 1 or (len(numbers) and numbers.dtype.kind not in "iu"):
        raise InputError(
            f"images have shape {numbers.shape} and type {numbers.dtype}", fix="give their numbers"
        )
    numbers = numbers.astype(np.int64)
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < size:
        bad = numbers[(numbers < 0) | (numbers >= size)][0]
        raise InputError(f"there is no image {bad}", fix=f"images are numbers from 0 to {size - 1}")
    return numbers
