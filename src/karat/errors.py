"""What went wrong, where, and how to fix it: the errors that karat raises on purpose.

Code that loads something raises them; code inside trusts its inputs. The command line prints
their sentence and ends with exit code 2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What a terminal obeys and does not show: control characters, and those that turn the direction of text."""


def printable(text: str, lines: bool = False) -> str:
    """Return text of a file, such as a name, an id or a caption, as what is safe to print.

    Parameters
    ----------
    text
        Any text.
    lines
        Whether it may have several lines, and tabs; otherwise it becomes one.

    Examples
    --------
    >>> printable("a\\x1b[31m\\nb"), printable("a\\x1b[31m\\nb", lines=True)
    ('a�[31m�b', 'a�[31m\\nb')
    """
    safe = text if text.isprintable() else HARMFUL.sub("�", text)
    return safe if lines else safe.replace("\n", "�").replace("\t", "�")


class KaratError(Exception):
    """An error with a message for the person who can fix it.

    Parameters
    ----------
    what
        What is wrong, naming the value.
    where
        The file, table or argument it was found in.
    fix
        How to fix it.

    Examples
    --------
    >>> print(KaratError("row 3 is NaN", where="sims.npy", fix="replace it by a number"))
    sims.npy: row 3 is NaN; replace it by a number.
    """

    def __init__(self, what: str, *, where: str | Path | None = None, fix: str | None = None) -> None:
        self.what = what
        self.where = None if where is None else str(where)
        self.fix = fix
        sentence = what if self.where is None else f"{self.where}: {what}"
        sentence = sentence if fix is None else f"{sentence}; {fix}"
        # Names and ids in it may come from a stranger's file.
        sentence = printable(sentence, lines=True)
        super().__init__(sentence if sentence.endswith(("?", ".")) else f"{sentence}.")


class InputError(KaratError, ValueError):
    """What the user gave cannot be used as it is."""


class UnknownNameError(InputError, KeyError):
    """A name that no registry, truth or column has."""

    def __str__(self) -> str:
        return str(self.args[0])


class MissingDataError(KaratError, FileNotFoundError):
    """A file or package that holds data is missing."""

    def __str__(self) -> str:
        return str(self.args[0])


class KaratWarning(UserWarning):
    """What a user should know although the work goes on; the command line prints it as a note."""

    def __str__(self) -> str:
        return printable(super().__str__(), lines=True)


class PlugInWarning(KaratWarning):
    """A plug-in that could not be loaded, or not as it wants to be; everything else works."""


def unknown_name(
    kind: str,
    name: str,
    known: Iterable[str],
    owner: str | None = None,
    where: str | Path | None = None,
) -> UnknownNameError:
    """Return the error for an unknown `name`, with the nearest known ones.

    >>> print(unknown_name("truth", "ecv", ["cxc", "eccv"], owner="coco"))
    coco has no truth 'ecv'; did you mean eccv?
    """
    import difflib

    known = list(known)
    near = difflib.get_close_matches(name.lower(), [k.lower() for k in known], n=3)
    likely = [k for k in known if k.lower() in near]
    fix = f"did you mean {' or '.join(likely)}?" if likely else f"known: {', '.join(known)}"
    what = f"unknown {kind} {name!r}" if owner is None else f"{owner} has no {kind} {name!r}"
    return UnknownNameError(what, where=where, fix=fix)
