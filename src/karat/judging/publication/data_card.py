"""The data card of a published folder, in Markdown: what the truth is, how it was made, its limits.

All of its text is in templates/data_card.md. Every value that the template shows is escaped, so that
captions, names and remarks cannot break the layout; only filters that return `Markup` write Markdown.
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
from karat.benchmarks import Benchmark, Direction
from karat.judging.publication.correction import ORIGINAL, Correction
from karat.judging.publication.evidence import Evidence
from karat.judging.publication.facts import Facts
from karat.judging.publication.tables import invalid_rows
from karat.judging.publication.validity import both_sides
from karat.stats import percent, with_interval

TEMPLATES = Path(__file__).parent / "templates"
LONGEST = 160
BAR = 40
"""The length of the longest bar of a histogram, in characters."""
BREAKS = "\r\n\t\v\f\x1c\x1d\x1e\x85\u2028\u2029"
SPECIAL = re.compile(r"([\\`*_\[\]|~$@])")
"""Characters with a meaning in Markdown inside a line; @ would mention a user."""
ADDRESS = re.compile(r"(?i)(https?|ftp|www|mailto|xmpp)([:.])")
START = re.compile(r"^(\d{1,9}(?=[.)](?:\s|$))|(?=[-+=#]))")
"""What would start a list or a heading."""


def data_card(
    evidence: Evidence, correction: Correction, facts: Facts, *, licence: str = "", made: str = ""
) -> str:
    """Return the card.

    Parameters
    ----------
    evidence, correction, facts
        The answers, the corrected truth, and the figures.
    licence
        Under which licence the judgments are published; a reminder to state one by default.
    made
        When or by whom, as it should be printed; left out by default.
    """
    items = invalid_rows(evidence, facts.candidates)
    benchmark = correction.benchmark
    template = markdown().get_template("data_card.md")
    return template.render(
        benchmark=benchmark,
        directions=benchmark.asked_directions,
        wanted={direction: wanted(benchmark, direction) for direction in benchmark.directions},
        both=both_sides(benchmark),
        pictures=list(dict.fromkeys(side.one for side in benchmark.sides if side.kind == "image")),
        truth=correction.truth,
        evidence=evidence,
        pool=evidence.pool,
        form=evidence.form,
        correction=correction,
        facts=facts,
        counts=facts.counts,
        calibration=correction.verdicts.fit and correction.verdicts.fit.calibration,
        older=list(zip(facts.by_answers, facts.by_truth)),
        removed=[item for item in items if item["status"] == "removed"],
        suspected=[item for item in items if item["status"] != "removed"],
        ORIGINAL=ORIGINAL,
        licence=licence,
        made=made,
    )


def wanted(benchmark: Benchmark, direction: Direction) -> str:
    """Return what a direction looks for: "captions of an image"."""
    query = benchmark.query_side(direction).one
    return f"{benchmark.item_side(direction).many} of {'an' if query[0] in 'aeiou' else 'a'} {query}"


@cache
def markdown() -> Environment:
    """Return the environment of Markdown templates: every value is escaped, unknown names raise an error.

    >>> print(markdown().from_string("| {{ caption }} |").render(caption="*a*|b"))
    | \\*a\\*\\|b |
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        # Leaves Markup as it is; `finalize` runs first and turns everything else into Markup.
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
    """Return a value as Markdown; Markup stays as it is."""
    return value if isinstance(value, Markup) else Markup(plain(value))


def plain(text: object, longest: int = LONGEST) -> str:
    """Return a text that Markdown shows unchanged, on one line and not too long.

    Characters with a meaning in Markdown are escaped, those of HTML replaced. Line breaks become spaces;
    other control characters, and those that change the direction of writing, are removed. Addresses do not
    become links: captions are untrusted.

    >>> print(plain("a|b <script>*x*\\n# y"), plain("1. www.x.org"))
    a\\|b &lt;script&gt;\\*x\\* # y 1\\. www\\.x.org
    """
    shown = "".join(" " if letter in BREAKS else letter for letter in str(text))
    shown = " ".join("".join(letter for letter in shown if unicodedata.category(letter)[0] != "C").split())
    shown = shown if len(shown) <= longest else shown[: longest - 1] + "…"
    shown = SPECIAL.sub(r"\\\1", shown)
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        shown = shown.replace(sign, entity)
    shown = ADDRESS.sub(r"\1\\\2", shown)
    return START.sub(r"\1\\", shown)


def code(text: str, language: str = "") -> str:
    """Return a block of code; its fence is longer than any fence inside.

    >>> print(code("x = 1", "python"))
    ```python
    x = 1
    ```
    """
    inside = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, inside + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def bars(counts: Mapping[int, int]) -> str:
    """Return a histogram of whole numbers as text; numbers from 10 share bars.

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
    """Return the range of a number's bar: single numbers below 10, then tens, then hundreds and so on.

    >>> group_of(7), group_of(12), group_of(340)
    ((7, 7), (10, 19), (300, 399))
    """
    if number < 10:
        return number, number
    step = 10 ** (len(str(number)) - 1)
    low = number // step * step
    return low, low + step - 1
