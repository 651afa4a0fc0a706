"""Words with their tags and tree, as a parser gave them, and rules that correct its mistakes in captions."""

from __future__ import annotations

from dataclasses import dataclass

from karat.captions.graphs.word_classes import DEGREES, PARTICLES, PERSONAL, PREPOSITIONS, Lemmas

NOUNS = ("NOUN", "PROPN")
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
    pos, tag, before = tagged.pos[at], tagged.tags[at], tagged.pos_at(at - 1) or "DET"
    if tag == "PRP":
        return word not in PERSONAL
    if not lemmas.is_noun(word):
        return False
    following = tagged.tag_at(at + 1)
    ends = following in ("", "IN", ",", "CC", ".")
    if pos in ("ADV", "X", "INTJ"):
        return lemmas.is_only_noun(word) and before != "ADV"
    if pos == "ADJ":
        # *a man dressed in black*, *children holding balloon*
        if following in ("", "IN", "."):
            return tagged.pos_at(at - 1) in ("ADP", "DET") or lemmas.is_only_noun(word)
        return tagged.pos_at(at - 1) == "ADP" and following in ("VBG", "VBN", "VBZ")
    if word == "can":
        # *a trash can is full*, but *a man can be seen*
        return pos == "AUX" and before in NOUNS and (ends or following in ("VBZ", "VBG", "VBN", "MD"))
    if pos != "VERB":
        return False
    if tag == "VBG" and at + 1 < len(tagged) and lemmas.is_noun(f"{word} {tagged.words[at + 1]}"):
        # *in parking lot*
        return True
    if tag == "VBG" and at == 0:
        # *writing on a wall*, but *sitting on a wall*
        return following == "IN" and lemmas.is_well_known(word)
    if tag == "VBG":
        return tagged.words[at - 1 : at] == ["of"] and (ends or following in ("VBN", "VBZ"))
    if tag not in ("VB", "VBP", "VBZ", "VBD"):
        return False
    if before == "PART":
        # *a shelf bolted to wall*, but *ready to throw a ring*
        return tagged.tag_at(at - 2) == "VBN" and ends
    if before in ("DET", "ADJ", "NUM", "ADP") or tagged.tag_at(at - 2) == "EX":
        return True
    if tag == "VBZ" and tagged.tag_at(at - 1) == "VBG":
        # *eating leaves*
        return True
    if before not in NOUNS:
        return False
    if tag in ("VB", "VBP") and ends and tagged.tag_at(at - 1) == "NN":
        # *a wall mount and a hook*: one wall would not *mount* but *mounts*.
        return "CCONJ" not in (tagged.pos_at(at - 2), tagged.pos_at(at - 3))
    if tag == "VBZ" and ends and lemmas.is_mostly_adjective(tagged.words[at - 1]):
        # *bright green leaves*, but *a man in black sits*, *a remote rests*
        return tagged.pos_at(at - 2) in ("", "ADJ")
    return following in ("VBG", "VBN", "VBZ", "VBP", "MD") or (ends and lemmas.is_mostly_noun(word))


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
    pos, before, following = tagged.pos[at], tagged.pos_at(at - 1), tagged.pos_at(at + 1)
    if pos not in ("VERB", "ADV", *NOUNS) or word.endswith("ly") or word in DEGREES:
        return False
    if not lemmas.is_adjective(word):
        return False
    described = following in (*NOUNS, "ADJ")
    if pos == "VERB":
        if tagged.tags[at] == "VBN":
            # *has green door*: no participle looks like its own verb.
            return described and lemmas.verb(word) == word
        starts = before in ("", "DET", "NUM", "ADJ") or tagged.words[at - 2 : at] == ["next", "to"]
        return described and starts and tagged.tags[at] in ("VB", "VBD", "VBP")
    if pos == "ADV":
        starts = before in ("", "DET", "NUM", "VERB", "AUX", "ADP")
        return (described and starts) or (before == "AUX" and not following)
    if tagged.words[at + 1 : at + 2] == ["and"]:
        starts = before in ("", "DET", "ADP", "VERB", "NUM", "ADJ", "AUX")
        other = at + 2 < len(tagged) and lemmas.is_adjective(tagged.words[at + 2])
        return starts and other and tagged.pos_at(at + 3) in (*NOUNS, "ADJ", "VERB")
    return tagged.words[at - 1 : at] == ["and"] and tagged.pos_at(at - 2) == "ADJ" and following in NOUNS


RULES = (
    (is_article, "DET", "DT"),
    (is_preposition, "ADP", "IN"),
    (is_particle, "ADV", "RP"),
    (is_participle, "VERB", "VBG"),
    (is_noun, "NOUN", "NN"),
    (is_adjective, "ADJ", "JJ"),
)
"""Each rule with the universal and the Penn tag that it gives."""
