"""Exact relevance of many pairs, in blocks of bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from karat.world.exact import BLOCK, Ask, count_true, true_of
from karat.world.meanings import Meanings
from karat.world.scenes import Scenes
from karat.world.view import view
from karat.world.vocabulary import ANY


def statements(meanings: Meanings) -> np.ndarray:
    """Return how many statements each caption makes.

    >>> from karat.world.meanings import describe_dogs
    >>> statements(describe_dogs()).tolist()            # a dog, that is red, and two of them
    [3]
    """
    per_mention = sum(
        (column >= 0).astype(np.uint8)
        for column in (meanings.noun, meanings.colour, meanings.size, meanings.position)
    )
    total = (per_mention + (meanings.number != ANY)).sum(axis=1)
    return (total + (meanings.background >= 0) + (meanings.relation >= 0)).astype(np.uint8)


def blocks(
    scenes: Scenes, meanings: Meanings, decide: Callable[[Ask], np.ndarray] = true_of
) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """Yield the scenes and captions of each block with what is decided, captions by scenes."""
    seen = view(scenes)
    width = min(len(scenes), 10_000)
    height = max(1, BLOCK // width)
    for left in range(0, len(scenes), width):
        some = slice(left, min(left + width, len(scenes)))
        part = seen[some]
        for top in range(0, len(meanings), height):
            rows = slice(top, min(top + height, len(meanings)))
            yield some, rows, decide(Ask(part, meanings[rows]))


def relevance(scenes: Scenes, meanings: Meanings) -> np.ndarray:
    """Return which captions are true of which scenes, as booleans [scenes, captions].

    Examples
    --------
    >>> from karat.world import make_world
    >>> world = make_world(images=50, captions=2, seed=1)
    >>> truth = relevance(world.scenes, world.meanings)
    >>> truth.shape, bool(truth[world.caption_image, range(100)].all())
    ((50, 100), True)
    """
    table = np.zeros((len(scenes), len(meanings)), bool)
    for some, rows, truth in blocks(scenes, meanings):
        table[some, rows] = truth.T
    return table


def shares(scenes: Scenes, meanings: Meanings) -> np.ndarray:
    """Return the share of each caption's statements that hold, as float32 [scenes, captions].

    It is 1 exactly where the caption is true.
    """
    table = np.zeros((len(scenes), len(meanings)), np.float32)
    number = statements(meanings)[:, None]
    for some, rows, held in blocks(scenes, meanings, count_true):
        table[some, rows] = (held.astype(np.float32) / number[rows]).T
    return table


def pair_relevance(scenes: Scenes, meanings: Meanings, image: np.ndarray, caption: np.ndarray) -> np.ndarray:
    """Return whether each of some captions is true of its scene."""
    return by_pair(scenes, meanings, image, caption, true_of)


def pair_shares(scenes: Scenes, meanings: Meanings, image: np.ndarray, caption: np.ndarray) -> np.ndarray:
    """Return, for each pair, the share of the caption's statements that hold."""
    held = by_pair(scenes, meanings, image, caption, count_true)
    return held.astype(np.float32) / statements(meanings)[caption]


def by_pair(
    scenes: Scenes,
    meanings: Meanings,
    image: np.ndarray,
    caption: np.ndarray,
    decide: Callable[[Ask], np.ndarray],
) -> np.ndarray:
    """Decide single pairs, a bounded number at a time."""
    seen = view(scenes)
    parts = [
        decide(Ask(seen, meanings[caption[begin : begin + BLOCK]], image[begin : begin + BLOCK]))
        for begin in range(0, len(image), BLOCK)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, bool)


def positives(scenes: Scenes, meanings: Meanings) -> tuple[np.ndarray, np.ndarray]:
    """Return the image and the caption of every pair that is true."""
    image, caption = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for some, rows, truth in blocks(scenes, meanings):
        at, one = np.nonzero(truth)
        caption.append(at + rows.start)
        image.append(one + some.start)
    return np.concatenate(image), np.concatenate(caption)


def count_positives(scenes: Scenes, meanings: Meanings) -> tuple[np.ndarray, np.ndarray]:
    """Return how many captions are true of each scene, and of how many scenes each caption is true."""
    per_image, per_caption = np.zeros(len(scenes), np.int64), np.zeros(len(meanings), np.int64)
    for some, rows, truth in blocks(scenes, meanings):
        per_image[some] += truth.sum(axis=0)
        per_caption[rows] += truth.sum(axis=1)
    return per_image, per_caption
