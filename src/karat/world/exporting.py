"""A world as a benchmark like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat.benchmarks import Benchmark, Direction, Ids, Judgments, Objects, Provenance, Truth
from karat.validation import InputError
from karat.world.kinds import KIND_NAMES, KINDS
from karat.world.relevance import positives
from karat.world.scenes import SIDE, Scenes
from karat.world.vocabulary import BACKGROUND_NAMES, COLOURS, SIZES

if TYPE_CHECKING:
    from karat.world.world import World

LISTED = 300_000_000
"""The most pairs of images and captions that are all decided and listed."""
DEFAULTS = {"original": ("R@1", "R@5", "R@10"), "complete": ("R@1", "RP", "mAP@R")}


class Exact:
    """The exact truth as a rule that is asked, for worlds with too many positives to list."""

    def __init__(self, world: World) -> None:
        self.world = world

    def relevant(self, direction: Direction, queries: np.ndarray, items: np.ndarray) -> np.ndarray:
        """Return whether each caption is true of its image."""
        image, caption = (queries, items) if direction == "i2t" else (items, queries)
        return self.world.pair_relevance(image, caption)

    def positives(self, direction: Direction, queries: np.ndarray) -> np.ndarray:
        """Return how many captions are true of each image, or the other way round."""
        return self.world.positives[0 if direction == "i2t" else 1][queries]


def as_benchmark(world: World, name: str = "world", listed: bool = True) -> Benchmark:
    """Return the benchmark of a world.

    Its truths are `original`, which image each caption was written for: what a benchmark would have; and
    `complete`, every image that each caption is true of, with everything else judged not relevant.

    Parameters
    ----------
    world
        What `make_world` returned.
    name
        As tables show it.
    listed
        Whether `complete` lists its positives. False keeps it as a rule that is asked about single pairs,
        for worlds of more than 300 million pairs; such a benchmark cannot be saved.
    """
    n_images, n_captions = len(world.scenes), len(world.texts)
    pairs = n_images * n_captions
    if listed and pairs > LISTED:
        raise InputError(
            f"the complete truth of {n_images:,} images and {n_captions:,} captions is too long to list",
            fix="make fewer, or in Python call benchmark(listed=False), which keeps it as a rule",
        )
    asked: dict[Direction, np.ndarray] = {"i2t": np.arange(n_images), "t2i": np.arange(n_captions)}
    own = Judgments(world.caption_image, np.arange(n_captions), sources=[Provenance("original")])
    about = "every image that a caption is true of, decided exactly"
    if listed:
        exact = Judgments(*positives(world.scenes, world.meanings), sources=[Provenance("exact")])
        complete = Truth("complete", exact, asked, about=about, complete=True)
    else:
        complete = Truth("complete", None, asked, rule=Exact(world), about=about)
    original = Truth("original", own, asked, about="the image that each caption was written for")
    names = [f"{number:06d}.png" for number in range(n_images)]
    numbers = np.arange(n_captions) % world.per_image
    return Benchmark(
        name,
        Ids(names, kind="image"),
        Ids([f"{names[i]}#{k}" for i, k in zip(world.caption_image, numbers)], kind="caption"),
        {"original": original, "complete": complete},
        caption_image=world.caption_image,
        defaults=DEFAULTS,
        about=f"karat world, seed {world.seed}: pictures and captions whose truth is known exactly",
        texts=list(world.texts),
        objects=as_objects(world.scenes),
    )


def as_objects(scenes: Scenes) -> Objects:
    """Return what scenes show; the background counts as an attribute of each object's picture."""
    return Objects(
        KIND_NAMES,
        scenes.scene,
        scenes.kind,
        scenes.box / SIDE,
        synsets=tuple(kind.synset for kind in KINDS),
        attributes={
            "colour": np.array(COLOURS)[scenes.colour],
            "size": np.array(SIZES)[scenes.size],
            "background": np.array(BACKGROUND_NAMES)[scenes.background][scenes.scene],
        },
    )
