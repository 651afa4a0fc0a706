"""A run as a judge: a model's scores decide the answers, by thresholds learned from half of the images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.errors import InputError
from karat.judging.checking import PERSON
from karat.judging.judges.judge import Question
from karat.judging.judges.keeping import approved
from karat.judging.judges.scoring import ScoringJudge, fit_thresholds
from karat.runs import Run
from karat.scores import run_scores

if TYPE_CHECKING:
    from karat.judging.forms import Form
    from karat.judging.store import Project

SETTING = "thresholds"


def judge_of_run(run: Run, form: Form, thresholds: Sequence[float]) -> ScoringJudge:
    """Return the judge that a run makes; the run must be aligned to the project's benchmark."""

    def score(questions: Sequence[Question]) -> np.ndarray:
        image, caption = (np.array([getattr(q, side) for q in questions]) for side in ("image", "caption"))
        return run_scores(run, image, caption)

    return ScoringJudge(run.name, score, thresholds, form)


def learn_judge(project: Project, run: Run, seed: int = 0) -> tuple[ScoringJudge, np.ndarray]:
    """Fit a run's thresholds to people's answers about half of the judged images, and keep them.

    Returns
    -------
    The judge, and the other half of the images: only those may say how good it is.
    """
    people = approved(project)
    person = np.array([kind == PERSON for kind in people.kinds], dtype=bool)
    table = people.asked
    table = table.where(person[table.worker])
    images = np.unique(table.image)
    if len(images) < 2:
        raise InputError("people have judged pairs of fewer than two images", fix="let them judge some first")
    half = np.random.default_rng(seed).permutation(images)[: len(images) // 2]
    there = np.isin(table.image, half)
    scores = run_scores(run, table.image[there], table.caption[there])
    thresholds = fit_thresholds(scores, table.rating[there], project.form)
    kept = project.journal.get(SETTING) or {}
    project.journal.set(SETTING, {**kept, run.name: list(thresholds)})
    return judge_of_run(run, project.form, thresholds), np.setdiff1d(images, half)


def kept_judge(project: Project, run: Run) -> ScoringJudge:
    """Return the judge whose thresholds were learned before."""
    found = (project.journal.get(SETTING) or {}).get(run.name)
    if found is None:
        raise InputError(
            f"the run {run.name!r} was never compared with people", fix="run karat judge calibrate first"
        )
    return judge_of_run(run, project.form, found)
