"""One row for each annotator: how much they answered, how well, how fast, and reasons to review them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import MISSING, Layout, in_percent, or_none
from karat.forms import NOT_GOLD, AnswerTable, Form, group
from karat.judging.quality.gold import GoldCheck, check_gold
from karat.stats import divide

MAX_SHOWN = 20
"""Rows of the printed table; of more annotators, those with a flag and those with most answers are shown."""
FLAGS = ("fast", "same answer", "below chance", "gold")
"""Much faster than others; always the same answer; disagrees with others; fails the gold check."""
FAST = 1 / 3
"""A median time below this part of the median annotator's is flagged."""
MIN_TIMED = 5
"""Timed answers that an annotator needs for the flag "fast"."""
BY_ACCIDENT = 0.001
"""Always the same answer is flagged when others' frequencies give it with less than this probability."""
MIN_SHARED = 10
"""Answers to pairs that others answered, too, which an annotator needs for the flag "below chance"."""
SURE = 2.5758
"""Standard errors that agreement must lie below chance: 99%, two-sided."""


@dataclass(frozen=True, eq=False)
class AnnotatorTable:
    """A row for each annotator who answered, columns as arrays.

    Parameters
    ----------
    name, kind
        The annotator's name and kind.
    answers, assignments
        How many answers they gave, and how many assignments they submitted.
    gold_items, gold_right, gold_low, gold_high
        Gold items, how many were right, and the 95% Wilson interval of the share.
    agreement, agreement_chance, agreement_answers
        How often another annotator's answer about the same pair is the same, how often it would be by
        chance, and how many answers these shares are computed from.
    seconds
        The median per answer; NaN where unknown.
    shares
        The share of each of the form's ratings, annotators by ratings.
    codes
        The form's answers in the order of `shares`.
    flags
        Annotators by `FLAGS`: reasons to review their answers.
    number
        The index of each annotator in the table of answers.
    expected
        How often each annotator is expected to answer with the right rating, where the aggregation estimates
        it (Dawid–Skene does); NaN for those whose answers do not count.
    """

    name: np.ndarray
    kind: np.ndarray
    answers: np.ndarray
    assignments: np.ndarray
    gold_items: np.ndarray
    gold_right: np.ndarray
    gold_low: np.ndarray
    gold_high: np.ndarray
    agreement: np.ndarray
    agreement_chance: np.ndarray
    agreement_answers: np.ndarray
    seconds: np.ndarray
    shares: np.ndarray
    codes: tuple[str, ...]
    flags: np.ndarray
    number: np.ndarray
    expected: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.name)

    def flags_of(self, row: int) -> list[str]:
        """Return the flags of one annotator."""
        return [flag for flag, raised in zip(FLAGS, self.flags[row]) if raised]

    def records(self) -> list[dict[str, Any]]:
        """Return a record per annotator."""
        single = {
            "worker": self.name, "kind": self.kind, "answers": self.answers, "hand_ins": self.assignments,
            "gold_items": self.gold_items, "gold_right": self.gold_right, "gold_low": self.gold_low,
            "gold_high": self.gold_high, "agreement": self.agreement,
            "agreement_chance": self.agreement_chance, "agreement_answers": self.agreement_answers,
            "seconds": self.seconds,
            **({} if self.expected is None else {"expected": self.expected}),
        }  # fmt: skip
        columns = [column.tolist() for column in single.values()]
        shares = self.shares.tolist()
        return [
            {**{key: or_none(value) for key, value in zip(single, row)},
             "shares": dict(zip(self.codes, shares[number])), "flags": self.flags_of(number)}
            for number, row in enumerate(zip(*columns))
        ]  # fmt: skip

    def lay_out(self, most: int = MAX_SHOWN) -> Layout:
        """Return the printed table: annotators with flags first, then those with most answers."""
        order = np.lexsort((np.arange(len(self)), -self.answers, -self.flags.sum(axis=1)))[:most]
        head = ["annotator", "flags", "answers", "gold right", "agree", "by chance", "seconds", *self.codes]
        if self.expected is not None:
            head.insert(4, "expected")
        rows = []
        for k in order.tolist():
            gold = MISSING
            if self.gold_items[k]:
                ends = f"{100 * self.gold_low[k]:.0f}–{100 * self.gold_high[k]:.0f}"
                gold = f"{self.gold_right[k]} of {self.gold_items[k]} ({ends}%)"
            rows.append(
                [str(self.name[k]), ", ".join(self.flags_of(k)), f"{self.answers[k]:,}", gold,
                 *([] if self.expected is None else [in_percent(self.expected[k])]),
                 in_percent(self.agreement[k]), in_percent(self.agreement_chance[k]),
                 MISSING if np.isnan(self.seconds[k]) else f"{self.seconds[k]:.1f}",
                 *(in_percent(share) for share in self.shares[k])]
            )  # fmt: skip
        return Layout(head, rows, set(), 2, set())


def annotator_table(answers: AnswerTable, form: Form, gold: GoldCheck | None = None) -> AnnotatorTable:
    """Return a row for each annotator who answered.

    Agreement is computed from pairs that are not gold: the share of others' answers about the same pair that
    are the same, averaged over an annotator's answers. By chance is the share of the same answer among all
    answers of others, so that it takes an annotator's own frequencies into account.

    Flags are reasons to review, not to reject. *fast*: the median time is below a third of the median
    annotator's. *same answer*: every answer is the same, and chance would give that once in 1,000 times.
    *below chance*: agreement lies below chance by 2.58 standard errors (answers taken as independent).
    *gold*: the annotator fails the gold check.

    Parameters
    ----------
    answers
        What was answered.
    form
        What was asked.
    gold
        What `check_gold` returns; computed with its defaults when None.

    Examples
    --------
    >>> from karat.forms import load_form, make_answers
    >>> annotator = np.repeat([0, 1, 2], 20)
    >>> right = np.tile([1, 4], 10)
    >>> answers = make_answers(np.tile(np.arange(20), 3), np.zeros(60), annotator,
    ...                        np.concatenate([right, right, 5 - right]), ("ann", "bob", "eve"))
    >>> table = annotator_table(answers, load_form("pair"))
    >>> table.agreement.tolist(), [table.flags_of(k) for k in range(3)]
    ([0.5, 0.5, 0.0], [[], [], ['below chance']])
    """
    gold = check_gold(answers, form) if gold is None else gold
    annotators, scale = len(answers.annotators), len(form.ratings)
    grouped = group(answers, form)
    totals = np.bincount(grouped.annotator * scale + grouped.code, minlength=annotators * scale)
    totals = totals.reshape(annotators, scale)
    count = totals.sum(axis=1)
    agreement, chance, compared, below = agreement_with_others(answers, form)
    seconds, timed = median_seconds(answers)
    typical = np.median(seconds[timed >= MIN_TIMED]) if (timed >= MIN_TIMED).any() else np.nan
    others = (totals.sum(axis=0) - totals + 1) / (count.sum() - count + scale)[:, None]
    top = totals.argmax(axis=1)
    # In logs: the probability of a thousand equal answers underflows.
    accident = count * np.log(others[np.arange(annotators), top]) < np.log(BY_ACCIDENT)
    raised = {
        "fast": (seconds < FAST * typical) & (timed >= MIN_TIMED),
        "same answer": (totals.max(axis=1) == count) & accident,
        "below chance": below & (compared >= MIN_SHARED),
        "gold": gold.excluded,
    }
    assignments = np.bincount(gold.assignment_annotator, minlength=annotators)
    columns = {
        "name": np.array(answers.annotators, dtype=object), "kind": np.array(answers.kinds, dtype=object),
        "answers": count, "assignments": assignments, "gold_items": gold.items, "gold_right": gold.right,
        "gold_low": gold.low, "gold_high": gold.high, "agreement": agreement, "agreement_chance": chance,
        "agreement_answers": compared, "seconds": seconds, "shares": divide(totals, count[:, None]),
        "flags": np.stack([raised[flag] for flag in FLAGS], axis=1), "number": np.arange(annotators),
    }  # fmt: skip
    codes = tuple(form.code_of(rating) for rating in form.ratings)
    return AnnotatorTable(codes=codes, **{name: column[count > 0] for name, column in columns.items()})


def agreement_with_others(
    answers: AnswerTable, form: Form
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return per annotator the agreement, what chance gives, on how many answers, and whether it is below."""
    annotators, scale = len(answers.annotators), len(form.ratings)
    grouped = group(answers.where(answers.gold == NOT_GOLD), form)
    shared = grouped.answers[grouped.pair] > 1
    pair, code, annotator = (column[shared] for column in (grouped.pair, grouped.code, grouped.annotator))
    totals = np.bincount(annotator * scale + code, minlength=annotators * scale).reshape(annotators, scale)
    others = totals.sum(axis=0) - totals
    frequency = divide(others.astype(np.float64), others.sum(axis=1, keepdims=True))
    same = (grouped.counts[pair, code] - 1) / (grouped.answers[pair] - 1)
    expected = frequency[annotator, code]
    compared = np.bincount(annotator, minlength=annotators)
    total = compared.astype(np.float64)
    agreement, chance, beyond, square = (
        divide(np.bincount(annotator, values, annotators), total)
        for values in (same, expected, same - expected, (same - expected) ** 2)
    )
    error = np.sqrt(np.maximum(square - beyond**2, 0) / np.maximum(total, 1))
    with np.errstate(invalid="ignore"):
        return agreement, chance, compared, beyond + SURE * error < 0


def median_seconds(answers: AnswerTable) -> tuple[np.ndarray, np.ndarray]:
    """Return each annotator's median time per answer, NaN without any, and how many times are known.

    >>> from karat.forms import make_answers
    >>> answers = make_answers(
    ...     [0] * 4, range(4), [0, 0, 0, 1], [1] * 4, ("a", "b"), seconds=[9, 1, np.nan, 5])
    >>> [column.tolist() for column in median_seconds(answers)]
    [[5.0, 5.0], [2, 1]]
    """
    known = ~np.isnan(answers.seconds)
    annotator, seconds = answers.annotator[known], answers.seconds[known]
    order = np.lexsort((seconds, annotator))
    sorted_seconds = np.append(seconds[order], np.nan)
    count = np.bincount(annotator, minlength=len(answers.annotators))
    begin = np.cumsum(count) - count
    middle = (sorted_seconds[begin + np.maximum(count - 1, 0) // 2] + sorted_seconds[begin + count // 2]) / 2
    return np.where(count > 0, middle, np.nan), count
