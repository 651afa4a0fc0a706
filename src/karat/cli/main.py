"""The command ``karat``: parse, call the library, print."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from karat.cli import benchmarks, evaluate, measures
from karat.validation import KaratError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Score image–text retrieval honestly when labels are incomplete and noisy.",
)
for command in (evaluate, benchmarks, measures):
    app.registered_commands += command.app.registered_commands


def show_version(asked: bool) -> None:
    """Print the version and stop."""
    if asked:
        import karat

        typer.echo(f"karat {karat.__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""
    if debug:
        os.environ["KARAT_DEBUG"] = "1"


def main() -> None:
    """Run the command line: exit code 0 when done, 2 for wrong input in one line, 1 for a bug."""
    try:
        app()
    except KaratError as error:
        if os.environ.get("KARAT_DEBUG"):
            raise
        print(f"karat: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
