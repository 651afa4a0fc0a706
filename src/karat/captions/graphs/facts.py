"""What a caption states: which phrases are objects, what these are like, what they do, and how they relate.

`Clauses` finds which phrases belong together: coordinated nouns, the subject of each verb, the site of each
preposition. The order of phrases decides most. Where it leaves a choice, the parser's tree does, as long as
it chooses one of the phrases that the order allows. `CaptionFacts` collects what they state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from karat.captions.graphs.phrases import Phrase
from karat.captions.graphs.tags import Tagged
from karat.captions.graphs.word_classes import COLLECTIVE, DIGITS, NO_NAMES, PRONOUNS, Lemmas

MOST_PEERS = 20
"""Longer lists are cut: each of them may relate to each of another list."""

IDLE = ("be", "have", "get", "seem", "appear")
"""Verbs that say nothing alone: *is getting ready*."""


@dataclass(frozen=True)
class Relation:
    """A relation between two objects, each given as the number of its phrase.

    Parameters
    ----------
    how
        "clause" for a verb with its own subject, "participle" for one that describes a noun (*a man
        riding a horse*), "preposition", "predicate" (*is on*), "adjective" (*is full of*), "owner".
    verb
        The number of the verb's phrase; −1 for none.
    """

    subject: int
    predicate: str
    object: int
    how: str
    verb: int = -1


def names_object(tagged: Tagged, at: int) -> bool:
    """Whether a word is a noun, and not one of those that parsers sometimes take for one."""
    word = tagged.words[at]
    return tagged.is_noun(at) and word not in NO_NAMES and any(map(str.isalnum, word))


class CaptionFacts:
    """The objects, attributes, actions and relations of one caption.

    Attributes
    ----------
    names
        Number of a noun phrase → lemma of the object.
    relations
        Every relation that is stated.
    attributes
        (object, what it is like, the place of the word).
    actions
        (object, number of a verb): what it does where no other object takes part.
    """

    def __init__(self, tagged: Tagged, phrases: list[Phrase], lemmas: Lemmas) -> None:
        self.tagged, self.phrases, self.lemmas = tagged, phrases, lemmas
        self.clauses = Clauses(tagged, phrases, lemmas)
        self.names = {
            k: lemmas.noun(tagged.words[phrase.at])
            for k, phrase in enumerate(phrases)
            if phrase.kind in ("noun", "owner") and names_object(tagged, phrase.at)
        }
        self.relations = list(dict.fromkeys(self._find_relations()))
        self.attributes = list(dict.fromkeys(self._find_attributes()))
        self.actions = list(dict.fromkeys(self._find_actions()))

    def _refer(self, phrases: Iterable[int]) -> list[int]:
        """Return the objects that noun phrases name, or that their pronouns refer to."""
        objects = (k if k in self.names else self._meant(k) for k in phrases)
        return [k for k in objects if k is not None]

    def _meant(self, k: int) -> int | None:
        """Return what a pronoun refers to: the first object, since captions are about one main thing."""
        if self.phrases[k].pronoun not in PRONOUNS:
            return None
        return next((name for name in self.names if name < k), None)

    def _find_relations(self) -> Iterator[Relation]:
        for k, phrase in enumerate(self.phrases):
            if k in self.names:
                yield from self._owned(k)
            elif phrase.kind == "verb" and phrase.text != "be" and k in self.clauses.objects:
                yield from self._join(self.clauses.subjects[k], phrase.text, self.clauses.objects[k], k)
            elif phrase.kind == "preposition":
                yield from self._placed(k, phrase.text)

    def _owned(self, k: int) -> Iterator[Relation]:
        if k - 1 in self.names and self.phrases[k - 1].kind == "owner":
            yield Relation(k - 1, self.phrases[k - 1].text, k, "owner")
        owner = self._meant(k)
        if owner is not None:
            yield Relation(owner, "have", k, "owner")

    def _placed(self, k: int, preposition: str) -> Iterator[Relation]:
        target, sites = self.clauses.noun_after(k), self.clauses.site(k)
        if target is None or not sites:
            return
        relations = list(self._at_site(sites, preposition, target))
        if not relations and self.clauses.kind(k - 1) == "noun":
            # *a box that has toys in it*: what has them is not in itself, but they are.
            relations = list(self._join([k - 1], preposition, target))
        yield from relations

    def _at_site(self, sites: list[int], preposition: str, target: int) -> Iterator[Relation]:
        site = self.phrases[sites[0]]
        if site.kind == "noun":
            yield from self._join(sites, preposition, target)
        elif site.kind == "adjective":
            predicate = f"{site.text} {preposition}"
            yield from self._join(self._described(sites[0]), predicate, target, how="adjective")
        else:
            subjects, is_be = self.clauses.subjects[sites[0]], site.text == "be"
            predicate = preposition if is_be else f"{site.text} {preposition}"
            yield from self._join(subjects, predicate, target, -1 if is_be else sites[0], "predicate")

    def _join(
        self, subjects: list[int], predicate: str, target: int, verb: int = -1, how: str = "preposition"
    ) -> Iterator[Relation]:
        if verb >= 0:
            how = "participle" if self.clauses.participle[verb] else "clause"
        for thing in self._refer(self.clauses.peers[target]):
            for subject in self._refer(subjects):
                if subject != thing:
                    yield Relation(subject, predicate, thing, how, verb)

    def _described(self, k: int) -> list[int]:
        """Return the nouns that an adjective phrase is said of."""
        if self.clauses.kind(k - 1) == "verb":
            return self.clauses.subjects[k - 1]
        return self.clauses.peers[k - 1] if self.clauses.kind(k - 1) == "noun" else []

    def _find_attributes(self) -> Iterator[tuple[int, str, int]]:
        for k, phrase in enumerate(self.phrases):
            targets = [k] if k in self.names else []
            if phrase.kind == "adjective":
                targets = self._refer(self._described(k))
            for target in targets:
                for at in phrase.modifiers:
                    word = self._describing(at)
                    if word is not None:
                        yield target, word, at

    def _describing(self, at: int) -> str | None:
        """Return a word as an attribute: nouns as lemmas, numbers spelled out, the rest as it stands."""
        word = DIGITS.get(self.tagged.words[at], self.tagged.words[at])
        if word == "one":
            # *One plane* is *a plane*.
            return None
        return self.lemmas.noun(word) if self.tagged.is_noun(at) else word

    def _find_actions(self) -> Iterator[tuple[int, int]]:
        acting = {relation.verb for relation in self.relations}
        for k, phrase in enumerate(self.phrases):
            if phrase.kind == "verb" and k not in acting and phrase.text.split()[0] not in IDLE:
                for subject in self._refer(self.clauses.subjects[k]):
                    yield subject, k


class Clauses:
    """The links between the phrases of one caption; phrases are known by their numbers.

    Attributes
    ----------
    peers
        Per phrase, the noun phrases coordinated with it, itself among them.
    subjects, objects
        Per verb, its subjects, and its direct object where it has one.
    participle
        Per verb, whether it describes its subject (*a man riding a horse*) instead of making a clause.
    """

    def __init__(self, tagged: Tagged, phrases: list[Phrase], lemmas: Lemmas) -> None:
        self._tagged, self._phrases, self._lemmas = tagged, phrases, lemmas
        self._of_word = {at: k for k, p in enumerate(phrases) for at in range(p.begin, p.end)}
        self.peers = self._find_peers()
        self.subjects: dict[int, list[int]] = {}
        self.objects: dict[int, int] = {}
        self.participle: dict[int, bool] = {}
        for k, phrase in enumerate(phrases):
            if phrase.kind == "verb":
                self.subjects[k], self.participle[k] = self._find_subjects(k)
                target = self.noun_after(k)
                if target is not None and self.kind(k - 1) != "there":
                    self.objects[k] = target

    def kind(self, k: int) -> str:
        """Return the kind of a phrase, empty outside the caption."""
        return self._phrases[k].kind if 0 <= k < len(self._phrases) else ""

    def noun_after(self, k: int) -> int | None:
        """Return the noun phrase that follows a phrase directly, past its owner; None for none."""
        follower = k + 1
        while self.kind(follower) == "owner":
            follower += 1
        return follower if self.kind(follower) == "noun" else None

    def site(self, k: int) -> list[int]:
        """Return the phrases that a preposition belongs to: one verb or adjective, or nouns, before it."""
        before = k - 1
        if self.kind(before) == "adjective" and self.kind(before - 1) == "verb":
            verb = self._phrases[before - 1]
            return [before if verb.text == "be" else before - 1]
        if self.kind(before) in ("verb", "adjective"):
            return [before]
        above = self._above(self.noun_after(k) or k)
        if self.kind(before) == "noun":
            if self._phrases[k].text == "of":
                return [before]
            choices = [*self._open_chain(before), *self._governor(before)]
            return self._shared(above if above in choices else before, k)
        if above is not None and above < k and self.kind(above) in ("noun", "verb"):
            return [above]
        return [n for n in range(k) if self.kind(n) == "noun"][:1]

    def _shared(self, site: int, k: int) -> list[int]:
        """Return the coordinated nouns that share what follows: all, unless it stands by the last alone."""
        group = self._before(site, k)
        close = self._phrases[k].text in ("in", "with")
        alone = close and len(group) > 1 and site == group[-1] and self._has_article(site)
        return [site] if alone or site not in group else group

    def _has_article(self, k: int) -> bool:
        return self._tagged.pos[self._phrases[k].begin] in ("DET", "NUM")

    def _find_peers(self) -> list[list[int]]:
        peers = [[k] for k in range(len(self._phrases))]
        for k in range(1, len(self._phrases) - 1):
            if self.kind(k) != "and" or self.kind(k - 1) != "noun":
                continue
            follower = k + 1
            while self.kind(follower) in ("and", "owner"):
                follower += 1
            if self.kind(follower) != "noun":
                continue
            # *a man riding a horse and a woman watching*: what has its own verb begins a clause.
            begins = self.kind(follower + 1) == "verb" and self.kind(k - 2) in ("verb", "preposition")
            if begins and self._above(follower) != k - 1:
                continue
            if len(peers[k - 1]) == MOST_PEERS:
                continue
            group = [*peers[k - 1], follower]
            for each in group:
                peers[each] = group
        return peers

    def _above(self, k: int) -> int | None:
        """Return the phrase that the tree hangs a phrase on, past prepositions; None for none."""
        heads, head = self._tagged.heads, self._phrases[k].at
        for _ in heads:
            head = heads[head]
            if head < 0:
                return None
            phrase = self._of_word.get(head)
            if phrase is not None and phrase != k and self.kind(phrase) != "preposition":
                return phrase
        return None

    def _find_subjects(self, k: int) -> tuple[list[int], bool]:
        """Return the subjects of a verb, and whether it describes them."""
        before = k - 1
        if self.kind(before) == "there":
            target = self.noun_after(k)
            return ([] if target is None else [target]), False
        relative = self.kind(before) == "relative"
        before -= relative
        if self.kind(before) == "noun":
            if self._phrases[k].finite and not relative:
                return self._before(self._open_chain(before)[-1], k), False
            return self._described(before, k), True
        if relative:
            return [], True
        earlier = [verb for verb in self.subjects if verb < k]
        if earlier:
            return self.subjects[earlier[-1]], self.participle[earlier[-1]]
        nouns = [n for n in range(k) if self.kind(n) == "noun"]
        return (self._before(self._chain(nouns[-1])[-1], k) if nouns else []), not self._phrases[k].finite

    def _described(self, noun: int, k: int) -> list[int]:
        """Return what a participle or clause after a noun describes: it, or a noun that it hangs on."""
        above, chain = self._above(k), self._open_chain(noun, ("with",))
        governors = self._governor(noun)
        actors = [each for verb in governors for each in self.subjects[verb]]
        if above in governors and not (self._link(noun) == "with" and self._is_living(noun)):
            return actors
        chosen = above if above in chain else noun
        if not (self._phrases[k].passive or self._is_living(chosen)):
            # *a cat lies on the carpet watching a fly*: carpets do not watch.
            chosen = next(filter(self._is_living, [*self._open_chain(noun), *actors]), chosen)
        return self._before(chosen, k)

    def _link(self, noun: int) -> str:
        """Return the preposition before a noun and its peers, empty for none."""
        before = min(self.peers[noun]) - 1
        return self._phrases[before].text if self.kind(before) == "preposition" else ""

    def _is_living(self, k: int) -> bool:
        return self._lemmas.is_living(self._tagged.words[self._phrases[k].at])

    def _before(self, noun: int, k: int) -> list[int]:
        return [peer for peer in self.peers[noun] if peer < k]

    def _chain(self, noun: int) -> list[int]:
        """Return a noun and the nouns that it hangs on through prepositions, from right to left."""
        chain = [noun]
        while True:
            first = min(self.peers[chain[-1]])
            first -= self.kind(first - 1) == "owner"
            if self.kind(first - 1) != "preposition" or self.kind(first - 2) != "noun":
                return chain
            chain.append(first - 2)

    def _open_chain(self, noun: int, closed: tuple[str, ...] = ()) -> list[int]:
        """Return the part of a chain that what follows may describe: up to a group of things."""
        chain = self._chain(noun)
        for size, upper in enumerate(chain[1:], start=1):
            link, head = self._phrases[upper + 1].text, self._tagged.words[self._phrases[upper].at]
            if link in closed or (link == "of" and head.removesuffix("s") in COLLECTIVE):
                return chain[:size]
        return chain

    def _governor(self, noun: int) -> list[int]:
        """Return the verb that the chain of a noun is the object of, as a list of one or none."""
        first = min(self.peers[self._chain(noun)[-1]]) - 1
        while self.kind(first) in ("owner", "preposition"):
            first -= 1
        return [first] if self.kind(first) == "verb" else []
