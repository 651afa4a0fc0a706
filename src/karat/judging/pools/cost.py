"""The cost of judging: pairs, tasks, answers, hours and money, estimated before anything is created."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from karat._util import TEXT_FORMATS, Result, plural, word_for
from karat.errors import InputError
from karat.forms import GOLD_NO, GOLD_YES, Form, Pool, find, key_of, pool_sentences


@dataclass(frozen=True)
class Rates:
    """How long an answer takes, and what annotators are paid.

    Parameters
    ----------
    seconds
        The time for one answer; that of the form by default.
    per_hour, per_task
        The pay, in any currency; per task if that is given. ECCV Caption aimed at 15 per hour.
    fee
        The platform's share on top; Mechanical Turk takes 20%.

    Examples
    --------
    >>> Rates(per_task=1.4, fee=0.18).pay(tasks=2160, hours=216.0)
    3024.0
    """

    seconds: float | None = None
    per_hour: float = 15.0
    per_task: float | None = None
    fee: float = 0.2

    def __post_init__(self) -> None:
        for name in ("seconds", "per_hour", "per_task", "fee"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise InputError(f"{name.replace('_', ' ')} is {value}", fix="give a number from 0")

    def pay(self, tasks: int, hours: float) -> float:
        """Return the pay for so many assignments of tasks, or so many hours, without fees."""
        return hours * self.per_hour if self.per_task is None else tasks * self.per_task


@dataclass(frozen=True)
class Cost(Result):
    """The estimated cost of judging; see `estimate_cost`.

    Parameters
    ----------
    pairs, gold, tasks
        How many pairs are judged, how many gold pairs are hidden among them, in how many tasks.
    overlap
        How many annotators answer each task.
    seconds
        The time for one answer.
    pay
        The pay of all annotators together, without fees.
    fee
        The platform's share on top of the pay.
    annotators, annotators_enough
        How many annotators are needed at least, and how many are enough in whatever order they take the
        tasks; 0 before the tasks are planned.
    about
        Sentences about what is judged, printed first.
    notes
        What a reader should know.

    Examples
    --------
    ECCV Caption's 2,160 tasks of 20 pairs, at the pay of its first stage:

    >>> from karat.forms import load_form
    >>> rates = Rates(per_task=1.4, fee=0.18)
    >>> cost = estimate_cost(43_200, load_form("pair"), task_size=20, gold=0, overlap=1, rates=rates)
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
    annotators: int = 0
    annotators_enough: int = 0
    about: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    formats = TEXT_FORMATS

    @property
    def answers(self) -> int:
        """The number of answers, including those about gold pairs."""
        return (self.pairs + self.gold) * self.overlap

    @property
    def hours(self) -> float:
        """The working time of all annotators together."""
        return self.answers * self.seconds / 3600

    @property
    def money(self) -> float:
        """The pay with fees."""
        return self.pay * (1 + self.fee)

    def records(self) -> list[dict[str, Any]]:
        """Return one record: sizes, hours and money."""
        fields = {name: value for name, value in asdict(self).items() if name not in ("about", "notes")}
        return [fields | {"answers": self.answers, "hours": self.hours, "money": self.money}]

    def parts(self) -> list[str]:
        """Return what is judged, and the estimate in sentences."""
        return ["\n".join([*self.about, *self.sentences()])]

    def sentences(self) -> list[str]:
        """Return the estimate in sentences.

        >>> from karat.forms import load_form
        >>> print(estimate_cost(1000, load_form("pair")))
        1,000 pairs to judge in 63 tasks of up to 16, with 126 gold pairs hidden among them.
        3 annotators per task: 3,378 answers, about 16.9 hours at 18 seconds per answer.
        Pay: 253.35, or 304.02 with a fee of 20%.
        """
        size = math.ceil(self.pairs / self.tasks) if self.tasks else 0
        hidden = f", with {plural(self.gold, 'gold pair')} hidden among them" if self.gold else ""
        sentences = [
            f"{plural(self.pairs, 'pair')} to judge in {plural(self.tasks, 'task')} of up to {size}{hidden}.",
            f"{plural(self.overlap, 'annotator')} per task: {plural(self.answers, 'answer')}, about "
            f"{self.hours:,.1f} hours at {self.seconds:g} seconds per answer.",
        ]
        if self.annotators:
            needed, enough = self.annotators, self.annotators_enough
            least = f"At least {plural(needed, 'annotator')} {word_for(needed, 'is', 'are')} needed"
            most = f"{enough:,} {word_for(enough, 'is', 'are')} enough in any order"
            sentences.append(f"{least}, since none gets a pair twice; {most}.")
        if self.pay:
            with_fee = f", or {self.money:,.2f} with a fee of {100 * self.fee:g}%" if self.fee else ""
            sentences.append(f"Pay: {self.pay:,.2f}{with_fee}.")
        return sentences


def estimate_cost(
    number: int,
    form: Form,
    *,
    task_size: int | None = None,
    gold: int | None = None,
    overlap: int = 3,
    rates: Rates | None = None,
) -> Cost:
    """Return what it costs to have a number of pairs judged.

    Parameters
    ----------
    number
        How many pairs.
    form
        Sets the sizes and the seconds per answer where they are not given.
    task_size, gold, overlap
        As for `karat.judging.make_tasks`.
    rates
        How long an answer takes, and what annotators are paid.
    """
    pairs = form.pairs if task_size is None else task_size
    gold = form.gold if gold is None else gold
    if number < 0 or pairs < 1 or gold < 0 or overlap < 1:
        raise InputError(
            f"{plural(number, 'pair')} in tasks of {pairs} with {gold} gold pairs, for {overlap} annotators",
            fix="give at least 1 pair per task, 0 gold pairs and 1 annotator",
        )
    tasks = -(-number // pairs)
    return cost_of_tasks(number, tasks * gold, tasks, overlap, form, rates)


def cost_of_tasks(
    number: int, gold: int, tasks: int, overlap: int, form: Form, rates: Rates | None = None
) -> Cost:
    """Return what it costs to have `number` pairs and `gold` gold pairs in `tasks` tasks answered.

    Parameters
    ----------
    number, gold, tasks, overlap
        How many pairs, gold pairs and tasks there are, and how many annotators answer each task.
    form, rates
        As for `estimate_cost`.
    """
    rates = rates or Rates()
    seconds = form.seconds if rates.seconds is None else rates.seconds
    unpaid = Cost(number, gold, tasks, overlap, seconds, 0.0, rates.fee)
    return replace(unpaid, pay=rates.pay(tasks * overlap, unpaid.hours))


def pool_cost(pool: Pool, form: Form, **options: Any) -> Cost:
    """Return what a pool contains and what it costs to have it judged; `karat project pool` prints it.

    Parameters
    ----------
    pool, form
        What is judged, and what annotators are asked about it.
    **options
        The keyword arguments of `estimate_cost`.

    Examples
    --------
    >>> from karat.forms import load_form
    >>> from karat.judging import make_pool
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> print(pool_cost(make_pool(simulate_systems(world), world.benchmark(), top=2), load_form("pair")))
    The first 2 items of 6 runs for 60 i2t and 120 t2i queries: 2,160 suggestions, 695 pairs.
    695 pairs to judge in 44 tasks of up to 16, with 88 gold pairs hidden among them.
    3 annotators per task: 2,349 answers, about 11.7 hours at 18 seconds per answer.
    Pay: 176.17, or 211.41 with a fee of 20%.
    note: 44 of 88 gold pairs are also pairs to judge; their own answers decide
    """
    cost = estimate_cost(len(pool), form, **options)
    notes = gold_notes(pool, form, cost)
    size, per_task = options.get("task_size") or form.pairs, cost.gold // max(cost.tasks, 1)
    if per_task > size:
        notes.append(f"each task hides {per_task:,} gold pairs among up to {size:,} to judge: most is gold")
    return replace(cost, about=tuple(pool_sentences(pool)), notes=tuple(notes))


def gold_notes(pool: Pool, form: Form, cost: Cost) -> list[str]:
    """Return notes where there is less gold than the tasks need, and where it is also asked about."""
    if form.layout == "grid":
        images = len(pool.gold_right) // form.columns
        few = images * form.columns < cost.gold
        notes = [f"{plural(images, 'gold image')} for {plural(cost.tasks, 'task')}"] if few else []
        return [*notes, *overlap_notes(cost.gold, also_judged(pool, slice(0, cost.gold)))]
    notes = []
    for right, kind in ((GOLD_YES, "positive"), (GOLD_NO, "negative")):
        number = int((pool.gold_right == right).sum())
        if number < cost.gold // 2:
            reuse = (
                "each is used several times, but only once per annotator" if number else "none can be hidden"
            )
            if right == GOLD_YES and not number:
                reuse = (
                    f"all gold is negative, which an annotator passes who always answers no{why_none(form)}"
                )
            notes.append(f"{plural(number, f'gold {kind}')} for {plural(cost.tasks, 'task')}: {reuse}")
    positives = np.flatnonzero(pool.gold_right == GOLD_YES)[: -(-cost.gold // 2)]
    return [*notes, *overlap_notes(cost.gold, also_judged(pool, positives))]


def why_none(form: Form) -> str:
    """Return why a form has no gold positives, if it is the form's doing."""
    if form.regions:
        return "; list masks that are known to be right: --set approved=FILE.csv"
    if not form.own_image:
        return ""
    return (
        "; this form shows the caption's own image, so that original pairs would show the same image twice, "
        "and no truth has other positives: name one with --gold-truth"
    )


def also_judged(pool: Pool, rows: np.ndarray | slice) -> int:
    """Return how many of the gold pairs that the tasks will use are also pairs to judge."""
    keys = key_of(pool.gold_image[rows], pool.gold_caption[rows])
    return int((find(key_of(pool.image, pool.caption), keys) >= 0).sum())


def overlap_notes(gold: int, both: int) -> list[str]:
    """Return a note where some gold pairs are also pairs to judge.

    >>> overlap_notes(88, 44)
    ['44 of 88 gold pairs are also pairs to judge; their own answers decide']
    """
    if not both:
        return []
    return [f"{both:,} of {plural(gold, 'gold pair')} are also pairs to judge; their own answers decide"]
