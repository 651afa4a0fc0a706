"""Words whose first noun senses are near each other in WordNet."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from karat.baselines.text.encoded_captions import Captions, check_captions
from karat.baselines.text.similarity import Similarity, cosines

if TYPE_CHECKING:
    from karat.lexicon import WordNet


class LinSimilarity(Similarity):
    r"""The cosine of Lin's similarities to what lies above a word in WordNet (Hodosh et al. 2013, eq. 23).

    A word means its first noun sense s. Its vector has 1 for s, and for every hypernym h of s
    :math:`\frac{2 \log P(h)}{\log P(s) + \log P(h)}`, where P(h) is the share of the nouns in the training
    captions that are an h: Lin's similarity of s and h (eq. 22). Every word that WordNet lists as a noun
    counts as one, verbs such as *swim* included. It is semidefinite: nothing is cut off.

    Parameters
    ----------
    cosine
        False: Lin's similarity of two words' senses itself (eq. 22), which need not be semidefinite. The
        paper's figure 3 prints that.
    wordnet
        The dictionary; the installed one by default.

    Attributes
    ----------
    words_, matrix_
        The training words that have a noun sense, in alphabetical order, and their similarities.

    Examples
    --------
    >>> learned = LinSimilarity().fit([[["dog", "puppy", "cat", "swim", "quickly"]] * 2])
    >>> [(word, round(value, 2)) for word, value in learned.nearest("dog", 2)]
    [('puppy', 0.63), ('cat', 0.47)]
    """

    def __init__(self, cosine: bool = True, wordnet: WordNet | None = None) -> None:
        self.cosine, self.wordnet = cosine, wordnet

    def fit(self, captions: Captions, tags: Captions | None = None) -> Self:
        """Count the words of the captions."""
        from karat.lexicon import InformationContent, wordnet

        check_captions(captions)
        known = self.wordnet or wordnet()
        counts = Counter(word for item in captions for caption in item for word in caption)
        senses = {word: known.first_sense(word, "n") for word in sorted(counts)}
        nouns = {word: sense for word, sense in senses.items() if sense is not None}
        self.words_ = list(nouns)
        rows = np.array([*nouns.values()], np.int64)
        content = InformationContent.from_counts(
            known, {word: counts[word] for word in nouns}, pos="n", first_sense=True, add=0
        )
        if self.cosine:
            self.matrix_ = cosines(hypernym_vectors(known, rows, content.values), threshold=0.0)
        else:
            self.matrix_ = known.lin_similarity(rows, rows, content)
        return self


def hypernym_vectors(wordnet: WordNet, senses: np.ndarray, content: np.ndarray) -> Any:
    """Return Lin's similarity of each sense to all that lies above it (eq. 23), as sparse rows."""
    from scipy.sparse import csr_array

    start, above, _ = wordnet.ancestors(senses)
    own = np.repeat(senses, np.diff(start))
    both = content[own] + content[above]
    similar = np.divide(2 * content[above], both, out=np.ones(len(above)), where=both > 0)
    similar[own == above] = 1.0
    return csr_array((similar, above.astype(np.int64), start), shape=(len(senses), len(wordnet)))
