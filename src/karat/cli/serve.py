"""``karat serve``: the pages where people judge, on this machine or for others."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat._util import missing
from karat.cli.command import Command
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.judging.store.accounts import Accounts
    from karat.web import Settings

app = typer.Typer()
TURN = 0.0005
"""For how many seconds a thread may keep the interpreter while others wait: a tenth of Python's choice."""
NEEDED = ("fastapi", "uvicorn", "argon2", "sqlalchemy", "alembic")


@app.command(cls=Command)
def serve(
    project: Annotated[
        str,
        typer.Argument(
            metavar="PROJECT", help="A project's file, or its postgresql:// address.", show_default=False
        ),
    ] = "",
    host: Annotated[str, typer.Option(help="Where to listen; 0.0.0.0 is everywhere.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="On which port; 0 takes a free one.")] = 8765,
    public_url: Annotated[
        str, typer.Option(help="The address that people type, such as https://judge.example.org/karat.")
    ] = "",
    prefix: Annotated[
        str, typer.Option(help="The path below which all pages lie, if --public-url has none.")
    ] = "",
    proxy: Annotated[
        list[str] | None,
        typer.Option(help="The address of a reverse proxy whose X-Forwarded-For and -Proto are believed."),
    ] = None,
    owner: Annotated[
        str, typer.Option(help="Make an owner of this name first; the password is asked for.")
    ] = "",
    published: Annotated[
        str, typer.Option(help="The folder for what is published; without it, download before it stops.")
    ] = "",
    lease: Annotated[
        float, typer.Option(help="For how many minutes a task is held.", min=1, max=1440)
    ] = 30.0,
    log_level: Annotated[
        str,
        typer.Option(help="What is logged, as lines of json: info has every request.", show_default=False),
    ] = "",
    demo: Annotated[bool, typer.Option("--demo", help="Make a small world and serve that.")] = False,
) -> None:
    """Serve the judging page and the dashboard of a project.

    Only this machine can reach it unless --host says otherwise, and then it does not start before there is an
    owner with a password. The owner comes in by a link that is printed here and works once.
    """
    check_installed()
    if demo == bool(project):
        raise InputError("give either a project or --demo", fix="karat serve project.db")
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
        # Nobody should wait for it, nor find out later that it is gone.
        web.state.project.benchmark()
        announce(web.state.project.where, settings, owner_link(web.state.accounts, settings))
        # Threads that come back from the database get their turn sooner: a lease is a dozen short queries.
        sys.setswitchinterval(TURN)
        make_server(web, settings, log_config(level_of(log_level, settings))).run([listening])


def check_installed() -> None:
    """Raise, with the command that helps, when a package is missing."""
    from importlib.util import find_spec

    for name in NEEDED:
        if find_spec(name) is None:
            raise missing(name, extra_name="web")


def level_of(given: str, settings: Settings) -> str:
    """Return what is logged: if it is not said, what goes wrong, and for others every request."""
    from karat._util import check_choice

    default = "info" if settings.public else "warning"
    return check_choice(given or default, ("debug", "info", "warning", "error"), "--log-level").upper()


def demo_project(stack: ExitStack) -> str:
    """Make the demonstration in a folder that is removed in the end, and return its project."""
    from tempfile import TemporaryDirectory

    from karat.cli.show import waiting
    from karat.web import make_demo

    folder = stack.enter_context(TemporaryDirectory(prefix="karat-demo-"))
    with waiting("making a world"):
        return str(make_demo(Path(folder)))


def add_owner(accounts: Accounts, name: str) -> None:
    """Make an owner with a password that is typed here, not given as an option that others could see."""
    from karat.judging.store.accounts import LEAST, OWNER

    accounts.users.add(name, OWNER, ask_password(f"A password for {name}, at least {LEAST} characters"))


def ask_password(prompt: str) -> str:
    """Return a password that is typed twice; without a terminal, the first line of standard input."""
    if sys.stdin.isatty():
        return typer.prompt(prompt, hide_input=True, confirmation_prompt=True)
    print("note: there is no terminal: the password is read from standard input", file=sys.stderr)
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise InputError("there is no password", fix="run it in a terminal, or give it on standard input")
    return password


def announce(place: str, settings: Settings, link: str | None) -> None:
    """Say where the pages are, and how the owner comes in."""
    print(f"{place}: {settings.address}", flush=True)
    if link is not None:
        print(f"the owner's link, which works once: {link}", flush=True)
    print("stop with Ctrl+C", flush=True)
