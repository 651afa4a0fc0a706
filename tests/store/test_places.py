"""Places that hold no project, damaged files, old and newer versions, and passwords."""

import os
import shutil
import sqlite3
import zlib
from contextlib import closing

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from karat.benchmarks import Ids, save_benchmark
from karat.errors import InputError, MissingDataError
from karat.store import Call, create_project, open_project
from karat.store.backup import back_up
from karat.store.database import Database, find_place
from karat.store.migration import head, upgrade
from karat.store.project import fingerprint, write_form
from karat.store.tables import METADATA

from .postgres import new_database
from .small import FORM, finish, plain_plan
from made import make_benchmark


def test_a_project_is_found_again(project, where):
    project.pools.add_tasks(plain_plan(1))
    finish(project, project.queue.lease("ann"))
    with open_project(where) as again:
        assert (again.name, again.source, again.form) == ("small", "made", FORM)
        assert len(again.answers.read()) == 2
        assert again.pools.plan().image.tolist() == [0, 0]


def test_a_place_that_holds_something_is_refused(project, where):
    with pytest.raises(InputError, match="is not empty"):
        create_project(where, make_benchmark(), FORM, source="made")


def differences(connection):
    """What the store's tables lack or have too much of; other parts of karat have tables of their own."""

    def ours(name, kind, parents):
        return kind != "table" or name in METADATA.tables

    context = MigrationContext.configure(connection, opts={"include_name": ours})
    return compare_metadata(context, METADATA)


def test_the_tables_are_what_the_code_thinks(project):
    with project.database.read() as connection:
        assert differences(connection) == []


def test_the_benchmark_is_loaded_again_and_must_be_the_same(tmp_path):
    bench = make_benchmark()
    folder = tmp_path / "bench"
    save_benchmark(bench, folder)
    create_project(tmp_path / "p.db", bench, FORM, source=str(folder)).close()
    with open_project(tmp_path / "p.db") as project:
        assert project.benchmark().images.size == 40
        assert project.benchmark() is project.benchmark()
    other = make_benchmark()
    object.__setattr__(other, "images", Ids(range(1, 41), kind="image"))
    shutil.rmtree(folder)
    save_benchmark(other, folder)
    with open_project(tmp_path / "p.db") as project, pytest.raises(InputError, match="its ids differ"):
        project.benchmark()


def old_project(where):
    """A project whose tables are of the first version."""
    bench = make_benchmark()
    row = {
        "id": 1, "name": "old", "form": write_form(FORM), "source": "made", "settings": "{}", "queue": 0,
        "at": 0, "fingerprint": fingerprint(bench), "images": len(bench.images),
        "captions": len(bench.captions),
    }  # fmt: skip
    database = Database(find_place(where))
    database.prepare()
    with database.write() as connection:
        upgrade(connection, "0001")
        connection.execute(text(f"INSERT INTO project ({', '.join(row)}) VALUES (:{', :'.join(row)})"), row)
    database.close()


def test_an_old_project_is_brought_up_to_date_and_copied_before(where, tmp_path):
    old_project(where)
    with open_project(where) as project:
        project.calls.add(Call("judge", "model", "hash", 0, 0, {}))
        assert [(e["what"], e["detail"]) for e in project.journal.events()] == [
            ("migrated", {"from": "0001"})
        ]
    with open_project(where) as project:
        assert len(project.journal.events()) == 1
    if where.endswith(".db"):
        copy = tmp_path / "project.db.0001.backup"
        with closing(sqlite3.connect(copy)) as kept:
            assert kept.execute("SELECT version_num FROM alembic_version").fetchone() == ("0001",)
            assert kept.execute("SELECT name FROM project").fetchone() == ("old",)


def test_an_earlier_copy_is_not_overwritten(tmp_path):
    where = str(tmp_path / "project.db")
    (tmp_path / "project.db.0001.backup").write_text("mine")
    old_project(where)
    open_project(where).close()
    assert (tmp_path / "project.db.0001.backup").read_text() == "mine"
    assert (tmp_path / "project.db.0001.1.backup").exists()


def test_every_version_can_be_reached_step_by_step(tmp_path):
    database = Database(find_place(tmp_path / "steps.db"))
    database.prepare()
    with database.write() as connection:
        upgrade(connection, "0001")
    with database.write() as connection:
        upgrade(connection, head())
        assert differences(connection) == []
    database.close()


def test_a_newer_version_is_refused(project, where):
    with project.database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(InputError, match=r"newer version of karat.*upgrade karat"):
        open_project(where)


def test_a_database_without_a_project_is_refused(where):
    database = Database(find_place(where))
    database.prepare()
    database.close()
    with pytest.raises(InputError, match="is not a project"):
        open_project(where)


def write(path, content: bytes):
    path.write_bytes(content)
    return path


def damaged_files(folder, good: bytes):
    """Files that are no project, each with a name."""
    yield "text", write(folder / "text.db", b"hello\n")
    yield "empty", write(folder / "empty.db", b"")
    yield "header", write(folder / "header.db", good[:100])
    yield "half", write(folder / "half.db", good[: len(good) // 2])
    yield "zeros", write(folder / "zeros.db", good[:4096] + bytes(len(good) - 4096))
    huge = write(folder / "huge.db", good[:100])
    os.truncate(huge, 1 << 40)
    yield "huge", huge
    for name, statement in {
        "view": "DROP TABLE setting; CREATE VIEW setting AS SELECT name, form AS value FROM project",
        "endless": "DROP TABLE alembic_version; CREATE VIEW alembic_version AS WITH RECURSIVE "
        "n(version_num) AS (SELECT '0005' UNION ALL SELECT version_num FROM n) SELECT max(version_num) "
        "AS version_num FROM n",
        "computed": "DROP TABLE session; CREATE TABLE session (token_digest TEXT, account INT, at REAL, "
        "seen_at REAL, expires REAL, seal TEXT AS (printf('%.*c', 100000000, 'x')))",
        "virtual": "CREATE VIRTUAL TABLE more USING fts5(words)",
        "trigger": "CREATE TRIGGER evil AFTER INSERT ON event BEGIN DELETE FROM setting; END",
        "untriggered": "DROP TRIGGER answer_no_update",
        "column": "ALTER TABLE item ADD COLUMN more TEXT",
        "missing": "DROP TABLE assignment",
        "rows": "DELETE FROM project",
        "form": "UPDATE project SET form = '{}'",
        "nested": f"UPDATE project SET form = '{'[' * 100_000}'",
        "blob": "UPDATE project SET form = x'ff00'",
        "long": "UPDATE project SET form = hex(zeroblob(20000000))",
        "settings": "UPDATE project SET settings = '3'",
        "sizes": "UPDATE project SET images = 'many'",
    }.items():
        path = write(folder / f"{name}.db", good)
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(statement)
        yield name, path


def test_files_that_are_no_project_get_one_line(tmp_path):
    create_project(tmp_path / "good.db", make_benchmark(), FORM, source="made").close()
    with closing(sqlite3.connect(tmp_path / "good.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    good = (tmp_path / "good.db").read_bytes()
    for name, path in damaged_files(tmp_path, good):
        with pytest.raises(InputError) as caught:
            open_project(path).close()
        assert "\n" not in str(caught.value), name
        assert str(path) in str(caught.value), name
        assert len(str(caught.value)) < 500, name
    open_project(tmp_path / "good.db").close()


def test_numbers_that_lead_nowhere_are_found_when_reading(tmp_path):
    path = tmp_path / "p.db"
    for statement in ("DELETE FROM assignment WHERE id = 0", "DELETE FROM item WHERE id = 1"):
        with create_project(path, make_benchmark(), FORM, source="made") as project:
            project.pools.add_tasks(plain_plan(2))
            finish(project, project.queue.lease("ann"))
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(statement)
        with open_project(path) as project, pytest.raises(InputError, match="damaged"):
            project.answers.read()
        path.unlink()


def test_places_that_cannot_be(tmp_path):
    for where in (tmp_path, tmp_path / "none.db", "", "nul\0"):
        with pytest.raises(InputError):
            open_project(where)
    assert not (tmp_path / "none.db").exists()
    for where in (tmp_path, tmp_path / "no" / "p.db", write(tmp_path / "notes.txt", b"notes")):
        with pytest.raises(InputError):
            create_project(where, make_benchmark(), FORM, source="made")
    assert (tmp_path / "notes.txt").read_bytes() == b"notes"


@pytest.mark.parametrize(
    "where",
    [
        "postgresql://ann:hunter2@localhost:1/none",
        "postgresql://localhost:1/none?user=ann&password=hunter2",
        "postgresql://ann:hunter2@localhost:port/none",
        "postgres://ann:hunter2@[::1/none",
        "mysql://ann:hunter2@localhost/none",
        "postgresql+asyncpg://ann:hunter2@localhost/none",
    ],
)
def test_passwords_are_never_shown(where):
    with pytest.raises(InputError) as caught:
        open_project(where)
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError) as caught:
        create_project(where, make_benchmark(), FORM, source="made")
    assert "hunter2" not in repr(caught.value)


def test_a_missing_package_names_what_to_install(monkeypatch):
    import sys

    from karat import store

    for module in [m for m in sys.modules if m.startswith("karat.store.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delitem(store.__dict__, "open_project", raising=False)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(MissingDataError, match=r"pip install 'karat\[judging\]'"):
        store.open_project


def test_a_copy_of_a_file_that_computes_for_ever_is_not_made(tmp_path):
    create_project(tmp_path / "p.db", make_benchmark(), FORM, source="made").close()
    with closing(sqlite3.connect(tmp_path / "p.db")) as connection:
        connection.executescript(
            "DROP TABLE answer; CREATE VIEW answer AS WITH RECURSIVE n(id) AS "
            "(SELECT 1 UNION ALL SELECT id FROM n) SELECT id FROM n"
        )
    with pytest.raises(InputError, match="tampered with: it has unknown triggers, views"):
        back_up(tmp_path / "p.db", tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE TRIGGER evil AFTER INSERT ON event EXECUTE FUNCTION karat_append_only()",
         "unknown triggers"),
        ("CREATE OR REPLACE FUNCTION karat_append_only() RETURNS trigger LANGUAGE plpgsql AS "
         "$$ BEGIN RETURN NEW; END $$", "unknown triggers"),
        ("DROP TRIGGER answer_append_only ON answer", "no triggers that protect"),
        ("ALTER TABLE answer DISABLE TRIGGER ALL", "unknown triggers"),
        ("CREATE RULE evil AS ON INSERT TO session DO INSTEAD NOTHING", "views, rules"),
        ("ALTER TABLE setting RENAME TO old; CREATE VIEW setting AS SELECT * FROM old", "views, rules"),
        ("ALTER TABLE account ENABLE ROW LEVEL SECURITY", "views, rules"),
    ],
)  # fmt: skip
def test_a_database_of_somebody_else_runs_nothing_of_theirs(postgres, statement, said):
    psycopg = pytest.importorskip("psycopg")
    address = new_database(postgres, f"evil{zlib.crc32(statement.encode())}")
    create_project(address, make_benchmark(), FORM, source="made").close()
    open_project(address).close()
    with psycopg.connect(address) as connection:
        connection.execute(statement)
    with pytest.raises(InputError, match=said):
        open_project(address)
