"""What the judging page asks of the server: own tasks only, once only, and nothing about what is known."""

import json
import secrets
import threading
import time
from dataclasses import replace

import pytest

from karat.forms import load_form
from web.leases import answer, finish, lease
from web.servers import make_project


def test_a_task_from_lease_to_hand_in(server, client):
    ann = client("judge", "ann")
    state = ann.get("/api/judge/state").json()
    assert state["lease"] is None, "looking takes nothing"
    assert state["progress"]["own"] == 0
    found = lease(ann)["lease"]
    assert lease(ann)["lease"] == {**found, "seconds": pytest.approx(found["seconds"], abs=30)}
    assert ann.get("/api/judge/state").json()["lease"]["token"] == found["token"]
    first = found["items"][0]["id"]
    details = {"shortcomings": ["wrong_way"], "errors": ["color"]}
    assert answer(ann, found["token"], first, "partially", details=details, seconds=2.5).status_code == 200
    shown = lease(ann)["lease"]["items"][0]
    assert (shown["code"], shown["details"]) == ("partially", details)
    refused = ann.post("/api/judge/submit", json={"token": found["token"]})
    assert refused.status_code == 400
    assert "without an answer" in refused.json()["error"]
    finish(ann, found)
    assert lease(ann)["lease"]["token"] != found["token"]
    late = answer(ann, found["token"], first)
    assert late.status_code == 410
    assert next(server.project.answers.history())["seconds"] == 2.5


def test_nothing_tells_known_pairs_apart(server, client):
    ann = client("judge", "ann")
    found, plan = lease(ann, ahead=True), server.project.pools.plan()
    known = {bool(gold >= 0) for gold in plan.gold}
    assert known == {True, False}
    for name in ("lease", "ahead"):
        shapes = {tuple(item) for item in found[name]["items"]}
        assert shapes == {("id", "group", "caption", "own", "code", "details")}
    text = json.dumps(found) + ann.get("/api/judge/state").text + ann.get("/judge").text
    for word in ("gold", "score", "grade", "rating", "rank"):
        assert f'"{word}"' not in text
    headers = set()
    for item in found["lease"]["items"]:
        response = ann.get(f"/api/judge/image/{item['id']}")
        headers.add(tuple(sorted(name for name in response.headers if name != "content-length")))
    assert len(headers) == 1


def test_the_same_key_is_stored_once(server, client):
    ann = client("judge", "ann")
    found = lease(ann)["lease"]
    item, key = found["items"][0]["id"], secrets.token_hex(8)
    numbers = {answer(ann, found["token"], item, key=key).json()["number"] for _ in range(3)}
    assert len(numbers) == 1
    assert answer(ann, found["token"], item, "no", key=key).status_code == 400
    body = {"token": found["token"], "item": item, "key": secrets.token_hex(8)}
    assert len({ann.post("/api/judge/withdraw", json=body).json()["number"] for _ in range(2)}) == 1
    assert [row["code"] for row in server.project.answers.history()] == ["yes", None]
    assert lease(ann)["lease"]["items"][0]["code"] is None


def test_what_a_closed_page_had_on_its_way(server, client):
    ann = client("judge", "ann")
    found = lease(ann)["lease"]
    keys = [secrets.token_hex(8) for _ in range(len(found["items"]) + 2)]
    first = found["items"][0]["id"]
    given = [{"item": first, "key": keys[0], "code": "no"}, {"item": first, "key": keys[1]}]
    given += [{"item": one["id"], "key": key, "code": "yes"} for one, key in zip(found["items"], keys[2:])]
    body = {"token": found["token"], "answers": given, "submit": True}
    for _ in range(2):
        assert ann.post("/api/judge/leave", json=body).json() == {"done": True}
    assert [row["code"] for row in server.project.answers.history()] == ["no", None] + ["yes"] * len(
        found["items"]
    )
    assert (server.project.queue.assignments().state == "submitted").sum() == 1


def test_another_persons_task(client):
    ann, bob = client("judge", "ann"), client("judge", "bob")
    hers = lease(ann)["lease"]
    item = hers["items"][0]["id"]
    assert answer(bob, hers["token"], item).status_code == 409
    for path in ("submit", "renew", "release"):
        assert bob.post(f"/api/judge/{path}", json={"token": hers["token"]}).status_code == 409
    his = lease(bob)["lease"]
    assert answer(bob, his["token"], hers["items"][0]["id"]).status_code in (200, 400)
    assert ann.post("/api/judge/renew", json={"token": hers["token"]}).json()["seconds"] > 60


def test_roles(server, client):
    for path in ("/api/judge/state", "/api/judge/image/0"):
        assert server.visitor().get(path).status_code == 401
        assert client("reader", "rae").get(path).status_code == 403
    assert client("owner", "olga").get("/api/judge/state").status_code == 200


@pytest.mark.parametrize(
    "change",
    [{"code": "maybe"}, {"code": 7}, {"item": -1}, {"item": "0"}, {"item": 2**60}, {"key": "short"},
     {"key": "../../etc"}, {"details": {"nothing": ["x"]}}, {"details": {"shortcomings": [1]}},
     {"details": ["a"]}, {"seconds": -1}, {"seconds": 1e9}, {"more": 1}, {"token": ""}, {"token": "x\0y"},
     {"code": "\ud800"}],
)  # fmt: skip
def test_bodies_that_do_not_fit(client, server, change):
    ann = client("judge", "ann")
    found = lease(ann)["lease"]
    body = {"token": found["token"], "item": found["items"][0]["id"], "code": "yes", "key": "k" * 12}
    text = json.dumps(body | change)
    response = ann.post("/api/judge/answer", content=text, headers={"Content-Type": "application/json"})
    assert response.status_code in (400, 409, 422), response.text
    assert set(response.json()) == {"error"}
    assert list(server.project.answers.history()) == []


def test_the_next_task_is_taken_ahead_once(server, client):
    ann = client("judge", "ann")
    found = lease(ann, ahead=True)
    again = lease(ann, ahead=True)
    assert found["ahead"]["token"] == again["ahead"]["token"] != found["lease"]["token"]
    assert (server.project.queue.assignments().state == "leased").sum() == 2
    pairs = [
        {(row.image, row.caption) for row in lease_pairs(server.project, one["token"])}
        for one in (found["lease"], found["ahead"])
    ]
    assert not pairs[0] & pairs[1], "nobody is asked about a pair twice"
    finish(ann, found["lease"])
    assert lease(ann)["lease"]["token"] == found["ahead"]["token"]


def lease_pairs(project, token):
    with project.database.read() as connection:
        query = "SELECT i.image, i.caption FROM item i JOIN assignment s ON s.task = i.task WHERE s.token = ?"
        return connection.exec_driver_sql(query, (token,)).all()


def test_two_windows_at_once_get_the_same_tasks(server, client):
    clients = [client("judge", "ann") for _ in range(4)]
    found, barrier = [], threading.Barrier(4)

    def ask(one):
        barrier.wait()
        found.append(lease(one, ahead=True))

    threads = [threading.Thread(target=ask, args=(one,)) for one in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({one["lease"]["token"] for one in found}) == 1
    assert len({one["ahead"]["token"] for one in found}) == 1
    assert (server.project.queue.assignments().state == "leased").sum() == 2


def test_a_lease_that_went_to_somebody_else(server, client):
    ann = client("judge", "ann")
    found = lease(ann)["lease"]
    assignment = int(
        server.project.queue.assignments().assignment[server.project.queue.assignments().state == "leased"][0]
    )
    project, later, number = server.project, time.time() + 4000, 0
    while (taken := project.queue.lease(f"other-{number}", 9e6, now=later)).assignment != assignment:
        number += 1
    assert taken.token != found["token"]
    lost = answer(ann, found["token"], found["items"][0]["id"])
    assert lost.status_code == 409
    assert "another annotator" in lost.json()["error"]


def test_forms_reach_the_page_without_what_answers_are_worth(client):
    form = client("judge", "ann").get("/api/judge/state").json()["form"]
    assert set(form["answers"][0]) == {"code", "text", "key"}
    assert form["follow_ups"][1]["after"] == "shortcomings.wrong_way"
    assert len(form["guidelines"]) == len(load_form("pair").guidelines)


def test_below_a_prefix(serve):
    server = serve(prefix="/karat")
    ann = server.client("judge", "ann")
    page = ann.get("/judge")
    assert page.status_code == 200
    assert '"/karat/static/judge/main.js"' in page.text
    item = lease(ann)["lease"]["items"][0]["id"]
    assert ann.get(f"/api/judge/image/{item}").status_code == 200


def test_hostile_titles_are_escaped(serve, tmp_path, monkeypatch):
    hostile = replace(load_form("pair"), title="</title><script>alert(1)</script>")
    monkeypatch.setattr("web.servers.load_form", lambda name: hostile)
    server = serve(make_project(tmp_path / "hostile"))
    text = server.client("judge", "ann").get("/judge").text
    assert "<script>alert(1)" not in text
    assert "&lt;/title&gt;" in text
