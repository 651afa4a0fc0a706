"""Whose fault a failure is: the model's, or that of labels and captions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from karat._util import check_choice
from karat.benchmarks import Benchmark, Direction, Truth, in_order
from karat.errors import InputError
from karat.explanations.failures import RunFailures
from karat.explanations.noun_senses import NounSenses, names_in

FAULTS = {
    "alternative": "successful alternative: a better truth calls the retrieved item relevant",
    "keywords": "few keywords: other captions of the image hardly name what the caption names",
}
"""The marks of a failure that is not the model's fault, in words."""
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Faults:
    """The marks of failures; `find_faults` makes them.

    Parameters
    ----------
    better
        The better truth, by name; None where none was asked for.
    keywords
        The fewest keywords; None where they were not counted.
    alternative
        Per failure, whether the better truth calls the retrieved item relevant.
    covered
        Per failure, whether the better truth covers its query.
    shared
        Per failure, how many concepts of its caption are also named by other captions of the image; −1 where
        it is unknown.
    """

    better: str | None
    keywords: int | None
    alternative: np.ndarray
    covered: np.ndarray
    shared: np.ndarray

    @property
    def few_keywords(self) -> np.ndarray:
        """Per failure, whether its caption shares too few concepts with the other captions of the image."""
        return (self.shared != UNKNOWN) & (self.shared < (self.keywords or 0))

    def marks(self) -> dict[str, np.ndarray]:
        """Return, by name, the marks that were asked for."""
        known = {"alternative": self.better, "keywords": self.keywords}
        columns = {"alternative": self.alternative, "keywords": self.few_keywords}
        return {name: columns[name] for name in FAULTS if known[name] is not None}

    def any_of(self, names: Iterable[str]) -> np.ndarray:
        """Return which failures have one of these marks."""
        marks = self.marks()
        found = np.zeros(len(self.alternative), bool)
        for name in names:
            found |= marks[name]
        return found


@dataclass(frozen=True, eq=False)
class FaultChoices:
    """Which failures are marked as the fault of labels or captions, and which of them do not count.

    Parameters
    ----------
    better
        Another truth of the benchmark, taken to be better than the one failures come from: failures whose
        retrieved item it calls relevant are marked as successful alternatives.
    keywords
        Marks failures whose caption shares fewer concepts than this with the other captions of its image
        (§4.2; the paper's is 2). By default nothing is counted, since all captions must be parsed.
    without
        Failures with these marks do not count in summaries: "alternative", "keywords".

    Examples
    --------
    >>> FaultChoices(better="eccv", without="alternative").left_out
    ('alternative',)
    """

    better: str | None = None
    keywords: int | None = None
    without: Iterable[str] | str = ()

    def __post_init__(self) -> None:
        if self.keywords is not None and (isinstance(self.keywords, bool) or self.keywords < 1):
            raise InputError(
                f"keywords is {self.keywords!r}", fix="give a whole number from 1; 2 is the paper's"
            )
        chosen = tuple(dict.fromkeys([self.without] if isinstance(self.without, str) else self.without))
        for name in chosen:
            check_choice(name, tuple(FAULTS), "without")
        if "alternative" in chosen and self.better is None:
            raise InputError(
                "alternatives cannot be left out without a better truth",
                fix="name one, such as better='eccv'",
            )
        if "keywords" in chosen and self.keywords is None:
            raise InputError(
                "keywords were not counted", fix="give how many there must be, such as keywords=2"
            )
        object.__setattr__(self, "without", chosen)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The marks of failures that do not count."""
        return tuple(self.without)


class FaultFinder:
    """Finds the marks of failures on one benchmark; captions are parsed once for all runs.

    Parameters
    ----------
    benchmark
        With the truths, and for keywords with captions.
    choices
        Which marks are looked for.

    Examples
    --------
    >>> import karat
    >>> from karat.explanations import find_failures
    >>> from karat.world import make_world, simulate
    >>> world = make_world(60, seed=5)
    >>> bench = world.benchmark()
    >>> failures = find_failures(karat.load_run(simulate(world).scores, bench), bench, "original", "t2i")
    >>> faults = FaultFinder(bench, FaultChoices(better="complete", keywords=2)).of(failures)
    >>> len(failures), int(faults.alternative.sum()), int(faults.few_keywords.sum())
    (99, 56, 67)
    """

    def __init__(self, benchmark: Benchmark, choices: FaultChoices) -> None:
        self.benchmark = benchmark
        self.better = None if choices.better is None else benchmark.truth(choices.better)
        self.keywords = choices.keywords
        self._shared = None if choices.keywords is None else SharedKeywords(benchmark)

    @property
    def looks(self) -> bool:
        """Whether any mark was asked for."""
        return self.better is not None or self.keywords is not None

    def of(self, failures: RunFailures) -> Faults:
        """Return the marks of failures on this benchmark."""
        alternative = covered = np.zeros(len(failures), bool)
        if self.better is not None:
            covered = np.isin(failures.query, self.better.queries.get(failures.direction, np.zeros(0, int)))
            alternative = called_relevant(
                self.better, failures.direction, failures.query, failures.retrieved, covered
            )
        shared = np.full(len(failures), UNKNOWN)
        if self._shared is not None:
            _, caption = in_order(failures.direction, failures.query, failures.ground)
            shared = self._shared.of(caption)
        name = None if self.better is None else self.better.name
        return Faults(name, self.keywords, alternative, covered, shared)


def called_relevant(
    truth: Truth, direction: Direction, query: np.ndarray, item: np.ndarray, covered: np.ndarray
) -> np.ndarray:
    """Return whether a truth calls each item relevant to its query; not where it does not cover the query."""
    out = np.zeros(len(query), bool)
    if truth.rule is not None:
        out[covered] = truth.rule.relevant(direction, query[covered], item[covered])
        return out
    rows = truth.judged(direction)
    positive = rows.grade > 0
    width = 1 + max(int(rows.item.max(initial=0)), int(item.max(initial=0)))
    known = rows.query_of_row[positive] * width + rows.item[positive]
    out[covered] = np.isin(query[covered] * width + item[covered], known)
    return out


class SharedKeywords:
    """Counts the concepts that a caption shares with the other captions of its image.

    A concept is the most frequent sense of a noun. A caption whose image is unknown, or has no other caption,
    has no count.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        if benchmark.caption_image is None:
            raise InputError(
                f"{benchmark.name} does not say which images its captions belong to",
                fix="leave out keywords",
            )
        self.texts = benchmark.needed_texts
        self.owner = np.asarray(benchmark.caption_image)
        self.others = benchmark.other_texts or ()
        self._senses = NounSenses()
        self._concepts: dict[str, frozenset[str]] = {}

    def of(self, caption: np.ndarray) -> np.ndarray:
        """Return the count of each caption, −1 where there is none."""
        wanted = np.unique(caption[caption < len(self.owner)])
        own = np.flatnonzero(np.isin(self.owner, self.owner[wanted]) & (self.owner >= 0))
        by_image: dict[int, list[int]] = {}
        for number in own.tolist():
            by_image.setdefault(int(self.owner[number]), []).append(number)
        further = {image: list(self.others[image]) if self.others else [] for image in by_image}
        self._parse([self.texts[k] for k in own.tolist()] + [t for texts in further.values() for t in texts])
        counts = np.full(int(caption.max(initial=-1)) + 1, UNKNOWN)
        for number in wanted.tolist():
            image = int(self.owner[number])
            siblings = [self.texts[k] for k in by_image.get(image, ()) if k != number]
            siblings += further.get(image, [])
            if siblings:
                named = frozenset().union(*(self._concepts[text] for text in siblings))
                counts[number] = len(self._concepts[self.texts[number]] & named)
        return counts[caption]

    def _parse(self, texts: Sequence[str]) -> None:
        from karat.captions import scene_graphs

        new = [text for text in dict.fromkeys(texts) if text not in self._concepts]
        for text, graph in zip(new, scene_graphs(new)):
            synsets = (self._senses.synset(full) for _, full in names_in(graph))
            self._concepts[text] = frozenset(synset for synset in synsets if synset is not None)
