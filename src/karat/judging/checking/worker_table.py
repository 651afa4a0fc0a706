"""One row for each person: how much they answered, how well, how fast, and what should make one look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import MISSING, Layout, or_none

MOST_SHOWN = 20
"""Workers; of more, the text shows those with a flag and those with most answers."""
FLAGS = ("fast", "same answer", "below chance", "gold")
"""Much faster than others; always the same answer; disagrees with others; fails the control rule."""


@dataclass(frozen=True, eq=False)
class WorkerTable:
    """A row for each worker who answered, columns as arrays.

    Parameters
    ----------
    name, kind
        Who.
    answers, hand_ins
        How many answers, and tasks handed in.
    gold_items, gold_right, gold_low, gold_high
        Control items, how many were right, and the 95% Wilson interval of the share.
    agreement, agreement_chance, agreement_answers
        How often another's answer about the same pair is the same, how often it would be by chance, and
        how many answers that rests on.
    seconds
        The median per answer; NaN where nobody knows.
    shares
        The share of each of the form's ratings, workers by ratings.
    codes
        The form's answers in the order of `shares`.
    flags
        Workers by `FLAGS`: what should make one look.
    number
        The place of each in the table of answers.
    expected
        How often each is expected to answer with the right rating, where Dawid–Skene says so; NaN for
        those whose answers do not count.
    """

    name: np.ndarray
    kind: np.ndarray
    answers: np.ndarray
    hand_ins: np.ndarray
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
        """Return the flags of one worker."""
        return [flag for flag, raised in zip(FLAGS, self.flags[row]) if raised]

    def records(self) -> list[dict[str, Any]]:
        """Return a record per worker."""
        single = {
            "worker": self.name, "kind": self.kind, "answers": self.answers, "hand_ins": self.hand_ins,
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

    def lay_out(self, most: int = MOST_SHOWN) -> Layout:
        """Return the table as people read it: those with flags first, then those with most answers."""
        order = np.lexsort((np.arange(len(self)), -self.answers, -self.flags.sum(axis=1)))[:most]
        head = ["worker", "look at", "answers", "gold right", "agree", "by chance", "seconds", *self.codes]
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


def in_percent(share: float, digits: int = 0) -> str:
    """Return a share as people read it.

    >>> in_percent(0.256), in_percent(float("nan"))
    ('26%', '—')
    """
    return MISSING if np.isnan(share) else f"{100 * share:.{digits}f}%"
