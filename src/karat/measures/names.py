"""The grammar of measure names: ``name(parameters)@cut-off``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from karat.measures.measure import MEASURES, Named
from karat.validation import InputError

NAME = re.compile(r"^\s*(?P<base>[A-Za-z][\w-]*)\s*(?:\((?P<args>[^()]*)\))?\s*(?:@\s*(?P<cut>\w+))?\s*$")


def parse_measure(name: str | Named) -> Named:
    """Return the measure that `name` means; its `str` is the canonical name.

    >>> parse_measure("R@5"), parse_measure("S@5"), parse_measure("map@r"), parse_measure("P(rel=1.0)@10")
    (R@5, R@5, mAP@R, P(rel=1)@10)
    """
    if isinstance(name, Named):
        return name
    match = NAME.match(name)
    if match is None:
        raise InputError(
            f"{name!r} is not a measure's name", fix="write for example R@5, RP or P(rel=0.5)@10"
        )
    base, args, cut = match["base"], match["args"], match["cut"]
    # "mAP@R" and "mAP(rel=0.5)@R" carry the cut-off in the name.
    whole = f"{base}@{cut}"
    if cut is not None and whole in MEASURES:
        kind, cut = MEASURES[whole], None
    else:
        kind = MEASURES[base if base in MEASURES or cut is None else _bare(base, cut)]
    given: dict[str, object] = {}
    if cut is not None:
        if kind.cutoff is None:
            instead = " or ".join(
                [kind.usage(), *(known for known in MEASURES if known.lower() == f"{base}@r".lower())]
            )
            raise InputError(f"{kind.name} takes no cut-off", fix=f"write {instead}")
        given[kind.cutoff.name] = cut
        if not cut.isdigit():
            raise InputError(
                f"{name!r} has the cut-off {cut!r}", fix=f"write {kind.usage()} with a whole number"
            )
    positional = iter(kind.params)
    for argument in filter(None, (text.strip() for text in (args or "").split(","))):
        key, equals, value = (text.strip() for text in argument.partition("="))
        if not equals:
            param = next(positional, None)
            if param is None:
                raise InputError(f"{kind.name} takes no parameter {key!r}", fix=f"write {kind.usage()}")
            key, value = param.name, key
        if key in given:
            raise InputError(f"{name!r} gives {key} twice", fix=f"write {kind.usage()}")
        given[key] = value
    return kind(**given)


def _bare(base: str, cut: str) -> str:
    return base if cut.isdigit() else f"{base}@{cut}"


def parse_measures(names: Iterable[str | Named]) -> list[Named]:
    """Return the measures of several names, each once, in order."""
    return list(dict.fromkeys(parse_measure(name) for name in names))
