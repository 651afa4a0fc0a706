"""Many judges at once while the file, the disk, the descriptors or the clock fail; nothing may be lost.

python tests/web/failure_show.py --judges 50 --seconds 12
python tests/web/failure_show.py --scenario deleted --scenario full
"""

import argparse
import asyncio
import json
import os
import resource
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from karat.store import back_up, open_project, restore
from web.judges import Judge, Load, make_load, sign_up
from web.process import SERVE, ServerProcess
from web.replay import replay

WRONG = ("lost", "doubled", "foreign", "double_assigned", "unsubmitted")
FILLED = 400
"""Connections that are opened while no descriptors are left."""
CLOCK = """
import sys, time
real = time.time
def moved(place=sys.argv[1] + ".clock"):
    try:
        with open(place) as handle:
            return real() + float(handle.read() or 0)
    except OSError:
        return real()
time.time = moved
"""
"""The start of a server whose clock is moved by the number in a file."""


class Skipped(Exception):
    """Why a scenario cannot be shown on this machine."""


class Scene:
    """A server in a folder, and what can be done to it."""

    def __init__(self, folder: Path, process: ServerProcess) -> None:
        self.folder, self.process = folder, process
        self.place = Path(process.where)
        self.held: list[socket.socket] = []
        self.load = Load()
        self.kept: int | None = None
        """How many answers were acknowledged before the backup that is restored; None where all are there."""

    def log(self, name: str) -> Path:
        return self.place.with_name(f"{self.place.name}{name}")

    def restart(self, copy: str = "") -> None:
        """What the operator does: stop the server, restore the copy that it made, start it again."""
        self.process.stop()
        if copy:
            restore(self.log(copy), self.place, force=True)
        self.process.start()
        self.process.wait()

    def delete(self) -> None:
        for name in ("", "-wal", "-shm"):
            self.log(name).unlink()

    def replace(self) -> None:
        back_up(self.place, self.folder / "other.db")
        os.replace(self.folder / "other.db", self.place)

    def keep(self) -> None:
        """Make a backup, let judges go on, and let SQLite copy its log into the file, as it does at times."""
        self.kept = len(self.load.acknowledged)
        back_up(self.place, self.log(".monday.backup"))
        time.sleep(1)
        with closing(sqlite3.connect(self.place)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def truncate(self) -> None:
        self.keep()
        os.truncate(self.place, self.place.stat().st_size // 2)

    def overwrite(self) -> None:
        self.keep()
        shutil.copyfile(self.log(".monday.backup"), self.place)

    def delete_log(self) -> None:
        self.log("-wal").unlink()

    def rescue(self) -> None:
        end = time.monotonic() + 20
        while not self.log(".rescued").exists():
            assert time.monotonic() < end, "no copy was made"
            time.sleep(0.05)
        self.restart(".rescued")

    def protect(self) -> None:
        """Mount the folder over itself, read-only: open files can be written, no others opened."""
        mount("--bind", str(self.folder), str(self.folder))
        mount("-o", "remount,bind,ro", str(self.folder))

    def unprotect(self) -> None:
        subprocess.run(["umount", str(self.folder)], check=True)

    def fill(self) -> None:
        with suppress(OSError), (self.folder / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(2**16))
        with suppress(OSError), (self.folder / "filler").open("ab", buffering=0) as filler:
            while True:
                filler.write(b"x")

    def empty(self) -> None:
        (self.folder / "filler").unlink()

    def exhaust(self) -> None:
        pid = self.process.process.pid
        self.limit = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        used = max(int(name) for name in os.listdir(f"/proc/{pid}/fd")) + 1
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (used, self.limit[1]))
        for _ in range(FILLED):
            line = socket.socket()
            line.setblocking(False)
            with suppress(BlockingIOError):
                line.connect(("127.0.0.1", self.process.port))
            self.held.append(line)

    def relieve(self) -> None:
        for line in self.held:
            line.close()
        resource.prlimit(self.process.process.pid, resource.RLIMIT_NOFILE, self.limit)

    def move_clock(self, seconds: float) -> None:
        self.log(".clock").write_text(str(seconds))


SCENES: dict[str, tuple[str, Callable[[Scene], None], Callable[[Scene], None]]] = {
    "deleted": ("file-deleted", Scene.delete, Scene.rescue),
    "replaced": ("file-replaced", Scene.replace, Scene.rescue),
    "truncated": ("damaged", Scene.truncate, lambda scene: scene.restart(".monday.backup")),
    "overwritten": ("file-replaced", Scene.overwrite, lambda scene: scene.restart(".monday.backup")),
    "log-deleted": ("log-lost", Scene.delete_log, Scene.restart),
    "read-only": ("read-only", Scene.protect, Scene.unprotect),
    "full": ("disk-full", Scene.fill, Scene.empty),
    "descriptors": ("descriptors-exhausted", Scene.exhaust, Scene.relieve),
    "clock-forward": ("clock-moved", lambda scene: scene.move_clock(7200), lambda scene: scene.move_clock(0)),
    "clock-back": ("clock-moved", lambda scene: scene.move_clock(-7200), lambda scene: scene.move_clock(0)),
}
"""By name: the state that /health must name, what happens, and what ends it."""


def mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skipped(f"mount {' '.join(arguments)}: {done.stderr.strip()}")


@contextmanager
def folder_for(name: str) -> Iterator[Path]:
    """A folder; for a full disk, a small file system of its own."""
    with tempfile.TemporaryDirectory(prefix="karat-") as folder:
        if name != "full":
            yield Path(folder)
            return
        if os.geteuid() != 0:
            raise Skipped("a small disk of its own needs root")
        mount("-t", "tmpfs", "-o", "size=160m", "karat", folder)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def ask_health(port: int) -> dict:
    """What /health says over a new connection; nothing where it does not answer."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as line:
            line.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n" % port)
            text = b"".join(iter(lambda: line.recv(65_536), b""))
        return json.loads(text.partition(b"\r\n\r\n")[2])
    except (OSError, ValueError):
        return {}


def wait_for(port: int, state: str | None, seconds: float = 20.0) -> float:
    """Return after how many seconds /health names a state; NaN if it never does."""
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        found = ask_health(port)
        if found and found.get("state") == state:
            return time.monotonic() - begin
        time.sleep(0.1)
    return float("nan")


async def attack(name: str, scene: Scene, load: Load, seconds: float, found: dict) -> None:
    state, begin, end = SCENES[name]
    await asyncio.sleep(seconds / 3)
    await asyncio.to_thread(begin, scene)
    at = len(load.acknowledged)
    found["named_s"] = round(await asyncio.to_thread(wait_for, scene.process.port, state), 2)
    await asyncio.sleep(seconds / 6)
    found["acknowledged_meanwhile"] = len(load.acknowledged) - at
    await asyncio.to_thread(end, scene)
    found["well_again_s"] = round(await asyncio.to_thread(wait_for, scene.process.port, None), 2)
    at = len(load.acknowledged)
    await asyncio.sleep(seconds / 6)
    found["acknowledged_after"] = len(load.acknowledged) - at


async def judge_during(people: list, scene: Scene, name: str, seconds: float, think: float) -> dict:
    load, found = scene.load, {}
    judges = [Judge(person, scene.process.port, load, think, number) for number, person in enumerate(people)]

    end = time.monotonic() + 3 * seconds + 60
    tasks = [asyncio.create_task(judge.work(end)) for judge in judges]
    await attack(name, scene, load, seconds, found)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return found


def show(name: str, judges: int, seconds: float, think: float) -> dict:
    """Run a scenario and return its figures."""
    with folder_for(name) as folder, tempfile.TemporaryDirectory() as world:
        place = folder / "project.db"
        make_load(str(place), Path(world), judges, 3 * seconds)
        process = ServerProcess(str(place), program=f"{CLOCK}\n{SERVE}" if "clock" in name else SERVE)
        people = sign_up(str(place), process.port, judges)
        scene = Scene(folder, process)
        load = scene.load
        with process:
            found = asyncio.run(judge_during(people, scene, name, seconds, think))
            process.stop()
            said = process.said()
        kept = load if scene.kept is None else replace(load, acknowledged=load.acknowledged[: scene.kept])
        with open_project(place) as project:
            # What was submitted after the backup is not.
            counts = replay(project, kept if scene.kept is None else replace(kept, submitted=[]))
    lines = [line for line in said.splitlines() if line.startswith("{")]
    return {
        "scenario": name, "state": SCENES[name][0], **found, **counts,
        "after_backup": len(load.acknowledged) - len(kept.acknowledged), "refused": len(load.refused),
        "again": load.again, "log_lines": len(lines),
        "tracebacks": said.count("Traceback") + said.count('"frames"'),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judges", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=12.0, help="about how long a scenario takes")
    parser.add_argument("--think", type=float, default=0.5, help="seconds that a judge thinks")
    parser.add_argument("--scenario", action="append", choices=list(SCENES), help="only this one")
    asked = parser.parse_args()
    wrong = 0
    for name in asked.scenario or SCENES:
        try:
            found = show(name, asked.judges, asked.seconds, asked.think)
        except Skipped as reason:
            print(json.dumps({"scenario": name, "skipped": str(reason)}), flush=True)
            continue
        print(json.dumps(found), flush=True)
        wrong += sum(found[key] for key in WRONG) + found["tracebacks"]
        wrong += sum(found[key] != found[key] for key in ("named_s", "well_again_s"))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
