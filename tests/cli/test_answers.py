"""``karat project export`` and ``import``: what it prints, and what it leaves alone."""

import pytest
from typer.testing import CliRunner

from judging.exchange.projects import FORM, fill, make_benchmark, make_plan
from karat.cli.project import app
from karat.errors import InputError
from karat.store import open_project


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose benchmark is a folder on disk, and a way to call the command."""
    import karat
    from karat.store import create_project

    folder = tmp_path / "bench"
    karat.save_benchmark(make_benchmark(number=True), folder)
    with create_project(tmp_path / "p.db", karat.load_benchmark(folder), FORM, source=str(folder)) as made:
        made.pools.add_tasks(make_plan())
    monkeypatch.chdir(tmp_path)
    return tmp_path / "p.db"


def call(*arguments):
    done = CliRunner().invoke(app, [*map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def test_export_and_import(project, tmp_path):
    said = call(
        "export", project, "-o", "batch.csv", "--format", "mturk", "--image-url", "https://host/{id}.jpg"
    )
    assert said == "3 tasks written to batch.csv and batch.html (mturk).\n"
    (tmp_path / "in.csv").write_text("task,item,worker,answer\n0,1,ann,yes\n")
    assert call("import", project, "in.csv") == "1 answer of 1 annotator imported (csv).\n"
    said = call("export", project, "-o", "out.jsonl", "--what", "answers")
    assert said == "1 answer written to out.jsonl (jsonl).\n"
    assert '"worker": "ann"' in (tmp_path / "out.jsonl").read_text()


def test_a_wrong_file_changes_nothing(project, tmp_path):
    (tmp_path / "in.csv").write_text("task,item,worker,answer\n0,1,ann,yes\n0,2,ann,maybe\n")
    with pytest.raises(InputError, match=r"in\.csv: line 3: answer is 'maybe'"):
        call("import", project, "in.csv")
    with open_project(project) as opened:
        assert len(opened.answers.read()) == 0


def test_one_line_says_what_is_wrong(project, tmp_path, command):
    (tmp_path / "in.csv").write_text("task,item,worker,answer\n0,1,ann,maybe\n")
    error = command("project", "import", project, "in.csv", code=2)
    assert "line 2: answer is 'maybe'" in error


def test_verdicts_are_told(project, tmp_path):
    with open_project(project) as opened:
        fill(opened)
        assignments = opened.queue.assignments()
        opened.reviews.add(
            assignments.assignment[assignments.state == "submitted"][:1].tolist(), "reject", "me"
        )
    call("export", project, "-o", "out.csv", "--format", "mturk", "--what", "answers")
    with pytest.raises(InputError, match=r"line 2: .*already"):
        call("import", project, "out.csv")
