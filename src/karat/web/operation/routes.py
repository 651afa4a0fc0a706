"""The routes of health and metrics, and the middleware of operation."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from karat.web.operation.health import Health
from karat.web.operation.logs import RequestLog, RouteLog, Streams
from karat.web.operation.metrics import Metrics, Requests, check_may_see, metrics_token

router = APIRouter()


def prepare(app: FastAPI) -> None:
    """Add the middleware next to the routes.

    `app.state` gets `health`, `metrics`, `requests`, and `stopping`, an `asyncio.Event` that is set when the
    server stops.
    """
    state = app.state
    state.metrics_token = metrics_token()
    state.stopping = asyncio.Event()
    state.requests = Requests()
    state.health = Health(state.project, state.writer, state.failures)
    state.metrics = Metrics(state.project, state.writer, state.requests)
    state.closing.append(state.health.close)
    app.add_middleware(RouteLog)
    app.add_middleware(Streams, stopping=state.stopping, requests=state.requests)


def watch(app: FastAPI) -> None:
    """Add the middleware that sees every request first."""
    app.add_middleware(RequestLog, requests=app.state.requests)


@router.get("/health")
async def health(request: Request) -> Response:
    """Return the health of the server to everyone: 200, or 503 if it fails or is shutting down."""
    state = request.app.state
    finding = await state.health.look()
    stopping = state.stopping.is_set()
    status = "stopping" if stopping else "ok" if finding.healthy else "failing"
    named = {"state": finding.state, "reason": finding.reason} if finding.state else {}
    store = {"readable": finding.readable, "writable": finding.writable}
    headers = {} if status == "ok" else {"retry-after": "5"}
    return JSONResponse({"status": status, **named, "store": store}, 200 if status == "ok" else 503, headers)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Return the metrics to clients that may read them."""
    state = request.app.state
    await run_in_threadpool(check_may_see, request, state.metrics_token)
    finding = await state.health.look()
    text = await run_in_threadpool(state.metrics.text, finding)
    return Response(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)
