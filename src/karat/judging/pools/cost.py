"""What judging will cost: pairs, tasks, answers, hours and money, before anything is created."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from karat._util import TEXT_FORMATS, Result, plural, renamed_keywords
from karat.errors import InputError
from karat.judging.forms import Form


@dataclass(frozen=True)
class Cost(Result):
    """An estimate; see `estimate_cost`.

    Parameters
    ----------
    pairs, gold, tasks
        How many pairs are judged, how many known ones are hidden among them, in how many tasks.
    overlap
        How many people answer each task.
    seconds
        What one answer takes.
    pay
        To all people together, without fees.
    fee
        The platform's share on top of the pay.
    about
        Sentences on what is judged, said first.
    notes
        What a reader should know.

    Examples
    --------
    ECCV Caption's 2,160 tasks of 20 pairs, at the pay of its first stage:

    >>> from karat.judging import load_form
    >>> asked = {"task_size": 20, "gold": 0, "overlap": 1, "per_task": 1.4, "fee": 0.18}
    >>> cost = estimate_cost(43_200, load_form("pair"), **asked)
    >>> cost.tasks, round(cost.money / cost.tasks, 2), cost.hours
    (2160, 1.65, 216.0)
    """

    pairs: int
    gold: int
    tasks: int
    overlap: int
    seconds: float
    pay: float
    fee: float
    about: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    formats = TEXT_FORMATS

    @property
    def answers(self) -> int:
        """How many answers are given, those to known pairs included."""
        return (self.pairs + self.gold) * self.overlap

    @property
    def hours(self) -> float:
        """What they take, of all people together."""
        return self.answers * self.seconds / 3600

    @property
    def money(self) -> float:
        """The pay with fees."""
        return self.pay * (1 + self.fee)

    def records(self) -> list[dict[str, Any]]:
        """Return one record: sizes, hours and money."""
        own = {name: value for name, value in asdict(self).items() if name not in ("about", "notes")}
        return [own | {"answers": self.answers, "hours": self.hours, "money": self.money}]

    def parts(self) -> list[str]:
        """Return what is judged, and the estimate in words."""
        return ["\n".join([*self.about, *self.sentences()])]

    def sentences(self) -> list[str]:
        """Return the estimate in words.

        >>> from karat.judging import load_form
        >>> print(estimate_cost(1000, load_form("pair")))
        1,000 pairs to judge in 63 tasks of up to 16, with 126 known pairs hidden among them.
        3 people each: 3,378 answers, about 16.9 hours at 18 seconds an answer.
        Pay 253.35, with a fee of 20% 304.02.
        """
        size = math.ceil(self.pairs / self.tasks) if self.tasks else 0
        hidden = f", with {plural(self.gold, 'known pair')} hidden among them" if self.gold else ""
        people = "1 person" if self.overlap == 1 else f"{self.overlap} people"
        said = [
            f"{plural(self.pairs, 'pair')} to judge in {plural(self.tasks, 'task')} of up to {size}{hidden}.",
            f"{people} each: {plural(self.answers, 'answer')}, about {self.hours:,.1f} hours at "
            f"{self.seconds:g} seconds an answer.",
        ]
        if self.pay:
            with_fee = f", with a fee of {100 * self.fee:g}% {self.money:,.2f}" if self.fee else ""
            said.append(f"Pay {self.pay:,.2f}{with_fee}.")
        return said


@renamed_keywords(pairs="task_size")
def estimate_cost(
    number: int,
    form: Form,
    *,
    task_size: int | None = None,
    gold: int | None = None,
    overlap: int = 3,
    seconds: float | None = None,
    per_hour: float = 15.0,
    per_task: float | None = None,
    fee: float = 0.2,
) -> Cost:
    """Return what it costs to have so many pairs judged.

    Parameters
    ----------
    number
        How many pairs.
    form
        Its sizes and its seconds an answer, where none are given.
    task_size, gold, overlap
        As for `karat.judging.make_tasks`.
    seconds
        What one answer takes.
    per_hour, per_task
        The pay, in any currency; per task if that is given. 15 an hour is what ECCV Caption aimed at.
    fee
        The platform's share on top; Mechanical Turk takes 20%.
    """
    pairs = form.pairs if task_size is None else task_size
    gold = form.gold if gold is None else gold
    seconds = form.seconds if seconds is None else seconds
    if number < 0 or pairs < 1 or gold < 0 or overlap < 1:
        raise InputError(
            f"{plural(number, 'pair')} in tasks of {pairs} with {gold} gold ones, for {overlap} people",
            fix="give at least 1 pair a task, 0 gold ones and 1 person",
        )
    for value, what in (
        (seconds, "seconds"),
        (per_hour, "per hour"),
        (per_task or 0.0, "per task"),
        (fee, "fee"),
    ):
        if not 0 <= value < math.inf:
            raise InputError(f"{what} is {value}", fix="give a number from 0")
    tasks = -(-number // pairs)
    made = Cost(number, tasks * gold, tasks, overlap, seconds, 0.0, fee)
    pay = tasks * overlap * per_task if per_task is not None else made.hours * per_hour
    return Cost(number, tasks * gold, tasks, overlap, seconds, pay, fee)
