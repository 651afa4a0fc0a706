"""Plug-ins: what other installed packages register, found by their entry points.

A plug-in is a module that registers things with the same calls as karat's own files. An entry point of a
group such as ``karat.measures`` names it. The plug-ins of a group are loaded once, when a name is unknown or
names are listed, and never while the names that are asked for are known.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from karat.errors import PlugInWarning

# Late: it takes longer than all of `import karat`.
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OWN = "karat"
"""The origin of what karat itself registers."""


class NameTakenError(ValueError):
    """A name that something else is registered under."""


@dataclass(frozen=True)
class PlugIn:
    """A plug-in that is being loaded, and what it has registered so far.

    Parameters
    ----------
    origin
        The distribution and its version.
    undo
        What takes back each registration.
    groups, modules
        The groups of the registries, and the modules that registered.
    """

    origin: str
    undo: list[Callable[[], object]] = field(default_factory=list)
    groups: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)


_loading: ContextVar[PlugIn | None] = ContextVar("loading", default=None)
_lock = threading.RLock()
_begun: set[str] = set()
_done: set[str] = set()


def origin_here() -> str:
    """Return who registers something now: karat, the plug-in that is being loaded, or another module.

    What karat's files register stays karat's when a plug-in is the first to import them.
    """
    module, loading = importing_module(), _loading.get()
    if module.partition(".")[0] == OWN:
        return OWN
    return module if loading is None else loading.origin


def importing_module() -> str:
    """Return the innermost module that is being imported, or the program."""
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


def note_registration(origin: str, group: str, undo: Callable[[], object]) -> None:
    """Remember how to take back what the plug-in that is being loaded has registered."""
    loading = _loading.get()
    if loading is not None and loading.origin == origin:
        loading.undo.append(undo)
        loading.groups.add(group)
        loading.modules.add(importing_module())


def load_plug_ins(group: str) -> None:
    """Load the plug-ins of a group if that was not done yet; each one that fails is a warning."""
    if group in _done:
        return
    with _lock:
        # Begun and not done: a plug-in that is being loaded looks something up.
        if group in _begun:
            return
        _begun.add(group)
        try:
            faults = [fault for point in entry_points_of(group) if (fault := load_plug_in(point))]
        except Exception as error:
            faults = [f"the entry points of installed packages cannot be read: {described(error)}"]
        _done.add(group)
    for fault in faults:
        warnings.warn(fault, PlugInWarning, stacklevel=2)


@cache
def installed() -> Any:
    """Return all entry points: a help text lists several registries, and the packages are read once."""
    from importlib.metadata import entry_points

    return entry_points()


def entry_points_of(group: str) -> Iterable[EntryPoint]:
    """Return the entry points of a group, in an order that does not depend on the order of installation."""
    return sorted(installed().select(group=group), key=lambda point: (origin_of(point), point.name))


def origin_of(point: EntryPoint) -> str:
    """Return the distribution of an entry point and its version."""
    distribution = point.dist
    return point.module if distribution is None else f"{distribution.name} {distribution.version}"


def load_plug_in(point: EntryPoint) -> str:
    """Load a plug-in; return what is wrong with it, or "". One that fails leaves nothing registered."""
    loading = PlugIn(origin_of(point))
    who = f"the plug-in {point.name} of {loading.origin} ({point.group})"
    before = set(sys.modules)
    token = _loading.set(loading)
    try:
        # What it prints must not get into what a command writes there, such as json.
        with redirect_stdout(sys.stderr):
            point.load()
    except BaseException as error:
        for undo in reversed(loading.undo):
            undo()
        # Another entry point may name one of them, and must find it as new.
        for module in {*loading.modules, point.module} - before:
            sys.modules.pop(module, None)
        if not isinstance(error, Exception | SystemExit):
            raise
        return f"{who} is left out: {described(error)}"
    finally:
        _loading.reset(token)
    # A module may serve several groups; what it holds is registered when it is first imported.
    if point.module not in before and point.group not in loading.groups:
        return f"{who} registers nothing of this kind"
    return ""


def described(error: BaseException) -> str:
    """Return an error in one line.

    >>> described(ImportError("no module named toys"))
    'ImportError: no module named toys'
    """
    kind = "" if isinstance(error, NameTakenError) else f"{type(error).__name__}: "
    return kind + " ".join(str(error).split())
