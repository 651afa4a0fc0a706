"""Measures in words that a reader who never saw them understands."""

from __future__ import annotations

from karat.measures import Named

PLAIN = {
    "R": "the share of queries with a right answer among the first {k}",
    "RP": "the share of right answers among the first R results, R being how many right answers a query has",
    "mAP@R": "how many of a query's R right answers are among its first R results, early ones counting more",
    "AP": "how early the right answers come, averaged over all of them",
    "P": "the share of right answers among the first {k}",
    "Recall": "the share of a query's right answers that are among the first {k}",
    "MRR": "1 divided by the place of the first right answer, averaged",
    "nDCG": "how early the right answers come, better ones counting more",
    "MedR": "the place of the first right answer for the typical (median) query; 1 is perfect",
    "MeanR": "the place of the first right answer, averaged over queries; 1 is perfect",
    "RSUM": "the sum of R@1, R@5 and R@10 in both directions",
    "NCS": "how alike the query and the first {k} results are by {phi} of captions, relative to the best",
    "SR": "the share of the {m} items most alike by {phi} of their captions that are among the first {k}",
    "NSUM": "the sum of NCS@1, NCS@5 and NCS@10 by {phi} in both directions",
    "PMRP": "R-Precision where an answer is right if it shows the same kinds of objects",
    "Judged": "the share of the first {k} results that anybody ever judged, right or wrong",
}


def in_words(measure: Named, cut: str | None = None) -> str:
    """Return what a measure says, in plain words; `cut` stands for its cut-off where several are meant.

    >>> from karat.measures import parse_measure
    >>> in_words(parse_measure("R@5"))
    'the share of queries with a right answer among the first 5'
    """
    inner = getattr(measure, "measure", measure)
    sentence = PLAIN.get(inner.name)
    if sentence is None:
        return (type(inner).__doc__ or "").strip().split("\n")[0].rstrip(".")
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
