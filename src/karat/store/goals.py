"""Goals: what a project is judged for, and when enough has been answered."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import insert, select

from karat._util import check_choice
from karat.benchmarks import letters_of
from karat.errors import InputError, KaratError
from karat.forms import check_name, check_text, to_json
from karat.measures import parse_measure
from karat.store.database import Database
from karat.store.part import StorePart, Subject
from karat.store.stored_paths import StoredPaths
from karat.store.tables import GOAL

WIDTH, WINNER, BUDGET = RULES = ("width", "winner", "budget")
"""Stop when the interval is narrow enough, when one run is known to be better, or after so many answers."""


@dataclass(frozen=True)
class Goal:
    """What is to be estimated, and when enough has been answered.

    Parameters
    ----------
    runs
        Files or names of the runs.
    measure, direction
        The name of a measure, and a direction such as "t2i".
    rule
        "width": stop when the interval of each run reaches at most `number` to either side. "winner": stop
        when it is known which of the runs is best. "budget": stop after `number` pairs.
    number
        The half-width as a fraction (0.02 is two points), or the number of pairs; None for "winner".
    level
        How often the interval must hold.
    estimator
        The name of the estimator; empty: the default.
    noisy
        Whether annotators may err, so that the interval carries the uncertainty of the verdicts too.

    Examples
    --------
    >>> Goal(("a.npy", "b.npy"), "P@10", "t2i", "winner").to_json()
    {'runs': ['a.npy', 'b.npy'], 'measure': 'P@10', 'direction': 't2i', 'rule': 'winner', 'number': None, ...}
    >>> Goal(("a.npy",), "P@10", "t2i", "width", 2)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: the half-width is 2; give a fraction between 0 and 1, such as 0.02.
    """

    runs: tuple[str, ...]
    measure: str
    direction: str
    rule: str = WIDTH
    number: float | None = None
    level: float = 0.95
    estimator: str = ""
    noisy: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", tuple(check_text(run, "a run") for run in self.runs))
        object.__setattr__(self, "measure", str(parse_measure(self.measure)))
        letters_of(check_text(self.direction, "the direction"))
        object.__setattr__(self, "rule", check_choice(self.rule, RULES, "the rule"))
        least = 2 if self.rule == WINNER else 1
        if len(set(self.runs)) < max(least, len(self.runs)):
            raise InputError(
                f"the goal has the runs {', '.join(self.runs) or '(none)'}",
                fix=f"give {'two or more different runs' if least == 2 else 'each run once, at least one'}",
            )
        if not 0 < self.level < 1:
            raise InputError(
                f"the level is {self.level:g}", fix="give a fraction between 0 and 1, such as 0.95"
            )
        if self.rule == WIDTH and not (self.number is not None and 0 < self.number < 1):
            raise InputError(
                f"the half-width is {self.number}", fix="give a fraction between 0 and 1, such as 0.02"
            )
        if self.rule == BUDGET and not (
            self.number is not None and self.number >= 1 and self.number % 1 == 0
        ):
            raise InputError(f"the budget is {self.number}", fix="give a whole number of pairs")
        if self.rule == WINNER and self.number is not None:
            raise InputError(
                f"the rule {WINNER} takes no number, but {self.number} was given", fix="leave it out"
            )
        if self.estimator:
            check_name(self.estimator, "the estimator")

    def to_json(self) -> dict[str, Any]:
        """Return the goal as values that json can represent."""
        return asdict(self) | {"runs": list(self.runs)}


class Goals(StorePart):
    """The goal of a project; earlier ones are kept: `project.goals`.

    Parameters
    ----------
    database, subject
        As in `StorePart`.
    paths
        Told which runs the user has named.
    """

    def __init__(self, database: Database, subject: Subject, paths: StoredPaths) -> None:
        super().__init__(database, subject)
        self._paths = paths

    def set(self, goal: Goal | None) -> None:
        """Replace the goal; None: the project has none any more."""
        text = to_json(None if goal is None else goal.to_json(), "the goal")
        with self._db.write() as connection:
            connection.execute(insert(GOAL).values(goal=text, at=time.time()))
        if goal is not None:
            # Without a key, the user is asked to name them when they are read.
            with suppress(KaratError):
                self._paths.allow_runs(goal.runs)

    def read(self) -> Goal | None:
        """Return the goal; None where there is none."""
        with self._db.read() as connection:
            query = select(GOAL.c.goal).order_by(GOAL.c.id.desc()).limit(1)
            text = connection.execute(query).scalar_one_or_none()
        return None if text is None else self._named(read_goal(text))

    def history(self) -> list[tuple[Goal | None, float]]:
        """Return all goals in order, each with the time at which it was set."""
        with self._db.read() as connection:
            rows = connection.execute(select(GOAL).order_by(GOAL.c.id)).all()
        return [(self._named(read_goal(row.goal)), row.at) for row in rows]

    def _named(self, goal: Goal | None) -> Goal | None:
        """Return a goal with the benchmark's name of its direction."""
        return None if goal is None else replace(goal, direction=self._subject.direction(goal.direction))


def read_goal(text: str) -> Goal | None:
    """Return the goal that `Goal.to_json` wrote, or raise."""
    try:
        values = json.loads(text)
        return None if values is None else Goal(**values)
    except (InputError, TypeError, ValueError, RecursionError):
        raise InputError("the goal of the project cannot be read", fix="set it again") from None
