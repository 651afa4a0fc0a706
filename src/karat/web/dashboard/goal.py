"""The goal of a project on the dashboard: set it, and have the next pairs asked about."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, FastAPI, Request
from pydantic import Field
from starlette.datastructures import State

from karat.errors import InputError
from karat.store import Goal
from karat.store.accounts import OWNER, User
from karat.web.access import require
from karat.web.dashboard.goal_estimate import GoalEstimate, OfferedRuns, Proposal
from karat.web.dashboard.jobs import Job, Work
from karat.web.shapes import Body, Number, Short

router = APIRouter()
Owner = Annotated[User, Depends(require(OWNER))]
MOST_PAIRS, MOST_ANNOTATORS = 100_000, 100
SUGGESTED = ("P@10", "P@5", "P@1", "RP")
"""What the form suggests; every measure that can be estimated may be typed."""


class GoalBody(Body):
    """A goal; the runs are named as on the page, never by a path."""

    runs: Annotated[list[Short], Field(min_length=1, max_length=50)]
    measure: Annotated[Short, Field(min_length=1)]
    direction: Short
    rule: Literal["width", "winner", "budget"]
    number: Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)] | None = None
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    noisy: bool = True


class AskedPairs(Body):
    """How many pairs to ask about next, and how many annotators answer each."""

    number: Annotated[int, Field(ge=1, le=MOST_PAIRS)]
    overlap: Annotated[int, Field(ge=1, le=MOST_ANNOTATORS)] = 3


def prepare_goal(app: FastAPI) -> None:
    """Set up the estimate of the goal, which the slow thread of the dashboard computes."""
    state = app.state
    runs = OfferedRuns(state.project, state.settings.runs)
    publish, propose = state.watch.register("goal"), state.watch.register("proposal", OWNER)
    state.goal = GoalEstimate(state.project, runs, publish, propose)
    state.ask_goal = state.watch.follow("goal", state.goal.compute)
    propose(None)


@router.put("/api/dashboard/goal")
def set_goal(request: Request, user: Owner, body: GoalBody) -> dict[str, bool]:
    """Replace the goal; earlier ones stay in the project."""
    state = request.app.state
    chosen = body.model_dump() | {"runs": tuple(state.goal.runs.source(name) for name in body.runs)}
    goal = Goal(**chosen | {"direction": state.project.benchmark().direction(body.direction)})
    state.project.goals.set(goal)
    state.accounts.audit.note(user.id, "goal set", detail={"rule": goal.rule, "runs": len(goal.runs)})
    state.ask_goal()
    return {"done": True}


@router.delete("/api/dashboard/goal")
def remove_goal(request: Request, user: Owner) -> dict[str, bool]:
    """Let the project have no goal any more."""
    state = request.app.state
    state.project.goals.set(None)
    state.accounts.audit.note(user.id, "goal removed")
    state.ask_goal()
    return {"done": True}


@router.post("/api/dashboard/goal/pairs")
def propose_pairs(request: Request, user: Owner, body: AskedPairs) -> dict[str, Any]:
    """Draw the next pairs in the background, and say what they will cost; nothing is stored."""
    state = request.app.state
    proposal, work = state.goal.propose(body.number, body.overlap)
    job = start(state, f"Draw {body.number:,} pairs", user, proposal, work)
    return {"job": job.number, "proposal": proposal.number}


@router.post("/api/dashboard/goal/pairs/{number}")
def add_pairs(request: Request, user: Owner, number: Number) -> dict[str, Any]:
    """Add proposed pairs to the queue, in the background."""
    state = request.app.state
    proposal, work = state.goal.confirm(number)
    job = start(state, f"Add {proposal.shown['pairs']:,} pairs to the queue", user, proposal, work)
    detail = {"job": job.number, "pairs": proposal.shown["pairs"], "tasks": proposal.shown["tasks"]}
    state.accounts.audit.note(user.id, "pairs added", detail=detail)
    return {"job": job.number}


def start(state: State, title: str, user: User, proposal: Proposal, work: Work) -> Job:
    """Start the job of a proposal; a refused job leaves no proposal that waits for it."""
    try:
        return state.jobs.start(title, user.name, work)
    except InputError as error:
        state.goal.change(proposal, state="failed", said=[str(error)])
        raise


@router.delete("/api/dashboard/goal/pairs")
def drop_pairs(request: Request, user: Owner) -> dict[str, bool]:
    """Drop the proposed pairs."""
    request.app.state.goal.drop()
    return {"done": True}
