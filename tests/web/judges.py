"""Many judges over HTTP, cheap enough to share a machine with the server: one thread, plain sockets.

Each thinks, answers, and sends again whatever was not acknowledged, as the judging page does. Annotators come
within a few seconds of each other and think for about as long as is said, not exactly: otherwise all would
answer in step.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from karat.forms import NOT_GOLD, TaskPlan, load_form
from karat.store import create_project, open_project
from karat.web.security.cookies import Cookies, csrf_of
from karat.web.settings import Settings
from karat.world import make_world, save_world

ARRIVALS = 40
"""How many annotators arrive per second."""
PAIRS, OVERLAP = 12, 3
"""Of each task."""
GONE = (ConnectionError, OSError, asyncio.IncompleteReadError, ValueError)


@dataclass
class Load:
    """What the judges did and were told."""

    acknowledged: list[tuple[str, int, str, str, int]] = field(default_factory=list)
    """Annotator, item, code, key and number of each answer."""
    sent: set[tuple[str, int, str]] = field(default_factory=set)
    """Annotator, item and key of each answer, acknowledged or not."""
    leased: dict[str, str] = field(default_factory=dict)
    """Annotator by token."""
    shared: list[str] = field(default_factory=list)
    """Tokens that were given to two annotators."""
    submitted: list[str] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    """Seconds from the first try of an answer to its acknowledgement."""
    lease_took: list[float] = field(default_factory=list)
    submit_took: list[float] = field(default_factory=list)
    again: int = 0
    """Requests that had to be sent again."""
    refused: list[str] = field(default_factory=list)
    """Anything that the server would not do."""


@dataclass
class Person:
    """An annotator with a session."""

    name: str
    cookie: str
    csrf: str


def make_load(where: str, folder: Path, judges: int, seconds: float) -> None:
    """A world without pictures, and more tasks than the judges can do in the time."""
    tasks = 40 + int(2 * judges * (seconds / PAIRS + 2) / OVERLAP)
    world = make_world(images=400, captions=2, seed=1)
    save_world(world, folder / "world", pictures=False)
    benchmark = world.benchmark()
    pair = np.random.default_rng(1).choice(400 * 800, tasks * PAIRS, replace=False)
    task, position = np.repeat(np.arange(tasks), PAIRS), np.tile(np.arange(PAIRS), tasks)
    plan = TaskPlan(
        task, position, position, pair // 800, pair % 800, np.full(len(pair), NOT_GOLD), OVERLAP
    )  # fmt: skip
    source = str(folder / "world")
    with create_project(where, benchmark, load_form("pair"), source=source, name="load") as project:
        project.pools.add_tasks(plan)


def sign_up(where: str, port: int, judges: int) -> list[Person]:
    """Make accounts and sessions in the store itself: hashing 200 passwords is not what is measured."""
    settings = Settings(where, port=port)
    with open_project(where) as project:
        accounts = project.accounts
        name = Cookies(project.where, settings.path, settings.secure, settings.session_seconds).session
        tokens = []
        for number in range(judges):
            user = accounts.users.add(f"judge {number:03d}", "judge", None)
            tokens.append((user.name, accounts.sessions.open(user.id)))
    return [Person(annotator, f"{name}={token}", csrf_of(token)) for annotator, token in tokens]


class Judge:
    """One annotator with one connection."""

    def __init__(self, person: Person, port: int, load: Load, think: float, number: int) -> None:
        self.person, self.port, self.load, self.think = person, port, load, think
        self.chance, self.arrival = random.Random(number), number / ARRIVALS
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None
        self.count = 0

    def head(self, path: str, length: int) -> bytes:
        return (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nOrigin: http://127.0.0.1:{self.port}\r\n"
            f"Cookie: {self.person.cookie}\r\nX-CSRF-Token: {self.person.csrf}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        ).encode()

    async def send(self, path: str, body: dict) -> tuple[int, dict]:
        """Send a request once and return the status and what came back."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        data = json.dumps(body).encode()
        self.writer.write(self.head(path, len(data)) + data)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        status = int(head.split(" ", 2)[1])
        length = int(head.split("content-length:")[1].split("\r\n")[0])
        text = await self.reader.readexactly(length)
        if "connection: close" in head:
            self.hang_up()
        return status, json.loads(text)

    def hang_up(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None

    async def ask(self, path: str, body: dict) -> tuple[int, dict, float]:
        """Send until there is an answer; return it and how long that took altogether."""
        begin = time.perf_counter()
        while True:
            try:
                status, said = await self.send(path, body)
                if status < 500:
                    return status, said, time.perf_counter() - begin
                if status != 503:
                    self.load.refused.append(f"{status} {path} {said}")
            except GONE:
                self.hang_up()
            self.load.again += 1
            await asyncio.sleep(0.2 + 0.2 * self.chance.random())

    async def work(self, end: float) -> None:
        """Judge until a time."""
        await asyncio.sleep(self.arrival)
        try:
            while time.monotonic() < end and await self.one_task(end):
                pass
        finally:
            self.hang_up()

    async def one_task(self, end: float) -> bool:
        """Lease a task, answer it and submit it; False if there is none."""
        name, load = self.person.name, self.load
        status, said, took = await self.ask("/api/judge/lease", {})
        load.lease_took.append(took)
        if status != 200 or said["lease"] is None:
            load.refused.append(f"{status} lease {said if status != 200 else 'nothing left'}")
            return False
        token = said["lease"]["token"]
        if load.leased.setdefault(token, name) != name:
            load.shared.append(token)
        for item in said["lease"]["items"]:
            if item["code"] is not None:
                continue
            await asyncio.sleep(self.think * self.chance.uniform(0.5, 1.5))
            if time.monotonic() > end:
                return False
            await self.one_answer(token, item["id"])
        status, said, took = await self.ask("/api/judge/submit", {"token": token})
        load.submit_took.append(took)
        if status == 200:
            load.submitted.append(token)
        else:
            load.refused.append(f"{status} submit {said}")
        return True

    async def one_answer(self, token: str, item: int) -> None:
        name, load = self.person.name, self.load
        self.count += 1
        key = f"{name.replace(' ', '-')}-{self.count:06d}"
        code = self.chance.choice(("yes", "no"))
        load.sent.add((name, item, key))
        body = {"token": token, "item": item, "code": code, "seconds": self.think, "key": key}
        status, said, took = await self.ask("/api/judge/answer", body)
        if status == 200:
            load.took.append(took)
            load.acknowledged.append((name, item, code, key, said["number"]))
        else:
            load.refused.append(f"{status} answer {said}")


async def judge_all(
    people: list[Person], port: int, seconds: float, think: float = 1.0, beside: Coroutine | None = None
) -> Load:
    """Let everybody judge for some seconds; `beside` runs with them, and may kill the server."""
    load = Load()
    end = time.monotonic() + seconds
    judges = [Judge(person, port, load, think, number) for number, person in enumerate(people)]
    await asyncio.gather(*(judge.work(end) for judge in judges), *([beside] if beside is not None else []))
    return load
