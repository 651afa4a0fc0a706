"""Which known pairs are hidden in which task, so that nobody has to meet a pair twice.

A known positive may be in the pool as well, and then some other task asks about it: whoever does one of the
two may not do the other. Left to chance, such ties chain all tasks together, and a small team runs out of
tasks that anybody may still do. So tasks go in pairs, and a pair that is hidden in one of them is asked about
in the other: twice as many people as answer each task are then always enough. (An odd number of tasks ends
with a round of three.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

NO_TWIN = -1


class Stock:
    """Things that are handed out in turn: each comes again only when all others have come.

    >>> stock = Stock([1, 2, 3])
    >>> stock.take(lambda one: one != 1), stock.take(), stock.take(), stock.take()
    (2, 1, 3, 2)
    """

    def __init__(self, things: Iterable[int]) -> None:
        self.left = deque(int(one) for one in things)

    def __len__(self) -> int:
        return len(self.left)

    def take(self, fits: Callable[[int], bool] = lambda one: True) -> int | None:
        """Return the next thing that fits, None where none does; those before it wait for the next time."""
        waiting = []
        found = None
        while self.left and found is None:
            one = self.left.popleft()
            if fits(one):
                found = one
            else:
                waiting.append(one)
        self.left.extendleft(reversed(waiting))
        if found is not None:
            self.left.append(found)
        return found


def partner(task: int, tasks: int) -> int:
    """Return the task that asks about what is hidden in this one.

    >>> [partner(task, 5) for task in range(5)], partner(0, 1)
    ([1, 0, 3, 4, 2], 0)
    """
    if tasks % 2 and task >= tasks - 3:
        return task + 1 if task + 1 < tasks else max(0, tasks - 3)
    return task ^ 1


class Dealer:
    """Chooses known things for tasks, and the tasks of what they are twins of.

    Parameters
    ----------
    room
        How many things to judge each task holds.
    twin
        For each known thing, the thing to judge that is the same, or holds the same pair; NO_TWIN: there
        is none.

    Attributes
    ----------
    pinned
        The tasks of things to judge that are decided already.
    room
        What is left of it.
    """

    def __init__(self, room: Sequence[int], twin: Sequence[int]) -> None:
        self.room, self.twin = list(room), list(twin)
        self.pinned: dict[int, int] = {}

    def choose(self, task: int, stock: Stock, number: int) -> list[int]:
        """Return different known things for a task; fewer when there are no more that fit."""
        chosen: list[int] = []
        other = partner(task, len(self.room))

        def fits(one: int) -> bool:
            same = self.twin[one]
            if one in chosen:
                return False
            if same in self.pinned:
                return self.pinned[same] != task
            return same == NO_TWIN or (other != task and self.room[other] > 0)

        while len(chosen) < number:
            one = stock.take(fits)
            if one is None:
                break
            chosen.append(one)
            same = self.twin[one]
            if same != NO_TWIN and same not in self.pinned:
                self.pinned[same] = other
                self.room[other] -= 1
        return chosen
