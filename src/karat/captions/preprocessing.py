"""What is done to captions before they are compared, by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from karat.captions.porter import stem
from karat.captions.stop_words import STOP_WORDS
from karat.captions.tokens import tokenise

STRIPPED = re.compile(r"[\W_]+")


@lru_cache(maxsize=1 << 18)
def hodosh_bleu_tokens(text: str) -> tuple[str, ...]:
    """Return words as Hodosh et al. (2013, §4.2.2) count them for BLEU.

    Hyphenated words are broken up, what is neither letter nor digit is stripped, all is lower case.

    >>> hodosh_bleu_tokens("A black-and-white dog's T-shirt.")
    ('a', 'black', 'and', 'white', 'dog', 's', 't', 'shirt')
    """
    words = [STRIPPED.sub("", part) for token in tokenise(text) for part in token.split("-")]
    return tuple(word for word in words if word)


@lru_cache(maxsize=1 << 18)
def hodosh_rouge_tokens(text: str) -> tuple[str, ...]:
    """Return words as Hodosh et al. (2013, §4.2.2) count them for ROUGE: without stop words, stemmed.

    >>> hodosh_rouge_tokens("Two dogs are running on the beach.")
    ('two', 'dog', 'run', 'beach')
    """
    return tuple(stem(word) for word in hodosh_bleu_tokens(text) if word not in STOP_WORDS)


PREPROCESSING: dict[str, Callable[[str], tuple[str, ...]]] = {
    "coco": tokenise,
    "hodosh-bleu": hodosh_bleu_tokens,
    "hodosh-rouge": hodosh_rouge_tokens,
}
"""Pipelines from a caption to its words."""
