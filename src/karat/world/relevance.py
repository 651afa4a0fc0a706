"""When is a caption true of a picture? The exact answer.

**A description** is a noun with what is said about it: colour, size, place. An object *matches* it when it is
of that kind (or its kind is of that category) and has that colour, that size and that place.

**Places.** Pictures have 168 by 168 pixels and the centre of an object's box decides. Left: the centre is in
the left third; right, top, bottom likewise. Centres keep 24 pixels away from these lines.

**Numbers.** "a dog": at least one object matches. "two red dogs": exactly two objects match (there may be
dogs of other colours). "a single dog", "exactly one dog": exactly one. "dogs", "some dogs": at least two.
Where the plural looks like the singular, captions say neither, since "some fish" may be one.

**Relations** compare centres. *Left of*: at least a quarter of the picture (42 pixels) further left, in
whatever row; *right of*, *above* and *below* likewise. *Next to*: side by side, that is in the same row (less
than a quarter apart in height) and neighbours (at least a quarter and less than half of the picture apart in
width). In x, objects of one column differ by at most 8 pixels, those of neighbouring columns by 48 to 64, and
those of the outer columns by 104 or more: the lines run through wide gaps. With numbers, a relation is read
as people do. A mention with a numeral from two speaks of all its objects, any other of one object: "two
dogs left of a cat" means that there is a cat which both dogs stand left of, "a dog left of two cats" that
there is a dog which stands left of both, "two dogs left of two cats" that each dog stands left of each cat.

**Background**: it is that one.

**A caption is true** when everything holds that it states. Its *statements*, of which a share holds, are:
each noun; each colour, size and place; each number other than "a"; the relation; the background. Of a
mention, the object counts that fits best: first by its noun, then by how many of colour, size and place it
has. Numbers and relations are about objects that match the whole description. So the share is 1 exactly when
the caption is true.

**How.** A scene has at most eight objects, so "which objects match" is one byte per pair of scene and
caption, and every rule above is a handful of bit operations on whole tables of such bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from karat.world.meanings import Meanings
from karat.world.scenes import MOST, SIDE, Scenes
from karat.world.vocabulary import (
    ANY,
    CATEGORIES,
    CATEGORY_OF,
    COLOURS,
    KINDS,
    PLURAL,
    POSITIONS,
    RELATIONS,
    SIZES,
)

ALL = np.uint8(255)


@dataclass(frozen=True, eq=False)
class SceneBits:
    """Scenes as bytes: for each word, which of a scene's objects it fits; the last row is for no word.

    Parameters
    ----------
    noun, colour, size, position
        Per word and scene, a bit for each object.
    reach
        Per relation, object and scene: which objects it stands in that relation to.
    background
        Per scene.
    """

    noun: np.ndarray
    colour: np.ndarray
    size: np.ndarray
    position: np.ndarray
    reach: np.ndarray
    background: np.ndarray

    def __getitem__(self, scenes: slice) -> SceneBits:
        parts = (self.noun, self.colour, self.size, self.position, self.reach, self.background)
        return SceneBits(*(part[..., scenes] for part in parts))


def scene_bits(scenes: Scenes) -> SceneBits:
    """Return the bytes of scenes."""
    n, scene, slot = len(scenes), scenes.scene, scenes.slot
    bit = (1 << slot).astype(np.uint8)

    def table(words: int, *codes: np.ndarray) -> np.ndarray:
        fits = np.zeros((words + 1, n), np.uint8)
        for code in codes:
            rows = np.flatnonzero(code >= 0)
            np.bitwise_or.at(fits, (code[rows], scene[rows]), bit[rows])
        fits[-1] = ALL
        return fits

    category = CATEGORY_OF[scenes.kind].astype(np.int64)
    category = np.where(category < 0, -1, len(KINDS) + category)
    return SceneBits(
        table(len(KINDS) + len(CATEGORIES), scenes.kind, category),
        table(len(COLOURS), scenes.colour),
        table(len(SIZES), scenes.size),
        table(len(POSITIONS), *places(scenes)),
        reaches(scenes),
        scenes.background,
    )


def places(scenes: Scenes) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each object is left (0) or right (1), and whether it is at the top (2) or bottom (3)."""
    x, y = 3 * scenes.x.astype(np.int64), 3 * scenes.y.astype(np.int64)
    sideways = np.where(x < SIDE, 0, np.where(x > 2 * SIDE, 1, -1))
    upright = np.where(y < SIDE, 2, np.where(y > 2 * SIDE, 3, -1))
    return sideways, upright


def reaches(scenes: Scenes) -> np.ndarray:
    """Return, per relation, object and scene, a bit for each object that it stands so to."""
    n, scene, slot = len(scenes), scenes.scene, scenes.slot
    # Objects that do not exist stand nowhere near any other.
    x, y = (np.full((MOST, n), far, np.int64) for far in (10**6, 10**6))
    x[slot, scene], y[slot, scene] = scenes.x, scenes.y
    real = np.zeros((MOST, n), bool)
    real[slot, scene] = True
    reach = np.zeros((len(RELATIONS), MOST, n), np.uint8)
    for second in range(MOST):
        dx, dy = x[second] - x, y[second] - y
        row = 4 * abs(dy) < SIDE
        stands = (
            4 * dx >= SIDE,
            -4 * dx >= SIDE,
            4 * dy >= SIDE,
            -4 * dy >= SIDE,
            row & (4 * abs(dx) >= SIDE) & (2 * abs(dx) < SIDE),
        )
        for relation, so in enumerate(stands):
            reach[relation] |= ((so & real & real[second]) << second).astype(np.uint8)
    return reach


BLOCK = 4_000_000
"""How many pairs are decided at a time: about twenty tables of this many bytes."""


class CaptionCheck:
    """Captions put to scenes: every caption of a block to every scene, or pair by pair."""

    def __init__(self, bits: SceneBits, meanings: Meanings, scene: np.ndarray | None = None) -> None:
        self.bits, self.meanings, self.scene = bits, meanings, scene

    def look(self, table: np.ndarray, code: np.ndarray) -> np.ndarray:
        """Return table[code] for each caption, with all scenes or its own."""
        return table[code] if self.scene is None else table[code, self.scene]

    def column(self, code: np.ndarray) -> np.ndarray:
        """Return something about captions in a shape that fits beside what `look` returns."""
        return code[:, None] if self.scene is None else code

    def parts(self, mention: int) -> list[np.ndarray]:
        """Return which objects have the noun, and of these the colour, size and place of a mention."""
        said, bits = self.meanings, self.bits
        noun = self.look(bits.noun, said.noun[:, mention])
        pairs = ((bits.colour, said.colour), (bits.size, said.size), (bits.position, said.position))
        return [noun, *(noun & self.look(table, code[:, mention]) for table, code in pairs)]

    def numbered(self, mention: int, matching: np.ndarray) -> np.ndarray:
        """Return whether as many objects match as the caption says."""
        number = self.column(self.meanings.number[:, mention])
        count = np.bitwise_count(matching)
        return (
            ((number == ANY) & (count >= 1))
            | ((number == PLURAL) & (count >= 2))
            | (count == np.where((number == ANY) | (number == PLURAL), 99, number))
        )

    def related(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return whether the relation holds between the objects that match."""
        said = self.meanings
        many = [(n >= 2) & (n != PLURAL) for n in said.number.T]
        all_first, all_second = (self.column(m) for m in many)
        each, some_first = np.full_like(first, ALL), np.zeros(first.shape, bool)
        some = np.zeros_like(first)
        for slot in range(MOST):
            here = (first >> slot) & 1 == 1
            reach = self.look(self.bits.reach[:, slot], said.relation)
            some |= np.where(here, reach, 0)
            each &= np.where(here, reach, ALL)
            some_first |= here & (second & ~reach == 0)
        every = second & ~each == 0
        one_second = np.where(all_first, second & each, second & some) != 0
        holds = np.where(all_second, np.where(all_first, every, some_first), one_second)
        return holds & (first != 0) & (second != 0)

    def background(self) -> np.ndarray:
        """Return whether the background is the one that captions name."""
        here = self.bits.background if self.scene is None else self.bits.background[self.scene]
        return here == self.column(self.meanings.background)


def true_of(check: CaptionCheck) -> np.ndarray:
    """Return whether each caption is true."""
    said = check.meanings
    two = said.noun[:, 1] >= 0
    matching = [np.bitwise_and.reduce(check.parts(mention)) for mention in (0, 1)]
    truth = check.numbered(0, matching[0]) & (check.numbered(1, matching[1]) | ~check.column(two))
    truth &= check.background() | check.column(said.background < 0)
    for rows, part in related_rows(check):
        truth[rows] &= part.related(matching[0][rows], matching[1][rows])
    return truth


def related_rows(check: CaptionCheck) -> Iterator[tuple[np.ndarray, CaptionCheck]]:
    """Yield the captions that state a relation, with the check about them."""
    rows = np.flatnonzero(check.meanings.relation >= 0)
    if len(rows):
        yield (
            rows,
            CaptionCheck(
                check.bits,
                check.meanings[rows],
                None if check.scene is None else check.scene[rows],
            ),
        )


def count_true(check: CaptionCheck) -> np.ndarray:
    """Return how many statements of each caption hold."""
    said = check.meanings
    matching, total = [], None
    for mention in (0, 1):
        noun, *rest = check.parts(mention)
        matching.append(rest[0] & rest[1] & rest[2])
        two = (rest[0] & rest[1]) | (rest[0] & rest[2]) | (rest[1] & rest[2])
        one = rest[0] | rest[1] | rest[2]
        # What is not mentioned fits every object: it is taken off again.
        kinds = (said.colour, said.size, said.position)
        unsaid = np.stack([column[:, mention] < 0 for column in kinds]).sum(axis=0, dtype=np.uint8)
        true = (noun != 0) + sum((m != 0).astype(np.uint8) for m in (one, two, matching[mention]))
        true = true - np.where(noun != 0, check.column(unsaid), 0)
        counted = check.column(said.number[:, mention] != ANY) & check.numbered(mention, matching[mention])
        true = (true + counted) * check.column(said.noun[:, mention] >= 0)
        total = true if total is None else total + true
    total = total + (check.background() & check.column(said.background >= 0))
    for rows, part in related_rows(check):
        total[rows] += part.related(matching[0][rows], matching[1][rows])
    return total.astype(np.uint8)


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
    scenes: Scenes, meanings: Meanings, decide: Callable[[CaptionCheck], np.ndarray] = true_of
) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """Yield the scenes and captions of each block with what is decided, captions by scenes."""
    bits = scene_bits(scenes)
    width = min(len(scenes), 10_000)
    height = max(1, BLOCK // width)
    for left in range(0, len(scenes), width):
        some = slice(left, min(left + width, len(scenes)))
        part = bits[some]
        for top in range(0, len(meanings), height):
            rows = slice(top, min(top + height, len(meanings)))
            yield some, rows, decide(CaptionCheck(part, meanings[rows]))


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
    for some, rows, true in blocks(scenes, meanings, count_true):
        table[some, rows] = (true.astype(np.float32) / number[rows]).T
    return table


def pair_relevance(scenes: Scenes, meanings: Meanings, image: np.ndarray, caption: np.ndarray) -> np.ndarray:
    """Return whether each of some captions is true of its scene."""
    return by_pair(scenes, meanings, image, caption, true_of)


def pair_shares(scenes: Scenes, meanings: Meanings, image: np.ndarray, caption: np.ndarray) -> np.ndarray:
    """Return, for each pair, the share of the caption's statements that hold."""
    true = by_pair(scenes, meanings, image, caption, count_true)
    return true.astype(np.float32) / statements(meanings)[caption]


def by_pair(
    scenes: Scenes,
    meanings: Meanings,
    image: np.ndarray,
    caption: np.ndarray,
    decide: Callable[[CaptionCheck], np.ndarray],
) -> np.ndarray:
    """Decide single pairs, a bounded number at a time."""
    bits = scene_bits(scenes)
    parts = [
        decide(CaptionCheck(bits, meanings[caption[begin : begin + BLOCK]], image[begin : begin + BLOCK]))
        for begin in range(0, len(image), BLOCK)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, bool)


def positives(scenes: Scenes, meanings: Meanings) -> tuple[np.ndarray, np.ndarray]:
    """Return the image and the caption of every pair that is true."""
    image, caption = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for some, rows, truth in blocks(scenes, meanings):
        row, column = np.nonzero(truth)
        caption.append(row + rows.start)
        image.append(column + some.start)
    return np.concatenate(image), np.concatenate(caption)


def count_positives(scenes: Scenes, meanings: Meanings) -> tuple[np.ndarray, np.ndarray]:
    """Return how many captions are true of each scene, and of how many scenes each caption is true."""
    per_image, per_caption = np.zeros(len(scenes), np.int64), np.zeros(len(meanings), np.int64)
    for some, rows, truth in blocks(scenes, meanings):
        per_image[some] += truth.sum(axis=0)
        per_caption[rows] += truth.sum(axis=1)
    return per_image, per_caption
