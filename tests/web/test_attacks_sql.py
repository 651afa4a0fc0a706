"""SQL in every field: words, never commands."""

import pytest

from web.servers import PASSWORD

INJECTIONS = (
    "' OR '1'='1", "'; DROP TABLE account; --", '" OR ""="', "ann'--",
    "ann' UNION SELECT password FROM account --", "%", "_nn", "1; DELETE FROM session", "\\'; --",
)  # fmt: skip


@pytest.fixture
def server(untouched):
    """One server for all: what is refused leaves nothing behind."""
    return untouched


def state(server):
    with server.project.database.read() as connection:
        names = ("account", "invitation", "answer", "assignment", "annotator")
        return [
            connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one() for name in names
        ]  # fmt: skip


@pytest.mark.parametrize("text", INJECTIONS)
def test_in_a_name_and_a_password(server, text):
    before = state(server)
    visitor = server.visitor()
    for name, password in ((text, text), ("ann", text), (text, PASSWORD)):
        assert visitor.sign_in(name, password).status_code == 400
    assert visitor.sign_in("ann", next=text).json()["next"].startswith("/")
    assert state(server) == before


@pytest.mark.parametrize("text", INJECTIONS)
def test_in_links_and_numbers(server, client, text):
    owner = client("owner")
    before = state(server)
    for path in ("look", "accept"):
        body = {"token": text} | ({"name": text, "password": text * 3} if path == "accept" else {})
        assert owner.post(f"/api/invitation/{path}", json=body).status_code == 400
    for method, path in (("DELETE", "links/"), ("DELETE", ""), ("PATCH", ""), ("GET", "")):
        answer = owner.request(method, f"/api/users/{path}{text}", json={} if method == "PATCH" else None)
        assert answer.status_code in (404, 405, 422), (method, path, answer.text)
    assert owner.post("/api/users/links", json={"role": text}).status_code == 422
    assert owner.get("/users", params={"next": text}).status_code == 200
    assert state(server) == before


@pytest.mark.parametrize("text", INJECTIONS)
def test_a_person_may_be_called_like_a_command(server, client, text):
    owner = client("owner")
    token = server.accounts.invitations.invite("judge", text)
    user = server.accounts.invitations.accept(token, "", PASSWORD)
    assert user.name == text
    assert server.visitor().sign_in(text).status_code == 200
    assert server.project.queue.lease(text) is not None
    assert owner.get(f"/api/users/{user.id}/export").json()["account"]["name"] == text
    assert owner.delete(f"/api/users/{user.id}").status_code == 200
    assert owner.get("/api/session").json()["name"] == "owner-1"
