"""An orderly end: streams are ended, answers that are being saved are saved and acknowledged."""

import asyncio
import threading
import time

import pytest
import uvicorn
from fastapi.responses import StreamingResponse

from karat.store import open_project
from karat.web.app import create_app
from karat.web.server import OrderlyServer
from karat.web.settings import Settings
from web.servers import Server

from .process import free_port


async def ticks():
    while True:
        yield "data: tick\n\n"
        await asyncio.sleep(0.01)


@pytest.fixture
def orderly(made_project):
    """A server that ends in order, with a stream that never ends by itself."""
    settings = Settings(str(made_project()), port=free_port())
    app = create_app(settings)
    app.add_api_route("/ticks", lambda: StreamingResponse(ticks(), media_type="text/event-stream"))
    server = OrderlyServer(
        uvicorn.Config(app, port=settings.port, log_level="error", timeout_graceful_shutdown=60)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    end = time.monotonic() + 60
    while not server.started:
        assert time.monotonic() < end
        time.sleep(0.01)
    made = Server(settings, app.state.project, app=app, uvicorn=server, thread=thread)
    yield made
    made.stop()


def open_streams(server: Server) -> float:
    (metric,) = server.app.state.requests.streams.collect()
    return metric.samples[0].value


def stop(server: Server) -> None:
    server.uvicorn.should_exit = True


def test_streams_end_when_the_server_stops(orderly):
    with orderly.visitor().stream("GET", "/ticks") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "data: tick"
        assert open_streams(orderly) == 1
        stop(orderly)
        # To its proper end: a connection that breaks off would raise.
        assert set(lines) <= {"", "data: tick"}
    orderly.thread.join(30)
    assert not orderly.thread.is_alive()
    assert open_streams(orderly) == 0


def test_answers_on_their_way_are_saved(orderly):
    judge = orderly.client("judge")
    lease = judge.post("/api/judge/lease", json={}).json()["lease"]
    writer, begun, go = orderly.app.state.writer, threading.Event(), threading.Event()
    real = writer.answers.store

    def slowly(given):
        begun.set()
        assert go.wait(30)
        return real(given)

    writer.answers = type("Slow", (), {"store": staticmethod(slowly)})()
    given = {"token": lease["token"], "item": lease["items"][0]["id"], "code": "yes", "key": "abcdefgh"}
    told = []
    sender = threading.Thread(
        target=lambda: told.append(judge.post("/api/judge/answer", json=given))
    )  # fmt: skip
    sender.start()
    assert begun.wait(30)
    stop(orderly)
    while not orderly.app.state.stopping.is_set():
        time.sleep(0.01)
    go.set()
    sender.join(30)
    orderly.thread.join(30)
    assert not orderly.thread.is_alive()
    assert not writer.alive
    assert told[0].status_code == 200
    with open_project(orderly.app.state.settings.project) as project:
        assert [row["id"] for row in project.answers.history()] == [told[0].json()["number"]]
