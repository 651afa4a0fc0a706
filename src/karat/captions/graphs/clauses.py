"""Which phrases belong together: coordinated nouns, the subject of each verb, the site of each preposition.

The order of phrases decides most. Where it leaves a choice, the parser's tree does, as long as it chooses one
of the phrases that the order allows.
"""

from __future__ import annotations

from karat.captions.graphs.phrases import Phrase
from karat.captions.graphs.tags import Tagged
from karat.captions.graphs.words import COLLECTIVE, Lemmas

MOST_PEERS = 20
"""Longer lists are cut: each of them may relate to each of another list."""


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
            # *a man riding a horse and a woman watching*: what has a verb of its own begins a clause.
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
            found = self._of_word.get(head)
            if found is not None and found != k and self.kind(found) != "preposition":
                return found
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
