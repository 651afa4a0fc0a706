"""BLEU-1 to BLEU-4 of single captions, as pycocoevalcap computes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from karat.captions.metric import CaptionMetric, References, check_one_each, register
from karat.captions.ngrams import count_grams, read_texts
from karat.captions.overlap import Coverage, penalty
from karat.captions.tokens import Tokeniser, tokenise
from karat.errors import InputError

TINY, SMALL = 1e-15, 1e-9
"""Added above and below in each precision, so that an order without a match makes φ small and not 0."""


class Bleu(CaptionMetric):
    """BLEU (Papineni et al. 2002) of one caption: n-gram precision with a penalty for short captions.

    φ is the geometric mean, for n = 1 to `orders`, of the share of the caption's n-grams that some reference
    has (each counted at most as often as in that reference), times exp(1 − r / c) where the caption's length
    c is below r, the nearest reference length (the shorter of two). Numerators have 1e-15 and denominators
    1e-9 added, as pycocoevalcap's class `Bleu` does; φ equals its values of single captions to 1e-9.

    Parameters
    ----------
    tokens
        What splits a caption into words.

    Examples
    --------
    >>> round(Bleu2().pair(["a dog runs in the park", "the dog is running"], "a dog runs fast"), 4)
    0.7071
    """

    orders: ClassVar[int]
    formula = "(Π_n p_n)^(1/N) · exp(min(0, 1 − r / c))"
    source = "Papineni et al. 2002, as in pycocoevalcap"

    def __init__(self, tokens: Tokeniser = tokenise) -> None:
        self.tokens = tokens

    def prepare(self, references: References, candidates: Sequence[str]) -> Coverage:
        """Read the captions of every image and every candidate."""
        texts = read_texts(references, candidates, self.tokens)
        return Coverage(texts, count_grams(texts, self.orders), TINY, SMALL, brief=True)


@register
class Bleu1(Bleu):
    """BLEU of words."""

    name = "bleu-1"
    orders = 1


@register
class Bleu2(Bleu):
    """BLEU of words and pairs of words."""

    name = "bleu-2"
    orders = 2


@register
class Bleu3(Bleu):
    """BLEU of n-grams up to three words."""

    name = "bleu-3"
    orders = 3


@register
class Bleu4(Bleu):
    """BLEU of n-grams up to four words."""

    name = "bleu-4"
    aliases = ("bleu",)
    orders = 4


def corpus_bleu(
    references: References, candidates: Sequence[str], orders: int = 4, tokens: Tokeniser = tokenise
) -> np.ndarray:
    """Return BLEU-1 to BLEU-`orders` of a whole set, candidate k for image k.

    Counts and lengths are summed over all captions before the precisions and the penalty are taken, so this
    is not the mean of the captions' own values. An image without references adds its candidate's words and
    no match.

    >>> corpus_bleu([["a dog runs"], ["a cat sits here"]], ["a dog runs", "a cat"], orders=2).round(3)
    array([0.67, 0.67])
    """
    check_one_each(references, candidates)
    if orders < 1:
        raise InputError(f"orders is {orders}", fix="give 1 or more")
    texts = read_texts(references, candidates, tokens)
    each = np.arange(len(candidates))
    covered, length, near = Coverage(texts, count_grams(texts, orders), TINY, SMALL, True).counts(each, each)
    matched = covered.sum(axis=1)
    guessed = np.maximum(length - np.arange(orders)[:, None], 0).sum(axis=1)
    precisions = (matched + TINY) / (guessed + SMALL)
    brief = penalty(length.sum(), np.maximum(near, 0).sum(), TINY, SMALL)
    return np.cumprod(precisions) ** (1 / np.arange(1, orders + 1)) * brief
