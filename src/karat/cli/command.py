"""Commands and groups of commands: how their words are read, and how their help looks."""

from __future__ import annotations

import io
import itertools
import shlex
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from karat._util import split_names
from karat.cli.choices import filled, unfilled
from karat.errors import InputError, MissingDataError

WHOLE = ("NAME=VALUE", "CAPTION", "MODEL")
"""The metavars of options that are repeated but not separated by commas: commas belong to the value."""
FILES = ("FILE...", "BEFORE AFTER...")
"""The metavars of arguments that are files which exist."""
METAVARS = {int: "N", float: "X", Path: "FILE"}
"""The placeholder of a value in the help, by its type; other values are names."""
INPUT = "Input"
MODEL = "The model"
SCORED = "What is scored"
JUDGE = "The machine judge"
ANSWERS = "Which answers count"
REVIEW = "Review of assignments"
COST = "Tasks and their cost"
SURE = "Intervals and tests"
ESTIMATED = "What is estimated"
OUTPUT = "Output"
OTHER = "Other"
PANELS = (INPUT, MODEL, SCORED, ESTIMATED, JUDGE, ANSWERS, REVIEW, COST, SURE, OUTPUT, OTHER)
"""The panels of a command's help, in order; options without one come before them."""


def silence(ctx: typer.Context, value: bool) -> None:
    """Send standard output nowhere for as long as the command runs."""
    if value and not ctx.resilient_parsing:
        ctx.with_resource(redirect_stdout(io.StringIO()))


def every_command(
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            callback=silence,
            expose_value=False,
            rich_help_panel=OTHER,
            help="Print nothing; only write the requested files.",
        ),
    ] = False,
) -> None:
    """Take the options that all commands have."""


def every_benchmark(
    qrels: Annotated[
        Path | None,
        typer.Option(
            "--qrels",
            expose_value=False,
            rich_help_panel=INPUT,
            help="TREC qrels as the benchmark: short for -b trec --set qrels=FILE.",
        ),
    ] = None,
) -> None:
    """Take the options that all commands with a benchmark and its settings have."""


@cache
def shared_params(holder_of: Callable[..., None]) -> list[Any]:
    """Return the options of a function that only holds them."""
    holder = typer.Typer(add_completion=False)
    holder.command()(holder_of)
    return typer.main.get_command(holder).params


class Command(TyperCommand):
    """A command whose options may be repeated or take several values separated by commas.

    ``-m R@1,RP`` and ``-m R@1 -m RP`` are the same.
    """

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        names = {name for param in self.params for name in param.opts}
        more = shared_params(every_benchmark) if names >= {"--benchmark", "--set"} else []
        self.params = [*self.params, *more, *shared_params(every_command)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Bring the words into the form that typer reads: one value per option."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        words = self.one_by_one(self.with_qrels(args))
        if any(param.metavar in FILES for param in self.params):
            self.check_files(words)
        return super().parse_args(ctx, words)

    def with_qrels(self, args: list[str]) -> list[str]:
        """Return the words with the benchmark ``trec`` and its setting in place of ``--qrels``."""
        if "--qrels" not in {name for param in self.params for name in param.opts}:
            return args
        words, file = list[str](), None
        rest = iter(args)
        for word in rest:
            if word == "--":
                words += [word, *rest]
            elif word == "--qrels" or word.startswith("--qrels="):
                file = word.partition("=")[2] or next(rest, None)
            else:
                words.append(word)
        if not file:
            return args
        named = [word for word in words if word in ("-b", "--benchmark") or word.startswith("--benchmark=")]
        if named:
            raise InputError("--qrels names the benchmark", fix=f"leave out {named[0]}")
        return ["--benchmark", "trec", "--set", f"qrels={file}", *words]

    def one_by_one(self, args: list[str]) -> list[str]:
        """Return the words with one value per option."""
        several = {name: param for param in self.params if is_repeatable(param) for name in param.opts}
        takes_value = {name for param in self.params if not is_flag(param) for name in param.opts}
        words: list[str] = []
        rest = iter(args)
        for word in rest:
            option, equals, value = word.partition("=")
            if word[:2] in several and word[:2] != "--" and len(word) > 2:
                # -mR@1
                option, equals, value = word[:2], "=", word[2:].removeprefix("=")
            if word == "--":
                words += [word, *rest]
                break
            if option in several and (equals or word == option):
                given = value if equals else next(rest, None)
                words += [option] if given is None else spread(option, given, several[option])
            else:
                words.append(word)
                if word in takes_value:
                    words += itertools.islice(rest, 1)
        return words

    def check_files(self, words: list[str]) -> None:
        """Raise where values of an option are followed by a word that is no file but may be a value."""
        options = {name: param for param in self.params if not is_flag(param) for name in param.opts}
        option, values = "", list[str]()
        rest = iter(words)
        for word in rest:
            if word == "--":
                return
            if word in options:
                listed = is_repeatable(options[word]) and separable(options[word])
                values = [*(values if word == option else []), next(rest, "")]
                option = word if listed else ""
            else:
                if option:
                    check_file(word, option, values)
                option, values = "", []

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments, dressed for the help."""
        return dressed(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line."""
        arguments = [param for param in self.get_params(ctx) if param.param_type_name == "argument"]
        shown = [param for param in arguments if not param.hidden]
        return ["[OPTIONS]", *(p.metavar if p.required else f"[{p.metavar}]" for p in shown)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the help with its placeholders filled."""
        params = self.get_params(ctx)
        written = self.help, [param.help for param in params]
        # typer keeps the line breaks of all paragraphs but the first.
        paragraphs = [" ".join(text.split()) for text in filled(self.help or "").split("\n\n")]
        self.help = "\n\n".join(paragraphs)
        for param in params:
            param.help = filled(param.help or "")
        super().format_help(ctx, formatter)
        # What fills them may be another the next time.
        self.help = written[0]
        for param, text in zip(params, written[1]):
            param.help = text

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return what the shell may offer next."""
        items = super().shell_complete(ctx, incomplete)
        for item in items:
            item.help = unfilled(item.help or "")
        return items


class Group(TyperGroup):
    """A command with subcommands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, dressed for the help."""
        return dressed(super().get_params(ctx))


def is_flag(param: Any) -> bool:
    """Whether a parameter is an option without a value."""
    return bool(getattr(param, "is_flag", False))


def is_repeatable(param: Any) -> bool:
    """Whether a parameter is an option that may be given several times."""
    return bool(getattr(param, "multiple", False))


def separable(param: Any) -> bool:
    """Whether commas separate the values of an option."""
    return param.metavar not in WHOLE


def spread(option: str, given: str, param: Any) -> list[str]:
    """Return the option before each of the values that a word holds."""
    values = split_names(given) or [given] if separable(param) and not Path(given).exists() else [given]
    return [part for value in values for part in (option, value)]


def check_file(word: str, option: str, values: list[str]) -> None:
    """Raise for a word in the place of a file that looks like a further value of the option before it.

    >>> check_file("RP", "-m", ["R@1"])
    Traceback (most recent call last):
    karat.errors.MissingDataError: RP: there is no such file; separate values of -m by commas: -m R@1,RP.
    """
    named = word.startswith("-") or ":" in word or Path(word).suffix[1:].isalpha()
    if not named and not Path(word).exists():
        raise MissingDataError(
            "there is no such file",
            where=word,
            fix=f"separate values of {option} by commas: {option} {shlex.quote(','.join([*values, word]))}",
        )


def dressed(params: Iterable[Any]) -> list[Any]:
    """Return options and arguments with what the help shows for their values: no types, no ranges."""
    shown = list(params)
    panels = any(panel_order(param) >= 0 for param in shown)
    for param in shown:
        if param.metavar is None:
            param.metavar = "" if is_flag(param) else metavar(param)
        if "--help" in param.opts and panels:
            param.rich_help_panel = OTHER
        # Of arguments typer shows the type beside the metavar; of numbers their range.
        if param.param_type_name == "argument":
            param.display_type_rich = lambda ctx: None
        param._get_number_range_help_str = lambda: None
    return sorted(shown, key=panel_order)


def panel_order(param: Any) -> int:
    """Return the place of a parameter in the help: arguments first, then panel by panel."""
    panel = getattr(param, "rich_help_panel", None)
    return PANELS.index(panel) if panel in PANELS else -1


def metavar(param: Any) -> str:
    """Return the placeholder of a parameter's value."""
    if param.param_type_name == "argument":
        return str(param.name).upper()
    kind = getattr(getattr(param, "type_descriptor", None), "annotation", str)
    return METAVARS.get(getattr(kind, "__args__", (kind,))[0], "NAME")
