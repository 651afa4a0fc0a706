"""Copies of a project that is being written into."""

import os
import shutil
import sqlite3
import stat
import subprocess
import threading
from contextlib import closing

import pytest

from karat.errors import InputError, MissingDataError
from karat.store import backup as module
from karat.store import create_project, open_project
from karat.store.backup import back_up, restore
from karat.store.migration import head

from .postgres import new_database
from .small import FORM, finish, plain_plan
from made import make_benchmark


def test_a_copy_is_a_project_and_only_ours(on_file, tmp_path):
    on_file.pools.add_tasks(plain_plan(2))
    finish(on_file, on_file.queue.lease("ann"))
    copy = tmp_path / "copy.db"
    done = back_up(tmp_path / "project.db", copy)
    assert (done.answers, done.size, done.path) == (2, copy.stat().st_size, copy)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with open_project(copy) as other:
        assert list(other.answers.history()) == list(on_file.answers.history())
        assert other.queue.lease("ben").task == 1
    assert sorted(one.name for one in tmp_path.glob("*copy*")) == ["copy.db"]


def test_a_project_at_rest_is_copied_with_its_log(tmp_path):
    with create_project(tmp_path / "project.db", make_benchmark(), FORM, source="made") as project:
        project.pools.add_tasks(plain_plan(1))
        finish(project, project.queue.lease("ann"))
        # As it lies there when a program dies: the rows are in the log, not in the file.
        dead = tmp_path / "dead"
        dead.mkdir()
        for file in tmp_path.glob("project.db*"):
            shutil.copy(file, dead)
    assert (dead / "project.db-wal").stat().st_size > 0
    assert back_up(dead / "project.db", tmp_path / "a.db").answers == 2
    assert back_up(tmp_path / "project.db", tmp_path / "b.db").answers == 2


def test_copies_taken_while_others_write_are_of_one_moment(on_file, tmp_path):
    on_file.pools.add_tasks(plain_plan(60, size=4))
    end = threading.Event()

    def work():
        while not end.is_set() and (lease := on_file.queue.lease("ann")) is not None:
            finish(on_file, lease)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        counts = [back_up(tmp_path / "project.db", tmp_path / f"{number}.db").answers for number in range(5)]
    finally:
        end.set()
        thread.join(60)
    rows = list(on_file.answers.history())
    assert counts == sorted(counts)
    for number, count in enumerate(counts):
        with open_project(tmp_path / f"{number}.db") as copy:
            assert list(copy.answers.history()) == rows[:count]
            assignments = copy.queue.assignments()
            # Every answer of a submitted assignment is there.
            assert count >= 4 * int((assignments.state == "submitted").sum())


def test_nothing_is_overwritten_unless_one_says_so(on_file, tmp_path):
    place, copy = tmp_path / "project.db", tmp_path / "copy.db"
    copy.write_text("mine")
    with pytest.raises(InputError, match="already exists"):
        back_up(place, copy)
    assert copy.read_text() == "mine"
    assert back_up(place, copy, force=True).answers == 0
    for wrong, words in (
        (place, "project itself"),
        (tmp_path, "is a folder"),
        (tmp_path / "no" / "a.db", "no folder"),
        ("/dev/null", "is not a file"),
    ):
        with pytest.raises(InputError, match=words):
            back_up(place, wrong, force=True)
    with pytest.raises(InputError, match="does not exist"):
        back_up(tmp_path / "none.db", tmp_path / "b.db")
    assert not (tmp_path / "none.db").exists()


def test_a_copy_is_restored_and_what_was_there_is_kept(tmp_path):
    place, copy = tmp_path / "project.db", tmp_path / "copy.db"
    with create_project(place, make_benchmark(), FORM, source="made") as project:
        project.pools.add_tasks(plain_plan(2))
        finish(project, project.queue.lease("ann"))
        back_up(place, copy)
        finish(project, project.queue.lease("ann"))
        with pytest.raises(InputError, match="already exists"):
            restore(copy, place)
        with pytest.raises(InputError, match="is in use; stop the server"):
            restore(copy, place, force=True)
        assert len(list(project.answers.history())) == 4
    for number in ("", ".1"):
        done = restore(copy, place, force=True)
        assert done.replaced == tmp_path / f"project.db.replaced{number}"
        with open_project(done.replaced) as before:
            assert len(list(before.answers.history())) == (2 if number else 4)
        with open_project(place) as project:
            assert len(list(project.answers.history())) == 2
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert restore(copy, tmp_path / "new.db").replaced is None
    assert {file.name for file in tmp_path.iterdir()} == {
        "project.db", "project.db.replaced", "project.db.replaced.1", "copy.db", "new.db"
    }  # fmt: skip


def test_a_damaged_project_is_replaced_with_its_log(on_file, tmp_path):
    back_up(tmp_path / "project.db", tmp_path / "copy.db")
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"SQLite format 3\0" + os.urandom(8192))
    (tmp_path / "broken.db-wal").write_bytes(b"log")
    assert restore(tmp_path / "copy.db", broken, force=True).replaced.name == "broken.db.replaced"
    assert not (tmp_path / "broken.db-wal").exists()
    with open_project(broken) as project:
        assert list(project.answers.history()) == []


def test_what_cannot_be_restored(on_file, tmp_path):
    place, copy, text = tmp_path / "project.db", tmp_path / "copy.db", tmp_path / "text.db"
    back_up(place, copy)
    text.write_text("no project")
    for source, target, words in (
        (tmp_path / "none.db", tmp_path / "new.db", "does not exist"),
        (text, tmp_path / "new.db", "is not a project"),
        (copy, copy, "is the copy itself"),
        (copy, tmp_path, "is not a file"),
        (copy, "postgresql://host/db", "cannot be restored into PostgreSQL"),
    ):
        with pytest.raises(InputError, match=words):
            restore(source, target, force=True)
    assert not (tmp_path / "new.db").exists()


def test_a_damaged_project_leaves_no_copy(tmp_path):
    with create_project(tmp_path / "project.db", make_benchmark(), FORM, source="made") as project:
        project.pools.add_tasks(plain_plan(200, size=4))
    with (tmp_path / "project.db").open("r+b") as handle:
        handle.seek(4096 * 5)
        handle.write(os.urandom(4096 * 8))
    with pytest.raises(InputError, match="damaged"):
        back_up(tmp_path / "project.db", tmp_path / "copy.db")
    assert sorted(one.name for one in tmp_path.glob("*copy*")) == []


def test_an_older_project_is_copied_as_it_is(on_file, tmp_path):
    with closing(sqlite3.connect(tmp_path / "project.db")) as raw, raw:
        raw.execute("UPDATE alembic_version SET version_num = '0001'")
    back_up(tmp_path / "project.db", tmp_path / "copy.db")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        assert copy.execute("SELECT version_num FROM alembic_version").fetchone() == ("0001",)
    assert head() != "0001"


def test_without_pg_dump_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    with pytest.raises(MissingDataError, match=r"pg_dump is not installed.*postgresql-client"):
        back_up("postgresql://ann:secret@host/db", tmp_path / "copy.dump")
    assert list(tmp_path.iterdir()) == []


def test_a_password_is_no_argument(monkeypatch, tmp_path):
    called = {}

    def run(command, env, **_):
        called.update(command=command, password=env["PGPASSWORD"])
        return subprocess.CompletedProcess(command, 1, "", "no entry for secret")

    monkeypatch.setattr(module.shutil, "which", lambda name: "/bin/pg_dump")
    monkeypatch.setattr(module.subprocess, "run", run)
    with pytest.raises(InputError, match=r"no entry for \*\*\*"):
        back_up("postgresql://ann:secret@host/db", tmp_path / "copy.dump")
    assert called["password"] == "secret"
    assert not any("secret" in part for part in called["command"])


@pytest.mark.skipif(
    shutil.which("pg_dump") is None, reason="needs pg_dump: apt-get install postgresql-client"
)
def test_postgresql_is_dumped_and_restored(postgres, tmp_path):
    where, again = new_database(postgres, "backup_from"), new_database(postgres, "backup_to")
    with create_project(where, make_benchmark(), FORM, source="made") as project:
        project.pools.add_tasks(plain_plan(2))
        finish(project, project.queue.lease("ann"))
        done = back_up(where, tmp_path / "copy.dump")
        assert stat.S_IMODE(done.path.stat().st_mode) == 0o600
        assert restore(done.path, again).replaced is None
        with open_project(again) as other:
            assert list(other.answers.history()) == list(project.answers.history())
        with pytest.raises(InputError, match="not empty"):
            restore(done.path, again)
        with pytest.raises(InputError, match="dump of PostgreSQL"):
            restore(done.path, tmp_path / "project.db")
        assert not (tmp_path / "project.db").exists()
    with pytest.raises(InputError, match="does not exist"):
        back_up(where.replace("backup_from", "backup_none"), tmp_path / "none.dump")
    assert not (tmp_path / "none.dump").exists()
