"""IBM's translation models 1 and 2 (Brown et al. 1993), trained by expectation-maximisation on arrays.

One array element is one cell: a word of a target sentence and a word of its source sentence that it may
translate. An iteration is a few sums over cells, by what they share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.systems.text.encoded import Encoded
from karat.validation import InputError


@dataclass(frozen=True, eq=False)
class Cells:
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


def make_cells(sources: Encoded, targets: Encoded, size: int, null: bool = True) -> Cells:
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
    length, other = sources.length, targets.length
    length = np.where((length > 0) & (other > 0), length + extra, 0)
    # A target word meets all source words: as many cells.
    pair = targets.caption
    count = length[pair]
    target = np.repeat(np.arange(len(pair)), count)
    begin = np.cumsum(count) - count
    i = np.arange(len(target)) - begin[target]
    pair, j = pair[target], targets.position[target]
    padded = np.append(sources.words, size)
    place = np.where(i < extra, len(sources.words), sources.start[:-1][pair] + i - extra)
    source, word = padded[place], targets.words[target]
    pairs, link = np.unique(source * np.int64(max(size, 1)) + word, return_inverse=True)
    largest = np.int64(max(length.max(initial=0), other.max(initial=0)) + 1)
    group = (length[pair] * largest + other[pair]) * largest + j
    slots, slot = np.unique(group * largest + i, return_inverse=True)
    slot_group = np.unique(slots // largest, return_inverse=True)[1]
    return Cells(target, link, pairs // max(size, 1), pairs % max(size, 1), slot, slot_group, size)


def translation_table(cells: Cells, model1: int = 5, model2: int = 5) -> Any:
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
        raise InputError(
            f"{model1} and {model2} iterations were asked for", fix="ask for one or more of either"
        )
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
