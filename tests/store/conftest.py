"""Empty places for projects, in both databases; PostgreSQL's server is started once for all tests."""

import itertools

import pytest

from karat.store import create_project

from .postgres import REASON, new_database, programs, server
from .small import FORM
from made import make_benchmark

COUNT = itertools.count()


@pytest.fixture(scope="session")
def postgres():
    if programs() is None:
        pytest.skip(REASON)
    with server() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "project.db")
    return new_database(request.getfixturevalue("postgres"), f"test{next(COUNT)}")


@pytest.fixture
def project(where):
    with create_project(where, make_benchmark(), FORM, source="made", name="small") as made:
        yield made


@pytest.fixture
def on_file(tmp_path):
    with create_project(tmp_path / "project.db", make_benchmark(), FORM, source="made") as made:
        yield made
