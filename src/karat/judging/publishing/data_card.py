"""A data card in Markdown: what a published truth is, how it was made, and how far it can be trusted.

Its text is a template. Whatever the template shows is escaped, so that no caption, name or remark breaks out
of its place; only filters that return `Markup` write Markdown of their own.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from karat._util import plural
from karat.judging.publishing.correction import ORIGINAL, Correction
from karat.judging.publishing.evidence import Evidence
from karat.judging.publishing.facts import Facts
from karat.judging.publishing.listing import invalid_rows
from karat.stats import percent, with_interval

TEMPLATES = Path(__file__).parent / "templates"
POLICY = {
    "union": "one yes suffices",
    "people": "people are right where they answered",
    "majority": "most of those who answered are right, and people decide ties",
}
FOUND = {"i2t": "captions of an image", "t2i": "images of a caption"}
LONGEST = 160
BAR = 40
"""How many letters the longest bar of a histogram has."""
BREAKS = "\r\n\t\v\f\x1c\x1d\x1e\x85\u2028\u2029"
SPECIAL = re.compile(r"([\\`*_\[\]|~$@])")
"""What means something to Markdown inside a line; @ would address somebody."""
ADDRESS = re.compile(r"(?i)(https?|ftp|www|mailto|xmpp)([:.])")
START = re.compile(r"^(\d{1,9}(?=[.)](?:\s|$))|(?=[-+=#]))")
"""What would begin a list or a heading."""


def data_card(
    evidence: Evidence, found: Correction, facts: Facts, *, licence: str = "", made: str = ""
) -> str:
    """Return the card.

    Parameters
    ----------
    evidence, found, facts
        What was answered, what it became, and the figures.
    licence
        Under which licence the judgments are given; a reminder stands there when left out.
    made
        When or by whom, as it shall be printed; nothing when left out.
    """
    items = invalid_rows(evidence, facts)
    template = markdown().get_template("data_card.md")
    return template.render(
        benchmark=found.benchmark,
        truth=found.truth,
        evidence=evidence,
        pool=evidence.pool,
        form=evidence.form,
        correction=found,
        facts=facts,
        counts=facts.counts,
        grades="; ".join(f"{one.text} ({one.grade:g})" for one in evidence.form.answers),
        settings=", ".join(f"{name}={value}" for name, value in found.verdicts.settings.items()),
        older=list(zip(facts.by_answers, facts.by_truth)),
        removed=[one for one in items if one["status"] == "removed"],
        suspected=[one for one in items if one["status"] != "removed"],
        policy=POLICY,
        ORIGINAL=ORIGINAL,
        wanted=FOUND,
        licence=licence,
        made=made,
    )


@cache
def markdown() -> Environment:
    """Return the environment of Markdown templates: all that they show is escaped, unknown names raise.

    >>> print(markdown().from_string("| {{ caption }} |").render(caption="*a*|b"))
    | \\*a\\*\\|b |
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        # Markup stays as it is; `finalize` comes first and lets nothing else through.
        autoescape=True,
        finalize=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "plain": lambda text, longest=LONGEST: Markup(plain(text, longest)),
        "code": lambda text, language="": Markup(code(text.strip("\n"), language) + "\n"),
        "quoted": lambda text: Markup(json.dumps(text, ensure_ascii=False)),
        "bars": lambda counts: Markup(bars(counts)),
        "number": lambda number: f"{number:,}",
        "plural": plural,
        "percent": percent,
        "interval": with_interval,
    }
    return environment


def escaped(value: Any) -> Markup:
    """Return a value as Markdown; what is Markdown already stays as it is."""
    return value if isinstance(value, Markup) else Markup(plain(value))


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
