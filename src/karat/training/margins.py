"""φ of every training image with every training caption, kept where the loss can look it up.

A table in half precision, or, where that is too large, the cells that are not close to zero. Nothing but
`Margins.from_captions` needs the caption metrics and what they are compiled with: a saved table is used with
numpy, torch and safetensors alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from karat._util import check_choice, check_extension, check_table, not_finite, parsing, write_file
from karat.errors import InputError, MissingDataError

if TYPE_CHECKING:
    from karat.captions import CaptionMetric

OWN = ("in", "out")
TAU_DIVISOR = {"in": 1.0, "out": 3.4}
"""What τ is divided by: mean margins on Flickr8k are 3.4 times smaller with the positive left out."""
DENSE_CELLS = 10**10
"""Tables of more cells (20 GB in half precision) are kept sparse."""
CUT = 0.1
"""Cells below this are 0 in a sparse table. On Flickr8k, 8% of the cells of CIDEr reach it."""
FORMAT = "karat margins 1"


class Margins(nn.Module):
    """φ(G_i, c_j) of images i and captions j, from which margins are made; part of the loss that uses it.

    ``margins.to(device)``, or that of the loss, moves it; it is not in a loss's ``state_dict``.

    Parameters
    ----------
    table
        Images by captions, an array or a tensor. Row i holds φ of image i's references with every caption;
        at the captions of image i itself it holds what the positive's φ should be.
    own
        Whether φ of an image's own captions is with them among the references ("in", as in the paper) or
        left out of them ("out").
    scale
        The highest value that φ can have; said with τ, since τ means nothing without it.
    metric
        The name of φ.
    dtype
        What the table is kept in; by default as it is.

    Examples
    --------
    >>> margins = Margins(np.array([[5.0, 1.0], [0.5, 4.0]]), dtype=torch.float16)
    >>> fit, positive = margins.batch(torch.tensor([1, 0]), torch.tensor([1, 0]))
    >>> fit.tolist(), positive.tolist()
    ([[4.0, 0.5], [1.0, 5.0]], [4.0, 5.0])
    """

    table: Tensor | None
    rows: Tensor
    columns: Tensor
    values: Tensor
    _strides: list[int]

    def __init__(
        self,
        table: np.ndarray | Tensor,
        *,
        own: str = "in",
        scale: float = 10.0,
        metric: str = "table",
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(table, Tensor):
            table = torch.from_numpy(np.array(check_table(table, "margins")))
        if table.ndim != 2 or not table.numel():
            raise InputError(f"margins have the shape {tuple(table.shape)}", fix="give images by captions")
        table = table.to(dtype or (table.dtype if table.is_floating_point() else torch.float32))
        check_finite(table)
        self._describe(tuple(table.shape), own, scale, metric, 0.0)
        self._keep(table=table)

    def _describe(self, shape: tuple[int, ...], own: str, scale: float, metric: str, cut: float) -> None:
        self.n_images, self.n_captions = map(int, shape)
        self.own, self.scale = check_choice(own, OWN, "own"), float(scale)
        self.metric, self.cut = metric, float(cut)

    def _keep(self, **tensors: Tensor) -> None:
        for name in ("table", "rows", "columns", "values"):
            self.register_buffer(name, tensors.get(name), persistent=False)

    @classmethod
    def sparse(
        cls,
        rows: Sequence[int] | np.ndarray | Tensor,
        columns: np.ndarray | Tensor,
        values: np.ndarray | Tensor,
        n_captions: int,
        *,
        own: str = "in",
        scale: float = 10.0,
        metric: str = "table",
        cut: float = CUT,
        dtype: torch.dtype | None = None,
    ) -> Margins:
        """Return margins from compressed rows; cells that are not listed are 0.

        Parameters
        ----------
        rows
            Where each image's cells begin, and where the last one's end.
        columns, values
            The caption and φ of each cell, captions rising within an image.
        n_captions
            How many captions there are.
        own, scale, metric, dtype
            See `Margins`.
        cut
            The value below which cells were dropped.

        Examples
        --------
        >>> margins = Margins.sparse([0, 1, 3], np.array([0, 0, 2]), np.array([5.0, 1.0, 4.0]), 3)
        >>> margins.at(torch.tensor([0, 0, 1]), torch.tensor([0, 1, 2])).tolist()
        [5.0, 0.0, 4.0]
        """
        rows, columns, values = (torch.as_tensor(part) for part in (rows, columns, values))
        rows, columns, values = rows.long(), columns.int(), values.to(dtype or values.dtype)
        counts = rows.diff()
        fits = len(counts) and not rows[0] and rows[-1] == len(columns) == len(values) > 0
        if not fits or (counts < 0).any():
            raise InputError(
                f"{len(rows)} rows, {len(columns)} columns and {len(values)} values do not fit",
                fix="give where each image's cells begin and end, and a column and a value per cell",
            )
        if not 0 <= columns.min() <= columns.max() < n_captions:
            raise InputError("a column is not a caption", fix=f"there are {n_captions:,} captions, from 0")
        falls = columns.diff() <= 0
        falls[rows[1:-1][(rows[1:-1] > 0) & (rows[1:-1] < len(columns))] - 1] = False
        if falls.any():
            raise InputError("columns do not rise within an image", fix="sort them, each caption once")
        check_finite(values[None])
        margins = cls.__new__(cls)
        nn.Module.__init__(margins)
        margins._describe((len(counts), n_captions), own, scale, metric, cut)
        margins._keep(rows=rows, columns=columns, values=values)
        margins._strides = [1 << bit for bit in reversed(range(int(counts.max()).bit_length()))]
        return margins

    @classmethod
    def from_captions(
        cls,
        captions: Sequence[Sequence[str]],
        metric: str | CaptionMetric = "cider",
        *,
        own: str = "in",
        scale: float = 10.0,
        dtype: torch.dtype = torch.float16,
        sparse: bool | None = None,
        cut: float = CUT,
        threads: int | None = None,
    ) -> Margins:
        """Return the margins of training images by a caption metric.

        Captions are numbered through all images, in order. Document frequencies, where a metric has them,
        come from these captions alone: give those that you train with.

        Parameters
        ----------
        captions
            Per training image, its captions.
        metric
            A caption metric or its name: "cider" (CIDEr-D), "spice", …
        own
            Whether a caption counts among its own image's references: "in" (the paper) or "out".
        scale
            The highest value of φ. By default it is 10 for every metric, as CIDEr-D has it.
        dtype
            What the table is kept in. Half precision rounds φ by at most 0.004 at 10, and 0.0005 at 1.
        sparse
            Whether only cells of at least `cut` are kept; by default beyond 10^10 cells.
        cut
            On the scale of φ. Where a cell is dropped the margin is too large by less than cut / τ.
        threads
            See `karat.captions.CaptionMetric.matrix`.

        Examples
        --------
        >>> captions = [["a dog runs in the park", "the dog is running"], ["a red bus stops here"]]
        >>> margins = Margins.from_captions(captions)
        >>> margins
        Margins(2 images x 3 captions, cider, own='in', scale=10.0, float16)
        >>> margins.batch(torch.tensor([0, 1]), torch.tensor([0, 2]))[1]
        tensor([ 5.5273, 10.0000])
        """
        from karat.captions import CAPTION_METRICS

        check_choice(own, OWN, "own")
        found = CAPTION_METRICS[metric] if isinstance(metric, str) else metric
        candidates = [text for group in captions for text in group]
        own_cells = None
        if own == "out":
            image = np.repeat(np.arange(len(captions)), [len(group) for group in captions])
            number = np.concatenate([np.arange(len(group)) for group in captions])
            own_cells = image, number
        shape = len(captions), len(candidates)
        if not all(shape):
            raise InputError("there are no captions", fix="give a list of captions per training image")
        parts = found.blocks(captions, candidates, own=own_cells, threads=threads)
        about: dict[str, Any] = {"own": own, "scale": scale, "metric": found.name}
        factor = scale / found.highest
        if not (shape[0] * shape[1] > DENSE_CELLS if sparse is None else sparse):
            table = torch.empty(shape, dtype=dtype)
            for begin, part in parts:
                table[begin : begin + len(part)] = torch.from_numpy(part * factor)
            return cls(table, **about)
        counts, columns, values = [np.zeros(1, np.int64)], [], []
        for _, part in parts:
            part = part * factor
            kept = part >= cut
            counts.append(kept.sum(1))
            columns.append(torch.from_numpy(np.nonzero(kept)[1].astype(np.int32)))
            values.append(torch.from_numpy(part[kept]).to(dtype))
        rows = np.concatenate(counts).cumsum()
        return cls.sparse(rows, torch.cat(columns), torch.cat(values), shape[1], cut=cut, **about)

    @property
    def tau_divisor(self) -> float:
        """What losses divide τ by: 1, or 3.4 where own captions are left out of the references."""
        return TAU_DIVISOR[self.own]

    def __repr__(self) -> str:
        kept = self.values if self.table is None else self.table
        dtype = str(kept.dtype).removeprefix("torch.")
        stored = dtype
        if self.table is None:
            share = len(kept) / (self.n_images * self.n_captions)
            stored = f"{dtype}, the {share:.1%} of cells from {self.cut:g}"
        return (
            f"Margins({self.n_images:,} images x {self.n_captions:,} captions, {self.metric}, "
            f"own={self.own!r}, scale={self.scale}, {stored})"
        )

    def at(self, images: Tensor, captions: Tensor) -> Tensor:
        """Return φ of given images and captions, numbers of any shapes that broadcast; float32 or more."""
        if self.table is not None:
            fit = self.table[images, captions]
        else:
            first, end = self.rows[images], self.rows[images + 1]
            place, last = first - 1, len(self.columns) - 1
            # A binary search of all cells at once: how far can each place go without passing its caption?
            for stride in self._strides:
                ahead = place + stride
                passes = (ahead < end) & (self.columns[ahead.clamp(max=last)] <= captions)
                place = torch.where(passes, ahead, place)
            place, none = place.clamp(min=0), place < first
            fit = self.values[place].masked_fill_(none | (self.columns[place] != captions), 0)
        return fit.float() if fit.dtype.itemsize < 4 else fit

    def batch(self, images: Tensor, captions: Tensor) -> tuple[Tensor, Tensor]:
        """Return φ(G_p, c_m) of all pairs of a batch, [B, B], and φ(G_p, c_p) of its positives, [B]."""
        fit = self.at(images[:, None], captions)
        return fit, fit.diagonal()

    def save(self, path: str | Path) -> None:
        """Write a safetensors file, which `load` reads; sparse rows take 4 bytes a cell, or 6."""
        from safetensors.torch import save_file

        path = Path(path)
        check_extension(path, (".safetensors",))
        if self.table is not None:
            tensors = {"table": self.table.cpu().contiguous()}
        else:
            # Numbers of up to 65,536 captions fit into two bytes; read as unsigned.
            columns = self.columns.to(torch.int16) if self.n_captions <= 1 << 16 else self.columns
            tensors = {"rows": self.rows, "columns": columns, "values": self.values}
            tensors = {name: part.cpu().contiguous() for name, part in tensors.items()}
        names = ("n_images", "n_captions", "own", "scale", "metric", "cut")
        about = {"format": FORMAT, **{name: str(getattr(self, name)) for name in names}}
        write_file(path, lambda draft: save_file(tensors, draft, about))

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        shape: tuple[int, int] | None = None,
        own: str = "in",
        scale: float = 10.0,
        dtype: torch.dtype | None = None,
    ) -> Margins:
        """Return margins from a file of `save`, or from a similarity table in a npy file.

        Parameters
        ----------
        path
            A safetensors or npy file.
        shape
            How many images and captions it should be for; another number is an error.
        own, scale
            What a npy file does not say; see `Margins`.
        dtype
            What the table is kept in; by default as it is in the file.
        """
        path = Path(path)
        if not path.is_file():
            raise MissingDataError("there is no such file", where=path, fix="write it with Margins.save")
        if path.suffix == ".npy":
            with parsing(path, "is not a table of numbers", "save a float16 or float32 array with np.save"):
                table = check_table(np.load(path, allow_pickle=False), path)
            margins = cls(table, own=own, scale=scale, metric=path.name, dtype=dtype)
        else:
            margins = load_saved(path, dtype)
        if shape is not None and (margins.n_images, margins.n_captions) != tuple(shape):
            raise InputError(
                f"is for {margins.n_images:,} images and {margins.n_captions:,} captions",
                where=path,
                fix=f"the training set has {shape[0]:,} and {shape[1]:,}: make the margins from its captions",
            )
        return margins


def load_saved(path: Path, dtype: torch.dtype | None) -> Margins:
    """Return margins from a safetensors file, checked."""
    from safetensors import safe_open

    fix = "write it with Margins.save"
    with parsing(path, "is not a complete file of margins", fix):
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
            if about.get("format") != FORMAT:
                raise InputError(f"has the format {about.get('format')!r}", where=path, fix=fix)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        shape = int(about["n_images"]), int(about["n_captions"])
        said: dict[str, Any] = {
            "own": about["own"], "scale": float(about["scale"]), "metric": about["metric"], "dtype": dtype
        }  # fmt: skip
        if "table" in tensors:
            margins = Margins(tensors["table"], **said)
        else:
            columns = tensors["columns"]
            columns = columns.int() & 0xFFFF if columns.dtype == torch.int16 else columns
            cut = float(about["cut"])
            margins = Margins.sparse(tensors["rows"], columns, tensors["values"], shape[1], cut=cut, **said)
    if (margins.n_images, margins.n_captions) != shape:
        raise InputError(f"holds another table than its {shape[0]} x {shape[1]}", where=path, fix=fix)
    return margins


def check_finite(table: Tensor) -> None:
    """Raise for the first cell that is not a finite number."""
    if not torch.isfinite(table.sum(dtype=torch.float32)):
        row, column = map(int, (~torch.isfinite(table)).nonzero()[0])
        raise not_finite("margins", row, column, float(table[row, column]))
