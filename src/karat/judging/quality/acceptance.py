"""The acceptance rule: which answers count, and how they become verdicts.

`karat project quality`, `publish` and `bias` take the same rule: with the same options, the labels whose
bias is measured are those that are described and published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat.errors import InputError
from karat.forms import NOT_GOLD, AnswerTable, Form
from karat.judging.quality.assignments import Accepted, accepted_answers, required_gold_share
from karat.judging.quality.gold import GOLD_SHARE, check_gold_share
from karat.judging.quality.verdicts import Aggregated, parse_aggregation
from karat.judging.quality.verdicts import aggregate as aggregate_answers

if TYPE_CHECKING:
    from karat.store import Project


@dataclass(frozen=True)
class AcceptanceRule:
    """Which answers count, and how they become verdicts.

    Parameters
    ----------
    aggregate, aggregate_set
        The aggregation and its settings, as in `karat.judging.aggregate`.
    gold_share, only_if_certain, captions_wrong
        The gold check of annotators, as in `karat.judging.check_gold`.
    exclude
        Whether answers of annotators who fail the gold check are left out; by default, unless the aggregation
        weighs annotators itself.
    approved_only
        Whether only approved assignments count. Those of rejected assignments never do.

    Examples
    --------
    >>> AcceptanceRule().required_share, AcceptanceRule("majority").required_share
    (None, 0.7)
    >>> from karat.forms import load_form, make_answers
    >>> form = load_form("pair")
    >>> answers = make_answers([0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [4, 4, 1, 1], ("ann", "eve"),
    ...                        gold=[1, -1, 1, -1], assignment=[7, 7, 8, 8])
    >>> rule = AcceptanceRule("majority")
    >>> accepted = rule.accept(answers, form)
    >>> accepted.notes
    ('2 answers of annotators who fail the gold check are left out',)
    >>> rule.verdicts(accepted.answers, form)
    Aggregated(1 pairs, 1 relevant, by majority)
    """

    aggregate: str = "dawid-skene"
    aggregate_set: Mapping[str, Any] | None = None
    gold_share: float = GOLD_SHARE
    only_if_certain: bool = False
    captions_wrong: int = 0
    exclude: bool | None = None
    approved_only: bool = False

    def __post_init__(self) -> None:
        # An unknown name raises here, before a large project is read.
        parse_aggregation(self.aggregate, self.aggregate_set or {})
        check_gold_share(self.gold_share)

    @property
    def required_share(self) -> float | None:
        """The share of gold that annotators must judge right for their answers to count; None: any."""
        return required_gold_share(self.aggregate, self.gold_share, self.exclude)

    def accept(
        self,
        answers: AnswerTable,
        form: Form,
        *,
        reviews: Mapping[int, Any] | None = None,
        assignments: Any = None,
    ) -> Accepted:
        """Return the answers that count.

        Parameters
        ----------
        answers, form
            What was answered, and what was asked.
        reviews, assignments
            Per assignment, the latest review; and the project's assignments.
        """
        if not len(answers):
            raise InputError("the project has no answers", fix="import some: karat project import")
        return accepted_answers(
            answers,
            form,
            reviews=reviews,
            assignments=assignments,
            gold_share=self.required_share,
            only_if_certain=self.only_if_certain,
            captions_wrong=self.captions_wrong,
            approved_only=self.approved_only,
        )

    def verdicts(self, answers: AnswerTable, form: Form, left_out: Sequence[str] = ()) -> Aggregated:
        """Return the verdicts of answers that count; pairs that were only hidden gold are left out.

        Parameters
        ----------
        answers, form
            The answers that count, and what was asked.
        left_out
            Why other answers do not count, for the message where none does.
        """
        check_counted(answers, left_out)
        return aggregate_answers(answers, form, self.aggregate, **(self.aggregate_set or {})).asked


def check_counted(answers: AnswerTable, left_out: Sequence[str] = ()) -> None:
    """Raise unless some answer to a pair to judge counts."""
    if not (answers.gold == NOT_GOLD).any():
        why = "; ".join(left_out) or ("all are about gold pairs" if len(answers) else "")
        raise InputError(
            f"no answer counts ({why})" if why else "no answer counts",
            fix="approve assignments, or require a smaller share of gold",
        )


def accepted_in(project: Project, acceptance: AcceptanceRule | None = None) -> Accepted:
    """Return the answers of a project that count by a rule; that of `karat project quality` by default."""
    return (acceptance or AcceptanceRule()).accept(
        project.answers.read(),
        project.form,
        reviews=project.reviews.read(),
        assignments=project.queue.assignments(),
    )


def project_verdicts(
    project: Project, acceptance: AcceptanceRule | None = None
) -> tuple[Accepted, Aggregated]:
    """Return the answers of a project that count, and the verdict on each pair to judge.

    Parameters
    ----------
    project
        As `karat.store.open_project` returns it.
    acceptance
        The rule; by default that of `karat project quality`, `publish` and `bias`.
    """
    rule = acceptance or AcceptanceRule()
    accepted = accepted_in(project, rule)
    return accepted, rule.verdicts(accepted.answers, project.form, accepted.notes)
