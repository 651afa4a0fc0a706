"""A world of pictures and captions in which the right answer is always known."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np

from karat.benchmarks import Benchmark
from karat.validation import InputError
from karat.world.describing import describe
from karat.world.draws import Draws
from karat.world.meanings import Meanings
from karat.world.pairs import Numbers, check_pairs
from karat.world.relevance import count_positives, pair_relevance, pair_shares, relevance, shares
from karat.world.scenes import Scenes, draw_scenes
from karat.world.view import view
from karat.world.wording import repeated, write_captions

MOST_IMAGES, MOST_CAPTIONS = 10_000_000, 20


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

    def picture(self, image: int) -> np.ndarray:
        """Return the pixels of an image, as bytes [168, 168, 3]."""
        from karat.world.pictures import draw_picture

        return draw_picture(self.scenes, image)

    def benchmark(self, name: str = "world", listed: bool = True) -> Benchmark:
        """Return a benchmark with the truths `original` and `complete`; see `karat.world.exporting`."""
        from karat.world.exporting import as_benchmark

        return as_benchmark(self, name, listed)

    def save(self, folder: str | Path, pictures: bool = True) -> None:
        """Write the world into a folder that `karat.load_benchmark` reads; see `save_world`."""
        from karat.world.saving import save_world

        save_world(self, folder, pictures)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of scenes, meanings and texts: the same for the same seed, everywhere."""
        found = hashlib.sha256()
        for table in (self.scenes, self.meanings):
            for field in fields(table):
                found.update(np.ascontiguousarray(getattr(table, field.name), "<i8").tobytes())
        found.update("\n".join(self.texts).encode())
        return found.hexdigest()


def make_world(images: int = 1000, captions: int = 5, seed: int = 0) -> World:
    """Make a world: scenes, and captions that are true of them.

    Nothing is drawn yet; `World.picture` and `World.save` do that. Captions mention part of what there is
    to see, so most of them are true of further images too, and which ones is decided exactly
    (`karat.world.exact` says how).

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
    seen = view(scenes)
    meanings = describe(scenes, seen, image, draws)
    texts = write_captions(meanings, draws)
    again = repeated(image, texts) if captions > 1 else image[:0]
    while len(again):
        fresh = describe(scenes, seen, image[again], draws)
        meanings = meanings.put(again, fresh)
        for row, text in zip(again.tolist(), write_captions(fresh, draws)):
            texts[row] = text
        again = repeated(image, texts)
    return World(int(seed), scenes, meanings, tuple(texts), image)
