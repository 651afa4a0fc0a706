"""Numbers and words as people read them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.errors import InputError

if TYPE_CHECKING:
    import polars as pl

MISSING = "—"
"""The text where there is no value."""


def plural(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> plural(1, "image"), plural(5000, "image"), plural(2, "query")
    ('1 image', '5,000 images', '2 queries')
    """
    return f"{number:,} {word_for(number, noun)}"


def word_for(number: int, one: str, several: str | None = None) -> str:
    """Return the form of a word that goes with a number; by default it is a noun.

    >>> word_for(1, "system"), word_for(2, "system"), word_for(2, "query"), word_for(0, "has", "have")
    ('system', 'systems', 'queries', 'have')
    """
    if number == 1:
        return one
    return several or (f"{one[:-1]}ies" if one.endswith("y") else f"{one}s")


UNITS = {
    "": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20,
    "GIB": 2**30, "TIB": 2**40, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
}  # fmt: skip
"""How many bytes a unit has."""


def bytes_of(size: int | float | str) -> int:
    """Return a number of bytes that is written with or without a unit.

    >>> bytes_of("4GB"), bytes_of("512 MiB"), bytes_of("4e9"), bytes_of(1000)
    (4000000000, 536870912, 4000000000, 1000)
    """
    match = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([a-z]*)\s*", str(size), re.IGNORECASE)
    try:
        if match is None or (count := int(float(match[1]) * UNITS[match[2].upper()])) < 1:
            raise ValueError(size)
    except (KeyError, ValueError, OverflowError):
        raise InputError(
            f"{size!r} is not an amount of memory", fix="write 4GB, 512MiB or a number of bytes"
        ) from None
    return count


def bytes_text(count: int) -> str:
    """Return a number of bytes as people read it, rounded up so that it still suffices.

    >>> bytes_text(4_000_000_000), bytes_text(268_500_000), bytes_text(999)
    ('4GB', '269MB', '1KB')
    """
    unit = next((unit for unit in ("TB", "GB", "MB") if count >= UNITS[unit]), "KB")
    tenths = -(-10 * count // UNITS[unit])
    return f"{-(-tenths // 10)}{unit}" if tenths >= 100 or tenths % 10 == 0 else f"{tenths / 10:.1f}{unit}"


def and_list(names: Sequence[str]) -> str:
    """Return names as a sentence lists them.

    >>> and_list(["a"]), and_list(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])


def split_names(text: str) -> list[str]:
    """Return the names in a text with commas; commas inside parentheses do not separate.

    >>> split_names("R@1, SR(cider, m=10)@5,"), split_names("a(b, c(d, e), f),g")
    (['R@1', 'SR(cider, m=10)@5'], ['a(b, c(d, e), f)', 'g'])
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [name for part in parts if (name := part.strip())]


def signed(number: float, digits: int = 2) -> str:
    """Return a coefficient as people read it: a true minus, no minus before zero, a dash for NaN.

    >>> signed(-0.126), signed(-0.001), signed(float("nan"))
    ('−0.13', '0.00', '—')
    """
    if number != number:
        return MISSING
    text = f"{number:.{digits}f}"
    return text[1:] if text.startswith("-") and float(text) == 0 else text.replace("-", "−")


def in_percent(share: float | None, digits: int = 0) -> str:
    """Return a share in percent, a dash for None or NaN.

    >>> in_percent(0.256), in_percent(0.256, 1), in_percent(float("nan"))
    ('26%', '25.6%', '—')
    """
    return MISSING if share is None or share != share else f"{100 * share:.{digits}f}%"


def ends(low: float, high: float, digits: int = 2) -> str:
    """Return the ends of an interval, short where no minus can be mistaken for the dash.

    >>> ends(0.502, 0.531), ends(-0.2, 0.3), ends(-0.001, 0.2)
    ('0.50–0.53', '−0.20 to 0.30', '0.00–0.20')
    """
    if low != low:
        return MISSING
    dash = " to " if signed(low, digits).startswith("−") else "–"
    return f"{signed(low, digits)}{dash}{signed(high, digits)}"


def or_none(number: float) -> float | None:
    """Return a number as json holds it: None where it is not defined.

    >>> or_none(0.5), or_none(float("nan"))
    (0.5, None)
    """
    return None if number != number else number


FORMULA = "=+\\-@\t\r\n＝＋－＠"
"""What formulas start with; spreadsheets skip tabs and line ends, and accept full-width signs too."""
SKIPPED = "\\s\\x00-\\x20\"'\u200b-\u200f\u2060\ufeff"
"""What some programs drop before they look at how a cell starts: blanks, quotation marks, the unseen."""
DANGEROUS = f"[{SKIPPED}]*[{FORMULA}]"
"""How such texts begin, in the words that the regular expressions of Python and of polars share."""
PLAIN_NUMBER = r"[+-]([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
IS_DANGEROUS = re.compile(DANGEROUS)


def guard(text: str) -> str:
    """Return a text for a cell: an apostrophe is put before what a spreadsheet would read as a formula.

    A text that looks guarded gets one more apostrophe, so that `unguard` restores every text.

    Examples
    --------
    >>> guard("=HYPERLINK(1)"), guard("plain"), guard("'=x")
    ("'=HYPERLINK(1)", 'plain', "''=x")
    >>> unguard(guard("'=x"))
    "'=x"
    """
    return f"'{text}" if IS_DANGEROUS.match(text) else text


def unguard(text: str) -> str:
    """Return the text before `guard`.

    >>> unguard("'-1"), unguard("'tis")
    ('-1', "'tis")
    """
    return text[1:] if text[:1] == "'" and IS_DANGEROUS.match(text, 1) else text


def guard_table(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table for a csv file that a person opens: `guard` on texts and names of columns.

    Texts that are plain numbers stay as they are, such as those of a column that holds words, too.

    Examples
    --------
    >>> import polars as pl
    >>> guard_table(pl.DataFrame({"=run": ["=1+1", "-0.5"], "value": [-0.5, 1.0]})).rows(named=True)[0]
    {"'=run": "'=1+1", 'value': -0.5}
    """
    import polars as pl

    named = frame.rename({name: guard(name) for name in frame.columns})
    texts = pl.selectors.by_dtype(pl.String, pl.Categorical, pl.Enum).cast(pl.String)
    plain = texts.str.contains(f"^{PLAIN_NUMBER}$")
    guarded = pl.when(texts.str.contains(f"^{DANGEROUS}") & ~plain).then("'" + texts).otherwise(texts)
    return named.with_columns(guarded.name.keep())


def unguard_table(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the texts of a table before `guard_table`; names of columns stay."""
    import polars as pl

    texts = pl.selectors.string()
    guarded = texts.str.contains(f"^'{DANGEROUS}")
    return frame.with_columns(pl.when(guarded).then(texts.str.slice(1)).otherwise(texts).name.keep())
