"""Porter's stemmer, as published in 1980: "An algorithm for suffix stripping", Program 14(3).

Words are cut in five steps. Each step looks for the longest of its suffixes; whether that one is cut depends
on what would remain, mostly on its measure m: how often a vowel is followed by a consonant.
"""

from __future__ import annotations

import re
from functools import lru_cache

STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate",
    "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive",
    "biliti": "ble",
}  # fmt: skip
STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
STEP_4 = dict.fromkeys(
    ["al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism",
     "ate", "iti", "ous", "ive", "ize"], ""
)  # fmt: skip


def longest_of(suffixes: dict[str, str]) -> re.Pattern[str]:
    """Return what finds the longest of `suffixes` at the end of a word, the rest before it."""
    return re.compile(rf"(.*?)({'|'.join(sorted(suffixes, key=len, reverse=True))})")


ENDS = [(longest_of(step), step) for step in (STEP_2, STEP_3, STEP_4)]


def shape(word: str) -> str:
    """Return a word as its vowels and consonants.

    >>> shape("toy"), shape("syzygy"), shape("trees")
    ('cvc', 'cvcvcv', 'ccvvc')
    """
    kinds = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if vowel else "c"
    return kinds


def measure(word: str) -> int:
    """Return m, how often a consonant follows a vowel.

    >>> [measure(word) for word in ("tree", "trouble", "troubles")]
    [0, 1, 2]
    """
    return shape(word).count("vc")


def has_vowel(word: str) -> bool:
    """Whether a word has a vowel."""
    return "v" in shape(word)


def ends_double(word: str) -> bool:
    """Whether a word ends in the same consonant twice."""
    return len(word) > 1 and word[-1] == word[-2] and shape(word)[-1] == "c"


def ends_short(word: str) -> bool:
    """Whether a word ends in consonant, vowel, consonant, the last not w, x or y."""
    return shape(word).endswith("cvc") and word[-1] not in "wxy"


def without_plural(word: str) -> str:
    """Step 1a."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def without_past(word: str) -> str:
    """Step 1b: -eed, -ed and -ing, and what has to be fixed after the last two."""
    if word.endswith("eed"):
        return word[:-1] if measure(word[:-3]) > 0 else word
    suffix = next((end for end in ("ed", "ing") if word.endswith(end)), "")
    rest = word[: len(word) - len(suffix)]
    if not suffix or not has_vowel(rest):
        return word
    if rest.endswith(("at", "bl", "iz")) or (measure(rest) == 1 and ends_short(rest)):
        return f"{rest}e"
    return rest[:-1] if ends_double(rest) and rest[-1] not in "lsz" else rest


def without_final_e(word: str) -> str:
    """Step 5: a final -e, and one l of -ll."""
    if word.endswith("e"):
        m = measure(word[:-1])
        if m > 1 or (m == 1 and not ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and measure(word) > 1 else word


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of a word in lower case.

    >>> [stem(word) for word in ("caresses", "ponies", "motoring", "relational", "probate")]
    ['caress', 'poni', 'motor', 'relat', 'probat']
    """
    word = without_past(without_plural(word))
    if word.endswith("y") and has_vowel(word[:-1]):
        word = f"{word[:-1]}i"
    for least, (ends, replaced) in zip((1, 1, 2), ENDS):
        found = ends.fullmatch(word)
        if found is None:
            continue
        rest, suffix = found.groups()
        # Only -sion and -tion lose their -ion.
        if measure(rest) >= least and (suffix != "ion" or rest.endswith(("s", "t"))):
            word = rest + replaced[suffix]
    return without_final_e(word)
