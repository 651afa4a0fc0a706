"""The owner signs in while strangers guess: from a known browser, before and after a restart of the server.

python tests/web/siege.py --addresses 200 --guesses 5 --sign-ins 30

It needs Linux, where a client may take any address of 127.0.0.0/8. The exit code is 1 if a sign-in was
refused or took more than two seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import httpx

from karat.store import open_project
from web.process import ServerProcess
from web.servers import PASSWORD, Client, make_project

MOST = 2.0
"""Seconds that a sign-in may take."""


def client_of(base: str, address: str) -> Client:
    """Return a client that calls from an address."""
    transport = httpx.HTTPTransport(local_address=address)
    return Client(base_url=base, headers={"Origin": base}, timeout=30, transport=transport)


def guess(base: str, addresses: list[str], rate: float, stop: threading.Event, made: list[float]) -> None:
    """Guess the owner's password, each time from the next address, so often a second in all; note when."""
    clients = [client_of(base, address) for address in addresses]
    begin = time.monotonic()
    while not stop.wait(max(0.0, begin + len(made) / rate - time.monotonic())):
        # A server that restarts refuses connections.
        with contextlib.suppress(httpx.HTTPError):
            clients[len(made) % len(clients)].sign_in("ann", f"guess number {len(made)}")
        made.append(time.monotonic())


def sign_ins(owner: Client, number: int) -> dict[str, float]:
    """Sign in so often, signed out each time, and return how many were refused and the seconds they took."""
    refused, seconds = 0, []
    for _ in range(number):
        for name in list(owner.cookies):
            if "-device-" not in name:
                owner.cookies.delete(name)
        owner.open("/login")
        begin = time.monotonic()
        answer = owner.post("/api/session", json={"name": "ann", "password": PASSWORD})
        seconds.append(time.monotonic() - begin)
        refused += not answer.is_success
        time.sleep(1.0)
    return {"refused": refused, "median_s": statistics.median(seconds), "worst_s": max(seconds)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--addresses", type=int, default=200, help="how many addresses guess")
    parser.add_argument("--guesses", type=float, default=5.0, help="guesses a second, of all addresses")
    parser.add_argument("--sign-ins", type=int, default=30, help="before the restart, and after it")
    asked = parser.parse_args()
    os.environ["KARAT_CONFIG"] = tempfile.mkdtemp(prefix="karat-siege-")
    place = make_project(Path(os.environ["KARAT_CONFIG"]), pictures=False)
    with open_project(place) as project:
        project.accounts.users.add("ann", "owner", PASSWORD)
    server, stop, failed = ServerProcess(str(place)), threading.Event(), False
    base = f"http://127.0.0.1:{server.port}"
    addresses = [f"127.0.{1 + k // 200}.{1 + k % 200}" for k in range(asked.addresses)]
    made: list[float] = []
    siege = threading.Thread(target=guess, args=(base, addresses, asked.guesses, stop, made))
    owner = client_of(base, "127.0.0.1")
    try:
        for when in ("before", "after"):
            with server:
                if when == "before":
                    assert owner.sign_in("ann").is_success
                    siege.start()
                    # The strangers exhaust the limits of the name first.
                    time.sleep(60 / asked.guesses)
                begin, first = time.monotonic(), len(made)
                found = sign_ins(owner, asked.sign_ins)
                rate = (len(made) - first) / (time.monotonic() - begin)
            shown = {"when": when, "of": asked.sign_ins, **found, "guesses_per_second": rate}
            print(json.dumps({key: round(v, 3) if isinstance(v, float) else v for key, v in shown.items()}))
            failed = failed or bool(found["refused"]) or found["worst_s"] > MOST
    finally:
        stop.set()
        siege.join()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
