"""Word classes: the closed classes of English, and what a word can be by WordNet, with its lemma."""

from __future__ import annotations

from functools import cache

from karat.lexicon import word_set

ALWAYS_PLURAL = word_set(
    """binoculars boxers briefs capris clothes earphones eyeglasses glasses goggles headphones jeans khakis
    leggings overalls pajamas panties pants pliers pyjamas scissors shears shorts slacks spectacles
    sunglasses sweatpants tights tongs trousers trunks tweezers undies"""
)
"""Nouns for one thing that have no singular of the same meaning: *shorts* are not a *short*."""

PREPOSITIONS: frozenset[str] = word_set(
    """about above across against along alongside amid among amongst around aboard at atop behind below
    beneath beside besides between beyond by during for from in inside into like near of on onto
    opposite outside over past through throughout toward towards under underneath upon via with within
    without"""
)
PARTICLES: frozenset[str] = word_set("up down out off away over")

LONG_PREPOSITIONS = {
    tuple(text.split()): text
    for text in (
        "in front of",
        "on top of",
        "in back of",
        "next to",
        "close to",
        "out of",
        "inside of",
        "outside of",
        "ahead of",
        "away from",
        "along with",
        "such as",
    )
}

OPENERS: frozenset[str] = word_set(
    """a an the this that these those some any each every all both another no my your his her its our their
    there here it he she they we i you who what when where while in on at by with from of for to into
    near under over behind between inside outside across along around through as if is are was were not
    just only one lots next"""
)
"""Words of closed classes that start a caption; any other is the first of a bare noun phrase."""

BARE_OWNERS = word_set("mans womans mens womens childs childrens")
"""Owners that lack their apostrophe; none of these is a plural."""

QUANTITIES = word_set("lot lots pair pairs couple dozen dozens number variety plenty")
"""Nouns that count what follows *of*: *a couple of dogs* are dogs, but *a group of dogs* is a group."""

COLLECTIVE = word_set("group bunch crowd herd flock pack row line team series set")
"""Nouns whose parts act: in *a group of people riding bikes*, the people ride."""

PRONOUNS = word_set("he she it they him her them his hers its their theirs himself herself itself themselves")
"""Pronouns that may refer to an object of the caption."""

PERSONAL = PRONOUNS | word_set("i me we us you myself ourselves yourself yourselves one 's thee oneself")
"""All personal pronouns."""

NO_NAMES = OPENERS | PREPOSITIONS | PARTICLES | PRONOUNS | {"and", "or", "not", "'s"}
"""Words that never name an object, however a parser reads them."""

DEGREES = word_set("very so too pretty well just quite really still more most all half about")
"""Adverbs that look like adjectives."""

NUMERALS = "zero one two three four five six seven eight nine ten eleven twelve"
DIGITS = {str(value): name for value, name in enumerate(NUMERALS.split())}


class Lemmas:
    """The lemma of a word as a noun or as a verb, and what else a word can be, by WordNet."""

    def __init__(self) -> None:
        from karat.lexicon import wordnet

        self._net = wordnet()
        self.noun = cache(self._noun)
        self.verb = cache(lambda word: self._net.lemma(word, "v"))
        self.is_living = cache(self._is_living)
        self._living = {self._net.synset(name) for name in ("person.n.01", "animal.n.01", "people.n.01")}
        self.can_be = cache(lambda word, pos: len(self._net.synsets(word, pos)) > 0)

    def _noun(self, word: str) -> str:
        if word in ALWAYS_PLURAL:
            return word
        word = word[:-1] if word in BARE_OWNERS else word
        return self._net.lemma(word, "n") if self.is_noun(word) else singular(word)

    def _is_living(self, word: str) -> bool:
        """Whether a noun, in its commonest sense, is a person or an animal."""
        senses = self._net.synsets(word, "n")[:1].tolist()
        return any(
            not self._living.isdisjoint((sense, *self._net.closure(sense).tolist())) for sense in senses
        )

    def is_noun(self, word: str) -> bool:
        """Whether WordNet knows a word as a noun."""
        return self.can_be(word, "n")

    def is_adjective(self, word: str) -> bool:
        """Whether WordNet knows a word as an adjective."""
        return self.can_be(word, "a")

    def is_only_noun(self, word: str) -> bool:
        """Whether WordNet knows a word as a noun and as nothing else."""
        return self.is_noun(word) and not any(self.can_be(word, pos) for pos in "var")

    def is_mostly_noun(self, word: str) -> bool:
        """Whether a word was seen more than twice as often as a noun than as a verb."""
        return self._seen(word, "n") > 2 * self._seen(word, "v")

    def is_mostly_verb(self, word: str) -> bool:
        """Whether a word was seen more than ten times as often as a verb than as a noun."""
        return self._seen(word, "v") > 10 * self._seen(word, "n")

    def is_mostly_adjective(self, word: str) -> bool:
        """Whether a word was seen more often as an adjective than as a noun."""
        return self._seen(word, "a") > self._seen(word, "n")

    def is_well_known(self, word: str) -> bool:
        """Whether a participle was seen as a noun often, and not only by chance: *writing*, not *sitting*."""
        seen = self._seen(word, "n")
        return seen >= 10 and 15 * seen >= self._seen(word, "v")

    def is_often_verb(self, word: str, times: int) -> bool:
        """Whether a noun was seen at most `times` as often as the verb whose base form it is too."""
        seen = self._seen(word, "v")
        return self.verb(word) == word and 0 < self._seen(word, "n") <= times * seen

    def _seen(self, word: str, pos: str) -> int:
        return int(self._net.sense_counts(word, pos).sum())


def singular(word: str) -> str:
    """Return the likely singular of a noun that no dictionary knows.

    >>> singular("selfies"), singular("bikers"), singular("glass"), singular("bus")
    ('selfie', 'biker', 'glass', 'bus')
    """
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "'s")):
        return word[:-1]
    return word


@cache
def lemmas() -> Lemmas:
    """Return the lemmas of WordNet, loaded once."""
    return Lemmas()
