"""A judge at work in a project: what it has said is kept at once, and asked only once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat._util import plural, renamed_keywords
from karat.errors import InputError
from karat.judging.checking import PERSON
from karat.judging.judges.calibration import LEAST_KAPPA, LEAST_PAIRS, Calibration, calibrate
from karat.judging.judges.judge import Judge, Question, Verdict
from karat.judging.judges.keeping import (
    add_answers,
    approved,
    calibration_of,
    keep,
    keep_calibration,
    questions_about,
    stored,
    worker_name,
)

if TYPE_CHECKING:
    from karat.judging.store import Project


def ask(
    project: Project, judge: Judge, questions: Sequence[Question], most_cost: float | None = None
) -> Iterator[Verdict]:
    """Yield a verdict for each question: from the store where this version has answered it, else asked now.

    Every new verdict is stored before it is yielded, its raw reply included, so that an interruption loses
    only what was on its way. Pairs that went without an answer are asked again.

    Parameters
    ----------
    project, judge, questions
        Where it is kept, who is asked, and what.
    most_cost
        Stop when what was spent now reaches this.
    """
    known = {(one.image, one.caption): one for one in stored(project, judge) if one.code is not None}
    new = []
    for question in questions:
        before = known.get((question.image, question.caption))
        if before is None:
            new.append(question)
        else:
            yield before
    spent = 0.0
    for verdict in judge.judge(new):
        keep(project, judge, verdict)
        yield verdict
        spent += verdict.cost
        if most_cost is not None and spent >= most_cost:
            raise InputError(
                f"the judge has cost {spent:.2f}, the most that was allowed",
                fix="what it said is kept: ask again with a larger --max-cost to go on",
            )


@renamed_keywords(pairs="sample", most_cost="max_cost")
def calibrate_in(
    project: Project,
    judge: Judge,
    sample: int = 200,
    seed: int = 0,
    images: np.ndarray | None = None,
    max_cost: float | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Calibration:
    """Compare a judge with people on a sample of the pairs that people have judged, and keep the result.

    Parameters
    ----------
    project, judge
        Where, and who.
    sample
        How many pairs, drawn at random by `seed`; all when there are fewer.
    images
        Only pairs of these; for a judge that has learned from the others.
    max_cost, progress
        See `ask`; `progress` is called with how many are done and of how many.
    """
    people = approved(project)
    person = np.array([kind == PERSON for kind in people.kinds], dtype=bool)
    table = people.asked
    table = table.where(person[table.worker] & (True if images is None else np.isin(table.image, images)))
    found = np.unique(np.c_[table.image, table.caption], axis=0)
    if not len(found):
        raise InputError("people have judged nothing yet", fix="a judge is compared with people first")
    drawn = np.sort(np.random.default_rng(seed).permutation(len(found))[:sample])
    asked = questions_about(project.benchmark(), *found[drawn].T)
    verdicts = []
    for verdict in ask(project, judge, asked, max_cost):
        verdicts.append(verdict)
        if progress is not None:
            progress(len(verdicts), len(asked))
    result = calibrate(
        verdicts, people, project.form,
        judge=judge.name, model=judge.model, version=judge.version, systems=project.pools.read().systems,
        seed=seed,
    )  # fmt: skip
    keep_calibration(project, result)
    return result


@renamed_keywords(least_pairs="min_pairs", least_kappa="min_kappa", most_cost="max_cost")
def judge_in(
    project: Project,
    judge: Judge,
    *,
    everything: bool = False,
    min_pairs: int = LEAST_PAIRS,
    min_kappa: float = LEAST_KAPPA,
    max_cost: float | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> int:
    """Let a judge answer the pool's pairs, and return how many answers were added.

    Parameters
    ----------
    project, judge
        Where, and who.
    everything
        All pairs of the pool instead of those that no person has judged.
    min_pairs, min_kappa
        What its comparison with people must have shown; see `Calibration.objections`.
    max_cost, progress
        See `ask`.

    Raises
    ------
    InputError
        When the judge was not compared with people, or agreed too little.
    """
    compared = calibration_of(project, judge)
    if compared is None:
        raise InputError(
            f"the judge {judge.name!r} (version {judge.version}) was never compared with people",
            fix="run karat judge calibrate first; another model, prompt or threshold is another version",
        )
    objections = compared.objections(min_pairs, min_kappa)
    if objections:
        raise InputError(
            f"the judge {judge.name!r} is not fit to be used: {' and '.join(objections)}",
            fix="compare it on more pairs, improve it, or lower --min-kappa and say why",
        )
    pool, answers = project.pools.read(), project.answers.read()
    size = len(project.benchmark().captions)
    by = np.array([kind == PERSON for kind in answers.kinds], dtype=bool)
    worker = worker_name(judge)
    own = np.array([name == worker for name in answers.workers], dtype=bool)
    done = own[answers.worker] | (False if everything else by[answers.worker])
    judged = np.unique((answers.image * size + answers.caption)[done])
    left = ~np.isin(pool.image.astype(np.int64) * size + pool.caption, judged)
    asked = questions_about(project.benchmark(), pool.image[left], pool.caption[left])
    verdicts = []
    try:
        for verdict in ask(project, judge, asked, max_cost):
            verdicts.append(verdict)
            if progress is not None:
                progress(len(verdicts), len(asked))
    finally:
        # What was answered before an interruption counts.
        added = add_answers(project, worker, [one for one in verdicts if one.code is not None])
    project.journal.log(
        "judge", {"judge": judge.name, "version": judge.version, "asked": plural(len(asked), "pair")}
    )
    return added
