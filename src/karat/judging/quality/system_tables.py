"""Answers by system and rank, and kinds of errors by system: tables B.2 and B.3 of ECCV Caption."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import Layout, in_percent, or_none
from karat.forms import NOT_GOLD, AnswerTable, Form, Pool, find, group, key_of
from karat.stats import divide

ALL = "all"
"""The label of the row that sums the others up."""


@dataclass(frozen=True, eq=False)
class Shares:
    """How often each answer was given, by group.

    Parameters
    ----------
    title
        What the table shows.
    heads, labels
        What the groups are labelled by, such as ("system", "rank"), and each group's labels.
    answers
        The answers that are counted: the columns.
    counts
        How often each was given, groups by answers.
    """

    title: str
    heads: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    answers: tuple[str, ...]
    counts: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """Each group's counts as shares; NaN for a group without answers."""
        return divide(self.counts.astype(np.float64), self.counts.sum(axis=1, keepdims=True))

    @property
    def association(self) -> float:
        """Cramér's V: 0 when all groups have the same shares, 1 when the group determines the answer.

        NaN where fewer than two groups or answers can be compared; `association_sentence` says why. An effect
        size, not a test: a pair that several systems suggest counts for each of them, so the
        groups are not independent and χ² does not have its usual distribution.
        """
        table = self._compared()
        if min(table.shape) < 2:
            return float("nan")
        total = table.sum()
        expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / total
        return float(np.sqrt(((table - expected) ** 2 / expected).sum() / total / (min(table.shape) - 1)))

    def _compared(self) -> np.ndarray:
        """Return the counts of the groups and answers that occur, without the row that sums up."""
        single = np.array([label[-1] != ALL for label in self.labels], dtype=bool)
        table = self.counts[single & (self.counts.sum(axis=1) > 0)].astype(np.float64)
        return table[:, table.sum(axis=0) > 0]

    def association_sentence(self) -> str:
        """Return Cramér's V in words, or why there is none.

        >>> counts = np.array([[3, 0], [5, 0], [8, 0]])
        >>> Shares("", ("system",), (("a",), ("b",), ("all",)), ("yes", "no"), counts).association_sentence()
        "no Cramér's V: yes is the only answer that was given"
        """
        groups, answers = self._compared().shape
        if not groups:
            return "no Cramér's V: no answer is about a pair that a system suggests"
        if answers == 1:
            given = self.answers[int(self.counts.sum(axis=0).argmax())]
            return f"no Cramér's V: {given} is the only answer that was given"
        if groups == 1:
            return "no Cramér's V: only one system has answers, and there is nothing to compare it with"
        return f"Cramér's V {self.association:.3f} (0: no difference between systems)"

    def records(self) -> list[dict[str, Any]]:
        """Return a record per group and answer."""
        shares, counts = self.shares.tolist(), self.counts.tolist()
        return [
            {**dict(zip(self.heads, label)), "answer": answer, "count": counts[row][column],
             "share": or_none(shares[row][column])}
            for row, label in enumerate(self.labels)
            for column, answer in enumerate(self.answers)
        ]  # fmt: skip

    def lay_out(self) -> Layout:
        """Return the printed table, in percent; a label is shown once."""
        rows: list[list[str]] = []
        rules: set[int] = set()
        before: tuple[str, ...] = ()
        for label, count, shares in zip(self.labels, self.counts.sum(axis=1), self.shares):
            shown = list(label)
            if len(label) > 1 and before and label[0] != before[0]:
                rules.add(len(rows) - 1)
            if len(label) > 1 and before and label[0] == before[0]:
                shown[0] = ""
            rows.append([*shown, f"{count:,}", *(in_percent(share, 1) for share in shares)])
            before = label
        return Layout([*self.heads, "counted", *self.answers], rows, rules, len(self.heads), set())


def answers_by_rank(answers: AnswerTable, form: Form, pool: Pool) -> Shares:
    """Return how often each answer was given, by the system that suggested the pair and its rank there.

    A pair that several systems rank, or one in both directions, counts for each of these places. Gold
    pairs and pairs that are not in the pool do not count.
    """
    grouped = group(answers.where(answers.gold == NOT_GOLD), form)
    pair = rows_of(pool, grouped.image, grouped.caption)
    per_pair = np.zeros((len(pool), len(grouped.ratings)), np.int64)
    per_pair[pair[pair >= 0]] = grouped.counts[pair >= 0]
    ranks = int(pool.place_rank.max(initial=0))
    place = pool.place_system * ranks + pool.place_rank - 1
    counts = summed(place, per_pair[pool.place_pair], len(pool.systems) * ranks)
    counts = counts.reshape(len(pool.systems), ranks, -1)
    with_all = np.concatenate([counts, counts.sum(axis=1, keepdims=True)], axis=1)
    names = [*(str(rank + 1) for rank in range(ranks)), ALL]
    return Shares(
        "Answers by system and rank",
        ("system", "rank"),
        tuple((system, rank) for system in pool.systems for rank in names),
        tuple(form.code_of(rating) for rating in form.ratings),
        with_all.reshape(-1, with_all.shape[2]),
    )


def details_by_system(answers: AnswerTable, form: Form, pool: Pool | None = None) -> tuple[Shares, ...]:
    """Return how often each choice of a follow-up question was chosen, by the system that suggested the pair.

    One table for each question, in the form's order; the last row counts every answer once. A pair counts
    once for each system that suggests it, at whatever ranks.
    """
    judged = answers.where(answers.gold == NOT_GOLD)
    details = judged.details
    kinds = len(details.names)
    if not kinds:
        return ()
    rows = details.row
    overall = np.bincount(details.choice, minlength=kinds)[None]
    counts, labels = overall, [(ALL,)]
    if pool is not None:
        pair = rows_of(pool, judged.image[rows], judged.caption[rows])
        known = pair >= 0
        per_pair = np.bincount(pair[known] * kinds + details.choice[known], minlength=len(pool) * kinds)
        per_pair = per_pair.reshape(len(pool), kinds)
        by_system = [per_pair[pool.suggested_by(s)].sum(axis=0) for s in range(len(pool.systems))]
        counts = np.concatenate([np.array(by_system).reshape(-1, kinds), overall])
        labels = [*((system,) for system in pool.systems), (ALL,)]
    place = {name: k for k, name in enumerate(details.names)}
    tables = []
    for question in form.follow_ups:
        own = {choice.code: place.get(f"{question.code}.{choice.code}", -1) for choice in question.choices}
        if max(own.values(), default=-1) < 0:
            continue
        chosen = np.stack(
            [counts[:, k] if k >= 0 else np.zeros(len(counts), np.int64) for k in own.values()], 1
        )
        tables.append(Shares(f"{question.code} by system", ("system",), tuple(labels), tuple(own), chosen))
    return tuple(tables)


def rows_of(pool: Pool, image: np.ndarray, caption: np.ndarray) -> np.ndarray:
    """Return the pool's row of each pair, −1 where it has none."""
    return find(key_of(pool.image, pool.caption), key_of(image, caption))


def summed(group_of: np.ndarray, values: np.ndarray, groups: int) -> np.ndarray:
    """Return the sums of the rows of each group, groups by columns."""
    columns = [np.bincount(group_of, column, groups) for column in values.T]
    return np.stack(columns, axis=1).astype(np.int64)
