"""Words for attributes of things that captions and scene graphs name: colours, sizes, numbers."""

from __future__ import annotations

COLOUR_WORDS = {
    word: name
    for name, words in {
        "black": "black", "white": "white", "red": "red crimson scarlet maroon", "green": "green",
        "yellow": "yellow golden gold", "blue": "blue navy teal turquoise", "brown": "brown tan beige",
        "orange": "orange", "pink": "pink", "purple": "purple violet lavender", "grey": "grey gray silver",
    }.items()
    for word in words.split()
}  # fmt: skip
"""Words for the eleven basic colours (Berlin and Kay 1969) and for common shades of them."""

SIZE_WORDS = {
    word: name
    for name, words in {
        "small": "small little tiny miniature smaller smallest mini",
        "large": "large big huge giant enormous larger largest bigger biggest massive oversized",
        "long": "long longer", "short": "short shorter", "tall": "tall taller",
    }.items()
    for word in words.split()
}  # fmt: skip
"""Words for sizes, those of the adversarial queries of Lymperaiou et al. (2022, §5.1) among them."""

NUMERALS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
NUMBER_WORDS = {
    **{name: name for name in NUMERALS},
    **{str(value): name for value, name in enumerate(NUMERALS, start=1)},
    "couple": "two", "pair": "two", "both": "two", "dozen": "twelve", "single": "one",
}  # fmt: skip

WORDS = {"number": NUMBER_WORDS, "size": SIZE_WORDS, "colour": COLOUR_WORDS}
"""By the kind of attribute, its words, each with the value that it names."""

ATTRIBUTE_KINDS = {value: kind for kind, words in WORDS.items() for value in words.values()}
"""What kind of attribute each value is."""


def attribute_of(word: str) -> tuple[str, str] | None:
    """Return which attribute a word is about and its value; None where it is about none of them.

    >>> attribute_of("gray"), attribute_of("Big"), attribute_of("2"), attribute_of("wooden")
    (('colour', 'grey'), ('size', 'large'), ('number', 'two'), None)
    """
    word = word.strip().lower()
    return next(((kind, words[word]) for kind, words in WORDS.items() if word in words), None)
