"""The work of a machine judge in a project: first compared with people, then answering; replies are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat._util import plural, track
from karat.errors import InputError
from karat.forms import MACHINE, PERSON
from karat.judging.machine_judges.calibration import (
    MIN_KAPPA,
    MIN_PAIRS,
    Calibration,
    calibrate,
    calibration_of,
    keep_calibration,
    people_answers,
)
from karat.judging.machine_judges.judge import Judge, Question, Reply

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark
    from karat.store import Project


def calibrate_in(
    project: Project,
    judge: Judge,
    sample: int = 200,
    seed: int = 0,
    images: np.ndarray | None = None,
    max_cost: float | None = None,
) -> Calibration:
    """Compare a machine judge with people on a sample of the pairs that people have judged; store the result.

    Parameters
    ----------
    project, judge
        The project, and the machine judge.
    sample
        How many pairs, drawn at random by `seed`; all when there are fewer.
    images
        Only pairs of these images; for a machine judge that has learned from the others.
    max_cost
        Stop when the new replies have cost this much.
    """
    people = people_answers(project)
    table = people if images is None else people.where(np.isin(people.image, images))
    pairs = np.unique(np.c_[table.image, table.caption], axis=0)
    if not len(pairs):
        raise InputError(
            "people have not judged any of the pairs yet",
            fix="let people judge some first: a machine judge is compared with them",
        )
    drawn = np.sort(np.random.default_rng(seed).permutation(len(pairs))[:sample])
    questions = questions_about(project.benchmark(), *pairs[drawn].T)
    asked = ask(project, judge, questions, max_cost)
    replies = list(track(asked, "asking about pairs", len(questions)))
    if all(reply.code is None for reply in replies):
        raise InputError(
            f"the machine judge {judge.name!r} gave no answer to {plural(len(replies), 'pair')}: "
            f"{replies[0].error or 'it says nothing'}",
            fix="check it, and run this again: pairs without an answer are asked again",
        )
    calibration = calibrate(
        replies,
        people,
        project.form,
        judge=judge.name,
        model=judge.model,
        version=judge.version,
        systems=project.pools.read().systems,
        seed=seed,
    )
    keep_calibration(project, calibration)
    return calibration


def judge_in(
    project: Project,
    judge: Judge,
    *,
    everything: bool = False,
    min_pairs: int = MIN_PAIRS,
    min_kappa: float = MIN_KAPPA,
    max_cost: float | None = None,
) -> int:
    """Let a machine judge answer the pool's pairs, and return how many answers were added.

    Parameters
    ----------
    project, judge
        The project, and the machine judge.
    everything
        All pairs of the pool instead of those that no person has judged.
    min_pairs, min_kappa
        What its comparison with people must have shown; see `Calibration.objections`.
    max_cost
        See `calibrate_in`.

    Raises
    ------
    InputError
        When the machine judge was not compared with people, or did not agree with them enough.
    """
    calibration = calibration_of(project, judge)
    if calibration is None:
        raise InputError(
            f"the machine judge {judge.name!r} (version {judge.version}) was never compared with people",
            fix="run karat project calibrate first; another model, prompt or threshold is another version",
        )
    objections = calibration.objections(min_pairs, min_kappa)
    if objections:
        raise InputError(
            f"the machine judge {judge.name!r} is not fit to be used: {' and '.join(objections)}",
            fix="compare it on more pairs, improve it, or lower --min-kappa and say why",
        )
    pool, answers = project.pools.read(), project.answers.read()
    size = len(project.benchmark().captions)
    person = np.array([kind == PERSON for kind in answers.kinds], dtype=bool)
    annotator = annotator_name(judge)
    own = np.array([name == annotator for name in answers.annotators], dtype=bool)
    done = own[answers.annotator] | (False if everything else person[answers.annotator])
    judged = np.unique((answers.image * size + answers.caption)[done])
    remaining = ~np.isin(pool.image.astype(np.int64) * size + pool.caption, judged)
    questions = questions_about(project.benchmark(), pool.image[remaining], pool.caption[remaining])
    replies = []
    try:
        for reply in track(ask(project, judge, questions, max_cost), "asking about pairs", len(questions)):
            replies.append(reply)
    finally:
        # What was answered before an interruption counts.
        added = add_answers(project, annotator, [reply for reply in replies if reply.code is not None])
    project.journal.log(
        "judge", {"judge": judge.name, "version": judge.version, "asked": plural(len(questions), "pair")}
    )
    return added


def ask(
    project: Project, judge: Judge, questions: Sequence[Question], max_cost: float | None = None
) -> Iterator[Reply]:
    """Yield a reply to each question: the stored one of this version, otherwise a new one.

    Every new reply is stored with its raw text before it is yielded, so that an interruption loses only calls
    that were running. Pairs without an answer are asked again.

    Parameters
    ----------
    project, judge, questions
        Where replies are stored, who is asked, and what.
    max_cost
        Stop when the new replies have cost this much.
    """
    if judge.needs_images:
        project.benchmark().check_image_text()
    stored = {
        (reply.image, reply.caption): reply
        for reply in stored_replies(project, judge)
        if reply.code is not None
    }
    new = []
    for question in questions:
        before = stored.get((question.image, question.caption))
        if before is None:
            new.append(question)
        else:
            yield before
    spent = 0.0
    for reply in judge.judge(new):
        store_reply(project, judge, reply)
        yield reply
        spent += reply.cost
        if max_cost is not None and spent >= max_cost:
            raise InputError(
                f"the machine judge has cost {spent:.2f}, which reaches the limit",
                fix="its replies are stored: run it again with a larger --max-cost to continue",
            )


def questions_about(benchmark: Benchmark, image: np.ndarray, caption: np.ndarray) -> list[Question]:
    """Return questions about pairs, with captions and image files where the benchmark has them."""
    if benchmark.instances is not None:
        raise InputError("machine judges do not see the masks of instances", fix="ask people: karat serve")
    texts, paths = benchmark.texts, benchmark.image_paths
    return [
        Question(i, c, "" if texts is None else texts[c], "" if paths is None else str(paths[i]))
        for i, c in zip(np.asarray(image).tolist(), np.asarray(caption).tolist())
    ]


def annotator_name(judge: Judge) -> str:
    """Return the name of a machine judge among the annotators."""
    return f"machine:{judge.name}@{judge.version}"


def add_answers(project: Project, annotator: str, replies: Sequence[Reply]) -> int:
    """Store replies as answers of a machine judge, without a task."""
    from karat.forms import AnswerRows

    if not replies:
        return 0
    n = len(replies)
    return project.answers.record(
        AnswerRows(
            task=np.full(n, -1),
            image=np.array([reply.image for reply in replies]),
            caption=np.array([reply.caption for reply in replies]),
            annotator=[annotator] * n,
            code=[str(reply.code) for reply in replies],
            seconds=np.array([reply.seconds for reply in replies]),
            kind=MACHINE,
        )
    )


def stored_replies(project: Project, judge: Judge) -> Iterator[Reply]:
    """Yield the stored replies of this version of a machine judge."""
    for call in project.calls.read():
        if call.prompt == judge.version and call.judge == judge.name:
            yield Reply(
                call.image,
                call.caption,
                call.code,
                raw=call.reply or "",
                error=call.error or "",
                sent=call.request.get("text", ""),
                tokens_in=call.tokens_in or 0,
                tokens_out=call.tokens_out or 0,
                cost=call.cost or 0.0,
                seconds=call.request.get("seconds", 0.0),
            )


def store_reply(project: Project, judge: Judge, reply: Reply) -> None:
    """Store a reply with its raw text."""
    from karat.store import Call

    project.calls.add(
        Call(
            judge.name,
            judge.model,
            judge.version,
            reply.image,
            reply.caption,
            {"text": reply.sent, "seconds": reply.seconds},
            reply=reply.raw,
            code=reply.code,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            cost=reply.cost,
            error=reply.error or None,
        )
    )
