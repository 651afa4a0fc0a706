"""`karat project backup` and `karat project restore`."""

import pytest
from typer.testing import CliRunner

from karat.cli.project.backup import app
from karat.cli.project.restore import app as restoring
from karat.errors import InputError
from karat.forms import load_form
from karat.store import create_project, open_project

from made import make_benchmark


def test_a_copy_is_written_and_described(tmp_path):
    place, copy = str(tmp_path / "own.db"), str(tmp_path / "copy.db")
    with create_project(place, make_benchmark(), load_form("pair"), source="made"):
        done = CliRunner().invoke(app, [place, "-o", copy])
    assert done.exit_code == 0
    assert done.stdout.startswith(f"wrote {copy} with 0 rows of answers, 0.")
    assert done.stdout.endswith(f"to restore it: karat project restore {copy} {place}\n")
    with open_project(copy) as project:
        assert project.name == "made"
    done = CliRunner().invoke(restoring, [copy, place, "--force"])
    assert done.stdout == f"restored {place} from {copy}; what was there is now own.db.replaced\n"
    again = CliRunner().invoke(app, [place, "-o", copy])
    assert isinstance(again.exception, InputError)
    assert CliRunner().invoke(app, [place, "-o", copy, "--force"]).exit_code == 0


def test_the_copy_must_be_named(tmp_path):
    assert CliRunner().invoke(app, [str(tmp_path / "own.db")]).exit_code == 2
    with pytest.raises(InputError, match="does not exist"):
        CliRunner().invoke(app, [str(tmp_path / "own.db"), "-o", "x.db"], catch_exceptions=False)
