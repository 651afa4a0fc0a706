"""Rivals: how many images probably fit a query, estimated from what all captions mention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from karat.explanations.query_words import Mentions, concepts_of
from karat.lexicon import ATTRIBUTE_KINDS

ANY = "any"
SEVERAL = "several"
WEIGHT = 5
"""How many captions or images what holds of all things counts for, beside those of the thing itself."""


class Shown:
    """What the captions of each image mention, for the number of images that fit a query."""

    def __init__(self, mentions: Sequence[Sequence[Mentions]], images: np.ndarray) -> None:
        image = np.unique(images, return_inverse=True)[1]
        self.images = int(image.max(initial=0)) + 1
        self._per_image = sum(map(len, mentions)) / self.images
        self._rows: dict[tuple[str, ...], int] = {}
        self._stated: Counter[tuple[str, ...]] = Counter()
        pairs: set[tuple[int, int]] = set()
        for own, captions in zip(image.tolist(), mentions):
            for caption in captions:
                facts = {
                    fact
                    for thing, attributes in by_thing(caption)
                    for concept in (ANY, *concepts_of(thing))
                    for fact in facts_of(concept, attributes)
                }
                self._stated.update(facts)
                pairs.update((self._rows.setdefault(fact, len(self._rows)), own) for fact in facts)
        self._shown = np.zeros((len(self._rows), self.images), bool)
        self._shown[tuple(np.array([*pairs], int).reshape(-1, 2).T)] = True
        things = [fact for fact in self._rows if len(fact) == 1 and fact != (ANY,)]
        places = [self._rows[fact] for fact in things]
        shown = max(1, int(self._shown[places].sum()))
        self._repeats = sum(self._stated[fact] for fact in things) / shown

    def fitting(self, caption: Mentions) -> float:
        """Return how many images are expected to fit a caption."""
        chance = np.ones(self.images)
        for thing, attributes in by_thing(caption):
            concept = concepts_of(thing)[0]
            chance *= self._there(concept)
            for what in attributes:
                shown = self._shown[self._rows[(concept, what)]]
                other = self._shown[self._rows[(concept, any_of(what))]]
                chance *= np.where(shown, 1.0, np.where(other, 0.0, self._prior(concept, what)))
        return float(chance.sum())

    def _there(self, concept: str) -> np.ndarray:
        """Return the chance that each image shows a thing: 1 where a caption names it.

        How often all captions overlook it follows from how often the captions of an image repeat it.
        """
        named = self._shown[self._rows[(concept,)]]
        images = int(named.sum())
        repeats = (self._stated[(concept,)] + WEIGHT * self._repeats) / (images + WEIGHT)
        missed = overlooked(repeats, self._per_image)
        return np.where(named, 1.0, min(1.0, images * missed / (1 - missed) / max(1, self.images - images)))

    def _prior(self, concept: str, what: str) -> float:
        """Return how often something is so where captions do not say: as they say of it elsewhere."""
        # No word about a number mostly means one; no word about a colour means nothing.
        counted = what == SEVERAL or ATTRIBUTE_KINDS[what] == "number"
        base = () if counted else (any_of(what),)
        everywhere = self._stated[(ANY, what)] / self._stated[(ANY, *base)]
        known = self._stated[(concept, *base)]
        return (self._stated[(concept, what)] + WEIGHT * everywhere) / (known + WEIGHT)


def overlooked(repeats: float, captions: float) -> float:
    """Return how often none of an image's captions names what is there.

    Of images with k captions that each name it with probability m, a share 1 − (1 − m)^k is named at all, on
    average km / (1 − (1 − m)^k) times: a binomial without its zeros.

    Parameters
    ----------
    repeats
        How many captions of an image name it, on average over those with one that does.
    captions
        How many captions an image has. One says nothing about what it leaves out: 0.

    Examples
    --------
    >>> round(overlooked(5 * 0.3 / (1 - 0.7**5), 5), 4), 0.7**5
    (0.1681, 0.16806999999999994)
    """
    if captions <= 1 or repeats >= captions:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(50):
        share = (low + high) / 2
        more = captions * share < repeats * (1 - (1 - share) ** captions)
        low, high = (share, high) if more else (low, share)
    return float((1 - high) ** captions)


def rivals_of(mentions: Sequence[Sequence[Mentions]], images: np.ndarray) -> np.ndarray:
    """Return how many images are expected to fit each query, by the captions of all queries.

    Parameters
    ----------
    mentions, images
        Per query, what its captions mention, and the number of its image.
    """
    shown = Shown(mentions, images)
    fits: dict[Mentions, float] = {}
    counts = np.empty(len(mentions))
    for query, captions in enumerate(mentions):
        for caption in captions:
            if caption not in fits:
                fits[caption] = shown.fitting(caption)
        counts[query] = np.mean([fits[caption] for caption in captions] or [shown.images])
    return counts


def by_thing(mentions: Mentions) -> list[tuple[str, list[str]]]:
    """Return each thing of a caption with what it is like; a single one is nothing but one.

    >>> from karat.explanations.query_words import read_mentions
    >>> by_thing(read_mentions(["Dogs and a red ball."])[0])
    [('dog', ['several']), ('ball', ['red'])]
    """
    pairs = []
    for thing in mentions.things:
        attributes = [what for of, what in mentions.attributes if of == thing and what != "one"]
        # A thing is a lemma: where it does not occur as such, its plural does.
        if mentions.several and thing not in mentions.words:
            attributes.append(SEVERAL)
        pairs.append((thing, attributes))
    return pairs


def facts_of(concept: str, attributes: Sequence[str]) -> list[tuple[str, ...]]:
    """Return that there is a thing, what it is like, and of which kinds that is.

    >>> facts_of("dog", ["red"])
    [('dog',), ('dog', 'red'), ('dog', 'any colour')]
    """
    return [
        (concept,),
        *((concept, what) for what in attributes),
        *((concept, any_of(what)) for what in attributes),
    ]


def any_of(what: str) -> str:
    """Return the name of all attributes of the same kind.

    >>> any_of("red"), any_of("several")
    ('any colour', 'any several')
    """
    return f"any {ATTRIBUTE_KINDS.get(what, what)}"
