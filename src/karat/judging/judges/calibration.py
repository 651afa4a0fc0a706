"""Is a machine judge fit to be used? Its agreement with people, before it decides anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from karat._util import Layout, Part, Result, flat, json_text, plural
from karat.errors import InputError
from karat.judging.checking import PERSON, AnswerTable
from karat.judging.forms import Form
from karat.judging.judges.competitors import competitor
from karat.judging.judges.judge import Verdict
from karat.stats import Estimate, cohen_kappa

LEAST_PAIRS = 50
LEAST_KAPPA = 0.4
"""What a judge needs by default: so many pairs, and a kappa whose interval lies above this."""


@dataclass(frozen=True)
class Calibration(Result):
    """How a judge compared with people.

    Parameters
    ----------
    judge, model, version
        Which judge; see `Judge`.
    kappa
        Cohen's kappa of relevant or not: the judge against the median of the people, images drawn together.
    graded
        Quadratic kappa of the ratings.
    people
        The same as `kappa` for one person against the median of the others; None where nobody overlaps.
    agreement
        The share of pairs on which judge and people agree whether it is relevant.
    asked, answered
        How many pairs the judge was asked about and for how many it gave an answer of the form. A judge
        that leaves out what it finds hard looks better than it is: what is unanswered is reported.
    too_kind, too_strict
        The shares of pairs that it calls relevant against the people, and the other way round.
    competitor
        The system of the pool that the judge seems to be, or "".
    cost
        What asking cost.
    """

    judge: str
    model: str
    version: str
    kappa: Estimate
    graded: Estimate
    people: Estimate | None
    agreement: float
    asked: int
    answered: int
    too_kind: float
    too_strict: float
    competitor: str = ""
    cost: float = 0.0

    def objections(self, least_pairs: int = LEAST_PAIRS, least_kappa: float = LEAST_KAPPA) -> list[str]:
        """Return why the judge should not be used yet; empty when it may."""
        found = []
        if self.answered < least_pairs:
            found.append(f"it was compared with people on {plural(self.answered, 'pair')}, not {least_pairs}")
        if not self.kappa.low >= least_kappa:
            low = "undefined" if np.isnan(self.kappa.low) else f"{self.kappa.low:.2f}"
            found.append(f"the lower end of its kappa is {low}, not {least_kappa:g}")
        return found

    def sentence(self) -> str:
        """Return the sentence that belongs into every report that uses the judge."""
        k = self.kappa
        told = (
            f"{self.judge} ({self.model}) agrees with people at kappa {k.value:.2f} "
            f"({k.low:.2f} to {k.high:.2f}) on {plural(self.answered, 'pair')}"
        )
        if self.people is not None:
            told += f"; a person agrees with the others at {self.people.value:.2f}"
        if self.competitor:
            told += f"; it may be the competitor {self.competitor!r}, whose scores its labels would favour"
        return told + "."

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data, for the store and for json."""
        return asdict(self)

    def records(self) -> list[dict[str, Any]]:
        """Return one record: the judge, its agreement, and what asking cost."""
        return CalibrationTable((self,)).records()

    def parts(self) -> list[Part]:
        """Return the figures, and whether the judge may be used."""
        return CalibrationTable((self,)).parts()

    def to_json(self) -> str:
        """Return a list with `as_data` as json."""
        return CalibrationTable((self,)).to_json()

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Calibration:
        """Return what `as_data` wrote."""
        kept = dict(data)
        for name in ("kappa", "graded", "people"):
            kept[name] = None if kept[name] is None else Estimate(**kept[name])
        return cls(**kept)


@dataclass(frozen=True)
class CalibrationTable(Result):
    """How several judges compared with people; `karat judge list` prints it."""

    calibrations: tuple[Calibration, ...]

    def records(self) -> list[dict[str, Any]]:
        """Return one record per judge."""
        return [flat(without_nan(judge.as_data())) for judge in self.calibrations]

    def to_json(self) -> str:
        """Return a list of each judge's `as_data` as json."""
        return json_text([without_nan(judge.as_data()) for judge in self.calibrations])

    def parts(self) -> list[Part]:
        """Return the figures side by side, and which judges may be used."""
        if not self.calibrations:
            return ["no judge was compared with people yet: karat judge calibrate"]
        head = [
            "judge", "pairs", "no answer", "agree", "kappa", "graded kappa", "people", "too kind",
            "too strict", "cost",
        ]  # fmt: skip
        verdicts = []
        for judge in self.calibrations:
            verdicts.append(judge.sentence())
            verdicts += [f"  Not fit to be used: {reason}." for reason in judge.objections()]
        return [
            Layout(head, [calibration_row(judge) for judge in self.calibrations]),
            "kappa: relevant or not, against the median of the people, with 95% intervals over images;\n"
            "people: one person against the others.",
            "\n".join(verdicts),
        ]


def calibration_row(judge: Calibration) -> list[str]:
    """Return a judge's figures as people read them."""
    return [
        judge.judge,
        f"{judge.asked:,}",
        f"{judge.asked - judge.answered:,}",
        f"{100 * judge.agreement:.1f}%",
        f"{judge.kappa.value:.2f} ({judge.kappa.low:.2f}–{judge.kappa.high:.2f})",
        f"{judge.graded.value:.2f} ({judge.graded.low:.2f}–{judge.graded.high:.2f})",
        "" if judge.people is None else f"{judge.people.value:.2f}",
        f"{100 * judge.too_kind:.1f}%",
        f"{100 * judge.too_strict:.1f}%",
        f"{judge.cost:.2f}",
    ]


def without_nan(data: dict[str, Any]) -> dict[str, Any]:
    """Return plain data with None where a number is not defined: json knows no NaN."""
    return {
        key: without_nan(value) if isinstance(value, dict) else None if value != value else value
        for key, value in data.items()
    }


def calibrate(
    verdicts: Sequence[Verdict],
    people: AnswerTable,
    form: Form,
    *,
    judge: str,
    model: str = "",
    version: str = "",
    systems: Sequence[str] = (),
    resamples: int = 10_000,
    seed: int = 0,
) -> Calibration:
    """Compare a judge's verdicts with people's answers about the same pairs.

    Parameters
    ----------
    verdicts
        What the judge said.
    people
        Answers; those of people about the verdicts' pairs count, hidden known pairs apart.
    form
        What was asked.
    judge, model, version
        Which judge.
    systems
        The pool's systems, to flag a judge that is also a competitor.
    resamples, seed
        Of the intervals.
    """
    person = np.array([kind == PERSON for kind in people.kinds], dtype=bool)
    table = people.asked
    table = table.where(person[table.worker])
    said = {(one.image, one.caption): one for one in verdicts}
    keys = list(zip(table.image.tolist(), table.caption.tolist()))
    table = table.where(np.array([key in said for key in keys], dtype=bool))
    if not len(table):
        raise InputError("people have judged none of the judge's pairs", fix="let them judge some first")
    order = np.lexsort((table.rating, table.caption, table.image))
    image, caption, rating = (column[order] for column in (table.image, table.caption, table.rating))
    first = np.flatnonzero(np.r_[True, (np.diff(image) != 0) | (np.diff(caption) != 0)])
    count = np.diff(np.r_[first, len(image)])
    median = rating[first + (count - 1) // 2]
    pairs = [said[key] for key in zip(image[first].tolist(), caption[first].tolist())]
    answered = np.array([one.code is not None for one in pairs])
    machine = np.array(
        [np.nan if one.code is None else float(form.choice(one.code).rating or 0) for one in pairs]
    )
    there, right = machine[answered], median[answered]
    yes, really = form.grades(there) > 0, form.grades(right) > 0
    drawn = {"clusters": image[first][answered], "resamples": resamples, "seed": seed}
    return Calibration(
        judge,
        model or judge,
        version,
        cohen_kappa(yes.astype(float), really.astype(float), categories=[0, 1], **drawn),
        cohen_kappa(there, right, weights="quadratic", categories=form.ratings, **drawn),
        person_kappa(image, rating, first, count, form, resamples, seed),
        float((yes == really).mean()) if len(yes) else float("nan"),
        len(pairs),
        int(answered.sum()),
        float((yes & ~really).mean()) if len(yes) else float("nan"),
        float((~yes & really).mean()) if len(yes) else float("nan"),
        competitor(judge, model, systems),
        float(sum(one.cost for one in verdicts)),
    )


def person_kappa(
    image: np.ndarray,
    rating: np.ndarray,
    first: np.ndarray,
    count: np.ndarray,
    form: Form,
    resamples: int,
    seed: int,
) -> Estimate | None:
    """Return kappa of each answer against the lower median of the other answers to its pair.

    The rows are sorted by pair, then rating, so that the median of the others is a matter of places.
    """
    start, size = np.repeat(first, count), np.repeat(count, count)
    place = np.arange(len(rating)) - start
    # Of the n - 1 others the lower median stands at (n - 2) // 2, one further where that is not before it.
    middle = (size - 2) // 2
    shared = size > 1
    at = np.where(shared, start + middle + (place <= middle), 0)
    if not shared.any():
        return None
    own, others = (form.grades(values[shared]) > 0 for values in (rating, rating[at]))
    return cohen_kappa(
        own.astype(float), others.astype(float), categories=[0, 1], clusters=image[shared],
        resamples=resamples, seed=seed,
    )  # fmt: skip
