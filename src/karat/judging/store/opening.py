"""Making and opening projects."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import Connection, RowMapping, func, insert, inspect, select

from karat.benchmarks import SOURCES, Benchmark
from karat.errors import InputError
from karat.judging.forms import Form
from karat.judging.pools import fingerprint
from karat.judging.store.engine import Database
from karat.judging.store.form_data import MOST, write_form
from karat.judging.store.inspecting import check_file, check_tables
from karat.judging.store.migrating import migrate, upgrade
from karat.judging.store.places import find_place
from karat.judging.store.project import Project
from karat.judging.store.schema import PROJECT
from karat.judging.store.texts import check_text, to_json


def create_project(
    where: str | Path,
    benchmark: Benchmark,
    form: Form,
    *,
    source: str,
    settings: Mapping[str, str] | None = None,
    name: str = "",
) -> Project:
    """Make a project and return it, open.

    Parameters
    ----------
    where
        A file, or an address such as "postgresql://user@host/database". A place that holds something is
        refused.
    benchmark
        What the pairs are indices into.
    form
        What is asked; it is kept inside the project.
    source, settings
        What `karat.load_benchmark` needs to find the benchmark again.
    name
        What it is called; the benchmark's name when left out.
    """
    place = find_place(where)
    if place.path is not None and not place.path.parent.is_dir():
        raise InputError(f"there is no folder {place.path.parent}", where=place.shown, fix="create it first")
    # A folder is found again from anywhere.
    source = str(Path(source).resolve()) if source not in SOURCES and Path(source).is_dir() else source
    written = write_form(form)
    row = {
        "id": 1, "name": check_text(name or benchmark.name, "the name"),
        "form": check_text(written, "the form", MOST),
        "source": check_text(source, "the source"), "settings": to_json(dict(settings or {}), "the settings"),
        "fingerprint": fingerprint(benchmark), "images": len(benchmark.images),
        "captions": len(benchmark.captions),
        "queue": 0, "at": time.time(),
    }  # fmt: skip
    check_file(place, new=True)
    database = Database(place)
    try:
        database.prepare()
        with database.write() as connection:
            if inspect(connection).get_table_names():
                raise InputError(
                    "holds a project or something else", where=place.shown, fix="choose another place"
                )
            upgrade(connection)
            connection.execute(insert(PROJECT).values(**row))
        return open_rows(database, benchmark)
    except BaseException:
        database.close()
        raise


def open_project(where: str | Path) -> Project:
    """Open a project; one of an older karat is brought up to date first, and a file is copied before that.

    Parameters
    ----------
    where
        The file or the address.
    """
    place = find_place(where)
    check_file(place, new=False)
    database = Database(place)
    try:
        before = migrate(database)
        with database.read() as connection:
            check_tables(connection, place)
        project = open_rows(database)
        if before is not None:
            project.log("migrated", {"from": before})
        return project
    except BaseException:
        database.close()
        raise


def open_rows(database: Database, benchmark: Benchmark | None = None) -> Project:
    """Return the project that a database holds, or raise."""
    with database.read() as connection:
        row = project_row(connection)
    if row is None:
        raise InputError("is no project", where=database.place.shown, fix="make one with create_project")
    try:
        return Project(database, row, benchmark)
    except (TypeError, AttributeError, ValueError, RecursionError, json.JSONDecodeError) as error:
        what = error.what if isinstance(error, InputError) else "is damaged"
        raise InputError(what, where=database.place.shown, fix="restore a copy of it") from None


def project_row(connection: Connection) -> RowMapping | None:
    """Return what a project says about itself, unless it is too long to be true."""
    texts = (PROJECT.c.name, PROJECT.c.form, PROJECT.c.source, PROJECT.c.settings, PROJECT.c.fingerprint)
    short = [func.length(column) <= MOST for column in texts]
    return connection.execute(select(PROJECT).where(PROJECT.c.id == 1, *short)).mappings().one_or_none()
