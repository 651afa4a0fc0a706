"""A world of pictures and captions in which the right answer is always known: made, saved and read again.

A world in a folder is a benchmark that every karat command reads, its pictures, and how to make it again:

benchmark.json, *.parquet   the benchmark, in karat's own format
images/000000.png           the pictures
meanings.parquet            what each caption states, in words; empty cells are not mentioned
world.json                  format, version, seed, sizes and a fingerprint
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from karat._util import TEXT_FORMATS, Result, fill_folder, plural, read_description, track
from karat.benchmarks import HEAD as BENCHMARK
from karat.benchmarks import (
    Benchmark,
    Direction,
    Ids,
    Judgments,
    Provenance,
    Truth,
    in_order,
    save_benchmark,
)
from karat.errors import InputError, MissingDataError
from karat.world.captions import describe, repeated, write_captions
from karat.world.draws import Draws
from karat.world.meanings import Meanings
from karat.world.relevance import (
    count_positives,
    pair_relevance,
    pair_shares,
    positives,
    relevance,
    scene_bits,
    shares,
)
from karat.world.scenes import Scenes, as_objects, draw_scenes

MOST_IMAGES, MOST_CAPTIONS = 10_000_000, 20
LISTED = 300_000_000
"""The most pairs of images and captions that are all decided and listed."""
DEFAULTS = {"original": ("R@1", "R@5", "R@10"), "complete": ("R@1", "RP", "mAP@R")}
FORMAT, VERSION = "karat-world", 1
HEAD = "world.json"
HEADS = (BENCHMARK, HEAD)
"""The files that make a folder complete."""

Numbers: TypeAlias = Sequence[int] | np.ndarray
"""Numbers of images or of captions, from 0."""


@dataclass(frozen=True, eq=False)
class World:
    """Scenes, captions with their meanings, and the exact truth about every pair; see `make_world`.

    Parameters
    ----------
    seed
        What it was made from; with the two sizes it decides every byte.
    scenes, meanings, texts
        What the pictures show, what the captions state, and how they say it.
    caption_image
        For each caption, the scene that it was written for.
    folder, wrote
        Where `karat.world.make` wrote it, and what.

    Examples
    --------
    >>> world = make_world(images=100, captions=5, seed=7)
    >>> world
    World(100 images, 500 captions, seed 7)
    >>> true = world.relevance()
    >>> bool(true[world.caption_image, np.arange(500)].all()), true.sum() > 500
    (True, np.True_)
    """

    seed: int
    scenes: Scenes
    meanings: Meanings
    texts: tuple[str, ...]
    caption_image: np.ndarray
    folder: Path | None = None
    wrote: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"World({len(self.scenes):,} images, {len(self.texts):,} captions, seed {self.seed})"

    @property
    def per_image(self) -> int:
        """How many captions each image has."""
        return len(self.texts) // len(self.scenes)

    def relevance(self) -> np.ndarray:
        """Return which captions are true of which images, as booleans [images, captions]."""
        return relevance(self.scenes, self.meanings)

    def shares(self) -> np.ndarray:
        """Return the share of each caption's statements that hold of each image, [images, captions]."""
        return shares(self.scenes, self.meanings)

    def pair_relevance(self, image: Numbers, caption: Numbers) -> np.ndarray:
        """Return whether each of some captions is true of its image."""
        pairs = check_pairs(image, caption, len(self.scenes), len(self.texts))
        return pair_relevance(self.scenes, self.meanings, *pairs)

    def pair_shares(self, image: Numbers, caption: Numbers) -> np.ndarray:
        """Return, for each pair, the share of the caption's statements that hold."""
        pairs = check_pairs(image, caption, len(self.scenes), len(self.texts))
        return pair_shares(self.scenes, self.meanings, *pairs)

    @cached_property
    def positives(self) -> tuple[np.ndarray, np.ndarray]:
        """How many captions are true of each image, and of how many images each caption is true."""
        return count_positives(self.scenes, self.meanings)

    def summary(self) -> WorldSummary:
        """Return how large it is, how incomplete its original labels are, and where it was written."""
        true_of = self.positives[1]
        return WorldSummary(
            len(self.scenes), len(self.texts), self.seed, true_of, self.folder, self.wrote
        )  # fmt: skip

    def picture(self, image: int) -> np.ndarray:
        """Return the pixels of an image, as bytes [168, 168, 3]."""
        from karat.world.pictures import draw_picture

        return draw_picture(self.scenes, image)

    def benchmark(self, name: str = "world", listed: bool = True) -> Benchmark:
        """Return the world as a benchmark like any other.

        Its truths are `original`, which image each caption was written for: what a benchmark would have; and
        `complete`, every image that each caption is true of, with everything else judged not relevant.

        Parameters
        ----------
        name
            As tables show it.
        listed
            Whether `complete` lists its positives. False keeps it as a rule, queried about single pairs,
            for worlds of more than 300 million pairs; such a benchmark cannot be saved.
        """
        n_images, n_captions = len(self.scenes), len(self.texts)
        pairs = n_images * n_captions
        if listed and pairs > LISTED:
            raise InputError(
                f"the complete truth of {n_images:,} images and {n_captions:,} captions is too long to list",
                fix="make fewer, or in Python call benchmark(listed=False), which keeps it as a rule",
            )
        queries: dict[Direction, np.ndarray] = {"i2t": np.arange(n_images), "t2i": np.arange(n_captions)}
        own = Judgments(self.caption_image, np.arange(n_captions), sources=[Provenance("original")])
        about = "every image that a caption is true of, decided exactly"
        if listed:
            exact = Judgments(*positives(self.scenes, self.meanings), sources=[Provenance("exact")])
            complete = Truth("complete", exact, queries, about=about, complete=True)
        else:
            complete = Truth("complete", None, queries, rule=ExactRule(self), about=about)
        original = Truth("original", own, queries, about="the image that each caption was written for")
        names = [f"{number:06d}.png" for number in range(n_images)]
        numbers = np.arange(n_captions) % self.per_image
        return Benchmark(
            name,
            Ids(names, kind="image"),
            Ids([f"{names[i]}#{k}" for i, k in zip(self.caption_image, numbers)], kind="caption"),
            {"original": original, "complete": complete},
            caption_image=self.caption_image,
            defaults=DEFAULTS,
            about=f"karat world, seed {self.seed}: pictures and captions whose truth is known exactly",
            texts=list(self.texts),
            objects=as_objects(self.scenes),
        )

    def save(self, folder: str | Path, pictures: bool = True) -> None:
        """Write the world into a folder that `karat.load_benchmark` reads; see `save_world`."""
        save_world(self, folder, pictures)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of scenes, meanings and texts: the same for the same seed, everywhere."""
        digest = hashlib.sha256()
        for table in (self.scenes, self.meanings):
            for column in fields(table):
                digest.update(np.ascontiguousarray(getattr(table, column.name), "<i8").tobytes())
        digest.update("\n".join(self.texts).encode())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class WorldSummary(Result):
    """How large a world is, and how incomplete its original labels are.

    Parameters
    ----------
    images, captions, seed
        The sizes, and what it was made from.
    true_of
        Of how many images each caption is true.
    folder, wrote
        Where it was written, and what.
    """

    images: int
    captions: int
    seed: int
    true_of: np.ndarray = field(repr=False)
    folder: Path | None = None
    wrote: tuple[str, ...] = ()
    formats = TEXT_FORMATS

    def records(self) -> list[dict[str, Any]]:
        """Return one record."""
        return [
            {"images": self.images, "captions": self.captions, "seed": self.seed,
             "true_pairs": int(self.true_of.sum()), "original_pairs": self.captions,
             "images_per_caption": float(self.true_of.mean()),
             "captions_of_one_image": float((self.true_of == 1).mean()),
             "folder": None if self.folder is None else str(self.folder)}
        ]  # fmt: skip

    def parts(self) -> list[str]:
        """Return the sizes, how many pairs are true, and what to do next."""
        size = f"{plural(self.images, 'image')} with {plural(self.captions, 'caption')}, seed {self.seed}"
        true, mean, known = self.true_of, self.true_of.mean(), int(self.true_of.sum())
        lines = [
            size if self.folder is None else f"{self.folder}: {size}",
            f"a caption is true of {mean:.1f} images on average, median {np.median(true):g}; "
            f"{(true == 1).mean():.0%} of them only of their own image",
            f"the original labels contain {self.captions:,} of the {known:,} true pairs "
            f"({self.captions / known:.1%})",
        ]
        if self.folder is not None:
            place = shlex.quote(str(self.folder))
            scored = f"{place}/runs/*.npy" if (self.folder / "runs").is_dir() else "YOUR-SCORES.npy"
            lines += [f"wrote {', '.join(self.wrote)}", f"next: karat evaluate {scored} --benchmark {place}"]
        return ["\n".join(lines)]


def make_world(images: int = 1000, captions: int = 5, seed: int = 0) -> World:
    """Make a world: scenes, and captions that are true of them.

    Nothing is drawn yet; `World.picture` and `World.save` do that. Captions mention part of what there is
    to see, so most of them are true of further images too, and which ones is decided exactly
    (`karat.world.relevance` says how).

    Parameters
    ----------
    images
        How many scenes.
    captions
        How many captions each; at most 20. All captions of an image are different sentences.
    seed
        The same seed gives the same world on every machine.

    Examples
    --------
    >>> world = make_world(images=3, captions=2, seed=2)
    >>> for text in world.texts:
    ...     print(text)
    A cup.
    A table.
    There is a chair.
    Exactly one red chair and an orange chair.
    There is a large grey dog next to a green hat.
    A dog next to a big article of clothing on the street.
    """
    for value, most, what in ((images, MOST_IMAGES, "images"), (captions, MOST_CAPTIONS, "captions")):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= most:
            raise InputError(f"{what} is {value!r}", fix=f"give a whole number from 1 to {most:,}")
    scenes = draw_scenes(images, seed)
    image = np.repeat(np.arange(images), captions)
    draws = Draws(seed, 2)
    bits = scene_bits(scenes)
    meanings = describe(scenes, bits, image, draws)
    texts = write_captions(meanings, draws)
    again = repeated(image, texts) if captions > 1 else image[:0]
    while len(again):
        fresh = describe(scenes, bits, image[again], draws)
        meanings = meanings.put(again, fresh)
        for row, text in zip(again.tolist(), write_captions(fresh, draws)):
            texts[row] = text
        again = repeated(image, texts)
    return World(int(seed), scenes, meanings, tuple(texts), image)


def save_world(world: World, folder: str | Path, pictures: bool = True) -> None:
    """Write a world into a folder, which is made when it does not exist; all of it, or nothing.

    Parameters
    ----------
    world
        What `make_world` returned.
    folder
        Where; files of the same name are replaced.
    pictures
        Whether to draw the images too.

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
    fill_folder(Path(folder), lambda draft: write_world(world, benchmark, draft, pictures), last=HEADS)


def write_world(world: World, benchmark: Benchmark, folder: Path, pictures: bool) -> None:
    """Write all files of a world."""
    import polars as pl

    from karat.world.pictures import encode_png

    if pictures:
        (folder / "images").mkdir()
        paths = [f"images/{name}" for name in benchmark.images.gallery]
        for number, path in enumerate(track(paths, "drawing pictures")):
            (folder / path).write_bytes(encode_png(world.picture(number)))
        benchmark = replace(
            benchmark, image_paths=[str(folder / path) for path in paths], image_folder=str(folder)
        )
    columns = world.meanings.in_words()
    table = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    table.write_parquet(folder / "meanings.parquet")
    save_benchmark(benchmark, folder)
    about = {
        "format": FORMAT,
        "version": VERSION,
        "seed": world.seed,
        "images": len(world.scenes),
        "captions": world.per_image,
        "sha256": world.digest,
    }
    (folder / HEAD).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def read_world(folder: str | Path) -> World:
    """Return the world of a folder: made again from its seed, and compared with its fingerprint."""
    path = Path(folder) / HEAD
    if not path.is_file():
        raise MissingDataError(f"there is no {HEAD}", where=folder, fix="make one with karat world make")
    try:
        head = read_description(path)
        if (head["format"], head["version"]) != (FORMAT, VERSION):
            raise InputError(
                f"is version {head['version']} of {head['format']}", where=path,
                fix=f"this version of karat reads {FORMAT} {VERSION}",
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


class ExactRule:
    """The exact truth as a rule, for worlds with too many positives to list."""

    def __init__(self, world: World) -> None:
        self.world = world

    def relevant(self, direction: Direction, queries: np.ndarray, items: np.ndarray) -> np.ndarray:
        """Return whether each caption is true of its image."""
        return self.world.pair_relevance(*in_order(direction, queries, items))

    def positives(self, direction: Direction, queries: np.ndarray) -> np.ndarray:
        """Return how many captions are true of each image, or the other way round."""
        return in_order(direction, *self.world.positives)[0][queries]


def check_pairs(
    image: Numbers, caption: Numbers, images: int, captions: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of images and captions as two arrays, or raise.

    Examples
    --------
    >>> check_pairs([1, 1], range(2), images=2, captions=6)
    (array([1, 1]), array([0, 1]))
    >>> check_pairs([-1], [0], images=2, captions=6)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: there is no image -1; they are numbered 0 to 1.
    """
    first, second = check_numbers(image, images, "image"), check_numbers(caption, captions, "caption")
    if len(first) != len(second):
        raise InputError(
            f"{plural(len(first), 'image')} and {plural(len(second), 'caption')} are not pairs",
            fix="give one caption for each image",
        )
    return first, second


def check_numbers(numbers: Numbers, below: int, what: str) -> np.ndarray:
    """Return numbers from 0 to below − 1 as an array, or raise."""
    array = np.asarray(numbers)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(
            f"the {what} numbers have shape {array.shape} and type {array.dtype}",
            fix="give a list of whole numbers",
        )
    if array.size and not 0 <= array.min() <= array.max() < below:
        wrong = array[(array < 0) | (array >= below)][0]
        raise InputError(f"there is no {what} {wrong}", fix=f"they are numbered 0 to {below - 1}")
    return array.astype(np.int64)
