"""The goal on the dashboard: who may set it, what is estimated and sent, and the next pairs."""

import json
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from karat.benchmarks import Side
from karat.errors import InputError
from karat.judging.pools import Cost
from karat.web.dashboard import goal_estimate
from karat.world import make_world, simulate_systems
from web.answers import answer_one
from web.test_dashboard import events, finished

GOAL = {"runs": ["first", "second"], "measure": "P@10", "direction": "t2i", "rule": "width", "number": 0.02}
OWNERS = (
    ("PUT", "/api/dashboard/goal", GOAL), ("DELETE", "/api/dashboard/goal", None),
    ("POST", "/api/dashboard/goal/pairs", {"number": 20}), ("POST", "/api/dashboard/goal/pairs/1", None),
    ("DELETE", "/api/dashboard/goal/pairs", None),
)  # fmt: skip


@pytest.fixture(scope="module")
def run_files(tmp_path_factory):
    """Files of two runs of the world that the projects of these tests are about."""
    folder = tmp_path_factory.mktemp("runs")
    systems = simulate_systems(make_world(images=30, captions=2, seed=1), seed=1)
    for name, run in zip(("first", "second"), systems):
        np.save(folder / f"{name}.npy", run.scores)
    return tuple(str(folder / f"{name}.npy") for name in ("first", "second"))


@pytest.fixture
def server(serve, run_files):
    return serve(runs=run_files)


@pytest.fixture
def estimated(monkeypatch):
    """Replace the estimate, which takes seconds, by one that narrows with the answers."""

    def estimate(project, goal, runs):
        n = len(project.answers.read())
        if not n:
            raise InputError("nothing is answered yet", where="/a/path", fix="wait for answers")
        half = 0.5 / (1 + n)
        known = {"value": 0.5, "low": 0.5 - half, "high": 0.5 + half, "labels": n, "candidates": 700}
        records = [{"run": run.name, "other": None, "method": "difference", **known} for run in runs]
        records.append({"run": "first", "other": "second", "value": 0, "low": -half, "high": half,
                        "verdict": "not yet", "method": "difference"})  # fmt: skip
        return SimpleNamespace(
            records=lambda: records, stop=n > 1, notes=(), drawn=9, more=None,
            decision="enough" if n > 1 else "not enough yet",
        )  # fmt: skip

    monkeypatch.setattr(goal_estimate, "estimate", estimate)


def wait(question, seconds=30):
    end = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_only_owners_change_it(server):
    for role in ("reader", "judge"):
        client = server.client(role)
        for method, path, body in OWNERS:
            assert client.request(method, path, json=body).status_code == 403, path
    visitor = server.visitor()
    for method, path, body in OWNERS:
        assert visitor.request(method, path, json=body).status_code in (401, 403), path
    assert server.project.goals.history() == []


def test_a_change_needs_the_token_of_the_page(server):
    owner = server.client("owner")
    del owner.headers["X-CSRF-Token"]
    for method, path, body in OWNERS:
        assert owner.request(method, path, json=body).status_code == 403, path
    assert server.project.goals.history() == []


def test_directions_are_said_in_the_words_of_the_benchmark(server):
    made = server.project.benchmark()
    tags = replace(made, sides=(made.sides[0], Side("text", "tag", "tags")))
    for bench, words in (
        (made, ["images to captions", "captions to images"]), (tags, ["images to tags", "tags to images"]),
    ):  # fmt: skip
        assert [goal_estimate.ranking(bench, way) for way in bench.directions] == words
    owner = server.client("owner")
    page = owner.get("/dashboard").text
    options = '<option value="t2i">captions to images</option><option value="i2t">images to captions</option>'
    assert options in page
    answer = owner.put("/api/dashboard/goal", json=GOAL | {"direction": "q2d"})
    assert answer.is_client_error
    assert "q2d" in answer.text


def test_the_goal_is_stored_with_files_and_shown_by_names(server, run_files, estimated):
    owner = server.client("owner")
    page = owner.get("/dashboard").text
    assert 'value="first"' in page
    assert run_files[0] not in page
    assert owner.put("/api/dashboard/goal", json=GOAL).is_success
    stored = server.project.goals.read()
    assert stored.runs == run_files
    assert (stored.measure, stored.rule, stored.number) == ("P@10", "width", 0.02)
    assert stored.noisy
    assert owner.put("/api/dashboard/goal", json=GOAL | {"noisy": False}).is_success
    assert not server.project.goals.read().noisy
    assert owner.delete("/api/dashboard/goal").is_success
    assert server.project.goals.read() is None
    assert len(server.project.goals.history()) == 3
    trail = [entry["what"] for entry in server.accounts.audit.trail()]
    assert trail[:3] == ["goal removed", "goal set", "goal set"]


def test_plain_random_is_compared_by_sampling_alone(server, monkeypatch):
    """Errors of annotators widen the interval of any sample."""

    def estimate(project, goal, runs):
        half = 0.2 if goal.noisy else 0.05
        known = {"value": 0.5, "low": 0.5 - half, "high": 0.5 + half, "labels": 100, "candidates": 700}
        records = [{"run": run.name, "other": None, "method": "difference", **known} for run in runs]
        return SimpleNamespace(
            records=lambda: records, stop=False, notes=(), drawn=9, more=None, decision="go on"
        )

    monkeypatch.setattr(goal_estimate, "estimate", estimate)
    plain = []
    for noisy in (True, False):
        assert server.client("owner").put("/api/dashboard/goal", json=GOAL | {"noisy": noisy}).is_success
        server.app.state.goal.compute()
        shown = json.loads(server.app.state.watch.events["goal"][1])["estimate"]["runs"][0]
        plain.append(shown["plain"])
        assert shown["high"] == (0.7 if noisy else 0.55)
    assert plain[0] == plain[1] > 100


@pytest.mark.parametrize(
    "change",
    [
        {"runs": ["/etc/passwd"]}, {"runs": ["first", "first"]}, {"runs": []}, {"measure": "nonsense"},
        {"rule": "width", "number": 2}, {"rule": "winner", "number": None, "runs": ["first"]}, {"level": 1},
        {"rule": "budget", "number": 1.5}, {"direction": "x"}, {"estimator": "direct"}, {"noisy": "perhaps"},
    ],
)  # fmt: skip
def test_a_wrong_goal_is_refused_in_a_sentence(lasting_owner, change):
    reply = lasting_owner.put("/api/dashboard/goal", json=GOAL | change)
    assert reply.status_code in (400, 422)
    assert reply.json()["error"]
    assert "Traceback" not in reply.text


@pytest.fixture(scope="module")
def lasting_owner(project_template, run_files, tmp_path_factory):
    from web.servers import start

    place = tmp_path_factory.mktemp("goal") / "project.db"
    place.write_bytes(project_template.read_bytes())
    started = start(place, runs=run_files)
    yield started.client("owner")
    started.stop()


def test_readers_see_the_interval_narrow(server, estimated):
    owner, reader = server.client("owner"), server.client("reader")
    assert owner.put("/api/dashboard/goal", json=GOAL).is_success
    with reader.stream("GET", "/api/dashboard/stream", timeout=60) as stream:
        told = (data for name, data in events(stream.iter_lines()) if name in ("goal", "proposal"))
        first = next(told)
        assert first["goal"]["runs"] == ["first", "second"]
        assert first["trouble"] == "nothing is answered yet; wait for answers."
        assert first["estimate"] is None
        answer_one(server.project, "Gil")
        second = next(told)
        assert second["trouble"] == ""
        assert second["estimate"]["labels"] == 1
        assert not second["estimate"]["reached"]
        answer_one(server.project, "Hal")
        third = next(told)
    assert third["estimate"]["reached"]
    assert (second["stop"], third["stop"]) == (None, 2)
    assert third["estimate"]["sentence"] == "enough"
    assert third["estimate"]["differences"][0]["verdict"] == "not yet"
    assert [point["labels"] for point in third["history"]] == [1, 2]
    widths = [point["runs"][0][2] - point["runs"][0][1] for point in third["history"]]
    assert widths[1] < widths[0]
    # The proposals of pairs are for owners.
    assert "proposal" not in {
        name for name, _, _ in server.app.state.watch.news(SimpleNamespace(may=lambda *r: not r))
    }


def test_a_failure_is_a_sentence(server, monkeypatch):
    def fail(project, goal, runs):
        raise RuntimeError("secret")

    monkeypatch.setattr(goal_estimate, "estimate", fail)
    assert server.client("owner").put("/api/dashboard/goal", json=GOAL).is_success
    server.app.state.goal.compute()
    text = server.app.state.watch.events["goal"][1]
    assert "secret" not in text
    assert "server's log" in json.loads(text)["trouble"]


def test_a_goal_of_other_runs_says_so(serve, server, estimated):
    assert server.client("owner").put("/api/dashboard/goal", json=GOAL).is_success
    other = serve(server.project.where)
    other.app.state.goal.compute()
    told = json.loads(other.app.state.watch.events["goal"][1])
    assert told["trouble"].startswith("the server was started without 2 runs of the goal: first, second")
    assert "--run" in other.client("owner").get("/dashboard").text


def test_a_history_stays_short_and_forgets_withdrawn_answers(server, estimated):
    goal = server.app.state.goal
    for labels in [*range(1, 500), 450]:
        record = {"value": 0.5, "low": 0.4, "high": 0.6}
        goal._remember({"labels": labels, "reached": False, "runs": [record], "differences": []})
    kept = [point["labels"] for point in goal._history]
    assert len(kept) <= goal_estimate.MOST_POINTS
    assert kept == sorted(set(kept))
    assert (kept[0], kept[-1]) == (1, 450)


def test_more_pairs_cost_before_they_are_asked_about(server, monkeypatch):
    asked = []

    def draw(project, runs, proposal, dry_run):
        asked.append((proposal.asked, proposal.overlap, dry_run))
        cost = Cost(proposal.asked, 4, 2, 3, 18.0, 30.0, 0.2)
        return SimpleNamespace(batch=range(proposal.asked), cost=cost, notes=())

    monkeypatch.setattr(goal_estimate, "draw", draw)
    owner, watch = server.client("owner"), server.app.state.watch
    assert owner.post("/api/dashboard/goal/pairs", json={"number": 20}).status_code == 400
    assert owner.put("/api/dashboard/goal", json=GOAL).is_success
    pay = {"per": "hour", "amount": 15, "fee": 0.2, "currency": "EUR"}
    assert owner.put("/api/dashboard/pay", json=pay).is_success
    reply = owner.post("/api/dashboard/goal/pairs", json={"number": 20}).json()
    assert finished(owner, reply["job"])["state"] == "done"
    told = json.loads(watch.events["proposal"][1])
    assert (told["state"], told["pairs"], told["answers"], told["money"]) == ("proposed", 20, 72, 36.0)
    assert told["said"][-1] == "Pay in EUR: 30.00, or 36.00 with a fee of 20%."
    assert asked == [(20, 3, True)]
    assert owner.post(f"/api/dashboard/goal/pairs/{reply['proposal'] + 1}").status_code == 400
    added = owner.post(f"/api/dashboard/goal/pairs/{reply['proposal']}").json()
    assert finished(owner, added["job"])["state"] == "done"
    assert asked == [(20, 3, True), (20, 3, False)]
    assert owner.post(f"/api/dashboard/goal/pairs/{reply['proposal']}").status_code == 400
    entry = server.accounts.audit.trail()[0]
    assert (entry["what"], json.loads(entry["detail"])["pairs"]) == ("pairs added", 20)
    for wrong in (0, -1, 1.5, 10**9, "many"):
        assert owner.post("/api/dashboard/goal/pairs", json={"number": wrong}).status_code == 422
        pairs = {"number": 20, "overlap": wrong}
        assert owner.post("/api/dashboard/goal/pairs", json=pairs).status_code == 422
    reply = owner.post("/api/dashboard/goal/pairs", json={"number": 20, "overlap": 1}).json()
    assert finished(owner, reply["job"])["state"] == "done"
    assert asked[-1] == (20, 1, True)
