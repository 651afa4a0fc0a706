"""A file that is deleted, replaced or overwritten while it is open: nothing more is acknowledged."""

import errno
import os
import shutil
import sqlite3
import stat
from contextlib import closing

import pytest

from karat.errors import InputError
from karat.store import StoreError, back_up, create_project, open_file, open_project, restore, shared_files
from karat.store.database import Database, explained, find_place
from karat.store.failure import SYSTEM, has_descriptors, system_failure

from .postgres import new_database
from .small import FORM, plain_plan
from made import make_benchmark


def make_project(place):
    return create_project(place, make_benchmark(), FORM, source="made")


@pytest.fixture
def file(tmp_path):
    """A project in a file, with tasks."""
    with make_project(tmp_path / "own.db") as project:
        project.pools.add_tasks(plain_plan(3))
        yield project


def answer(project, item=0):
    lease = project.queue.lease("ann")
    return project.answers.give(lease.token, lease.items[item].id, "yes", key=f"key {item}")


def move(path, to):
    os.rename(path, to)


def delete(path, copy):
    for name in open_file.beside(path):
        name.unlink()


def replace(path, copy):
    os.replace(copy, path)


def delete_log(path, copy):
    open_file.beside(path)[1].unlink()


def delete_index(path, copy):
    open_file.beside(path)[2].unlink()


def truncate(path, copy):
    os.truncate(path, 0)


def overwrite(path, copy):
    shutil.copyfile(copy, path)


@pytest.mark.parametrize(
    ("attack", "state"),
    [
        (move, "file-deleted"), (delete, "file-deleted"), (replace, "file-replaced"),
        (delete_log, "log-lost"), (delete_index, "log-lost"),
    ],
)  # fmt: skip
def test_what_would_not_be_found_is_not_acknowledged(file, tmp_path, attack, state):
    back_up(file.path, tmp_path / "copy.db")
    answer(file)
    lease = file.queue.held("ann")
    attack(file.path, tmp_path / "copy.db")
    for call in (
        lambda: file.answers.give(lease.token, lease.items[0].id, "no"),
        lambda: file.queue.submit(lease.token), lambda: file.queue.lease("bob"), file.is_readable,
        lambda: file.accounts.users.add("eve", "judge", None),
    ):  # fmt: skip
        with pytest.raises(StoreError, match="while it was open") as error:
            call()
        assert error.value.state == state
    # What was acknowledged before is still open, and is saved.
    rescued = file.database.file.rescue()
    assert rescued == tmp_path / "own.db.rescued"
    assert stat.S_IMODE(rescued.stat().st_mode) == 0o600
    assert file.database.file.rescue() == tmp_path / "own.db.rescued.1", "nothing is overwritten"
    with open_project(rescued) as saved:
        assert [row["code"] for row in saved.answers.history()] == ["yes"]


def test_no_new_file_is_made_in_place_of_a_deleted_one(file, tmp_path):
    move(file.path, tmp_path / "away.db")
    file.database.engine.dispose()  # every connection is opened anew
    with pytest.raises(StoreError):
        answer(file)
    assert not file.path.exists()


def test_a_file_that_comes_back_is_the_same(file, tmp_path):
    move(file.path, tmp_path / "away.db")
    with pytest.raises(StoreError):
        answer(file)
    move(tmp_path / "away.db", file.path)
    number = answer(file)
    with open_project(file.path) as other:
        assert [row["id"] for row in other.answers.history()] == [number]


def test_a_file_that_is_replaced_during_a_transaction_is_noticed_at_its_end(file, tmp_path):
    with pytest.raises(StoreError, match="deleted"), file.database.write():
        move(file.path, tmp_path / "away.db")


def test_a_connection_that_opens_another_file_is_refused(file, tmp_path, monkeypatch):
    back_up(file.path, tmp_path / "copy.db")
    file.database.engine.dispose()
    monkeypatch.setattr(file.database.file, "check", lambda: None)  # replaced right after it
    replace(file.path, tmp_path / "copy.db")
    with pytest.raises(StoreError) as error:
        answer(file)
    assert error.value.state == "file-replaced"


@pytest.mark.parametrize("attack", [truncate, overwrite])
def test_other_content_in_the_same_file_is_noticed(file, tmp_path, monkeypatch, attack):
    monkeypatch.setattr(open_file, "EVERY", 0.0)
    make_project(tmp_path / "other.db").close()
    answer(file)
    with closing(sqlite3.connect(file.path)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    attack(file.path, tmp_path / "other.db")
    with pytest.raises(StoreError) as error:
        file.journal.log("something")
    assert error.value.state in ("file-replaced", "damaged")


def test_an_older_copy_in_the_same_file_is_noticed(file, tmp_path, monkeypatch):
    back_up(file.path, tmp_path / "copy.db")
    answer(file)
    monkeypatch.setattr(open_file, "EVERY", 0.0)
    file.journal.log("something")
    with closing(sqlite3.connect(file.path)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    overwrite(file.path, tmp_path / "copy.db")
    with pytest.raises(StoreError, match="overwritten"):
        file.journal.log("something else")


def test_a_file_that_others_vacuum_is_the_same(file, monkeypatch):
    with closing(sqlite3.connect(file.path, isolation_level=None)) as other:
        other.execute("CREATE TABLE big (x)")
        other.execute("INSERT INTO big VALUES (zeroblob(1000000))")
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        answer(file)
        other.execute("DROP TABLE big")
        other.execute("VACUUM")
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    answer(file, 1)


def test_the_log_of_a_deleted_file_is_not_replayed_into_another(file, tmp_path):
    back_up(file.path, tmp_path / "copy.db")
    answer(file)
    file.path.unlink()
    with pytest.raises(InputError, match=r"own.db-wal is left of a project that was deleted"):
        make_project(tmp_path / "own.db")
    restore(tmp_path / "copy.db", file.path)
    with open_project(tmp_path / "own.db") as restored:
        assert list(restored.answers.history()) == []
    assert (tmp_path / "own.db.replaced-wal").stat().st_size > 0


@pytest.mark.parametrize("umask", [0o022, 0o000])
def test_files_are_made_for_the_user_alone(tmp_path, umask):
    before = os.umask(umask)
    try:
        with make_project(tmp_path / "own.db") as project:
            answerless = {name.name: stat.S_IMODE(name.stat().st_mode) for name in tmp_path.glob("own.db*")}
            assert answerless == dict.fromkeys(("own.db", "own.db-wal", "own.db-shm"), 0o600)
            assert shared_files(project.path) == []
            back_up(project.path, tmp_path / "copy.db")
        restore(tmp_path / "copy.db", tmp_path / "again.db")
    finally:
        os.umask(before)
    for name in ("copy.db", "again.db"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    (tmp_path / "own.db").chmod(0o640)
    assert shared_files(tmp_path / "own.db") == [(tmp_path / "own.db", 0o640)]


def message(place, error, kind=sqlite3.Error):
    with pytest.raises(StoreError) as raised, explained(find_place(place), kind):
        raise error
    return raised.value.state


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("database is locked", "locked"), ("attempt to write a readonly database", "read-only"),
        ("database or disk is full", "disk-full"), ("disk I/O error", "io-error"),
        ("database disk image is malformed", "damaged"), ("unable to open database file", "file-deleted"),
    ],
)  # fmt: skip
def test_every_failure_of_sqlite_has_a_state(tmp_path, said, state):
    assert message(tmp_path / "own.db", sqlite3.OperationalError(said)) == state


def test_every_failure_of_postgresql_has_a_state():
    psycopg = pytest.importorskip("psycopg", reason="needs psycopg: pip install 'karat[postgres]'")
    from psycopg import errors

    where = "postgresql://ann:secret@host/db"
    for error, state in (
        (errors.DiskFull("no space"), "disk-full"), (errors.ReadOnlySqlTransaction("no"), "read-only"),
        (errors.AdminShutdown("bye"), "unreachable"), (errors.DeadlockDetected("both"), "locked"),
        (errors.UndefinedTable("none"), "damaged"), (psycopg.InterfaceError("closed"), "unreachable"),
        (psycopg.OperationalError("server closed the connection"), "unreachable"),
    ):  # fmt: skip
        assert message(where, error, psycopg.Error) == state
    with pytest.raises(errors.UndefinedFunction), explained(find_place(where), psycopg.Error):
        raise errors.UndefinedFunction("a bug of karat")


def test_errors_of_the_system_have_states(monkeypatch):
    assert {system_failure(OSError(number, "")).state for number in SYSTEM} == {
        "descriptors-exhausted", "disk-full", "read-only", "io-error",
    }  # fmt: skip
    assert system_failure(FileNotFoundError(2, "")) is None
    assert has_descriptors()

    def refuse(*arguments):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "open", refuse)
    assert not has_descriptors()


def test_how_long_a_writer_waits_can_be_set(file):
    file.database.set_patience(0.05)
    with closing(sqlite3.connect(file.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError) as error:
            answer(file)
    assert error.value.state == "locked"


def test_a_database_that_is_not_pinned_is_not_checked(tmp_path):
    database = Database(find_place(tmp_path / "own.db"))
    database.prepare()
    with database.write() as connection:
        connection.exec_driver_sql("CREATE TABLE own (x)")
    database.close()


def test_a_lost_connection_to_postgresql_is_a_failure_and_comes_back(postgres):
    import psycopg

    where = new_database(postgres, "lost")
    with make_project(where) as project:
        project.pools.add_tasks(plain_plan(3))
        number = answer(project)
        with psycopg.connect(postgres, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'lost'")
        with pytest.raises(StoreError) as error:
            answer(project, 1)
        assert error.value.state == "unreachable"
        assert answer(project, 1) > number
        with psycopg.connect(postgres, autocommit=True) as other:
            other.execute("ALTER DATABASE lost SET default_transaction_read_only = on")
            other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'lost'")
        with pytest.raises(StoreError):
            project.is_readable()
        assert project.is_readable()
        assert not project.is_writable()
        with pytest.raises(StoreError) as error:
            answer(project, 2)
        assert error.value.state == "read-only"
