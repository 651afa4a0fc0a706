"""How values, measures and names are shown: cells and tables, and words for a reader who never saw a measure.

A section that leaves a choice to the reader (labels, direction, measure) has views. A view is a dictionary
with `key` (one value per axis), a `table` that says everything in text, and whatever its plot needs. The
first view is what the page shows before anything is chosen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from karat._util import plural
from karat.benchmarks import Direction, Side, direction_title, same_side
from karat.measures import Named, scale_value, show_value

if TYPE_CHECKING:
    from markupsafe import Markup

AXES = ("Labels", "Direction", "Measure")
SUMS = {"mean": "both directions, mean", "both": "sum of both directions"}
"""What sums up both directions."""
ISOLATES = re.compile("[\u2066-\u2069]")
NAMES = re.compile("\u2068([^\u2069]*)\u2069")
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


def direction_heading(direction: Direction) -> str:
    """Return a direction, or what sums up both, as headings have it.

    >>> direction_heading("i2t"), direction_heading("q2d"), direction_heading("mean")
    ('image → text', 'query → document', 'both directions, mean')
    """
    return SUMS.get(direction) or direction_title(direction, " → ")


def short_direction(direction: Direction) -> str:
    """Return the same where there is little room, as in the heading of a row."""
    return "mean of both" if direction == "mean" else direction_heading(direction)


def ranked_items(direction: Direction, side: Side) -> str:
    """Return what is ranked, in words: of a collection that is searched with its own items, the others.

    >>> images = Side("image", "image", "images")
    >>> ranked_items("t2i", images), ranked_items("i2i", images)
    ('images', 'other images')
    """
    return f"other {side.many}" if same_side(direction) else side.many


def with_article(noun: str) -> str:
    """Return a noun behind "a" or "an".

    >>> with_article("image"), with_article("query")
    ('an image', 'a query')
    """
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


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


def chart(
    rows: list[dict[str, Any]],
    scale: list[tuple[float, str]],
    systems: int,
    low: bool,
    mark: str = "beaten by none",
) -> dict[str, Any]:
    """Return the bars of the first screen with their scale, and a line that explains them."""
    top = scale[-1][0] if scale else 1.0
    legend = [
        "line: interval" if any(row["low"] is not None for row in rows) else "",
        f"● {mark}" if any(row["first"] for row in rows) else "",
        "low is good" if low else "",
        f"the best {len(rows)} of {systems}" if len(rows) < systems else "",
    ]
    return {
        "bars": rows,
        "scale": [{"at": round(100 * value / top, 2), "text": text} for value, text in scale],
        "legend": [text for text in legend if text],
        "mark": mark,
    }


def curve_points(values: Iterable[float], low: Iterable[float], high: Iterable[float]) -> dict[str, Any]:
    """Return the points of a curve in percent; the ends of an interval are None where there is none.

    >>> curve_points([0.5], [float("nan")], [float("nan")])
    {'values': [50.0], 'low': [None], 'high': [None]}
    """
    columns = {"values": values, "low": low, "high": high}
    return {
        name: [None if value != value else round(100 * float(value), 2) for value in column]
        for name, column in columns.items()
    }


def curve_cell(points: dict[str, Any], number: int) -> Cell:
    """Return a point of a curve as a cell of a table, with its interval below.

    >>> curve_cell(curve_points([0.5], [0.4], [0.6]), 0)
    {'t': '50.0%', 's': '40.0–60.0'}
    """
    value, low, high = (points[name][number] for name in ("values", "low", "high"))
    return cell(f"{value:.1f}%", "" if low is None else f"{low:.1f}–{high:.1f}")


def number_word(number: int) -> str:
    """Return small numbers as words.

    >>> number_word(5), number_word(25)
    ('five', '25')
    """
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[number] if number < len(words) else f"{number:,}"


def some_of(number: int, of: int, noun: str) -> str:
    """Return how many of some things, as the subject of a sentence: one or none is singular.

    >>> some_of(1, 1, "metric"), some_of(3, 3, "metric"), some_of(2, 3, "metric"), some_of(0, 3, "metric")
    ('the one metric', 'all 3 metrics', 'only 2 of the 3 metrics', 'no metric')
    """
    if not number:
        return f"no {noun}"
    if number < of:
        return f"only {number} of the {plural(of, noun)}"
    return f"the one {noun}" if of == 1 else f"all {plural(of, noun)}"


def called(name: object, most: int = 48) -> str:
    """Return the name of a system or a measure as sentences use it: shortened, and between two isolates.

    Isolates (U+2068, U+2069) keep right-to-left names in their place; the page sets what they enclose in
    another type, so that a run called "both" is not read as a word of the sentence.

    >>> called("both") == "\\u2068both\\u2069", called("x" * 50)[-4:-1]
    (True, 'xx…')
    """
    plain = ISOLATES.sub("", str(name))
    return f"\u2068{plain if len(plain) <= most else f'{plain[: most - 1]}…'}\u2069"


def with_names(text: str) -> Markup:
    """Return a sentence as html, what `called` enclosed as names and everything escaped.

    >>> with_names(f"{called('<i>')} & k1")
    Markup('<bdi class="called">&lt;i&gt;</bdi> &amp; k1')
    """
    from markupsafe import Markup, escape

    parts = NAMES.split(text)
    name = Markup('<bdi class="called">{}</bdi>')
    return Markup("").join(name.format(part) if at % 2 else escape(part) for at, part in enumerate(parts))


def percent(share: float) -> str:
    """Return a share in whole percent; what is not nothing or everything is not said to be.

    >>> percent(0.0), percent(0.004), percent(0.414), percent(0.996), percent(1.0)
    ('0%', 'less than 1%', '41%', 'more than 99%', '100%')
    """
    if 0 < share < 0.01:
        return "less than 1%"
    return "more than 99%" if 0.99 < share < 1 else f"{share:.0%}"


def scale_of(largest: float, unit: str = "") -> list[tuple[float, str]]:
    """Return round numbers from 0 to the first one that is not below a value, each with its text.

    >>> scale_of(28.8, "%")
    [(0.0, '0'), (10.0, '10'), (20.0, '20'), (30.0, '30%')]
    """
    if largest <= 0:
        return []
    power = 10.0 ** math.floor(math.log10(largest / 5))
    step = next(power * n for n in (1, 2, 2.5, 5, 10) if largest <= 5.0001 * power * n)
    steps = math.ceil(largest / step - 1e-9)
    texts = [f"{step * n:,.10g}" for n in range(steps)] + [f"{step * steps:,.10g}{unit}"]
    return [(float(f"{step * n:.10g}"), text) for n, text in enumerate(texts)]


def short_list(names: Sequence[str], most: int = 3) -> str:
    """Return names as a sentence lists them, the rest counted.

    >>> short_list(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
