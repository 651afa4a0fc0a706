"""Another annotator's task: its token and its pictures are of no use."""

import pytest

from karat.errors import InputError


@pytest.fixture
def stolen(server, client):
    """A task in ann's hands, with one answer, and bob, who has got hold of its token."""
    project = server.project
    client("judge", "ann")
    bob = client("judge", "bob")
    held = project.queue.lease("ann")
    project.answers.give(held.token, held.items[0].id, project.form.answers[0].code)
    return server, bob, held


@pytest.mark.parametrize("what", ["answer", "withdraw", "submit", "renew", "release"])
def test_nobody_uses_the_token_of_somebody_else(stolen, what):
    server, bob, held = stolen
    project = server.project
    body = {"token": held.token}
    if what in ("answer", "withdraw"):
        body |= {"item": held.items[0].id, "key": "a-key-of-bob"}
    if what == "answer":
        body["code"] = project.form.answers[-1].code
    before = len(server.accounts.users.export(server.accounts.users.number_of("ann"))["answers"])
    refused = bob.post(f"/api/judge/{what}", json=body)
    assert 400 <= refused.status_code < 500, refused.text
    assert refused.status_code != 422, refused.text
    assert held.token not in refused.text
    assert len(server.accounts.users.export(server.accounts.users.number_of("ann"))["answers"]) == before
    assert server.accounts.users.export(server.accounts.users.number_of("bob"))["answers"] == []
    # It is still ann's, and where it was.
    again = project.queue.lease("ann")
    assert again.assignment == held.assignment
    assert again.items[0].code == project.form.answers[0].code
    with pytest.raises(InputError):
        project.queue.submit(held.token)


def test_pictures_of_other_peoples_tasks_look_like_none(stolen):
    _, bob, held = stolen
    theirs = bob.get(f"/api/judge/image/{held.items[0].id}")
    none = bob.get("/api/judge/image/999999")
    assert theirs.status_code == none.status_code == 404
    assert theirs.text == none.text
    for path in ("..%2f..%2fproject.db", "%2fetc%2fpasswd", "-1", "1.png", "0x1"):
        assert bob.get(f"/api/judge/image/{path}").status_code in (404, 422), path


def test_nothing_of_a_task_is_for_readers_or_visitors(stolen):
    server, _, held = stolen
    body = {"token": held.token}
    assert server.client("reader").post("/api/judge/submit", json=body).status_code == 403
    visitor = server.visitor()
    visitor.open("/login")
    assert visitor.post("/api/judge/submit", json=body).status_code == 401
    assert visitor.get(f"/api/judge/image/{held.items[0].id}").status_code == 401
