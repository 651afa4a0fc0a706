"""Deciding where people disagree: the list, a pair with everything that was said, and the decision."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import Response

from karat.errors import InputError
from karat.judging.store.accounts import OWNER, User
from karat.web.dashboard.bodies import Decision
from karat.web.dashboard.disagreements import voices
from karat.web.dashboard.statistics import Statistics
from karat.web.judging import read_picture
from karat.web.pages import base_of
from karat.web.shapes import Number
from karat.web.users import require

router = APIRouter()
Owner = Annotated[User, Depends(require(OWNER))]


@router.get("/api/dashboard/disagreements")
def disagreements(
    request: Request,
    user: Owner,
    which: Literal["open", "decided"] = "open",
    start: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> dict[str, Any]:
    """Return pairs on which people disagree, a hundred at a time."""
    statistics = current(request)
    found, decided = statistics.disagreements, request.app.state.project.reviews.decisions()
    listed = list(zip(found.image.tolist(), found.caption.tolist(), found.share.tolist()))
    chosen = [one for one in listed if (one[:2] in decided) == (which == "decided")]
    return {
        "as_of": statistics.data["as_of"],
        "all": len(chosen) + (found.total - len(found) if which == "open" else 0),
        "pairs": [
            {"image": image, "caption": caption, "share": share}
            for image, caption, share in chosen[start : start + 100]
        ],
    }


@router.get("/api/dashboard/disagreements/{image}/{caption}")
def disagreement(request: Request, user: Owner, image: Number, caption: Number) -> dict[str, Any]:
    """Return a pair with everything that was said about it."""
    project, found = request.app.state.project, current(request).disagreements
    row = found.row_of(image, caption)
    if row is None:
        raise HTTPException(404)
    benchmark = project.benchmark()
    texts, own = benchmark.texts, benchmark.caption_image
    wrote = int(own[caption]) if project.form.own_image and own is not None and own[caption] >= 0 else None
    at = f"{base_of(request)}/api/dashboard/picture"
    return {
        "image": image, "caption": caption, "image_id": str(benchmark.images[image]),
        "caption_id": str(benchmark.captions[caption]),
        "text": str(benchmark.captions[caption]) if texts is None else texts[caption],
        "picture": f"{at}/{image}",
        "own_picture": None if wrote is None else f"{at}/{wrote}",
        "share": float(found.share[row]), "relevance": float(found.relevance[row]),
        "answers": voices(found, image, caption, project),
        "decision": project.reviews.decisions().get((image, caption)),
    }  # fmt: skip


@router.put("/api/dashboard/disagreements/{image}/{caption}")
def decide(request: Request, user: Owner, image: Number, caption: Number, body: Decision) -> dict[str, Any]:
    """Decide about a pair, or take the decision back; it stands instead of what answers add up to."""
    project = request.app.state.project
    if current(request).disagreements.row_of(image, caption) is None:
        raise InputError("nobody disagrees about this pair", fix="choose one of the list")
    project.reviews.adjudicate(f"adjudicator {user.id}", image, caption, body.code)
    request.app.state.watch.ask()
    return {"decision": project.reviews.decisions().get((image, caption))}


@router.get("/api/dashboard/picture/{image}")
def picture(request: Request, user: Owner, image: Number) -> Response:
    """Send an image of the benchmark, by its index."""
    data, kind = read_picture(request.app.state.project.benchmark(), image)
    return Response(data, media_type=kind, headers={"Cache-Control": "private, max-age=3600"})


def current(request: Request) -> Statistics:
    """Return the statistics that there are; the first time they are computed."""
    return request.app.state.watch.current()
