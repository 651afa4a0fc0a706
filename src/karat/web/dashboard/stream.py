"""Server-sent events: one response that never ends, with whatever is new."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from karat.judging.store.accounts import READER, User
from karat.web.dashboard.watch import Watch
from karat.web.users import require

router = APIRouter()
BEAT = 15.0
"""Seconds after which a silent stream says that it lives, and looks whether its reader may still read."""
MOST = 100
"""Streams at a time."""


@router.get("/api/dashboard/stream", response_class=StreamingResponse, include_in_schema=False)
async def stream(request: Request, user: Annotated[User, Depends(require(READER))]) -> StreamingResponse:
    """Send the numbers now, and again whenever they change."""
    watch: Watch = request.app.state.watch
    if watch.watchers >= MOST:
        raise HTTPException(503, "Too many people watch: look again later.")
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events(request, watch, user), media_type="text/event-stream", headers=headers)


async def events(request: Request, watch: Watch, user: User) -> AsyncIterator[str]:
    """Yield events until the reader leaves, signs out, or the server stops."""
    key, news = watch.listen(asyncio.get_running_loop())
    told: dict[str, int] = {}
    checked = time.monotonic()
    try:
        yield "retry: 2000\n\n"
        while not watch.closed:
            try:
                await asyncio.wait_for(news.wait(), BEAT)
            except TimeoutError:
                yield ": still here\n\n"
            if time.monotonic() - checked >= BEAT:
                checked = time.monotonic()
                if not await run_in_threadpool(may_read, request):
                    yield "event: ended\ndata: {}\n\n"
                    return
            news.clear()
            for name, version, data in watch.news(user):
                if told.get(name) != version:
                    told[name] = version
                    yield f"event: {name}\ndata: {data}\n\n"
    finally:
        watch.leave(key)


def may_read(request: Request) -> bool:
    """Whether the session that opened the stream still holds, and its role still allows it."""
    state = request.app.state
    token = state.cookies.session_of(request.headers.get("cookie", ""))
    user = state.accounts.sessions.whose(token) if token else None
    return user is not None and user.may(READER)
