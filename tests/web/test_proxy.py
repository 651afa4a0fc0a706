"""Behind a reverse proxy: below a path, by https, whether the proxy cuts the prefix off or leaves it."""

import re

import pytest

from karat.web.settings import Settings
from web.servers import PASSWORD

PUBLIC = "http://judge.example.org/karat"


@pytest.fixture
def proxied(serve):
    return serve(url=PUBLIC, proxies=("127.0.0.1",))


def paths_in(page):
    return re.findall(r'(?:href|src)="(/[^"]*)"', page)


def test_every_address_in_a_page_lies_below_the_prefix(proxied):
    owner = proxied.client("owner")
    for path in ("/users", "/account", "/nowhere"):
        found = paths_in(owner.get(path).text)
        assert found
        assert all(one.startswith("/karat/") for one in found), found
    assert '<meta name="base" content="/karat">' in owner.get("/users").text
    for path in paths_in(owner.get("/users").text):
        assert owner.get(path.removeprefix("/karat")).status_code in (200, 303), path


def test_a_proxy_may_cut_the_prefix_off_or_leave_it(proxied):
    from httpx import Client

    with Client(base_url=f"http://127.0.0.1:{proxied.settings.port}") as plain:
        for path in ("/login", "/karat/login", "/static/app.css", "/karat/static/app.css"):
            assert plain.get(path).status_code == 200, path
        assert plain.get("/users").headers["location"] == "/karat/login?next=%2Fusers"
        assert plain.get("/karat/users").headers["location"] == "/karat/login?next=%2Fusers"
        assert plain.get("/karatx/login").status_code == 404


def test_signing_in_by_https_through_the_proxy(serve):
    proxied = serve(url="https://judge.example.org/karat", proxies=("127.0.0.1",))
    proxied.accounts.users.add("ann", "owner", PASSWORD)
    visitor = proxied.visitor(**{"X-Forwarded-Proto": "https", "Host": "judge.example.org"})
    # httpx sends secure cookies by https only; the proxy would.
    page = visitor.get("/login")
    cookie = page.headers["set-cookie"]
    assert cookie.startswith("__Secure-karat-")
    assert "Path=/karat" in cookie
    assert "Secure" in cookie
    token = re.search(r'name="csrf" content="(\w+)"', page.text)[1]
    sent = {"Cookie": cookie.split(";")[0], "X-CSRF-Token": token, "Origin": "https://judge.example.org"}
    body = {"name": "ann", "password": PASSWORD}
    assert visitor.post("/api/session", json=body, headers=sent).status_code == 200
    foreign = sent | {"Origin": "http://judge.example.org"}
    assert visitor.post("/api/session", json=body, headers=foreign).status_code == 403


def test_links_name_the_public_address(proxied):
    owner = proxied.client("owner")
    assert (
        owner.post("/api/users/links", json={"role": "judge"})
        .json()["link"]
        .startswith(f"{PUBLIC}/invitation#")
    )


@pytest.mark.parametrize("prefix", ["/a b", "/a/../b", "/a?b", "/a//b", "/ü", "/a\nb"])
def test_prefixes_that_are_no_path_are_refused(prefix):
    with pytest.raises(ValueError, match="prefix"):
        Settings("own.db", prefix=prefix)


@pytest.mark.parametrize("url", ["judge.example.org", "ftp://a.example", "https://", "https://a.example?b=1"])
def test_addresses_that_are_none_are_refused(url):
    with pytest.raises(ValueError, match="address"):
        Settings("own.db", url=url)
