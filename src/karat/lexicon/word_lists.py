"""Lists of words, written as text."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, each once.

    >>> sorted(word_set("up down up"))
    ['down', 'up']
    """
    return frozenset(text.split())


def word_rows(text: str) -> list[list[str]]:
    """Return the words of each row of a text, rows separated by semicolons.

    >>> word_rows("man men; ox oxen")
    [['man', 'men'], ['ox', 'oxen']]
    """
    return [row.split() for row in text.split(";")]
