"""Requests: from other sites, for other hosts, too large, too slow, out of the folder, to elsewhere."""

import socket
import time
from contextlib import suppress

import pytest

from web.servers import PASSWORD

LINK = {"role": "owner"}


@pytest.fixture
def server(untouched):
    """One server for all: what is refused leaves nothing behind."""
    return untouched


def links(server):
    return len(server.accounts.invitations.read())


@pytest.mark.parametrize("token", [None, "", "0" * 64, "é", "other"])
def test_a_change_without_the_token_of_the_page_is_refused(server, client, token):
    owner, other = client("owner"), client("judge", "ann")
    if token == "other":
        token = other.headers["X-CSRF-Token"]
    del owner.headers["X-CSRF-Token"]
    headers = {} if token is None else {"X-CSRF-Token": token.encode()}
    answer = owner.post("/api/users/links", json=LINK, headers=headers)
    assert answer.status_code == 403
    assert links(server) == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://127.0.0.1.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_a_change_from_another_site_is_refused_even_with_the_token(server, client, headers):
    owner = client("owner")
    for method, path in (
        ("POST", "/api/users/links"),
        ("DELETE", "/api/session"),
        ("PATCH", "/api/users/1"),
    ):
        assert owner.request(method, path, json=LINK, headers=headers).status_code == 403
    assert links(server) == 0
    assert owner.get("/api/session").json()["name"] is not None


def test_a_change_that_does_not_say_where_it_comes_from_is_refused(server, client):
    owner = client("owner")
    del owner.headers["Origin"]
    assert owner.post("/api/users/links", json=LINK).status_code == 403
    accepted = owner.post("/api/users/links", json=LINK, headers={"Sec-Fetch-Site": "same-origin"})
    assert accepted.status_code == 200
    assert links(server) == 1


def test_a_form_of_another_site_is_refused(server, client):
    """What a browser can send without asking first: a form, without our header."""
    owner = client("owner")
    del owner.headers["X-CSRF-Token"]
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data"):
        sent = {"Content-Type": kind, "Origin": "https://evil.example"}
        assert owner.post("/api/users/links", content='{"role":"owner"}', headers=sent).status_code == 403
    assert links(server) == 0


def test_signing_somebody_in_from_another_site_is_refused(server):
    visitor = server.visitor()
    body = {"name": "ann", "password": PASSWORD}
    assert visitor.post("/api/session", json=body).status_code == 403
    visitor.open("/login")
    sent = {"Origin": "https://evil.example"}
    assert visitor.post("/api/session", json=body, headers=sent).status_code == 403
    assert visitor.post("/api/session", json=body).status_code == 200


def test_reading_changes_nothing(server, client):
    owner = client("owner")
    before = owner.get("/users").text
    for path in ("/api/users/links", "/api/users/1", "/api/password", "/api/invitation/accept"):
        assert owner.get(path).status_code in (404, 405)
    assert owner.get("/users").text == before


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "",
        "a b",
        "localhost:x",
        "[::1",
        "10.0.0.1",
    ],
)
def test_a_request_for_another_host_is_refused(server, client, host):
    owner = client("owner")
    answer = owner.get("/users", headers={"Host": host})
    assert answer.status_code == 400
    assert "karat" not in answer.text


def test_a_host_that_stands_twice_is_refused(server):
    assert (
        b" 400 " in raw(server, b"GET /login HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")[:20]
    )


@pytest.mark.parametrize("name", ["X-Forwarded-Host", "X-Original-Host", "Forwarded", "X-Host"])
def test_links_name_the_address_of_the_settings_whatever_the_headers_say(server, client, name):
    owner = client("owner")
    made = owner.post("/api/users/links", json=LINK, headers={name: "evil.example"})
    assert made.json()["link"].startswith(server.settings.address)
    assert "evil" not in owner.get("/", headers={name: "evil.example"}).headers["location"]


@pytest.mark.parametrize(
    "target",
    ["https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)",
     "/\t/evil.example", "http:evil.example", " //evil.example", "/%0d%0aSet-Cookie:a=b\r\nX:1",
     "evil.example"],
)  # fmt: skip
def test_nobody_is_led_to_another_site(server, target):
    visitor = server.visitor()
    page = visitor.get("/login", params={"next": target})
    assert 'data-next=""' in page.text
    landed = visitor.sign_in("ann", next=target).json()["next"]
    assert landed.startswith("/")
    assert "evil" not in landed
    assert "alert" not in landed


def test_a_path_that_looks_like_a_host_leads_nowhere_else(server):
    for path in ("//evil.example/..", "/%2Fevil.example", "/\\evil.example"):
        answer = raw(server, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        for line in answer.split(b"\r\n"):
            assert not line.lower().startswith((b"location: //", b"location: http"))


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static/..%5capp.py",
     "/static//etc/passwd", "/static/%2fetc%2fpasswd", "/static/accounts/../../app.py",
     "/static/..%252fapp.py", "/static/app.css%00.js", "/static/", "/static/accounts"],
)  # fmt: skip
def test_nothing_outside_the_folder_of_files_is_given_out(server, path):
    answer = raw(server, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert answer[9:12] in (b"404", b"405", b"400"), answer[:200]
    assert b"create_app" not in answer
    assert b"root:" not in answer


def test_a_body_that_is_too_large_is_refused_by_its_length_and_by_its_bytes(server, client):
    owner = client("owner")
    most = server.settings.most_bytes
    assert owner.post("/api/users/links", content=b"x" * (most + 1)).status_code == 413
    announced = b"POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999999\r\n\r\n"
    assert b" 413 " in raw(server, announced)[:20]
    head = b"POST /api/session HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    assert b" 413 " in raw(server, head + chunk * (most // 65_536 + 1))[:20]


def test_a_body_that_trickles_is_cut_off_and_others_do_not_wait(serve):
    server = serve(body_seconds=0.5)
    head = b"POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.settings.port), 10) as slow:
        slow.sendall(head + b"{")
        assert server.visitor().get("/login").status_code == 200
        assert b" 408 " in read_all(slow)[:20]


def test_headers_that_trickle_are_cut_off(serve, monkeypatch):
    monkeypatch.setattr("karat.web.connections.HEADER_SECONDS", 0.5)
    server = serve()
    with socket.create_connection(("127.0.0.1", server.settings.port), 10) as slow:
        end = time.monotonic() + 60
        slow.sendall(b"GET /login HTTP/1.1\r\n")
        slow.settimeout(0.1)
        closed = False
        while not closed and time.monotonic() < end:
            try:
                slow.sendall(b"a: b\r\n")
                closed = slow.recv(10) == b""
            except TimeoutError:
                continue
            except OSError:
                closed = True
        assert closed


def raw(server, request: bytes) -> bytes:
    """Send bytes as they are, and return what comes back."""
    with socket.create_connection(("127.0.0.1", server.settings.port), 10) as connection:
        with suppress(OSError):
            connection.sendall(request)
        return read_all(connection)


def read_all(connection) -> bytes:
    connection.settimeout(5)
    found = b""
    with suppress(OSError):
        while b"\r\n\r\n" not in found and (got := connection.recv(65_536)):
            found += got
    return found
