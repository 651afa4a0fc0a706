"""Changes of words: what was changed in a caption and where, so that every new query can be traced back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

REPAIR = "repair"
"""The kind of changes that only keep the grammar: *a* to *an*, *is* to *are*."""


@dataclass(frozen=True)
class WordChange:
    """One change in the text of a caption.

    Parameters
    ----------
    word
        The word that was changed, in lower case.
    position
        Where it begins in the old text, in characters.
    kind
        The perturbation, or "repair" for what only keeps the grammar.
    old, new
        What was there and what replaces it, as written.
    """

    word: str
    position: int
    kind: str
    old: str
    new: str


@dataclass(frozen=True)
class PerturbedQuery:
    """A caption before and after.

    Parameters
    ----------
    caption
        Its id.
    old, new
        The text before and after.
    changes
        In the order of the old text; empty where nothing was changed.
    """

    caption: str
    old: str
    new: str
    changes: tuple[WordChange, ...]


def apply_changes(text: str, changes: Iterable[WordChange]) -> str:
    """Return a text with changes applied; raise ValueError where one does not fit it.

    >>> apply_changes("a red bus", [WordChange("red", 2, "colour", "red", "blue")])
    'a blue bus'
    """
    parts, end = [], 0
    for change in changes:
        if change.position < end or not text.startswith(change.old, change.position):
            raise ValueError(f"{change.old!r} is not at {change.position}")
        parts += [text[end : change.position], change.new]
        end = change.position + len(change.old)
    return "".join([*parts, text[end:]])
