"""A summariser: one text for all captions of an image, so that a model of texts is applied once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from karat._util import Registry, import_all
from karat.models.encoder import Encoder


class Summariser(Protocol):
    """Makes one text of several."""

    def summarise(self, groups: Sequence[Sequence[str]]) -> list[str]:
        """Return one text per group; every group has at least one text."""


SUMMARISERS: Registry[Callable[[str, Encoder], Summariser]] = Registry(
    "summariser", fill=lambda: import_all("karat.models.summarisers"), group="karat.summarisers"
)
"""What makes a summariser, given what follows its name and a colon, and the model that it is for."""


def load_summariser(name: str | Summariser | Any, encoder: Encoder) -> Summariser:
    """Return a summariser by its name, such as ``extractive`` or ``transformers:FOLDER``; an object stays."""
    if not isinstance(name, str):
        return name
    kind, _, rest = name.partition(":")
    return SUMMARISERS[kind](rest, encoder)
