"""Health, figures and logs: they tell what an operator needs, and nothing that is secret."""

import io
import json
import logging
import logging.config
import sqlite3
from contextlib import closing, contextmanager

import pytest
from prometheus_client.parser import text_string_to_metric_families

from karat.errors import InputError
from karat.web.operation import health as health_module
from karat.web.operation.logs import JsonLines, log_config
from karat.web.operation.metrics import VARIABLE, metrics_token

# As the parser says it: without the ending _total of counters.
FAMILIES = (
    ("karat_info", "gauge", "version"),
    ("process_start_time_seconds", "gauge", ""),
    ("process_cpu_seconds", "counter", ""),
    ("process_resident_memory_bytes", "gauge", ""),
    ("process_virtual_memory_bytes", "gauge", ""),
    ("process_open_fds", "gauge", ""),
    ("process_max_fds", "gauge", ""),
    ("karat_store_readable", "gauge", ""),
    ("karat_store_writable", "gauge", ""),
    ("karat_http_requests", "counter", "method route status"),
    ("karat_http_errors", "counter", ""),
    ("karat_http_requests_running", "gauge", ""),
    ("karat_http_streams", "gauge", ""),
    ("karat_http_request_seconds", "histogram", "route le"),
    ("karat_answers", "counter", "outcome"),
    ("karat_answers_waiting", "gauge", ""),
    ("karat_answers_room", "gauge", ""),
    ("karat_batch_answers", "histogram", "le"),
    ("karat_batch_seconds", "histogram", "le"),
    ("karat_slots", "gauge", "state"),
)


class Values:
    """The samples of a page for Prometheus, by name and labels."""

    def __init__(self, text):
        self.samples = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def __call__(self, name, **labels):
        return self.samples[name, frozenset(labels.items())]


@contextmanager
def log_lines():
    """Collect what is logged, as json."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("karat.web")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    lines = []
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
        lines += stream.getvalue().splitlines()


def answer_one(judge, code="yes"):
    lease = judge.post("/api/judge/lease", json={}).json()["lease"]
    body = {"token": lease["token"], "item": lease["items"][0]["id"], "code": code, "key": "key-0001"}
    return lease, judge.post("/api/judge/answer", json=body)


def forget(server):
    server.app.state.health._at = float("-inf")


def test_anybody_may_ask_whether_it_is_well(server):
    visitor = server.visitor()
    found = visitor.get("/health")
    assert (found.status_code, found.json()) == (
        200, {"status": "ok", "store": {"readable": True, "writable": True}},
    )  # fmt: skip


def test_a_store_that_cannot_be_written_is_not_well(server, monkeypatch):
    visitor = server.visitor()
    monkeypatch.setattr(health_module, "PATIENCE", 0.2)
    with closing(sqlite3.connect(server.project.database.place.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        forget(server)
        found = visitor.get("/health")
        assert (found.status_code, found.json()["status"]) == (503, "failing")
        # A second one waits for the same look, and answers too.
        assert visitor.get("/health").status_code == 503
        other.execute("ROLLBACK")
    monkeypatch.setattr(health_module, "PATIENCE", 30.0)
    assert visitor.get("/health").status_code == 200
    server.app.state.writer.figures.broken = True
    forget(server)
    assert visitor.get("/health").json()["store"] == {"readable": True, "writable": False}


def test_a_server_that_stops_says_so(server):
    server.app.state.stopping.set()
    assert server.visitor().get("/health").json()["status"] == "stopping"


def test_figures_count_what_happened(server, client):
    judge = client("judge", "ann")
    lease, done = answer_one(judge)
    assert done.status_code == 200
    assert judge.get("/nothing/here/forty-seven?name=secret").status_code == 404
    judge.get("/api/judge/image/0")
    found = server.visitor().get("/metrics")
    assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
    value = Values(found.text)
    assert value("karat_answers_total", outcome="saved") == 1
    assert value("karat_http_requests_total", method="POST", route="/api/judge/answer", status="200") == 1
    assert value("karat_http_requests_total", method="GET", route="other", status="404") == 1
    assert 'route="/api/judge/image/{item}"' in found.text
    assert value("karat_slots", state="leased") == 1
    assert value("karat_store_writable") == 1
    assert value("karat_answers_waiting") == 0
    assert value("karat_http_request_seconds_bucket", route="/api/judge/answer", le="+Inf") == 1
    assert value("karat_http_request_seconds_count", route="/api/judge/answer") == 1
    assert value("karat_batch_answers_bucket", le="1.0") == 1
    for secret in ("ann", lease["token"], "forty-seven", "secret", judge.headers["X-CSRF-Token"]):
        assert secret not in found.text


def test_figures_keep_their_names(serve):
    # Dashboards and alerts of others are written in them.
    first, second = serve(), serve()
    answer_one(first.client("judge"))
    text = first.visitor().get("/metrics").text
    families = {
        (family.name, family.type, frozenset(name for sample in family.samples for name in sample.labels))
        for family in text_string_to_metric_families(text)
    }
    assert families == {(name, kind, frozenset(labels.split())) for name, kind, labels in FAMILIES}
    # Each server counts for itself.
    assert Values(second.visitor().get("/metrics").text)("karat_answers_total", outcome="saved") == 0


def test_figures_are_for_owners_the_token_and_this_machine(serve, monkeypatch):
    token = "a-token-for-prometheus"
    monkeypatch.setenv(VARIABLE, token)
    local = serve().visitor()
    assert local.get("/metrics").status_code == 200
    # Another client, through a proxy on this machine.
    assert local.get("/metrics", headers={"X-Forwarded-For": "10.1.2.3"}).status_code == 401
    public = serve(proxies=("127.0.0.1",))
    visitor = public.visitor()
    assert visitor.get("/metrics").status_code == 401
    for wrong in ("Bearer wrong", "Bearer", token, f"Basic {token}"):
        assert visitor.get("/metrics", headers={"Authorization": wrong}).status_code == 401
    assert visitor.get("/metrics", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert public.client("judge").get("/metrics").status_code == 403
    assert public.client("reader").get("/metrics").status_code == 403
    assert public.client("owner").get("/metrics").status_code == 200


def test_a_short_token_is_refused(monkeypatch):
    monkeypatch.setenv(VARIABLE, "short")
    with pytest.raises(InputError, match="at least 16"):
        metrics_token()
    monkeypatch.delenv(VARIABLE)
    assert metrics_token() == ""


def test_one_line_for_each_request_and_no_secrets(serve):
    with log_lines() as lines:
        server = serve(prefix="/karat")
        judge = server.client("judge", "Ann Lee")
        lease, done = answer_one(judge)
        link = server.accounts.invitations.invite("judge")
        judge.get(f"/invitation?token={link}")
        judge.get(f"/{link}")
        assert server.visitor().get("/health", headers={"Host": "evil.example"}).status_code == 400
        cookie = judge.cookies.jar
        secrets = [one.value for one in cookie] + [
            link, lease["token"], judge.headers["X-CSRF-Token"], "Ann Lee", "a long pass phrase",
            lease["items"][0]["caption"], "evil.example", "127.0.0.1",
        ]  # fmt: skip
        number = done.headers["x-request-id"]
        server.stop()
    told = [json.loads(line) for line in lines]
    requests = [one for one in told if one["message"] == "request"]
    mine = [one for one in requests if one["request"] == number]
    assert len(mine) == 1
    account = next(one.id for one in server_members(serve, server) if one.name == "Ann Lee")
    assert (mine[0]["method"], mine[0]["route"], mine[0]["status"], mine[0]["account"]) == (
        "POST", "/api/judge/answer", 200, account,
    )  # fmt: skip
    assert set(mine[0]) == {
        "at", "level", "logger", "message", "request", "method", "route", "status", "ms", "account"
    }  # fmt: skip
    assert [one["route"] for one in requests if one["status"] in (400, 404)] == ["other", "other"]
    assert len({one["request"] for one in requests}) == len(requests)
    text = "\n".join(lines)
    for secret in secrets:
        assert secret not in text


def server_members(serve, server):
    """The accounts, read by another server: the first one is closed."""
    return serve(server.app.state.settings.project).accounts.users.read()


def test_errors_are_logged_by_their_place_not_their_words():
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("test of errors")
    logger.propagate = False
    logger.addHandler(handler)
    try:
        raise ValueError("token s3cret of Ann")
    except ValueError:
        logger.exception("failed\nbadly")
    found = json.loads(stream.getvalue())
    assert (found["error"], found["message"], found["level"]) == ("ValueError", "failed\nbadly", "error")
    assert found["frames"][0].endswith("test_errors_are_logged_by_their_place_not_their_words")
    assert "s3cret" not in stream.getvalue()
    assert stream.getvalue().count("\n") == 1


def test_the_log_configuration_is_one_that_logging_takes():
    config = log_config("WARNING")
    made = logging.config.DictConfigurator(config)
    assert isinstance(made.configure_formatter(dict(config["formatters"]["json"])), JsonLines)
