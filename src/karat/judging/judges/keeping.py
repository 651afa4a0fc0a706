"""What a project keeps of its judges: what they said, how they compared with people, their answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.benchmarks import Benchmark
from karat.judging.checking import MACHINE, AnswerTable, accepted_answers
from karat.judging.judges.calibration import Calibration
from karat.judging.judges.judge import Judge, Question, Verdict

if TYPE_CHECKING:
    from karat.judging.store import Project

SETTING = "calibration"


def questions_about(benchmark: Benchmark, image: np.ndarray, caption: np.ndarray) -> list[Question]:
    """Return questions about pairs, with their texts and files where the benchmark knows them."""
    texts, paths = benchmark.texts, benchmark.image_paths
    return [
        Question(i, c, "" if texts is None else texts[c], "" if paths is None else str(paths[i]))
        for i, c in zip(np.asarray(image).tolist(), np.asarray(caption).tolist())
    ]


def calibration_of(project: Project, judge: Judge) -> Calibration | None:
    """Return how this version of a judge compared with people; None when it never was."""
    found = (project.journal.get(SETTING) or {}).get(judge.version)
    return None if found is None else Calibration.from_data(found)


def calibrations(project: Project) -> list[Calibration]:
    """Return how every judge of a project compared with people."""
    return [Calibration.from_data(one) for one in (project.journal.get(SETTING) or {}).values()]


def keep_calibration(project: Project, result: Calibration) -> None:
    """Keep how a version of a judge compared with people."""
    everything = project.journal.get(SETTING) or {}
    project.journal.set(SETTING, {**everything, result.version: result.as_data()})


def worker_name(judge: Judge) -> str:
    """Return the name under which a judge's answers stand among those of people."""
    return f"machine:{judge.name}@{judge.version}"


def add_answers(project: Project, worker: str, verdicts: Sequence[Verdict]) -> int:
    """Store verdicts as answers of a machine, without a task."""
    from karat.judging.store import AnswerRows

    if not verdicts:
        return 0
    n = len(verdicts)
    return project.answers.record(
        AnswerRows(
            task=np.full(n, -1),
            image=np.array([one.image for one in verdicts]),
            caption=np.array([one.caption for one in verdicts]),
            worker=[worker] * n,
            code=[str(one.code) for one in verdicts],
            seconds=np.array([one.seconds for one in verdicts]),
            kind=MACHINE,
        )
    )


def approved(project: Project) -> AnswerTable:
    """Return the answers that count: handed in, not rejected, by people who pass the control rule."""
    found = accepted_answers(
        project.answers.read(), project.form, reviews=project.reviews.read(), slots=project.queue.slots()
    )  # fmt: skip
    return found.answers


def stored(project: Project, judge: Judge) -> Iterator[Verdict]:
    """Yield what this version of a judge has said before."""
    for one in project.calls.read():
        if one["prompt"] == judge.version and one["judge"] == judge.name:
            yield Verdict(
                one["image"],
                one["caption"],
                one["code"],
                raw=one["reply"] or "",
                error=one["error"] or "",
                sent=one["request"].get("text", ""),
                tokens_in=one["tokens_in"] or 0,
                tokens_out=one["tokens_out"] or 0,
                cost=one["cost"] or 0.0,
                seconds=one["request"].get("seconds", 0.0),
            )


def keep(project: Project, judge: Judge, verdict: Verdict) -> None:
    """Store a verdict, everything that was said included."""
    project.calls.add(
        judge.name,
        judge.model,
        judge.version,
        verdict.image,
        verdict.caption,
        {"text": verdict.sent, "seconds": verdict.seconds},
        reply=verdict.raw,
        code=verdict.code,
        tokens_in=verdict.tokens_in,
        tokens_out=verdict.tokens_out,
        cost=verdict.cost,
        error=verdict.error or None,
    )
