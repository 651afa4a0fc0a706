"""Compare what a command did with what was recorded, and say in lines what differs."""

from __future__ import annotations

import difflib
import math
import re
from typing import Any

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
TOLERANCE, CANCELLED = 1e-6, 1e-9
"""Relative, so that another processor or number of threads may round otherwise; and absolute, for shares that
cancel out, of which no size is left."""
# Sums over many values are compared with the sum of their sizes, which does not cancel out.
SUMS = ("sum", "weighted", "squares")


def same_line(old: str, new: str) -> bool:
    """Return whether two lines say the same, decimals within one unit of the last printed digit."""
    if old == new:
        return True
    first, second = NUMBER.findall(old), NUMBER.findall(new)
    if first == second or len(first) != len(second):
        return False  # only words or blanks differ
    if " ".join(NUMBER.sub("#", old).split()) != " ".join(NUMBER.sub("#", new).split()):
        return False
    return all(same_printed(a, b) for a, b in zip(first, second))


def same_printed(old: str, new: str) -> bool:
    """Return whether two printed numbers are the same; whole numbers count something and must be equal."""
    if old == new:
        return True
    digits = [len(one.partition(".")[2]) for one in (old, new)]
    if digits[0] != digits[1] or not digits[0] or "e" in old + new:
        return False
    return abs(float(old.replace(",", "")) - float(new.replace(",", ""))) <= 1.001 * 10.0 ** -digits[0]


def same_number(old: float, new: float, size: float = 0.0) -> bool:
    return math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=max(CANCELLED, TOLERANCE * size))


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def differences(old: Any, new: Any, where: str = "", size: float = 0.0) -> list[str]:
    """Return a line, or several, for everything that differs; none when all is the same."""
    if isinstance(old, dict) and isinstance(new, dict):
        found = []
        size = old.get("size", 0.0) if is_number(old.get("size")) else 0.0
        for key in [*old, *(key for key in new if key not in old)]:
            here = f"{where} › {key}" if where else str(key)
            if key not in new:
                found.append(f"{here}: is gone; was {shown(old[key])}")
            elif key not in old:
                found.append(f"{here}: is new: {shown(new[key])}")
            else:
                found += differences(old[key], new[key], here, size if key in SUMS else 0.0)
        return found
    if isinstance(old, list) and isinstance(new, list):
        if all(isinstance(one, str) for one in old + new):
            return lines(old, new, where)
        if len(old) != len(new):
            return [f"{where}: {len(old)} → {len(new)} entries: {shown(old)} → {shown(new)}"]
        found = []
        for place, (a, b) in enumerate(zip(old, new)):
            found += differences(a, b, f"{where}[{place}]")
        return found
    if is_number(old) and is_number(new):
        exact = isinstance(old, int) and isinstance(new, int)
        same = old == new if exact else same_number(old, new, size)
    elif isinstance(old, str) and isinstance(new, str):
        same = same_line(old, new)
    else:
        same = type(old) is type(new) and old == new
    return [] if same else [f"{where}: {shown(old)} → {shown(new)}"]


def lines(old: list[str], new: list[str], where: str) -> list[str]:
    """Return the lines that differ, as a diff; those within the tolerance do not."""
    if len(old) == len(new):
        new = [a if same_line(a, b) else b for a, b in zip(old, new)]
    if old == new:
        return []
    changed = [
        line
        for line in difflib.unified_diff(old, new, lineterm="", n=1)
        if not line.startswith(("---", "+++"))
    ]
    return [f"{where}:", *(f"    {line}" for line in changed)]


def shown(value: Any) -> str:
    """Return a value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 160 else f"{text[:157]}…"
