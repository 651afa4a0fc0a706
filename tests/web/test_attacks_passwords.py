"""Guessing passwords and links: limited by account and by address, and nothing is learned from it."""

import pytest

from karat.judging.store.accounts import credentials
from karat.web.accounts import AttemptLimits
from karat.web.accounts.limits import MOST_KEYS, Limit, TooMany
from web.servers import PASSWORD


@pytest.mark.parametrize("name", ["ann", "nobody"])
def test_after_ten_failures_an_account_is_shut_and_the_right_password_too(server, name):
    server.accounts.users.add("ann", "judge", PASSWORD)
    visitor = server.visitor()
    answers = [visitor.sign_in(name, f"wrong password {k}") for k in range(11)]
    assert [one.status_code for one in answers] == [400] * 10 + [429]
    assert int(answers[-1].headers["retry-after"]) > 600
    assert "Try again in 15 minutes" in answers[-1].json()["error"]
    # In another case it is the same account.
    assert visitor.sign_in(name.upper()).status_code == 429
    assert visitor.sign_in("somebody else").status_code == 400


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
    assert found == [400] * 10 + [429] * 2


def test_many_tries_at_once_are_many():
    from concurrent.futures import ThreadPoolExecutor

    attempts = AttemptLimits()

    def attempt(_):
        try:
            attempts.count("ann", "10.0.0.1")
        except TooMany:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(200))) == 10
    attempts.close()


def test_the_memory_of_failures_is_bounded():
    limit = Limit(3)
    for k in range(MOST_KEYS + 500):
        limit.count(f"name {k}")
    assert len(limit._times) == MOST_KEYS
