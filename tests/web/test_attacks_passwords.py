"""Guessing passwords and links: limited by name, device and address, and nothing is learned from it."""

import os
import time
from pathlib import Path

import pytest

from karat.store.accounts import credentials
from karat.web.accounts import AttemptLimits
from karat.web.accounts.limits import (
    FORGOTTEN,
    FREE,
    MOST_ADDRESSES,
    MOST_KEYS,
    Delays,
    KnownAddresses,
    Limit,
    TooMany,
)
from karat.web.security import Cookies
from karat.web.security.cookies import DEVICE_SECONDS
from web.servers import PASSWORD

OWNER, STRANGER = "198.51.100.1", "203.0.113.66"
WRONG = "wrong password"


class Clock:
    """A clock that tests turn."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def attempts(clock):
    made = AttemptLimits(clock)
    yield made
    made.close()


@pytest.fixture
def proxied(serve, clock):
    """A server behind a proxy: clients have the addresses that it tells."""
    server = serve(proxies=("127.0.0.1",))
    server.app.state.attempts._clock = clock
    server.accounts.users.add("ann", "owner", PASSWORD)

    def sign_in(address, password=PASSWORD, name="ann"):
        return server.visitor(**{"X-Forwarded-For": address}).sign_in(name, password)

    server.sign_in = sign_in
    return server


@pytest.mark.parametrize("name", ["ann", "nobody"])
def test_delays_of_a_name_and_address_grow(proxied, clock, name):
    answers = [proxied.sign_in(STRANGER, WRONG, name).status_code for _ in range(FREE + 1)]
    assert answers == [400] * FREE + [429]
    waits = []
    for _ in range(12):
        refused = proxied.sign_in(STRANGER, WRONG, name.upper())
        assert refused.status_code == 429
        waits.append(int(refused.headers["retry-after"]))
        clock.now += waits[-1]
        assert proxied.sign_in(STRANGER, WRONG, name).status_code == 400
    assert waits == [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900], "doubled, up to 15 minutes"
    refused = proxied.sign_in(STRANGER, PASSWORD, name)
    links = "or ask an owner for a link: links work meanwhile."
    assert refused.json() == {"error": f"Too many attempts. Try again in 15 minutes, {links}"}
    clock.now += 860
    refused = proxied.sign_in(STRANGER, PASSWORD, name)
    assert refused.json() == {"error": f"Too many attempts. Try again in 40 seconds, {links}"}


def test_a_stranger_does_not_lock_the_owner_out(proxied, clock):
    """Neither out of a session, nor out of the change of a password, nor out of signing in elsewhere."""
    owner = proxied.visitor(**{"X-Forwarded-For": OWNER})
    assert owner.sign_in("ann").status_code == 200
    stranger = proxied.visitor(**{"X-Forwarded-For": STRANGER})
    stranger.open("/login")
    for _ in range(100):
        clock.now += 60
        stranger.post("/api/session", json={"name": "ann", "password": WRONG})
    assert proxied.sign_in(STRANGER).status_code == 429
    assert owner.get("/users").status_code == 200
    assert proxied.sign_in(OWNER).status_code == 200, "an address that is known"
    assert proxied.sign_in("192.0.2.5").status_code == 200, "an address that is new"
    body = {"old": PASSWORD, "new": "a new pass phrase"}
    assert owner.post("/api/password", json=body).status_code == 200


def test_many_addresses_are_slowed_down_except_where_the_user_signed_in_before(attempts, clock):
    attempts.sign_in("ann", OWNER).succeeded()
    attempts.remember("ann", OWNER)

    addresses = (f"10.{k // 65536}.{k // 256 % 256}.{k % 256}" for k in range(1_000_000))

    def tried(span):
        """How many guesses four new addresses per second have in a time."""
        waits = []
        for _ in range(4 * span):
            try:
                attempts.sign_in("ann", next(addresses))
            except TooMany as refused:
                waits.append(refused.wait)
            clock.now += 0.25
        assert max(waits) <= 60, "slowed down, not locked"
        return 4 * span - len(waits)

    assert tried(60) <= 31
    assert tried(3600) == 60
    for _ in range(FREE):
        attempts.sign_in("ann", OWNER)
    for _ in range(20):
        with pytest.raises(TooMany) as refused:
            attempts.sign_in("ann", OWNER)
        assert refused.value.wait <= 60, "guesses from the user's own address delay it for a minute at most"
        clock.now += refused.value.wait
        attempts.sign_in("ann", OWNER)


CROWD = [f"203.0.113.{k}" for k in range(200)]


def besiege(attempts, clock, seconds, rate=5):
    """Let a crowd guess one password; return how many of the guesses were checked."""
    checked = 0
    for k in range(seconds * rate):
        clock.now += 1 / rate
        try:
            attempts.sign_in("ann", CROWD[k % len(CROWD)])
        except TooMany:
            continue
        checked += 1
    return checked


def test_a_crowd_delays_no_known_device_before_and_after_a_restart(clock):
    for _ in range(2):
        attempts = AttemptLimits(clock)
        checked = 0
        for _ in range(30):
            checked += besiege(attempts, clock, 20)
            attempts.sign_in("ann", STRANGER, "device").succeeded()
        assert checked <= 2 * (30 + 10), "the crowd itself is slowed down"
        with pytest.raises(TooMany) as refused:
            attempts.sign_in("ann", CROWD[0])
        assert refused.value.otherwise == ", or ask an owner for a link: links work meanwhile"
        attempts.link(CROWD[0])
        attempts.close()


def test_a_new_browser_finds_room_once_the_crowd_repeats_itself(attempts, clock):
    besiege(attempts, clock, 300)
    for k in range(10):
        assert besiege(attempts, clock, 60) <= 1
        attempts.sign_in("ann", f"192.0.2.{k}").succeeded()


def test_a_device_is_counted_by_itself_wherever_it_is(attempts, clock):
    """A stolen cookie that 200 addresses send allows as many guesses as one."""
    checked = 0
    for address in CROWD:
        try:
            attempts.sign_in("ann", address, "stolen")
        except TooMany:
            continue
        checked += 1
    assert checked == FREE
    attempts.sign_in("ann", OWNER, "another").succeeded()
    attempts.sign_in("bob", OWNER, "stolen").succeeded()
    attempts.sign_in("ann", OWNER).succeeded()


def test_the_cookie_of_a_device_is_for_one_account_one_project_and_half_a_year():
    from starlette.responses import Response

    cookies, account = Cookies("own.db", "", secure=False, seconds=60), ("ann", 1, 0.0, "hash")

    def made(by=cookies, header="", account=account):
        response = Response()
        by.set_device(response, header, account, https=False)
        return response.headers["set-cookie"].split(";")[0]

    header = made()
    number = cookies.device_of(header, account)
    assert len(number) == 43
    assert number in made(header=header), "a known device keeps its number"
    others = [("bob", 1, 0.0, "hash"), ("ann", 2, 0.0, "hash"), ("ann", 1, 0.0, "new"), ("ann", 1, 0.0, None)]
    for other in others:
        assert cookies.device_of(header, other) == ""
        assert number not in made(header=header, account=other)
    elsewhere = Cookies("other.db", "", secure=False, seconds=60)
    assert elsewhere.device_of(f"{elsewhere.device}={header.partition('=')[2]}", account) == ""
    now = time.time()
    for jump, known in (
        (7200, True),
        (-7200, True),
        (DEVICE_SECONDS + 9, False),
        (-DEVICE_SECONDS - 9, False),
    ):
        assert bool(cookies.device_of(header, account, now + jump)) is known
    issued, _, mark = header.partition("=")[2].split(".")
    forged = [
        f"{issued}.{'x' * 43}.{mark}", f"{int(issued) + 1}.{number}.{mark}", f"{issued}.{number}.{'0' * 64}",
        f"{issued}.{number}", "", "..", "9" * 4000, f"{issued}.{number}.{mark}x", f"٣.{number}.{mark}",
        f"{issued}.{number}.{mark}" * 300,
    ]  # fmt: skip
    assert {cookies.device_of(f"{cookies.device}={value}", account) for value in forged} == {""}


def test_a_key_that_is_removed_meanwhile_locks_nobody_out(server, client):
    ann = client("judge", "ann")
    Path(os.environ["KARAT_CONFIG"], "seal.key").rename(Path(os.environ["KARAT_CONFIG"], "away"))
    try:
        assert ann.sign_in("ann").status_code == 200
        assert server.visitor().sign_in("ann").status_code == 200
    finally:
        Path(os.environ["KARAT_CONFIG"], "away").rename(Path(os.environ["KARAT_CONFIG"], "seal.key"))


def test_a_known_browser_gets_in_after_a_restart(serve, clock):
    """With its cookie, by the right name and password; nobody else."""
    first = serve(proxies=("127.0.0.1",))
    for name in ("ann", "bob"):
        first.accounts.users.add(name, "owner", PASSWORD)
    owner = first.visitor(**{"X-Forwarded-For": OWNER})
    owner.sign_in("ann")
    device = {first.app.state.cookies.device: owner.cookies[first.app.state.cookies.device]}
    place = first.settings.project
    first.stop()
    server = serve(place, proxies=("127.0.0.1",))
    attempts = server.app.state.attempts
    attempts._clock = clock
    for name in ("ann", "bob"):
        for _ in range(31):
            attempts.names.count((name, True), clock.now)

    def sign_in(address, name="ann", password=PASSWORD, cookies=device):
        visitor = server.visitor(**{"X-Forwarded-For": address})
        visitor.cookies.update(cookies)
        return visitor.sign_in(name, password).status_code

    assert sign_in(STRANGER, cookies={}) == sign_in(OWNER, cookies={}) == 429
    assert sign_in("192.0.2.1", "bob") == 429, "the cookie is ann's"
    assert [sign_in(address, password=WRONG) for address in CROWD[: FREE + 1]] == [400] * FREE + [429]
    clock.now += 60
    assert sign_in("192.0.2.2") == 200
    link = server.accounts.invitations.link_for(server.accounts.users.number_of("bob"), "enter")
    visitor = server.visitor(**{"X-Forwarded-For": CROWD[0]})
    visitor.open("/invitation")
    assert visitor.post("/api/invitation/accept", json={"token": link}).status_code == 200, "links work"
    number = server.accounts.users.number_of("ann")
    server.accounts.users.set_password(number, "a new pass phrase")
    assert sign_in("192.0.2.3", password="a new pass phrase") == 429, "a new password ends the trust"
    server.accounts.users.set_active(number, False)
    assert sign_in("192.0.2.4", password="a new pass phrase") == 429


def test_failures_are_forgotten_after_an_hour(attempts, clock):
    for _ in range(FREE):
        attempts.sign_in("ann", STRANGER)
    with pytest.raises(TooMany):
        attempts.sign_in("ann", STRANGER)
    clock.now += FORGOTTEN
    for _ in range(FREE):
        attempts.sign_in("ann", STRANGER)


def test_a_network_of_ipv6_is_one_address(attempts):
    for k in range(FREE):
        attempts.sign_in("ann", f"2001:db8::{k}:1")
    with pytest.raises(TooMany):
        attempts.sign_in("ann", "2001:db8::ffff:1")
    attempts.sign_in("ann", "2001:db8:0:1::1")


def test_another_account_does_not_reset_the_delays(proxied):
    """Who has an account signs in between guesses of another one."""
    proxied.accounts.users.add("eve", "judge", PASSWORD)
    answers = []
    for _ in range(FREE + 2):
        answers.append(proxied.sign_in(STRANGER, WRONG).status_code)
        assert proxied.sign_in(STRANGER, name="eve").status_code == 200
    assert answers == [400] * FREE + [429] * 2


def test_a_limit_is_not_avoided_by_saying_to_come_from_elsewhere(server):
    server.app.state.attempts.addresses = Limit(5)
    for k in range(5):
        sent = {"X-Forwarded-For": f"10.0.0.{k}", "Forwarded": f"for=10.0.0.{k}", "X-Real-IP": f"10.0.0.{k}"}
        assert server.visitor(**sent).sign_in(f"name {k}", "wrong password").status_code == 400
    assert (
        server.visitor(**{"X-Forwarded-For": "10.0.0.9"}).sign_in("last", "wrong password").status_code == 429
    )


def test_a_named_proxy_is_believed(serve):
    server = serve(proxies=("127.0.0.1",))
    server.app.state.attempts.addresses = Limit(1)
    for k in range(3):
        visitor = server.visitor(**{"X-Forwarded-For": f"10.0.0.{k}"})
        assert visitor.sign_in(f"name {k}", "wrong password").status_code == 400
    assert visitor.sign_in("name 9", "wrong password").status_code == 429


def test_an_unknown_address_is_never_blocked_by_rounding():
    assert {Limit(1).wait("10.0.0.1", k / 7) for k in range(1000)} == {0.0}


def test_people_who_sign_in_do_not_shut_the_door_for_their_neighbours(server):
    server.app.state.attempts.addresses = Limit(3)
    server.accounts.users.add("ann", "judge", PASSWORD)
    assert [server.visitor().sign_in("ann").status_code for _ in range(6)] == [200] * 6


def test_a_password_is_hashed_for_names_that_do_not_exist_too(server, monkeypatch):
    """What makes both take equally long: one hash is checked whoever is asked for."""
    server.accounts.users.add("ann", "judge", PASSWORD)
    server.accounts.users.add("gone", "judge", PASSWORD)
    server.accounts.users.set_active(server.accounts.users.number_of("gone"), False)
    server.accounts.users.add("link only", "judge", None)
    credentials.nobody()
    checked = []
    real = credentials.hasher()

    class Watched:
        def verify(self, kept, password):
            checked.append(kept)
            return real.verify(kept, password)

    monkeypatch.setattr(credentials, "hasher", Watched)
    for name in ("ann", "nobody", "gone", "link only"):
        assert server.accounts.users.sign_in(name, "wrong password") is None
    assert len(checked) == 4
    assert len({kept.split("$")[3] for kept in checked}) == 1, "with the same parameters"


def test_the_password_of_nobody_opens_no_account_without_one(server):
    server.accounts.users.add("link only", "owner", None)
    assert server.accounts.users.sign_in("link only", "x" * credentials.MIN_PASSWORD) is None


def test_guessing_links_is_limited(server):
    server.app.state.attempts.links = Limit(4)
    visitor = server.visitor()
    visitor.open("/invitation")
    found = [visitor.post("/api/invitation/look", json={"token": "x" * 43}).status_code for _ in range(6)]
    assert found == [400] * 4 + [429] * 2
    answer = visitor.post(
        "/api/invitation/accept", json={"token": server.accounts.invitations.invite("owner")}
    )
    assert answer.status_code == 429


def test_choosing_a_name_that_is_taken_is_no_guess(server):
    server.app.state.attempts.links = Limit(2)
    server.accounts.users.add("ann", "judge", PASSWORD)
    visitor = server.visitor()
    visitor.open("/invitation")
    body = {"token": server.accounts.invitations.invite("judge"), "password": PASSWORD}
    for name in ("ann", "Ann", "ANN", "ann"):
        assert visitor.post("/api/invitation/accept", json=body | {"name": name}).status_code == 400
    assert visitor.post("/api/invitation/accept", json=body | {"name": "bea"}).status_code == 200


def test_guessing_the_password_from_a_stolen_session_is_limited(server, client):
    ann = client("judge", "ann")
    found = [
        ann.post("/api/password", json={"old": f"wrong {k}", "new": "a new pass phrase"}).status_code
        for k in range(12)
    ]
    assert found == [400] * FREE + [429] * (12 - FREE)


def test_many_tries_at_once_are_many(attempts):
    from concurrent.futures import ThreadPoolExecutor

    def attempt(_):
        try:
            attempts.sign_in("ann", "10.0.0.1")
        except TooMany:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(200))) == FREE


def test_the_memory_of_failures_is_bounded():
    limit, delays, known = Limit(3), Delays(), KnownAddresses()
    for k in range(MOST_KEYS + 500):
        limit.count(f"name {k}", 0.0)
        delays.count(f"name {k}", 0.0)
        known.add(f"name {k}", "10.0.0.1")
    assert len(limit._ends) == len(delays._failures) == len(known._addresses) == MOST_KEYS
    for k in range(2 * MOST_ADDRESSES):
        known.add("ann", f"10.0.0.{k}")
    assert ("ann", f"10.0.0.{2 * MOST_ADDRESSES - 1}") in known
    assert ("ann", "10.0.0.0") not in known
