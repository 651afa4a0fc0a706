"""Health and figures, and how operation is built into the application."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from karat.web.operation.access import check_may_see, metrics_token
from karat.web.operation.figures import Requests
from karat.web.operation.health import Health
from karat.web.operation.metrics import Metrics
from karat.web.operation.request_log import Inner, Outer
from karat.web.operation.streams import Streams

router = APIRouter()


def prepare(app: FastAPI) -> None:
    """Put the layers that stand next to the routes in place.

    On `app.state`: `health`, `metrics`, `requests`, and `stopping`, an `asyncio.Event` that is set
    when the server is to stop.
    """
    state = app.state
    state.metrics_token = metrics_token()
    state.stopping = asyncio.Event()
    state.requests = Requests()
    state.health = Health(state.project, state.writer)
    state.metrics = Metrics(state.project, state.writer, state.requests)
    state.closing.append(state.health.close)
    app.add_middleware(Inner)
    app.add_middleware(Streams, stopping=state.stopping, requests=state.requests)


def watch(app: FastAPI) -> None:
    """Put the layer in place that sees every request first."""
    app.add_middleware(Outer, requests=app.state.requests)


@router.get("/health")
async def health(request: Request) -> Response:
    """Say whether the server is well, to anybody: 200, or 503 when it is not or is about to stop."""
    state = request.app.state
    found = await state.health.look()
    stopping = state.stopping.is_set()
    status = "stopping" if stopping else "ok" if found.well else "failing"
    said = {"status": status, "store": {"readable": found.readable, "writable": found.writable}}
    return JSONResponse(said, 200 if status == "ok" else 503)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Return the figures, to those who may see them."""
    state = request.app.state
    await run_in_threadpool(check_may_see, request, state.metrics_token)
    found = await state.health.look()
    page = await run_in_threadpool(state.metrics.text, found)
    return Response(page, media_type=CONTENT_TYPE_PLAIN_0_0_4)
