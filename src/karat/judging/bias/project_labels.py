"""The labels of a project, and what the choice of systems did to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from karat._util import plural
from karat.benchmarks import Pairs
from karat.errors import InputError
from karat.judging.bias.bias_report import BiasReport, measure_bias
from karat.judging.checking import accepted_answers
from karat.judging.checking import aggregate as aggregate_answers
from karat.runs import Run

if TYPE_CHECKING:
    from karat.judging.store import Project


def project_bias(
    project: Project, runs: Sequence[Run] | None = None, *, aggregate: str = "majority", **options: Any
) -> BiasReport:
    """Measure what the choice of systems did to the labels of a project; `karat bias` prints it.

    Parameters
    ----------
    project
        As `karat.judging.open_project` returns it.
    runs
        The runs that were pooled; see `measure_bias`.
    aggregate
        How answers become grades: "majority", "mean" or "dawid-skene".
    **options
        What else `measure_bias` takes. By default R@1 is measured and, with runs, RP.
    """
    judged, left_out = judged_pairs(project, aggregate)
    invalid = project.reviews.invalid()
    options = {"measure": ["R@1", "RP"] if runs else ["R@1"], "invalid": invalid} | options
    report = measure_bias(project.pools.read(), judged, project.benchmark(), runs, **options)
    items = sum(map(len, invalid.values()))
    unasked = [f"{plural(items, 'invalid item')} neither ask nor count"] if items else []
    return replace(report, notes=[*left_out, *unasked, *report.notes])


def judged_pairs(project: Project, method: str = "majority") -> tuple[Pairs, list[str]]:
    """Return what annotators said of each pair, hidden gold left out, and notes on what does not count."""
    form = project.form
    accepted = accepted_answers(
        project.answers.read(), form, reviews=project.reviews.read(), slots=project.queue.slots()
    )
    if not len(accepted.answers):
        raise InputError(
            "the project has no answers that count", where=project.where, fix="judge the pool first"
        )
    verdicts = aggregate_answers(accepted.answers, form, method).asked
    return Pairs(verdicts.image, verdicts.caption, verdicts.grade), list(accepted.notes)
