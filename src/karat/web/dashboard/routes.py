"""The dashboard's page, its numbers, and what its buttons do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from fastapi.responses import FileResponse, Response, StreamingResponse

from karat.errors import InputError
from karat.judging.checking import AGGREGATIONS, review_hand_ins
from karat.judging.exchange import FORMATS
from karat.judging.store.accounts import OWNER, READER, User
from karat.web.dashboard import adjudication, stream
from karat.web.dashboard.archive import zipped
from karat.web.dashboard.bodies import Export, Publish, Review
from karat.web.dashboard.jobs import DONE, Jobs
from karat.web.dashboard.money import SETTING, Pay
from karat.web.dashboard.publication import Shelf, export_job, publish_job
from karat.web.dashboard.watch import Watch
from karat.web.pages import render
from karat.web.shapes import Number, Short
from karat.web.users import require

router = APIRouter()
router.include_router(stream.router)
router.include_router(adjudication.router)
Owner = Annotated[User, Depends(require(OWNER))]
Reader = Annotated[User, Depends(require(READER))]


def prepare(app: FastAPI) -> None:
    """Give the application what the dashboard needs, and say what is to be closed with it."""
    state = app.state
    state.watch = Watch(state.project)
    state.shelf = Shelf(state.settings.published)
    tell_jobs = state.watch.register("jobs", OWNER)
    state.jobs = Jobs(lambda: tell_jobs(jobs_of(app)))
    state.closing += [state.shelf.close, state.jobs.close, state.watch.close]
    tell_jobs(jobs_of(app))


def jobs_of(app: FastAPI) -> dict[str, Any]:
    """Return the jobs, and what was published."""
    return {"jobs": app.state.jobs.shown(), "published": app.state.shelf.names()}


@router.get("/dashboard")
def dashboard_page(request: Request, user: Reader) -> Response:
    """Show the dashboard; its numbers come by the stream."""
    project = request.app.state.project
    ways = [(name, way.about) for name, way in zip(AGGREGATIONS, AGGREGATIONS.values())]
    formats = [(one.name, one.help) for one in FORMATS.values()]
    shelf: Shelf = request.app.state.shelf
    return render(
        request, "dashboard.html", form=project.form, ways=ways, formats=formats, kept=shelf.kept,
        owner=user.may(OWNER),
    )  # fmt: skip


@router.get("/adjudicate")
def adjudicate_page(request: Request, user: Owner) -> Response:
    """Show the page for deciding where people disagree."""
    return render(request, "adjudicate.html", form=request.app.state.project.form)


@router.get("/api/dashboard/live")
def live(request: Request, user: Reader) -> dict[str, Any]:
    """Return the numbers that change with every answer."""
    return request.app.state.watch.count()


@router.get("/api/dashboard/statistics")
def statistics(request: Request, user: Reader) -> dict[str, Any]:
    """Return the numbers that take a while, with the time to which they belong."""
    return adjudication.current(request).data


@router.post("/api/dashboard/statistics")
def ask(request: Request, user: Reader) -> dict[str, bool]:
    """Have them computed anew."""
    request.app.state.watch.ask()
    return {"done": True}


@router.put("/api/dashboard/pay")
def pay(request: Request, user: Owner, body: Pay) -> dict[str, bool]:
    """Keep what people are paid, for the cost so far."""
    request.app.state.project.journal.set(SETTING, body.model_dump())
    request.app.state.watch.count()
    return {"done": True}


@router.put("/api/dashboard/hand-ins/{slot}")
def review(request: Request, user: Owner, slot: Number, body: Review) -> dict[str, Any]:
    """Approve or reject a hand-in; a rejected task is offered to one more person unless asked otherwise."""
    if body.verdict == "reject" and not body.why.strip():
        raise InputError("a rejection needs a reason", fix="say what is wrong")
    chosen = {body.verdict: [slot]}
    again = body.ask_again and body.verdict == "reject"
    done = review_hand_ins(
        request.app.state.project, user.name, **chosen, why=body.why.strip(), ask_again=again
    )
    request.app.state.watch.ask()
    return {"done": done}


@router.get("/api/dashboard/jobs")
def jobs(request: Request, user: Owner) -> dict[str, Any]:
    """Return the jobs, and what was published."""
    return jobs_of(request.app)


@router.post("/api/dashboard/jobs/publish")
def start_publish(request: Request, user: Owner, body: Publish) -> dict[str, int]:
    """Publish, in the background."""
    state = request.app.state
    AGGREGATIONS[body.aggregation]
    work = publish_job(state.project, state.shelf, state.jobs.step, body.model_dump())
    job = state.jobs.start(f"Publish {body.name} by {body.aggregation}", user.name, work)
    state.accounts.audit.note(user.id, "published", detail={"job": job.number})
    return {"job": job.number}


@router.post("/api/dashboard/jobs/export")
def start_export(request: Request, user: Owner, body: Export) -> dict[str, int]:
    """Export, in the background."""
    state = request.app.state
    work = export_job(state.project, state.jobs.step, body.what, FORMATS[body.format].name)
    job = state.jobs.start(f"Export {body.what} as {body.format}", user.name, work)
    state.accounts.audit.note(user.id, "exported", detail={"job": job.number})
    return {"job": job.number}


@router.get("/api/dashboard/jobs/{number}/file")
def download(request: Request, user: Owner, number: Number) -> Response:
    """Send what a job left."""
    job = request.app.state.jobs.get(number)
    if job is None or job.state != DONE or job.result is None or job.result.path is None:
        raise HTTPException(404)
    return sent(job.result.path, job.result.name)


@router.get("/api/dashboard/published/{name}")
def published(request: Request, user: Owner, name: Short) -> Response:
    """Send a published folder, packed."""
    folder = request.app.state.shelf.find(name)
    if folder is None:
        raise HTTPException(404)
    return sent(folder, f"{name}.zip")


def sent(path: Path, name: str) -> Response:
    """Return a file, or a folder as a zip file, under a name."""
    if not path.exists():
        raise HTTPException(404)
    if path.is_file():
        return FileResponse(path, filename=name)
    headers = {"Content-Disposition": f"attachment; filename*=utf-8''{quote(name, safe='')}"}
    return StreamingResponse(zipped(path), media_type="application/zip", headers=headers)
