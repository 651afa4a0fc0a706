"""The built-in tagger and parser: load once, call with tokenised sentences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from karat.lexicon.syntax import templates
from karat.lexicon.syntax.model import Model
from karat.lexicon.syntax.sentences import LABELS, TAGS, Parsed, flatten

CASE = LABELS.index("case")
# How many partial trees are kept, and from how many words on only one is, to keep the time linear.
BEAM, LONGEST = 4, 200


class Parser:
    """A part-of-speech tagger and dependency parser for English, best on captions.

    Parameters
    ----------
    model
        The weights; `load_parser` gives the parser with those that karat brings.

    Examples
    --------
    >>> parser = load_parser()
    >>> print(parser([["a", "man", "riding", "a", "wave"]])[0])
    0  a       DET   DT    1  det   man
    1  man     NOUN  NN   -1  root  -
    2  riding  VERB  VBG   1  acl   man
    3  a       DET   DT    4  det   wave
    4  wave    NOUN  NN    2  obj   riding
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._tagger = templates.TAG, *model.tagger.laid_out(), model.tagger.column, model.tagger.value
        self._labels = templates.LABEL, *model.labels.laid_out(), model.labels.column, model.labels.value
        slots, shift, _ = model.actions.laid_out()
        # Three actions only: a row of three is faster than a list of classes.
        dense = np.zeros((len(slots), 3), model.actions.value.dtype)
        row = np.repeat(np.flatnonzero(slots), model.actions.count)
        dense[row, model.actions.column] = model.actions.value
        self._actions = templates.ACTION, slots, shift, dense
        self._groups = tag_groups(model.classes)

    def __call__(self, sentences: Sequence[Sequence[str]]) -> Parsed:
        """Tag and parse tokenised sentences.

        Parameters
        ----------
        sentences
            Each a sequence of words; an empty one gives an empty parse.

        Returns
        -------
        Parsed
            Tags, heads and relations of all sentences.
        """
        from karat.lexicon.syntax.beam_kernels import parse_words
        from karat.lexicon.syntax.tag_kernels import tag_words

        model = self.model
        ptr, words = flatten(sentences)
        table = self.read(words)
        classes = np.empty(len(words), np.int64)
        tag_words(table, ptr, self._tagger, len(model.classes), classes)
        head, label = np.empty(len(words), np.int32), np.empty(len(words), np.uint8)
        parse_words(
            table, classes, ptr, self._groups, BEAM, LONGEST, self._actions, self._labels, len(LABELS), CASE,
            head, label,
        )  # fmt: skip
        return Parsed(ptr, words, model.classes[classes, 0], model.classes[classes, 1], head, label)

    def read(self, words: list[str]) -> np.ndarray:
        """Return the table of hashes and lexicon facts of words, one row each."""
        return word_table(words, self.model.keys, self.model.facts)


def tag_groups(classes: np.ndarray) -> np.ndarray:
    """Return per class of the tagger which sense class its words take: the noun's, the verb's or none."""
    from karat.lexicon.syntax.state_kernels import NOUNS, VERBS

    groups = {"NOUN": NOUNS, "PROPN": NOUNS, "VERB": VERBS}
    return np.array([groups.get(TAGS[tag], 0) for tag in classes[:, 0]], np.int64)


def word_table(words: list[str], keys: np.ndarray, facts: np.ndarray) -> np.ndarray:
    """Return the hashes of words and of their parts, and what the lexicon says of them."""
    from karat.lexicon.syntax.feature_kernels import WORD_COLUMNS, read_words

    start = np.zeros(len(words) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), out=start[1:])
    # Lone surrogates occur in broken captions; they are as good a character as any.
    chars = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
    table = np.empty((len(words), WORD_COLUMNS), np.int64)
    read_words(chars, start, keys, facts, table)
    return table


@cache
def load_parser() -> Parser:
    """Return the parser that karat brings, read once per process.

    Returns
    -------
    Parser
        Trained on the English Web Treebank by `scripts/train_english.py`; see docs/syntax.md.
    """
    return Parser(Model.load(Path(__file__).parent / "english.npz"))
