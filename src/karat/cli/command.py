"""Commands and groups of commands: how their words are read, and how their help looks."""

from __future__ import annotations

import io
from collections.abc import Iterable
from contextlib import redirect_stdout
from copy import copy
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from karat._util import is_database, split_names
from karat.cli.choices import filled, unfilled
from karat.errors import InputError, MissingDataError
from karat.guesses import did_you_mean

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
    """Send standard output nowhere while the command runs, and print no notes; errors are printed."""
    if value and not ctx.resilient_parsing:
        from karat.cli.show import silenced

        ctx.with_resource(redirect_stdout(io.StringIO()))
        ctx.with_resource(silenced())


def every_command(
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            callback=silence,
            expose_value=False,
            rich_help_panel=OTHER,
            help="Print nothing but errors; only write the requested files.",
        ),
    ] = False,
) -> None:
    """Take the options that all commands have."""


@cache
def shared_params() -> list[Any]:
    """Return the options that all commands have."""
    holder = typer.Typer(add_completion=False)
    holder.command()(every_command)
    return typer.main.get_command(holder).params


class Command(TyperCommand):
    """A command whose options may be repeated or take several values separated by commas.

    ``-m R@1,RP`` and ``-m R@1 -m RP`` are the same.
    """

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.params = [*self.params, *shared_params()]
        for param in self.params:
            if getattr(param, "multiple", False) and param.metavar not in WHOLE:
                param.callback = separated
            elif param.metavar in FILES:
                param.callback = checked_files

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words after the command's name."""
        try:
            return super().parse_args(ctx, args)
        except TyperException as error:
            # Of an option without a value typer does not say which command has it.
            if getattr(error, "ctx", ctx) is None:
                error.ctx = ctx  # type: ignore[attr-defined]
            raise setting_not_option(error) or error from None

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

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named, or raise with those that may be meant."""
        word = args[0]
        if self.get_command(ctx, word) is None and not word.startswith("-") and not ctx.resilient_parsing:
            every = ctx.obj() if ctx.obj else [(name,) for name in self.commands]
            names = dict.fromkeys(" ".join(words[:length]) for length in (1, 2) for words in every)
            # In a group, first what the group has.
            _, _, own = ctx.command_path.partition(" ")
            inside = [name for name in names if own and name.startswith(f"{own} ")]
            asked = partial(did_you_mean, word, separator=" ", shown="`karat {}`")
            said = asked(inside) or asked(names)
            if not said and "show" in self.commands:
                said = f"did you mean `{ctx.command_path} show {word}`?"
            what = f"there is no command `{ctx.command_path} {word}`"
            raise InputError(what, fix=said or f"see {ctx.command_path} --help")
        return super().resolve_command(ctx, args)


def group(about: str, *modules: ModuleType, **keywords: Any) -> typer.Typer:
    """Return a group with the commands of modules, each of which has an `app`, in the order of the help."""
    made = typer.Typer(cls=Group, **{"no_args_is_help": True, **keywords}, help=about)
    for module in modules:
        made.registered_commands += module.app.registered_commands
    return made


def alone(made: typer.Typer, name: str) -> typer.Typer:
    """Return a group with the one command of this name, or as it is where it has none.

    Typer reads the signatures of all commands, which takes longer than most commands take to start.
    """
    chosen = [info for info in made.registered_commands if name_of(info) == name]
    one = copy(made)
    one.registered_commands = chosen or made.registered_commands
    return one


def name_of(info: Any) -> str:
    """Return what a registered command is called."""
    return info.name or info.callback.__name__.replace("_", "-")


def is_flag(param: Any) -> bool:
    """Whether a parameter is an option without a value."""
    return bool(getattr(param, "is_flag", False))


def separated(ctx: Any, param: Any, values: Any) -> list[Any] | None:
    """Return the values of an option that may be repeated, each of which may be several between commas."""
    kept = list[Any]()
    for value in values or ():
        text = str(value)
        parts = [text] if Path(text).exists() else split_names(text) or [text]
        kept += [type(value)(part) for part in parts] if isinstance(value, str | Path) else [value]
    return kept or None


def setting_not_option(error: Any) -> InputError | None:
    """Return what is wrong with an option that does not exist, if it is the name of a setting."""
    from karat._util import SETTINGS

    name = getattr(error, "option_name", "").lstrip("-").replace("-", "_")
    if name not in SETTINGS or not hasattr(error, "possibilities"):
        return None
    fix = f"set {SETTINGS[name].variable}, or {name} in karat.toml: see karat settings"
    return InputError(f"{error.option_name} is a setting of this machine", fix=fix)


def checked_files(ctx: Any, param: Any, values: Any) -> Any:
    """Raise for a project in the place of a file, and for a word that may belong to the option before it."""
    for path in values or ():
        if Path(path).is_file() and is_database(path):
            raise InputError("is a project", where=path, fix="see karat project --help for what takes one")
        word = str(path)
        named = word.startswith("-") or ":" in word or Path(word).suffix[1:].isalpha()
        if not named and not Path(word).exists():
            fix = "values of one option are separated by commas, such as -m R@1,RP"
            raise MissingDataError("there is no such file", where=word, fix=fix)
    return values


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
