"""The threads that compute hashes of passwords: who is first, who is refused, and how they end."""

import asyncio
import threading
import time
from contextlib import contextmanager

import pytest

from karat.web.accounts import AttemptLimits
from karat.web.accounts.limits import AT_ONCE, FREE, OWN_ROOM, ROOM, Hashes, TooMany

OWNER, STRANGER = "198.51.100.1", "203.0.113.66"


@pytest.fixture
def attempts():
    made = AttemptLimits()
    yield made
    made.close()


@pytest.fixture
def hashes():
    made = Hashes()
    yield made
    made.close()


@contextmanager
def busy(hashes):
    """All threads compute, until the end of the block."""
    gate = threading.Event()
    running = [hashes.add(lambda: gate.wait(30)) for _ in range(AT_ONCE)]
    end = time.monotonic() + 30
    while not all(one.running() for one in running):
        assert time.monotonic() < end
        time.sleep(0.001)
    try:
        yield
    finally:
        gate.set()


def test_known_users_come_first_and_neither_they_nor_strangers_keep_the_others_out(hashes):
    order, waiting = [], []
    with busy(hashes):
        for name, most in ((None, ROOM), ("eve", OWN_ROOM), ("bob", OWN_ROOM)):
            waiting += [hashes.add(lambda name=name: order.append(name), name) for _ in range(most)]
            with pytest.raises(TooMany):
                hashes.add(lambda: None, name)
        waiting.append(hashes.add(lambda: order.append("ann"), "ann"))
    for one in waiting:
        one.result(30)
    assert order.index("ann") <= 4 * OWN_ROOM + 2, "at most one stranger goes between two of them"
    assert (hashes._running, len(hashes._known), len(hashes._strangers)) == (0, 0, 0)


def test_an_insider_who_signs_in_without_end_leaves_a_thread_to_strangers(hashes):
    release = threading.Semaphore(0)
    with busy(hashes):
        endless = [hashes.add(lambda: release.acquire(timeout=30), "eve") for _ in range(OWN_ROOM)]
        stranger = hashes.add(lambda: "here")
    assert stranger.result(30) == "here"
    assert not any(one.done() for one in endless)
    release.release(OWN_ROOM)


def test_what_fails_in_a_thread_is_raised_and_the_thread_goes_on(hashes):
    for known in (None, "ann"):
        with pytest.raises(ZeroDivisionError):
            hashes.add(lambda: 1 // 0, known).result(30)
    assert hashes.add(lambda: 1).result(30) == 1
    assert hashes._running == 0


def test_a_full_queue_is_no_failure(attempts):
    with busy(attempts.hashes):
        waiting = [attempts.hashes.add(lambda: None) for _ in range(ROOM)]
        for _ in range(3 * FREE):
            with pytest.raises(TooMany):
                attempts.sign_in("ann", STRANGER)
        attempts.sign_in("ann", OWNER, "device").succeeded()
    for one in waiting:
        one.result(30)
    attempts.sign_in("ann", STRANGER)


def test_what_waits_when_the_server_stops_is_refused(attempts):
    gate = threading.Event()

    async def stop():
        waiting = [asyncio.ensure_future(attempts.run(lambda: gate.wait(30))) for _ in range(20)]
        await asyncio.sleep(0.05)
        attempts.close(wait=False)
        gate.set()
        return await asyncio.gather(*waiting, return_exceptions=True)

    outcomes = asyncio.run(stop())
    assert sum(isinstance(outcome, TooMany) for outcome in outcomes) >= 20 - AT_ONCE
    with pytest.raises(TooMany):
        attempts.sign_in("ann", OWNER)
