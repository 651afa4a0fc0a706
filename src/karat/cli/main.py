"""The command ``karat``: parse, call the library, print."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Iterable, Mapping
from functools import cache
from types import ModuleType
from typing import Annotated, Any

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
    estimate,
    evaluate,
    explain,
    filter,
    fit,
    fuse,
    inspect,
    judge,
    leaderboard,
    measures,
    next,
    normalise,
    parse,
    perturb,
    plan,
    pool,
    publish,
    quality,
    report,
    restore,
    robustness,
    rules,
    search,
    serve,
    simulate,
    tasks,
    train,
    world,
)
from karat.cli.command import Group
from karat.cli.streams import guarded_streams, orderly_end
from karat.errors import KaratError

PANELS = {
    "Every day": (evaluate, compare, report, inspect, convert, benchmarks, measures, serve),
    "Scores": (explain, rules, leaderboard, curve, correlate, agree),
    "Estimates": (plan, next, estimate, simulate),
    "Captions": (captions, parse, filter, perturb, robustness),
    "Models": (fit, train, encode, search, fuse, normalise),
    "Judging": (pool, tasks, answers, quality, judge, publish, bias, backup, restore),
    "Data": (world,),
}
"""The commands in the order of the help, under its headings."""
ORDER = [module.__name__.rpartition(".")[2] for modules in PANELS.values() for module in modules]


class MainGroup(Group):
    """The command ``karat`` itself."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the commands in the order of the help."""
        return sorted(super().list_commands(ctx), key=ORDER.index)


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


def joined(panels: Mapping[str, Iterable[ModuleType]]) -> typer.Typer:
    """Return the command line with the commands of these modules."""
    made = typer.Typer(
        cls=MainGroup,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        help="Score image–text retrieval when labels are incomplete and noisy.\n\n"
        "Start with:  karat evaluate sims.npy -b coco",
        epilog="karat COMMAND --help shows the options of a command.",
    )
    made.callback()(options)
    for panel, modules in panels.items():
        for module in modules:
            for info in (*module.app.registered_commands, *module.app.registered_groups):
                info.rich_help_panel = panel
            made.registered_commands += module.app.registered_commands
            made.registered_groups += module.app.registered_groups
    return made


app = joined(PANELS)


@cache
def built(name: str | None) -> Any:
    """Return the command line, with a single command when its name is given.

    Typer reads the signatures of all commands, which takes longer than most commands take to start. After the
    name of a command no other can be meant.
    """
    if name is None:
        return typer.main.get_command(app)
    of_name = f"{__package__}.{name}"
    alone = {panel: [one for one in modules if one.__name__ == of_name] for panel, modules in PANELS.items()}
    return typer.main.get_command(joined(alone))


def main() -> None:
    """Run the command line: exit code 0 when done, 2 for wrong input in one line, 1 for a bug.

    A signal that ends it gives 128 and its number, as in a shell: 130 for Ctrl+C.
    """
    with guarded_streams(), orderly_end():
        run()


def run() -> None:
    """Run a command, and print its error in one line."""
    try:
        word = sys.argv[1] if len(sys.argv) > 1 else ""
        # Not standalone: typer would frame its own messages in boxes of several lines.
        code = built(word if word in ORDER else None).main(prog_name="karat", standalone_mode=False)
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


def fail(sentence: str) -> None:
    """Print one line on standard error and stop with exit code 2."""
    print(f"karat: {' '.join(sentence.split())}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
