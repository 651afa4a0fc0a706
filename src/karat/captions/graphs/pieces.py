"""A caption cut for the parser: words as everywhere in karat, and the punctuation that those leave out."""

from __future__ import annotations

import re

from karat.captions.graphs.words import OPENERS
from karat.captions.tokens import DOTTED, tokenise

OWNS = r"(?<=[sS])\s?['’](?=\s\w)"
MARK = re.compile(OWNS + r"""|(?:(?<=\s)|(?<=^))[("]|[,;:!?)"]+(?=\s|$|[).,"])|\.+(?=["')]*(?:\s|$))""")

OPENS = re.compile(r"(?:^|\s)['‘](?=\w)")
"""A quotation mark; the next single one closes it."""


def cut(text: str) -> list[str]:
    """Return the words and marks of a caption, in lower case.

    >>> cut("A man, with Mr. Smith's dog (brown).")
    ['a', 'man', ',', 'with', 'mr.', 'smith', "'s", 'dog', '(', 'brown', ')', '.']
    >>> cut("two dogs' tails"), cut("it says 'no dogs' here")
    (['two', 'dogs', "'", 'tails'], ['it', 'says', 'no', 'dogs', 'here'])
    """
    out: list[str] = []
    begin = 0
    for mark in MARK.finditer(text):
        if mark.group().startswith(".") and mark.end() < len(text) and keeps_dot(text[begin : mark.start()]):
            continue
        owns = mark.group()[-1] in "'’"
        if owns and OPENS.search(text, 0, mark.start()):
            continue
        out += words_of(text[begin : mark.start()])
        out.append("'" if owns else mark.group()[0])
        begin = mark.end()
    out += words_of(text[begin:])
    return out


def words_of(text: str) -> list[str]:
    """Return the words of a text without signs and emoji, which no rule can read; *&* is *and*."""
    words = ("and" if word == "&" else word for word in tokenise(text))
    return [word for word in words if any(map(str.isalnum, word))]


def keeps_dot(text: str) -> bool:
    """Whether a text ends with an abbreviation: *Mr*, *a.m*."""
    last = text.rsplit(maxsplit=1)[-1:]
    return bool(last) and (last[0].lower() in DOTTED or "." in last[0])


def starts_bare(words: list[str]) -> bool:
    """Whether a caption starts with a noun phrase that lacks its article: *left hand of a boy*.

    Parsers, raised on sentences, take the first word of such phrases for a verb; with an article before it
    they do not.
    """
    return bool(words) and words[0][:1].isalpha() and words[0] not in OPENERS and not words[0].endswith("ing")
