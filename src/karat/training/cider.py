"""CIDEr-D of every training image with every training caption, in torch: on a GPU, from numbers of words.

`Margins.from_captions` computes the same from texts, on a CPU and for every caption metric.
"""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import Tensor

from karat.training.margins import Margins
from karat.training.vocabulary import PADDING

ORDERS, SIGMA = 4, 6.0
BLOCK = 1024
"""How many captions are compared with all references at a time."""


def cider_margins(
    words: np.ndarray,
    owner: np.ndarray,
    *,
    own: str = "in",
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float16,
) -> Margins:
    """Return φ = CIDEr-D · 10 of all images and captions, idf from these captions alone.

    Parameters
    ----------
    words
        Per caption, the numbers of its words, padded with 0; every different word needs a number of its own.
    owner
        Per caption, its image; rising.
    own
        Whether a caption is among its own image's references: "in" or "out".
    device, dtype
        Where the table is made and kept, and as what.

    Examples
    --------
    >>> words = np.array([[2, 3, 4, 5, 2, 6], [5, 3, 7, 8, 0, 0], [2, 9, 10, 11, 12, 0]])
    >>> cider_margins(words, np.array([0, 0, 1])).batch(torch.tensor([0, 1]), torch.tensor([0, 2]))[1]
    tensor([ 5.5898, 10.0000])
    """
    words, owner = np.asarray(words), np.asarray(owner)
    count = np.bincount(owner)
    n_images, n_captions = len(count), len(owner)
    length = (words != PADDING).sum(1)
    references = torch.as_tensor(owner, device=device)
    share = torch.as_tensor(1.0 / np.maximum(count, 1), dtype=torch.float32, device=device)
    apart = torch.as_tensor(np.maximum(length - 1, 0), device=device)
    orders = [sides(words, length, owner, n, device) for n in range(1, ORDERS + 1)]
    table = torch.empty((n_images, n_captions), dtype=dtype, device=device)
    own_column = torch.arange(n_captions, device=device)
    whole = torch.stack([has_any for *_, has_any in orders]).float().mean(0)
    for begin in range(0, n_captions, BLOCK):
        end = min(begin + BLOCK, n_captions)
        total = torch.zeros((n_captions, end - begin), device=device)
        for reference, candidate, _ in orders:
            part = columns(candidate, begin, end)
            total += torch.sparse.mm(reference, part)
        total *= torch.exp(-(apart[:, None] - apart[begin:end]).square() / (2 * SIGMA**2)) / ORDERS
        # A caption with itself: n-grams that no other caption has were left out above.
        number = own_column[begin:end]
        total[number, number - begin] = whole[begin:end] if own == "in" else 0.0
        sums = torch.zeros((n_images, end - begin), device=device).index_add_(0, references, total)
        mean = sums * share[:, None]
        if own == "out":
            mine = references[begin:end]
            others = torch.as_tensor(np.maximum(count - 1, 1), device=device)[mine]
            mean[mine, number - begin] = sums[mine, number - begin] / others
        table[:, begin:end] = (10 * mean).to(dtype)
    return Margins(table, own=own, metric="cider")


def sides(
    words: np.ndarray, length: np.ndarray, owner: np.ndarray, n: int, device: torch.device | str
) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor, int], Tensor]:
    """Return captions as references (a sparse matrix) and as candidates (rows), and which have any n-grams.

    A column is an n-gram and how often it occurs at least: with min(a, b) = Σ_t [a ≥ t][b ≥ t], the clipped
    product min(a, b) · b is a plain one. N-grams of a single caption are left out: only it has them.
    """
    grams = np.stack([words[:, k : words.shape[1] - n + 1 + k] for k in range(n)], 2).astype(np.int64)
    caption, place = np.nonzero(np.arange(grams.shape[1]) < (length - n + 1)[:, None])
    gram = np.zeros(len(caption), np.int64)
    for k in range(n):
        key = gram * (int(words.max()) + 1) + grams[caption, place, k]
        gram = np.unique(key, return_inverse=True)[1]
    size = int(gram.max(initial=-1)) + 1
    cell, times = np.unique(caption * max(size, 1) + gram, return_counts=True)
    caption, gram = np.divmod(cell, max(size, 1))
    pairs = np.unique(owner[caption] * max(size, 1) + gram)
    images = np.bincount(pairs % max(size, 1), minlength=size)
    idf = np.log(len(np.unique(owner))) - np.log(np.maximum(images, 1))
    weight = times * idf[gram]
    norm = np.sqrt(np.bincount(caption, weight**2, minlength=len(words)))
    inverse = np.divide(1, norm, out=np.zeros_like(norm), where=norm > 0)
    shared = np.bincount(gram, minlength=size)[gram] > 1
    caption, gram, times = caption[shared], gram[shared], times[shared]
    # One row per (caption, n-gram, t) for t = 1 … times.
    row = np.repeat(np.arange(len(times)), times)
    step = np.arange(len(row)) - np.repeat(np.cumsum(times) - times, times)
    caption, number = caption[row], np.unique(gram[row] * 64 + step, return_inverse=True)[1]
    value = idf[gram[row]] * inverse[caption]
    width = int(number.max(initial=0)) + 1
    order = np.lexsort((number, caption))
    caption, number, value, repeated = caption[order], number[order], value[order], times[row][order]
    start = np.searchsorted(caption, np.arange(len(words) + 1))
    begins, places = (torch.as_tensor(part, device=device) for part in (start, number))
    as_reference = torch.as_tensor(value * repeated, dtype=torch.float32, device=device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its compressed rows beta
        reference = torch.sparse_csr_tensor(
            begins, places, as_reference, (len(words), width), check_invariants=False
        )
    as_candidate = torch.as_tensor(value, dtype=torch.float32, device=device)
    return reference, (begins, places, as_candidate, width), torch.as_tensor(norm > 0, device=device)


def columns(candidate: tuple[Tensor, Tensor, Tensor, int], begin: int, end: int) -> Tensor:
    """Return some candidates as columns of a full matrix."""
    start, number, value, width = candidate
    first, last = int(start[begin]), int(start[end])
    counts = start[begin : end + 1].diff()
    column = torch.repeat_interleave(torch.arange(end - begin, device=value.device), counts)
    table = torch.zeros((width, end - begin), device=value.device)
    table[number[first:last], column] = value[first:last]
    return table
