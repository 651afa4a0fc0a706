"""What the commands share: lists after an option, one sentence for an error, where tables are printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from karat.errors import InputError


class ListCommand(TyperCommand):
    """A command whose repeatable options take several values: ``--names A B`` is ``--names A --names B``.

    A value that looks like a run's file belongs to the files again.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before each of its values."""
        lists = {name for param in self.params if getattr(param, "multiple", False) for name in param.opts}
        out: list[str] = []
        current = None
        for arg in args:
            option, equals, value = arg.partition("=")
            if equals and option in lists:
                current = option
                out += [option, value]
            elif arg.startswith("-") and len(arg) > 1 and not is_number(arg):
                current = arg if arg in lists else None
                out.append(arg)
            elif current is None or (out[-1] != current and is_run_file(arg)):
                current = None
                out.append(arg)
            else:
                out += [arg] if out[-1] == current else [current, arg]
        return super().parse_args(ctx, out)


def is_number(text: str) -> bool:
    """Whether a word that starts like an option is a negative number.

    >>> is_number("-1.5"), is_number("-o")
    (True, False)
    """
    return re.fullmatch(r"-\d*\.?\d+", text) is not None


def is_run_file(text: str) -> bool:
    """Whether a value looks like a run's file; ``NAME=FILE`` is a setting unless there is such a file.

    >>> is_run_file("sims.npz"), is_run_file("cxc_ratings=sits.csv"), is_run_file("R@1")
    (True, False, False)
    """
    # Late: the readers load numpy, which `--help` need not wait for.
    from karat.runs import READERS

    path = Path(text)
    # Tables of ratings may be plain text.
    return (path.suffix in READERS or path.suffix.lower() == ".txt") and ("=" not in text or path.exists())


def split_names(given: list[str] | None) -> list[str] | None:
    """Return names given one by one or separated by commas; commas inside parentheses stay.

    >>> split_names(["R@1,RP", "SR(cider, m=10)@5"])
    ['R@1', 'RP', 'SR(cider, m=10)@5']
    """
    if not given:
        return None
    return [name.strip() for text in given for name in re.split(r",(?![^()]*\))", text) if name.strip()]


def parse_settings(given: list[str] | None) -> dict[str, str]:
    """Return ``NAME=VALUE`` settings as a dictionary.

    >>> parse_settings(["cxc_ratings=sits_test.csv"])
    {'cxc_ratings': 'sits_test.csv'}
    """
    settings = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"{text!r} is no setting", fix="write NAME=VALUE")
        settings[name.strip()] = value.strip()
    return settings
