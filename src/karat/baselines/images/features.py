"""Image features: pictures in, pyramids of colour, texture and SIFT words out.

On disk, parameters are json and vocabularies safetensors; nothing in them is executed. Pictures are read on
several threads, each on one: the libraries' own threads would only get in the way.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from karat._util import (
    extra,
    fill_folder,
    keeping,
    parsing,
    plural,
    read_head,
    say,
    thread_count,
    track,
    write_file,
)
from karat.baselines.estimator import Estimator
from karat.baselines.images.descriptors import DESCRIPTORS, WIDTHS
from karat.baselines.images.pyramid import cells, pyramid_counts
from karat.baselines.images.vocabulary import WordCache, draw, fit_words, source_words, word_type, words_key
from karat.errors import InputError, KaratError, MissingDataError
from karat.models import SIDE, Source, decode_image

Item = TypeVar("Item")
Result = TypeVar("Result")
RANGES = {
    "side": (1, 4096),
    "points": (1, 147),
    "colour_words": (1, 4096),
    "texture_words": (1, 4096),
    "sift_words": (1, 4096),
    "levels": (1, 6),
    "sample_images": (1, 1_000_000),
    "sample_points": (1, 1_000_000),
    "seed": (0, 2**32 - 1),
}
UNREADABLE = ("raise", "zero")
FORMAT, VERSION = "karat-image-features", 1
HEAD, TABLE = "image-features.json", "image-features.safetensors"
# How fast and where the work is done is not part of what was learned.
SAVED = (*RANGES, "unreadable")


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
        How many pictures k-means samples, and how many points of each, drawn by `seed`; at most all.
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

    def fit(self, images: Sequence[Source], y: object = None) -> Self:
        """Find the words.

        Parameters
        ----------
        images
            Paths of picture files, or arrays (see `decode_image`).
        y
            Not used.
        """
        check_parameters(self.get_params())
        extra("sklearn.cluster")
        images = check_images(images)
        if not images:
            raise InputError("there are no pictures to find words in", fix="give one or more")
        drawn = draw(len(images), self.sample_images, self.points**2, self.sample_points, self.seed)

        def sample(pair: tuple[int, np.ndarray]) -> list[np.ndarray]:
            picture = decode_image(images[pair[0]], side=self.side)
            return [describe(picture, self.points)[pair[1]] for describe in DESCRIPTORS.values()]

        lenient = self.unreadable == "zero"
        samples = [s for s in each(sample, drawn, self.threads, lenient) if s is not None]
        if not samples:
            raise InputError("none of the sampled pictures can be read", fix="check the list of files")
        say("finding visual words")
        self.vocabularies_ = {
            name: fit_words(np.concatenate(parts), size, self.seed)
            for name, size, parts in zip(DESCRIPTORS, self._sizes(), zip(*samples))
        }
        return self

    def transform(self, images: Sequence[Source]) -> np.ndarray:
        """Return how often each word occurs in each cell of each picture.

        `images` is as for `fit`.

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

        table = np.zeros((len(images), self.n_features_out_), np.uint16)
        lost = []
        lenient = self.unreadable == "zero"
        looked = 0

        def said() -> str:
            """Return how many pictures need not be looked at again."""
            return f"the words of {plural(looked, 'picture')} kept in the cache" if looked and cache else ""

        with keeping(said):
            for number, counts in enumerate(each(row, images, self.threads, lenient)):
                looked += 1
                if counts is None:
                    lost.append(number)
                else:
                    table[number] = counts
        if lost:
            what = f"{plural(len(lost), 'picture')} cannot be read; the first is number {lost[0]}"
            warnings.warn(what, stacklevel=2)
        return table

    def fit_transform(self, images: Sequence[Source], y: object = None) -> np.ndarray:
        """Find the words in pictures and count them there."""
        return self.fit(images).transform(images)

    def save(self, folder: str | Path) -> None:
        """Write parameters and vocabularies as json and safetensors into a folder, made if need be."""
        self.check_fitted()
        save_vocabularies(folder, self.get_params(), self.vocabularies_)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return what `save` wrote, after checking it."""
        params, vocabularies = load_vocabularies(folder)
        features = cls(**params)
        features.vocabularies_ = vocabularies
        return features

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


def save_vocabularies(
    folder: str | Path, params: Mapping[str, Any], vocabularies: Mapping[str, np.ndarray]
) -> None:
    """Write both files into a folder, which is made if need be."""
    from safetensors.numpy import save_file

    saved = {name: params[name] if isinstance(params[name], str) else int(params[name]) for name in SAVED}
    head = {"format": FORMAT, "version": VERSION, "parameters": saved}
    centres = {name: np.ascontiguousarray(table) for name, table in vocabularies.items()}

    def write(draft: Path) -> None:
        # By itself, safetensors would write a file that only the user can read.
        write_file(draft / TABLE, lambda path: save_file(centres, path))
        (draft / HEAD).write_text(json.dumps(head, indent=1) + "\n", encoding="utf-8")

    fill_folder(Path(folder), write, last=[HEAD])


def load_vocabularies(folder: str | Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return parameters and centres, checked."""
    from safetensors.numpy import load_file

    head, table = Path(folder) / HEAD, Path(folder) / TABLE
    for path in (head, table):
        if not path.is_file():
            raise MissingDataError(
                "there is no such file", where=path, fix="write it with ImageFeatures.save"
            )
    with parsing(head, "is not a description of image features", "write it with ImageFeatures.save"):
        read = read_head(head, FORMAT, VERSION, fix="use the version of karat that wrote it")
        params = {name: read["parameters"][name] for name in SAVED}
        check_parameters(params)
    with parsing(table, "is not a complete safetensors file", "write it with ImageFeatures.save"):
        vocabularies = load_file(table)
    for name, width in WIDTHS.items():
        centres = vocabularies.get(name)
        fits = centres is not None and centres.dtype == np.float32 and centres.ndim == 2
        if centres is None or not fits or not 1 <= len(centres) <= params[f"{name}_words"]:
            raise InputError(f"has no usable vocabulary {name}", where=table, fix="write it again")
        if centres.shape[1] != width or not np.isfinite(centres).all():
            raise InputError(f"holds a damaged vocabulary {name}", where=table, fix="write it again")
    return params, {name: vocabularies[name] for name in WIDTHS}


def check_parameters(params: Mapping[str, Any], learned: Mapping[str, np.ndarray] | None = None) -> None:
    """Raise when a parameter of `ImageFeatures` cannot be used, or not with vocabularies learned before."""
    for name, (low, high) in RANGES.items():
        value: Any = params[name]
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not whole or not low <= value <= high:
            raise InputError(f"{name} is {value!r}", fix=f"give a whole number from {low} to {high:,}")
    finest = 2 ** (params["levels"] - 1)
    if params["points"] % finest:
        raise InputError(
            f"{params['points']} points do not divide into {finest} cells per side",
            fix=f"give a multiple of {finest}",
        )
    if params["unreadable"] not in UNREADABLE:
        raise InputError(f"unreadable is {params['unreadable']!r}", fix=f"choose {' or '.join(UNREADABLE)}")
    for name, centres in (learned or {}).items():
        if len(centres) > params[f"{name}_words"]:
            raise InputError(
                f"{name}_words is {params[f'{name}_words']}, but {len(centres)} words were learned",
                fix="call fit again",
            )


def check_images(images: Sequence[Source] | np.ndarray) -> list[Source]:
    """Return the pictures as a list; a single one is an error, not a list of its rows."""
    single = isinstance(images, str | Path | bytes)
    if isinstance(images, np.ndarray):
        single = images.ndim < 3 or (images.ndim == 3 and images.shape[2] in (3, 4))
    if single:
        raise InputError("a single picture was given", fix="give a list of pictures")
    sources = list(images)
    for number, source in enumerate(sources):
        if not isinstance(source, str | Path | np.ndarray):
            raise InputError(
                f"picture {number} is a {type(source).__name__}", fix="give paths or arrays of pixels"
            )
    return sources


@contextmanager
def single_threaded() -> Iterator[None]:
    """Keep numpy's and OpenCV's routines on one thread; results then do not depend on how many there are."""
    # Asked for before the work starts: inside it, an error may be taken for a damaged picture.
    extra("PIL.Image")
    cv2: Any = extra("cv2")
    before = cv2.getNumThreads()
    with extra("threadpoolctl").threadpool_limits(1):
        cv2.setNumThreads(1)
        try:
            yield
        finally:
            cv2.setNumThreads(before)


def each(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    threads: int | None = None,
    lenient: bool = False,
) -> Iterator[Result | None]:
    """Yield what `work` returns for each item, in order.

    If `lenient`, an item for which `work` raises a `KaratError` yields None; otherwise the error is raised.

    Examples
    --------
    >>> list(each(lambda x: x * x, range(4), threads=2))
    [0, 1, 4, 9]
    """
    if threads is not None and threads < 1:
        raise InputError(f"{threads} threads were requested", fix="give 1 or more")

    def tried(item: Item) -> Result | None:
        try:
            return work(item)
        except KaratError:
            if not lenient:
                raise
            return None

    with single_threaded(), ThreadPoolExecutor(thread_count(threads)) as pool:
        yield from track(pool.map(tried, items), "reading pictures", len(items))
