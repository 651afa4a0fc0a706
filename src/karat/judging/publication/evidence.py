"""What a publication is made of: everything in a project, as columns, and which of its answers count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from karat.benchmarks import Benchmark
from karat.errors import InputError
from karat.forms import MACHINE, AnswerTable, Form, Pool, TaskPlan
from karat.judging.quality import AcceptanceRule

Marked = Mapping[str, Mapping[int, str]]
"""The items that are marked invalid: "caption" or "image", then the reason by index."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The pairs that were judged, and the answers about them.

    Parameters
    ----------
    benchmark, form
        The benchmark of the pairs, and the form with which they were judged.
    pool
        The pairs that the models suggested.
    answers
        All answers in effect, rejected ones included.
    used
        Which of them count, as booleans; all by default.
    plan
        The tasks, if there are any.
    marked
        The images and captions that are marked invalid.
    verdicts
        How many assignments were approved and rejected.
    left_out
        Why answers do not count, one sentence for each reason.
    machines
        How each machine judge compares with people, one sentence for each.
    project
        The name of the project.
    acceptance
        The rule by which answers count; None where `used` was chosen otherwise.
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
    acceptance: AcceptanceRule | None = None

    def __repr__(self) -> str:
        return f"Evidence({self.pool}, {self.answers})"

    @property
    def counted(self) -> AnswerTable:
        """The answers that count."""
        return self.answers if self.used is None else self.answers.where(self.used)


def evidence_of(project: Any, acceptance: AcceptanceRule | None = None) -> Evidence:
    """Read a project.

    Parameters
    ----------
    project
        As `karat.store.open_project` returns it.
    acceptance
        Which answers count, and how they become verdicts; by default as in `karat.judging.publish`.
    """
    from karat.judging.machine_judges import calibrations

    benchmark = published_benchmark(project)
    rule = acceptance or AcceptanceRule()
    answers, reviews = project.answers.read(), project.reviews.read()
    accepted = rule.accept(answers, project.form, reviews=reviews, assignments=project.queue.assignments())
    decisions = [review[0] for review in reviews.values()]
    machines = calibrations(project) if MACHINE in answers.kinds else ()
    return Evidence(
        benchmark,
        project.form,
        project.pools.read(),
        answers,
        accepted.kept,
        project.pools.plan(),
        project.reviews.invalid(),
        {decision: decisions.count(decision) for decision in ("approve", "reject")},
        accepted.notes,
        tuple(calibration.sentence() for calibration in machines),
        project.name,
        rule,
    )


def published_benchmark(project: Any) -> Benchmark:
    """Return the benchmark of a project, or raise where verdicts on it are not published."""
    benchmark: Benchmark = project.benchmark()
    if benchmark.instances is not None:
        raise InputError(
            "verdicts on masks are not published as a benchmark",
            where=project.where,
            fix="score detections with them: karat estimate detections.json --vetted project.db",
        )
    return benchmark
