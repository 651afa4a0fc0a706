"""Captions joined to one text, with blanks between them: nothing is left out."""

from __future__ import annotations

from collections.abc import Sequence

from karat.errors import InputError
from karat.models.encoder import Encoder
from karat.models.summariser import SUMMARISERS


class JoinedCaptions:
    """All captions as one text: a model reads them at once, up to the length that it can read.

    >>> JoinedCaptions().summarise([["a dog runs .", "a dog ."]])
    ['a dog runs . a dog .']
    """

    def summarise(self, groups: Sequence[Sequence[str]]) -> list[str]:
        """Return one text per group."""
        return [" ".join(group) for group in groups]


def make(rest: str, encoder: Encoder) -> JoinedCaptions:
    """Return the summariser; it takes nothing after its name."""
    if rest:
        raise InputError(f"joined is followed by {rest!r}", fix="write joined alone")
    return JoinedCaptions()


SUMMARISERS.add("joined", make)
