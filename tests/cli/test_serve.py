"""``karat serve``: on this machine at once, for others only with accounts, and it stops in order."""

import io
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")

import argon2
import httpx
from typer.testing import CliRunner

from karat.cli import serve
from karat.errors import InputError, MissingDataError
from karat.store import open_project
from karat.store.accounts import credentials
from karat.web import service
from karat.web.accounts import settle_foreign
from karat.web.settings import Settings
from web.servers import PASSWORD, make_project

RUN = [sys.executable, "-c", "from karat.cli import serve; serve.app()"]


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("served"), pictures=False)


@pytest.fixture(scope="module")
def place(pristine):
    return shutil.copy(pristine, pristine.with_name("place.db"))


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

    monkeypatch.setattr("karat.web.service.make_server", lambda app, settings, logs: Server())
    typed = f"{PASSWORD}\n{PASSWORD}\n"
    found = run(place, "--port", "0", "--host", "0.0.0.0", "--owner", "ann", input=typed)
    assert len(started) == 1
    assert PASSWORD not in found.output
    assert "link" not in found.output
    with open_project(place) as project:
        accounts = project.accounts
        assert accounts.users.sign_in("ann", PASSWORD).role == "owner"
    assert "works once" in run(place, "--port", "0").output, "on this machine, there is a link again"


@pytest.fixture
def unstarted(monkeypatch):
    """The command returns as soon as the server would run; hashes are quick."""
    quick = argon2.PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    monkeypatch.setattr(credentials, "hasher", lambda: quick)

    class Server:
        def run(self, sockets):
            pass

    monkeypatch.setattr("karat.web.service.make_server", lambda app, settings, logs: Server())


@pytest.fixture
def fresh(pristine, tmp_path, monkeypatch):
    """A project without accounts, for the user alone; its benchmark may be read, whoever made it."""
    monkeypatch.setenv("KARAT_DATA", str(pristine.parent))
    own = shutil.copy(pristine, tmp_path / "own.db")
    own.chmod(0o600)
    return own


def public(place, *more, **keywords):
    return run(place, "--port", "0", "--host", "0.0.0.0", *more, **keywords)


def can_sign_in(place, name, password):
    with open_project(place) as project:
        return project.accounts.users.sign_in(name, password) is not None


def test_an_owner_who_exists_keeps_the_password(fresh, unstarted):
    public(fresh, "--owner", "ann", input=f"{PASSWORD}\n")
    found = public(fresh, "--owner", "ANN", input="another pass phrase\n")
    assert found.exit_code == 0
    assert "note: the owner ann already exists; the password is unchanged" in found.output
    assert can_sign_in(fresh, "ann", PASSWORD)


def test_an_owner_without_a_password_gets_one(fresh, unstarted):
    with open_project(fresh) as project:
        project.accounts.users.add("ann", "owner", None)
    assert (
        "already existed and has a password now"
        in public(fresh, "--owner", "ann", input=f"{PASSWORD}\n").output
    )
    assert can_sign_in(fresh, "ann", PASSWORD)


@pytest.mark.parametrize(
    ("role", "active", "said"), [("judge", True, "is a judge"), ("owner", False, "is disabled")]
)
def test_an_owner_must_be_an_owner(fresh, unstarted, role, active, said):
    with open_project(fresh) as project:
        project.accounts.users.add("eve", "owner", PASSWORD)
        user = project.accounts.users.add("ann", role, PASSWORD)
        project.accounts.users.set_active(user.id, active)
    with pytest.raises(InputError, match=f"--owner: 'ann' {said}; choose another name"):
        public(fresh, "--owner", "ann")


def test_a_password_comes_from_a_file_or_the_environment(fresh, unstarted, tmp_path, monkeypatch):
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD} one\nsecond line\n")
    file.chmod(0o644)
    with pytest.raises(InputError, match=r"every user of this machine can read this password; chmod 600"):
        public(fresh, "--owner", "ann", "--password-file", file)
    file.chmod(0o640)
    monkeypatch.setenv(service.PASSWORD, f"{PASSWORD} two")
    public(fresh, "--owner", "ann", "--password-file", file)
    assert can_sign_in(fresh, "ann", f"{PASSWORD} one")
    found = public(fresh, "--owner", "bob")
    assert can_sign_in(fresh, "bob", f"{PASSWORD} two")
    assert PASSWORD not in found.output
    assert service.PASSWORD not in os.environ, "programs that the server starts do not see it"
    file.write_text("\n")
    with pytest.raises(InputError, match="the first line is empty"):
        public(fresh, "--owner", "eve", "--password-file", file)
    with pytest.raises(InputError, match=r"cannot be read \(No such file"):
        public(fresh, "--owner", "eve", "--password-file", tmp_path / "none")
    with pytest.raises(InputError, match="pass --owner NAME too"):
        public(fresh, "--password-file", file)
    with pytest.raises(InputError, match=r"pass --password-file, set KARAT_OWNER_PASSWORD"):
        public(fresh, "--owner", "eve", input="")


def test_an_owner_has_no_common_password(fresh, unstarted):
    with pytest.raises(InputError, match="easy to guess, made of a common password and a sequence"):
        public(fresh, "--owner", "ann", input="Password1234\n")
    with open_project(fresh) as project:
        assert project.accounts.users.read() == []


def test_accounts_from_elsewhere_are_announced_until_they_are_confirmed_or_disabled(
    fresh, unstarted, monkeypatch, tmp_path
):
    public(fresh, "--owner", "ann", input=f"{PASSWORD}\n")
    assert "was not made on this machine" not in public(fresh).output, "ann was created here"
    # Somebody else gets the project, adds an owner and a judge, and takes over another.
    with monkeypatch.context() as patch:
        patch.setenv("KARAT_CONFIG", str(tmp_path / "theirs"))
        with open_project(fresh) as project:
            accounts = project.accounts
            accounts.confirm_all()
            eve = accounts.users.add("eve", "owner", PASSWORD)
            accounts.users.add("jim", "judge", PASSWORD)
            accounts.users.set_password(accounts.users.number_of("ann"), f"{PASSWORD} of eve")
            link = accounts.invitations.invite("owner", actor=eve.id)
            accounts.sessions.open(eve.id)
    with pytest.raises(InputError, match=r"no owner with a password; pass --owner NAME .*, or --confirm if"):
        public(fresh)
    for _ in range(2):
        found = run(fresh, "--port", "0")
        assert "ann (owner), eve (owner), jim (annotator), 1 open link; it gives no rights" in found.output
        assert "works once" in found.output, "a link makes a new owner, and is for no account of theirs"
    assert "session opened on another machine" not in found.output
    found = public(fresh, "--disable", "eve", "--owner", "ann", input=f"{PASSWORD} of mine\n")
    assert "note: the account eve is disabled, 1 link revoked" in found.output
    assert "the owner ann came with the project and has the password that you gave now" in found.output
    assert "changed elsewhere: jim (annotator); it gives no rights" in found.output
    assert not can_sign_in(fresh, "ann", f"{PASSWORD} of eve")
    assert can_sign_in(fresh, "ann", f"{PASSWORD} of mine")
    for name in ("eve", "jim"):
        assert not can_sign_in(fresh, name, PASSWORD)
    with open_project(fresh) as project, pytest.raises(InputError, match="does not work"):
        project.accounts.invitations.look_at(link)
    assert "note: confirmed: jim (annotator)" in public(fresh, "--confirm").output
    assert can_sign_in(fresh, "jim", PASSWORD)
    assert "gives no rights" not in public(fresh, "--confirm").output
    with pytest.raises(InputError, match="there is no account 'nobody'"):
        public(fresh, "--disable", "nobody")
    with pytest.raises(InputError, match="is the only owner"):
        public(fresh, "--disable", "ann")


@pytest.mark.parametrize(("answer", "works"), [("y", True), ("YES", True), ("", False), ("no", False)])
def test_the_terminal_asks_once(fresh, unstarted, monkeypatch, tmp_path, answer, works):
    public(fresh, "--owner", "ann", input=f"{PASSWORD}\n")
    monkeypatch.setenv("KARAT_CONFIG", str(tmp_path / "new machine"))

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdin", Terminal(f"{answer}\n"))
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    service.serve(fresh, port=0)
    assert "It has:\n  ann  (owner, made 20" in shown.getvalue()
    assert ("note: confirmed: ann (owner)" in shown.getvalue()) == works
    assert can_sign_in(fresh, "ann", PASSWORD) == works


def test_a_long_list_hides_no_owner(fresh, monkeypatch, tmp_path, capsys):
    with open_project(fresh) as project:
        for number in range(70):
            project.accounts.users.add(f"judge {number}", "judge", None)
        project.accounts.users.add("eve", "owner", None)
        monkeypatch.setenv("KARAT_CONFIG", str(tmp_path / "new machine"))
        monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
        settle_foreign(project.accounts, confirm=False, ask=True)
    said = capsys.readouterr().err
    assert "It has:\n  eve  (owner, made 20" in said
    assert "  and 11 more\n" in said


def test_a_machine_that_keeps_no_key_says_so(fresh, unstarted, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KARAT_CONFIG", str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"seal\.key"):
        public(fresh, "--owner", "ann", input=f"{PASSWORD}\n")


def test_files_that_others_can_read_are_announced(fresh, unstarted):
    fresh.chmod(0o644)
    found = run(fresh, "--port", "0")
    assert "own.db has mode 0644" in found.output
    assert "unless you want that, run chmod 600 own.db" in found.output
    assert fresh.stat().st_mode & 0o777 == 0o644, "changing it is up to the operator"
    fresh.chmod(0o600)
    for log in ("-wal", "-shm"):
        fresh.with_name(f"own.db{log}").unlink(missing_ok=True)
    assert "mode" not in run(fresh, "--port", "0").output


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

    monkeypatch.setattr("karat.web.service.make_server", lambda app, settings, logs: Server(app))
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
    service.announce("postgresql://ann:***@host/db", Settings("postgresql://ann:secret@host/db"), None)
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
