"""The numbers that change with every answer, as data for the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.judging.checking import ADJUDICATOR, DATASET, MACHINE, PERSON
from karat.judging.store import LEASED, OPEN, SUBMITTED
from karat.web.dashboard.money import cost, pay_of
from karat.web.dashboard.pace import DAY, HOUR, by_part, pace
from karat.web.dashboard.tally import Tally

MOST_PEOPLE = 200
"""Records that are sent with every change."""


def live_numbers(tally: Tally, now: float) -> dict[str, Any]:
    """Return progress, people, pace and cost.

    Parameters
    ----------
    tally
        What was counted.
    now
        The time in seconds since 1970.
    """
    assert tally.items is not None
    ids, names, kinds = tally.project.annotators.numbered()
    place = np.full(max(ids, default=0) + 1, -1)
    place[list(ids)] = np.arange(len(ids))
    state, cells, loose = tally.state_now(now), tally.cells, tally.loose.kept()
    there = tally.counted()
    worker = np.concatenate([place[cells.worker[there]], place[loose["worker"]]])
    at = np.concatenate([cells.at[there], loose["at"]])
    seconds = np.concatenate([cells.seconds[there].astype(np.float64), loose["seconds"]])
    person = np.array([kind == PERSON for kind in kinds], dtype=bool)[worker] if len(ids) else worker > 0
    times = at[person]
    wanted = len(cells)
    left = wanted - int(there.sum())
    missing = np.isnan(seconds[person])
    hours = float(np.nansum(seconds[person]) + missing.sum() * tally.project.form.seconds) / 3600
    done = np.flatnonzero(tally.state == SUBMITTED)
    rejected = sum(verdict == "reject" for verdict in tally.reviews.values())
    return {
        "at": now,
        "answers": {
            "given": int(there.sum()), "wanted": wanted, "elsewhere": len(loose["at"]),
            **{kind: count_kind(worker, kinds, kind) for kind in (PERSON, MACHINE, DATASET, ADJUDICATOR)},
        },
        "slots": {name: int((state == number).sum()) for name, number in
                  (("open", OPEN), ("leased", LEASED), ("submitted", SUBMITTED))},
        "tasks": tasks(tally, state),
        "pairs": pairs(tally, there),
        **people(tally, names, kinds, worker, at, place, state, now),
        "by_hour": by_part(times, now, DAY, 24),
        "pace": pace(times, left, now) if left else [],
        "left": left,
        "cost": {**cost(pay_of(tally.project), hours, len(done) - rejected), "untimed": int(missing.sum()),
                 "typical": tally.project.form.seconds, "rejected": rejected},
    }  # fmt: skip


def count_kind(worker: np.ndarray, kinds: tuple[str, ...], kind: str) -> int:
    """Return how many answers those of a kind gave."""
    each = np.bincount(worker, minlength=len(kinds))
    return int(sum(each[k] for k, one in enumerate(kinds) if one == kind))


def tasks(tally: Tally, state: np.ndarray) -> dict[str, int]:
    """Return how many tasks there are, are finished by everybody wanted, and have been begun."""
    assert tally.items is not None
    count = len(tally.items.size)
    slots = np.bincount(tally.task, minlength=count)
    done = np.bincount(tally.task[state == SUBMITTED], minlength=count)
    begun = np.bincount(tally.task[state != OPEN], minlength=count)
    return {"all": count, "done": int((done >= slots).sum()), "begun": int((begun > 0).sum())}


def pairs(tally: Tally, there: np.ndarray) -> dict[str, int]:
    """Return how many pairs are to be judged, have an answer, and have as many as are wanted."""
    assert tally.items is not None
    number = tally.items.pair[tally.cells.item]
    asked = number >= 0
    wanted = np.bincount(number[asked], minlength=tally.items.pairs)
    given = np.bincount(number[asked & there], minlength=tally.items.pairs)
    return {
        "all": tally.items.pairs,
        "begun": int((given > 0).sum()),
        "done": int(((given >= wanted) & (wanted > 0)).sum()),
    }


def people(
    tally: Tally,
    names: tuple[str, ...],
    kinds: tuple[str, ...],
    worker: np.ndarray,
    at: np.ndarray,
    place: np.ndarray,
    state: np.ndarray,
    now: float,
) -> dict[str, Any]:
    """Return a record for each who answered or holds a task, those with most answers first, and how many."""
    count = len(names)
    held = tally.owner >= 0
    owner = place[tally.owner[held]]
    given = np.bincount(worker, minlength=count)
    recent = np.bincount(worker[at > now - HOUR], minlength=count)
    submitted, leased = (
        np.bincount(owner[state[held] == one], minlength=count) for one in (SUBMITTED, LEASED)
    )
    last = np.zeros(count)
    np.maximum.at(last, worker, at)
    active = np.flatnonzero(given + leased > 0)
    order = active[np.argsort(-given[active], kind="stable")]
    persons = np.array([kind == PERSON for kind in kinds], dtype=bool)
    records = [
        {"worker": names[k], "kind": kinds[k], "answers": int(given[k]), "hour": int(recent[k]),
         "hand_ins": int(submitted[k]), "holds": int(leased[k]), "last": float(last[k]) or None}
        for k in order[:MOST_PEOPLE].tolist()
    ]  # fmt: skip
    return {"people": records, "people_all": len(order), "active": int((persons & (recent > 0)).sum())}
