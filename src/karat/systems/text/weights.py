"""How much a word counts, by how many training items have it."""

from __future__ import annotations

import numpy as np

from karat.validation import check_choice

WEIGHTS = {"none": 0.0, "sqrt_idf": 0.5, "idf": 1.0}
"""The power of λ_w that a word's count is multiplied by."""


def check_weight(weight: str) -> str:
    """Return the name of a weight, or raise."""
    return check_choice(weight, tuple(WEIGHTS), "weight")


def word_weights(weight: str, counts: np.ndarray, items: int, size: int) -> np.ndarray:
    r"""Return the weight of each of `size` words.

    :math:`\lambda_w = \log \frac{|D|}{|D(w)| + 1}` with the training items D and those D(w) that have the
    word (Hodosh et al. 2013, section 3.4.1), or its square root, or 1. A word that all items have would get
    less than 0: it gets 0. So does every word when there is one training item.

    Parameters
    ----------
    weight
        "none", "idf" or "sqrt-idf".
    counts
        Training items that have each word of the vocabulary; words beyond it stand in none.
    items
        How many training items there are.
    size
        How many weights to return.

    Examples
    --------
    >>> word_weights("idf", np.array([9, 100]), items=100, size=3).round(3)
    array([2.303, 0.   , 4.605])
    """
    power = WEIGHTS[check_weight(weight)]
    if not power:
        return np.ones(size)
    full = np.zeros(size)
    full[: len(counts)] = counts
    return np.maximum(np.log(items / (full + 1)), 0.0) ** power
