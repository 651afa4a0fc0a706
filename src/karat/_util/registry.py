"""Things that are found by name.

A thing is one file that registers itself; nothing else changes when one is added. Other packages add theirs
by entry points.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from karat._util.lazy import LATER
from karat._util.plug_ins import OWN, NameTakenError, load_plug_ins, note_registration, origin_here
from karat.errors import InputError, unknown_name

T = TypeVar("T")
Kind = TypeVar("Kind", bound=Any)
F = TypeVar("F", bound=Callable[[Any], Any])

REQUIRED: Any = object()
"""Marks a parameter without a default."""

KINDS = {
    "whole": "a whole number",
    "natural": "a whole number, 1 or more",
    "float": "a number",
    "positive": "a number above 0",
    "not_negative": "a number, 0 or more",
    "yes_or_no": "yes or no",
    "name": "a name of letters, digits, - and _",
}
"""What the types of parameters are called in messages, unless they say it themselves as `valid`."""


def valid(what: str) -> Callable[[F], F]:
    """Return a decorator that says which values a `Param.type` takes.

    >>> @valid("a number above 0 and below 1")
    ... def share(value):
    ...     return float(value)
    """

    def mark(function: F) -> F:
        setattr(function, "valid", what)  # noqa: B010
        return function

    return mark


def one_of(*names: str) -> Callable[[Any], str]:
    """Return a `Param.type` that takes some names, letter case ignored.

    >>> one_of("all", "in")("ALL")
    'all'
    """

    @valid(" or ".join(names))
    def choose(value: Any) -> str:
        return {name: name for name in names}[str(value).lower()]

    return choose


def yes_or_no(value: Any) -> bool:
    """Return a yes or no, from a truth value or the word; for `Param.type`.

    >>> yes_or_no("No"), yes_or_no(True)
    (False, True)
    """
    if isinstance(value, bool):
        return value
    return {"yes": True, "no": False}[str(value).lower()]


def whole(value: Any) -> int:
    """Return a whole number from 0 to a billion, from a number or its digits; for `Param.type`.

    >>> whole("10"), whole(3)
    (10, 3)
    """
    digits = str(value)
    if isinstance(value, bool) or not (digits.isascii() and digits.isdigit()) or int(digits) > 10**9:
        raise ValueError(value)
    return int(digits)


def natural(value: Any) -> int:
    """Return a whole number, 1 or more; for `Param.type`.

    >>> natural("10")
    10
    """
    if not (number := whole(value)):
        raise ValueError(value)
    return number


def positive(value: Any) -> float:
    """Return a finite number above 0; for `Param.type`.

    >>> positive("0.5")
    0.5
    """
    if not 0 < (number := float(value)) < float("inf"):
        raise ValueError(value)
    return number


def not_negative(value: Any) -> float:
    """Return a finite number, 0 or more; for `Param.type`.

    >>> not_negative(0)
    0.0
    """
    return positive(value) if float(value) else 0.0


@dataclass(frozen=True)
class Param:
    """A parameter, declared as data: the command line's help and the docs are made from it.

    Parameters
    ----------
    name, type, help
        What it is called, what turns its text into a value, what it means.
    default
        The value when it is not given; `REQUIRED` when it must be.
    bare
        Whether names print it without its own: ``NCS(cider)@10``.
    always
        Whether names print it even where it is the default: ``RBP(p=0.8)``.
    """

    name: str
    type: Callable[[Any], Any]
    help: str
    default: Any = REQUIRED
    bare: bool = False
    always: bool = False

    def parse(self, value: Any) -> Any:
        """Return `value` as this parameter's type.

        >>> Param("k", whole, "cut-off").parse("10")
        10
        """
        try:
            if value is None and self.default is None:
                return None
            return self.type(value)
        except (KeyError, TypeError, ValueError):
            kind = getattr(self.type, "__name__", "value")
            takes = getattr(self.type, "valid", KINDS.get(kind, f"a {kind}"))
            raise InputError(f"{self.name} is {value!r}", fix=f"give {takes}") from None


def parse_params(params: Iterable[Param], owner: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of `owner`, each with its type, or raise on one that it does not have.

    >>> parse_params([Param("k", whole, "cut-off", 60)], "rrf", {"k": "10"})
    {'k': 10}
    """
    known = {param.name: param for param in params}
    for name in values:
        if name not in known:
            fix = f"it has {', '.join(known) or 'none'}"
            raise InputError(f"{owner} has no parameter {name!r}", fix=fix)
    for name, param in known.items():
        if param.default is REQUIRED and name not in values:
            raise InputError(f"{owner} needs {name} ({param.help})", fix=f"give {name}=…")
    return {name: param.parse(values.get(name, param.default)) for name, param in known.items()}


class Registry(Generic[T]):
    """Things by name and alias, letter case ignored; a name that is taken raises.

    Parameters
    ----------
    kind
        What they are, for messages.
    fill
        Called when something is first looked up: imports the files that register themselves, which
        is not done for a program that looks nothing up.
    sort
        Whether they are listed by name. Otherwise they are in the order of registration, which depends on
        what was imported first.
    group
        The entry points by which other packages add theirs, such as ``karat.measures``: their modules are
        imported when a name is unknown and when things are listed. None where this is empty.

    Examples
    --------

    >>> fruit = Registry("fruit")
    >>> _ = fruit.add("Apple", 1, aliases=["pomme"])
    >>> fruit["POMME"], list(fruit)
    (1, ['Apple'])
    >>> fruit.add("apple", 2)
    Traceback (most recent call last):
    ...
    karat._util.plug_ins.NameTakenError: fruit 'apple' is registered already, by karat
    """

    def __init__(
        self, kind: str, fill: Callable[[], object] | None = None, sort: bool = False, group: str = ""
    ) -> None:
        self.kind, self.sort, self.group = kind, sort, group
        self._things: dict[str, T] = {}
        self._names: dict[str, str] = {}
        self._origins: dict[str, str] = {}
        self._copies: list[tuple[Registry[Any], Callable[[str], Any]]] = []
        self._fill = fill

    def _complete(self) -> None:
        # Taken away first: what is imported now looks things up itself.
        fill, self._fill = self._fill, None
        if fill is not None:
            fill()

    def _find(self, name: str) -> str | None:
        """Return the name that a name or an alias stands for; None where nothing has it."""
        self._complete()
        if name and self.group and name.lower() not in self._names:
            load_plug_ins(self.group)
        return self._names.get(name.lower())

    def add(self, name: str, thing: T, aliases: Iterable[str] = ()) -> T:
        """Register `thing` and return it."""
        return self._add(name, thing, tuple(aliases), origin_here())

    def register(self, kind: Kind) -> Kind:
        """Make a class known by its name and aliases; a name that is taken raises."""
        self.add(kind.name, kind, kind.aliases)
        return kind

    def _add(self, name: str, thing: T, aliases: tuple[str, ...], origin: str) -> T:
        if origin != OWN:
            # First karat's own, whose names nobody else can take.
            self._complete()
        labels = dict[str, str]()
        for label in (name, *aliases):
            if label.lower() in self._names or label.lower() in labels:
                owner = self._origins.get(self._names.get(label.lower(), ""), origin)
                raise NameTakenError(f"{self.kind} {label!r} is registered already, by {owner}")
            labels[label.lower()] = name
        self._names |= labels
        self._things[name], self._origins[name] = thing, origin
        note_registration(origin, self.group, lambda: self._remove(name))
        for other, make in self._copies:
            self._copy(name, other, make)
        return thing

    def _remove(self, name: str) -> None:
        del self._things[name], self._origins[name]
        self._names = {label: known for label, known in self._names.items() if known != name}

    def copy_to(self, other: Registry[Any], make: Callable[[str], Any]) -> None:
        """Register in another registry what `make` returns of each name, now and when names are added.

        Names that are taken there stay as they are.
        """
        self._complete()
        self._copies.append((other, make))
        for name in self._things:
            self._copy(name, other, make)

    def _copy(self, name: str, other: Registry[Any], make: Callable[[str], Any]) -> None:
        aliases = tuple(a for a, known in self._names.items() if known == name and a not in other._names)
        if name.lower() in aliases:
            rest = tuple(alias for alias in aliases if alias != name.lower())
            other._add(name, make(name), rest, self._origins[name])

    def __getitem__(self, name: str) -> T:
        known = self._find(name)
        if known is None:
            raise unknown_name(self.kind, name, self)
        return self._things[known]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __iter__(self) -> Iterator[str]:
        self._complete()
        if self.group:
            load_plug_ins(self.group)
        return iter(sorted(self._things, key=str.lower) if self.sort else list(self._things))

    def values(self) -> Iterable[T]:
        """Return what is registered, in order."""
        return [self._things[name] for name in self]

    def own(self) -> dict[str, T]:
        """Return what karat itself registers, by name, in order of registration; no plug-in is loaded."""
        self._complete()
        return {name: thing for name, thing in self._things.items() if self._origins[name] == OWN}

    def spelled(self, name: str) -> str:
        """Return the registered name that a name or an alias stands for."""
        self[name]
        return self._names[name.lower()]

    def origin(self, name: str) -> str:
        """Return where something comes from: "karat", a distribution with its version, or a program's module.

        >>> from karat.measures import MEASURES
        >>> MEASURES.origin("nDCG")
        'karat'
        """
        return self._origins[self.spelled(name)]


def import_later(kind: str) -> None:
    """Import what registers things of this kind from later packages, which the top of karat names."""
    for module in LATER[kind]:
        importlib.import_module(module)


def import_all(package: str) -> None:
    """Import every module of `package`, so that each registers what it holds."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(f"{package}.{module.name}")
