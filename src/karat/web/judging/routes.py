"""The judging page and its API: the form, leases, answers and images."""

from __future__ import annotations

import hashlib
import shlex
import threading
import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from karat.benchmarks import DIRECTIONS, Benchmark
from karat.errors import InputError
from karat.forms import Choice, Form, read_details
from karat.judging.publication import both_sides
from karat.store import Lease, Project
from karat.store.accounts import JUDGE, User
from karat.web.access import require
from karat.web.judging.answer_requests import (
    AnswerBody,
    ClosedPage,
    LeaseBody,
    LeaseLost,
    LeaseRequest,
    TaskSubmitted,
    Withdrawal,
    check_own,
    save,
)
from karat.web.judging.pictures import NoPicture, Pictures, region_of, send_picture
from karat.web.pages import render

router = APIRouter()
Judge = Annotated[User, Depends(require(JUDGE))]
Number = Annotated[int, Path(ge=0, le=2**53)]
AHEAD_SECONDS = 600.0
"""How long the next task is leased ahead of time: if it is not begun, others get it soon."""
COUNT_EVERY = 5.0
"""How many seconds the counts of assignments are kept; the page updates the user's own count meanwhile."""


def prepare(app: FastAPI) -> None:
    """Set up what the page needs."""
    app.state.judging_progress = Progress(app.state.project)
    app.state.judging_holders = {}
    app.state.pictures = Pictures(app.state.project)
    app.state.closing.append(app.state.pictures.close)
    app.add_exception_handler(LeaseLost, lambda request, error: JSONResponse({"error": str(error)}, 409))
    app.add_exception_handler(TaskSubmitted, lambda request, error: JSONResponse({"error": str(error)}, 410))
    app.add_exception_handler(NoPicture, lambda request, error: JSONResponse({"error": str(error)}, 404))


@router.get("/judge")
def judge_page(request: Request, user: Judge) -> Response:
    """Show the page; its script requests the tasks."""
    project = request.app.state.project
    check_shown(project)
    return render(request, "judge.html", form=project.form, mark=mark_of(project))


def not_shown(project: Project) -> list[str]:
    """Say why the page cannot show the pairs of a project, where it cannot, and what to do."""
    benchmark = project.benchmark()
    if benchmark.directions == DIRECTIONS:
        return []
    what = f"the judging page shows images and captions, and {benchmark.name} has {both_sides(benchmark)}"
    export = f"karat project export {shlex.quote(project.where)} -o tasks.csv"
    return [f"{what}; have tasks answered elsewhere: {export}"]


def check_shown(project: Project) -> None:
    """Raise where the page cannot show the pairs of a project."""
    if reasons := not_shown(project):
        raise InputError(
            reasons[0].partition(";")[0], fix="ask who runs the project where its tasks are answered"
        )


@router.get("/api/judge/state")
def state(request: Request, user: Judge) -> dict[str, Any]:
    """Return the form, the user's lease and the progress; nothing is leased."""
    project = request.app.state.project
    lease = show_lease(project, project.queue.held(user.name), time.time())
    return {
        "form": show_form(project.form),
        "lease": lease,
        "user": user.id,
        "progress": progress(request, user),
    }


@router.post("/api/judge/lease")
def lease(request: Request, user: Judge, body: LeaseRequest) -> dict[str, Any]:
    """Return the user's current task, leased now if there is none, and the next task on request."""
    project, now = request.app.state.project, time.time()
    check_shown(project)
    seconds = request.app.state.settings.lease_seconds
    current = project.queue.at_hand(user.name, seconds)
    ahead = project.queue.ahead(user.name, min(seconds, AHEAD_SECONDS)) if body.ahead and current else None
    return {
        "lease": show_lease(project, current, now), "ahead": show_lease(project, ahead, now),
        "user": user.id, "progress": progress(request, user),
    }  # fmt: skip


@router.post("/api/judge/answer")
async def answer(request: Request, user: Judge, body: AnswerBody) -> dict[str, int]:
    """Store an answer; a repeated key changes nothing."""
    return {"number": await save(request.app, user.name, body.answer(body.token))}


@router.post("/api/judge/withdraw")
async def withdraw(request: Request, user: Judge, body: Withdrawal) -> dict[str, int]:
    """Withdraw an answer; a repeated key changes nothing."""
    return {"number": await save(request.app, user.name, body.answer(body.token))}


@router.post("/api/judge/submit")
def submit(request: Request, user: Judge, body: LeaseBody) -> dict[str, bool]:
    """Submit a task; repeating it changes nothing."""
    check_own(request.app.state.project, user.name, body.token)
    request.app.state.project.queue.submit(body.token)
    return {"done": True}


@router.post("/api/judge/leave")
async def leave(request: Request, user: Judge, body: ClosedPage) -> dict[str, bool]:
    """Store what a closed page had not sent yet, in its order; repeated keys are stored once."""
    for entry in body.answers:
        await save(request.app, user.name, entry.answer(body.token))
    if body.submit:
        return await run_in_threadpool(submit, request, user, LeaseBody(token=body.token))
    return {"done": True}


@router.post("/api/judge/renew")
def renew(request: Request, user: Judge, body: LeaseBody) -> dict[str, float]:
    """Renew a lease; return its seconds."""
    seconds = float(request.app.state.settings.lease_seconds)
    check_own(request.app.state.project, user.name, body.token)
    request.app.state.project.queue.renew(body.token, seconds)
    return {"seconds": seconds}


@router.post("/api/judge/release")
def release(request: Request, user: Judge, body: LeaseBody) -> dict[str, bool]:
    """Return a task unfinished."""
    check_own(request.app.state.project, user.name, body.token)
    request.app.state.project.queue.release(body.token)
    return {"done": True}


@router.get("/api/judge/image/{item}")
async def image(request: Request, user: Judge, item: Number) -> Response:
    """Return the image of an item of the user's own tasks."""
    pair = await run_in_threadpool(request.app.state.project.queue.pair_of, user.name, item)
    return await send_picture(request, None if pair is None else pair[0])


@router.get("/api/judge/own-image/{item}")
async def image_of_caption(request: Request, user: Judge, item: Number) -> Response:
    """Return the image that an item's caption was written for, if the form shows it."""
    project = request.app.state.project
    pair = None
    if project.form.own_image:
        pair = await run_in_threadpool(project.queue.pair_of, user.name, item)
    return await send_picture(request, None if pair is None else own_image(project.benchmark(), pair[1]))


def progress(request: Request, user: User) -> dict[str, int]:
    """Return the progress of the user and of the project."""
    return request.app.state.judging_progress.of(user.name)


class Progress:
    """The progress of a project, a few seconds old at most: counting for every request would be too slow.

    Parameters
    ----------
    project
        The project.
    """

    def __init__(self, project: Project) -> None:
        self.project, self.lock = project, threading.Lock()
        self.at, self.assignments, self.submitted = float("-inf"), 0, dict[str, int]()

    def of(self, annotator: str) -> dict[str, int]:
        """Return the submitted assignments of an annotator and of all, and the number of assignments."""
        with self.lock:
            if time.monotonic() - self.at > COUNT_EVERY:
                self.assignments, self.submitted = self.project.queue.progress()
                self.at = time.monotonic()
            return {
                "own": self.submitted.get(annotator, 0), "submitted": sum(self.submitted.values()),
                "assignments": self.assignments,
            }  # fmt: skip


def show_form(form: Form) -> dict[str, Any]:
    """Return a form as the page needs it, without the ratings of its answers.

    >>> from karat.forms import load_form
    >>> shown = show_form(load_form("grid"))
    >>> shown["checked"], shown["unchecked"], shown["answers"][0]
    ('yes', 'no', {'code': 'yes', 'text': 'It describes the image', 'key': 'y'})
    """
    ranked = sorted(form.answers, key=lambda choice: choice.rating or 0.0)
    texts = {choice.code: choice.text for choice in form.answers}
    return {
        "layout": form.layout,
        "question": form.question,
        "answers": [show_choice(choice) for choice in form.answers],
        # In a grid a box is checked or not: the answer with the higher rating is the checked one.
        "checked": ranked[-1].code,
        "unchecked": ranked[0].code,
        "own_image": form.own_image,
        "regions": form.regions,
        "follow_ups": [
            {
                "code": question.code, "text": question.text, "when": list(question.when),
                "after": question.after, "kind": question.kind, "required": question.required,
                "choices": [show_choice(choice) for choice in question.choices],
            }
            for question in form.follow_ups
        ],
        "guidelines": list(form.guidelines),
        "examples": [
            {
                "caption": example.caption, "picture": example.picture, "answer": texts[example.answer],
                "why": example.why,
            }
            for example in form.examples
        ],
    }  # fmt: skip


def show_choice(choice: Choice) -> dict[str, str]:
    """Return the text and the key of a button."""
    return {"code": choice.code, "text": choice.text, "key": choice.key}


def show_lease(project: Project, lease: Lease | None, now: float) -> dict[str, Any] | None:
    """Return a lease with its captions, and the answers so far with their details.

    Nothing in it tells which pairs are gold, what models scored, or what others answered.
    """
    items = None if lease is None else project.queue.items(lease)
    if lease is None or items is None:
        return None
    benchmark = project.benchmark()
    return {
        "token": lease.token,
        "seconds": max(0.0, lease.expires - now),
        "items": [
            {
                "id": item.id, "group": item.group, "caption": caption_of(benchmark, item.caption),
                "own": has_own(project.form, benchmark, item.caption), "code": item.code,
                "details": read_details(item.details),
                **({"region": region_of(benchmark, item.caption)} if project.form.regions else {}),
            }
            for item in items
        ],
    }  # fmt: skip


def caption_of(benchmark: Benchmark, caption: int) -> str:
    """Return a caption; its id if the benchmark has no texts."""
    if benchmark.texts is None:
        return str(benchmark.captions.values[caption])
    return str(benchmark.texts[caption])


def has_own(form: Form, benchmark: Benchmark, caption: int) -> bool:
    """Whether the image that a caption was written for is shown, and known."""
    return form.own_image and own_image(benchmark, caption) is not None


def own_image(benchmark: Benchmark, caption: int) -> int | None:
    """Return the image that a caption was written for; None if it is not known."""
    if benchmark.caption_image is None or benchmark.caption_image[caption] < 0:
        return None
    return int(benchmark.caption_image[caption])


def mark_of(project: Project) -> str:
    """Return a mark that separates this project's answers from others in the browser's storage."""
    return hashlib.sha256(f"{project.where}\n{project.name}".encode("utf-8", "replace")).hexdigest()[:12]
