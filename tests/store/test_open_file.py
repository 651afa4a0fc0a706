"""A file that is deleted, replaced or overwritten while it is open: nothing more is acknowledged."""

import errno
import os
import shutil
import sqlite3
import stat
import threading
from contextlib import closing

import pytest

from karat.errors import InputError
from karat.store import (
    Goal,
    StoreError,
    back_up,
    best_copy,
    create_project,
    log_index,
    open_file,
    open_project,
    restore,
    shared_files,
)
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
    rescued, complete = file.database.file.rescue()
    assert complete
    assert rescued == tmp_path / "own.db.rescued"
    assert stat.S_IMODE(rescued.stat().st_mode) == 0o600
    assert file.database.file.rescue()[0] == tmp_path / "own.db.rescued.1", "nothing is overwritten"
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


def copy_log(file):
    """Copy the log into the file, as SQLite does every thousand pages."""
    with closing(sqlite3.connect(file.path)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def refused(file, state, match="while it was open"):
    """Nothing is read or written, and what fails is named."""
    for call in (file.is_readable, lambda: file.journal.log("something"), file.is_writable):
        with pytest.raises(StoreError, match=match) as error:
            call()
        assert error.value.state == state


@pytest.mark.parametrize("logged", [True, False])
@pytest.mark.parametrize("pages", [0, 1, 20])
def test_a_truncated_file_is_damaged_at_once_and_the_last_copy_is_named(file, tmp_path, pages, logged):
    answer(file)
    kept = back_up(file.path, tmp_path / "monday.db")
    answer(file, 1)
    if not logged:
        copy_log(file)
    os.truncate(file.path, 4096 * pages)
    if logged and pages:
        # All that was written is in the log: nothing was lost, and SQLite restores the file from it.
        file.journal.log("something")
        return
    refused(file, "damaged", "truncated or damaged")
    if logged:
        assert file.database.file.rescue() == (tmp_path / "own.db.rescued", True), "all is in the log"
        return
    assert file.database.file.rescue() == (None, False)
    assert list(tmp_path.glob("*.rescued")) == []
    copy = best_copy(file.path, file.database.file.made)
    assert (copy.path, copy.answers, file.database.file.answers) == (kept.path, 1, 2)
    assert copy.sentence(file.path).endswith(
        f"with 1 answer: karat project restore {kept.path} {file.path} --force"
    )
    file.close()
    assert file.path.stat().st_size == 4096 * pages, "what is left is not changed"


def test_another_project_in_the_same_file_is_noticed(file, tmp_path):
    make_project(tmp_path / "other.db").close()
    answer(file)
    copy_log(file)
    overwrite(file.path, tmp_path / "other.db")
    refused(file, "file-replaced")


def another_answer(project):
    answer(project, 1)


def goal(project):
    project.goals.set(Goal(runs=("a.npy",), measure="P@1", direction="i2t", rule="width", number=0.1))


@pytest.mark.parametrize("more", [another_answer, goal, lambda project: project.journal.log("reviewed")])
def test_an_older_copy_in_the_same_file_is_noticed_at_once(file, tmp_path, more):
    answer(file)
    back_up(file.path, tmp_path / "copy.db")
    more(file)
    copy_log(file)
    before = (tmp_path / "copy.db").read_bytes()
    overwrite(file.path, tmp_path / "copy.db")
    refused(file, "file-replaced", "overwritten while it was open")
    assert not file.database.file.rescue()[1]
    file.close()
    assert file.path.read_bytes() == before, "the log is not replayed into it"


def test_an_older_copy_that_misses_rows_in_the_middle_is_noticed(file, tmp_path):
    """The last rows are still in the log: looking at them is not enough."""
    for number in range(300):
        file.journal.log("before", {"number": number, "text": "x" * 400})
    back_up(file.path, tmp_path / "copy.db")
    for number in range(300):
        file.journal.log("between", {"number": number, "text": "x" * 400})
    copy_log(file)
    for _ in range(40):
        file.journal.log("after", {"text": "x" * 400})
    overwrite(file.path, tmp_path / "copy.db")
    with pytest.raises(StoreError) as error:
        file.journal.log("something")
    assert error.value.state in ("damaged", "file-replaced")
    assert not file.database.file.rescue()[1]


def test_a_copy_that_was_used_elsewhere_is_noticed(file, tmp_path):
    """It has more rows than this one, but not these."""
    back_up(file.path, tmp_path / "copy.db")
    with open_project(tmp_path / "copy.db") as other:
        for number in range(5):
            answer(other, number % 2)
            other.journal.log("elsewhere")
    answer(file)
    copy_log(file)
    overwrite(file.path, tmp_path / "copy.db")
    refused(file, "file-replaced")


def test_a_copy_of_the_same_rows_and_a_new_time_change_nothing(file, tmp_path):
    answer(file)
    back_up(file.path, tmp_path / "copy.db")
    overwrite(file.path, tmp_path / "copy.db")
    os.utime(file.path)
    assert answer(file, 1) == 2
    os.utime(file.path, (0, 0))
    file.journal.log("something")
    file.close()
    with open_project(file.path) as again:
        assert len(list(again.answers.history())) == 2


def test_what_the_log_still_has_is_rescued_from_an_overwritten_file(file, tmp_path, monkeypatch):
    back_up(file.path, tmp_path / "copy.db")
    answer(file)
    overwrite(file.path, tmp_path / "copy.db")
    # Every page that changed since the copy is in the log.
    assert answer(file, 1) == 2
    rescued, complete = file.database.file.rescue()
    assert complete
    with open_project(rescued) as saved:
        assert len(list(saved.answers.history())) == 2


def test_writing_and_copying_the_log_is_no_alarm(file):
    """Many threads and another program write, and the log is copied into the file again and again."""

    def work(name):
        for number in range(40):
            file.journal.log(name, {"number": number, "text": "x" * 3000})

    threads = [threading.Thread(target=work, args=(f"thread {k}",)) for k in range(4)]
    for thread in threads:
        thread.start()
    with open_project(file.path) as other:
        while any(thread.is_alive() for thread in threads):
            other.journal.log("other", {"text": "x" * 9000})
            copy_log(other)
    for thread in threads:
        thread.join()
    assert sum(event["what"].startswith("thread") for event in file.journal.events()) == 160


def test_an_index_is_open_once_in_a_process(file):
    held = log_index.HELD
    key = open_file.identity(open_file.beside(file.path)[2].stat())
    with open_project(file.path):
        assert held[key][1] == 2
    assert held[key][1] == 1
    file.close()
    assert key not in held
    assert log_index.LogIndex(file.path.with_name("none")).read() == log_index.NOTHING


def test_the_copy_with_the_most_answers_is_found(file, tmp_path):
    assert best_copy(file.path, file.database.file.made) is None
    back_up(file.path, tmp_path / "own.db.0003.backup")
    answer(file)
    back_up(file.path, tmp_path / "monday.db")
    make_project(tmp_path / "other.db").close()
    (tmp_path / "own.db.rescued").write_bytes(b"SQLite format 3\0 and nothing")
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "gone.db").symlink_to(tmp_path / "nowhere")
    names = {path.name for path in tmp_path.iterdir()}
    assert best_copy(file.path, file.database.file.made).path == tmp_path / "monday.db"
    # Where it is not known when the project was made, names must tell.
    assert best_copy(file.path).path == tmp_path / "own.db.0003.backup"
    assert {path.name for path in tmp_path.iterdir()} == names, "looking leaves nothing"
    assert best_copy(tmp_path / "none" / "own.db") is None


@pytest.mark.parametrize("size", [0, 4096])
def test_opening_a_truncated_project_names_the_copy(file, tmp_path, size):
    file.close()
    copy = tmp_path / "own.db.0003.backup"
    back_up(file.path, copy)
    os.truncate(file.path, size)
    with pytest.raises(StoreError) as error:
        open_project(file.path)
    assert error.value.state == "damaged"
    assert error.value.fix.endswith(f"karat project restore {copy} {file.path} --force")
    copy.unlink()
    with pytest.raises(StoreError, match="restore a copy of it"):
        open_project(file.path)


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
