"""What a caption metric is: φ(an image's captions, a caption), for one pair, a list, or all pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, TypeVar

import numpy as np

from karat.registry import Registry, import_all
from karat.validation import InputError, plural

References = Sequence[Sequence[str]]
"""Per image, the captions that were written for it."""

Own = tuple[np.ndarray, np.ndarray]
"""Per candidate, its image and its number among that image's references; −1 where it has none."""

Progress = Callable[[int, int], object]
"""Called with how many images are done, and how many there are."""


class Prepared(ABC):
    """Images' captions and candidate captions, read once: every φ between them is quick to ask for."""

    n_images: int
    n_captions: int

    @abstractmethod
    def block(self, begin: int, end: int, threads: int | None = None) -> np.ndarray:
        """Return φ of images begin to end with every candidate, float32 [end - begin, n_captions]."""

    @abstractmethod
    def at(self, image: np.ndarray, caption: np.ndarray, leave_out: np.ndarray | None = None) -> np.ndarray:
        """Return φ of given pairs, float64.

        `leave_out` gives, per pair, the number of the reference of that image that is not to count
        (−1: none), so that a caption need not be compared with itself.
        """

    def check_pairs(
        self, image: np.ndarray, caption: np.ndarray, leave_out: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return images, captions and references to leave out, one of each per pair.

        A single one stands for all pairs; raises where a pair is not there.
        """
        given = [
            np.atleast_1d(np.asarray(part, dtype=np.int64))
            for part in (image, caption, -1 if leave_out is None else leave_out)
        ]
        sizes = [part.shape for part in given]
        if any(len(size) > 1 for size in sizes) or len({*sizes} - {(1,)}) > 1:
            raise InputError(
                f"images, captions and what to leave out have the shapes {', '.join(map(str, sizes))}",
                fix="give one of each per pair",
            )
        for what, index, size in zip(("image", "caption"), given, (self.n_images, self.n_captions)):
            # The compiled loops would read beyond the arrays.
            if index.size and not 0 <= index.min() <= index.max() < size:
                strange = index.min() if index.min() < 0 else index.max()
                raise InputError(f"a pair names {what} {strange}", fix=f"there are {size:,}, from 0")
        # Copied, so that the loops are compiled for one kind of array only.
        image, caption, leave = (part.copy() for part in np.broadcast_arrays(*given))
        return image, caption, leave


class CaptionMetric(ABC):
    """φ: how well a caption fits an image, judged by the captions that the image has.

    A subclass declares what follows as class attributes, implements `prepare`, and is registered by
    `register`. Decided for all of them: an image without captions and a caption without words have φ = 0,
    and φ is never NaN.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    formula: ClassVar[str] = ""
    source: ClassVar[str] = ""
    """The paper, with its equation."""
    highest: ClassVar[float] = 1.0
    """The value of a caption that could not fit better: φ / highest is a grade in [0, 1]."""

    @abstractmethod
    def prepare(self, references: References, candidates: Sequence[str]) -> Prepared:
        """Read the captions of every image and every candidate."""

    def __repr__(self) -> str:
        return f"<caption metric {self.name}>"

    def pair(self, references: Sequence[str], candidate: str) -> float:
        """Return φ of one image and one caption."""
        return float(self.scores([references], [candidate])[0])

    def scores(self, references: References, candidates: Sequence[str]) -> np.ndarray:
        """Return φ of image k with candidate k, for every k."""
        check_one_each(references, candidates)
        each = np.arange(len(candidates))
        return self.prepare(references, candidates).at(each, each)

    def matrix(
        self,
        references: References,
        candidates: Sequence[str],
        *,
        own: Own | None = None,
        out: str | Path | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """Return N[i, j] = φ(captions of image i, candidate j), float32 (Semantic margin eq. 3).

        Parameters
        ----------
        own
            Per candidate, its image and its number among that image's references; there the candidate
            is left out of the references. −1 where it has none.
        out
            Write into this npy file, block by block, and return it mapped into memory. It stands under
            its name only when it is complete.
        threads
            How many to use; all processors by default.
        progress
            Called after each block with how many images are done, and how many there are.
        """
        from karat.captions.streaming import table_of

        return table_of(
            self.prepare(references, candidates), own=own, out=out, threads=threads, progress=progress
        )


def check_one_each(references: References, candidates: Sequence[str]) -> None:
    """Raise where there is not one candidate for each image."""
    if len(references) != len(candidates):
        raise InputError(
            f"{plural(len(references), 'image')} and {plural(len(candidates), 'candidate')}",
            fix="give one candidate for each image, or ask for the matrix of all pairs",
        )


CAPTION_METRICS: Registry[CaptionMetric] = Registry(
    "caption metric", fill=lambda: import_all("karat.captions.metrics")
)

M = TypeVar("M", bound=type[CaptionMetric])


def register(metric: M) -> M:
    """Make a metric known by its name and aliases, with default parameters; a name that is taken raises."""
    CAPTION_METRICS.add(metric.name, metric(), metric.aliases)
    return metric
