"""The judging page and what it asks of the server."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from karat.judging.store.accounts import JUDGE, User
from karat.web.judging import bodies
from karat.web.judging.answers import HandedIn, LeaseLost, check_own, save
from karat.web.judging.pictures import NoPicture, read_picture
from karat.web.judging.progress import Progress
from karat.web.judging.views import mark_of, own_image, show_form, show_lease
from karat.web.pages import render
from karat.web.users import require

router = APIRouter()
Judge = Annotated[User, Depends(require(JUDGE))]
Number = Annotated[int, Path(ge=0, le=2**53)]
AHEAD_SECONDS = 600.0
"""How long a task is held that is only waiting: it is soon free for others."""
KEPT = "private, max-age=86400"
"""How long a browser keeps pictures: those of a task come again after a reload."""


def prepare(app: FastAPI) -> None:
    """Set up what the page needs."""
    app.state.judging_progress = Progress(app.state.project)
    app.state.judging_holders = {}
    app.add_exception_handler(LeaseLost, lambda request, error: JSONResponse({"error": str(error)}, 409))
    app.add_exception_handler(HandedIn, lambda request, error: JSONResponse({"error": str(error)}, 410))
    app.add_exception_handler(NoPicture, lambda request, error: JSONResponse({"error": str(error)}, 404))


@router.get("/judge")
def judge_page(request: Request, user: Judge) -> Response:
    """Show the page; tasks come by script."""
    project = request.app.state.project
    return render(request, "judge.html", form=project.form, mark=mark_of(project))


@router.get("/api/judge/state")
def state(request: Request, user: Judge) -> dict[str, Any]:
    """Return the form, what is held, and how far everybody is; nothing is taken."""
    project = request.app.state.project
    shown = show_lease(project, project.queue.held(user.name), time.time())
    return {
        "form": show_form(project.form),
        "lease": shown,
        "person": user.id,
        "progress": progress(request, user),
    }


@router.post("/api/judge/lease")
def lease(request: Request, user: Judge, body: bodies.Ask) -> dict[str, Any]:
    """Return the task at hand, taken now if need be, and the one after it if it is wanted."""
    project, now = request.app.state.project, time.time()
    seconds = request.app.state.settings.lease_seconds
    found = project.queue.at_hand(user.name, seconds)
    ahead = project.queue.ahead(user.name, min(seconds, AHEAD_SECONDS)) if body.ahead and found else None
    return {
        "lease": show_lease(project, found, now), "ahead": show_lease(project, ahead, now),
        "person": user.id, "progress": progress(request, user),
    }  # fmt: skip


@router.post("/api/judge/answer")
async def answer(request: Request, user: Judge, body: bodies.AnswerBody) -> dict[str, int]:
    """Store an answer; the same key again changes nothing."""
    return {"number": await save(request.app, user.name, body.answer(body.token))}


@router.post("/api/judge/withdraw")
async def withdraw(request: Request, user: Judge, body: bodies.Withdrawal) -> dict[str, int]:
    """Take an answer back; the same key again changes nothing."""
    return {"number": await save(request.app, user.name, body.answer(body.token))}


@router.post("/api/judge/submit")
def submit(request: Request, user: Judge, body: bodies.Held) -> dict[str, bool]:
    """Hand a task in; again changes nothing."""
    check_own(request.app.state.project, user.name, body.token)
    request.app.state.project.queue.submit(body.token)
    return {"done": True}


@router.post("/api/judge/leave")
async def leave(request: Request, user: Judge, body: bodies.Last) -> dict[str, bool]:
    """Take what a page that was closed had not sent yet, in its order; what comes again is stored once."""
    for one in body.given:
        await save(request.app, user.name, one.answer(body.token))
    if body.submit:
        return await run_in_threadpool(submit, request, user, bodies.Held(token=body.token))
    return {"done": True}


@router.post("/api/judge/renew")
def renew(request: Request, user: Judge, body: bodies.Held) -> dict[str, float]:
    """Hold a task for longer; return for how many seconds."""
    seconds = float(request.app.state.settings.lease_seconds)
    check_own(request.app.state.project, user.name, body.token)
    request.app.state.project.queue.renew(body.token, seconds)
    return {"seconds": seconds}


@router.post("/api/judge/release")
def release(request: Request, user: Judge, body: bodies.Held) -> dict[str, bool]:
    """Hand a task back unfinished."""
    check_own(request.app.state.project, user.name, body.token)
    request.app.state.project.queue.release(body.token)
    return {"done": True}


@router.get("/api/judge/image/{item}")
def image(request: Request, user: Judge, item: Number) -> Response:
    """Return the image of an item of one's own tasks."""
    project = request.app.state.project
    pair = project.queue.pair_of(user.name, item)
    return picture(request, None if pair is None else pair[0])


@router.get("/api/judge/own-image/{item}")
def image_of_caption(request: Request, user: Judge, item: Number) -> Response:
    """Return the image that an item's caption was written for, where the form shows it."""
    project = request.app.state.project
    pair = project.queue.pair_of(user.name, item) if project.form.own_image else None
    return picture(request, None if pair is None else own_image(project.benchmark(), pair[1]))


def picture(request: Request, number: int | None) -> Response:
    """Return a picture of the benchmark; what is not one's own looks like what there is not."""
    if number is None:
        raise NoPicture("There is nothing here.")
    data, kind = read_picture(request.app.state.project.benchmark(), number)
    return Response(data, media_type=kind, headers={"cache-control": KEPT, "vary": "cookie"})


def progress(request: Request, user: User) -> dict[str, int]:
    """Return how far the user and everybody are."""
    return request.app.state.judging_progress.of(user.name)
