"""Files that karat 0.4.0 wrote: every later version must read them, and say the same of them.

`files/expected.json` holds what 0.4.0 itself said. A difference that is meant belongs into the CHANGELOG, and
into this file as an exception with its reason; the files stay as they are.
"""

import copy
import gzip
import json
import math
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import ExitStack, closing, contextmanager

import pytest

import karat

from . import facts
from .facts import FILES

pytest.importorskip("sqlalchemy", reason="needs the store: pip install 'karat[judging]'")
EXPECTED = json.loads((FILES / "expected.json").read_text(encoding="utf-8"))
APPEND_ONLY = EXPECTED["append_only"]
RENAMED = {"slot": "assignment", "worker": "annotator"}
"""Tables that a migration renamed since: the name in 0.4.0, and the name now."""


def same(now, then, where="", tolerance=1e-5):
    """Compare plain data: numbers nearly, everything else exactly. There may be more names than then."""
    if isinstance(then, dict):
        assert isinstance(now, dict), where
        assert then.keys() <= now.keys(), where
        for name in then:
            same(now[name], then[name], f"{where}.{name}", tolerance)
    elif isinstance(then, list):
        assert len(now) == len(then), where
        for number, (one, other) in enumerate(zip(now, then)):
            same(one, other, f"{where}[{number}]", tolerance)
    elif isinstance(then, float) and isinstance(now, int | float):
        assert (math.isnan(now) and math.isnan(then)) or abs(now - then) <= tolerance, (where, now, then)
    else:
        assert now == then, where


# Projects


class SQLite:
    """A copy of the project's file."""

    def __init__(self, folder):
        self.place = str(folder / "project.db")
        shutil.copy(FILES / "project.db", self.place)

    def tables(self):
        return facts.sqlite_tables(self.place)

    def execute(self, statement, values=()):
        with closing(sqlite3.connect(self.place)) as connection, connection:
            return connection.execute(statement.replace("%s", "?"), values).fetchall()


class PostgreSQL:
    """A database of its own with the dump restored."""

    def __init__(self, address, programs):
        self.place = address
        psql = programs / "psql" if (programs / "psql").exists() else shutil.which("psql")
        if psql is None:
            pytest.skip("needs psql: apt-get install postgresql-client")
        dump = gzip.decompress((FILES / "project.sql.gz").read_bytes())
        # Not stopped by errors: a newer dump sets what an older server does not know. The rows are compared.
        subprocess.run([str(psql), "-q", "-X", address], input=dump, check=True, capture_output=True)

    def tables(self):
        return facts.postgres_tables(self.place)

    def execute(self, statement, values=()):
        import psycopg

        with psycopg.connect(self.place) as connection:
            found = connection.execute(statement, values)
            return found.fetchall() if found.description else []


@pytest.fixture(scope="module")
def postgres():
    """Return a function that restores the dump into a new database."""
    pytest.importorskip("psycopg", reason="needs psycopg: pip install 'karat[postgres]'")
    from store.postgres import REASON, new_database, programs, server

    if programs() is None:
        pytest.skip(REASON)
    with server() as running:
        yield lambda name: PostgreSQL(new_database(running, name), programs())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Copies of the files side by side: the project names its benchmark by the folder beside it."""
    made = tmp_path_factory.mktemp("net") / "files"
    shutil.copytree(FILES, made)
    return made


KINDS = ("sqlite", "postgresql")


def make_copy(request, kind, where, name):
    """A copy of the project of 0.4.0 in one of the databases, with what is expected of it."""
    made = SQLite(where) if kind == "sqlite" else request.getfixturevalue("postgres")(name)
    made.kind, made.expected = kind, EXPECTED[kind]
    return made


@pytest.fixture(scope="module", params=KINDS)
def project(request, folder):
    """A project for all tests that change nothing in it."""
    return make_copy(request, request.param, folder, "net")


@pytest.fixture(params=KINDS)
def untouched(request, tmp_path):
    """A project as 0.4.0 left it: no karat has opened it yet."""
    return make_copy(request, request.param, tmp_path, request.node.originalname[:60])


def table_now(tables, name):
    """The columns that a table had in 0.4.0 (later ones come last), of the rows that it had then."""
    # A project that no later version has opened yet has the old names.
    columns, rows = tables[name] if name in tables else tables[RENAMED[name]]
    then = EXPECTED["sqlite"]["tables"][name]
    width = len(then["columns"])
    rows = [row[:width] for row in rows]
    if name in APPEND_ONLY:
        # What was added since, such as the note that the project was migrated, comes after.
        rows = sorted(rows, key=lambda row: row[0])[: then["rows"]]
    return facts.row_facts(["id"] if then["columns"][0] == "id" else columns, rows)


def check_tables(project):
    tables, then = project.tables(), project.expected["tables"]
    for name in then:
        now = table_now(tables, name)
        assert (now["rows"], now["sha256"]) == (then[name]["rows"], then[name]["sha256"]), name


def test_the_project_says_the_same(project, folder):
    now, then = facts.project_facts(project.place, folder), copy.deepcopy(EXPECTED["project"])
    # Since 0.4.0 Dawid–Skene learns otherwise (CHANGELOG): its verdicts, and how often annotators are right.
    then["dawid-skene"].pop("verdicts")
    for annotator in then["dawid-skene"]["workers"]:
        annotator.pop("expected")
    same(now, then)
    # After it was opened, and brought up to date where need be.
    check_tables(project)


def test_the_project_is_published_the_same(project, folder):
    out = folder / f"published-{project.kind}"
    facts.command("project", "publish", project.place, "-o", out, "--made", "0.4.0", cwd=folder)
    now, then = facts.published_tables(out), facts.published_tables(FILES / "published")
    assert now.keys() == then.keys()
    same(now["answers.parquet"], then["answers.parquet"])
    # Since 0.4.0 Dawid–Skene learns otherwise (CHANGELOG): the same pairs, with other verdicts.
    pairs = [[(row["image"], row["caption"]) for row in tables["pairs.parquet"]] for tables in (now, then)]
    assert pairs[0] == pairs[1]


@pytest.mark.parametrize("table", APPEND_ONLY)
def test_what_is_kept_cannot_be_changed(project, table):
    name = RENAMED.get(table, table)
    for statement in (f'UPDATE "{name}" SET id = id', f'DELETE FROM "{name}"'):
        with pytest.raises(Exception, match="append-only"):
            project.execute(statement)
    if project.kind == "sqlite":
        with pytest.raises(sqlite3.Error, match="append-only"):
            project.execute(f'INSERT OR REPLACE INTO "{name}" SELECT * FROM "{name}" LIMIT 1')
    else:
        with pytest.raises(Exception, match="append-only"):
            project.execute(f'TRUNCATE "{name}"')
    check_tables(project)


def schema(project):
    """The names of the tables and of their columns."""
    return {name: columns for name, (columns, _) in project.tables().items()}


ADDED = {
    "draw_batch": ["id", "design", "measure", "direction", "runs", "seed", "frame", "settings", "at"],
    "draw": ["id", "batch", "image", "caption", "probability", "stratum", "query", "gold"],
    "goal": ["id", "goal", "at"],
}
"""Tables that were added since 0.4.0, all of them append-only."""
SEALED = ("account", "session", "invitation")
"""Tables with a column more: a row gives rights only where it was made, or confirmed (CHANGELOG)."""


def test_migrations_rename_and_add_and_change_nothing_else(untouched):
    """By the glossary: names of tables and columns change; no row does, and append-only tables stay so."""
    from karat.store import open_project
    from karat.store.migrations.versions.v0004_names import COLUMNS, TABLES

    assert TABLES == RENAMED
    expected = {RENAMED.get(name, name): list(columns) for name, columns in schema(untouched).items()}
    for table, old, new in COLUMNS:
        expected[table][expected[table].index(old)] = new
    with open_project(untouched.place) as opened:
        (note,) = opened.notes
    assert {"0003", "0006"} == set(re.findall(r"\b\d{4}\b", note))
    for table in SEALED:
        expected[table].append("seal")
    assert schema(untouched) == expected | ADDED
    check_tables(untouched)
    for table in APPEND_ONLY:
        for statement in (f'UPDATE "{table}" SET id = id', f'DELETE FROM "{table}"'):
            with pytest.raises(Exception, match="append-only"):
                untouched.execute(statement)
    with open_project(untouched.place) as opened:
        assert opened.notes == (), "the second time there is nothing to do"


def test_a_migration_that_fails_leaves_everything_as_it_was(untouched, monkeypatch, tmp_path):
    from karat.store import open_project
    from karat.store.migration import scripts

    step = scripts().get_revision("0005").module
    before, whole = untouched.tables(), step.upgrade

    def fail():
        whole()
        raise OSError("the power went off")

    monkeypatch.setattr(step, "upgrade", fail)
    for _ in range(2):
        with pytest.raises(OSError, match="power"):
            open_project(untouched.place)
        assert untouched.tables() == before
        assert not list(tmp_path.glob("*.backup")), "the copy would be of no use"
    monkeypatch.undo()
    open_project(untouched.place).close()
    check_tables(untouched)


def test_the_copy_before_a_migration_is_restored_by_one_command(tmp_path):
    from karat.store import open_project

    project = SQLite(tmp_path)
    before = project.tables()
    open_project(project.place).close()
    after = project.tables()
    assert after != before
    copy = tmp_path / "project.db.0003.backup"
    assert copy.stat().st_mode & 0o777 == 0o600
    facts.command("project", "restore", copy, project.place, "--force", cwd=tmp_path)
    assert project.tables() == before
    assert facts.sqlite_tables(tmp_path / "project.db.replaced") == after


@contextmanager
def serving(project, folder, *more):
    """`karat serve` in a process of its own; yields its address."""
    words = [sys.executable, "-m", "karat", "serve", project.place, "--port", "0", *more]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
        assert address, "the server did not start"
        yield address[0]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


class Visitor:
    """Somebody at the pages, who sends what a page sends."""

    def __init__(self, http, **cookies):
        self.http = http
        self.http.cookies.update(cookies)

    def open(self, path):
        page = self.http.get(path)
        token = re.search(r'<meta name="csrf" content="([0-9a-f]+)">', page.text)
        self.http.headers["X-CSRF-Token"] = token[1]

    def post(self, path, **body):
        return self.http.post(path, json=body)

    def sign_in(self, name, password):
        self.open("/login")
        found = self.post("/api/session", name=name, password=password)
        if found.status_code == 200:
            self.open("/account")
        return found.status_code

    def who(self):
        return self.http.get("/api/session").json()


@contextmanager
def visitors(address):
    """Yields a function that makes visitors."""
    import httpx

    with ExitStack() as stack:

        def make(**cookies):
            http = httpx.Client(base_url=address, headers={"Origin": address}, timeout=30)
            return Visitor(stack.enter_context(http), **cookies)

        yield make


def test_people_sign_in_and_go_on(untouched, folder):
    pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")
    project, secrets = untouched, untouched.expected["secrets"]
    # The session and the link of the script ran out long ago. The tables are still those of 0.4.0.
    now = time.time()
    project.execute("UPDATE session SET seen = %s, expires = %s", (now, now + 3600))
    project.execute("UPDATE invitation SET expires = %s WHERE used_at IS NULL", (now + 3600,))
    number = project.execute("SELECT max(id) FROM answer")[0][0]
    details = {"wrong": ["other"], "how_bad": "slight", "note": "as before"}
    with serving(project, folder) as address, visitors(address) as visitor:
        assert visitor().sign_in(*secrets["people"]["owner"]) == 400, "not before the operator says so"
    with serving(project, folder, "--confirm") as address, visitors(address) as visitor:
        assert visitor().sign_in(*secrets["disabled"]) == 400
        owner, judge = visitor(), visitor()
        assert owner.sign_in(*secrets["people"]["owner"]) == 200
        assert owner.who() == {"name": secrets["people"]["owner"][0], "role": "owner"}
        assert owner.http.get("/users").status_code == 200
        assert judge.sign_in(*secrets["people"]["judge"]) == 200

        lease = judge.post("/api/judge/lease").json()["lease"]
        given = {"token": lease["token"], "item": lease["items"][0]["id"], "key": "net-0001"}
        done = judge.post("/api/judge/answer", **given, code="hardly", details=details, seconds=2.5)
        assert done.json() == {"number": number + 1}

        # A session has ended, since whoever made the file could have planted it; the user signs in again. Its
        # cookie has the name that the server gives it now.
        names = [one.name for one in judge.http.cookies.jar]
        (name,) = (name for name in names if not {"visit", "device"} & set(name.split("-")))
        assert visitor(**{name: secrets["session"]}).who() == {"name": None, "role": None}
        # A link that was sent lets somebody in.
        newcomer = visitor()
        newcomer.open("/invitation")
        joined = {"token": secrets["link"], "name": "New", "password": "yet another pass phrase"}
        assert newcomer.post("/api/invitation/accept", **joined).status_code == 200
        assert newcomer.who() == {"name": "New", "role": "judge"}
    tables = project.tables()
    for name in APPEND_ONLY:
        assert table_now(tables, name)["sha256"] == project.expected["tables"][name]["sha256"], name
    _, rows = tables[RENAMED.get("answer", "answer")]
    last = dict(zip(EXPECTED["sqlite"]["tables"]["answer"]["columns"], max(rows, key=lambda row: row[0])))
    assert (last["id"], last["code"], last["seconds"]) == (number + 1, "hardly", 2.5)
    assert json.loads(last["details"]) == details


# Exchange


@pytest.fixture(scope="module")
def fresh(folder):
    """A project with the same tasks, made by the version of today."""
    return facts.fresh_project(folder)


def test_tasks_are_exported_the_same(fresh, folder):
    """The same runs give the same pool and tasks, byte by byte: answers given elsewhere find their task."""
    facts.command("project", "export", fresh, "-o", "new.csv", cwd=folder)
    assert (folder / "new.csv").read_bytes() == (FILES / "tasks.csv").read_bytes()


@pytest.mark.parametrize("file", facts.ANSWERS)
def test_answers_are_imported(fresh, folder, tmp_path, file):
    shutil.copy(fresh, tmp_path / "import.db")
    now = facts.import_facts(tmp_path / "import.db", FILES / file, folder)
    same(now, EXPECTED["imports"][file])


def test_a_sheet_that_was_filled_in_is_imported(fresh, folder, tmp_path):
    shutil.copy(fresh, tmp_path / "import.db")
    head, first, *rest = (FILES / "tasks.csv").read_text(encoding="utf-8").splitlines()
    columns = head.split(",")
    cells = dict(zip(columns, first.split(",")))
    assert len(cells) == len(columns) == len(first.split(",")), "the first caption has no comma"
    cells |= {"worker": "Mia", "answer": "hardly", "details.wrong": "colour|number", "details.note": "so"}
    filled = "\n".join([head, ",".join(cells.values()), *rest]) + "\n"
    (tmp_path / "filled.csv").write_text(filled, encoding="utf-8")
    now = facts.import_facts(tmp_path / "import.db", tmp_path / "filled.csv", folder)
    assert now["answers"] == 1


# Benchmarks, runs, forms, models


@pytest.mark.parametrize("name", ["benchmark", "benchmark-odd"])
def test_benchmarks(name):
    same(facts.benchmark_facts(FILES / name), EXPECTED["benchmarks"][name])


def test_the_published_folder_is_a_benchmark():
    same(facts.corrected_facts(FILES / "published"), EXPECTED["corrected"])


@pytest.mark.parametrize("name", ["benchmark", "published"])
def test_scores(name, tmp_path):
    same(facts.score_facts(name, tmp_path), EXPECTED["scores"][name])


@pytest.mark.parametrize(
    ("benchmark", "files"),
    [(benchmark, files) for benchmark, runs in facts.RUNS.items() for files in runs],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_runs(benchmark, files, tmp_path):
    same(facts.run_facts(files, benchmark, tmp_path), EXPECTED["runs"][" ".join(files)])


def test_every_run_is_tested():
    """A file of a run that no test reads would protect nothing."""
    named = {name for runs in facts.RUNS.values() for files in runs for name in files}
    there = {path.name for path in (FILES / "runs").iterdir() if not path.name.endswith(".ids.json")}
    assert there == named


@pytest.mark.parametrize("name", ["form.toml", "form-grid.toml"])
def test_forms(name, tmp_path):
    assert facts.form_facts(FILES / name, tmp_path) == EXPECTED["forms"][name]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return facts.make_world(tmp_path_factory.mktemp("world"))


def test_the_world_is_drawn_again(world):
    """The command of the README gives the ids and captions of the benchmark that was kept."""
    now, then = (karat.load_benchmark(str(one)) for one in (world, FILES / "benchmark"))
    assert now.images.values.tolist() == then.images.values.tolist()
    assert list(now.texts) == list(then.texts)


def test_the_model_finds_the_same(world):
    pytest.importorskip("cv2", reason="needs OpenCV: pip install 'karat[models]'")
    # Another build of OpenCV may round a pixel differently.
    same(facts.model_facts(FILES / "model", world.parent), EXPECTED["model"], tolerance=2e-3)
