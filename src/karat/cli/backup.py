"""``karat backup``: a copy of a project, also while a server writes into it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import plural

app = typer.Typer()


@app.command()
def backup(
    project: Annotated[
        str, typer.Argument(help="The project: a file, or postgresql://…", show_default=False)
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Copy a project to a file while people go on judging.

    The copy is of one moment and complete, or it is not there at all. It holds everything, the accounts
    included: only you can read it; keep it so. For PostgreSQL, pg_dump must be installed.
    """
    from karat.judging.store import back_up

    done = back_up(project, output, force)
    held = "" if done.answers is None else f" with {plural(done.answers, 'row')} of answers"
    print(f"wrote {done.path}{held}, {done.size / 2**20:.1f} MB; to use it: {done.restore}")
