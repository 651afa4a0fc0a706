"""KCCA: all regularisations and dimensions at once; one setting against cca-zoo's KCCA; the low-rank path.

cca-zoo is not among karat's requirements: ``pip install cca-zoo``. Without it the peer's columns stay empty.
KARAT_KCCA_ITEMS sets the number of training items of the first record, 6,000 by default; the last has three
times as many.
"""

import os
from typing import Any

import numpy as np
from _stopwatch import in_own_process, main, peak_mb, peer_side, record, sized, timed

ITEMS = sized(int(os.environ.get("KARAT_KCCA_ITEMS", "6000")), 120)
ONE = min(2_000, ITEMS)
MANY = 3 * ITEMS
NEW = sized(1_000, 10)
RANK = sized(1_000, 20)
KAPPAS = (0.1, 0.5, 1.0, 5.0)


def features(items: int, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Return paired unit vectors that share some of their directions."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(items, 30))
    sides = [shared @ rng.normal(size=(30, 64)) + 4 * rng.normal(size=(items, 64)) for _ in range(2)]
    return tuple(table / np.linalg.norm(table, axis=1, keepdims=True) for table in sides)


def kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return a kernel of full rank with a falling spectrum."""
    return ((1 + x @ y.T) / 2) ** 3


def kernels(items: int, new: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the kernels of the training items with themselves, and of new items with them."""
    sides = features(items + new)
    return [kernel(x[:items], x[:items]) for x in sides], [kernel(x[items:], x[:items]) for x in sides]


def comparable(items: int) -> list[np.ndarray]:
    """Return training kernels whose mean diagonal is 1 once centred: one κ then means one problem."""
    train, _ = kernels(items, 0)
    return [table * items / (np.trace(table) - table.mean() * items) for table in train]


def dimensions(items: int) -> list[int]:
    """Return 46 numbers of dimensions from 10 to the number of items."""
    return np.unique(np.geomspace(10, items, 46).astype(int)).tolist()


def path() -> dict[str, float]:
    from karat.baselines import KCCAPath

    train, new = kernels(ITEMS, NEW)
    model = KCCAPath(KAPPAS)
    fitting = timed(lambda: model.fit(*train))
    scoring = timed(lambda: [table.sum() for _, _, table in model.scores(*new, dimensions(ITEMS))])
    return {"s": fitting + scoring, "fitting": fitting, "scoring": scoring, "mb": peak_mb()}


def one() -> dict[str, float]:
    from karat.baselines import KCCA

    train = comparable(ONE)
    KCCA(0.1, 50).fit(*(table[:100, :100] for table in train))
    return {"s": timed(lambda: KCCA(0.1, 50).fit(*train)), "mb": peak_mb()}


def peer() -> dict[str, float]:
    from cca_zoo.nonparametric import KCCA

    train = comparable(ONE)
    # Its shrinkage c weighs (1 − c) K² / (n − 1) + c K: the same problem as ours with κ = 0.1.
    share = 0.1 / (ONE - 1 + 0.1)
    options: dict[str, Any] = {"center": False, "kernel": "precomputed", "shrinkage": share}
    KCCA(10, **options).fit([table[:100, :100] for table in train])
    return {"s": timed(lambda: KCCA(50, **options).fit(train)), "mb": peak_mb()}


def low_rank() -> dict[str, float]:
    from karat.baselines import IncompleteCholesky, KCCAPath

    sides = features(MANY)

    def work() -> None:
        low = [
            IncompleteCholesky(RANK).fit(lambda pivots, x=x: kernel(x, x[pivots]), np.ones(MANY))
            for x in sides
        ]
        KCCAPath(KAPPAS, inputs="features").fit(low[0].features_, low[1].features_)

    return {"s": timed(work), "mb": peak_mb()}


def measure() -> list[dict]:
    every, ours, low = (in_own_process(__file__, side) for side in ("path", "one", "low_rank"))
    return [
        record(
            "KCCA, all settings",
            f"{ITEMS} items",
            every,
            f"two {ITEMS:,} x {ITEMS:,} kernels in double precision, {len(KAPPAS)} regularisations "
            f"({every['fitting']:.1f} s), then cosines of {NEW:,} new images with {NEW:,} captions for each "
            f"and {len(dimensions(ITEMS))} numbers of dimensions ({every['scoring']:.1f} s); kernels given",
        ),
        record(
            "KCCA, one setting",
            f"{ONE} items",
            ours,
            "fit of 50 dimensions and one regularisation of the same kernels, after a warm-up; both solve "
            "the same problem",
            peer="cca-zoo KCCA",
            theirs=peer_side("cca_zoo", __file__, "peer"),
        ),
        record(
            "KCCA, low rank",
            f"{MANY} items",
            low,
            f"two incomplete Cholesky factors of rank {RANK:,} from kernel columns, which it computes, "
            f"then {len(KAPPAS)} regularisations with all dimensions",
        ),
    ]


if __name__ == "__main__":
    main(measure, {"path": path, "one": one, "peer": peer, "low_rank": low_rank})
