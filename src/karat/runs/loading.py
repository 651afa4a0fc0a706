"""Loading: what a file or an array of scores does not say about itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from karat._util import check_choice
from karat.errors import InputError
from karat.runs.id_files import Order, check_order
from karat.runs.table import SIMILARITIES


@dataclass(frozen=True, eq=False)
class Loading:
    """How runs are read where they are files or arrays; every verb that takes runs takes one.

    Parameters
    ----------
    name
        A name for each run; by default the name of its file.
    ids
        The order of rows and columns, as `karat.load_run` takes it.
    similarity
        For embeddings: "dot", or "cosine", which scales vectors to length 1.
    transpose
        Score tables are captions by images.

    Examples
    --------
    >>> Loading(similarity="cosine").similarity
    'cosine'
    """

    name: Iterable[str] | str | None = None
    ids: Order | None = field(default=None, repr=False)
    similarity: str = "dot"
    transpose: bool = False

    def __post_init__(self) -> None:
        # A wrong choice raises here, before anything is read.
        check_choice(self.similarity, SIMILARITIES, "similarity")
        if self.ids is not None:
            check_order(self.ids)
        if self.name is not None and not isinstance(self.name, str):
            object.__setattr__(self, "name", tuple(self.name))
            check_names(self.name)


def check_names(names: Iterable[str]) -> None:
    """Raise where two runs have the same name: what is computed of them could not be told apart."""
    known: set[str] = set()
    for name in names:
        if name in known:
            raise InputError(f"two runs are called {name!r}", fix="name them: --name A,B, or name= in Python")
        known.add(name)
