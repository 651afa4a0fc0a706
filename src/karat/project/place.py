"""Where a project is: an open one is used as it is, one that is named is opened and closed again."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from karat._util import keeping
from karat.errors import KaratWarning

if TYPE_CHECKING:
    from karat.store import Project

RUN_AGAIN = "the same command can be run again"

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def opened(project: Project | str | Path) -> Iterator[Project]:
    """Yield a project that is open, or open the one of a file or an address for the block.

    What happened to it when it was opened, such as a migration, is a `karat.errors.KaratWarning`.
    """
    if not isinstance(project, str | Path):
        yield project
        return
    from karat.store import open_project

    # Whatever it has stored so far is whole: each change is one transaction.
    with open_project(project) as here, keeping(lambda: "nothing of the project lost", RUN_AGAIN):
        for note in here.notes:
            warnings.warn(note, KaratWarning, stacklevel=3)
        yield here


def takes_place(
    function: Callable[Concatenate[Project, P], T],
) -> Callable[Concatenate[Project | str | Path, P], T]:
    """Let a function whose first argument is an open project take its file or address, too."""

    @functools.wraps(function)
    def called(project: Any, *args: P.args, **keywords: P.kwargs) -> T:
        with opened(project) as here:
            return function(here, *args, **keywords)

    return called
