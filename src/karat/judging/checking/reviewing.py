"""Approving and rejecting hand-ins of a project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from karat._util import plural
from karat.errors import InputError
from karat.judging.checking.answers import AnswerTable
from karat.judging.checking.gold_check import APPROVE, check_gold

PASSED = "control items right"
"""Why hand-ins are approved without anybody looking."""


def review_hand_ins(
    project: Any,
    by: str,
    *,
    approve: Sequence[int] = (),
    reject: Sequence[int] = (),
    why: str = "",
    ask_again: bool = False,
) -> list[str]:
    """Approve and reject hand-ins; return what was done, in words. All are checked before any is written.

    Parameters
    ----------
    project
        As `karat.judging.open_project` returns it.
    by
        Who reviews.
    approve, reject
        The numbers of the hand-ins.
    why
        Why they are rejected.
    ask_again
        Offer the task of each that is newly rejected to one more person.
    """
    slots = project.queue.slots()
    missing = {*approve, *reject} - set(slots.slot[slots.state == "submitted"].tolist())
    if missing:
        raise InputError(f"there is no hand-in {min(missing)}", fix="karat quality lists those to look at")
    before = project.reviews.read()
    done = []
    for verdict, chosen, reason in (("approve", approve, ""), ("reject", reject, why)):
        if chosen:
            project.reviews.add(chosen, verdict, by, reason)
            done.append(f"{plural(len(chosen), 'hand-in')}: {verdict}")
    if ask_again:
        task = dict(zip(slots.slot.tolist(), slots.task.tolist()))
        new = [one for one in reject if before.get(one, ("",))[0] != "reject"]
        tasks = [task[one] for one in new if task[one] >= 0]
        if tasks:
            project.queue.ask_again(tasks)
        done.append(f"{plural(len(tasks), 'task')} will be asked once more")
    return done


def approve_passing(project: Any, by: str, answers: AnswerTable, **rules: Any) -> list[str]:
    """Approve every hand-in that passes and that nobody has reviewed; return what was done, in words.

    Parameters
    ----------
    project, by
        As `review_hand_ins` takes them.
    answers
        The project's.
    rules
        What may be wrong, as `check_gold` takes it.
    """
    slots = project.queue.slots()
    gold = check_gold(answers, project.form, **rules)
    passed = set(gold.slot[gold.verdict == APPROVE].tolist())
    passed &= set(slots.slot[slots.state == "submitted"].tolist()) - set(project.reviews.read())
    if passed:
        project.reviews.add(sorted(passed), "approve", by, PASSED)
    return [f"approved {plural(len(passed), 'hand-in')} whose control items are right"]
