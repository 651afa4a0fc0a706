"""``karat serve``: the judging page and the dashboard, on this machine or for others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import require
from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()
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
            "keeps their password, unless the account came with a project from another machine."
        ),
    ] = "",
    password_file: Annotated[
        Path | None,
        typer.Option(
            help="Read the new owner's password from the first line of this file; the environment variable "
            "KARAT_OWNER_PASSWORD is read too.",
            show_default=False,
        ),
    ] = None,
    disable: Annotated[
        list[str] | None,
        typer.Option(help="Disable the account with this name and revoke its links first.", metavar="NAME"),
    ] = None,
    confirm: Annotated[
        bool,
        typer.Option(
            "--confirm",
            help="Let accounts and links that were not made on this machine have their rights: the project "
            "is your own, moved, restored, or of an older version.",
        ),
    ] = False,
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
    require(*NEEDED, extra_name="web")
    from karat._util import unhurried
    from karat.cli.show import print_notes
    from karat.web import serve

    with unhurried("the server"):
        serve(
            project, run or (), host=host, port=port, public_url=public_url, prefix=prefix, proxy=proxy or (),
            owner=owner, password_file=password_file, disable=disable or (), confirm=confirm,
            published=published, lease=lease, log_level=log_level, demo=demo, tell=print_notes,
        )  # fmt: skip
