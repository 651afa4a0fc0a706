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

from collections.abc import Iterator

import numpy as np

from karat.world.meanings import Meanings
from karat.world.scenes import MOST
from karat.world.view import ALL, View
from karat.world.vocabulary import ANY, PLURAL

BLOCK = 4_000_000
"""How many pairs are decided at a time: some twenty tables of so many bytes."""


class Ask:
    """Captions put to scenes: every caption of a block to every scene, or pair by pair."""

    def __init__(self, seen: View, meanings: Meanings, scene: np.ndarray | None = None) -> None:
        self.seen, self.meanings, self.scene = seen, meanings, scene

    def look(self, table: np.ndarray, code: np.ndarray) -> np.ndarray:
        """Return table[code] for each caption, with all scenes or its own."""
        return table[code] if self.scene is None else table[code, self.scene]

    def column(self, code: np.ndarray) -> np.ndarray:
        """Return something about captions in a shape that fits beside what `look` returns."""
        return code[:, None] if self.scene is None else code

    def parts(self, mention: int) -> list[np.ndarray]:
        """Return which objects have the noun, and of these the colour, size and place of a mention."""
        said, seen = self.meanings, self.seen
        noun = self.look(seen.noun, said.noun[:, mention])
        pairs = ((seen.colour, said.colour), (seen.size, said.size), (seen.position, said.position))
        return [noun, *(noun & self.look(table, code[:, mention]) for table, code in pairs)]

    def numbered(self, mention: int, matching: np.ndarray) -> np.ndarray:
        """Return whether as many objects match as the caption says."""
        number = self.column(self.meanings.number[:, mention])
        found = np.bitwise_count(matching)
        return (
            ((number == ANY) & (found >= 1))
            | ((number == PLURAL) & (found >= 2))
            | (found == np.where((number == ANY) | (number == PLURAL), 99, number))
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
            reach = self.look(self.seen.reach[:, slot], said.relation)
            some |= np.where(here, reach, 0)
            each &= np.where(here, reach, ALL)
            some_first |= here & (second & ~reach == 0)
        every = second & ~each == 0
        one_second = np.where(all_first, second & each, second & some) != 0
        holds = np.where(all_second, np.where(all_first, every, some_first), one_second)
        return holds & (first != 0) & (second != 0)

    def background(self) -> np.ndarray:
        """Return whether the background is the one that captions name."""
        here = self.seen.background if self.scene is None else self.seen.background[self.scene]
        return here == self.column(self.meanings.background)


def true_of(ask: Ask) -> np.ndarray:
    """Return whether each caption asked is true."""
    said = ask.meanings
    two = said.noun[:, 1] >= 0
    matching = [np.bitwise_and.reduce(ask.parts(mention)) for mention in (0, 1)]
    truth = ask.numbered(0, matching[0]) & (ask.numbered(1, matching[1]) | ~ask.column(two))
    truth &= ask.background() | ask.column(said.background < 0)
    for rows, part in related_rows(ask):
        truth[rows] &= part.related(matching[0][rows], matching[1][rows])
    return truth


def related_rows(ask: Ask) -> Iterator[tuple[np.ndarray, Ask]]:
    """Yield the captions that state a relation, with the question about them."""
    rows = np.flatnonzero(ask.meanings.relation >= 0)
    if len(rows):
        yield rows, Ask(ask.seen, ask.meanings[rows], None if ask.scene is None else ask.scene[rows])


def count_true(ask: Ask) -> np.ndarray:
    """Return how many statements of each caption hold."""
    said = ask.meanings
    matching, total = [], None
    for mention in (0, 1):
        noun, *rest = ask.parts(mention)
        matching.append(rest[0] & rest[1] & rest[2])
        two = (rest[0] & rest[1]) | (rest[0] & rest[2]) | (rest[1] & rest[2])
        one = rest[0] | rest[1] | rest[2]
        # What is not mentioned fits every object: it is taken off again.
        kinds = (said.colour, said.size, said.position)
        unsaid = np.stack([column[:, mention] < 0 for column in kinds]).sum(axis=0, dtype=np.uint8)
        held = (noun != 0) + sum((m != 0).astype(np.uint8) for m in (one, two, matching[mention]))
        held = held - np.where(noun != 0, ask.column(unsaid), 0)
        counted = ask.column(said.number[:, mention] != ANY) & ask.numbered(mention, matching[mention])
        held = (held + counted) * ask.column(said.noun[:, mention] >= 0)
        total = held if total is None else total + held
    total = total + (ask.background() & ask.column(said.background >= 0))
    for rows, part in related_rows(ask):
        total[rows] += part.related(matching[0][rows], matching[1][rows])
    return total.astype(np.uint8)
