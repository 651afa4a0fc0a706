"""A caption metric: φ(an image's captions, a caption), for one pair, for a list, or for all pairs.

A metric reads the captions once (`prepare`) and returns a `Prepared`, which knows φ of blocks of images and
of single pairs. What follows from these two is here: scores of a list, and the table of all pairs, block by
block, in memory or streamed into a file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import ClassVar, TypeVar

import numpy as np

from karat._util import Registry, Workers, import_all, plural, stage, write_file
from karat.errors import InputError

References = Sequence[Sequence[str]]
"""Per image, the captions that were written for it."""

Own = tuple[np.ndarray, np.ndarray]
"""Per candidate, its image and its number among that image's references; −1 where it has none."""


class Prepared(ABC):
    """Images' captions and candidate captions, read once: every φ between them is quick to compute."""

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

        A single one applies to all pairs; raises where a pair does not exist.
        """
        indices = [
            np.atleast_1d(np.asarray(part, dtype=np.int64))
            for part in (image, caption, -1 if leave_out is None else leave_out)
        ]
        sizes = [part.shape for part in indices]
        if any(len(size) > 1 for size in sizes) or len({*sizes} - {(1,)}) > 1:
            raise InputError(
                f"images, captions and what to leave out have the shapes {', '.join(map(str, sizes))}",
                fix="give one of each per pair",
            )
        for what, index, size in zip(("image", "caption"), indices, (self.n_images, self.n_captions)):
            # The compiled loops would read beyond the arrays.
            if index.size and not 0 <= index.min() <= index.max() < size:
                strange = index.min() if index.min() < 0 else index.max()
                raise InputError(f"a pair names {what} {strange}", fix=f"there are {size:,}, from 0")
        # Copied, so that the loops are compiled for one kind of array only.
        image, caption, leave = (part.copy() for part in np.broadcast_arrays(*indices))
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

    def check_installed(self) -> None:
        """Raise, before the work starts, where a package or data that it needs is missing."""
        return None

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
        workers: Workers | None = None,
    ) -> np.ndarray:
        """Return N[i, j] = φ(captions of image i, candidate j), float32 (Semantic margin eq. 3).

        Parameters
        ----------
        own
            Per candidate, its image and its number among that image's references; there the candidate
            is left out of the references. −1 where it has none.
        out
            Write into this npy file, block by block, and return it mapped into memory. It appears
            under its name only when it is complete.
        threads
            How many to use; all processors by default.
        workers
            Those of a cluster, which compute the blocks; by default this machine does.
        """
        prepared = self.prepare(references, candidates)
        return table_of(prepared, own=own, out=out, threads=threads, workers=workers)

    def blocks(
        self,
        references: References,
        candidates: Sequence[str],
        *,
        own: Own | None = None,
        threads: int | None = None,
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the rows of `matrix` in blocks, each after the number of its first image."""
        prepared = self.prepare(references, candidates)
        return blocks(prepared, None if own is None else check_own(own, prepared), threads)


CAPTION_METRICS: Registry[CaptionMetric] = Registry(
    "caption metric", fill=lambda: import_all("karat.captions.metrics"), group="karat.caption_metrics"
)

M = TypeVar("M", bound=type[CaptionMetric])


def register(metric: M) -> M:
    """Make a metric known by its name and aliases, with default parameters; a name that is taken raises."""
    CAPTION_METRICS.add(metric.name, metric(), metric.aliases)
    return metric


TYPE = np.dtype(np.float32)
CELLS_PER_BLOCK = 1 << 24
"""64 MiB of float32: large enough to share the work on a block, small enough to stream."""


def table_of(
    prepared: Prepared,
    *,
    own: Own | None = None,
    out: str | Path | None = None,
    threads: int | None = None,
    workers: Workers | None = None,
) -> np.ndarray:
    """Return N[i, j] = φ(image i, candidate j), float32; see `CaptionMetric.matrix`.

    >>> from karat.captions.metrics.hodosh import HodoshBleu
    >>> prepared = HodoshBleu().prepare([["a dog", "two dogs"], ["a cat"]], ["a dog", "a cat"])
    >>> table_of(prepared)
    array([[1. , 0.5],
           [0.5, 1. ]], dtype=float32)
    >>> table_of(prepared, own=(np.array([0, 1]), np.array([0, 0])))
    array([[0. , 0.5],
           [0.5, 0. ]], dtype=float32)
    """
    shape = prepared.n_images, prepared.n_captions
    parts = blocks(prepared, None if own is None else check_own(own, prepared), threads, workers)
    if out is None:
        table = np.empty(shape, dtype=TYPE)
        for begin, part in parts:
            table[begin : begin + len(part)] = part
        return table

    def write(draft: Path) -> None:
        # Written, not mapped: a full disk is then an error, and not the end of the process.
        with draft.open("wb") as handle:
            np.lib.format.write_array_header_1_0(
                handle, {"descr": TYPE.str, "fortran_order": False, "shape": shape}
            )
            for _, part in parts:
                handle.write(part.data)

    write_file(Path(out), write)
    return np.load(out, mmap_mode="r" if min(shape) else None)


def blocks(
    prepared: Prepared,
    own: Own | None,
    threads: int | None,
    workers: Workers | None = None,
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each block with its first image; a candidate meets its own image without itself."""
    image = caption = np.empty(0, dtype=np.int64)
    alone = np.empty(0)
    if own is not None:
        caption = np.flatnonzero(own[1] >= 0)
        image = own[0][caption]
        alone = prepared.at(image, caption, own[1][caption])
    step = max(1, CELLS_PER_BLOCK // max(1, prepared.n_captions))
    if workers is not None:
        step = max(1, min(step, prepared.n_images // workers.parts))
    spans = [(begin, min(begin + step, prepared.n_images)) for begin in range(0, prepared.n_images, step)]
    parts: Generator[np.ndarray] = (
        (prepared.block(*span, threads) for span in spans)
        if workers is None
        else workers.map(block_of, prepared, spans)
    )
    with closing(parts), stage("comparing images with captions", prepared.n_images) as images:
        for (begin, end), part in zip(spans, parts):
            here = (begin <= image) & (image < end)
            part[image[here] - begin, caption[here]] = alone[here]
            yield begin, part
            images.at(end)


def block_of(prepared: Prepared, span: tuple[int, int]) -> np.ndarray:
    """Return φ of a block of images with every candidate; on a worker, on one thread."""
    return prepared.block(*span, 1)


def check_own(own: Own, prepared: Prepared) -> Own:
    """Return images and numbers as arrays, or raise where there is not one for each candidate."""
    image, number = (np.asarray(part, dtype=np.int64) for part in own)
    if image.shape != (prepared.n_captions,) or number.shape != image.shape:
        raise InputError(
            f"own names {plural(image.size, 'image')} and {plural(number.size, 'number')}",
            fix=f"give one of each for the {plural(prepared.n_captions, 'candidate')}, −1 for none",
        )
    if image.size and image.max() >= prepared.n_images:
        raise InputError(f"own names image {image.max()}", fix=f"there are {prepared.n_images:,}, from 0")
    return image, np.where(image < 0, -1, number)


def check_captions(references: References, candidates: Sequence[str]) -> None:
    """Raise where one caption is given in place of a list of them, or a caption is not text."""
    if isinstance(candidates, str):
        raise InputError("candidates is one text", fix="give a list of captions")
    if isinstance(references, str) or any(isinstance(group, str) for group in references):
        raise InputError(
            "references holds a caption where a list of captions belongs",
            fix="give a list of captions for each image",
        )
    for what, texts in (("candidate", candidates), *(("reference", group) for group in references)):
        for text in texts:
            if not isinstance(text, str):
                raise InputError(f"{what} {text!r} is not text", fix="give captions as str")


def check_one_each(references: References, candidates: Sequence[str]) -> None:
    """Raise where there is not one candidate for each image."""
    if len(references) != len(candidates):
        raise InputError(
            f"{plural(len(references), 'image')} and {plural(len(candidates), 'candidate')}",
            fix="give one candidate for each image, or ask for the matrix of all pairs",
        )
