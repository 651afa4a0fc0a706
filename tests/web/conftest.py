"""Fixtures of the web: a project, a server, and clients that have signed in."""

import shutil
from functools import partial

import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")

import argon2

from karat.store.accounts import credentials
from web.servers import PASSWORD, make_project, start


@pytest.fixture(scope="session", autouse=True)
def _quick_hashes():
    """Real hashes take a tenth of a second each, on purpose; tests make thousands."""
    quick = argon2.PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(credentials, "hasher", lambda: quick)
        yield


@pytest.fixture(scope="session")
def project_template(tmp_path_factory):
    """A project with tasks, made once; tests work on copies."""
    return make_project(tmp_path_factory.mktemp("project"))


@pytest.fixture
def made_project(project_template, tmp_path):
    """Return a function that makes a project with tasks and returns its file: ``made_project(tmp_path)``.

    With arguments for `make_project` (form, images, overlap …) it is made anew, else copied.
    """

    def make(folder=tmp_path, **more):
        if more:
            return make_project(folder / "made", **more)
        place = folder / "project.db"
        shutil.copy(project_template, place)
        return place

    return make


@pytest.fixture
def serve(made_project):
    """Return a function that starts a server: ``serve(place=None, prefix="/karat", …)``; all are stopped."""
    started = []

    def begin(place=None, **settings):
        started.append(start(made_project() if place is None else place, **settings))
        return started[-1]

    yield begin
    for one in started:
        one.stop()


@pytest.fixture(scope="module")
def lasting(project_template, tmp_path_factory):
    """A server for all tests of a module: for those that change nothing, or do not mind."""
    place = tmp_path_factory.mktemp("lasting") / "project.db"
    shutil.copy(project_template, place)
    started = start(place)
    yield started
    started.stop()


@pytest.fixture
def untouched(lasting):
    """The lasting server as before any attack: doors open, no links, and a judge called ann."""
    lasting.app.state.attempts.reset()
    for link in lasting.accounts.invitations.read():
        lasting.accounts.invitations.revoke(link["id"])
    if lasting.accounts.users.number_of("ann") is None:
        lasting.accounts.users.add("ann", "judge", PASSWORD)
    return lasting


@pytest.fixture
def server(serve):
    """A server of a fresh copy of the project."""
    return serve()


@pytest.fixture
def client(server):
    """Return a function that signs a user in: ``client("judge")``, ``client("owner", "ann")``."""
    return partial(server.client)
