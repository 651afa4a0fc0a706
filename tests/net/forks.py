"""Run commands as processes of their own, without paying each time for the imports of other packages.

A server process imports what karat is built on, and forks once per command. The fork does what ``python -m
karat`` does: it imports all of karat anew, in a process with its own folder, environment and streams. karat
itself is never imported in the server.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import subprocess
import sys
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Slow to import, and safe to fork after it: none of them starts threads (polars does, so it is not here).
PRELOADED = (
    "numpy", "scipy.stats", "scipy.sparse.csgraph", "numba", "typer", "rich.table", "jinja2", "sqlalchemy",
    "alembic", "httpx", "sklearn.cluster", "PIL.Image", "asyncio", "sqlite3",
)  # fmt: skip


def environment(shared: Path, **more: str) -> dict[str, str]:
    """Return the environment of a command: this tree's karat, its own cache, plain text of a fixed width."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("KARAT_", "COV_", "PYTEST"))
    }
    source = str(ROOT / "src")
    paths = [source, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return kept | {
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)),
        "KARAT_CACHE": str(shared / "cache"),
        "TMPDIR": str(shared),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        "USER": "reviewer",
        "LOGNAME": "reviewer",
        "SOURCE_DATE_EPOCH": "1700000000",
        # One thread in the matrix library: the last digits of its sums do not depend on the machine's load.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    } | more  # fmt: skip


class Forks:
    """The server, started on the first command; with ``one``, all commands run in one process in turn."""

    def __init__(self, one: bool = False) -> None:
        self.one = one
        self.process: subprocess.Popen[str] | None = None
        self.cpu = 0.0

    def run(self, words: list[str], folder: Path, env: dict[str, str], streams: Path, text: str = "") -> int:
        """Run ``karat`` with these words; its output goes to files in ``streams``. Return the exit code."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, str(Path(__file__)), "one" if self.one else "fork"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=env,
            )
        (streams / "stdin").write_text(text, encoding="utf-8")
        asked = {"words": words, "folder": str(folder), "env": env, "streams": str(streams)}
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the process that forks the commands ended"
        said = json.loads(line)
        self.cpu += said["cpu"]
        return said["code"]

    def close(self) -> None:
        """End the server."""
        if self.process is not None and self.process.stdin:
            self.process.stdin.close()
            self.process.wait(timeout=30)
            if self.process.stdout:
                self.process.stdout.close()
            self.process = None


def run(asked: dict) -> int:
    """Do what ``python -m karat`` does, in a given folder with given streams; return the exit code."""
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["env"])
    streams = Path(asked["streams"])
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        handle = os.open(streams / name, flags, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    # They stay open as long as the process.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.path[0] = ""  # as python -m does
    watch(streams)
    sys.argv = ["karat", *asked["words"]]
    code = 0
    try:
        runpy.run_module("karat", run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    except BaseException:
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return code


def watch(streams: Path) -> None:
    """Write the records of every result that the command shows into ``streams``, a line of json for each."""
    from karat.cli import show

    def showing(result, quiet: bool = False) -> None:
        # Text and tables are made from the result, too; what a program reads are the records.
        with open(showing.streams / "records", "a", encoding="utf-8") as file:
            file.write(json.dumps(json.loads(result.to_json())) + "\n")
        showing.original(result, quiet)

    (streams / "records").write_text("", encoding="utf-8")
    if not hasattr(show.show, "original"):
        showing.original = show.show
        show.show = showing
    show.show.streams = streams


def serve(one: bool) -> None:
    """Answer one command per line of standard input."""
    for name in PRELOADED:
        # Packages of extras that are not installed are simply not preloaded.
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # What is here stays: the collector of a fork need not look at it, which would copy its pages.
    gc.collect()
    gc.freeze()
    # Commands get other streams.
    asks, says = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    for line in asks:
        asked = json.loads(line)
        if one:
            before = time.process_time()
            code = run(asked)
            cpu = time.process_time() - before
        else:
            code, cpu = forked(asked)
        says.write(json.dumps({"code": code, "cpu": cpu}) + "\n")
        says.flush()


def forked(asked: dict) -> tuple[int, float]:
    """Run a command in a process of its own; return its exit code and its CPU seconds."""
    process = os.fork()
    if process == 0:
        os.setsid()
        code = run(asked)
        # Taking down every imported module would double the time of a short command.
        atexit._run_exitfuncs()
        os._exit(code)
    _, status, used = os.wait4(process, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime


if __name__ == "__main__" and sys.argv[1:] in (["fork"], ["one"]):
    serve(sys.argv[1] == "one")
