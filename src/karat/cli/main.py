"""The command ``karat``: parse, call the library, print."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from karat.cli import (
    agree,
    answers,
    backup,
    benchmarks,
    bias,
    captions,
    compare,
    convert,
    correlate,
    curve,
    encode,
    evaluate,
    filter,
    fit,
    fuse,
    inspect,
    judge,
    leaderboard,
    measures,
    parse,
    pool,
    publish,
    quality,
    report,
    search,
    serve,
    tasks,
    world,
)
from karat.errors import KaratError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Score image–text retrieval honestly when labels are incomplete and noisy.",
)
COMMANDS = (
    evaluate, compare, report, leaderboard, curve, correlate, agree, captions, parse, filter, inspect,
    convert, fit, encode, search, fuse, pool, tasks, answers, quality, judge, publish, bias, serve,
    backup, benchmarks, measures, world,
)  # fmt: skip
for command in COMMANDS:
    app.registered_commands += command.app.registered_commands
    app.registered_groups += command.app.registered_groups


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
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character of a caption or a name shows its code.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        # Not standalone: typer would frame its own messages in boxes of several lines.
        code = typer.main.get_command(app).main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except KaratError as error:
        if os.environ.get("KARAT_DEBUG"):
            raise
        fail(str(error))
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        # What typer says of a wrong option or argument has this method; anything else is a bug.
        if not hasattr(error, "format_message"):
            raise
        message = error.format_message().rstrip(".")
        if not message:
            # Called without a command: the help was printed.
            sys.exit(2)
        fail(f"{message}; see karat --help.")


def fail(sentence: str) -> None:
    """Print one line on standard error and stop with exit code 2."""
    print(f"karat: {' '.join(sentence.split())}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
