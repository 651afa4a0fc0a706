"""Many judges at once over HTTP against `karat serve`, on SQLite and PostgreSQL; the server may be killed.

python speed/web.py --kills 10     # 200 judges for 60 s, on SQLite and on PostgreSQL: nothing may be lost
python speed/web.py --judges 50 --seconds 20 --database postgres
"""

import asyncio
import contextlib
import json
import random
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _stopwatch import PARSER, left_out, main, record, sized
from tests.store.postgres import new_database, programs, server
from tests.web.judges import judge_all, make_load, sign_up
from tests.web.process import ServerProcess
from tests.web.replay import replay

from karat.store import open_project

WRONG = ("lost", "doubled", "foreign", "double_assigned", "unsubmitted", "refused")


async def kill_often(process: ServerProcess, kills: int, seconds: float, down: list[float]) -> None:
    """Kill the server at random moments, and start it again each time."""
    chance = random.Random(5)
    part = seconds / (kills + 1)
    begin = time.monotonic()
    for number in range(kills):
        moment = begin + part * (number + 1) + chance.uniform(-0.3, 0.3) * part
        await asyncio.sleep(max(0.3, moment - time.monotonic()))
        dead = time.monotonic()
        process.kill()
        process.start()
        await asyncio.to_thread(process.wait)
        down.append(time.monotonic() - dead)


def run(where: str, judges: int, seconds: float, kills: int, think: float) -> dict:
    """Load a server of a project and return the figures."""
    with tempfile.TemporaryDirectory() as folder:
        make_load(where, Path(folder), judges, seconds)
        process = ServerProcess(where)
        people = sign_up(where, process.port, judges)
        down: list[float] = []
        with process:
            before, mine = process.cpu_seconds(), time.process_time()
            beside = kill_often(process, kills, seconds, down) if kills else None
            load = asyncio.run(judge_all(people, process.port, seconds, think, beside))
            cpu = {"server_cpu_s": process.cpu_seconds() - (0 if kills else before)}
            cpu["judges_cpu_s"] = time.process_time() - mine
            code = process.stop()
            traces = process.said().count("Traceback") + process.said().count('"frames"')
        with open_project(where) as project:
            found = replay(project, load)
    for reason in load.refused[:5]:
        print("  refused:", reason, file=sys.stderr)
    return {
        **found, "refused": len(load.refused), "again": load.again, "exit": code, "traces": traces,
        "down_s": down, **cpu,
        **times("answer", load.took), **times("lease", load.lease_took), **times("submit", load.submit_took),
    }  # fmt: skip


def times(name: str, took: list[float]) -> dict[str, float]:
    if not took:
        return {}
    p50, p99 = np.quantile(took, [0.5, 0.99])
    return {f"{name}_p50": float(p50), f"{name}_p99": float(p99), f"{name}_worst": max(took)}


@contextlib.contextmanager
def database(kind: str):
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield f"{folder}/project.db"
    else:
        with server() as address:
            yield new_database(address, "load")


def measure():
    for kind in ("sqlite", "postgres") if asked.database == "both" else (asked.database,):
        if kind == "postgres" and not programs():
            left_out(kind, "its programs are not installed")
            continue
        with database(kind) as where:
            found = run(where, asked.judges, asked.seconds, asked.kills, asked.think)
        print(json.dumps({"database": kind, **found}, indent=1))
        wrong[kind] = sum(found[name] for name in WRONG)
        size = f"{asked.judges} × {asked.seconds:g} s"
        said = ", ".join(f"{found[name]} {name.replace('_', ' ')}" for name in ("acknowledged", *WRONG))
        said += f"; killed {asked.kills} times" if asked.kills else ""
        for what in ("answer", "lease", "submit"):
            for share in ("p50", "p99") if f"{what}_p99" in found else ():
                yield record(f"{kind}, {what} {share}", size, found[f"{what}_{share}"], said)
        if found["down_s"]:
            down = sorted(found["down_s"])
            said = f"until it answers again, {down[0]:.1f} to {down[-1]:.1f} s; requests sent again: "
            yield record(f"{kind}, after kill -9", size, float(np.median(down)), f"{said}{found['again']}")


if __name__ == "__main__":
    judges, seconds, think, database_kind = sized((200, 60.0, 1.0, "both"), (3, 0.5, 0.02, "sqlite"))
    PARSER.add_argument("--judges", type=int, default=judges)
    PARSER.add_argument("--seconds", type=float, default=seconds)
    PARSER.add_argument("--think", type=float, default=think, help="seconds that a judge thinks")
    PARSER.add_argument("--kills", type=int, default=0, help="how often the server is killed")
    PARSER.add_argument("--database", choices=["sqlite", "postgres", "both"], default=database_kind)
    asked = PARSER.parse_args()
    wrong: dict[str, int] = {}
    main(measure)
    sys.exit(1 if sum(wrong.values()) else 0)
