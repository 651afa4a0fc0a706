"""Connections and their caps; an orderly end, in which answers that are being saved are acknowledged."""

import asyncio
import json
import re
import socket
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from fastapi.responses import Response, StreamingResponse

from karat.errors import InputError
from karat.store import open_project
from karat.web.app import create_app
from karat.web.connections import SPARE
from karat.web.dashboard import watch
from karat.web.server import GRACE, OrderlyServer
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


@contextmanager
def held(port, number, source="127.0.0.1", data=b""):
    """Connections from one address that send nothing, or only the start of a request."""
    lines = []
    try:
        for _ in range(number):
            lines.append(socket.create_connection(("127.0.0.1", port), 20, (source, 0)))
            lines[-1].sendall(data)
        yield lines
    finally:
        for line in lines:
            line.close()


def ask(port, path="/health", source="127.0.0.1"):
    """Ask over a new connection; return the status and the body."""
    with held(port, 1, source) as (line,):
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
        head, _, body = b"".join(iter(lambda: line.recv(65_536), b"")).decode().partition("\r\n\r\n")
        return int(head.split()[1]), body


def test_one_address_has_half_of_the_connections_and_the_others_do_not_notice(serve):
    server = serve(most_connections=40)
    port = server.settings.port
    with held(port, 100, "127.0.0.2"):
        status, body = ask(port, "/login", "127.0.0.2")
        assert (status, body) == (503, '{"error":"There are too many connections from your address."}')
        assert ask(port, "/health", "127.0.0.2")[0] == 200, "one client is no failure of the server"
        assert ask(port, "/login")[0] == 200
        assert ask(port)[0] == 200
    end = time.monotonic() + 30
    while ask(port, "/login", "127.0.0.2")[0] != 200:
        assert time.monotonic() < end


def test_a_proxy_has_no_share(serve):
    server = serve(most_connections=40, proxies=("127.0.0.0/24",))
    with held(server.settings.port, 30, "127.0.0.2"):
        assert ask(server.settings.port, "/login", "127.0.0.2")[0] == 200


@pytest.mark.parametrize("path", ["/karat/health", "/health"])
def test_health_answers_however_many_connections_there_are(serve, path):
    """As many as there are beyond the cap, too: those that send nothing are displaced."""
    server = serve(most_connections=20, prefix="/karat")
    port = server.settings.port
    with (
        held(port, 10, "127.0.0.2"),
        held(port, 10, "127.0.0.3"),
        held(port, 3 * SPARE, "127.0.0.4") as lines,
    ):
        for _ in range(3):
            status, body = ask(port, path)
            assert (status, json.loads(body)["state"]) == (503, "too-many-connections")
        assert ask(port, "/karat/login") == (503, '{"error":"The server has too many connections."}')
        assert lines[0].recv(1) == b"", "the oldest was closed"


def seconds_to_stop(server):
    begin = time.monotonic()
    server.uvicorn.should_exit = True
    server.thread.join(60)
    assert not server.thread.is_alive()
    return time.monotonic() - begin


STALLED = {
    "nothing": b"",
    "a head": b"GET /health HTTP/1.1\r\nHo",
    "a body": b"POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
}


@pytest.mark.parametrize("data", STALLED.values(), ids=STALLED)
def test_a_client_that_sends_no_more_does_not_delay_the_end(serve, data):
    server = serve()
    with held(server.settings.port, 3, data=data):
        time.sleep(0.2)
        assert seconds_to_stop(server) < GRACE - 2


def test_a_client_that_does_not_read_does_not_delay_the_end(serve):
    server = serve()
    server.app.add_api_route("/large", lambda: Response(b"x" * 20_000_000))
    request = f"GET /large HTTP/1.1\r\nHost: 127.0.0.1:{server.settings.port}\r\n\r\n".encode()
    with held(server.settings.port, 2, data=request):
        time.sleep(0.5)
        assert seconds_to_stop(server) < GRACE - 2


def test_a_running_request_is_finished_and_guesses_that_wait_are_refused(serve, capfd):
    server = serve()
    begun, told = threading.Event(), []

    async def slow():
        begun.set()
        await asyncio.sleep(3)
        return {"done": True}

    server.app.add_api_route("/slow", slow)
    gate = threading.Event()
    for _ in range(2):
        server.app.state.attempts.hashes.add(lambda: gate.wait(30))

    def guess():
        told.append(visitor.post("/api/session", json={"name": "ann", "password": "wrong password"}))

    visitor = server.visitor()
    visitor.open("/login")
    threads = [threading.Thread(target=guess)]
    threads.append(threading.Thread(target=lambda: told.append(server.visitor().get("/slow"))))
    for thread in threads:
        thread.start()
    assert begun.wait(30)
    time.sleep(0.2)
    threading.Timer(0.5, gate.set).start()
    seconds_to_stop(server)
    for thread in threads:
        thread.join(30)
    assert sorted(answer.status_code for answer in told) == [200, 429]
    (line,) = re.findall("note: stopped.*", capfd.readouterr().err)
    where = server.app.state.settings.project
    kept = "every acknowledged answer is stored, 0 since the start"
    assert line == f"note: stopped {where}; {kept}; start it again to go on"


def test_the_last_line_claims_nothing_about_a_file_that_is_gone(serve, capfd, tmp_path):
    server = serve()
    Path(server.settings.project).rename(tmp_path / "elsewhere")
    seconds_to_stop(server)
    (line,) = re.findall("note: stopped.*", capfd.readouterr().err)
    assert "was deleted or renamed" in line
    assert "stored" not in line


def test_statistics_that_are_being_computed_do_not_delay_the_end(serve, monkeypatch):
    begun, go = threading.Event(), threading.Event()

    def slowly(project):
        begun.set()
        go.wait(30)
        raise InputError("it is over")

    monkeypatch.setattr(watch, "compute", slowly)
    server = serve()
    with server.client("owner").stream("GET", "/api/dashboard/stream") as stream:
        next(stream.iter_lines())
        assert begun.wait(30)
        try:
            assert seconds_to_stop(server) < 6
        finally:
            go.set()
