"""Simulated annotators: graded answers with known mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat._util import check_choice
from karat.benchmarks import Judgments, Mapping, Provenance, Steps
from karat.errors import InputError
from karat.world.draws import Draws
from karat.world.world import Numbers, World, check_pairs

ANSWERS = ("no", "mostly no", "partially yes", "yes")
"""ECCV Caption's four answers (section 3.3), with the ratings 1 to 4."""
ECCV = Steps([(3, 0.5), (4, 1.0)])
"""From rating to grade as in its equation E.4."""


@dataclass(frozen=True, eq=False)
class Annotator:
    """An annotator who answers whether a caption fits an image.

    Parameters
    ----------
    name
        As tables show it.
    confusion
        Four rows, one for each right answer from "no" to "yes": how often each answer is given instead.

    Examples
    --------
    >>> lazy("w3", looks=0.5, habit="yes").confusion.round(2).tolist()
    [[0.42, 0.05, 0.01, 0.51], [0.06, 0.38, 0.06, 0.51], [0.01, 0.06, 0.38, 0.56], [0.02, 0.02, 0.06, 0.91]]
    """

    name: str
    confusion: np.ndarray

    def __post_init__(self) -> None:
        table = np.array(self.confusion, dtype=np.float64)
        good = table.shape == (4, 4) and (table >= 0).all() and np.allclose(table.sum(axis=1), 1)
        if not good:
            raise InputError(
                f"the confusion matrix of {self.name!r} is not four rows of shares", fix="each row sums to 1"
            )
        table.setflags(write=False)
        object.__setattr__(self, "confusion", table)


def careful(name: str = "careful") -> Annotator:
    """Return an annotator who is nearly always right."""
    return Annotator(name, mostly_right([0.97, 0.93, 0.93, 0.97]))


def average(name: str = "average") -> Annotator:
    """Return an annotator who takes near misses for something else now and then."""
    return Annotator(name, mostly_right([0.85, 0.75, 0.75, 0.82]))


def lazy(name: str = "lazy", looks: float = 0.5, habit: str | None = None) -> Annotator:
    """Return an annotator who often answers without looking.

    Parameters
    ----------
    name
        As tables show it.
    looks
        How often they look, and then answer like an average annotator.
    habit
        What they answer otherwise; any answer, at random, when None.
    """
    if not 0 <= looks <= 1:
        raise InputError(f"looks is {looks}", fix="give a share from 0 to 1")
    blindly = np.full(4, 0.25)
    if habit is not None:
        # The answers are written with blanks, where choices elsewhere have "_" and accept "-".
        chosen = check_choice(habit.replace("_", " ").replace("-", " "), ANSWERS, "habit")
        blindly = (np.array(ANSWERS) == chosen).astype(np.float64)
    return Annotator(name, looks * average().confusion + (1 - looks) * blindly)


def adversarial(name: str = "adversarial") -> Annotator:
    """Return an annotator who says the opposite of what a careful one would."""
    return Annotator(name, careful().confusion[:, ::-1])


def mostly_right(right: Sequence[float]) -> np.ndarray:
    """Return a confusion matrix in which mistakes are mostly near: a neighbouring answer."""
    table = np.zeros((4, 4))
    for row in range(4):
        near = np.array([(0, 4, 1, 1)[abs(row - column)] for column in range(4)])
        table[row] = (1 - right[row]) * near / near.sum()
        table[row, row] = right[row]
    return table


@dataclass(frozen=True, eq=False)
class Answers:
    """What annotators answered, a row for each answer.

    Parameters
    ----------
    image, caption
        The pair asked about.
    annotator
        Who answered, as an index into `annotators`.
    rating
        1 for "no" to 4 for "yes".
    annotators
        Their names.
    """

    image: np.ndarray
    caption: np.ndarray
    annotator: np.ndarray
    rating: np.ndarray
    annotators: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rating)

    def judgments(self, mapping: Mapping = ECCV) -> Judgments:
        """Return the answers as judgments, each annotator as a separate source."""
        scale = ", ".join(f"{rating} {answer}" for rating, answer in enumerate(ANSWERS, 1))
        sources = [Provenance(name, scale, mapping) for name in self.annotators]
        return Judgments(self.image, self.caption, rating=self.rating, source=self.annotator, sources=sources)


def right_answers(share: np.ndarray) -> np.ndarray:
    """Return the right ratings for shares of statements that hold.

    All hold: yes (4). At least half: partially yes (3). Some: mostly no (2). None: no (1).

    >>> right_answers(np.array([1, 0.75, 0.5, 0.25, 0])).tolist()
    [4, 3, 3, 2, 1]
    """
    return 1 + (share > 0) + (share >= 0.5).astype(np.int64) + (share >= 1)


def ask(
    world: World,
    image: Numbers,
    caption: Numbers,
    annotators: Sequence[Annotator],
    seed: int = 0,
) -> Answers:
    """Ask every annotator about every pair.

    Parameters
    ----------
    world
        What `make_world` returned.
    image, caption
        The pairs, as indices; each once.
    annotators
        The annotators; their names must differ. What one answers does not depend on
        those after them.
    seed
        The same seed gives the same answers.

    Examples
    --------
    >>> from karat.world import make_world
    >>> world = make_world(images=30, captions=1, seed=3)
    >>> answers = ask(world, range(30), range(30), [careful("ann"), adversarial("eve")])
    >>> answers.rating[:30].mean() > 3.5, answers.rating[30:].mean() < 1.5
    (np.True_, np.True_)
    """
    names = [annotator.name for annotator in annotators]
    if len(set(names)) < len(names):
        raise InputError("two annotators have the same name", fix="give each its own name")
    image, caption = check_pairs(image, caption, len(world.scenes), len(world.texts))
    right = right_answers(world.pair_shares(image, caption))
    ratings = []
    for number, annotator in enumerate(annotators):
        edges = np.cumsum(annotator.confusion, axis=1)[:, :3]
        luck = Draws(seed, 5, number).uniforms(len(right))
        ratings.append(1 + (luck[:, None] >= edges[right - 1]).sum(axis=1))
    n = len(annotators)
    return Answers(
        np.tile(image, n),
        np.tile(caption, n),
        np.repeat(np.arange(n), len(right)),
        np.concatenate(ratings) if ratings else np.zeros(0, np.int64),
        tuple(names),
    )
