"""The dashboard over HTTP: who sees it, that its numbers are right, that they come by themselves, jobs."""

import io
import itertools
import json
import shutil
import threading
import time
import zipfile
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from typer.testing import CliRunner

from karat import load_benchmark
from karat._util import track
from karat.cli.project import app
from karat.errors import InputError
from karat.forms import AnswerRows, load_form
from karat.judging import AcceptanceRule, publish
from karat.judging.quality.report import answer_quality
from karat.store import create_project
from karat.web.dashboard import statistics
from karat.world import make_world, save_world
from web.answers import answer_one, answer_some

PAGES = ("/dashboard", "/api/dashboard/live", "/api/dashboard/statistics", "/api/dashboard/stream")
OWNERS = (
    ("GET", "/adjudicate", None), ("GET", "/api/dashboard/disagreements", None),
    ("GET", "/api/dashboard/disagreements/0/0", None),
    ("PUT", "/api/dashboard/disagreements/0/0", {"code": "no"}),
    ("GET", "/api/dashboard/picture/0", None),
    ("PUT", "/api/dashboard/assignments/0", {"verdict": "approve"}),
    ("PUT", "/api/dashboard/pay", {"per": "hour", "amount": 1}), ("GET", "/api/dashboard/jobs", None),
    ("POST", "/api/dashboard/jobs/publish", {"name": "x"}),
    ("POST", "/api/dashboard/jobs/export", {"format": "csv"}),
    ("GET", "/api/dashboard/jobs/1/file", None), ("GET", "/api/dashboard/published/x", None),
)  # fmt: skip


@pytest.fixture(scope="module")
def judged_template(project_template, tmp_path_factory):
    place = tmp_path_factory.mktemp("judged") / "project.db"
    shutil.copy(project_template, place)
    answer_some(place)
    return place


@pytest.fixture
def judged(judged_template, serve, tmp_path):
    """A server of a project in which annotators have answered."""
    place = tmp_path / "judged.db"
    shutil.copy(judged_template, place)
    return serve(place)


def finished(client, number, seconds=60):
    """Wait for a job and return it."""
    end = time.monotonic() + seconds
    while True:
        job = next(one for one in client.get("/api/dashboard/jobs").json()["jobs"] if one["number"] == number)
        if job["state"] in ("done", "failed"):
            return job
        assert time.monotonic() < end, job
        time.sleep(0.05)


def computed(client, path, seconds=60):
    """Ask until it is computed, and return the reply's data."""
    end = time.monotonic() + seconds
    while (reply := client.get(path)).status_code == 202:
        assert reply.json()["computing"]["seconds"] >= 0
        assert time.monotonic() < end
        time.sleep(0.02)
    assert reply.status_code == 200, reply.text
    return reply.json()


def events(lines):
    """Yield the name and the data of the events of a stream."""
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            yield name, json.loads(line[6:])


def test_only_owners_and_readers_see_it(judged):
    judge, visitor, reader = judged.client("judge"), judged.visitor(), judged.client("reader")
    for path in PAGES:
        assert judge.get(path).status_code == 403
        assert visitor.get(path).status_code in (303, 401)
    for path in PAGES[:-1]:
        assert reader.get(path).status_code in (200, 202)
    page = reader.get("/dashboard").text
    assert 'data-owner="no"' in page
    assert "Publish" not in page


def test_readers_and_judges_change_nothing(judged):
    for role in ("reader", "judge"):
        client = judged.client(role)
        for method, path, body in OWNERS:
            assert client.request(method, path, json=body).status_code == 403, path
    assert judged.project.reviews.read() == {}
    assert judged.app.state.jobs.shown() == []


def test_numbers_are_those_of_the_command(judged, tmp_path):
    project = judged.project
    told = CliRunner().invoke(app, ["quality", project.where, "--json", str(tmp_path / "quality.json")])
    assert told.exit_code == 0, told.output
    records = json.loads((tmp_path / "quality.json").read_text(encoding="utf-8"))
    found = computed(judged.client("reader"), "/api/dashboard/statistics")
    by_name = {one["worker"]: one for one in records["workers"]}
    assert {one["worker"]: one for one in found["annotators"]} == by_name
    assert found["agreement"] == records["agreement"]
    assert found["hand_ins"] == records["hand_ins"]
    assert [one["assignment"] for one in found["review"]] == [one["slot"] for one in records["review"]]
    assert [(one["pairs"], one["relevant"]) for one in found["verdicts"]] == [
        (one["pairs"], one["relevant"]) for one in records["verdicts"]
    ]
    assert found["pool"]["pairs"] == len(project.pools.read())


def test_live_numbers_follow_answers_undos_and_lost_leases(judged):
    project, client = judged.project, judged.client("reader")

    def check():
        live, table = computed(client, "/api/dashboard/live"), project.answers.read()
        assert live["answers"]["given"] == len(table)
        counts = {name: int((table.annotator == k).sum()) for k, name in enumerate(table.annotators)}
        assert {one["annotator"]: one["answers"] for one in live["annotators"] if one["answers"]} == {
            name: count for name, count in counts.items() if count
        }
        assignments = project.queue.assignments()
        assert live["assignments"] == {
            state: int((assignments.state == state).sum()) for state in live["assignments"]
        }
        return live

    before = check()
    lease = answer_one(project)
    assert check()["answers"]["given"] == before["answers"]["given"] + 1
    project.answers.withdraw(lease.token, lease.items[0].id)
    assert check()["answers"]["given"] == before["answers"]["given"]
    project.answers.give(lease.token, lease.items[0].id, "yes")
    assert check()["annotators"][-1]["annotator"] == "Gil"
    project.queue.release(lease.token)
    check()
    # Another annotator takes every open task, answers, and returns what the first one had.
    for annotator in ("Hal", "Ida"):
        answer_one(project, annotator, submit=True)
    live = check()
    assert live["pairs"]["all"] >= live["pairs"]["begun"] >= live["pairs"]["done"] > 0


def test_a_assignment_that_comes_back_brings_its_first_answers(serve, made_project, tmp_path):
    place = made_project(tmp_path, images=6, overlap=1, task_size=100, gold=0, pictures=False)
    server = serve(place)
    project, client = server.project, server.client("reader")
    count = lambda: computed(client, "/api/dashboard/live")["answers"]["given"]  # noqa: E731
    first = answer_one(project, "ann", now=1000.0)
    assert count() == len(project.answers.read()) == 1
    project.queue.release(first.token)
    second = answer_one(project, "bob", now=2000.0)
    assert second.assignment == first.assignment
    assert count() == len(project.answers.read()) == 1
    project.queue.release(second.token)
    assert count() == len(project.answers.read()) == 0
    again = project.queue.lease("ann")
    assert again.assignment == first.assignment
    assert count() == len(project.answers.read())


def test_the_stream_tells_a_change(judged):
    client = judged.client("reader")
    with client.stream("GET", "/api/dashboard/stream") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        coming = events(response.iter_lines())
        seen = {}
        while not {"live", "statistics"} <= set(seen):
            name, data = next(coming)
            assert name != "jobs"
            seen.setdefault(name, data)
        answer_one(judged.project)
        for name, data in coming:
            if name == "live" and data["answers"]["given"] > seen["live"]["answers"]["given"]:
                break
        assert "Gil" in [one["annotator"] for one in data["annotators"]]
    end = time.monotonic() + 60
    while judged.app.state.watch.watchers:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_stream_ends_with_its_session(judged, monkeypatch):
    monkeypatch.setattr("karat.web.dashboard.watch.BEAT", 0.1)
    client = judged.client("reader")
    with client.stream("GET", "/api/dashboard/stream") as response:
        coming = events(response.iter_lines())
        next(coming)
        judged.accounts.users.set_active(
            next(one.id for one in judged.accounts.users.read() if one.role == "reader"), False
        )
        assert "ended" in [name for name, _ in coming]


@pytest.fixture
def slow(monkeypatch):
    """Statistics that take until they are released; each computation is counted."""
    made = SimpleNamespace(began=0, go_on=threading.Event())

    def compute(project):
        made.began += 1
        for _ in track(range(40), "steps"):
            if made.go_on.wait(0.5):
                break
        return real(project)

    real = statistics.compute
    monkeypatch.setattr("karat.web.dashboard.watch.compute", compute)
    yield made
    made.go_on.set()


def test_requests_hear_how_far_a_long_computation_is(judged, slow):
    owner = judged.client("owner")
    with owner.stream("GET", "/api/dashboard/stream") as response:
        told = next(data for name, data in events(response.iter_lines()) if name == "computing")
        assert told["statistics"]["stages"][0]["what"] == "steps"
        begin = time.monotonic()
        for path in ("statistics", "disagreements", "disagreements/0/0", "disagreements?which=decided"):
            reply = owner.get(f"/api/dashboard/{path}")
            assert reply.status_code == 202
            assert reply.headers["retry-after"] == "1"
            found = reply.json()["computing"]
            assert found["seconds"] > 0
            assert found["stages"][0]["total"] == 40
        assert owner.put("/api/dashboard/disagreements/0/0", json={"code": "no"}).status_code == 400
        assert owner.get("/api/dashboard/live").status_code == 200
        assert time.monotonic() - begin < 10  # the computation takes twenty seconds
    slow.go_on.set()
    found = computed(owner, "/api/dashboard/statistics")
    assert found["age"] < 60
    # However many asked, it was computed once.
    assert slow.began == 1


def test_statistics_say_what_they_wait_for(judged, slow):
    """The estimate of the goal comes first."""
    slow.go_on.set()
    watch, go_on, begun = judged.app.state.watch, threading.Event(), threading.Event()

    def work():
        begun.set()
        go_on.wait(20)

    watch.follow("other", work)
    reader = judged.client("reader")
    assert reader.get("/api/dashboard/statistics").status_code == 202
    assert begun.wait(20)
    found = reader.get("/api/dashboard/statistics").json()["computing"]
    assert [stage["what"] for stage in found["stages"]] == ["waiting for the other"]
    go_on.set()
    assert computed(reader, "/api/dashboard/statistics")["computing"] is None


def test_a_server_that_stops_does_not_wait_for_a_computation(judged, slow):
    owner = judged.client("owner")
    assert owner.get("/api/dashboard/statistics").status_code == 202
    begin = time.monotonic()
    judged.app.state.watch.close()
    assert not judged.app.state.watch._slow.is_alive()
    assert time.monotonic() - begin < 9  # it would have waited for ten


def test_a_long_count_leaves_the_last_numbers(judged, monkeypatch):
    reader = judged.client("reader")
    begun, go_on = threading.Event(), threading.Event()
    real = judged.app.state.watch.tally.read

    def read(*arguments):
        begun.set()
        go_on.wait(20)
        real(*arguments)

    monkeypatch.setattr(judged.app.state.watch.tally, "read", read)
    reply = reader.get("/api/dashboard/live")
    assert (reply.status_code, begun.is_set()) == (202, True)
    go_on.set()
    before = computed(reader, "/api/dashboard/live")
    begun.clear()
    go_on.clear()
    answer_one(judged.project)
    assert begun.wait(20) or reader.get("/api/dashboard/live")
    again = reader.get("/api/dashboard/live").json()
    assert again["answers"] == before["answers"]
    assert again["age"] > 0
    assert again["computing"]["seconds"] > 0
    go_on.set()
    end = time.monotonic() + 30
    while reader.get("/api/dashboard/live").json()["answers"] == before["answers"]:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_statistics_that_fail_are_tried_again(judged, monkeypatch):
    real, fail = statistics.compute, [True]

    def compute(project):
        if fail:
            fail.pop()
            raise InputError("it is a bad day")
        return real(project)

    monkeypatch.setattr("karat.web.dashboard.watch.compute", compute)
    monkeypatch.setattr("karat.web.dashboard.computation.RETRY", 0.1)
    reader, end = judged.client("reader"), time.monotonic() + 30
    assert "bad day" in reader.get("/api/dashboard/statistics").json()["error"]
    while reader.get("/api/dashboard/statistics").status_code != 200:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_trouble_is_told_in_words(judged, monkeypatch):
    def broken(project):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("karat.web.dashboard.watch.compute", broken)
    with judged.client("reader").stream("GET", "/api/dashboard/stream") as response:
        said = next(data for name, data in events(response.iter_lines()) if name == "trouble")
    assert "could not be computed" in said["message"]
    assert "secret" not in said["message"]


def test_a_decision_stands_instead_of_the_vote(judged):
    owner, project = judged.client("owner"), judged.project
    listed = computed(owner, "/api/dashboard/disagreements")
    shares = [one["share"] for one in listed["pairs"]]
    assert shares == sorted(shares, reverse=True)
    pair = listed["pairs"][0]
    path = f"/api/dashboard/disagreements/{pair['image']}/{pair['caption']}"
    shown = owner.get(path).json()
    assert len({one["code"] for one in shown["answers"]}) > 1
    assert owner.get(shown["picture"]).headers["content-type"] == "image/png"
    for code, relevant in (("yes", True), ("no", False)):
        assert owner.put(path, json={"code": code}).json()["decision"]["code"] == code
        report = answer_quality(project.answers.read(), project.form, assignments=project.queue.assignments())
        for verdicts in report.verdicts:
            at = (verdicts.image == pair["image"]) & (verdicts.caption == pair["caption"])
            assert verdicts.relevant[at].tolist() == [relevant]
            assert verdicts.adjudicated.sum() == 1
    assert computed(owner, "/api/dashboard/disagreements")["all"] == listed["all"] - 1
    assert computed(owner, "/api/dashboard/disagreements?which=decided")["all"] == 1
    assert owner.put(path, json={"code": None}).json()["decision"] is None
    assert not answer_quality(project.answers.read(), project.form).verdicts[0].adjudicated.any()


def test_a_decision_must_make_sense(judged):
    owner = judged.client("owner")
    pair = computed(owner, "/api/dashboard/disagreements")["pairs"][0]
    path = f"/api/dashboard/disagreements/{pair['image']}/{pair['caption']}"
    refused = owner.put(path, json={"code": "perhaps"})
    assert refused.status_code == 400
    assert "perhaps" in refused.json()["error"]
    assert owner.put("/api/dashboard/disagreements/999/0", json={"code": "no"}).status_code == 400
    assert owner.get("/api/dashboard/disagreements/999/0").status_code == 404
    assert owner.get("/api/dashboard/picture/999").status_code == 404
    assert "adjudicator" not in judged.project.annotators.read()[1]


def test_assignments_are_approved_and_rejected(judged):
    owner, project = judged.client("owner", "Olga"), judged.project
    waiting = computed(owner, "/api/dashboard/statistics")["review"]
    assignment, assignments = waiting[0]["assignment"], len(project.queue.assignments())
    assert (
        owner.put(f"/api/dashboard/assignments/{assignment}", json={"verdict": "reject"}).status_code == 400
    )
    assert owner.put(
        f"/api/dashboard/assignments/{assignment}", json={"verdict": "reject", "why": "guessed"}
    ).is_success
    assert project.reviews.read()[assignment][:3] == ("reject", "Olga", "guessed")
    assert len(project.queue.assignments()) == assignments + 1
    assert (
        owner.put(f"/api/dashboard/assignments/{assignments - 1}", json={"verdict": "approve"}).status_code
        == 400
    )
    owner.put("/api/dashboard/pay", json={"per": "task", "amount": 2, "fee": 0.5, "currency": "EUR"})
    cost = computed(owner, "/api/dashboard/live")["cost"]
    handed_in = int((project.queue.assignments().state == "submitted").sum())
    assert cost["money"] == (handed_in - 1) * 3


def test_publishing_gives_what_the_library_gives(judged, tmp_path):
    owner = judged.client("owner")
    asked = {"name": "fixed", "aggregation": "majority", "original_policy": "people"}
    number = owner.post("/api/dashboard/jobs/publish", json=asked).json()["job"]
    job = finished(owner, number)
    assert (job["state"], job["file"]) == ("done", "fixed.zip")
    response = owner.get(f"/api/dashboard/jobs/{number}/file")
    zipfile.ZipFile(io.BytesIO(response.content)).extractall(tmp_path / "unpacked")
    own = publish(
        judged.project,
        tmp_path / "own",
        acceptance=AcceptanceRule("majority"),
        truth_name="fixed",
        keep_original="people",
    )
    for path in own.folder.rglob("*"):
        if path.is_file():
            assert (tmp_path / "unpacked" / path.relative_to(own.folder)).read_bytes() == path.read_bytes()
    assert "fixed" in load_benchmark(str(tmp_path / "unpacked")).truths
    # Another visit, another session: what was published is still there.
    again = judged.client("owner", "Otto")
    assert again.get("/api/dashboard/jobs").json()["published"] == ["fixed"]
    assert again.get("/api/dashboard/published/fixed").content == response.content


def test_the_statistics_count_what_is_published(judged):
    owner = judged.client("owner")
    shown = computed(owner, "/api/dashboard/statistics")["verdicts"][0]
    number = owner.post("/api/dashboard/jobs/publish", json={"name": "fixed"}).json()["job"]
    message = finished(owner, number)["message"]
    assert f"{shown['pairs']:,} pairs judged, {shown['relevant']:,} relevant" in message
    assert f'value="{shown["method"]}" selected' in owner.get("/dashboard").text


def test_a_name_never_leads_out_of_the_folder(judged):
    owner = judged.client("owner")
    for name in ("../out", "..", "a/b", ".hidden", "a\0b", "con fused", "/etc"):
        asked = owner.post("/api/dashboard/jobs/publish", json={"name": name})
        assert asked.status_code in (400, 422), name
        assert owner.get(f"/api/dashboard/published/{quote(name, safe='')}").status_code >= 400, name
    assert judged.app.state.jobs.shown() == []


def test_failures_are_told_in_words(judged, monkeypatch):
    owner = judged.client("owner")
    refused = owner.post("/api/dashboard/jobs/publish", json={"name": "x", "aggregation": "dice"})
    assert refused.status_code == 400
    assert "majority" in refused.json()["error"]
    number = owner.post("/api/dashboard/jobs/publish", json={"name": "original"}).json()["job"]
    job = finished(owner, number)
    assert job["state"] == "failed"
    assert "already has a truth 'original'" in job["error"]
    assert owner.get(f"/api/dashboard/jobs/{number}/file").status_code == 404

    def broken(*args, **more):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("karat.web.dashboard.jobs.publish", broken)
    number = owner.post("/api/dashboard/jobs/publish", json={"name": "y"}).json()["job"]
    assert (
        finished(owner, number)["error"]
        == "The job failed because of a bug; the details are in the server's log."
    )


def test_exports_can_be_downloaded(judged):
    owner = judged.client("owner")
    for what, format in itertools.product(("answers", "tasks"), ("csv", "jsonl", "mturk", "label-studio")):
        number = owner.post("/api/dashboard/jobs/export", json={"what": what, "format": format}).json()["job"]
        job = finished(owner, number)
        assert job["state"] == "done", job
        response = owner.get(f"/api/dashboard/jobs/{number}/file")
        assert response.status_code == 200
        assert len(response.content) > 1000
        if job["file"].endswith(".zip"):
            assert len(zipfile.ZipFile(io.BytesIO(response.content)).namelist()) > 1


def test_below_a_prefix(judged_template, serve, tmp_path):
    place = tmp_path / "judged.db"
    shutil.copy(judged_template, place)
    owner = serve(place, prefix="/karat").client("owner")
    assert '<meta name="base" content="/karat">' in owner.get("/dashboard").text
    assert 'href="/karat/adjudicate"' in owner.get("/dashboard").text
    pair = computed(owner, "/api/dashboard/disagreements")["pairs"][0]
    shown = owner.get(f"/api/dashboard/disagreements/{pair['image']}/{pair['caption']}").json()
    assert shown["picture"] == f"/karat/api/dashboard/picture/{pair['image']}"


def test_answers_without_tasks_are_counted(serve, tmp_path):
    world = make_world(images=10, captions=2, seed=1)
    save_world(world, tmp_path / "world", pictures=False)
    place, form = tmp_path / "loose.db", load_form("pair")
    with create_project(place, world.benchmark(), form, source=str(tmp_path / "world")) as project:
        project.answers.record(
            AnswerRows([-1] * 4, [0, 0, 1, 1], [3, 3, 4, 4], ["a", "b"] * 2, ["yes", "no"] * 2)
        )
    reader = serve(place).client("reader")
    live = computed(reader, "/api/dashboard/live")
    assert (live["answers"]["elsewhere"], live["answers"]["wanted"], live["left"]) == (4, 0, 0)
    assert [one["answers"] for one in live["annotators"]] == [2, 2]
    found = computed(reader, "/api/dashboard/statistics")
    assert (found["disagreements"], found["pool"], found["error"]) == (2, None, None)


def test_a_project_without_answers_says_so(serve):
    reader = serve().client("reader")
    found = computed(reader, "/api/dashboard/statistics")
    assert found["error"] == "the project has no answers"
    live = computed(reader, "/api/dashboard/live")
    assert live["answers"]["given"] == 0
    assert live["pace"] == []
