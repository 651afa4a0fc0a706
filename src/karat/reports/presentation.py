"""How values, measures and names are shown: cells and tables, and words for a reader who never saw a measure.

A section that leaves a choice to the reader (labels, direction, measure) has views. A view is a dictionary
with `key` (one value per axis), a `table` that says everything in text, and whatever its plot needs. The
first view is what the page shows before anything is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from karat.measures import Named, scale_value, show_value

AXES = ("Labels", "Direction", "Measure")
DIRECTION_TITLES = {
    "mean": "both directions, mean",
    "both": "sum of both directions",
    "i2t": "image → text",
    "t2i": "text → image",
}
Cell = str | dict[str, str]
"""A text, or a text (t) with a smaller line below it (s) and its look (c)."""


def cell(text: str, below: str = "", kind: str = "") -> Cell:
    """Return a cell of a table: its text, a smaller line below it, and its look.

    >>> cell("41.2"), cell("41.2", "40.1 to 42.0", "first")
    ('41.2', {'t': '41.2', 's': '40.1 to 42.0', 'c': 'first'})
    """
    if not below and not kind:
        return text
    return {"t": text, **({"s": below} if below else {}), **({"c": kind} if kind else {})}


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> dict[str, Any]:
    """Return a table as plain data; the first cell of each row is its heading."""
    return {"caption": caption, "head": list(head), "rows": [list(row) for row in rows]}


def shown(measure: Named, value: float | None) -> str:
    """Return a value for people: with its unit, since readers may know nothing of it.

    >>> from karat.measures import parse_measure
    >>> shown(parse_measure("R@1"), 0.41236), shown(parse_measure("MedR"), 3.0)
    ('41.2%', '3')
    >>> shown(parse_measure("RSUM"), 5.173), shown(parse_measure("NSUM(spice)"), 3.12)
    ('517.3', '312.0')
    """
    return show_value(measure, value, digits=1, mark=True)


def interval(measure: Named, low: float | None, high: float | None) -> str:
    """Return an interval for people, or nothing.

    >>> from karat.measures import parse_measure
    >>> interval(parse_measure("R@1"), 0.402, 0.4217)
    '40.2–42.2'
    """
    if low is None or high is None:
        return ""
    return "–".join(show_value(measure, end, digits=1) for end in (low, high))


def scaled(measure: Named, value: float | None) -> float | None:
    """Return a value as plots draw it: percent, or a rank.

    >>> from karat.measures import parse_measure
    >>> scaled(parse_measure("R@1"), 0.41236)
    41.236
    """
    return None if value is None else float(f"{scale_value(measure, value):.10g}")


def in_words(measure: Named, cut: str | None = None) -> str:
    """Return what a measure says, in plain words; `cut` replaces its cut-off where several are meant.

    >>> from karat.measures import parse_measure
    >>> in_words(parse_measure("R@5"))
    'the share of queries with a right answer among the first 5'
    """
    inner = getattr(measure, "measure", measure)
    if not inner.plain:
        return (type(inner).__doc__ or "").strip().split("\n")[0].rstrip(".")
    sentence = inner.plain
    own = getattr(inner, inner.cutoff.name) if inner.cutoff is not None else None
    if own is None:
        sentence = sentence.replace(" among the first {k}", "")
    return sentence.format(**{**vars(inner), "k": cut or own})


def number_word(number: int) -> str:
    """Return small numbers as words.

    >>> number_word(5), number_word(25)
    ('five', '25')
    """
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[number] if number < len(words) else f"{number:,}"


def called(name: str, most: int = 48) -> str:
    """Return a system's name as sentences use it: shortened, and isolated where it may run right to left.

    >>> called("a name"), called("x" * 50)[-3:], called("שלום") == "\\u2068שלום\\u2069"
    ('a name', 'xx…', True)
    """
    short = name if len(name) <= most else f"{name[: most - 1]}…"
    return short if name.isascii() else f"\u2068{short}\u2069"


def short_list(names: Sequence[str], most: int = 3) -> str:
    """Return names as a sentence lists them, the rest counted.

    >>> short_list(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
