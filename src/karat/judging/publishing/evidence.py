"""What is published: everything that a project holds, as columns, and which of its answers count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from karat.benchmarks import Benchmark
from karat.judging.checking import MACHINE, AnswerTable, accepted_answers
from karat.judging.forms import Form
from karat.judging.pools import Pool
from karat.judging.tasks import TaskPlan

Marked = Mapping[str, Mapping[int, str]]
"""What somebody marked invalid: "caption" or "image", then by index, why."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What was asked about, and what was answered.

    Parameters
    ----------
    benchmark, form
        What the pairs belong to, and what was asked.
    pool
        The pairs that systems suggested.
    answers
        All answers in effect, rejected ones too.
    used
        Which of them count, as booleans; all when left out.
    plan
        The tasks, where there are any.
    marked
        What somebody marked invalid.
    verdicts
        How many hand-ins were approved and rejected.
    left_out
        Why answers do not count, in words.
    machines
        A sentence for each machine judge: how it compared with people.
    project
        What the project is called.
    """

    benchmark: Benchmark
    form: Form
    pool: Pool
    answers: AnswerTable
    used: np.ndarray | None = None
    plan: TaskPlan | None = None
    marked: Marked = field(default_factory=dict)
    verdicts: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    project: str = ""

    def __repr__(self) -> str:
        return f"Evidence({self.pool}, {self.answers})"

    @property
    def counted(self) -> AnswerTable:
        """The answers that count."""
        return self.answers if self.used is None else self.answers.where(self.used)


def evidence_of(
    project: Any,
    *,
    control: float | None = None,
    surely: bool = False,
    captions_wrong: int = 0,
    approved_only: bool = False,
) -> Evidence:
    """Read a project.

    Parameters
    ----------
    project
        As `karat.judging.open_project` returns it.
    control, surely, captions_wrong, approved_only
        Which answers count; see `karat.judging.checking.accepting.accepted_answers`.
    """
    from karat.judging.judges import calibrations

    answers, reviews = project.answers.read(), project.reviews.read()
    accepted = accepted_answers(
        answers,
        project.form,
        reviews=reviews,
        slots=project.queue.slots(),
        control=control,
        surely=surely,
        captions_wrong=captions_wrong,
        approved_only=approved_only,
    )
    verdicts = [review[0] for review in reviews.values()]
    return Evidence(
        project.benchmark(),
        project.form,
        project.pools.read(),
        answers,
        accepted.kept,
        project.pools.plan(),
        project.reviews.invalid(),
        {verdict: verdicts.count(verdict) for verdict in ("approve", "reject")},
        accepted.notes,
        tuple(one.sentence() for one in calibrations(project)) if MACHINE in answers.kinds else (),
        project.name,
    )
