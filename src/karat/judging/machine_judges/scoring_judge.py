"""Machine judges that score: thresholds turn the scores of a function, or of a run, into answers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.errors import InputError
from karat.forms import Form
from karat.judging.machine_judges.calibration import people_answers
from karat.judging.machine_judges.judge import Question, Reply
from karat.runs import Run
from karat.scores import run_scores

if TYPE_CHECKING:
    from karat.store import Project

BLOCK = 4096
"""How many pairs are scored at a time."""
SETTING = "thresholds"
"""Where a project keeps the thresholds of runs."""


@dataclass(frozen=True, eq=False)
class ScoringJudge:
    """A machine judge whose answer is the one that the score of a pair reaches.

    Parameters
    ----------
    name
        As tables show it.
    score
        From questions to one finite number each: higher fits better.
    thresholds
        One fewer than the form has answers, rising: below the first the lowest answer, and so on.
    form
        The form to answer.
    model
        The model that computes the scores; by default the name.
    needs_images
        Whether the function reads the image files.

    Examples
    --------
    >>> from karat.forms import load_form
    >>> judge = ScoringJudge("length", lambda questions: np.array([len(q.text) for q in questions]),
    ...                      (5, 10, 20), load_form("pair"))
    >>> [reply.code for reply in judge.judge([Question(0, 0, "a dog"), Question(0, 1, "a")])]
    ['mostly_no', 'no']
    """

    name: str
    score: Callable[[Sequence[Question]], np.ndarray]
    thresholds: Sequence[float]
    form: Form
    model: str = ""
    needs_images: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", check_thresholds(self.thresholds, self.form, self.name))
        object.__setattr__(self, "model", self.model or self.name)

    @property
    def version(self) -> str:
        """A hash of what decides the answers."""
        text = "\n".join((self.name, self.model, self.form.name, repr(self.thresholds)))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def judge(self, questions: Sequence[Question]) -> Iterator[Reply]:
        """Score questions in blocks."""
        codes = [self.form.code_of(rating) for rating in self.form.ratings.tolist()]
        for start in range(0, len(questions), BLOCK):
            block = questions[start : start + BLOCK]
            scores = np.asarray(self.score(block), dtype=np.float64)
            if scores.shape != (len(block),) or not np.isfinite(scores).all():
                raise InputError(
                    f"the machine judge {self.name!r} returned scores of shape {scores.shape} or scores that "
                    "are not finite",
                    fix=f"it must return a finite number for each of {len(block)} pairs",
                )
            place = np.searchsorted(np.asarray(self.thresholds), scores, side="right")
            for question, at, score in zip(block, place.tolist(), scores.tolist()):
                yield Reply(question.image, question.caption, codes[at], raw=repr(score))


def check_thresholds(thresholds: Sequence[float], form: Form, name: str) -> tuple[float, ...]:
    """Return the thresholds of a machine judge of this name, or raise where the form needs others."""
    edges = np.asarray(thresholds, dtype=np.float64)
    wanted = len(form.answers) - 1
    if len(edges) != wanted or not np.isfinite(edges).all() or (np.diff(edges) < 0).any():
        given = ", ".join(f"{edge:g}" for edge in edges)
        raise InputError(
            f"the machine judge {name!r} has the thresholds {given}",
            fix=f"the form {form.name!r} needs {wanted} that rise",
        )
    return tuple(edges.tolist())


def fit_thresholds(scores: np.ndarray, ratings: np.ndarray, form: Form) -> tuple[float, ...]:
    """Return the thresholds under which each answer is given as often as by people.

    The share of pairs at or above each threshold equals the share of people's answers at or above the rating
    that it opens. Nothing is searched for: the answers agree with people's as far as the scores order pairs
    as people do.

    Parameters
    ----------
    scores, ratings
        Of the same pairs; the ratings on the form's scale.
    form
        The form of the ratings.

    Examples
    --------
    >>> from karat.forms import load_form
    >>> fit_thresholds(np.array([0.1, 0.2, 0.6, 0.9]), np.array([1, 1, 3, 4]), load_form("pair"))
    (0.4, 0.4, 0.75)
    """
    if not len(scores):
        raise InputError("there are no answers to fit thresholds to", fix="let people judge some pairs first")
    order = np.sort(np.asarray(scores, dtype=np.float64))
    thresholds = []
    for rating in form.ratings[1:].tolist():
        below = int((np.asarray(ratings) < rating).sum())
        if below == 0:
            thresholds.append(float(order[0]))
        elif below == len(order):
            thresholds.append(float(np.nextafter(order[-1], np.inf)))
        else:
            # Half-way between two scores, so that a new score near one of them gets its answer.
            thresholds.append(float((order[below - 1] + order[below]) / 2))
    return tuple(thresholds)


def judge_of_run(run: Run, form: Form, thresholds: Sequence[float]) -> ScoringJudge:
    """Return the machine judge of a run, which must be aligned to the project's benchmark."""

    def score(questions: Sequence[Question]) -> np.ndarray:
        image, caption = (np.array([getattr(q, side) for q in questions]) for side in ("image", "caption"))
        return run_scores(run, image, caption)

    return ScoringJudge(run.name, score, thresholds, form)


def learn_judge(project: Project, run: Run, seed: int = 0) -> tuple[ScoringJudge, np.ndarray]:
    """Fit a run's thresholds to people's answers about half of the judged images, and store them.

    Returns
    -------
    The machine judge, and the other half of the images: only those may be used to test it.
    """
    table = people_answers(project)
    images = np.unique(table.image)
    if len(images) < 2:
        many = project.benchmark().sides[0].many
        raise InputError(
            f"people have judged pairs of fewer than two {many}", fix="let people judge some pairs first"
        )
    half = np.random.default_rng(seed).permutation(images)[: len(images) // 2]
    learned = np.isin(table.image, half)
    scores = run_scores(run, table.image[learned], table.caption[learned])
    thresholds = fit_thresholds(scores, table.rating[learned], project.form)
    stored = project.journal.get(SETTING) or {}
    project.journal.set(SETTING, {**stored, run.name: list(thresholds)})
    return judge_of_run(run, project.form, thresholds), np.setdiff1d(images, half)


def kept_judge(project: Project, run: Run) -> ScoringJudge:
    """Return the machine judge whose thresholds were learned before."""
    thresholds = (project.journal.get(SETTING) or {}).get(run.name)
    if thresholds is None:
        raise InputError(
            f"the run {run.name!r} was never compared with people", fix="run karat project calibrate first"
        )
    return judge_of_run(run, project.form, thresholds)
