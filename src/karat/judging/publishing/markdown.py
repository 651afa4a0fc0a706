"""Pieces of Markdown that no caption, name or remark can break out of."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

LONGEST = 160
BAR = 40
"""How many letters the longest bar of a histogram has."""
BREAKS = "\r\n\t\v\f\x1c\x1d\x1e\x85\u2028\u2029"
SPECIAL = re.compile(r"([\\`*_\[\]|~$@])")
"""What means something to Markdown inside a line; @ would address somebody."""
ADDRESS = re.compile(r"(?i)(https?|ftp|www|mailto|xmpp)([:.])")
START = re.compile(r"^(\d{1,9}(?=[.)](?:\s|$))|(?=[-+=#]))")
"""What would begin a list or a heading."""


def plain(text: object, longest: int = LONGEST) -> str:
    """Return a text that shows as it is in Markdown, on one line and not too long.

    Characters that mean something to Markdown are escaped, and those of HTML replaced. Line breaks become
    blanks; other control characters, and those that turn the direction of writing, go. Addresses do not
    become links: a card is no place for those that captions name.

    >>> print(plain("a|b <script>*x*\\n# y"), plain("1. www.x.org"))
    a\\|b &lt;script&gt;\\*x\\* # y 1\\. www\\.x.org
    """
    shown = "".join(" " if one in BREAKS else one for one in str(text))
    shown = " ".join("".join(one for one in shown if unicodedata.category(one)[0] != "C").split())
    shown = shown if len(shown) <= longest else shown[: longest - 1] + "…"
    shown = SPECIAL.sub(r"\\\1", shown)
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        shown = shown.replace(sign, entity)
    shown = ADDRESS.sub(r"\1\\\2", shown)
    return START.sub(r"\1\\", shown)


def table(head: Sequence[str], rows: Iterable[Sequence[object]], labels: int = 1) -> str:
    """Return a table; cells are escaped, all but the first columns stand to the right.

    >>> print(table(["truth", "positives"], [["a|b", 3]]))
    | truth | positives |
    |:---|---:|
    | a\\|b | 3 |
    """
    lines = [f"| {' | '.join(head)} |"]
    lines.append("|" + "|".join(":---" if k < labels else "---:" for k in range(len(head))) + "|")
    lines += [f"| {' | '.join(plain(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def bullets(lines: Iterable[str]) -> str:
    """Return a list; what stands in it must be escaped already."""
    return "\n".join(f"- {line}" for line in lines)


def code(text: str, language: str = "") -> str:
    """Return a block of code; its fence is longer than any inside.

    >>> print(code("x = 1", "python"))
    ```python
    x = 1
    ```
    """
    inside = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, inside + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def bars(counts: Mapping[int, int]) -> str:
    """Return a histogram of whole numbers as text; from 10 on, numbers share bars.

    >>> print(bars({0: 1, 1: 4, 12: 2}).replace("█" * 10, "#").replace(" " * 10, " "))
        0  #     1
        1  ####  4
    10–19  ##    2
    """
    groups: dict[tuple[int, int], int] = {}
    for number, count in sorted(counts.items()):
        groups[group_of(number)] = groups.get(group_of(number), 0) + count
    most = max(groups.values(), default=1)
    labels = [str(low) if low == high else f"{low}–{high}" for low, high in groups]
    widths = [max(1, round(BAR * count / most)) for count in groups.values()]
    wide = max(map(len, labels), default=0)
    drawn = [f"{'█' * width}{' ' * (BAR - width)}" for width in widths]
    return "\n".join(
        f"{label:>{wide}}  {bar}  {count:,}" for label, bar, count in zip(labels, drawn, groups.values())
    )


def group_of(number: int) -> tuple[int, int]:
    """Return the bar of a number: its own below 10, then tens, then hundreds and so on.

    >>> group_of(7), group_of(12), group_of(340)
    ((7, 7), (10, 19), (300, 399))
    """
    if number < 10:
        return number, number
    step = 10 ** (len(str(number)) - 1)
    low = number // step * step
    return low, low + step - 1
