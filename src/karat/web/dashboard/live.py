"""The numbers that change with every answer: progress, annotators, pace and cost, as data for the page."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from karat.forms import ADJUDICATOR, DATASET, MACHINE, PERSON
from karat.judging.tasks import annotators_needed
from karat.store import LEASED, OPEN, SUBMITTED, Project
from karat.store.accounts import JUDGE, OWNER
from karat.web.dashboard.tally import Tally

MOST_ANNOTATORS = 200
"""How many records of annotators are sent with every change."""
HOUR, DAY = 3600.0, 86_400.0
WINDOWS = (("the last hour", HOUR, 12), ("the last day", DAY, 24))
"""The time windows of the pace: name, seconds, and number of parts."""
LEAST = 10
"""The fewest answers from which a pace is computed."""
SURE = 1.96
PAY = "pay"
"""The setting of the project that stores the pay."""


def live_numbers(tally: Tally, now: float) -> dict[str, Any]:
    """Return progress, annotators, pace and cost, and whether no annotator can go on.

    Parameters
    ----------
    tally
        The counts.
    now
        The time in seconds since 1970.
    """
    assert tally.items is not None
    ids, names, kinds = tally.project.annotators.numbered()
    place = np.full(max(ids, default=0) + 1, -1)
    place[list(ids)] = np.arange(len(ids))
    state, cells, loose = tally.state_now(now), tally.cells, tally.loose.kept()
    answered = tally.counted()
    annotator = np.concatenate([place[cells.annotator[answered]], place[loose["annotator"]]])
    at = np.concatenate([cells.at[answered], loose["at"]])
    seconds = np.concatenate([cells.seconds[answered].astype(np.float64), loose["seconds"]])
    person = (
        np.array([kind == PERSON for kind in kinds], dtype=bool)[annotator] if len(ids) else annotator > 0
    )
    times = at[person]
    wanted = len(cells)
    left = wanted - int(answered.sum())
    missing = np.isnan(seconds[person])
    hours = float(np.nansum(seconds[person]) + missing.sum() * tally.project.form.seconds) / 3600
    submitted = np.flatnonzero(tally.state == SUBMITTED)
    rejected = sum(verdict == "reject" for verdict in tally.reviews.values())
    return {
        "at": now,
        "answers": {
            "given": int(answered.sum()), "wanted": wanted, "elsewhere": len(loose["at"]),
            **{kind: count_kind(annotator, kinds, kind) for kind in (PERSON, MACHINE, DATASET, ADJUDICATOR)},
        },
        "assignments": {
            name: int((state == number).sum())
            for name, number in (("open", OPEN), ("leased", LEASED), ("submitted", SUBMITTED))
        },
        "tasks": count_tasks(tally, state),
        "pairs": count_pairs(tally, answered),
        **annotators(tally, names, kinds, annotator, at, place, state, now),
        "by_hour": by_part(times, now, DAY, 24),
        "pace": pace(times, left, now) if left else [],
        "stuck": stuck(tally, ids, names, kinds, state, now),
        "left": left,
        "cost": {
            **cost(pay_of(tally.project), hours, len(submitted) - rejected), "untimed": int(missing.sum()),
            "typical": tally.project.form.seconds, "rejected": rejected,
        },
    }  # fmt: skip


def count_kind(annotator: np.ndarray, kinds: tuple[str, ...], kind: str) -> int:
    """Return the number of answers of annotators of a kind."""
    answers = np.bincount(annotator, minlength=len(kinds))
    return int(sum(answers[row] for row, own in enumerate(kinds) if own == kind))


def count_tasks(tally: Tally, state: np.ndarray) -> dict[str, int]:
    """Return the number of tasks, of completely submitted ones, and of those that were begun."""
    assert tally.items is not None
    count = len(tally.items.size)
    assignments = np.bincount(tally.task, minlength=count)
    done = np.bincount(tally.task[state == SUBMITTED], minlength=count)
    begun = np.bincount(tally.task[state != OPEN], minlength=count)
    return {"all": count, "done": int((done >= assignments).sum()), "begun": int((begun > 0).sum())}


def count_pairs(tally: Tally, answered: np.ndarray) -> dict[str, int]:
    """Return the number of pairs to judge, of those with an answer, and of those with all answers."""
    assert tally.items is not None
    number = tally.items.pair[tally.cells.item]
    to_judge = number >= 0
    wanted = np.bincount(number[to_judge], minlength=tally.items.pairs)
    answers = np.bincount(number[to_judge & answered], minlength=tally.items.pairs)
    return {
        "all": tally.items.pairs,
        "begun": int((answers > 0).sum()),
        "done": int(((answers >= wanted) & (wanted > 0)).sum()),
    }


def annotators(
    tally: Tally,
    names: tuple[str, ...],
    kinds: tuple[str, ...],
    annotator: np.ndarray,
    at: np.ndarray,
    place: np.ndarray,
    state: np.ndarray,
    now: float,
) -> dict[str, Any]:
    """Return a record per annotator who answered or has a lease, most answers first, and their number."""
    count = len(names)
    taken = tally.owner >= 0
    owner = place[tally.owner[taken]]
    answers = np.bincount(annotator, minlength=count)
    recent = np.bincount(annotator[at > now - HOUR], minlength=count)
    submitted, leased = (
        np.bincount(owner[state[taken] == number], minlength=count) for number in (SUBMITTED, LEASED)
    )
    last = np.zeros(count)
    np.maximum.at(last, annotator, at)
    active = np.flatnonzero(answers + leased > 0)
    order = active[np.argsort(-answers[active], kind="stable")]
    persons = np.array([kind == PERSON for kind in kinds], dtype=bool)
    records = [
        {"annotator": names[row], "kind": kinds[row], "answers": int(answers[row]), "hour": int(recent[row]),
         "submitted": int(submitted[row]), "leased": int(leased[row]), "last": float(last[row]) or None}
        for row in order[:MOST_ANNOTATORS].tolist()
    ]  # fmt: skip
    return {
        "annotators": records,
        "annotators_total": len(order),
        "active": int((persons & (recent > 0)).sum()),
    }


def stuck(
    tally: Tally,
    ids: tuple[int, ...],
    names: tuple[str, ...],
    kinds: tuple[str, ...],
    state: np.ndarray,
    now: float,
) -> dict[str, int] | None:
    """Return how many assignments are open and how many annotators they lack, if no annotator can go on.

    All known annotators have then done the tasks that are left, or have seen one of their pairs. None if one
    of them can go on, or nobody has begun.
    """
    assert tally.items is not None
    is_open = state == OPEN
    known = known_annotators(tally, ids, names, kinds)
    if not is_open.any() or known is None or tally.project.queue.can_continue(known, now):
        return None
    task = np.repeat(np.arange(len(tally.items.size)), tally.items.size)
    wanted = np.bincount(tally.task[is_open], minlength=len(tally.items.size))
    return {
        "open": int(is_open.sum()),
        "invite": annotators_needed(task, tally.items.key, wanted).at_least,
    }


def known_annotators(
    tally: Tally, ids: tuple[int, ...], names: tuple[str, ...], kinds: tuple[str, ...]
) -> list[str] | None:
    """Return the names of those who may go on; None if there was never any.

    These are the annotators who can sign in, and owners who have answered. In a project without accounts of
    annotators, all persons who have answered.
    """
    took_part = {*tally.owner[tally.owner >= 0].tolist(), *tally.loose.kept()["annotator"].tolist()}
    began = {name for number, name, kind in zip(ids, names, kinds) if kind == PERSON and number in took_part}
    accounts = tally.project.accounts.users.read()
    if not any(account.role == JUDGE for account in accounts):
        return sorted(began) or None
    return [
        account.name
        for account in accounts
        if account.active and (account.role == JUDGE or (account.role == OWNER and account.name in began))
    ]


def pace(times: np.ndarray, left: int, now: float) -> list[dict[str, Any]]:
    """Return, for each time window, the answers per hour and the expected finish, both as ranges.

    Answers do not arrive independently: an annotator gives many, or none. So the variance of the count is a
    multiple of a Poisson count's; the multiple, at least 1, is estimated from the parts of the window. The
    range is a 95% interval of the pace within the window; it does not predict who answers tomorrow.

    Parameters
    ----------
    times
        The times of the answers, in seconds since 1970.
    left
        How many answers are still missing.
    now
        The time.

    Examples
    --------
    >>> steady = 10_000 - 30.0 * np.arange(120)
    >>> hour = pace(steady, 240, 10_000.0)[0]
    >>> round(hour["rate"]), [round((hour[end] - 10_000) / 60) for end in ("soonest", "latest")]
    (120, [100, 144])
    >>> pace(steady[:5], 240, 10_000.0)
    []
    """
    records = []
    for name, span, parts in WINDOWS:
        inside = times[(times > now - span) & (times <= now)]
        if len(inside) < LEAST:
            continue
        counts = np.histogram(inside, parts, (now - span, now))[0]
        # The time before the very first answer does not count.
        started = counts[np.argmax(counts > 0) :] if inside.min() <= times.min() else counts
        lasted = span * len(started) / parts
        spread = max(1.0, float(started.var(ddof=1) / started.mean())) if len(started) > 1 else 1.0
        factor = math.exp(SURE * math.sqrt(spread / len(inside)))
        rate = len(inside) / lasted
        records.append(
            {
                "window": name, "rate": rate * HOUR, "low": rate / factor * HOUR,
                "high": rate * factor * HOUR,
                "soonest": now + left / (rate * factor), "latest": now + left / (rate / factor),
            }
        )  # fmt: skip
    return records


def by_part(times: np.ndarray, now: float, span: float, parts: int) -> list[int]:
    """Return the number of answers in each part of the time span before now, oldest first.

    >>> by_part(np.array([1.0, 9.0, 9.5]), 10.0, 10.0, 2)
    [1, 2]
    """
    inside = times[(times > now - span) & (times <= now)]
    return np.histogram(inside, parts, (now - span, now))[0].tolist()


class Pay(BaseModel):
    """What annotators are paid: an amount per hour or per submitted task, and the platform's fee on top."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    per: Literal["hour", "task"]
    amount: Annotated[float, Field(ge=0, le=100_000)]
    fee: Annotated[float, Field(ge=0, le=1)] = 0.0
    currency: Annotated[str, Field(max_length=8, pattern=r"^[A-Za-z€$£¥]*$")] = ""


def pay_of(project: Project) -> Pay | None:
    """Return what annotators are paid; None if it is not set, or not readable."""
    try:
        return Pay.model_validate(project.journal.get(PAY))
    except ValidationError:
        return None


def cost(pay: Pay | None, hours: float, submitted: int) -> dict[str, Any]:
    """Return the cost so far.

    Parameters
    ----------
    pay
        What annotators are paid.
    hours
        The time that the answers took.
    submitted
        How many assignments were submitted and not rejected.

    Examples
    --------
    >>> cost(Pay(per="hour", amount=15, fee=0.2), 2.0, 7)["money"], cost(None, 2.0, 7)["money"]
    (36.0, None)
    """
    units = None if pay is None else hours if pay.per == "hour" else submitted
    money = None if pay is None or units is None else units * pay.amount * (1 + pay.fee)
    return {"hours": hours, "submitted": submitted, "money": money, "pay": pay and pay.model_dump()}
