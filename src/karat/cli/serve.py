"""``karat serve``: the judging page and the dashboard, on this machine or for others."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat._util import require
from karat.cli.command import Command
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.judging.store.accounts import Accounts
    from karat.web import Settings

app = typer.Typer()
TURN = 0.0005
"""How many seconds a thread may keep the interpreter while others wait: a tenth of Python's default."""
NEEDED = ("fastapi", "uvicorn", "argon2", "sqlalchemy", "alembic")


@app.command(cls=Command)
def serve(
    project: Annotated[
        str,
        typer.Argument(
            metavar="PROJECT", help="A project's file, or its postgresql:// address.", show_default=False
        ),
    ] = "",
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
        str, typer.Option(help="Create an owner with this name first; you are asked for a password.")
    ] = "",
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
    once. With --host for other machines, it starts only if the project has an owner with a password.
    """
    check_installed()
    if demo == bool(project):
        raise InputError("give either a project or --demo", fix="run karat serve project.db")
    from karat.cli.show import print_notes
    from karat.web import (
        Settings,
        check_open,
        close_app,
        create_app,
        listen,
        make_server,
        owner_link,
        until_stopped,
    )
    from karat.web.operation import log_config

    with until_stopped(), ExitStack() as stack:
        place = demo_project(stack) if demo else project
        listening = stack.enter_context(listen(host, port))
        port = listening.getsockname()[1]
        settings = Settings(
            place, host, port, public_url, prefix, tuple(proxy or ()), lease_seconds=60 * lease,
            published=published, demo=demo,
        )  # fmt: skip
        web = create_app(settings)
        stack.callback(close_app, web)
        if owner:
            add_owner(web.state.accounts, owner)
        check_open(web.state.accounts, settings)
        # Load it now: the first request must not wait for it, and a missing one must be reported here.
        web.state.project.benchmark()
        print_notes(web.state.project.notes)
        announce(web.state.project.where, settings, owner_link(web.state.accounts, settings))
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


def add_owner(accounts: Accounts, name: str) -> None:
    """Create an owner with a password that is typed here: an option would be visible to others."""
    from karat.judging.store.accounts import MIN_PASSWORD, OWNER

    accounts.users.add(name, OWNER, ask_password(f"Password for {name}, at least {MIN_PASSWORD} characters"))


def ask_password(prompt: str) -> str:
    """Return a password that is typed twice; without a terminal, read the first line of standard input."""
    if sys.stdin.isatty():
        return typer.prompt(prompt, hide_input=True, confirmation_prompt=True)
    print("note: there is no terminal, so the password is read from standard input", file=sys.stderr)
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise InputError(
            "the password is empty", fix="run it in a terminal, or pass the password on standard input"
        )
    return password


def announce(place: str, settings: Settings, link: str | None) -> None:
    """Print the address of the pages, and the owner's link."""
    print(f"{place}: {settings.address}", flush=True)
    if link is not None:
        print(f"owner's link (works once): {link}", flush=True)
    print("stop with Ctrl+C", flush=True)
