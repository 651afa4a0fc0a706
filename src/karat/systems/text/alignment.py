"""Words that people use for the same thing: translations between captions of the same image."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from karat.systems.text.encoded import Captions, Encoded, encode
from karat.systems.text.ibm import make_cells, translation_table
from karat.systems.text.parts import Rule, check_tags, tagged_counts
from karat.systems.text.similarity import Similarity, cosines
from karat.validation import InputError

NOUNS, VERBS = Rule(5, 0.5), Rule(25, 0.25)
"""Which words count as nouns and as verbs in Hodosh et al. (2013), section 3.5.4."""


class AlignmentSimilarity(Similarity):
    r"""The cosine of what words translate to between captions of the same image (Hodosh et al. 2013, eq. 25).

    The captions of an image, reduced to their nouns, are taken for translations of each other, in both
    directions of all pairs, and IBM's models 1 and 2 learn :math:`P_n(w_i | w)` from them; likewise
    :math:`P_v` from verbs. A word is the vector of :math:`P_n(w_i|w) P_n(w) + P_v(w_i|w) P_v(w)`, where
    P_n(w) and P_v(w) are the shares of its occurrences that are tagged as a noun and as a verb. Which words
    are nouns is settled per word, by its tags in all captions; then all of its occurrences are. With a
    threshold of 0 it is semidefinite.

    Parameters
    ----------
    nouns, verbs
        How often, and in which share of its occurrences, a word must be tagged so to count as one.
    threshold
        Similarities below it become 0.
    model1, model2
        Iterations of both models.
    null
        Whether words may come from an empty word.

    Attributes
    ----------
    nouns_, verbs_
        The words that count as nouns and as verbs, in the order of the alphabet.
    words_, matrix_
        All of them, and their similarities.

    Examples
    --------
    >>> captions = [[["dog", "run"], ["puppy", "run"]], [["dog"], ["puppy"]], [["boat"], ["ship"]]]
    >>> tags = [[["n", "v"], ["n", "v"]], [["n"], ["n"]], [["n"], ["n"]]]
    >>> AlignmentSimilarity(Rule(1, 0.5), Rule(1, 0.5)).fit(captions, tags).words_
    ['boat', 'dog', 'puppy', 'run', 'ship']
    """

    def __init__(
        self,
        nouns: Rule = NOUNS,
        verbs: Rule = VERBS,
        threshold: float = 0.05,
        model1: int = 5,
        model2: int = 5,
        null: bool = True,
    ) -> None:
        self.nouns, self.verbs, self.threshold = nouns, verbs, threshold
        self.model1, self.model2, self.null = model1, model2, null

    @property
    def needs_tags(self) -> bool:
        """Whether `fit` asks for parts of speech."""
        return True

    def fit(self, captions: Captions, tags: Captions | None = None) -> Self:
        """Learn from captions with the part of speech of every word: "n", "v", or anything else."""
        numbers: dict[str, int] = {}
        encoded = encode(captions, numbers)
        if tags is None:
            raise InputError(
                "alignments need the parts of speech of the words",
                fix="give tags, as karat.systems.text.tagged_words returns them",
            )
        check_tags(captions, tags)
        flat = np.array([tag for item in tags for caption in item for tag in caption], dtype=str)
        total, as_noun, as_verb = tagged_counts(encoded.words, flat, len(numbers))
        share = np.divide(1.0, total, out=np.zeros(len(total)), where=total > 0)
        vectors: Any = 0
        kept = np.zeros(len(numbers), bool)
        found = []
        for rule, tagged in ((self.nouns, as_noun), (self.verbs, as_verb)):
            chosen = rule.chosen(tagged, total)
            vectors = vectors + self._translations(encoded, chosen, tagged * share)
            kept |= chosen
            found.append(chosen)
        names = np.array([*numbers], dtype=object)
        self.nouns_, self.verbs_ = (sorted(names[chosen].tolist()) for chosen in found)
        order = np.flatnonzero(kept)[np.argsort(names[kept])]
        self.words_ = names[order].tolist()
        self.matrix_ = cosines(vectors[order], self.threshold)
        return self

    def _translations(self, encoded: Encoded, chosen: np.ndarray, share: np.ndarray) -> Any:
        """Return P(w_i | w) P(w), [w, w_i], from the captions without all but the chosen words."""
        from scipy.sparse import diags_array

        sources, targets = caption_pairs(filtered(encoded, chosen[encoded.words]))
        cells = make_cells(sources, targets, len(chosen), self.null)
        table = translation_table(cells, self.model1, self.model2)
        return (diags_array(share) @ table[:-1]).tocsr()


def filtered(encoded: Encoded, kept: np.ndarray) -> Encoded:
    """Return the captions with some of their words.

    >>> filtered(encode([[["a", "b"], ["b"]]], {}), np.array([True, False, False])).start
    array([0, 1, 1])
    """
    start = np.concatenate([[0], np.cumsum(kept)])[encoded.start]
    return Encoded(encoded.words[kept], start, encoded.first)


def caption_pairs(encoded: Encoded) -> tuple[Encoded, Encoded]:
    """Return all ordered pairs of two captions of the same item, each side one after the other.

    >>> sources, targets = caption_pairs(encode([[["a"], ["b"]], [["c"]]], {}))
    >>> sources.words, targets.words
    (array([0, 1]), array([1, 0]))
    """
    number = np.diff(encoded.first)
    item = encoded.item
    count = number[item]
    one = np.repeat(np.arange(len(item)), count)
    within = np.arange(len(one)) - np.repeat(np.cumsum(count) - count, count)
    other = encoded.first[item[one]] + within
    different = one != other
    return _chosen(encoded, one[different]), _chosen(encoded, other[different])


def _chosen(encoded: Encoded, captions: np.ndarray) -> Encoded:
    """Return captions by number, each an item of its own."""
    length = encoded.length[captions]
    start = np.concatenate([[0], np.cumsum(length)])
    places = np.arange(start[-1]) + np.repeat(encoded.start[captions] - start[:-1], length)
    return Encoded(encoded.words[places], start, np.arange(len(start)))
