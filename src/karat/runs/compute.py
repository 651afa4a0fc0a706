"""Compute: what work is done with. Nothing here changes a result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from karat._util import Scheduler, Workers, bytes_of, check_folder, check_setting, setting_of, thread_count
from karat.runs.device import DEVICES
from karat.runs.one_pass import check_device
from karat.runs.run import PassOptions, Run


@dataclass(frozen=True, eq=False)
class Compute:
    """What computes, and how much it may take; every verb that works for long takes one.

    What is not given comes from the settings (`karat.settings`) where the work is done: the variable
    ``KARAT_THREADS``, or ``threads`` in the file of settings, and so on for the others.

    Parameters
    ----------
    threads
        How many; all by default.
    memory
        How much memory to use at most, such as "4GB" or a number of bytes; a bound that is too small is
        refused.
    checkpoint
        A folder where the finished part of a pass over the scores is kept while it lasts: the same call goes
        on from there after an interruption. All calls can share one.
    device
        What encodes models and makes the pass over the scores: "cpu" or "cuda". By default ("auto") a
        GPU where a model is encoded and PyTorch finds one, and the processor otherwise.
    scheduler
        The address of a Dask scheduler, or `karat.Scheduler` with its certificates: its workers make the pass
        over the scores.

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

    def __post_init__(self) -> None:
        # A wrong choice raises here, before anything is read.
        thread_count(self.threads)
        if (memory := setting_of("memory", self.memory)) is not None:
            bytes_of(memory)
        if (folder := setting_of("checkpoint", self.checkpoint)) is not None:
            check_folder(Path(folder))
        if self.device is None and setting_of("device") != "auto":
            check_setting("device", ["auto", *DEVICES])

    @property
    def named_device(self) -> str | None:
        """The device that is given or set; None where it is chosen by what there is."""
        device = setting_of("device", self.device)
        return None if device == "auto" else device

    def check_device(self) -> None:
        """Raise, before scores are read, where the named device cannot make a pass over them."""
        # Workers of a cluster may have what this machine lacks.
        if self.named_device is not None and setting_of("scheduler", self.scheduler) is None:
            check_device(self.named_device)

    def passing(self, runs: Iterable[Run] = (), workers: Workers | None = None) -> PassOptions:
        """Return how passes over the scores of runs are made, by the workers of a cluster where there are.

        A model that was encoded on a GPU just now is scored there, too, unless a device is named. The bound
        on memory is the runs' own: loading them has used some of it.
        """
        folder = setting_of("checkpoint", self.checkpoint)
        device = self.named_device or ("cuda" if any(run.device == "cuda" for run in runs) else "cpu")
        return PassOptions(None, folder and Path(folder), device, workers=workers, threads=self.threads)
