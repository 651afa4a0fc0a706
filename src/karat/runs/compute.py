"""Compute: what work is done with. Nothing here changes a result."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from karat._util import Scheduler, Workers, bytes_of, check_folder, thread_count
from karat.runs.one_pass import check_device
from karat.runs.run import PassOptions, Run


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
        What encodes models and makes the pass over the scores: "cpu" or "cuda". By default ("auto") a
        GPU where a model is encoded and PyTorch finds one, and the processor otherwise.
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

    def __post_init__(self) -> None:
        # A wrong choice raises here, before anything is read.
        thread_count(self.threads)
        if self.memory is not None:
            bytes_of(self.memory)
        if self.checkpoint is not None:
            check_folder(Path(self.checkpoint))

    def check_device(self) -> None:
        """Raise, before scores are read, where the named device cannot make a pass over them."""
        # Workers of a cluster may have what this machine lacks.
        if self.device not in (None, "auto") and self.scheduler is None:
            check_device(str(self.device))

    def passing(self, runs: Iterable[Run] = (), workers: Workers | None = None) -> PassOptions:
        """Return how passes over the scores of runs are made, by the workers of a cluster where there are.

        A model that was encoded on a GPU just now is scored there, too, unless a device is named. The bound
        on memory is the runs' own: loading them has used some of it.
        """
        folder = None if self.checkpoint is None else Path(self.checkpoint)
        device = "cuda" if any(run.device == "cuda" for run in runs) else "cpu"
        if self.device not in (None, "auto"):
            device = str(self.device)
        return PassOptions(None, folder, device, progress=self.tiles, workers=workers)
