"""The command ``karat``: parse, call the library, print."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Annotated, Any

import typer

from karat.cli import (
    agree,
    benchmarks,
    board,
    captions,
    compare,
    convert,
    detections,
    encode,
    estimate,
    evaluate,
    explain,
    fit,
    fuse,
    inspect,
    measures,
    normalise,
    perturb,
    plan,
    project,
    report,
    robustness,
    rules,
    search,
    serve,
    settings,
    simulate,
    train,
    world,
)
from karat.cli.command import Command, Group, alone
from karat.cli.streams import guarded_streams, orderly_end, warnings_as_notes
from karat.errors import KaratError, printable

PANELS = {
    "Scores": (evaluate, compare, report, explain, rules, robustness, agree),
    "Runs": (inspect, convert, normalise, fuse),
    "Models": (fit, train, encode, search),
    "True scores from few labels": (estimate, plan, simulate, detections),
    "Judging": (project, serve),
    "Captions": (captions, perturb),
    "Data and settings": (benchmarks, measures, board, world, settings),
}
"""The commands and groups of commands in the order of the help, under its headings."""


def show_version(asked: bool) -> None:
    """Print the version and stop."""
    if asked:
        import karat

        typer.echo(f"karat {karat.__version__}")
        raise typer.Exit


def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Take the options that come before a command."""
    if debug:
        os.environ["KARAT_DEBUG"] = "1"


def named(module: ModuleType) -> str:
    """Return what the command or the group of a module is called."""
    return module.__name__.rpartition(".")[2]


@cache
def built(name: str | None = None, inner: str = "") -> Any:
    """Return the command line; with the name of a command that alone, of a group with one of its commands."""
    made = typer.Typer(
        cls=Group,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        help="Score image–text retrieval when labels are incomplete and noisy.\n\n"
        "Start with:  karat evaluate sims.npy -b coco",
        epilog="karat COMMAND --help shows the options of a command.",
    )
    made.callback()(options)
    for panel, modules in PANELS.items():
        for module in modules:
            if name not in (None, named(module)):
                continue
            if module.app.info.cls is Group:
                made.add_typer(alone(module.app, inner), name=named(module), rich_help_panel=panel)
            else:
                for info in module.app.registered_commands:
                    info.rich_help_panel = panel
                made.registered_commands += module.app.registered_commands
    return typer.main.get_command(made)


def every_command() -> dict[tuple[str, ...], Command]:
    """Return every command by its words after ``karat``."""
    found: dict[tuple[str, ...], Command] = {}

    def walk(command: Any, words: tuple[str, ...]) -> None:
        for word, one in getattr(command, "commands", {}).items():
            walk(one, (*words, word))
        if isinstance(command, Command):
            found[words] = command

    walk(built(), ())
    return found


def main(process: bool = False) -> None:
    """Run the command line: exit code 0 when done, 2 for wrong input in one line, 1 for a bug.

    A signal that ends it gives 128 and its number, as in a shell: 130 for Ctrl+C. With `process`, the process
    is there for this alone and ends in a moment then, whatever its threads do.
    """
    with guarded_streams(), orderly_end(process), warnings_as_notes():
        run()


def program() -> None:
    """Run the command line as a process of its own."""
    main(process=True)


def run() -> None:
    """Run a command, and print its error in one line."""
    try:
        # Not standalone: typer would frame its own messages in boxes of several lines.
        command = needed(sys.argv[1:])
        code = command.main(prog_name="karat", standalone_mode=False, obj=every_command)
        # What cannot be printed is an error too.
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except KaratError as error:
        if os.environ.get("KARAT_DEBUG"):
            traceback.print_exc()
            sys.exit(2)
        fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(128 + signal.SIGINT)
    except Exception as error:
        # What typer says of a wrong option or argument has this method; anything else is a bug.
        if not hasattr(error, "format_message"):
            raise
        message = error.format_message().rstrip(".")
        if not message:
            # Called without a command: the help was printed.
            sys.exit(2)
        context = getattr(error, "ctx", None)
        fail(f"{message}; see {context.command_path if context else 'karat'} --help.")


def needed(words: Sequence[str]) -> Any:
    """Return the command line with what the words name: after the name of a command no other can be meant."""
    first, inner = [*words, "", ""][:2]
    known = {named(module) for modules in PANELS.values() for module in modules}
    return built(first, inner) if first in known else built()


def fail(sentence: str) -> None:
    """Print one line on standard error and stop with exit code 2."""
    print(f"karat: {printable(' '.join(sentence.split()))}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    program()
