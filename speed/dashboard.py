"""The pages of a server of a project of a million answers: judges work, and two dashboards are open.

python speed/dashboard.py --project /tmp/million.db     # made there once, and used again
"""

import asyncio
import http.client
import json
import shutil
import socket
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from _stopwatch import PARSER, main, record, sized
from tests.web.judges import judge_all, sign_up
from tests.web.process import ServerProcess

from karat.forms import NOT_GOLD, AnswerRows, Pool, TaskPlan, load_form
from karat.store import create_project, open_project
from karat.world import make_world, save_world

IMAGES, CAPTIONS = sized((2_000, 5), (20, 2))
TASKS, PAIRS, GOLD, LEAST, MOST = sized((7_400, 16, 2, 5, 10), (6, 4, 2, 2, 4))
ANNOTATORS = sized(300, 8)
EXPORTS = sized([("answers", "csv"), ("answers", "jsonl"), ("tasks", "csv")], [("answers", "csv")])
JUDGES, THINK, DASHBOARDS = sized((40, 1.0, 2), (2, 0.05, 2))
PATHS = (
    "/judge", "/api/judge/state", "/adjudicate", "/dashboard", "/users", "/account", "/health", "/metrics",
    "/api/session", "/api/account/export", "/api/dashboard/live", "/api/dashboard/statistics",
    "/api/dashboard/disagreements", "/api/dashboard/disagreements?which=decided", "/api/dashboard/jobs",
)  # fmt: skip


def make_project(where: Path, careless: float = 0.1) -> None:
    """A project of 118,400 pairs with five to ten answers each, by 300 annotators, a tenth of whom guess."""
    rng = np.random.default_rng(7)
    world = make_world(images=IMAGES, captions=CAPTIONS, seed=1)
    source = where.with_suffix(".world")
    save_world(world, source, pictures=False)
    captions, size = IMAGES * CAPTIONS, PAIRS + GOLD
    stock = sized(400, 4)
    chosen = rng.choice(IMAGES * captions, TASKS * PAIRS + stock, replace=False)
    known = chosen[TASKS * PAIRS :]
    first = rng.integers(0, stock // 2, TASKS)
    asked = chosen[: TASKS * PAIRS].reshape(TASKS, PAIRS)
    pair = np.hstack([asked, known[first][:, None], known[first + stock // 2][:, None]]).ravel()
    position = np.tile(np.arange(size), TASKS)
    gold = np.where(position < PAIRS, NOT_GOLD, position - PAIRS)
    task = np.repeat(np.arange(TASKS), size)
    plan = TaskPlan(task, position, position, pair // captions, pair % captions, gold, MOST)
    to_judge = np.sort(pair[gold == NOT_GOLD])
    n = len(to_judge)
    queries = {"i2t": np.arange(IMAGES), "t2i": np.arange(captions)}
    places = (np.arange(n), np.arange(n) % 2, np.zeros(n, np.int64), np.ones(n, np.int64), np.full(n, np.nan))
    why = np.zeros(n, np.int8)
    pool = Pool(to_judge // captions, to_judge % captions, why, ("a", "b"), *places, queries, top=1)
    # Who answers what: each task has so many different annotators.
    number = rng.integers(LEAST, MOST + 1, TASKS)
    of_task = np.repeat(np.arange(TASKS), number)
    turn = np.arange(len(of_task)) - np.repeat(np.cumsum(number) - number, number)
    who = (of_task * MOST + turn) % ANNOTATORS
    item = (of_task[:, None] * size + np.arange(size)).ravel()
    who = np.repeat(who, size)
    right = rng.uniform(0.75, 0.97, ANNOTATORS)
    right[rng.random(ANNOTATORS) < careless] = 0.5
    # Some pairs are hard for everybody; annotators tell apart what is true by their own rates.
    true = np.where(gold == NOT_GOLD, rng.random(len(pair)) < 0.3, gold == 1)
    hard = np.where(gold == NOT_GOLD, rng.beta(1, 4, len(pair)), 0.0)
    chance = right[who] * (1 - hard[item]) + 0.5 * hard[item]
    code = np.where((rng.random(len(item)) < chance) == true[item], "yes", "no")
    names = np.array([f"annotator {one:03d}" for one in range(ANNOTATORS)])
    # Over the last week, up to now.
    at = np.sort(time.time() - rng.exponential(2 * 86_400, len(item)))
    seconds = rng.lognormal(1.5, 0.6, len(item))
    rows = AnswerRows(
        task[item], pair[item] // captions, pair[item] % captions, names[who], code, seconds, at
    )
    with create_project(where, world.benchmark(), load_form("pair"), source=str(source)) as project:
        project.pools.set(pool)
        project.pools.add_tasks(plan)
        project.answers.record(rows)


class Page:
    """A browser that has signed in, with one connection."""

    def __init__(self, port: int, person) -> None:
        self.port, self.headers = port, {
            "Cookie": person.cookie, "X-CSRF-Token": person.csrf, "Origin": f"http://127.0.0.1:{port}",
            "Content-Type": "application/json",
        }  # fmt: skip
        self.line = http.client.HTTPConnection("127.0.0.1", port, timeout=asked.patience)

    def ask(self, method: str, path: str, body: dict | None = None) -> tuple[int, bytes, float]:
        """Send a request and return the status, the reply, and the seconds that it took."""
        begin = time.perf_counter()
        self.line.request(method, path, None if body is None else json.dumps(body), self.headers)
        reply = self.line.getresponse()
        text = reply.read()
        return reply.status, text, time.perf_counter() - begin

    def stream(self, seen: dict, stop: threading.Event) -> None:
        """Keep a dashboard open; remember when each event came first, and how many came."""
        begin = time.perf_counter()
        with socket.create_connection(("127.0.0.1", self.port), timeout=1) as line:
            head = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
            line.sendall(
                f"GET /api/dashboard/stream HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n{head}\r\n".encode()
            )
            left = b""
            while not stop.is_set():
                try:
                    *lines, left = (left + line.recv(1 << 16)).split(b"\n")
                except TimeoutError:
                    continue
                for one in lines:
                    if one.startswith(b"event: "):
                        name = one[7:].strip().decode()
                        seen.setdefault(name, [time.perf_counter() - begin, 0])[1] += 1


def memory(pid: int) -> dict[str, int]:
    """The memory that a process holds now, and the most that it has held, in MB."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {line[:5]: int(line.split()[1]) // 1024 for line in status if line.startswith(("VmRSS", "VmHWM"))}


def walk(page: Page, seconds: float, took: dict, known: list[str]) -> None:
    """Ask for every page in turn, and keep what each took; those that answered "computing" apart."""
    end = time.monotonic() + seconds
    while True:
        for path in (*PATHS, *known):
            if time.monotonic() > end:
                return
            try:
                status, text, seconds = page.ask("GET", path)
            except TimeoutError:
                status, text, seconds = 0, b"", asked.patience
                page.line.close()
            name = path if path in PATHS else "/api/dashboard/disagreements/…"
            took[name].append(seconds)
            if status not in (200, 202):
                took[f"{name}: {status or 'no reply'}"].append(seconds)
            if status == 202:
                took[f"{name}: computing"].append(seconds)
            elif path == "/api/dashboard/disagreements" and status == 200 and not known:
                pairs = json.loads(text)["pairs"]
                known += [f"{path}/{one['image']}/{one['caption']}" for one in pairs[:1]]


def figures(took: dict, when: str):
    for name, seconds in took.items():
        p50, p99 = np.quantile(seconds, [0.5, 0.99])
        what = f"{when}; p50 {1000 * p50:.0f} ms, worst {1000 * max(seconds):.0f} ms, {len(seconds)} requests"
        yield record(name, "p99", float(p99), what)


def export(page: Page, what: str, format: str):
    """Have something exported, wait for it and download it."""
    begin = time.monotonic()
    status, text, took = page.ask("POST", "/api/dashboard/jobs/export", {"what": what, "format": format})
    number, slowest = json.loads(text)["job"], took
    while True:
        status, text, took = page.ask("GET", "/api/dashboard/jobs")
        slowest = max(slowest, took)
        job = next(one for one in json.loads(text)["jobs"] if one["number"] == number)
        if job["state"] in ("done", "failed"):
            break
        time.sleep(0.2)
    made = time.monotonic() - begin
    status, text, took = page.ask("GET", f"/api/dashboard/jobs/{number}/file")
    said = f"{job['state']}; slowest request meanwhile {1000 * slowest:.0f} ms; "
    said += f"download of {len(text) / 1e6:.1f} MB in {took:.1f} s, status {status}"
    return record(f"export {what} {format}", "whole", made, said)


def measure():
    with tempfile.TemporaryDirectory() as folder:
        made = asked.project or Path(folder) / "million.db"
        if not made.exists():
            make_project(made, asked.careless)
        place = Path(folder) / "copy.db"
        shutil.copy(made, place)
        yield from serve(str(place))


def serve(where: str):
    process = ServerProcess(where, options=[word for run in asked.run for word in ("--run", run)])
    people = sign_up(where, process.port, JUDGES)
    with open_project(where) as project:
        owner = project.accounts.users.add("owner", "owner", None)
        token = project.accounts.sessions.open(owner.id)
    boss = owner_of(people[0], token)
    with process:
        pid = process.process.pid
        held = {"start": memory(pid)}
        seen, stop = [{} for _ in range(DASHBOARDS)], threading.Event()
        streams = [threading.Thread(target=Page(process.port, boss).stream, args=(one, stop)) for one in seen]
        loads: list = []
        judging = threading.Thread(
            target=lambda: loads.append(
                asyncio.run(judge_all(people, process.port, 2 * asked.seconds, THINK))
            )
        )
        for thread in (*streams, judging):
            thread.start()
        page, known = Page(process.port, boss), []
        for when in ("from the start on", "later"):
            took = defaultdict(list)
            walk(page, asked.seconds, took, known)
            held[when] = memory(pid)
            yield from figures(took, when)
        judging.join()
        load = loads[0]
        for name, seconds in (
            ("lease", load.lease_took),
            ("answer", load.took),
            ("submit", load.submit_took),
        ):
            yield from figures({f"/api/judge/{name}": seconds} if seconds else {}, "all the time")
        for what, format in EXPORTS:
            yield export(page, what, format)
        held["exported"] = memory(pid)
        stop.set()
        for thread in streams:
            thread.join()
        print(json.dumps({"memory": held, "events": seen, "refused": load.refused[:3]}))
        begin = time.perf_counter()
        code = process.stop()
        print(f"stopped in {time.perf_counter() - begin:.1f} s with {code}")


def owner_of(person, token: str):
    """The owner's session, in the cookie of the same server."""
    from tests.web.judges import Person

    from karat.web.security.cookies import csrf_of

    return Person("owner", f"{person.cookie.split('=')[0]}={token}", csrf_of(token))


if __name__ == "__main__":
    PARSER.add_argument("--project", type=Path, help="where the project is, or is made and kept")
    PARSER.add_argument("--careless", type=float, default=0.1, help="the share of annotators who guess")
    PARSER.add_argument("--run", action="append", default=[], help="a run of the project's goal")
    PARSER.add_argument("--seconds", type=float, default=sized(60.0, 0.4), help="of each of two parts")
    PARSER.add_argument("--patience", type=float, default=120.0, help="seconds to wait for a reply")
    asked = PARSER.parse_args()
    main(measure)
