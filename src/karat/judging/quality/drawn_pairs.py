"""Drawn pairs: the tasks that ask about the pairs of a sampling design, and the labels that answers give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from karat._util import plural
from karat.forms import GOLD_YES, MACHINE, NOT_GOLD, AnswerTable, DrawBatch, TaskPlan, find, key_of
from karat.judging.quality.acceptance import AcceptanceRule, accepted_in
from karat.judging.quality.verdicts import AGGREGATIONS
from karat.judging.tasks import make_tasks, to_ask

if TYPE_CHECKING:
    from karat.store import Project


def plan_draws(
    project: Project,
    batch: DrawBatch,
    *,
    task_size: int | None = None,
    gold: int | None = None,
    overlap: int = 3,
    seed: int = 0,
) -> TaskPlan | None:
    """Return tasks that ask about the pairs of a batch, in their order; None where no pair needs a question.

    A pair needs no question if it is gold (its answer is known), if a task asks about it already, or if a
    person or a judged data set answered it without a task: that costs nothing, and `drawn_labels` uses the
    answer. `project.draws.add(batch, plan)` stores the batch and the tasks together.

    Parameters
    ----------
    project
        As `karat.store.open_project` returns it.
    batch
        What was drawn.
    task_size, gold, overlap, seed
        As for `karat.judging.make_tasks`.
    """
    pool = project.pools.read(places=False) if project.pools.exists() else batch.pool()
    planned, answers = project.pools.plan(), project.answers.read()
    answered = np.isin(batch.keys, vetted_keys(answers.where(answers.assignment < 0)))
    if not len(to_ask(pool, planned, batch.keys[~answered])):
        return None
    plan = make_tasks(
        pool,
        project.form,
        task_size=task_size,
        gold=gold,
        overlap=overlap,
        planned=planned,
        chosen=(batch.image[~answered], batch.caption[~answered]),
        benchmark=project.benchmark,
        seed=seed,
    )
    if not answered.any():
        return plan
    pairs = plural(int(answered.sum()), "drawn pair")
    return replace(plan, notes=(f"{pairs} had been answered before", *plan.notes))


@dataclass(frozen=True, eq=False)
class DrawnLabels:
    """The label of each drawn pair, in the order of the batches and of the pairs in them.

    Parameters
    ----------
    relevant
        1 for relevant, 0 for not relevant, NaN for a pair without a label so far.
    probability
        The probability that the pair is relevant, where the aggregation estimates it (Dawid–Skene); NaN
        elsewhere.
    answers
        How many answers of people and judged data sets each label rests on; 0 for gold, whose label is known.
    notes
        Which answers do not count, and why.
    """

    relevant: np.ndarray
    probability: np.ndarray
    answers: np.ndarray
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.relevant)

    def __repr__(self) -> str:
        labelled = int((~np.isnan(self.relevant)).sum())
        return f"DrawnLabels({labelled:,} of {plural(len(self), 'drawn pair')} labelled)"


def drawn_labels(
    project: Project,
    batches: Sequence[DrawBatch] | None = None,
    acceptance: AcceptanceRule | None = None,
) -> DrawnLabels:
    """Return the labels of drawn pairs: the verdicts of `karat project publish`, by the same rule.

    A verdict counts from the first answer on that a person or a judged data set gave about the pair, in
    whichever task or import, also before the pair was drawn. A pair that only machine judges have answered
    has no label: their answers are guesses about what people would say. A gold pair has its known answer as
    label, until there is a verdict on it: where a pair is hidden as gold in one task and asked about in
    another, the answers of the other decide, as everywhere.

    Parameters
    ----------
    project
        As `karat.store.open_project` returns it.
    batches
        As `project.draws.read()` returns them, which is the default.
    acceptance
        Which answers count, and how they become verdicts; by default as in `karat.judging.publish`.
    """
    batches = project.draws.read() if batches is None else batches
    rule = acceptance or AcceptanceRule()
    none = np.zeros(0, np.int64)
    keys = np.concatenate([none, *(batch.keys for batch in batches)])
    gold = np.concatenate([none, *(batch.gold for batch in batches)])
    relevant = np.where(gold == NOT_GOLD, np.nan, gold == GOLD_YES)
    probability, count = relevant.copy(), np.zeros(len(keys), np.int64)
    answers, notes = accepted_answers_of(project, rule)
    vetted, times = np.unique(vetted_keys(answers), return_counts=True)
    if len(vetted):
        verdicts = rule.verdicts(answers, project.form)
        at, own = find(key_of(verdicts.image, verdicts.caption), keys), find(vetted, keys)
        rows = (at >= 0) & (own >= 0)
        relevant[rows] = verdicts.relevant[at[rows]]
        probability[rows] = verdicts.relevance[at[rows]]
        count[rows] = times[own[rows]]
    if not AGGREGATIONS[rule.aggregate].probabilistic:
        probability[:] = np.nan
    return DrawnLabels(relevant, probability, count, notes)


@dataclass(frozen=True, eq=False)
class AnswerCounts:
    """How many answers call pairs relevant, and how often answers about gold pairs are right.

    Parameters
    ----------
    yes, answers
        Per pair, how many of how many answers of people and judged data sets call it relevant.
    gold_yes, gold_no
        Of answers about hidden gold pairs that are relevant, and that are not: how many are right, and how
        many there are.
    """

    yes: np.ndarray
    answers: np.ndarray
    gold_yes: tuple[int, int]
    gold_no: tuple[int, int]


def count_answers(
    project: Project, batches: Sequence[DrawBatch], acceptance: AcceptanceRule | None = None
) -> AnswerCounts:
    """Count the answers that count about drawn pairs, in the order of the batches and of the pairs in them.

    Parameters
    ----------
    project, batches, acceptance
        As for `drawn_labels`.
    """
    answers, _ = accepted_answers_of(project, acceptance or AcceptanceRule())
    machine = np.array([kind == MACHINE for kind in answers.kinds], bool)
    answers = answers.where(~machine[answers.annotator])
    fits = [float(answer.rating) for answer in project.form.answers if answer.grade and answer.rating]
    yes = np.isin(answers.rating, fits)
    keys = np.concatenate([np.zeros(0, np.int64), *(batch.keys for batch in batches)])
    asked = answers.gold == NOT_GOLD
    given, place = np.unique(key_of(answers.image[asked], answers.caption[asked]), return_inverse=True)
    at = find(given, keys)
    said, total = np.bincount(place, yes[asked], len(given)), np.bincount(place, minlength=len(given))

    def of_pairs(column: np.ndarray) -> np.ndarray:
        return np.where(at >= 0, np.r_[column, 0][at], 0).astype(np.int64)

    known, known_not = answers.gold == GOLD_YES, ~asked & (answers.gold != GOLD_YES)
    return AnswerCounts(
        of_pairs(said),
        of_pairs(total),
        (int((yes & known).sum()), int(known.sum())),
        (int((~yes & known_not).sum()), int(known_not.sum())),
    )


def accepted_answers_of(project: Project, rule: AcceptanceRule) -> tuple[AnswerTable, tuple[str, ...]]:
    """Return the answers of a project that count by a rule, and why others do not."""
    answers = project.answers.read()
    if not len(answers):
        return answers, ()
    accepted = accepted_in(project, rule)
    return accepted.answers, accepted.notes


def vetted_keys(answers: AnswerTable) -> np.ndarray:
    """Return the key of each answer about a pair to judge that no machine judge gave."""
    machine = np.array([kind == MACHINE for kind in answers.kinds], bool)[answers.annotator]
    rows = ~machine & (answers.gold == NOT_GOLD)
    return key_of(answers.image[rows], answers.caption[rows])
