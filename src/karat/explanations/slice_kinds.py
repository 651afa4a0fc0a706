"""Kinds of slices: what queries can be grouped by. Each is a class that registers itself.

A kind turns queries into columns of booleans. Most of them look at one caption at a time and say what it
mentions (`MentionKind`); the others look at all queries together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

import numpy as np

from karat._util import Registry, plural
from karat.captions import STOP_WORDS
from karat.explanations.query_words import Mentions, concepts_of, once
from karat.explanations.rivals import ANY, rivals_of


@dataclass(frozen=True, eq=False)
class SlicedQueries:
    """The queries that are grouped.

    Parameters
    ----------
    mentions
        Per query, what each of its captions mentions: its own text, or of an image query all its captions.
        Nothing where there are no captions.
    image
        Per query, the number of its group, such as its image, or a negative one where that is unknown.
    positives
        Per query, how many items are relevant.
    embeddings
        Per query, its embedding; None where the run has none.
    seed
        Of whatever is random.
    known
        The slices that are the same for all runs, by kind, once one run has asked for them.
    """

    mentions: Sequence[Sequence[Mentions]]
    image: np.ndarray
    positives: np.ndarray
    embeddings: np.ndarray | None = None
    seed: int = 0
    known: dict[str, dict[str, np.ndarray]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.mentions)

    def columns(self, kind: SliceKind) -> dict[str, np.ndarray]:
        """Return the slices of a kind: booleans per query, by name."""
        if kind.of_run:
            return kind.columns(self)
        if kind.name not in self.known:
            self.known[kind.name] = kind.columns(self)
        return self.known[kind.name]


class SliceKind(ABC):
    """What queries are grouped by.

    A subclass registers itself with `register_slice_kind` and returns columns by name. Columns that come
    first give their name to those that hold the same queries.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    """How the names of its slices begin: "colour" in "colour: red"."""
    about: ClassVar[str]
    joins: ClassVar[bool] = False
    """Whether its slices are joined with slices of other kinds: "colour: red & concept: dog"."""
    from_text: ClassVar[bool] = False
    """Whether it needs nothing but the texts of the queries."""
    of_words: ClassVar[bool] = True
    """Whether it looks at what queries mention."""
    of_run: ClassVar[bool] = False
    """Whether it looks at a run's embeddings."""

    @abstractmethod
    def columns(self, queries: SlicedQueries) -> dict[str, np.ndarray]:
        """Return booleans per query, by the name of the slice."""


SLICE_KINDS: Registry[SliceKind] = Registry("kind of slice", group="karat.slice_kinds")

K = TypeVar("K", bound=type[SliceKind])


def register_slice_kind(kind: K) -> K:
    """Make a kind of slice known by its name; a name that is taken raises."""
    SLICE_KINDS.add(kind.name, kind())
    return kind


class MentionKind(SliceKind):
    """Slices of what captions mention; an image query mentions what any of its captions does."""

    joins = True
    from_text = True

    def labels(self, mentions: Mentions) -> Iterable[str]:
        """Return the slices that a caption belongs to: by default what it mentions of the kind's name."""
        return with_any(getattr(mentions, self.name))

    def columns(self, queries: SlicedQueries) -> dict[str, np.ndarray]:
        """Return booleans per query, by the name of the slice."""
        rows: dict[str, list[int]] = {}
        for query, captions in enumerate(queries.mentions):
            for label in once(label for caption in captions for label in self.labels(caption)):
                rows.setdefault(label, []).append(query)
        names = sorted(rows, key=lambda name: (name != ANY, -len(rows[name]), name))
        return {name: as_column(rows[name], len(queries)) for name in names}


def as_column(rows: Sequence[int], size: int) -> np.ndarray:
    """Return booleans that are true in some rows."""
    column = np.zeros(size, bool)
    column[rows] = True
    return column


def with_any(names: Iterable[str]) -> Iterable[str]:
    """Return names, after "any" where there are some.

    >>> list(with_any(["red"])), list(with_any([]))
    (['any', 'red'], [])
    """
    names = tuple(names)
    return (ANY, *names) if names else ()


@register_slice_kind
class ColourKind(MentionKind):
    """Colours: any, and each of the eleven basic ones."""

    name = "colours"
    label = "colour"
    about = "mentions a colour"


@register_slice_kind
class NumberKind(MentionKind):
    """Numbers: how many there are, as a numeral or a plural."""

    name = "numbers"
    label = "number"
    about = "says how many: a numeral, or a plural"

    def labels(self, mentions: Mentions) -> Iterable[str]:
        """Return the numbers of a caption."""
        numerals = ["numeral", *mentions.numbers] if mentions.numbers else []
        return with_any([*numerals, *(["plural"] if mentions.several else [])])


@register_slice_kind
class SizeKind(MentionKind):
    """Sizes: any, small, large, long, short, tall."""

    name = "sizes"
    label = "size"
    about = "mentions a size"


@register_slice_kind
class ActionKind(MentionKind):
    """Actions: any verb, and each."""

    name = "actions"
    label = "action"
    about = "says what is done (verbs)"


@register_slice_kind
class RelationKind(MentionKind):
    """Relations: any, and each spatial phrase, verb or preposition between two things."""

    name = "relations"
    label = "relation"
    about = "says how two things relate"


@register_slice_kind
class ConceptKind(MentionKind):
    """Concepts: WordNet's commonest sense of each noun, and what it is a kind of."""

    name = "concepts"
    label = "concept"
    about = "names a thing, or a kind of it (WordNet nouns with their hypernyms)"

    def labels(self, mentions: Mentions) -> Iterable[str]:
        """Return the concepts of a caption."""
        return (concept for thing in mentions.things for concept in concepts_of(thing))

    def columns(self, queries: SlicedQueries) -> dict[str, np.ndarray]:
        """Return booleans per query: what captions name themselves before what that is a kind of."""
        columns = super().columns(queries)
        named = {
            concepts_of(thing)[0]
            for captions in queries.mentions
            for caption in captions
            for thing in caption.things
        }
        return dict(sorted(columns.items(), key=lambda item: item[0] not in named))


@register_slice_kind
class WordKind(MentionKind):
    """Words: each as written, without those that carry no meaning."""

    name = "words"
    label = "word"
    about = "contains a word"
    joins = False

    def labels(self, mentions: Mentions) -> Iterable[str]:
        """Return the words of a caption."""
        return (word for word in mentions.words if word not in STOP_WORDS)


def in_ranges(values: np.ndarray, parts: int, unit: str) -> dict[str, np.ndarray]:
    """Return about equally large groups of queries by a whole number, lowest first.

    >>> ranges = in_ranges(np.array([1, 1, 2, 3, 9]), 3, "word")
    >>> {name: column.sum().item() for name, column in ranges.items()}
    {'1 word': 2, '2–3 words': 2, '9 words': 1}
    """
    cuts = np.unique(np.quantile(values, np.arange(1, parts) / parts, method="inverted_cdf"))
    place = np.searchsorted(cuts, values)
    columns = {}
    for part in np.unique(place):
        inside = place == part
        low, high = int(values[inside].min()), int(values[inside].max())
        columns[plural(low, unit) if low == high else f"{low:,}–{high:,} {unit}s"] = inside
    return columns


@register_slice_kind
class LengthKind(SliceKind):
    """Length: how many words, in four parts; of an image query the mean over its captions."""

    name = "length"
    label = "length"
    about = "has so many words"
    from_text = True

    def columns(self, queries: SlicedQueries) -> dict[str, np.ndarray]:
        """Return four ranges of lengths."""
        lengths = [np.mean([len(caption.words) for caption in own] or [0]) for own in queries.mentions]
        return in_ranges(np.rint(lengths), 4, "word")


@register_slice_kind
class PositivesKind(SliceKind):
    """Positives: how many relevant items a query has, in up to five parts."""

    name = "positives"
    label = "positives"
    about = "has so many relevant items"
    of_words = False

    def columns(self, queries: SlicedQueries) -> dict[str, np.ndarray]:
        """Return ranges of numbers of positives."""
        return in_ranges(queries.positives, 5, "positive")


def content_words(queries: SlicedQueries) -> list[set[str]]:
    """Return the words of each query that carry meaning."""
    return [
        {word for caption in captions for word in caption.words if word not in STOP_WORDS}
        for captions in queries.mentions
    ]


@register_slice_kind
class RarityKind(SliceKind):
    """Rarity: how much the words of a query narrow down, in five parts."""

    name = "rarity"
    label = "rarity"
    about = "uses common or rare words: fifths by the sum of −log(share of queries that have the word)"
    from_text = True

    def columns(self, queries: SlicedQueries) -> dict[str, np.ndarray]:
        """Return fifths of the queries, the commonest words first."""
        content = content_words(queries)
        counts = Counter(word for words in content for word in words)
        size = len(queries)
        sums = np.array([sum(np.log(size / counts[word]) for word in words) for words in content])
        cuts = np.unique(np.quantile(sums, np.arange(1, 5) / 5))
        place = np.searchsorted(cuts, sums)
        names = ("commonest words", "common words", "medium words", "rare words", "rarest words")
        return {names[part]: place == part for part in np.unique(place)}


@register_slice_kind
class RivalsKind(SliceKind):
    """Rivals: how many images probably fit a query, by what all captions mention, in up to 24 parts.

    An image fits if its captions name every thing of the query, or a kind of it. Things that all captions
    of an image overlook count with how often that happens. Where captions state another colour, size or
    number of a thing, the image does not fit. Where they state none, it fits with the share that the colour
    has among all that are stated of this thing, and a plural with its share of all mentions. Most images
    that fit are right answers, whatever the labels say.
    """

    name = "rivals"
    label = "rivals"
    about = "fits about so many images, by what their captions mention"

    def columns(self, queries: SlicedQueries) -> dict[str, np.ndarray]:
        """Return ranges of expected numbers of images; of an image query the mean over its captions."""
        rivals = rivals_of(queries.mentions, queries.image)
        cuts = np.unique(np.quantile(rivals, np.arange(1, 24) / 24))
        place = np.searchsorted(cuts, rivals)
        columns = {}
        for part in np.unique(place):
            inside = place == part
            columns[f"{rivals[inside].min():.1f}–{rivals[inside].max():.1f} images"] = inside
        return columns


@register_slice_kind
class ClusterKind(SliceKind):
    """Clusters of the queries' embeddings (k-means), named by the words that set them apart."""

    name = "clusters"
    label = "cluster"
    about = "lies in a cluster of the run's embeddings (k-means), named by its words"
    of_words = False
    of_run = True

    def columns(self, queries: SlicedQueries) -> dict[str, np.ndarray]:
        """Return clusters, where there are embeddings."""
        if queries.embeddings is None:
            return {}
        from sklearn.cluster import KMeans

        number = int(np.clip(np.sqrt(len(queries) / 20), 2, 50))
        means = KMeans(number, n_init=2, random_state=queries.seed)
        place = means.fit_predict(np.asarray(queries.embeddings, np.float32))
        content = content_words(queries)
        columns: dict[str, np.ndarray] = {}
        for cluster in range(number):
            inside = place == cluster
            words = ", ".join(characteristic_words(content, inside)) or "no words"
            columns[words if words not in columns else f"{words} ({cluster + 1})"] = inside
        return columns


def characteristic_words(content: Sequence[set[str]], inside: np.ndarray, most: int = 3) -> list[str]:
    """Return the words that set some queries apart from the others: by the weight of evidence.

    Words are ordered by n · log(share inside / share in all), the part of the likelihood ratio of the word.

    >>> characteristic_words([{"dog", "a"}, {"dog", "a"}, {"cat", "a"}], np.array([True, True, False]))
    ['dog']
    """
    everywhere = Counter(word for words in content for word in words)
    here = Counter(word for words, own in zip(content, inside.tolist()) if own for word in words)
    size, all_size = max(1, int(inside.sum())), len(content)

    def evidence(word: str) -> float:
        return here[word] * float(np.log(here[word] * all_size / (size * everywhere[word])))

    ranked = sorted(here, key=lambda word: (-evidence(word), word))
    return [word for word in ranked[:most] if evidence(word) > 0]
