"""``karat serve``: the judging page and the dashboard, on this machine or for others."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat._util import plural, require
from karat.cli import options
from karat.cli.command import Command
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.judging.store.accounts import Accounts
    from karat.web import Settings
    from karat.web.accounts import KnownOwners

app = typer.Typer()
TURN = 0.0005
"""How many seconds a thread may keep the interpreter while others wait: a tenth of Python's default."""
PASSWORD = "KARAT_OWNER_PASSWORD"
"""The environment variable of a new owner's password."""
NEEDED = ("fastapi", "uvicorn", "argon2", "sqlalchemy", "alembic")


@app.command(cls=Command)
def serve(
    project: Annotated[
        str,
        typer.Argument(
            metavar="PROJECT", help="A project's file, or its postgresql:// address.", show_default=False
        ),
    ] = "",
    run: options.RunFile = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 is every address of this machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 takes a free one.")] = 8765,
    public_url: Annotated[
        str, typer.Option(help="The address that users type, such as https://judge.example.org/karat.")
    ] = "",
    prefix: Annotated[
        str, typer.Option(help="The path of all pages, such as /karat, if --public-url has none.")
    ] = "",
    proxy: Annotated[
        list[str] | None,
        typer.Option(help="The address of a reverse proxy whose X-Forwarded-For and -Proto are trusted."),
    ] = None,
    owner: Annotated[
        str,
        typer.Option(
            help="Create an owner with this name first; you are asked for a password. An owner who exists "
            "keeps their password."
        ),
    ] = "",
    password_file: Annotated[
        Path | None,
        typer.Option(
            help="Read the new owner's password from the first line of this file; the environment variable "
            f"{PASSWORD} is read too.",
            show_default=False,
        ),
    ] = None,
    disable: Annotated[
        list[str] | None,
        typer.Option(help="Disable the account with this name and revoke its links first.", metavar="NAME"),
    ] = None,
    published: Annotated[
        str,
        typer.Option(
            help="The folder for published benchmarks; without it, download them before the server stops."
        ),
    ] = "",
    lease: Annotated[
        float, typer.Option(help="How many minutes a task stays leased to an annotator.", min=1, max=1440)
    ] = 30.0,
    log_level: Annotated[
        str,
        typer.Option(
            help="The level of the log, which is lines of JSON; info logs every request.", show_default=False
        ),
    ] = "",
    demo: Annotated[bool, typer.Option("--demo", help="Make a small world and serve it.")] = False,
) -> None:
    """Serve the judging page and the dashboard of a project.

    By default only this machine can reach it, and the owner signs in by a link that is printed here and works
    once. With --host for other machines, it starts only if the project has an owner with a password. The
    owner can set a goal for the runs of --run; the dashboard then shows their estimated scores.
    """
    check_installed()
    if demo == bool(project):
        raise InputError("give either a project or --demo", fix="run karat serve project.db")
    if password_file is not None and not owner:
        raise InputError("--password-file is the password of a new owner", fix="pass --owner NAME too")
    from karat.cli.show import print_notes
    from karat.web import (
        Settings,
        check_open,
        close_app,
        create_app,
        listen,
        make_server,
        mode_note,
        owner_link,
        raise_descriptor_limit,
        until_stopped,
    )
    from karat.web.accounts import KnownOwners
    from karat.web.operation import log_config

    with until_stopped(), ExitStack() as stack:
        place = demo_project(stack) if demo else project
        runs = run or (sorted(Path(place).parent.glob("runs/*.npy")) if demo else [])
        listening = stack.enter_context(listen(host, port))
        port = listening.getsockname()[1]
        settings = Settings(
            place, host, port, public_url, prefix, tuple(proxy or ()), lease_seconds=60 * lease,
            published=published, demo=demo, runs=tuple(map(str, runs)),
        )  # fmt: skip
        web = create_app(settings)
        stack.callback(close_app, web)
        accounts, notes = web.state.accounts, list(web.state.project.notes)
        known = None if demo else KnownOwners(accounts)
        if owner:
            notes += add_owner(accounts, owner, password_file, known)
        for name in disable or ():
            notes.append(disable_account(accounts, name, known))
        check_open(accounts, settings)
        # Load it now: the first request must not wait for it, and a missing one must be reported here.
        web.state.project.benchmark()
        web.state.goal.runs.names()
        notes += web.state.pictures.notes()
        notes += [mode_note(web.state.project), known.sentence(web.state.project.where) if known else ""]
        print_notes([note for note in notes if note])
        announce(web.state.project.where, settings, owner_link(accounts, settings))
        raise_descriptor_limit()
        # Threads that return from the database run sooner: a lease is a dozen short queries.
        sys.setswitchinterval(TURN)
        make_server(web, settings, log_config(level_of(log_level, settings))).run([listening])


def check_installed() -> None:
    """Raise, with the command that installs it, if a package is missing."""
    require(*NEEDED, extra_name="web")


def level_of(level: str, settings: Settings) -> str:
    """Return the level of the log; by default warnings, and every request if others can reach the server."""
    from karat._util import check_choice

    default = "info" if settings.public else "warning"
    return check_choice(level or default, ("debug", "info", "warning", "error"), "--log-level").upper()


def demo_project(stack: ExitStack) -> str:
    """Make the demonstration in a temporary folder, and return its project."""
    from tempfile import TemporaryDirectory

    from karat.cli.show import waiting
    from karat.web import make_demo

    folder = stack.enter_context(TemporaryDirectory(prefix="karat-demo-"))
    with waiting("making a world"):
        return str(make_demo(Path(folder)))


def add_owner(
    accounts: Accounts, name: str, password_file: Path | None, known: KnownOwners | None
) -> list[str]:
    """Create an owner, or accept one who exists; return what to tell the operator.

    A password is never an option of the command: every user of this machine could see it.
    """
    from karat.judging.store.accounts import MIN_PASSWORD, OWNER, fold

    prompt = f"Password for {name}, at least {MIN_PASSWORD} characters"
    account = next((one for one in accounts.users.read() if fold(one.name) == fold(name)), None)
    if account is None:
        accounts.users.add(name, OWNER, read_password(prompt, password_file))
        return []
    if account.role != OWNER or not account.active:
        problem = f"is a {account.role}" if account.role != OWNER else "is disabled"
        raise InputError(f"{account.name!r} {problem}", where="--owner", fix="choose another name")
    if known is not None:
        known.accept(account.name)
    if account.has_password:
        return [f"the owner {account.name} already exists; the password is unchanged"]
    accounts.users.set_password(account.id, read_password(prompt, password_file))
    return [f"the owner {account.name} already existed and has a password now"]


def disable_account(accounts: Accounts, name: str, known: KnownOwners | None) -> str:
    """Disable an account, end its sessions and revoke its links; return what to tell the operator."""
    number = accounts.users.number_of(name)
    if number is None:
        raise InputError(f"there is no account {name!r}", where="--disable", fix="check the name")
    accounts.users.set_active(number, False)
    links = accounts.invitations.revoke_of(number)
    if known is not None:
        known.unknown = [other for other in known.unknown if other in accounts.users.owner_marks()]
    return f"the account {name} is disabled" + (f", {plural(links, 'link')} revoked" if links else "")


def read_password(prompt: str, path: Path | None) -> str:
    """Return a new password: from a file, the environment, the terminal or standard input, in this order."""
    if path is not None:
        return password_in(path)
    if password := os.environ.pop(PASSWORD, ""):
        return password
    return ask_password(prompt)


def password_in(path: Path) -> str:
    """Return the first line of a file that only its owner and group can read."""
    try:
        with path.open(encoding="utf-8") as handle:
            mode = os.fstat(handle.fileno()).st_mode
            if mode & stat.S_IROTH and stat.S_ISREG(mode):
                raise InputError(
                    "every user of this machine can read this password", where=path, fix=f"chmod 600 {path}"
                )
            password = handle.readline(1000).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise InputError(f"cannot be read ({reason})", where=path, fix="check --password-file") from None
    if not password:
        raise InputError("the first line is empty", where=path, fix="write the password into it")
    return password


def ask_password(prompt: str) -> str:
    """Return a password that is typed twice; without a terminal, read the first line of standard input."""
    if sys.stdin.isatty():
        return typer.prompt(prompt, hide_input=True, confirmation_prompt=True)
    print("note: there is no terminal, so the password is read from standard input", file=sys.stderr)
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise InputError(
            "the password is empty",
            fix=f"pass --password-file, set {PASSWORD}, or pass the password on standard input",
        )
    return password


def announce(place: str, settings: Settings, link: str | None) -> None:
    """Print the address of the pages, and the owner's link."""
    print(f"{place}: {settings.address}", flush=True)
    if link is not None:
        print(f"owner's link (works once): {link}", flush=True)
    print("stop with Ctrl+C", flush=True)
