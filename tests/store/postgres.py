"""A PostgreSQL server of our own: a fresh cluster in a temporary folder, on a socket inside it."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REASON = "needs PostgreSQL's programs: apt-get install postgresql"
FAST = ("-c", "shared_buffers=64MB", "-c", "max_connections=200", "-c", "max_wal_size=2GB")


def programs() -> Path | None:
    """The folder of initdb and postgres: Debian keeps it off the path."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next(
        (place for place in places if (place / "initdb").exists() and (place / "postgres").exists()), None
    )


def unprivileged() -> dict:
    """How to start a program that refuses to run as root; nothing to do for everybody else."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    raise RuntimeError("there is no user to run PostgreSQL as")


@contextmanager
def server() -> Iterator[str]:
    """Yield the address of a running server; it is stopped and removed in the end."""
    where = programs()
    assert where is not None, REASON
    # The path of a socket has at most 107 characters: not below pytest's folders.
    folder = Path(tempfile.mkdtemp(prefix="karat-pg-"))
    how = unprivileged()
    process = None
    try:
        if how:
            os.chown(folder, how["user"], how["group"])
        made = [
            where / "initdb",
            "-D",
            folder / "data",
            "-U",
            "karat",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
        ]
        subprocess.run([*map(str, made), "--no-sync"], check=True, capture_output=True, cwd=folder, **how)
        with (folder / "log").open("wb") as log:
            start = [where / "postgres", "-D", folder / "data", "-k", folder, "-h", "", *FAST]
            process = subprocess.Popen([*map(str, start)], stdout=log, stderr=log, cwd=folder, **how)
        wait(process, folder)
        yield f"postgresql://karat@/postgres?host={folder}"
    finally:
        if process is not None:
            process.send_signal(signal.SIGQUIT if process.poll() is None else 0)
            process.wait(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)


def wait(process: subprocess.Popen, folder: Path) -> None:
    """Wait until the server answers."""
    import psycopg

    for _ in range(300):
        if process.poll() is not None:
            raise RuntimeError((folder / "log").read_text()[-2000:])
        try:
            psycopg.connect(host=str(folder), user="karat", dbname="postgres").close()
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise RuntimeError("PostgreSQL does not answer")


def new_database(address: str, name: str) -> str:
    """Make an empty database in a running server and return its address."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return address.replace("/postgres?", f"/{name}?")
