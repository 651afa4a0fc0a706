"""Image features: pictures in, pyramids of colour, texture and SIFT words out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

import numpy as np

from karat.systems.estimator import Estimator
from karat.systems.images import saving
from karat.systems.images.decoding import SIDE, Source, decode_image
from karat.systems.images.extras import extra
from karat.systems.images.parallel import each
from karat.systems.images.parameters import check_images, check_parameters
from karat.systems.images.pyramid import cells, pyramid_counts
from karat.systems.images.vocabulary import draw, fit_words
from karat.systems.images.word_cache import WordCache, words_key
from karat.systems.images.words import KINDS, source_words, word_type
from karat.validation import InputError, plural

Progress = Callable[[int], object]


class ImageFeatures(Estimator):
    """Pyramids of colour, texture and SIFT words: the image side of Hodosh et al. (2013), §3.3.

    Words are read at points × points places of a picture. `fit` finds the words by k-means over a sample;
    `transform` counts them in the whole picture, its quarters and its sixteenths. `histogram_kernel` and
    `pyramid_kernel` compare the counts.

    Parameters
    ----------
    side
        The longest side that pictures are scaled to.
    points
        Rows and columns of points: a multiple of 2^(levels − 1), at most 147, so that counts fit 16 bits.
    colour_words, texture_words, sift_words
        How many words of each kind. Data with fewer different points make fewer; the columns stay.
    levels
        Levels of the pyramid.
    sample_images, sample_points
        k-means sees so many points of so many pictures, drawn by `seed`; all where there are fewer.
    seed
        The same seed and the same list of pictures give the same words.
    unreadable
        What a picture that is damaged or missing does: "raise", or become a row of "zero" with a warning.
    cache
        Keep the words of picture files in karat's cache folder, by content, parameters and vocabulary.
    threads
        How many pictures at a time; all processors by default.

    Attributes
    ----------
    vocabularies_
        The words of each kind, float32 [words, dimensions].
    n_features_out_
        The number of columns of `transform`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> pictures = [rng.integers(0, 256, (20, 30, 3), dtype=np.uint8) for _ in range(4)]
    >>> features = ImageFeatures(side=32, points=8, colour_words=4, texture_words=4, sift_words=4)
    >>> counts = features.fit_transform(pictures)
    >>> counts.shape, counts.dtype, int(counts[0, :12].sum())
    ((4, 252), dtype('uint16'), 192)
    """

    vocabularies_: dict[str, np.ndarray]

    def __init__(
        self,
        side: int = SIDE,
        points: int = 64,
        colour_words: int = 128,
        texture_words: int = 256,
        sift_words: int = 256,
        levels: int = 3,
        sample_images: int = 200,
        sample_points: int = 1000,
        seed: int = 0,
        unreadable: str = "raise",
        cache: bool = True,
        threads: int | None = None,
    ) -> None:
        self.side, self.points = side, points
        self.colour_words = colour_words
        self.texture_words = texture_words
        self.sift_words = sift_words
        self.levels = levels
        self.sample_images, self.sample_points = sample_images, sample_points
        self.seed = seed
        self.unreadable = unreadable
        self.cache, self.threads = cache, threads

    def fit(self, images: Sequence[Source], y: object = None, *, progress: Progress | None = None) -> Self:
        """Find the words.

        Parameters
        ----------
        images
            Paths of picture files, or arrays (see `decode_image`).
        y
            Not used.
        progress
            Called with the number of pictures done.
        """
        check_parameters(self.get_params())
        extra("sklearn.cluster")
        images = check_images(images)
        if not images:
            raise InputError("there are no pictures to find words in", fix="give one or more")
        drawn = draw(len(images), self.sample_images, self.points**2, self.sample_points, self.seed)

        def sample(pair: tuple[int, np.ndarray]) -> list[np.ndarray]:
            picture = decode_image(images[pair[0]], side=self.side)
            return [describe(picture, self.points)[pair[1]] for describe in KINDS.values()]

        lenient = self.unreadable == "zero"
        found = [s for s in each(sample, drawn, self.threads, progress, lenient) if s is not None]
        if not found:
            raise InputError("none of the sampled pictures can be read", fix="check the list of files")
        self.vocabularies_ = {
            name: fit_words(np.concatenate(parts), size, self.seed)
            for name, size, parts in zip(KINDS, self._sizes(), zip(*found))
        }
        return self

    def transform(self, images: Sequence[Source], *, progress: Progress | None = None) -> np.ndarray:
        """Return how often each word occurs in each cell of each picture.

        `images` and `progress` are as for `fit`.

        Returns
        -------
        numpy.ndarray
            uint16 [pictures, cells × words]. Columns go by cell from coarse to fine, then by kind (colour,
            texture, SIFT); reshaped to [pictures, cells, words], a kind is a range of columns. Each kind
            counts points² in each level.
        """
        self.check_fitted()
        images = check_images(images)
        sizes, cache = self._sizes(), self._cache() if self.cache else None
        check_parameters(self.get_params(), self.vocabularies_)

        def row(source: Source) -> np.ndarray:
            words = source_words(source, self.side, self.points, self.vocabularies_, cache)
            return pyramid_counts(words, sizes, self.levels)

        out = np.zeros((len(images), self.n_features_out_), np.uint16)
        lost = []
        lenient = self.unreadable == "zero"
        for number, counts in enumerate(each(row, images, self.threads, progress, lenient)):
            if counts is None:
                lost.append(number)
            else:
                out[number] = counts
        if lost:
            what = f"{plural(len(lost), 'picture')} cannot be read; the first is number {lost[0]}"
            warnings.warn(what, stacklevel=2)
        return out

    def fit_transform(
        self, images: Sequence[Source], y: object = None, *, progress: Progress | None = None
    ) -> np.ndarray:
        """Find the words in pictures and count them there; `progress` hears of the counting."""
        return self.fit(images).transform(images, progress=progress)

    def save(self, folder: str | Path) -> None:
        """Write parameters and vocabularies as json and safetensors into a folder, made if need be."""
        self.check_fitted()
        saving.save_vocabularies(folder, self.get_params(), self.vocabularies_)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return what `save` wrote, after checking it."""
        params, vocabularies = saving.load_vocabularies(folder)
        made = cls(**params)
        made.vocabularies_ = vocabularies
        return made

    @property
    def n_features_out_(self) -> int:
        """The number of columns that `transform` returns."""
        return cells(self.levels) * sum(self._sizes())

    def _sizes(self) -> list[int]:
        return [self.colour_words, self.texture_words, self.sift_words]

    def _cache(self) -> WordCache:
        key = words_key({"side": self.side, "points": self.points}, self.vocabularies_)
        sizes = [len(centres) for centres in self.vocabularies_.values()]
        return WordCache(key, (len(sizes), self.points, self.points), word_type(self.vocabularies_), sizes)
