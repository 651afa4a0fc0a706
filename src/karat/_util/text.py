"""Numbers and words as people read them."""

from __future__ import annotations

MISSING = "—"
"""The text where there is no value."""


def plural(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> plural(1, "image"), plural(5000, "image")
    ('1 image', '5,000 images')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


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
