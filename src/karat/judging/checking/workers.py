"""What people's answers say about them."""

from __future__ import annotations

import numpy as np

from karat.judging.checking.answers import AnswerTable
from karat.judging.checking.gold_check import GoldCheck, check_gold
from karat.judging.checking.grouped import group
from karat.judging.checking.worker_table import FLAGS, WorkerTable
from karat.judging.forms import Form
from karat.judging.tasks import UNKNOWN
from karat.stats import divide

FAST = 1 / 3
"""A median below this part of the median worker's is too fast."""
TIMED = 5
"""From so many timed answers on."""
BY_ACCIDENT = 0.001
"""Always the same answer is remarkable when others' habits would give it this rarely."""
FEWEST = 10
"""From so many answers to pairs that others answered, too, disagreement is looked at."""
SURE = 2.5758
"""Standard errors that agreement must lie below chance: 99%, two-sided."""


def worker_table(
    answers: AnswerTable, form: Form, gold: GoldCheck | None = None, *, fast: float = FAST
) -> WorkerTable:
    """Return a row for each worker who answered.

    Agreement is that of the answers about pairs that are not known: the share of others' answers about
    the same pair that are the same, averaged over a worker's answers. By chance is the share of the same
    answer among all answers of others, so that it takes a worker's own habits into account.

    Flags say where to look, not whom to reject. *fast*: the median time is below a third of the median
    worker's. *same answer*: every answer is the same, and chance would give that once in 1,000 times.
    *below chance*: agreement lies below chance by 2.58 standard errors (answers taken as independent).
    *gold*: the control rule fails.

    Parameters
    ----------
    answers
        What was answered.
    form
        What was asked.
    gold
        What `check_gold` found; computed with its defaults when None.
    fast
        The part of the median worker's time below which a worker is too fast.

    Examples
    --------
    >>> from karat.judging import load_form, make_answers
    >>> people = np.repeat([0, 1, 2], 20)
    >>> right = np.tile([1, 4], 10)
    >>> said = make_answers(np.tile(np.arange(20), 3), np.zeros(60), people,
    ...                     np.concatenate([right, right, 5 - right]), ("ann", "bob", "eve"))
    >>> table = worker_table(said, load_form("pair"))
    >>> table.agreement.tolist(), [table.flags_of(k) for k in range(3)]
    ([0.5, 0.5, 0.0], [[], [], ['below chance']])
    """
    gold = check_gold(answers, form) if gold is None else gold
    people, scale = len(answers.workers), len(form.ratings)
    grouped = group(answers, form)
    totals = np.bincount(grouped.worker * scale + grouped.code, minlength=people * scale)
    totals = totals.reshape(people, scale)
    count = totals.sum(axis=1)
    agreement, chance, compared, below = agreement_with_others(answers, form)
    seconds, timed = median_seconds(answers)
    typical = np.median(seconds[timed >= TIMED]) if (timed >= TIMED).any() else np.nan
    others = (totals.sum(axis=0) - totals + 1) / (count.sum() - count + scale)[:, None]
    top = totals.argmax(axis=1)
    # In logs: a habit to the power of a thousand answers is no number any more.
    accident = count * np.log(others[np.arange(people), top]) < np.log(BY_ACCIDENT)
    raised = {
        "fast": (seconds < fast * typical) & (timed >= TIMED),
        "same answer": (totals.max(axis=1) == count) & accident,
        "below chance": below & (compared >= FEWEST),
        "gold": gold.excluded,
    }
    hand_ins = np.bincount(gold.slot_worker, minlength=people)
    there = count > 0
    columns = {
        "name": np.array(answers.workers, dtype=object), "kind": np.array(answers.kinds, dtype=object),
        "answers": count, "hand_ins": hand_ins, "gold_items": gold.items, "gold_right": gold.right,
        "gold_low": gold.low, "gold_high": gold.high, "agreement": agreement, "agreement_chance": chance,
        "agreement_answers": compared, "seconds": seconds, "shares": divide(totals, count[:, None]),
        "flags": np.stack([raised[flag] for flag in FLAGS], axis=1), "number": np.arange(people),
    }  # fmt: skip
    codes = tuple(form.code_of(rating) for rating in form.ratings)
    return WorkerTable(codes=codes, **{name: column[there] for name, column in columns.items()})


def agreement_with_others(
    answers: AnswerTable, form: Form
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return per worker the agreement, what chance gives, on how many answers, and whether it is below."""
    people, scale = len(answers.workers), len(form.ratings)
    found = group(answers.where(answers.gold == UNKNOWN), form)
    shared = found.answers[found.pair] > 1
    pair, code, worker = (column[shared] for column in (found.pair, found.code, found.worker))
    totals = np.bincount(worker * scale + code, minlength=people * scale).reshape(people, scale)
    others = totals.sum(axis=0) - totals
    habit = divide(others.astype(np.float64), others.sum(axis=1, keepdims=True))
    same = (found.counts[pair, code] - 1) / (found.answers[pair] - 1)
    expected = habit[worker, code]
    compared = np.bincount(worker, minlength=people)
    known = compared.astype(np.float64)
    agreement, chance, beyond, square = (
        divide(np.bincount(worker, values, people), known)
        for values in (same, expected, same - expected, (same - expected) ** 2)
    )
    error = np.sqrt(np.maximum(square - beyond**2, 0) / np.maximum(known, 1))
    with np.errstate(invalid="ignore"):
        return agreement, chance, compared, beyond + SURE * error < 0


def median_seconds(answers: AnswerTable) -> tuple[np.ndarray, np.ndarray]:
    """Return each worker's median time per answer, NaN without any, and how many times are known.

    >>> from karat.judging import make_answers
    >>> said = make_answers([0] * 4, range(4), [0, 0, 0, 1], [1] * 4, ("a", "b"), seconds=[9, 1, np.nan, 5])
    >>> [column.tolist() for column in median_seconds(said)]
    [[5.0, 5.0], [2, 1]]
    """
    known = ~np.isnan(answers.seconds)
    worker, seconds = answers.worker[known], answers.seconds[known]
    order = np.lexsort((seconds, worker))
    sorted_seconds = np.append(seconds[order], np.nan)
    count = np.bincount(worker, minlength=len(answers.workers))
    begin = np.cumsum(count) - count
    middle = (sorted_seconds[begin + np.maximum(count - 1, 0) // 2] + sorted_seconds[begin + count // 2]) / 2
    return np.where(count > 0, middle, np.nan), count
