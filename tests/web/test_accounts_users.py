"""The owner's page: roles, closing accounts, export, removal."""

import json
import re

import pytest
from sqlalchemy import update

from karat.store import open_project
from karat.store.tables import ACCOUNT, INVITATION
from web.servers import PASSWORD


def number_of(server, name):
    return server.accounts.users.number_of(name)


def test_a_change_of_role_holds_at_once(server, client):
    owner, ann = client("owner"), client("reader", "ann")
    assert ann.get("/users").status_code == 403
    assert "ann" not in server.project.annotators.read()[0]
    changed = owner.patch(f"/api/users/{number_of(server, 'ann')}", json={"role": "judge"})
    assert changed.json() == {"done": True}
    assert ann.get("/api/session").json()["role"] == "judge"
    assert "ann" in server.project.annotators.read()[0]


def test_a_disabled_person_is_out_at_once_and_comes_back_by_password(server, client):
    owner, ann = client("owner"), client("judge", "ann")
    path = f"/api/users/{number_of(server, 'ann')}"
    owner.patch(path, json={"active": False})
    assert ann.get("/api/session").json()["name"] is None
    assert server.visitor().sign_in("ann").status_code == 400
    owner.patch(path, json={"active": True})
    assert ann.get("/api/session").json()["name"] is None
    assert server.visitor().sign_in("ann").status_code == 200


@pytest.mark.parametrize("what", ["demote", "disable", "remove"])
def test_the_last_owner_stays(server, client, what):
    owner = client("owner")
    path = f"/api/users/{number_of(server, 'owner-1')}"
    bodies = {"demote": {"role": "judge"}, "disable": {"active": False}}
    answer = owner.delete(path) if what == "remove" else owner.patch(path, json=bodies[what])
    assert answer.status_code == 400
    assert "only owner" in answer.json()["error"]
    client("owner", "second")
    answer = owner.delete(path) if what == "remove" else owner.patch(path, json=bodies[what])
    assert answer.status_code == 200


def test_the_export_holds_what_is_known_and_no_secret(server, client):
    owner, ann = client("owner"), client("judge", "ann")
    lease = server.project.queue.lease("ann")
    server.project.answers.give(
        lease.token, lease.items[0].id, server.project.form.answers[0].code, seconds=2.5
    )
    found = owner.get(f"/api/users/{number_of(server, 'ann')}/export").json()
    assert found["account"]["name"] == "ann"
    assert [one["seconds"] for one in found["answers"]] == [2.5]
    assert [one["what"] for one in found["trail"]] == ["joined", "signed in"]
    assert len(found["sessions"]) == 1
    text = json.dumps(found)
    assert "argon2" not in text
    assert lease.token not in text
    assert "gold" not in text
    own = ann.get("/api/account/export").json()
    assert own["answers"] == found["answers"]


def test_removal_takes_the_name_and_keeps_the_answers(server, client):
    owner, ann = client("owner"), client("judge", "ann")
    project = server.project
    lease = project.queue.lease("ann")
    for item in lease.items:
        project.answers.give(lease.token, item.id, project.form.answers[-1].code)
    project.queue.submit(lease.token)
    held = project.queue.lease("ann")
    number = number_of(server, "ann")
    pseudonym = owner.delete(f"/api/users/{number}").json()["pseudonym"]
    assert pseudonym == f"removed-{number}"
    assert ann.get("/api/session").json()["name"] is None
    assert project.annotators.read()[0].count(pseudonym) == 1
    table = project.answers.read()
    assert len(table) == len(lease.items)
    assert table.annotators[table.annotator[0]] == pseudonym
    with pytest.raises(ValueError, match="lease"):
        project.answers.give(held.token, held.items[0].id, project.form.answers[0].code)
    with project.database.read() as connection:
        text = "\n".join(connection.connection.driver_connection.iterdump())
    assert "'ann'" not in text
    assert f"removed-{number}" in owner.get("/users").text
    # The name is free, and the newcomer is another user.
    fresh = server.accounts.users.add("ann", "judge", PASSWORD)
    assert fresh.id != number
    assert not server.accounts.users.export(fresh.id)["answers"]


def test_an_owner_who_cannot_be_removed_keeps_the_tasks_at_hand(server, client):
    owner = client("owner")
    held = server.project.queue.lease("owner-1")
    assert owner.delete(f"/api/users/{number_of(server, 'owner-1')}").status_code == 400
    server.project.answers.give(held.token, held.items[0].id, server.project.form.answers[0].code)
    assert owner.get("/api/session").json()["name"] == "owner-1"


def test_everything_leaves_a_trail(server, client):
    owner, _ = client("owner"), client("judge", "ann")
    number = number_of(server, "ann")
    server.visitor().sign_in("ann", "a wrong password")
    owner.patch(f"/api/users/{number}", json={"role": "reader", "active": False})
    owner.get(f"/api/users/{number}/export")
    owner.delete(f"/api/users/{number}")
    done = [(one["actor"], one["what"], one["subject"]) for one in reversed(server.accounts.audit.trail())]
    me = number_of(server, "owner-1")
    assert done[-5:] == [
        (None, "sign-in failed", number), (me, "role changed", number), (me, "disabled", number),
        (me, "exported", number), (me, "removed", number),
    ]  # fmt: skip
    assert "role changed" in owner.get("/users").text


@pytest.mark.parametrize("path", ["", "/export", "/reset"])
def test_people_that_there_are_not_are_a_sentence(client, path):
    owner = client("owner")
    method = {"": "DELETE", "/export": "GET", "/reset": "POST"}[path]
    answer = owner.request(method, f"/api/users/999{path}")
    assert answer.status_code == 400
    assert "no user number 999" in answer.json()["error"]


def test_the_bar_links_to_the_pages_of_a_role(client):
    links = re.compile(r'<nav class="bar".*?</nav>', re.DOTALL)
    owner, judge = client("owner"), client("judge")
    shown = [
        re.findall('href="([^"]+)"', links.search(who.get("/account").text)[0]) for who in (owner, judge)
    ]
    assert shown == [["/judge", "/dashboard", "/adjudicate", "/users"], ["/judge"]]


@pytest.fixture
def moved(serve, made_project, tmp_path, monkeypatch):
    """A server of a project whose accounts eve (owner) and bob (judge) and a link were made elsewhere."""
    place = made_project()
    with monkeypatch.context() as patch:
        patch.setenv("KARAT_CONFIG", str(tmp_path / "theirs"))
        with open_project(place) as project:
            for name, role in (("eve", "owner"), ("bob", "judge")):
                project.accounts.users.add(name, role, PASSWORD)
            project.accounts.invitations.invite("owner")
    return serve(place)


def test_accounts_from_elsewhere_are_shown_and_confirmed(moved):
    assert moved.visitor().sign_in("eve").status_code == 400
    owner = moved.client("owner", "ann")
    page = owner.get("/users").text
    assert "2 accounts and 1 open link were not made on this machine" in page
    assert page.count("not confirmed") == 3
    eve, bob = number_of(moved, "eve"), number_of(moved, "bob")
    assert owner.patch(f"/api/users/{bob}", json={"role": "owner"}).status_code == 400
    assert owner.post(f"/api/users/{bob}/reset").status_code == 400
    assert owner.patch(f"/api/users/{bob}", json={"confirmed": False}).status_code == 422
    assert owner.patch(f"/api/users/{bob}", json={"confirmed": True}).status_code == 200
    judge = moved.visitor()
    assert judge.sign_in("bob").status_code == 200
    link = moved.accounts.invitations.read()[0]["id"]
    for path in (f"/{eve}", f"/links/{link}", ""):
        assert judge.patch(f"/api/users{path}", json={"confirmed": True}).status_code == 403
    assert owner.patch(f"/api/users/links/{link}", json={"confirmed": True}).status_code == 200
    assert "1 account was not made on this machine" in owner.get("/users").text
    assert owner.patch("/api/users", json={"confirmed": True}).status_code == 200
    assert moved.visitor().sign_in("eve").status_code == 200
    assert "not made on this machine" not in owner.get("/users").text
    done = [(one["actor"], one["what"], one["subject"]) for one in moved.accounts.audit.trail()]
    me = number_of(moved, "ann")
    assert (me, "confirmed", bob) in done
    assert (me, "link confirmed", None) in done


def test_times_and_roles_that_cannot_be_are_shown(moved):
    with moved.project.database.write() as connection:
        connection.execute(update(ACCOUNT).where(ACCOUNT.c.name == "eve").values(at=1e300, role="boss"))
        connection.execute(update(INVITATION).values(at=1e300, expires=1e300, role="boss"))
    assert moved.client("owner", "ann").get("/users").status_code == 200
