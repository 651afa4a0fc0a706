"""A copy of a project while others write into it: complete, of one moment, looked at before it is kept."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL

from karat._util import check_writable, renamed_keywords, replacing, write_errors
from karat.errors import InputError, MissingDataError
from karat.judging.store.file_check import check_file
from karat.judging.store.places import Place, explained, find_place


@dataclass(frozen=True)
class Backup:
    """What was written.

    Parameters
    ----------
    path
        The copy.
    size
        Its bytes.
    answers
        How many rows of answers it holds; None where nobody looked: a dump of PostgreSQL.
    restore
        How to use it.
    """

    path: Path
    size: int
    answers: int | None
    restore: str


@renamed_keywords(overwrite="force")
def back_up(where: str | Path, to: str | Path, force: bool = False) -> Backup:
    """Copy a project to a file; a server may go on writing, and waits for nothing.

    A project in a file is copied page by page into another file, which is a project itself. One in PostgreSQL
    is written by `pg_dump`, if that is installed. Nobody but the user can read the copy: it holds the answers
    of people and the hashes of their passwords. Under its name there is a complete copy or none.

    Parameters
    ----------
    where
        The file or the address of the project; it is not changed, nor brought up to date.
    to
        The file to write.
    force
        Whether a file of that name may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> from karat.judging import create_project, load_form
    >>> from karat.world import make_world
    >>> world = make_world(images=3, captions=1, seed=1).benchmark()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with create_project(f"{folder}/own.db", world, load_form("pair"), source="world"):
    ...         back_up(f"{folder}/own.db", f"{folder}/copy.db").answers
    0
    """
    place, path = find_place(where), Path(to)
    check_file(place, new=False)
    check_target(place, path, force)
    with write_errors(path), replacing(path, private=True, durable=True) as draft:
        try:
            answers = None
            if place.path is not None:
                answers = copy_file(place, draft)
            else:
                dump(place, draft)
            size = draft.stat().st_size
        finally:
            for suffix in ("-wal", "-shm"):
                draft.with_name(f"{draft.name}{suffix}").unlink(missing_ok=True)
    how = f"karat serve {path}" if place.path is not None else f"pg_restore --dbname=NEW {path}"
    return Backup(path, size, answers, how)


def check_target(place: Place, path: Path, force: bool) -> None:
    """Raise unless a copy may be written there."""
    check_writable(path)
    if place.path is not None and path.exists() and path.samefile(place.path):
        raise InputError("is the project itself", where=path, fix="choose another name")
    if path.exists() and not path.is_file():
        raise InputError("is not a file", where=path, fix="give the name of a file")
    if path.exists() and not force:
        raise InputError("is there already", where=path, fix="choose another name, or pass --force")


def copy_file(place: Place, draft: Path) -> int:
    """Copy a project in a file, see that the copy is sound, and return how many rows of answers it has."""
    with (
        explained(place, sqlite3.Error),
        closing(sqlite3.connect(f"{place.path.as_uri()}?mode=ro", uri=True)) as old,  # type: ignore[union-attr]
        closing(sqlite3.connect(draft)) as new,
    ):
        # All pages in one step: one moment of the project, and with its log nobody waits for a reader.
        old.backup(new)
        found = new.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise InputError("is damaged, and so is its copy", where=place.shown, fix="restore an older copy")
        answers = int(new.execute("SELECT COUNT(*) FROM answer").fetchone()[0])
    return answers


def dump(place: Place, draft: Path) -> None:
    """Write a project in PostgreSQL by its own program."""
    program = shutil.which("pg_dump")
    if program is None:
        raise MissingDataError(
            "pg_dump is not installed, and nothing else copies a running PostgreSQL faithfully",
            fix="apt-get install postgresql-client",
        )
    address, password = without_password(place)
    # Not among the arguments: everybody on this machine can see those.
    hidden = os.environ | ({"PGPASSWORD": password} if password else {})
    command = [program, "--format=custom", "--no-owner", f"--file={draft}", "--no-password", address]
    done = subprocess.run(command, capture_output=True, text=True, env=hidden, check=False)
    if done.returncode:
        said = place.scrub(done.stderr)[:300] or f"exit code {done.returncode}"
        raise InputError(
            f"pg_dump says: {said}",
            where=place.shown,
            fix="check that it runs, and that pg_dump is not older",
        )


def without_password(place: Place) -> tuple[str, str]:
    """Return an address for PostgreSQL's own programs without its password, and the password.

    >>> without_password(find_place("postgresql://ann:secret@host/db?connect_timeout=5"))
    ('postgresql://ann@host/db?connect_timeout=5', 'secret')
    >>> without_password(find_place("postgresql://ann@host/db?password=secret"))
    ('postgresql://ann@host/db', 'secret')
    """
    url = place.url
    if "sslpassword" in url.query:
        raise InputError(
            "the address holds the password of a key, which pg_dump takes only where others can see it",
            where=place.shown,
            fix="call pg_dump yourself",
        )
    password = url.password or url.query.get("password", "")
    query = url.difference_update_query(["password"]).query
    bare = URL.create("postgresql", url.username, None, url.host, url.port, url.database, query)
    return bare.render_as_string(), str(password)
