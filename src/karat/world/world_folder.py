"""A world in a folder: the benchmark, its pictures, and runs of simulated systems, all or nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from karat._util import check_folder, filling_folder, is_empty, plural
from karat.errors import InputError
from karat.world.systems import simulate_systems
from karat.world.world import HEADS, World, make_world, save_world


def make(
    images: int = 1000,
    captions: int = 5,
    seed: int = 0,
    *,
    output: str | Path | None = None,
    no_images: bool = False,
    systems: bool = False,
    force: bool = False,
) -> World:
    """Make pictures and captions whose right answers are known, and write them into a folder.

    A benchmark with its complete truth; the same seed gives the same bytes everywhere. The truth `original`
    says which picture each caption was written for, as benchmarks do; `complete` says of which pictures it
    is true, decided exactly.

    Parameters
    ----------
    images, captions, seed
        How many pictures, how many captions each, and the seed; see `make_world`.
    output
        The folder; by default nothing is written.
    no_images
        Whether no pictures are drawn.
    systems
        Whether runs of simulated systems are written too, to score and compare.
    force
        Whether a folder that is not empty may be used; files of the same name are replaced.

    Examples
    --------
    >>> import karat
    >>> world = karat.world.make(images=12, captions=2, seed=1)
    >>> print(world.summary())  # doctest: +ELLIPSIS
    12 images with 24 captions, seed 1
    a caption is true of ... images on average, median ...; ...% of them only of their own image
    the original labels contain 24 of the ... true pairs (...%)
    """
    folder = None if output is None else Path(output)
    if folder is None:
        return make_world(images, captions, seed)
    check_folder(folder)
    if folder.is_dir() and not is_empty(folder) and not force:
        raise InputError("is not empty", where=folder, fix="choose another folder, or pass --force")
    world = make_world(images, captions, seed)
    with filling_folder(folder, HEADS) as draft:
        save_world(world, draft, pictures=not no_images)
        runs = write_runs(world, draft / "runs") if systems else 0
    wrote = ["the benchmark", *([] if no_images else ["images/*.png"])]
    wrote += [f"{plural(runs, 'run')} in runs/"] if runs else []
    return replace(world, folder=folder, wrote=tuple(wrote))


def write_runs(world: World, folder: Path) -> int:
    """Write the scores of the simulated systems into a draft, and return how many they are."""
    folder.mkdir()
    runs = simulate_systems(world, seed=world.seed)
    for run in runs:
        np.save(folder / f"{run.name}.npy", run.scores)
    return len(runs)
