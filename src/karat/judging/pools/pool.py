"""A pool: the pairs that several systems suggest for judging, and where each system ranked them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from karat.benchmarks import DIRECTIONS, Direction

POOLED, FILLED = 0, 1
"""Why a pair is in the pool: a system ranked it high, or it fills up a grid and audits the filter."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Pairs to be judged, each once, and every system's place for them.

    Parameters
    ----------
    image, caption
        The pairs, as indices into the benchmark, sorted by image, then caption.
    why
        POOLED or FILLED, for each pair.
    systems
        The names of the runs.
    place_pair, place_system, place_direction, place_rank, place_score
        One row for each time that a system ranked a pair within the first `top`: which pair, which system,
        0 for i2t and 1 for t2i, the rank from 1, the score (NaN where the run has none).
    queries
        Per direction, the queries whose rankings were pooled.
    top
        How deep the systems' rankings were read.
    judged
        How many pooled pairs were left out because they are judged already.
    filtered
        How many were left out by the filter.
    gold_image, gold_caption, gold_right
        A stock of known pairs, in random order, for `make_tasks` to hide among the others: KNOWN_YES or
        KNOWN_NO (`karat.judging.tasks.plan`) is right. Known negatives must be in no system's first places,
        which only the runs can tell, so the stock is drawn when the pool is made and kept with it.

    Examples
    --------
    >>> from karat.judging import make_pool
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=40, captions=2, seed=1)
    >>> make_pool(simulate_systems(world), world.benchmark(), top=3)
    Pool(671 pairs from the top 3 of 6 systems)
    """

    image: np.ndarray
    caption: np.ndarray
    why: np.ndarray
    systems: tuple[str, ...]
    place_pair: np.ndarray
    place_system: np.ndarray
    place_direction: np.ndarray
    place_rank: np.ndarray
    place_score: np.ndarray
    queries: Mapping[Direction, np.ndarray] = field(default_factory=dict)
    top: int = 0
    judged: int = 0
    filtered: int = 0
    gold_image: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    gold_caption: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    gold_right: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int8))

    def __len__(self) -> int:
        return len(self.image)

    def __repr__(self) -> str:
        from karat._util import plural

        pairs, systems = plural(len(self), "pair"), plural(len(self.systems), "system")
        return f"Pool({pairs} from the top {self.top} of {systems})"

    def suggested_by(self, system: int) -> np.ndarray:
        """Return which pairs a system ranked high enough, as booleans."""
        found = np.zeros(len(self), dtype=bool)
        found[self.place_pair[self.place_system == system]] = True
        return found

    @property
    def suggestions(self) -> int:
        """How many pairs were suggested before those named twice were merged."""
        return len(self.place_pair)

    def direction_of_places(self) -> list[Direction]:
        """Return the direction of each place, as a name."""
        return [DIRECTIONS[one] for one in self.place_direction.tolist()]
