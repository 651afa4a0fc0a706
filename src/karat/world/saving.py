"""A world in a folder: a benchmark that every karat command reads, its pictures, and how to make it again.

benchmark.json, *.parquet   the benchmark, in karat's own format
images/000000.png           the pictures
meanings.parquet            what each caption states, in words; empty cells are not mentioned
world.json                  format, version, seed, sizes and a fingerprint
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from karat.benchmarks import save_benchmark
from karat.benchmarks.saving import HEAD as BENCHMARK
from karat.benchmarks.saving import make_folder, remove_old
from karat.validation import InputError, MissingDataError, write_file
from karat.world.kinds import NOUN_NAMES
from karat.world.meanings import Meanings
from karat.world.png import encode_png
from karat.world.vocabulary import BACKGROUND_NAMES, COLOURS, NUMBER_WORDS, POSITIONS, RELATIONS, SIZES
from karat.world.world import World, make_world

FORMAT, VERSION = "karat-world", 1
HEAD = "world.json"


def save_world(
    world: World, folder: str | Path, pictures: bool = True, progress: Callable[[int], object] | None = None
) -> None:
    """Write a world into a folder, which is made when it does not exist.

    Parameters
    ----------
    world
        What `make_world` returned.
    folder
        Where; files of the same name are replaced.
    pictures
        Whether to draw the images too.
    progress
        Called with the number of images written so far.

    Examples
    --------
    >>> import tempfile, karat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_world(make_world(images=4, captions=2, seed=1), folder)
    ...     karat.load_benchmark(folder), read_world(folder)
    (Benchmark('world': 4 images, 8 captions; truths original, complete),
     World(4 images, 8 captions, seed 1))
    """
    benchmark = world.benchmark()
    folder = make_folder(folder)
    # Both are written last, so that a folder with them is complete.
    for head in (BENCHMARK, HEAD):
        remove_old(folder / head)
    if pictures:
        make_folder(folder / "images")
        paths = [f"images/{name}" for name in benchmark.images.gallery]
        for number, path in enumerate(paths):
            data = encode_png(world.picture(number))
            write_file(folder / path, lambda file, data=data: file.write_bytes(data))  # type: ignore[misc]
            if progress is not None:
                progress(number + 1)
        benchmark = replace(benchmark, image_paths=[str(folder / path) for path in paths])
    write_meanings(world.meanings, folder / "meanings.parquet")
    save_benchmark(benchmark, folder)
    about = {
        "format": FORMAT,
        "version": VERSION,
        "seed": world.seed,
        "images": len(world.scenes),
        "captions": world.per_image,
        "sha256": world.digest,
    }
    text = json.dumps(about, indent=1) + "\n"
    write_file(folder / HEAD, lambda file: file.write_text(text, encoding="utf-8"))


def read_world(folder: str | Path) -> World:
    """Return the world of a folder: made again from its seed, and compared with its fingerprint."""
    path = Path(folder) / HEAD
    if not path.is_file():
        raise MissingDataError(f"there is no {HEAD}", where=folder, fix="make one with karat world")
    try:
        head = json.loads(path.read_text(encoding="utf-8"))
        if (head["format"], head["version"]) != (FORMAT, VERSION):
            raise InputError(
                f"is version {head['version']} of {head['format']}", where=path,
                fix=f"this karat reads {FORMAT} {VERSION}",
            )  # fmt: skip
        world = make_world(head["images"], head["captions"], head["seed"])
        same = world.digest == head["sha256"]
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("is damaged", where=path, fix="make the world again") from None
    if not same:
        raise InputError(
            f"seed {world.seed} no longer makes the world of this folder", where=path, fix="make it again"
        )
    return world


def in_words(meanings: Meanings) -> dict[str, list[str | None]]:
    """Return each column of meanings as words, None for what is not mentioned."""

    def words(code: np.ndarray, names: tuple[str, ...]) -> list[str | None]:
        return [names[one] if one >= 0 else None for one in code.tolist()]

    amounts = ("a", *NUMBER_WORDS[1:], "at least two")
    columns: dict[str, list[str | None]] = {"background": words(meanings.background, BACKGROUND_NAMES)}
    for mention, which in enumerate(("first", "second")):
        there = meanings.noun[:, mention] >= 0
        number = np.where(there, meanings.number[:, mention], -1)
        columns[f"{which}_number"] = words(number, amounts)
        columns[f"{which}_size"] = words(meanings.size[:, mention], SIZES)
        columns[f"{which}_colour"] = words(meanings.colour[:, mention], COLOURS)
        columns[f"{which}_noun"] = words(meanings.noun[:, mention], NOUN_NAMES)
        columns[f"{which}_position"] = words(meanings.position[:, mention], POSITIONS)
    columns["relation"] = words(meanings.relation, RELATIONS)
    return columns


def write_meanings(meanings: Meanings, path: Path) -> None:
    """Write what captions state as a table of words."""
    import polars as pl

    columns = in_words(meanings)
    table = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    write_file(path, table.write_parquet)
