"""Choices: score runs on the examples of a benchmark of choices, beside chance and a text-only control."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat._util import check_choice, plural, track
from karat.benchmarks import ALL, Benchmark, Choices
from karat.errors import InputError
from karat.measures import (
    MEASURES,
    ChoiceMeasure,
    ChoiceScores,
    Compared,
    Macro,
    Named,
    parse_measure,
    parse_measures,
    show_value,
)
from karat.runs import ChoiceRun, Compute, Loading, load_choices, notes_on_making
from karat.scores.column import NOT_ABOVE, Column
from karat.scores.evaluation.columns import named_apart
from karat.scores.evaluation.options import as_list
from karat.scores.scorecard import Scorecard
from karat.scores.text_only import control_of
from karat.stats import above_chance

TIES = ("pessimistic", "optimistic", "expected")
"""The tie policies of choices: their scores have no other order."""
SHOWN = 4
"""How many truths a note names."""


def score_choices(
    sources: Any,
    benchmark: Benchmark,
    measure: Iterable[str | Named] | str | None = None,
    *,
    truth: Iterable[str] | str | None = None,
    direction: Iterable[str] | str | None = None,
    ties: str = "pessimistic",
    text_only: Any = None,
    loading: Loading | None = None,
    compute: Compute | None = None,
) -> Scorecard:
    """Score runs on a benchmark of choices; `karat.evaluate` says what the parameters are.

    Parameters
    ----------
    sources, benchmark, measure, truth, direction, ties, text_only, loading, compute
        As `karat.evaluate` takes them.

    Returns
    -------
    Scorecard
        Its queries are examples. A column has its chance level and the p-value of being above it.
    """
    choices = benchmark.choices
    assert choices is not None
    check_choice(ties, TIES, "ties")
    measures = check_measures(benchmark, choices, measure, direction)
    truths = truths_of(choices, truth)
    control = control_of(text_only, benchmark)
    runs = load_choices(sources, benchmark, loading, compute)
    columns: list[Column] = []
    notes: list[str] = []
    scored = named_apart([*runs, *([] if control is None else [control])])
    for run in track(scored, lambda run: f"scoring {run.name}"):
        scoring = ChoiceScoring(run, choices, benchmark, ties, alone=run is control)
        columns += [
            column for name in truths for named in measures for column in scoring.columns(named, name)
        ]
        notes += [*run.notes, *scoring.notes(measures)]
    if control is not None:
        notes += leak_notes([column for column in columns if column.run == control.name])
    made_with = {run.name: run.made_with for run in runs if run.made_with is not None}
    notes = list(dict.fromkeys([*notes, *notes_on_making(made_with)]))
    return Scorecard(columns, benchmark, ties, notes=notes, made_with=made_with)


def check_measures(
    benchmark: Benchmark,
    choices: Choices,
    measure: Iterable[str | Named] | str | None,
    direction: Iterable[str] | str | None,
) -> list[Named]:
    """Return the measures, of the directions that are wanted, or raise for those that rank a gallery."""
    names = as_list(measure)
    measures = parse_measures(default_measures(choices) if names is None else names)
    for named in measures:
        if not isinstance(named, ChoiceMeasure | Macro):
            known = [name for name in MEASURES if issubclass(MEASURES[name], ChoiceMeasure | Macro)]
            raise InputError(
                f"{named} ranks a gallery, and {benchmark.name} is a benchmark of choices",
                fix=f"choose from {', '.join(known)}",
            )
        if isinstance(named, Macro) and not choices.groups:
            raise InputError(f"{benchmark.name} has no groups for {named}", fix="choose Text")
    if direction is None:
        return measures
    wanted = as_list(direction) or []
    chosen = [
        named
        for named in measures
        if named.direction in wanted or (named.direction not in benchmark.directions and len(wanted) > 1)  # type: ignore[attr-defined]
    ]
    if not chosen:
        raise InputError(f"no measure is of direction {', '.join(wanted)}", fix="leave out the direction")
    return chosen


def default_measures(choices: Choices) -> list[Named | str]:
    """Return the source's choice, else every comparison of images with captions that decides something.

    Only karat's own: what is scored does not depend on what is installed beside it.
    """
    compared = (
        kind() for kind in MEASURES.own().values() if issubclass(kind, Compared) and not kind.of_captions
    )
    form = choices.correct[0], choices.known[0]
    return list(choices.measures) or [named for named in compared if any(named.comparisons(*form))]


def truths_of(choices: Choices, truth: Iterable[str] | str | None) -> list[str]:
    """Return the groups of examples that are scored."""
    wanted = [ALL, *choices.shown] if truth is None else as_list(truth) or []
    return list(dict.fromkeys(name for each in wanted for name in choices.expand(each)))


class ChoiceScoring:
    """The columns of one run.

    Parameters
    ----------
    run, choices, benchmark, ties
        What is scored, and how equal scores count.
    alone
        Whether the run ignores the images: then only what compares captions has a value, and equal scores,
        which are common, are decided by chance.
    """

    def __init__(
        self, run: ChoiceRun, choices: Choices, benchmark: Benchmark, ties: str, alone: bool = False
    ) -> None:
        self.run, self.choices, self.benchmark, self.alone = run, choices, benchmark, alone
        self.scores = ChoiceScores(
            run.scores, choices.correct, choices.known, run.captions, "expected" if alone else ties
        )

    def columns(self, named: Named, truth: str) -> list[Column]:
        """Return the column of a measure on a truth; none where it does not apply."""
        if isinstance(named, Macro):
            return [self.macro(named)] if truth == ALL else []
        assert isinstance(named, ChoiceMeasure)
        if self.alone and not named.of_texts:
            return []
        return [self.column(named, truth, self.choices.members(truth))]

    def column(self, measure: ChoiceMeasure, truth: str, members: np.ndarray) -> Column:
        """Return one column with its chance level."""
        column = Column(self.run.name, truth, measure.direction, measure, None, 0)
        if measure.of_captions and self.run.captions is None:
            return replace(column, note="it compares captions with captions, which needs their embeddings")
        own = self.scores.take(members)
        values = measure.values(own)
        defined = ~np.isnan(values)
        if not defined.any():
            return replace(column, note=f"the examples of {self.benchmark.name} leave it nothing to decide")
        members, values, chance = members[defined], values[defined], measure.chance(own)[defined]
        cluster = self.choices.clusters[members]
        known = bool(np.isfinite(chance).all())
        return replace(
            column,
            value=float(values.mean()),
            n=len(values),
            values=values,
            query=members,
            fold=np.zeros(len(values), np.int64),
            cluster=cluster,
            chance=float(chance.mean()) if known else None,
            p_chance=above_chance(values, chance, cluster) if known else None,
        )

    def macro(self, named: Macro) -> Column:
        """Return the mean of the text score over groups."""
        choices = self.choices
        field = macro_field(choices)
        fewest, left_out = choices.leave_out
        text = parse_measure("Text")
        assert isinstance(text, ChoiceMeasure)
        parts = [
            self.column(text, name, members)
            for name in choices.names(field)
            if len(members := choices.members(name)) >= fewest and name.partition("=")[2] not in left_out
        ]
        column = Column(self.run.name, ALL, named.direction, named, None, 0)
        if not parts:
            return replace(column, note=f"no {field} has {fewest} examples")
        values, chance, cluster = (
            np.concatenate(arrays)
            for arrays in zip(*(
                (part.values, np.full(part.n, part.chance, float), part.cluster) for part in parts
            ))
        )  # fmt: skip
        weight = np.concatenate([np.full(part.n, 1 / part.n / len(parts)) for part in parts])
        return replace(
            column,
            value=float(np.mean([part.value for part in parts])),
            n=len(values),
            parts=tuple(parts),
            chance=float(np.mean([part.chance for part in parts])),
            p_chance=above_chance(values, chance, cluster, weight),
        )

    def notes(self, measures: Sequence[Named]) -> list[str]:
        """Return where measures have no value, and how many examples tie."""
        notes = []
        for named in measures:
            for column in self.columns(named, ALL):
                if column.value is None:
                    notes.append(f"{column.run}: {named} has no value: {column.note}")
                elif isinstance(named, Macro):
                    notes += self.macro_notes(column)
                elif not self.alone and isinstance(named, Compared) and (tied := named.tied(self.scores)):
                    notes.append(
                        f"{column.run}: in {plural(tied, 'example')} of {column.n:,} equal scores decide "
                        f"{named}, and ties are {self.scores.ties}"
                    )
        return notes

    def macro_notes(self, column: Column) -> list[str]:
        """Return which groups the mean over groups leaves out."""
        field = macro_field(self.choices)
        every, fewest = len(self.choices.names(field)), self.choices.leave_out[0]
        if len(column.parts) == every:
            return []
        why = f"fewer than {fewest} examples" if fewest > 1 else "the list that was given"
        return [f"Macro: {len(column.parts)} of {every} groups by {field} count, by {why}"]


def macro_field(choices: Choices) -> str:
    """Return what the groups of Macro are distinguished by."""
    return next(iter([*choices.shown, *choices.groups]))


def leak_notes(columns: Sequence[Column]) -> list[str]:
    """Return a note on where a text-only control is above chance."""
    above = [c for c in columns if c.p_chance is not None and c.p_chance <= NOT_ABOVE]
    if not above:
        return []
    named = [
        f"{c.measure} {show_value(c.measure, c.value)} on {c.truth} (chance "
        f"{show_value(c.measure, c.chance)})"
        for c in above
    ]
    shown = [*named[:SHOWN], f"{len(named) - SHOWN} others"] if len(named) > SHOWN + 1 else named
    return [
        f"{above[0].run}, which sees no image, is above chance: {', '.join(shown)}; captions alone give "
        "part of the answer away"
    ]
