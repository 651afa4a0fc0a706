"""Sessions: forged, stolen and expired ones open nothing."""

import time

import httpx
import pytest
from sqlalchemy import update

from karat.store.accounts import Spans
from karat.store.accounts.credentials import digest, new_token
from karat.store.accounts.sessions import REMEMBER_SECONDS
from karat.store.tables import SESSION
from web.servers import PASSWORD


def with_cookie(server, token):
    """A client that sends a session cookie that was made up or found."""
    visitor = server.visitor()
    visitor.cookies.set(server.app.state.cookies.session, token)
    return visitor


def name_of(somebody):
    return somebody.get("/api/session").json()["name"]


def token_of(server, somebody):
    return somebody.cookies.get(server.app.state.cookies.session)


@pytest.mark.parametrize("kind", ["random", "digest", "empty", "long", "sql", "other"])
def test_a_forged_session_opens_nothing(server, client, kind):
    token = token_of(server, client("owner"))
    forged = {
        "random": new_token(), "digest": digest(token), "empty": "", "long": "x" * 3000, "sql": "' OR '1'='1",
        "other": token[:-1] + ("A" if token[-1] != "A" else "B"),
    }[kind]  # fmt: skip
    visitor = with_cookie(server, forged)
    assert name_of(visitor) is None
    assert visitor.get("/users").status_code == 303
    assert visitor.get("/api/users/1/export").status_code == 401


@pytest.mark.parametrize("what", ["sign out", "disable", "remove", "password", "reset"])
def test_a_stolen_session_is_worth_nothing_afterwards(server, client, what):
    client("owner")
    ann = client("judge", "ann")
    thief = with_cookie(server, token_of(server, ann))
    assert name_of(thief) == "ann"
    number = server.accounts.users.number_of("ann")
    if what == "sign out":
        ann.delete("/api/session")
    elif what == "disable":
        server.accounts.users.set_active(number, False)
    elif what == "remove":
        server.accounts.users.remove(number)
    elif what == "password":
        assert (
            ann.post("/api/password", json={"old": PASSWORD, "new": "a new pass phrase"}).status_code == 200
        )
    else:
        server.accounts.invitations.accept(
            server.accounts.invitations.link_for(number), "", "a new pass phrase"
        )
    assert name_of(thief) is None
    assert thief.get("/account").status_code == 303


@pytest.mark.parametrize("column", ["expires", "seen_at"])
def test_an_expired_session_opens_nothing(server, client, column):
    ann = client("judge", "ann")
    with server.project.database.write() as connection:
        connection.execute(update(SESSION).values({column: time.time() - 4 * 86_400}))
    # What the server remembers for some seconds is over by then, too.
    server.accounts._rows.changes += 1
    assert name_of(ann) is None
    assert ann.get("/account").status_code == 303


SPANS = Spans()


@pytest.mark.parametrize(
    ("after", "used", "valid"),
    [
        (SPANS.session - 1, True, True),
        (SPANS.session + 0.001, True, False),
        (SPANS.idle - 1, False, True),
        (SPANS.idle + 1, False, False),
        (-7200, False, True),
        (-SPANS.idle - 60, False, False),
    ],
)
def test_a_session_is_refused_past_its_end_and_when_idle_even_if_it_was_seen_a_moment_ago(
    server, after, used, valid
):
    """A clock that is moved by hours ends no session; moved by days it may end one early, never late."""
    sessions, start = server.accounts.sessions, 2_000_000_000.0
    number = server.accounts.users.add("ann", "judge", PASSWORD).id
    token = sessions.open(number, start)
    if used:
        for at in range(0, int(after), 86_400):
            assert sessions.whose(token, start + at).name == "ann"
        assert sessions.whose(token, start + min(after, SPANS.session) - 0.001).name == "ann", (
            "remembered now"
        )
    assert (sessions.whose(token, start + after) is not None) is valid
    assert sessions.remembered(token, start + SPANS.session) is None


def test_what_is_remembered_of_a_session_that_became_idle_is_over_after_seconds(server):
    sessions, start = server.accounts.sessions, 2_000_000_000.0
    token = sessions.open(server.accounts.users.add("ann", "judge", PASSWORD).id, start)
    assert sessions.whose(token, start + SPANS.idle - 1) is not None
    with server.project.database.write() as connection:
        connection.execute(update(SESSION).values(seen_at=start))
    assert sessions.whose(token, start + SPANS.idle + REMEMBER_SECONDS) is None


def test_a_session_that_was_opened_by_a_clock_a_year_ahead_does_not_last_a_year(server):
    sessions, now = server.accounts.sessions, 2_000_000_000.0
    token = sessions.open(server.accounts.users.add("ann", "judge", PASSWORD).id, now + 365 * 86_400)
    with server.project.database.write() as connection:
        connection.execute(update(SESSION).values(seen_at=now))
    assert sessions.whose(token, now) is None


def test_signing_in_gives_a_new_session_whatever_cookie_was_there(server):
    server.accounts.users.add("ann", "judge", PASSWORD)
    planted = new_token()
    visitor = with_cookie(server, planted)
    visitor.open("/login")
    answer = visitor.post("/api/session", json={"name": "ann", "password": PASSWORD})
    assert answer.status_code == 200
    assert planted not in answer.headers["set-cookie"]
    assert name_of(with_cookie(server, planted)) is None


def test_cookies_are_for_our_own_pages_only(server, serve, made_project):
    server.accounts.users.add("ann", "judge", PASSWORD)
    visitor = server.visitor()
    first = visitor.open("/login").headers["set-cookie"]
    session = visitor.post("/api/session", json={"name": "ann", "password": PASSWORD}).headers["set-cookie"]
    for cookie in (first, session):
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert "Path=/;" in cookie
        assert "Domain" not in cookie
        assert "Secure" not in cookie, "this is plain http"
    secure = serve(server.settings.project, url="https://judge.example.org")
    cookie = secure.visitor().open("/login").headers["set-cookie"]
    assert cookie.startswith("__Host-karat-")
    assert "Secure" in cookie
    assert secure.visitor().get("/login").headers["strict-transport-security"]


def test_two_servers_on_one_machine_keep_their_people_apart(serve, made_project, tmp_path):
    (tmp_path / "b").mkdir()
    one, two = serve(made_project()), serve(made_project(tmp_path / "b"))
    assert one.app.state.cookies.session != two.app.state.cookies.session
    ann = one.client("owner", "ann")
    assert name_of(with_cookie(two, token_of(one, ann))) is None


SLOW = ['"' + "\\1" * 25_000 + '"', "x" * 50_000, "; a=1" * 9_000, '"\\"' * 15_000]


@pytest.mark.parametrize("value", SLOW)
def test_a_cookie_header_that_was_made_to_be_slow_is_not(server, value):
    """By http.cookies, which FastAPI uses too, one such header of 250 KB occupied the server for minutes."""
    cookies, visitor = server.app.state.cookies, server.visitor()
    begin = time.monotonic()
    for header in (f"{cookies.session}={value}", f"other={value}", f"{cookies.device}={value}"):
        assert visitor.get("/login", headers={"Cookie": header}).status_code == 200
        assert visitor.post("/api/session", headers={"Cookie": header}).status_code == 403
    assert time.monotonic() - begin < 5
    mixed = f"other={value}; {cookies.session}={'x' * 43}; b=2"
    assert cookies.own(mixed) == f"{cookies.session}={'x' * 43}"


def test_cookies_in_two_headers_are_read_as_one(client, server):
    """As proxies send them that speak HTTP/2 with the browser."""
    token = token_of(server, client("judge", "ann"))
    headers = [("Cookie", "a=1"), ("Cookie", f"{server.app.state.cookies.session}={token}")]
    assert httpx.get(f"{server.address}/api/session", headers=headers).json()["name"] == "ann"
