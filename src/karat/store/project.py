"""A project: one benchmark, one form, and everything that was asked and answered."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from sqlalchemy import Connection, RowMapping, func, insert, inspect, select, update

from karat.benchmarks import SOURCES, Benchmark, Direction, load_benchmark
from karat.errors import InputError, KaratError
from karat.forms import Form, check_text, fingerprint, form_from_data, form_to_data, to_json
from karat.store.accounts import Accounts
from karat.store.annotators import Annotators
from karat.store.answers import StoredAnswers
from karat.store.backup import check_file
from karat.store.calls import Calls
from karat.store.copies import best_copy
from karat.store.database import Database, Place, find_place
from karat.store.draws import StoredDraws
from karat.store.failure import DAMAGED, StoreError
from karat.store.goals import Goals
from karat.store.journal import Journal
from karat.store.migration import check_tables, head, migrate, upgrade
from karat.store.part import Subject
from karat.store.pools import Pools
from karat.store.queue import Queue
from karat.store.reviews import Reviews
from karat.store.snapshot import Snapshot
from karat.store.stored_paths import StoredPaths
from karat.store.tables import PROJECT

MAX_LENGTH = 2_000_000
"""Of a text in the row of a project, in characters."""
READ_ONLY = "SELECT current_setting('transaction_read_only') = 'on'"


class Project:
    """A judging project in a database; `create_project` and `open_project` return one.

    It may be used by several threads; other processes open the same place for themselves.

    Parameters
    ----------
    database
        Where it is.
    row
        The project's own row: its name, form and benchmark.
    benchmark
        Where it is loaded already.
    notes
        What happened on opening: that the project was migrated, and where its copy is.

    Attributes
    ----------
    pools
        The pool, and the tasks that it was packed into.
    queue
        Assignments: who has leased which task, and which is next.
    answers
        What annotators answered.
    reviews
        What was decided about assignments, pairs, images and captions.
    annotators
        Names and kinds of those who answer.
    accounts
        Users of the web application, their sessions and invitations.
    calls
        What machine judges were asked.
    draws
        Which pairs a sampling design chose, and with which probability.
    goals
        What is to be estimated, and when enough has been answered.
    journal
        Events and small settings.
    paths
        What the project reads besides itself, and whether it may.

    Examples
    --------
    >>> import tempfile
    >>> from karat.forms.form import Choice, Form
    >>> from karat.forms import AnswerRows
    >>> from karat.store import create_project
    >>> from karat.world import make_world
    >>> choices = (Choice("yes", "Yes", "y", 1, 1), Choice("no", "No", "3", 0, 0))
    >>> form = Form("fit", "Fit", "Does it fit?", choices)
    >>> world = make_world(images=10, captions=2, seed=1).benchmark()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with create_project(f"{folder}/own.db", world, form, source="world", name="own") as project:
    ...         rows = AnswerRows([-1, -1], [0, 1], [0, 0], ["ann", "ann"], ["yes", "no"])
    ...         project.answers.record(rows)
    ...         project.answers.read()
    2
    AnswerTable(2 answers by 1 annotator)
    """

    def __init__(
        self,
        database: Database,
        row: RowMapping,
        benchmark: Benchmark | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.database = database
        self.notes = notes
        self._benchmark = benchmark
        self._fingerprint: str = row["fingerprint"]
        self.name: str = row["name"]
        self.source: str = row["source"]
        self.form = read_form(row["form"])
        settings = json.loads(row["settings"])
        self.settings: Mapping[str, str] = {str(name): str(value) for name, value in settings.items()}
        self._subject = subject = Subject(self.form, int(row["images"]), int(row["captions"]), self.benchmark)
        self.pools, self.queue = Pools(database, subject), Queue(database, subject)
        self.answers, self.reviews = StoredAnswers(database, subject), Reviews(database, subject)
        self.annotators, self.calls = Annotators(database, subject), Calls(database, subject)
        self.journal, self.accounts = Journal(database, subject), Accounts(database, self.queue)
        folder = None if database.place.path is None else database.place.path.parent
        about = row["fingerprint"], row["at"]
        self.paths = StoredPaths(self.journal, folder, database.place.shown, about)
        self.draws, self.goals = (
            StoredDraws(database, subject, self.pools),
            Goals(database, subject, self.paths),
        )

    def __repr__(self) -> str:
        return f"Project({self.name!r} in {self.where})"

    @property
    def where(self) -> str:
        """The file or the address, with a password masked."""
        return self.database.place.shown

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The benchmark's directions; those of images and captions where it is not at hand."""
        return self._subject.directions

    def benchmark(self) -> Benchmark:
        """Return the benchmark that the pairs index, loaded once.

        Raises when its ids have changed, and when it names files that the user has not named.
        """
        if self._benchmark is None:
            self.paths.check_benchmark(self.source, self.settings)
            self._benchmark = self._load(self.source, self.settings)
        return self._benchmark

    def locate(self, source: str, settings: Mapping[str, str]) -> None:
        """Set where the benchmark is on this machine; raise when it is another one.

        Parameters
        ----------
        source, settings
            As for `create_project`; the paths among them may be read from now on.
        """
        settings = dict(settings)
        benchmark = self._load(source, settings)
        row = {"source": check_text(source, "the source"), "settings": to_json(settings, "the settings")}
        with self.database.write() as connection:
            connection.execute(update(PROJECT).values(**row))
        self.paths.allow_benchmark(source, settings)
        self.source, self.settings, self._benchmark = source, settings, benchmark

    def _load(self, source: str, settings: Mapping[str, str]) -> Benchmark:
        benchmark = load_benchmark(source, **settings)
        if fingerprint(benchmark) != self._fingerprint:
            raise InputError(
                f"the benchmark {source!r} is not the one of this project: its ids differ",
                where=self.where,
                fix="restore the benchmark as it was",
            )
        return benchmark

    @property
    def path(self) -> Path | None:
        """The file; None where the project is in PostgreSQL."""
        return self.database.place.path

    def is_readable(self) -> bool:
        """Return whether the database can be read; raise where it cannot be reached."""
        with self.database.read() as connection:
            return connection.execute(select(PROJECT.c.id)).first() is not None

    def is_writable(self, really: bool = False) -> bool:
        """Return whether the database can be written; raise where it cannot be reached.

        Parameters
        ----------
        really
            Write something to the disk, which leaves the project as it is.
        """
        if self.database.sqlite and not really:
            self.database.check_free()
            return True
        with self.database.write() as connection:
            if really:
                connection.execute(update(PROJECT).values(places=PROJECT.c.places))
            return self.database.sqlite or not connection.exec_driver_sql(READ_ONLY).scalar_one()

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Yield one state of the database, which is read as columns."""
        with self.database.read() as connection:
            yield Snapshot(connection, self._subject.captions)

    def close(self) -> None:
        """Close the connections."""
        self.database.close()

    def __enter__(self) -> Project:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def create_project(
    where: str | Path,
    benchmark: Benchmark,
    form: Form,
    *,
    source: str,
    settings: Mapping[str, str] | None = None,
    name: str = "",
) -> Project:
    """Create a project and return it, open.

    Parameters
    ----------
    where
        A file, or an address such as "postgresql://user@host/database". A file that exists or a database
        that is not empty is refused.
    benchmark
        What the pairs are indices into.
    form
        What is asked; it is stored in the project.
    source, settings
        What `karat.load_benchmark` needs to load the benchmark again.
    name
        The benchmark's name by default.
    """
    place = find_place(where)
    if place.path is not None and not place.path.parent.is_dir():
        raise InputError(f"there is no folder {place.path.parent}", where=place.shown, fix="create it first")
    # Absolute, so that the folder is found from any other.
    source = str(Path(source).resolve()) if source not in SOURCES and Path(source).is_dir() else source
    written = write_form(form)
    row = {
        "id": 1, "name": check_text(name or benchmark.name, "the name"),
        "form": check_text(written, "the form", MAX_LENGTH),
        "source": check_text(source, "the source"), "settings": to_json(dict(settings or {}), "the settings"),
        "fingerprint": fingerprint(benchmark), "images": len(benchmark.images),
        "captions": len(benchmark.captions),
        "places": 0, "at": time.time(),
    }  # fmt: skip
    check_file(place, new=True)
    database = Database(place)
    try:
        database.prepare()
        with database.write() as connection:
            if inspect(connection).get_table_names():
                raise InputError("is not empty", where=place.shown, fix="choose another file or database")
            upgrade(connection)
            connection.execute(insert(PROJECT).values(**row))
        project = open_rows(database, benchmark)
        # Without a key, the user is asked to name the paths when the project is opened the next time.
        with suppress(KaratError):
            project.paths.allow_benchmark(project.source, project.settings)
        return project
    except BaseException:
        database.close()
        raise


def open_project(where: str | Path) -> Project:
    """Open a project; one of an older version of karat is migrated first, and a file is copied before that.

    Parameters
    ----------
    where
        The file or the address.
    """
    place = find_place(where)
    try:
        check_file(place, new=False)
        return open_place(place)
    except StoreError as error:
        copy = best_copy(place.path) if error.state == DAMAGED and place.path is not None else None
        if copy is None:
            raise
        fix = f"restore {copy.sentence(place.shown)}"
        raise StoreError(DAMAGED, error.what, where=error.where, fix=fix) from None


def open_place(place: Place) -> Project:
    """Open the project of a place."""
    database = Database(place)
    try:
        migrated = migrate(database)
        with database.read() as connection:
            check_tables(connection, place)
        if migrated is None:
            return open_rows(database)
        version, copy = migrated
        kept = "" if copy is None else f"; {copy.name} beside it is a copy of what it was"
        note = f"{place.shown} was migrated from schema {version} to {head()}{kept}"
        project = open_rows(database, notes=(note,))
        project.journal.log("migrated", {"from": version})
        return project
    except BaseException:
        database.close()
        raise


def open_rows(database: Database, benchmark: Benchmark | None = None, notes: tuple[str, ...] = ()) -> Project:
    """Return the project that a database holds, or raise."""
    with database.read() as connection:
        row = project_row(connection)
    if row is None:
        raise InputError(
            "is not a project", where=database.place.shown, fix="create one with karat project pool"
        )
    database.pin()
    try:
        return Project(database, row, benchmark, notes)
    except (TypeError, AttributeError, ValueError, RecursionError, json.JSONDecodeError) as error:
        what = error.what if isinstance(error, InputError) else "is damaged"
        raise InputError(what, where=database.place.shown, fix="restore a copy of it") from None


def project_row(connection: Connection) -> RowMapping | None:
    """Return the row of a project; None where it is missing or a text in it is implausibly long."""
    texts = (PROJECT.c.name, PROJECT.c.form, PROJECT.c.source, PROJECT.c.settings, PROJECT.c.fingerprint)
    short = [func.length(column) <= MAX_LENGTH for column in texts]
    return connection.execute(select(PROJECT).where(PROJECT.c.id == 1, *short)).mappings().one_or_none()


def write_form(form: Form) -> str:
    """Return a form as json text; raise for one that could not be read back."""
    data = form_to_data(form)
    form_from_data(data)
    return json.dumps(data, ensure_ascii=False, sort_keys=True)


def read_form(text: str) -> Form:
    """Return the form that `write_form` wrote, or raise.

    >>> from karat.forms import load_form
    >>> read_form(write_form(load_form("expert"))) == load_form("expert")
    True
    """
    fix = "restore a copy of the project"
    if len(text) > MAX_LENGTH:
        raise InputError(f"its form has {len(text):,} characters", fix=fix)
    try:
        return form_from_data(json.loads(text))
    except InputError as error:
        raise InputError(f"its form cannot be read ({error.what})", fix=fix) from None
    except (ValueError, RecursionError):
        raise InputError("its form cannot be read", fix=fix) from None
