"""Cells that a spreadsheet would take for formulas, made harmless and brought back."""

from __future__ import annotations

import re

STARTS = "=+\\-@\t\r\n＝＋－＠"
"""What formulas start with; spreadsheets skip tabs and line ends, and take full-width signs too."""
DANGEROUS = re.compile(f"'*[{STARTS}]")
GUARDED = re.compile(f"'+[{STARTS}]")
JOIN = "|"
"""Between the choices of one cell; codes never hold it."""


def guard(text: str) -> str:
    """Return a text for a cell: an apostrophe goes before what would start a formula.

    Texts that look guarded already get one more, so that `unguard` returns every text as it was.

    Examples
    --------
    >>> guard("=HYPERLINK(1)"), guard("plain"), guard("'=x")
    ("'=HYPERLINK(1)", 'plain', "''=x")
    >>> unguard(guard("'=x"))
    "'=x"
    """
    return f"'{text}" if DANGEROUS.match(text) else text


def unguard(text: str) -> str:
    """Return the text that `guard` was given.

    >>> unguard("'-1"), unguard("'tis")
    ('-1', "'tis")
    """
    return text[1:] if text[:1] == "'" and GUARDED.match(text) else text
