"""Words that people use for the same thing: translations between captions of the same image.

IBM's translation models 1 and 2 (Brown et al. 1993) are trained by expectation-maximisation on arrays. One
array element is one cell: a word of a target sentence and a word of its source sentence that it may
translate. An iteration is a few sums over cells, by what they share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from karat.baselines.text.encoded_captions import Captions, EncodedCaptions, encode
from karat.baselines.text.parts_of_speech import TagRule, check_tags, tagged_counts
from karat.baselines.text.similarity import Similarity, cosines
from karat.errors import InputError

NOUNS, VERBS = TagRule(5, 0.5), TagRule(25, 0.25)
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
        The words that count as nouns and as verbs, in alphabetical order.
    words_, matrix_
        All of them, and their similarities.

    Examples
    --------
    >>> captions = [[["dog", "run"], ["puppy", "run"]], [["dog"], ["puppy"]], [["boat"], ["ship"]]]
    >>> tags = [[["n", "v"], ["n", "v"]], [["n"], ["n"]], [["n"], ["n"]]]
    >>> AlignmentSimilarity(TagRule(1, 0.5), TagRule(1, 0.5)).fit(captions, tags).words_
    ['boat', 'dog', 'puppy', 'run', 'ship']
    """

    def __init__(
        self,
        nouns: TagRule = NOUNS,
        verbs: TagRule = VERBS,
        threshold: float = 0.05,
        model1: int = 5,
        model2: int = 5,
        null: bool = True,
    ) -> None:
        self.nouns, self.verbs, self.threshold = nouns, verbs, threshold
        self.model1, self.model2, self.null = model1, model2, null

    @property
    def needs_tags(self) -> bool:
        """Whether `fit` needs parts of speech."""
        return True

    def fit(self, captions: Captions, tags: Captions | None = None) -> Self:
        """Learn from captions with the part of speech of every word: "n", "v", or anything else."""
        numbers: dict[str, int] = {}
        encoded = encode(captions, numbers)
        if tags is None:
            raise InputError(
                "alignments need the parts of speech of the words",
                fix="give tags, as karat.baselines.text.tagged_words returns them",
            )
        check_tags(captions, tags)
        flat = np.array([tag for item in tags for caption in item for tag in caption], dtype=str)
        total, as_noun, as_verb = tagged_counts(encoded.words, flat, len(numbers))
        share = np.divide(1.0, total, out=np.zeros(len(total)), where=total > 0)
        vectors: Any = 0
        known = np.zeros(len(numbers), bool)
        classes = []
        for rule, tagged in ((self.nouns, as_noun), (self.verbs, as_verb)):
            chosen = rule.chosen(tagged, total)
            vectors = vectors + self._translations(encoded, chosen, tagged * share)
            known |= chosen
            classes.append(chosen)
        names = np.array([*numbers], dtype=object)
        self.nouns_, self.verbs_ = (sorted(names[chosen].tolist()) for chosen in classes)
        order = np.flatnonzero(known)[np.argsort(names[known])]
        self.words_ = names[order].tolist()
        self.matrix_ = cosines(vectors[order], self.threshold)
        return self

    def _translations(self, encoded: EncodedCaptions, chosen: np.ndarray, share: np.ndarray) -> Any:
        """Return P(w_i | w) P(w), [w, w_i], from the captions without all but the chosen words."""
        from scipy.sparse import diags_array

        sources, targets = caption_pairs(filtered(encoded, chosen[encoded.words]))
        cells = make_cells(sources, targets, len(chosen), self.null)
        table = translation_table(cells, self.model1, self.model2)
        return (diags_array(share) @ table[:-1]).tocsr()


def filtered(encoded: EncodedCaptions, kept: np.ndarray) -> EncodedCaptions:
    """Return the captions with some of their words.

    >>> filtered(encode([[["a", "b"], ["b"]]], {}), np.array([True, False, False])).start
    array([0, 1, 1])
    """
    start = np.concatenate([[0], np.cumsum(kept)])[encoded.start]
    return EncodedCaptions(encoded.words[kept], start, encoded.first)


def caption_pairs(encoded: EncodedCaptions) -> tuple[EncodedCaptions, EncodedCaptions]:
    """Return all ordered pairs of two captions of the same item, each side one after the other.

    >>> sources, targets = caption_pairs(encode([[["a"], ["b"]], [["c"]]], {}))
    >>> sources.words, targets.words
    (array([0, 1]), array([1, 0]))
    """
    number = np.diff(encoded.first)
    item = encoded.item
    count = number[item]
    source = np.repeat(np.arange(len(item)), count)
    within = np.arange(len(source)) - np.repeat(np.cumsum(count) - count, count)
    target = encoded.first[item[source]] + within
    different = source != target
    return _chosen(encoded, source[different]), _chosen(encoded, target[different])


def _chosen(encoded: EncodedCaptions, captions: np.ndarray) -> EncodedCaptions:
    """Return captions by number, each as a separate item."""
    length = encoded.length[captions]
    start = np.concatenate([[0], np.cumsum(length)])
    places = np.arange(start[-1]) + np.repeat(encoded.start[captions] - start[:-1], length)
    return EncodedCaptions(encoded.words[places], start, np.arange(len(start)))


@dataclass(frozen=True, eq=False)
class TranslationCells:
    """All (source word, target word) cells of all pairs of sentences.

    Parameters
    ----------
    target
        The target word that each cell belongs to, numbered through all pairs.
    link, source_of, target_of
        The (source, target) pair of words of each cell, numbered; and the words of each such pair. The
        empty word has the number `size`.
    slot, slot_group
        Each cell's (places, lengths of both sentences), numbered; and the part of it without the source's
        place, of which model 2's probabilities sum to 1.
    size
        The number of words.
    """

    target: np.ndarray
    link: np.ndarray
    source_of: np.ndarray
    target_of: np.ndarray
    slot: np.ndarray
    slot_group: np.ndarray
    size: int


def make_cells(
    sources: EncodedCaptions, targets: EncodedCaptions, size: int, null: bool = True
) -> TranslationCells:
    """Return the cells of sentence pairs: caption c of `sources` with caption c of `targets`.

    Parameters
    ----------
    sources, targets
        As many captions each; pairs with an empty one have no cells.
    size
        The number of words, which are numbers below it.
    null
        Whether a target word may come from the empty word, place 0 of every source.
    """
    extra = int(null)
    source_length, target_length = sources.length, targets.length
    source_length = np.where((source_length > 0) & (target_length > 0), source_length + extra, 0)
    # A target word meets all source words: as many cells.
    pair = targets.caption
    count = source_length[pair]
    target = np.repeat(np.arange(len(pair)), count)
    begin = np.cumsum(count) - count
    i = np.arange(len(target)) - begin[target]
    pair, j = pair[target], targets.position[target]
    padded = np.append(sources.words, size)
    place = np.where(i < extra, len(sources.words), sources.start[:-1][pair] + i - extra)
    source, word = padded[place], targets.words[target]
    pairs, link = np.unique(source * np.int64(max(size, 1)) + word, return_inverse=True)
    largest = np.int64(max(source_length.max(initial=0), target_length.max(initial=0)) + 1)
    group = (source_length[pair] * largest + target_length[pair]) * largest + j
    slots, slot = np.unique(group * largest + i, return_inverse=True)
    slot_group = np.unique(slots // largest, return_inverse=True)[1]
    return TranslationCells(target, link, pairs // max(size, 1), pairs % max(size, 1), slot, slot_group, size)


def translation_table(cells: TranslationCells, model1: int = 5, model2: int = 5) -> Any:
    """Return t(target | source), [source, target], as a sparse table; rows of words that occur sum to 1.

    Parameters
    ----------
    cells
        What `make_cells` returned.
    model1, model2
        Iterations of model 1, from equal probabilities; then of model 2, which adds the probability of a
        source place given the target place and both lengths, and starts with equal ones.

    Returns
    -------
    A scipy sparse array [size + 1, size]; the last row is the empty word's.
    """
    from scipy.sparse import csr_array

    if min(model1, model2) < 0 or model1 + model2 == 0:
        raise InputError(f"{model1} and {model2} iterations were requested", fix="give one or more of either")
    probable = np.ones(len(cells.source_of))
    placed = np.ones(len(cells.slot_group))
    for iteration in range(model1 + model2):
        share = probable[cells.link] * placed[cells.slot]
        share /= np.bincount(cells.target, share)[cells.target]
        probable = _shares(np.bincount(cells.link, share, len(probable)), cells.source_of)
        if iteration >= model1:
            placed = _shares(np.bincount(cells.slot, share, len(placed)), cells.slot_group)
    shape = (cells.size + 1, cells.size)
    return csr_array((probable, (cells.source_of, cells.target_of)), shape=shape)


def _shares(counts: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return the share that each count has of its group."""
    total = np.bincount(group, counts)[group]
    return np.divide(counts, total, out=np.zeros(len(counts)), where=total > 0)
