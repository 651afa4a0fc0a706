"""The dashboard and the page of disagreements: their numbers, and what their buttons do."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, Depends, FastAPI, HTTPException, Query, Request
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse
from pydantic import Field

from karat.errors import InputError
from karat.judging.exchange import FORMATS
from karat.judging.quality import AGGREGATIONS, AcceptanceRule, review_assignments
from karat.store.accounts import OWNER, READER, User
from karat.web.access import require
from karat.web.dashboard import goal
from karat.web.dashboard.goal_estimate import ranking
from karat.web.dashboard.jobs import DONE, Jobs, Shelf, export_job, publish_job, zipped
from karat.web.dashboard.live import PAY, Pay
from karat.web.dashboard.statistics import answers_about
from karat.web.dashboard.watch import Watch, events
from karat.web.judging import region_of, send_picture
from karat.web.pages import base_of, render
from karat.web.shapes import Body, Number, Short, Storable

router = APIRouter()
router.include_router(goal.router)
Owner = Annotated[User, Depends(require(OWNER))]
Reader = Annotated[User, Depends(require(READER))]
MOST_STREAMS = 100
"""How many streams may be open at a time."""


class Publish(Body):
    """How to publish; see `karat.judging.publish`."""

    name: Annotated[str, Field(min_length=1, max_length=80), Storable]
    aggregation: Short = AcceptanceRule.aggregate
    original_policy: Literal["union", "people", "majority"] = "union"
    approved_only: bool = False
    licence: Annotated[str, Field(max_length=500), Storable] = ""


class Export(Body):
    """What to export, and in which format."""

    what: Literal["answers", "tasks"] = "answers"
    format: Short


class Review(Body):
    """The review of a submitted assignment."""

    verdict: Literal["approve", "reject"]
    why: Annotated[str, Field(max_length=1000), Storable] = ""
    ask_again: bool = True


class PairDecision(Body):
    """The decision about a pair; None withdraws it."""

    code: Short | None


def prepare(app: FastAPI) -> None:
    """Set up what the dashboard needs, and what is closed with the server."""
    state = app.state
    state.watch = Watch(state.project)
    state.shelf = Shelf(state.settings.published)
    publish_jobs = state.watch.register("jobs", OWNER)
    state.jobs = Jobs(lambda: publish_jobs(jobs_of(app)))
    state.closing += [state.shelf.close, state.jobs.close, state.watch.close]
    publish_jobs(jobs_of(app))
    goal.prepare_goal(app)


def jobs_of(app: FastAPI) -> dict[str, Any]:
    """Return the jobs, and the names of published benchmarks."""
    return {"jobs": app.state.jobs.shown(), "published": app.state.shelf.names()}


@router.get("/dashboard")
def dashboard_page(request: Request, user: Reader) -> Response:
    """Show the dashboard; its numbers come by the stream."""
    project, benchmark = request.app.state.project, request.app.state.project.benchmark()
    aggregations = [(name, entry.about) for name, entry in zip(AGGREGATIONS, AGGREGATIONS.values())]
    formats = [(entry.name, entry.help) for entry in FORMATS.values()]
    shelf: Shelf = request.app.state.shelf
    return render(
        request, "dashboard.html", form=project.form, aggregations=aggregations, formats=formats,
        aggregation=AcceptanceRule.aggregate, kept=shelf.kept, owner=user.may(OWNER),
        runs=request.app.state.goal.runs.names(), measures=goal.SUGGESTED,
        rankings={way: ranking(benchmark, way) for way in reversed(benchmark.directions)},
    )  # fmt: skip


@router.get("/api/dashboard/stream", response_class=StreamingResponse, include_in_schema=False)
async def stream(request: Request, user: Reader) -> StreamingResponse:
    """Send the numbers now, and again whenever they change."""
    watch: Watch = request.app.state.watch
    if watch.watchers >= MOST_STREAMS:
        raise HTTPException(503, "Too many dashboards are open. Try again later.")
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events(request, watch, user), media_type="text/event-stream", headers=headers)


@router.get("/api/dashboard/live")
def live(request: Request, user: Reader) -> Response:
    """Return the numbers that change with every answer, and their age in seconds."""
    watch: Watch = request.app.state.watch
    numbers, computing = watch.count(), watch.progress("live")
    if numbers is None:
        return still_computing(computing)
    return with_age(numbers, numbers["at"], computing)


@router.get("/api/dashboard/statistics")
def statistics(request: Request, user: Reader) -> Response:
    """Return the numbers that take longer, the time of their computation, and their age in seconds."""
    watch: Watch = request.app.state.watch
    found, computing = watch.current(), watch.progress("statistics")
    if found is None:
        return still_computing(computing)
    return with_age(found.data, found.data["as_of"], computing)


def with_age(numbers: dict[str, Any], at: float, computing: dict[str, Any] | None) -> Response:
    """Return numbers with their age, and how far newer ones are."""
    # As json at once: FastAPI would first copy them, value by value.
    return JSONResponse(numbers | {"age": max(0.0, time.time() - at), "computing": computing})


def still_computing(progress: dict[str, Any] | None) -> Response:
    """Return 202: how far the first computation is; its result can be had later at the same address."""
    begins: dict[str, Any] = {"seconds": 0.0, "usual": None, "stages": []}
    return JSONResponse({"computing": progress or begins}, 202, {"Retry-After": "1"})


@router.post("/api/dashboard/statistics")
def ask(request: Request, user: Reader) -> dict[str, bool]:
    """Compute the statistics again soon."""
    request.app.state.watch.ask()
    return {"done": True}


@router.put("/api/dashboard/pay")
def pay(request: Request, user: Owner, body: Pay) -> dict[str, bool]:
    """Store what annotators are paid, for the cost so far."""
    request.app.state.project.journal.set(PAY, body.model_dump())
    request.app.state.watch.recount()
    return {"done": True}


@router.put("/api/dashboard/assignments/{assignment}")
def review(request: Request, user: Owner, assignment: Number, body: Review) -> dict[str, Any]:
    """Approve or reject a submitted assignment; by default, another annotator gets the rejected task."""
    if body.verdict == "reject" and not body.why.strip():
        raise InputError("a rejection needs a reason", fix="enter what is wrong")
    chosen = {body.verdict: [assignment]}
    again = body.ask_again and body.verdict == "reject"
    done = review_assignments(
        request.app.state.project, user.name, **chosen, why=body.why.strip(), ask_again=again
    )
    request.app.state.watch.ask()
    return {"done": done}


@router.get("/api/dashboard/jobs")
def jobs(request: Request, user: Owner) -> dict[str, Any]:
    """Return the jobs, and the names of published benchmarks."""
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
    """Send the file of a job."""
    job = request.app.state.jobs.get(number)
    if job is None or job.state != DONE or job.outcome is None or job.outcome.path is None:
        raise HTTPException(404)
    return send_file(job.outcome.path, job.outcome.name)


@router.get("/api/dashboard/published/{name}")
def published(request: Request, user: Owner, name: Short) -> Response:
    """Send a published folder as a zip file."""
    folder = request.app.state.shelf.find(name)
    if folder is None:
        raise HTTPException(404)
    return send_file(folder, f"{name}.zip")


def send_file(path: Path, name: str) -> Response:
    """Return a file, or a folder as a zip file, under a name."""
    if not path.exists():
        raise HTTPException(404)
    if path.is_file():
        return FileResponse(path, filename=name)
    headers = {"Content-Disposition": f"attachment; filename*=utf-8''{quote(name, safe='')}"}
    return StreamingResponse(zipped(path), media_type="application/zip", headers=headers)


@router.get("/adjudicate")
def adjudicate_page(request: Request, user: Owner) -> Response:
    """Show the page on which the owner decides disagreements."""
    return render(request, "adjudicate.html", form=request.app.state.project.form)


@router.get("/api/dashboard/disagreements", response_model=None)
def disagreements(
    request: Request,
    user: Owner,
    which: Literal["open", "decided"] = "open",
    start: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> Response | dict[str, Any]:
    """Return pairs with different answers, a hundred at a time."""
    watch: Watch = request.app.state.watch
    statistics = watch.current()
    if statistics is None:
        return still_computing(watch.progress("statistics"))
    differing, decisions = statistics.disagreements, request.app.state.project.reviews.decisions()
    decided = differing.are_among(decisions)
    rows = np.flatnonzero(decided if which == "decided" else ~decided)
    some = rows[start : start + 100]
    columns = (column[some].tolist() for column in (differing.image, differing.caption, differing.share))
    return {
        "as_of": statistics.data["as_of"], "computing": watch.progress("statistics"),
        "all": len(rows) + (differing.total - len(differing) if which == "open" else 0),
        "pairs": [dict(zip(("image", "caption", "share"), row)) for row in zip(*columns)],
    }  # fmt: skip


@router.get("/api/dashboard/disagreements/{image}/{caption}", response_model=None)
def disagreement(request: Request, user: Owner, image: Number, caption: Number) -> Response | dict[str, Any]:
    """Return a pair with all answers about it."""
    project, watch = request.app.state.project, request.app.state.watch
    statistics = watch.current()
    if statistics is None:
        return still_computing(watch.progress("statistics"))
    differing = statistics.disagreements
    row = differing.row_of(image, caption)
    if row is None:
        raise HTTPException(404)
    benchmark = project.benchmark()
    texts, written_for = benchmark.texts, benchmark.caption_image
    shown = project.form.own_image and written_for is not None and written_for[caption] >= 0
    address = f"{base_of(request)}/api/dashboard/picture"
    return {
        "image": image, "caption": caption, "sides": [side.one for side in benchmark.sides],
        "image_id": str(benchmark.images[image]),
        "caption_id": str(benchmark.captions[caption]),
        "text": str(benchmark.captions[caption]) if texts is None else texts[caption],
        "picture": f"{address}/{image}",
        "own_picture": f"{address}/{int(written_for[caption])}" if shown else None,
        "region": region_of(benchmark, caption),
        "share": float(differing.share[row]), "relevance": float(differing.relevance[row]),
        "answers": answers_about(differing, image, caption, project),
        "decision": project.reviews.decisions().get((image, caption)),
    }  # fmt: skip


@router.put("/api/dashboard/disagreements/{image}/{caption}")
def decide(
    request: Request, user: Owner, image: Number, caption: Number, body: PairDecision
) -> dict[str, Any]:
    """Decide about a pair, or withdraw the decision; it replaces the verdict of the answers."""
    project = request.app.state.project
    statistics = request.app.state.watch.current()
    if statistics is None:
        raise InputError("the disagreements are not computed yet", fix="try again in a moment")
    if statistics.disagreements.row_of(image, caption) is None:
        raise InputError("all answers about this pair agree", fix="choose a pair of the list")
    project.reviews.adjudicate(f"adjudicator {user.id}", image, caption, body.code)
    request.app.state.watch.ask()
    return {"decision": project.reviews.decisions().get((image, caption))}


@router.get("/api/dashboard/picture/{image}")
async def picture(request: Request, user: Owner, image: Number) -> Response:
    """Send an image of the benchmark, by its index."""
    return await send_picture(request, image)
