"""Compute: what work is done with. Nothing here changes a result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from karat._util import Scheduler


@dataclass(frozen=True, eq=False)
class Compute:
    """What computes, and how much it may take; every verb that works for long takes one.

    Parameters
    ----------
    threads
        How many; all by default.
    memory
        How much memory to use at most, such as "4GB" or a number of bytes; a bound that is too small is
        refused.
    checkpoint
        A folder where the finished part of a pass over the scores is kept while it lasts: the same call goes
        on from there after an interruption.
    device
        What encodes models and makes the pass over the scores: "cpu", "cuda" or "mps". By default a GPU where
        a model is encoded and PyTorch finds one, and the processor otherwise.
    scheduler
        The address of a Dask scheduler, or `karat.Scheduler` with its certificates: its workers make the pass
        over the scores.
    progress
        Called with each run's name before it is scored.
    tiles
        Called during a pass with how many tiles are done, and how many there are.
    says
        Called with a sentence before each part of the work.

    Examples
    --------
    >>> Compute(threads=2, memory="4GB").threads
    2
    """

    threads: int | None = None
    memory: int | float | str | None = None
    checkpoint: str | Path | None = None
    device: str | None = None
    scheduler: Scheduler | str | None = None
    progress: Callable[[str], object] | None = None
    tiles: Callable[[int, int], object] | None = None
    says: Callable[[str], object] | None = None
