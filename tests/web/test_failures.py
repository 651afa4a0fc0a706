"""When the store, the descriptors or the clock fail: 503, a named state, one line in the log."""

import errno
import json
import os
import resource
import shutil
import socket
import sqlite3
import time
from contextlib import closing

import pytest

from karat.store import back_up, open_project, restore
from karat.web.operation import health as health_module
from karat.web.operation.health import Clock
from karat.web.server import Listening, listen

from .test_operation import answer_one, forget, log_lines


def health(server):
    forget(server)
    found = server.visitor().get("/health")
    return found.status_code, found.json().get("state")


def copy_log(place):
    """Copy the log into the file, as SQLite does every thousand pages."""
    with closing(sqlite3.connect(place)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def calls(judge, lease):
    """Everything that the judging page asks, and a page."""
    token, item = lease["token"], lease["items"][0]["id"]
    given = {"token": token, "item": item, "code": "no", "key": "key-0002"}
    return [
        judge.post("/api/judge/answer", json=given), judge.post("/api/judge/submit", json={"token": token}),
        judge.post("/api/judge/lease", json={}), judge.post("/api/judge/renew", json={"token": token}),
        judge.post("/api/judge/release", json={"token": token}), judge.get("/api/judge/state"),
        judge.get(f"/api/judge/image/{item}"), judge.get("/account"), judge.get("/judge"),
    ]  # fmt: skip


@pytest.fixture
def judging(server, client):
    """A judge with a lease and an acknowledged answer."""
    judge = client("judge", "ann")
    lease, done = answer_one(judge)
    assert done.status_code == 200
    return server, judge, lease


def test_a_deleted_file_turns_health_red_and_nothing_is_acknowledged(judging):
    server, judge, lease = judging
    place = server.project.path
    away = place.with_name("away.db")
    with log_lines() as lines:
        os.rename(place, away)
        server.accounts.sessions._remembered.clear()
        for response in calls(judge, lease):
            assert response.status_code == 503, response.url
            assert int(response.headers["retry-after"]) > 0
        assert judge.get("/api/judge/state").json() == {
            "error": "The file of the project was deleted or renamed. Try again in a moment."
        }  # fmt: skip
        assert health(server) == (503, "file-deleted")
        metrics = server.visitor().get("/metrics")
        assert metrics.status_code == 200
        assert "karat_store_writable 0.0" in metrics.text
        server.app.state.failures.close()
        os.rename(away, place)
        assert health(server) == (200, None)
        assert answer_one(judge)[1].status_code == 200
    told = [line for line in lines if '"level": "info"' not in line]
    assert [line for line in told if "frames" in line] == []
    assert len(told) == 3, told  # what fails, the copy, and that it works again
    with open_project(place.with_name("project.db.rescued")) as rescued:
        assert [row["code"] for row in rescued.answers.history()] == ["yes"]


def test_a_replaced_file_turns_health_red_and_is_left_alone(judging, project_template):
    server, judge, lease = judging
    place = server.project.path
    other = place.with_name("other.db")
    other.write_bytes(project_template.read_bytes())
    before = other.read_bytes()
    os.replace(other, place)
    assert {response.status_code for response in calls(judge, lease)[:7]} == {503}
    assert health(server) == (503, "file-replaced")
    server.stop()
    assert place.read_bytes() == before
    # The log of the lost file is not replayed into the new one.
    assert not place.with_name("project.db-wal").exists()
    with open_project(place) as project:
        assert list(project.answers.history()) == []


def test_a_deleted_log_turns_health_red_and_the_answers_reach_the_file(judging):
    server, judge, lease = judging
    place = server.project.path
    place.with_name("project.db-wal").unlink()
    assert {response.status_code for response in calls(judge, lease)[:7]} == {503}
    assert health(server) == (503, "log-lost")
    server.stop()
    with open_project(place) as project:
        assert [row["code"] for row in project.answers.history()] == ["yes"]


def test_a_locked_store_is_named(judging):
    server, judge, lease = judging
    server.project.database.set_patience(0.05)
    with closing(sqlite3.connect(server.project.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        codes = [response.status_code for response in calls(judge, lease)]
        assert codes[:5] == [503] * 5
        assert health(server) == (503, "locked")
    assert judge.post("/api/judge/submit", json={"token": lease["token"]}).status_code == 400, "incomplete"


@pytest.mark.parametrize(
    ("number", "state"),
    [(errno.EMFILE, "descriptors-exhausted"), (errno.EIO, "io-error"), (errno.ENOSPC, "disk-full")],
)
def test_errors_of_the_system_are_503(judging, monkeypatch, number, state):
    server, judge, lease = judging

    def fail(*arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("karat.web.judging.pictures.inside", fail)
    response = judge.get(f"/api/judge/image/{lease['items'][0]['id']}")
    assert (response.status_code, response.headers["retry-after"]) == (503, "5")
    assert server.app.state.failures.recent(state) == state


def test_what_the_machine_lacks_is_named(judging, monkeypatch):
    server, *_ = judging
    usage = type("Usage", (), {"free": 10})
    monkeypatch.setattr(health_module.shutil, "disk_usage", lambda path: usage)
    assert health(server) == (503, "disk-full")
    monkeypatch.setattr(health_module.os, "access", lambda path, mode: False)
    assert health(server) == (503, "read-only")
    monkeypatch.setattr(health_module, "has_descriptors", lambda: False)
    assert health(server) == (503, "descriptors-exhausted")


def test_a_moved_clock_is_named(judging, monkeypatch):
    server, *_ = judging
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 3600)
    found = server.app.state.health.look_now()
    assert (found.healthy, found.state) == (True, "clock-moved")
    assert found.reason == "The clock was moved by +3600 seconds since the server started."
    assert health(server) == (200, "clock-moved")
    monkeypatch.undo()
    assert health(server) == (200, None)
    assert abs(Clock().moved()) < 1


def test_answers_that_fail_are_red_until_something_was_written(judging):
    server, *_ = judging
    server.app.state.writer.figures.broken = True
    assert health(server) == (503, "unsaved")
    # Nobody answers, but the look itself has written to the disk.
    assert health(server) == (200, None)


def ask(port, path="/health"):
    """Ask over a new connection; return what came back."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: line.recv(65_536), b"")).decode()


def test_without_descriptors_connections_are_answered_and_one_line_is_logged(serve):
    server = serve()
    port = server.settings.port
    # Everything that a connection needs later is loaded now.
    assert ask(port).startswith("HTTP/1.1 200")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held, answers = [], []
    with log_lines() as lines:
        with socket.socket() as line:
            line.settimeout(20)
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))), hard))
                while True:
                    held.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                pass
            try:
                line.connect(("127.0.0.1", port))
                line.sendall(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
                answers.append(line.recv(65_536).decode())
            finally:
                for handle in held:
                    os.close(handle)
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert health(server) == (503, "descriptors-exhausted"), "named for some seconds"
        server.app.state.failures._noted.clear()
        assert health(server) == (200, None)
    assert answers[0].startswith("HTTP/1.1 503")
    assert '"state": "descriptors-exhausted"' in answers[0]
    told = [line for line in lines if '"level": "info"' not in line]
    assert len(told) == 2, told
    assert "frames" not in told[0]


def test_a_listening_socket_without_a_spare_descriptor_raises(monkeypatch):
    with listen("127.0.0.1", 0) as listening:
        assert isinstance(listening, Listening)
        assert listening.spare is not None

        def refuse(*arguments):
            raise OSError(errno.EMFILE, "Too many open files")

        monkeypatch.setattr(socket.socket, "accept", refuse)
        with pytest.raises(OSError, match="Too many open files"):
            listening.accept()
    assert listening.spare is None


def test_a_truncated_file_is_damaged_and_the_last_backup_is_offered(judging):
    server, judge, lease = judging
    place = server.project.path
    back_up(place, place.with_name("monday.backup"))
    given = {"token": lease["token"], "item": lease["items"][1]["id"], "code": "no", "key": "key-0003"}
    assert judge.post("/api/judge/answer", json=given).status_code == 200
    copy_log(place)
    with log_lines() as lines:
        os.truncate(place, 8192)
        assert {response.status_code for response in calls(judge, lease)[:7]} == {503}
        assert health(server) == (503, "damaged")
        server.app.state.failures.close()
    told = [json.loads(line)["message"] for line in lines if '"level": "info"' not in line]
    assert told[0] == "The project is damaged."
    assert told[1].startswith(
        "not all 2 rows of answers are left; stop the server and restore the copy monday"
    )
    assert told[1].endswith(
        f"with 1 answer: karat project restore {place.parent}/monday.backup {place} --force"
    )
    assert len(told) == 2
    server.stop()
    restore(place.with_name("monday.backup"), place, force=True)
    with open_project(place) as project:
        assert [row["code"] for row in project.answers.history()] == ["yes"]


def test_an_older_copy_of_the_project_in_the_same_file_is_noticed(judging):
    server, judge, lease = judging
    place, copy = server.project.path, server.project.path.with_name("copy.db")
    back_up(place, copy)
    assert judge.post("/api/judge/renew", json={"token": lease["token"]}).status_code == 200
    given = {"token": lease["token"], "item": lease["items"][1]["id"], "code": "no", "key": "key-0003"}
    assert judge.post("/api/judge/answer", json=given).status_code == 200
    copy_log(place)
    with log_lines() as lines:
        shutil.copyfile(copy, place)
        assert {response.status_code for response in calls(judge, lease)[:7]} == {503}
        assert health(server) == (503, "file-replaced")
        server.app.state.failures.close()
    assert not [line for line in lines if "every acknowledged answer was copied" in line], "it was not"
    assert [line for line in lines if "not all 2 rows of answers are left" in line]
    before = copy.read_bytes()
    server.stop()
    assert place.read_bytes() == before


def test_a_file_that_is_written_over_with_itself_is_whole_again(judging, monkeypatch):
    server, judge, _ = judging
    place = server.project.path
    back_up(place, place.with_name("copy.db"))
    with log_lines() as lines:
        os.truncate(place, 0)
        assert judge.get("/api/judge/state").status_code == 503
        shutil.copyfile(place.with_name("copy.db"), place)
        server.app.state.failures.close()
        assert health(server) == (200, None)
        assert answer_one(judge)[1].status_code == 200
    assert not [line for line in lines if "answers are left" in line]
