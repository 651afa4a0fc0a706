"""In how many images an n-gram occurs, and how informative it therefore is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from karat._util import parsing, write_file
from karat.captions.metric import References
from karat.captions.ngrams import EncodedTexts, Grams, count_grams, ranges, read_texts
from karat.captions.tokens import tokenise
from karat.errors import InputError, MissingDataError

ORDERS = 4


@dataclass(frozen=True, eq=False)
class DocumentFrequencies:
    """Of n-grams, n = 1 to 4, in how many images of a corpus they occur.

    Scores that use the same frequencies can be compared across sets of captions; those that take them from
    the given references change when an image is added.

    Parameters
    ----------
    images
        How many images the corpus has.
    grams
        The n-grams, words separated by one space; words hold no white space.
    counts
        In how many images each occurs.

    Examples
    --------
    >>> corpus = DocumentFrequencies.from_references([["a dog", "a big dog"], ["a cat"]])
    >>> corpus
    DocumentFrequencies(2 images, 9 n-grams)
    >>> corpus["a"], corpus["a dog"], corpus["zebra"]
    (2, 1, 0)
    """

    images: int
    grams: Sequence[str]
    counts: np.ndarray
    _place: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.grams) != len(self.counts):
            raise InputError(
                f"{len(self.grams)} n-grams have {len(self.counts)} counts", fix="give one for each"
            )
        if len(self.counts) and not 0 < self.counts.min() <= self.counts.max() <= self.images:
            raise InputError(
                f"n-grams are counted in {self.counts.min()} to {self.counts.max()} of {self.images} images",
                fix="count each image once",
            )
        object.__setattr__(self, "_place", {gram: k for k, gram in enumerate(self.grams)})

    def __repr__(self) -> str:
        return f"DocumentFrequencies({self.images:,} images, {len(self.grams):,} n-grams)"

    def __getitem__(self, gram: str) -> int:
        place = self._place.get(gram)
        return 0 if place is None else int(self.counts[place])

    @classmethod
    def from_references(cls, references: References) -> DocumentFrequencies:
        """Count in how many images each n-gram occurs; an image counts once."""
        texts = read_texts(references, [], tokenise)
        grams = count_grams(texts, ORDERS)
        return cls(len(references), grams.spell(texts), images_with(texts, grams))

    def save(self, path: str | Path) -> None:
        """Write an npz file without Python objects."""
        text = np.frombuffer("\n".join(self.grams).encode("utf-8", "surrogatepass"), dtype=np.uint8)

        def write(draft: Path) -> None:
            with draft.open("wb") as handle:
                np.savez_compressed(handle, images=self.images, counts=self.counts, grams=text)

        write_file(Path(path), write)

    @classmethod
    def load(cls, path: str | Path) -> DocumentFrequencies:
        """Read what `save` wrote."""
        path = Path(path)
        if not path.is_file():
            raise MissingDataError("there is no such file of document frequencies", where=path)
        with parsing(
            path, "is not a file of document frequencies", "write one with DocumentFrequencies.save"
        ):
            with np.load(path, allow_pickle=False) as arrays:
                images, counts = int(arrays["images"]), arrays["counts"].astype(np.int64)
                text = arrays["grams"].tobytes().decode("utf-8", "surrogatepass")
            return cls(images, text.split("\n") if len(counts) else [], counts)


def images_with(texts: EncodedTexts, grams: Grams) -> np.ndarray:
    """Return in how many images each n-gram is among the references."""
    begins, ends = grams.start[texts.reference, 0], grams.start[texts.reference, -1]
    image = np.repeat(np.repeat(np.arange(texts.n_images), np.diff(texts.first)), ends - begins)
    n_plain = grams.sample.size
    pairs = np.unique(image * np.int64(max(1, n_plain)) + grams.plain[grams.gram[ranges(begins, ends)]])
    return np.bincount(pairs % max(1, n_plain), minlength=n_plain)


def inverse_frequencies(texts: EncodedTexts, grams: Grams, corpus: DocumentFrequencies | None) -> np.ndarray:
    """Return log N − log max(1, images with it) of each n-gram, from a corpus or from the references."""
    if corpus is None:
        images, counts = texts.n_images, images_with(texts, grams)
    else:
        images = corpus.images
        counts = np.array([corpus[gram] for gram in grams.spell(texts)], dtype=np.int64)
    return np.log(max(1, images)) - np.log(np.maximum(1, counts))


def tf_idf(grams: Grams, idf: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, per entry of ``grams.gram``, idf and tf·idf, each over the length of its text's vector.

    A text has one vector for each n; where all of it is 0, so are these.
    """
    weight = idf[grams.plain[grams.gram]]
    # The k occurrences of an n-gram are k entries, but one element of the vector: tf² = k · tf.
    sizes = np.diff(grams.start, axis=1).ravel()
    vector = np.repeat(np.arange(sizes.size), sizes)
    norm = np.sqrt(np.bincount(vector, grams.count * weight**2, minlength=sizes.size))[vector]
    weight = np.divide(weight, norm, out=np.zeros_like(weight), where=norm > 0)
    return weight, grams.count * weight
