"""Words with their tags and tree, as a parser gave them, and rules that correct its mistakes in captions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from karat.captions.graphs.word_classes import DEGREES, PARTICLES, PERSONAL, PREPOSITIONS, Lemmas

NOUNS = ("NOUN", "PROPN")
FINITE = ("VB", "VBP", "VBZ", "VBD")
DESCRIBED = (*NOUNS, "ADJ")
STARTS_PHRASE = (*NOUNS, "DET", "ADJ", "NUM", "PRON")


@dataclass
class Tagged:
    """One caption: words in lower case, universal and Penn tags, heads (−1: none) and labels.

    Parameters
    ----------
    stop
        Whether the caption ends with a full stop; the stop itself is not a word.
    """

    words: list[str]
    pos: list[str]
    tags: list[str]
    heads: list[int]
    labels: list[str]
    stop: bool = False

    def __len__(self) -> int:
        return len(self.words)

    def is_noun(self, at: int) -> bool:
        """Whether a word is tagged as a noun or a name; places outside the caption are not."""
        return 0 <= at < len(self.words) and self.pos[at] in NOUNS

    def pos_at(self, at: int) -> str:
        """Return the universal tag of a word, empty outside the caption."""
        return self.pos[at] if 0 <= at < len(self.pos) else ""

    def tag_at(self, at: int) -> str:
        """Return the Penn tag of a word, empty outside the caption."""
        return self.tags[at] if 0 <= at < len(self.tags) else ""

    def ends_phrase(self, at: int) -> bool:
        """Whether a noun phrase can end with a word, by what follows it."""
        return self.tag_at(at + 1) in ("", "IN", ",", "CC", ".")


def correct_tags(tagged: Tagged, lemmas: Lemmas) -> None:
    """Change tags in place where the neighbours of a word leave no doubt; twice, since they change too."""
    for _ in range(2):
        for at, word in enumerate(tagged.words):
            for rule, pos, tag in RULES:
                if rule(tagged, at, word, lemmas):
                    plural = tag == "NN" and word.endswith("s") and not word.endswith("ss")
                    tagged.pos[at], tagged.tags[at] = pos, "NNS" if plural else tag
                    break


def is_article(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """*a a*: an article, however odd its place."""
    return word in ("a", "an", "the") and tagged.pos[at] != "DET"


def is_preposition(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """*near a wall*: a preposition before a noun phrase, whatever it was read as."""
    if word not in PREPOSITIONS or tagged.pos[at] in ("ADP", "PART"):
        return False
    return tagged.pos_at(at + 1) in STARTS_PHRASE and not (word == "like" and tagged.pos[at] == "VERB")


def is_particle(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """*an arm up*, *outside on the grass*: these are never nouns or adjectives in captions."""
    if word in PARTICLES:
        return tagged.is_noun(at)
    return word in PREPOSITIONS and tagged.pos[at] in ("ADJ", *NOUNS) and word != "opposite"


def is_noun(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """*bus stops on a map*, *bolted to wall*: read as something else where only a noun can be."""
    if tagged.tags[at] == "PRP":
        return word not in PERSONAL
    rule = READ_FOR_NOUN.get(tagged.pos[at])
    return rule is not None and lemmas.is_noun(word) and rule(tagged, at, word, lemmas)


def is_noun_not_adverb(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """Whether a word that was read as an adverb, or as nothing known, is a noun: WordNet knows no other."""
    return lemmas.is_only_noun(word) and tagged.pos_at(at - 1) != "ADV"


def is_noun_not_adjective(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """*a man dressed in black*, *children holding balloon*."""
    before, following = tagged.pos_at(at - 1), tagged.tag_at(at + 1)
    if following in ("", "IN", "."):
        return before in ("ADP", "DET") or lemmas.is_only_noun(word)
    return before == "ADP" and following in ("VBG", "VBN", "VBZ")


def is_noun_not_auxiliary(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """*a trash can is full*, but *a man can be seen*."""
    ends = tagged.ends_phrase(at) or tagged.tag_at(at + 1) in ("VBZ", "VBG", "VBN", "MD")
    return word == "can" and tagged.is_noun(at - 1) and ends


def is_noun_not_verb(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """Whether a word that was read as a participle or as a finite verb is a noun; *can* never is."""
    if word == "can":
        return False
    if tagged.tags[at] == "VBG":
        return is_gerund(tagged, at, word, lemmas)
    return tagged.tags[at] in FINITE and is_noun_not_finite(tagged, at, word, lemmas)


def is_gerund(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """*in parking lot*; *writing on a wall*, but *sitting on a wall*; *a place of parking*."""
    following = tagged.tag_at(at + 1)
    if at + 1 < len(tagged) and lemmas.is_noun(f"{word} {tagged.words[at + 1]}"):
        return True
    if at == 0:
        return following == "IN" and lemmas.is_well_known(word)
    return tagged.words[at - 1] == "of" and (tagged.ends_phrase(at) or following in ("VBN", "VBZ"))


def is_noun_not_finite(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """Whether a word that was read as a finite verb is a noun by what is before it."""
    # A caption does not start with a finite verb: as if an article were before it.
    before = tagged.pos_at(at - 1) or "DET"
    if before == "PART":
        # *a shelf bolted to wall*, but *ready to throw a ring*
        return tagged.tag_at(at - 2) == "VBN" and tagged.ends_phrase(at)
    if before in ("DET", "ADJ", "NUM", "ADP") or tagged.tag_at(at - 2) == "EX":
        return True
    if tagged.tags[at] == "VBZ" and tagged.tag_at(at - 1) == "VBG":
        # *eating leaves*
        return True
    return before in NOUNS and is_second_noun(tagged, at, word, lemmas)


def is_second_noun(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """Whether what was read as a finite verb after a noun is one more noun: *bus stops on a map*."""
    tag, ends = tagged.tags[at], tagged.ends_phrase(at)
    if tag in ("VB", "VBP") and ends and tagged.tags[at - 1] == "NN":
        # *a wall mount and a hook*: one wall would not *mount* but *mounts*.
        return "CCONJ" not in (tagged.pos_at(at - 2), tagged.pos_at(at - 3))
    if tag == "VBZ" and ends and lemmas.is_mostly_adjective(tagged.words[at - 1]):
        # *bright green leaves*, but *a man in black sits*, *a remote rests*
        return tagged.pos_at(at - 2) in ("", "ADJ")
    verb_follows = tagged.tag_at(at + 1) in ("VBG", "VBN", "VBZ", "VBP", "MD")
    return verb_follows or (ends and lemmas.is_mostly_noun(word))


def is_participle(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """*a woman riding bikes*, *a sign hanging on a wall*: what something does, read as a noun."""
    if not (word.endswith("ing") and tagged.is_noun(at)):
        return False
    if tagged.pos_at(at - 1) in ("CCONJ", "AUX"):
        return lemmas.is_mostly_verb(word) and not tagged.is_noun(at + 1)
    if not tagged.is_noun(at - 1):
        return False
    if lemmas.is_living(tagged.words[at - 1]):
        return lemmas.can_be(word, "v") and (at + 1 < len(tagged) or not lemmas.is_mostly_noun(word))
    return lemmas.is_mostly_verb(word) and not tagged.is_noun(at + 1)


def is_adjective(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """*short grey hair*, *the stairs are steep*, *pink and grey boat*: adjectives read as something else."""
    rule = READ_FOR_ADJECTIVE.get(tagged.pos[at])
    if rule is None or word.endswith("ly") or word in DEGREES:
        return False
    return lemmas.is_adjective(word) and rule(tagged, at, word, lemmas)


def is_adjective_not_verb(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """*has green door*, *short grey hair*, *next to clear water*."""
    if tagged.pos_at(at + 1) not in DESCRIBED:
        return False
    if tagged.tags[at] == "VBN":
        # No participle looks like its own verb.
        return lemmas.verb(word) == word
    starts = tagged.pos_at(at - 1) in ("", "DET", "NUM", "ADJ") or tagged.words[at - 2 : at] == ["next", "to"]
    return starts and tagged.tags[at] in ("VB", "VBD", "VBP")


def is_adjective_not_adverb(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """*a fast train*, *the stairs are steep*."""
    before, following = tagged.pos_at(at - 1), tagged.pos_at(at + 1)
    starts = before in ("", "DET", "NUM", "VERB", "AUX", "ADP")
    return (following in DESCRIBED and starts) or (before == "AUX" and not following)


def is_adjective_not_noun(tagged: Tagged, at: int, word: str, lemmas: Lemmas) -> bool:
    """*pink and grey boat*: both."""
    before = tagged.pos_at(at - 1)
    if tagged.words[at + 1 : at + 2] == ["and"]:
        starts = before in ("", "DET", "ADP", "VERB", "NUM", "ADJ", "AUX")
        other = at + 2 < len(tagged) and lemmas.is_adjective(tagged.words[at + 2])
        return starts and other and tagged.pos_at(at + 3) in (*DESCRIBED, "VERB")
    ends = tagged.words[at - 1 : at] == ["and"] and tagged.pos_at(at - 2) == "ADJ"
    return ends and tagged.is_noun(at + 1)


Rule = Callable[[Tagged, int, str, Lemmas], bool]
READ_FOR_NOUN: dict[str, Rule] = {
    **dict.fromkeys(("ADV", "X", "INTJ"), is_noun_not_adverb),
    "ADJ": is_noun_not_adjective,
    "AUX": is_noun_not_auxiliary,
    "VERB": is_noun_not_verb,
}
"""By the universal tag of a word that WordNet knows as a noun: what shows that it is one here."""
READ_FOR_ADJECTIVE: dict[str, Rule] = {
    "VERB": is_adjective_not_verb,
    "ADV": is_adjective_not_adverb,
    **dict.fromkeys(NOUNS, is_adjective_not_noun),
}
"""By the universal tag of a word that WordNet knows as an adjective: what shows that it is one here."""
RULES = (
    (is_article, "DET", "DT"),
    (is_preposition, "ADP", "IN"),
    (is_particle, "ADV", "RP"),
    (is_participle, "VERB", "VBG"),
    (is_noun, "NOUN", "NN"),
    (is_adjective, "ADJ", "JJ"),
)
"""Each rule with the universal and the Penn tag that it gives."""
