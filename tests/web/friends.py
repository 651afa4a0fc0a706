"""docs/judging-page.md, followed word for word: its commands, `karat serve`, and five friends over HTTP.

python tests/web/friends.py --seconds 5 --reasons 8 --guidelines 60 --joining 30

The friends are as slow as is said, so that the minutes that the page promises can be measured.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from karat.benchmarks import load_benchmark
from karat.store import open_project
from web.process import ServerProcess
from web.servers import PASSWORD, Client

PAGE = Path(__file__).parents[2] / "docs" / "judging-page.md"
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eve")
REASONS = {"shortcomings": ["not_in_image"]}


@dataclass(frozen=True)
class Pace:
    """How many seconds a friend takes: to join, to read the guidelines, to answer, and to give reasons."""

    joining: float = 0.0
    guidelines: float = 0.0
    answer: float = 0.0
    reasons: float = 0.0

    def wait(self, seconds: float, rng: random.Random) -> None:
        """Take about so long: up to a fifth less or more."""
        time.sleep(seconds * rng.uniform(0.8, 1.2))


@dataclass
class Friends:
    """What the friends did: answers and tasks of each, and the seconds of each part of the page."""

    answers: dict[str, int] = field(default_factory=dict)
    tasks: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    printed: dict[str, str] = field(default_factory=dict)
    """What each command printed."""


def commands_of_page() -> list[str]:
    """Return the lines of the page's bash blocks."""
    blocks = re.findall(r"^```bash\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def join(address: str, link: str, name: str) -> Client:
    """Open a link, choose a name and a password, and return the client of the session."""
    client = Client(base_url=address, headers={"Origin": address}, timeout=30)
    client.open("/invitation")
    body = {"token": link.split("#")[1], "name": name, "password": f"{PASSWORD} of {name}"}
    client.post("/api/invitation/accept", json=body).raise_for_status()
    client.open("/account")
    return client


def judge(
    address: str, link: str, name: str, say: Callable[[str, int], str], pace: Pace, done: Friends
) -> None:
    """Join, read the guidelines, and answer until there are no more tasks."""
    rng = random.Random(name)
    pace.wait(pace.joining, rng)
    with closing(join(address, link, name)) as client:
        client.open("/judge")
        pace.wait(pace.guidelines, rng)
        while (lease := client.post("/api/judge/lease", json={}).json())["lease"]:
            token = lease["lease"]["token"]
            for item in lease["lease"]["items"]:
                pace.wait(pace.answer, rng)
                code = say(name, item["id"])
                if code == "mostly_no":
                    pace.wait(pace.reasons, rng)
                body = {"token": token, "item": item["id"], "key": uuid.uuid4().hex, "code": code}
                body["details"] = REASONS if code == "mostly_no" else {}
                client.post("/api/judge/answer", json=body).raise_for_status()
                done.answers[name] = done.answers.get(name, 0) + 1
            client.post("/api/judge/submit", json={"token": token}).raise_for_status()
            done.tasks[name] = done.tasks.get(name, 0) + 1


def speaker(place: str) -> Callable[[str, int], str]:
    """Return who knows the truth about an item; a third of what is not true gets reasons."""
    project = open_project(place)
    benchmark = load_benchmark("my")
    judgments = benchmark.truths["complete"].judgments
    true = set(zip(judgments.image.tolist(), judgments.caption.tolist()))

    def say(name: str, item: int) -> str:
        pair = project.queue.pair_of(name, item)
        if pair in true:
            return "yes"
        return "mostly_no" if sum(pair) % 3 == 0 else "no"

    return say


def follow(call: Callable[[str], str], pace: Pace | None = None) -> Friends:
    """Follow the page in the current folder: `call` runs a command and returns what it prints."""
    done, pace = Friends(), pace or Pace()
    begin = time.monotonic()

    def finish(part: str) -> None:
        nonlocal begin
        done.seconds[part] = time.monotonic() - begin
        begin = time.monotonic()

    lines = commands_of_page()
    serve = next(k for k, line in enumerate(lines) if line.startswith("karat serve"))
    for line in lines[:serve]:
        if not line.startswith("pip "):
            done.printed[line] = call(line)
    finish("choose")
    place = shlex.split(lines[serve])[2]
    with ServerProcess(place) as server:
        address = f"http://127.0.0.1:{server.port}"
        owner = join(address, re.search(r"owner's link .*: (\S+)", server.said())[1], "you")
        links = [
            owner.post("/api/users/links", json={"role": "judge", "name": name}).json()["link"]
            for name in NAMES
        ]
        finish("start")
        say = speaker(place)
        with ThreadPoolExecutor(len(NAMES)) as threads:
            list(threads.map(lambda name, link: judge(address, link, name, say, pace, done), NAMES, links))
        finish("answer")
        owner.close()
    for line in lines[serve + 1 :]:
        if not line.startswith("karat serve"):
            done.printed[line] = call(line)
    finish("publish")
    return done


def main() -> None:
    """Follow the page with commands in processes of their own, and print the seconds of each part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("joining", 30), ("guidelines", 60), ("seconds", 5), ("reasons", 8)):
        parser.add_argument(f"--{name}", type=float, default=default)
    options = parser.parse_args()
    pace = Pace(options.joining, options.guidelines, options.seconds, options.reasons)

    def call(line: str) -> str:
        words = line.replace("karat ", f"{shlex.quote(sys.executable)} -m karat ", 1)
        result = subprocess.run(
            words if line.startswith("karat") else line,
            shell=True,
            check=True,
            capture_output=True,
            text=True,
        )
        return result.stdout

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        done = follow(call, pace)
        os.chdir("/")
    for line, text in done.printed.items():
        print(f"$ {line}\n{text}")
    for name in NAMES:
        print(f"{name}: {done.tasks.get(name, 0)} tasks, {done.answers.get(name, 0)} answers")
    print(", ".join(f"{part} {seconds:.0f} s" for part, seconds in done.seconds.items()))
    print(f"in all {sum(done.seconds.values()):.0f} s")


if __name__ == "__main__":
    main()
