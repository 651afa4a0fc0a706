"""``karat serve``: on this machine at once, for others only with accounts, and it stops in order."""

import re
import signal
import subprocess
import sys

import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")

import httpx
from typer.testing import CliRunner

from karat.cli import serve
from karat.errors import InputError, MissingDataError
from karat.judging.store import open_project
from karat.web.settings import Settings
from web.servers import PASSWORD, make_project

RUN = [sys.executable, "-c", "from karat.cli import serve; serve.app()"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("served"), pictures=False)


def run(*arguments, **more):
    """Run the command; what karat raises is raised here too."""
    found = CliRunner().invoke(serve.app, [str(one) for one in arguments], **more)
    if isinstance(found.exception, Exception) and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_it_prints_the_link_answers_and_stops_in_order(place, stop):
    with subprocess.Popen([*RUN, str(place), "--port", "0"], stdout=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().split()[-1]
            link = process.stdout.readline().split()[-1]
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+", address)
            assert re.fullmatch(re.escape(address) + r"/invitation#[\w-]{43}", link)
            with httpx.Client(transport=httpx.HTTPTransport(retries=5)) as visitor:
                assert visitor.get(f"{address}/login", timeout=20).status_code == 200
        finally:
            process.send_signal(stop)
            process.stdout.read()
    assert process.returncode == 0
    assert not place.with_name(f"{place.name}-wal").exists(), "the store was closed"


@pytest.mark.parametrize(
    "more", [("--host", "0.0.0.0"), ("--public-url", "https://a.example"), ("--proxy", "127.0.0.1")]
)
def test_it_does_not_start_for_others_without_an_owner(place, more):
    with pytest.raises(InputError, match="no owner with a password; pass --owner"):
        run(place, "--port", "0", *more)


def test_an_owner_is_made_with_a_password_that_is_typed(place, monkeypatch):
    started = []

    class Server:
        def run(self, sockets):
            started.append(sockets)

    monkeypatch.setattr("karat.web.make_server", lambda app, settings, logs: Server())
    typed = f"{PASSWORD}\n{PASSWORD}\n"
    found = run(place, "--port", "0", "--host", "0.0.0.0", "--owner", "ann", input=typed)
    assert len(started) == 1
    assert PASSWORD not in found.output
    assert "link" not in found.output
    with open_project(place) as project:
        accounts = project.accounts
        assert accounts.users.sign_in("ann", PASSWORD).role == "owner"
    assert "works once" in run(place, "--port", "0").output, "on this machine, there is a link again"


def test_the_demonstration_makes_a_world_and_leaves_nothing(monkeypatch):
    seen = []

    class Server:
        def __init__(self, app):
            self.app = app

        def run(self, sockets):
            project = self.app.state.project
            seen.append(
                (
                    project.where,
                    project.queue.assignments(),
                    [one.role for one in self.app.state.accounts.users.read()],
                )
            )
            assert project.queue.lease("somebody new") is not None

    monkeypatch.setattr("karat.web.make_server", lambda app, settings, logs: Server(app))
    assert "works once" in run("--demo", "--port", "0").output
    where, assignments, roles = seen[0]
    assert roles == ["owner"]
    assert {"open", "submitted"} <= set(assignments.state.tolist())
    with pytest.raises(InputError):
        open_project(where)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "either a project or --demo"),
        (("a.db", "--demo"), "either a project or --demo"),
        (("nowhere.db", "--port", "0"), "does not exist"),
        (("a.db", "--port", "70000"), "70000 is not a port"),
        (("a.db", "--host", "no.such.host.invalid"), "cannot listen"),
    ],
)
def test_wrong_input_is_a_sentence(arguments, said):
    with pytest.raises(InputError, match=said):
        run(*arguments)


def test_the_password_of_a_database_is_not_printed(place, capsys):
    serve.announce("postgresql://ann:***@host/db", Settings("postgresql://ann:secret@host/db"), None)
    assert "secret" not in capsys.readouterr().out
    assert "secret" not in repr(Settings("postgresql://ann:secret@host/db"))


def test_a_port_in_use_is_a_sentence(place):
    from karat.web.server import listen

    with (
        listen("127.0.0.1", 0) as taken,
        pytest.raises(InputError, match=r"cannot listen on 127\.0\.0\.1, port .* choose another"),
    ):
        run(place, "--port", taken.getsockname()[1])


def test_a_missing_package_names_what_to_install(monkeypatch):
    monkeypatch.setattr(serve, "NEEDED", ("no_such_package",))
    with pytest.raises(MissingDataError, match=r"pip install 'karat\[web\]'"):
        run("own.db")
