"""Guessing passwords and links: limited by name and address, and nothing is learned from it."""

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
    assert refused.json() == {"error": "Too many attempts. Try again in 15 minutes."}
    clock.now += 860
    refused = proxied.sign_in(STRANGER, PASSWORD, name)
    assert refused.json() == {"error": "Too many attempts. Try again in 40 seconds."}


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
    server.app.state.attempts.addresses = Limit(4)
    visitor = server.visitor()
    visitor.open("/invitation")
    found = [visitor.post("/api/invitation/look", json={"token": "x" * 43}).status_code for _ in range(6)]
    assert found == [400] * 4 + [429] * 2
    answer = visitor.post(
        "/api/invitation/accept", json={"token": server.accounts.invitations.invite("owner")}
    )
    assert answer.status_code == 429


def test_choosing_a_name_that_is_taken_is_no_guess(server):
    server.app.state.attempts.addresses = Limit(2)
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
