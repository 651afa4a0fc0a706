"""Calibration: how far a machine judge agrees with people, measured before its answers are used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import Layout, Part, Result, flat, in_percent, json_text, plural
from karat.errors import InputError
from karat.forms import PERSON, AnswerTable, Form
from karat.judging.machine_judges.judge import Judge, Reply
from karat.judging.quality import accepted_answers
from karat.stats import Estimate, cohen_kappa, with_interval

if TYPE_CHECKING:
    from karat.store import Project

MIN_PAIRS = 50
MIN_KAPPA = 0.4
"""What a machine judge needs by default: this many pairs, and a kappa whose interval lies above this."""
SETTING = "calibration"
"""Where a project keeps its calibrations."""
WRITTEN = {"too_lenient": "too_kind"}
"""Figures with another name in the store and in json, which other programs read."""


@dataclass(frozen=True)
class Calibration(Result):
    """How a machine judge compared with people.

    Parameters
    ----------
    judge, model, version
        Which machine judge; see `Judge`.
    kappa
        Cohen's kappa of relevant or not: the machine judge against the median of people, images resampled
        together.
    graded
        Quadratic kappa of the ratings.
    people
        The same as `kappa` for one person against the median of the others; None where no pair has two
        answers.
    agreement
        The share of pairs on which machine judge and people agree whether they are relevant.
    asked, answered
        How many pairs the machine judge was asked about, and for how many it gave an answer of the form. A
        machine judge that leaves out difficult pairs looks better than it is, so both are reported.
    too_lenient, too_strict
        The shares of pairs that it calls relevant where people do not, and the reverse.
    competitor
        The system of the pool that the machine judge seems to be, or "".
    cost
        What the replies cost.
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
    too_lenient: float
    too_strict: float
    competitor: str = ""
    cost: float = 0.0

    def objections(self, min_pairs: int = MIN_PAIRS, min_kappa: float = MIN_KAPPA) -> list[str]:
        """Return why the machine judge should not be used yet; empty when it may be used."""
        reasons = []
        if self.answered < min_pairs:
            reasons.append(f"it was compared with people on {plural(self.answered, 'pair')}, not {min_pairs}")
        if not self.kappa.low >= min_kappa:
            low = "undefined" if np.isnan(self.kappa.low) else f"{self.kappa.low:.2f}"
            reasons.append(f"the lower end of its kappa is {low}, not {min_kappa:g}")
        return reasons

    def sentence(self) -> str:
        """Return the sentence for every report that uses the machine judge."""
        k = self.kappa
        between = "no interval" if np.isnan(k.low) else f"{k.low:.2f} to {k.high:.2f}"
        text = (
            f"{self.judge} ({self.model}) agrees with people at kappa {k.value:.2f} "
            f"({between}) on {plural(self.answered, 'pair')}"
        )
        if self.people is not None:
            text += f"; a person agrees with the others at {self.people.value:.2f}"
        if self.competitor:
            text += f"; it may be the competitor {self.competitor!r}, whose scores its labels would favour"
        return text + "."

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data, for the store and for json."""
        return {WRITTEN.get(name, name): value for name, value in asdict(self).items()}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Calibration:
        """Return the calibration that `as_data` wrote."""
        names = {written: name for name, written in WRITTEN.items()}
        fields = {names.get(name, name): value for name, value in data.items()}
        for name in ("kappa", "graded", "people"):
            fields[name] = None if fields[name] is None else Estimate(**with_nan(fields[name]))
        shares = ("agreement", "too_lenient", "too_strict")
        return cls(**{**fields, **with_nan({name: fields[name] for name in shares})})

    def records(self) -> list[dict[str, Any]]:
        """Return one record: the machine judge, its agreement, and what it cost."""
        return CalibrationTable((self,)).records()

    def parts(self) -> list[Part]:
        """Return the figures, and whether the machine judge may be used."""
        return CalibrationTable((self,)).parts()

    def to_json(self) -> str:
        """Return a list with `as_data` as json."""
        return CalibrationTable((self,)).to_json()


@dataclass(frozen=True)
class CalibrationTable(Result):
    """How several machine judges compared with people; `karat project judges` prints it."""

    calibrations: tuple[Calibration, ...]

    def records(self) -> list[dict[str, Any]]:
        """Return one record per machine judge."""
        return [flat(without_nan(calibration.as_data())) for calibration in self.calibrations]

    def to_json(self) -> str:
        """Return a list of each `as_data` as json."""
        return json_text([without_nan(calibration.as_data()) for calibration in self.calibrations])

    def parts(self) -> list[Part]:
        """Return the figures side by side, and which machine judges may be used."""
        if not self.calibrations:
            return ["no machine judge was compared with people yet: run karat project calibrate"]
        head = [
            "machine judge", "pairs", "no answer", "agree", "kappa", "graded kappa", "people", "too lenient",
            "too strict", "cost",
        ]  # fmt: skip
        sentences = []
        for calibration in self.calibrations:
            sentences.append(calibration.sentence())
            sentences += [f"  Not fit to be used: {reason}." for reason in calibration.objections()]
        return [
            Layout(head, [table_row(calibration) for calibration in self.calibrations]),
            "kappa: relevant or not, against the median of people, with 95% intervals over images;\n"
            "people: one person against the others.",
            "\n".join(sentences),
        ]


def table_row(calibration: Calibration) -> list[str]:
    """Return the figures of a machine judge as they are printed."""
    kappa, graded = calibration.kappa, calibration.graded
    return [
        calibration.judge,
        f"{calibration.asked:,}",
        f"{calibration.asked - calibration.answered:,}",
        in_percent(calibration.agreement, 1),
        with_interval(kappa),
        with_interval(graded),
        "" if calibration.people is None else f"{calibration.people.value:.2f}",
        in_percent(calibration.too_lenient, 1),
        in_percent(calibration.too_strict, 1),
        f"{calibration.cost:.2f}",
    ]


def without_nan(data: dict[str, Any]) -> dict[str, Any]:
    """Return plain data with None where a number is undefined: json has no NaN."""
    return {
        key: without_nan(value) if isinstance(value, dict) else None if value != value else value
        for key, value in data.items()
    }


def with_nan(data: dict[str, Any]) -> dict[str, Any]:
    """Return numbers with NaN where `without_nan` left None."""
    return {key: float("nan") if value is None else value for key, value in data.items()}


def calibrate(
    replies: Sequence[Reply],
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
    """Compare a machine judge's replies with people's answers about the same pairs.

    Parameters
    ----------
    replies
        What the machine judge replied.
    people
        Answers; only those of people about the pairs of the replies count, without gold.
    form
        The form that was used.
    judge, model, version
        Which machine judge.
    systems
        The pool's systems, to flag a machine judge that is also a competitor.
    resamples, seed
        Of the intervals.
    """
    table = by_people(people)
    reply_of = {(reply.image, reply.caption): reply for reply in replies}
    keys = zip(table.image.tolist(), table.caption.tolist())
    table = table.where(np.array([key in reply_of for key in keys], dtype=bool))
    if not len(table):
        raise InputError(
            "people have judged none of the machine judge's pairs", fix="let people judge some of them first"
        )
    order = np.lexsort((table.rating, table.caption, table.image))
    image, caption, rating = (column[order] for column in (table.image, table.caption, table.rating))
    first = np.flatnonzero(np.r_[True, (np.diff(image) != 0) | (np.diff(caption) != 0)])
    count = np.diff(np.r_[first, len(image)])
    median = rating[first + (count - 1) // 2]
    pairs = [reply_of[key] for key in zip(image[first].tolist(), caption[first].tolist())]
    answered = np.array([reply.code is not None for reply in pairs])
    machine = np.array(
        [np.nan if reply.code is None else float(form.choice(reply.code).rating or 0) for reply in pairs]
    )
    ratings, medians = machine[answered], median[answered]
    relevant, expected = form.grades(ratings) > 0, form.grades(medians) > 0
    options = {"clusters": image[first][answered], "resamples": resamples, "seed": seed}
    return Calibration(
        judge,
        model or judge,
        version,
        cohen_kappa(relevant.astype(float), expected.astype(float), categories=[0, 1], **options),
        cohen_kappa(ratings, medians, weights="quadratic", categories=form.ratings, **options),
        person_kappa(image, rating, first, count, form, resamples, seed),
        float((relevant == expected).mean()) if len(relevant) else float("nan"),
        len(pairs),
        int(answered.sum()),
        float((relevant & ~expected).mean()) if len(relevant) else float("nan"),
        float((~relevant & expected).mean()) if len(relevant) else float("nan"),
        competitor(judge, model, systems),
        float(sum(reply.cost for reply in replies)),
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

    The rows are sorted by pair, then rating, so that the median of the others is found by its position.
    """
    start, size = np.repeat(first, count), np.repeat(count, count)
    place = np.arange(len(rating)) - start
    # The lower median of the n - 1 others is at (n - 2) // 2, one further unless that is before the answer.
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


def competitor(judge: str, model: str, systems: Sequence[str]) -> str:
    """Return the system that a machine judge seems to be, by its name; "" when none.

    Its labels would favour that system.

    >>> competitor("my judge", "openai/CLIP-ViT-B-32", ["bm25", "clip_vit_b32"])
    'clip_vit_b32'
    >>> competitor("gpt", "gpt-4o", ["vilt"])
    ''
    """
    names = [simplify(name) for name in (judge, model, model.rsplit("/", 1)[-1]) if name]
    for system in systems:
        simple = simplify(system)
        if len(simple) >= 3 and any(
            simple == name or simple in name or (len(name) >= 3 and name in simple) for name in names
        ):
            return system
    return ""


def simplify(name: str) -> str:
    """Return a name without case, blanks and punctuation."""
    return re.sub(r"[\W_]+", "", name.lower())


def by_people(answers: AnswerTable) -> AnswerTable:
    """Return the answers of people, without gold."""
    person = np.array([kind == PERSON for kind in answers.kinds], dtype=bool)
    table = answers.asked
    return table.where(person[table.annotator])


def people_answers(project: Project) -> AnswerTable:
    """Return people's answers that count: submitted, not rejected, by annotators who pass the gold check."""
    accepted = accepted_answers(
        project.answers.read(),
        project.form,
        reviews=project.reviews.read(),
        assignments=project.queue.assignments(),
    )
    return by_people(accepted.answers)


def calibration_of(project: Project, judge: Judge) -> Calibration | None:
    """Return how this version of a machine judge compared with people; None when it was never compared."""
    data = (project.journal.get(SETTING) or {}).get(judge.version)
    return None if data is None else Calibration.from_data(data)


def calibrations(project: Project) -> list[Calibration]:
    """Return how every machine judge of a project compared with people."""
    return [Calibration.from_data(data) for data in (project.journal.get(SETTING) or {}).values()]


def keep_calibration(project: Project, calibration: Calibration) -> None:
    """Store how a version of a machine judge compared with people."""
    stored = project.journal.get(SETTING) or {}
    project.journal.set(SETTING, {**stored, calibration.version: without_nan(calibration.as_data())})
