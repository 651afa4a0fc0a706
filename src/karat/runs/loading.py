"""Loading: what a file or an array of scores does not say about itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from karat.runs.id_files import Order


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
