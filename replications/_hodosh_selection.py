"""κ and n chosen on the dev split, and the fifteen rankings of the best settings fused (Hodosh §4.1.3)."""

import numpy as np

from karat._util.cache import Arrays
from karat.baselines import KCCAPath, Setting, best_settings, dev_scores, fuse
from karat.benchmarks import DIRECTIONS, Benchmark, Direction
from karat.runs import MatrixRun

KAPPAS = (0.1, 0.5, 1.0, 5.0)
NUMBERS = np.unique(np.geomspace(10, 1500, 46).round().astype(int)).tolist()


def selected(
    path: KCCAPath,
    images: dict[str, np.ndarray],
    texts: dict[str, np.ndarray],
    dev: Benchmark,
    test: Benchmark,
) -> Arrays:
    """Return the fused rankings of the settings that are best on the dev split; the test split has no say.

    Parameters
    ----------
    path
        Fitted to the training split.
    images, texts
        Rows of dev and test items.
    dev, test
        The splits.
    """
    tables = path.scores(images["dev"], texts["dev"], NUMBERS)
    scores = dev_scores(((Setting(kappa, n), table) for kappa, n, table in tables), dev, truth="original")
    best = {direction: best_settings(scores[direction]) for direction in DIRECTIONS}
    wanted = {setting for chosen in best.values() for setting in chosen}
    found = {
        Setting(kappa, n): table
        for kappa, n, table in path.scores(images["test"], texts["test"], NUMBERS)
        if (kappa, n) in wanted
    }
    out: Arrays = {}
    for direction, chosen in best.items():
        # A setting that is best for several measures votes several times; names must differ.
        runs = [MatrixRun(found[setting], str(vote)) for vote, setting in enumerate(chosen)]
        out[direction] = -places(
            fuse(runs, test, direction=[direction]).lists[direction].item, test, direction
        )
        out[f"settings_{direction}"] = np.array(chosen)
    return out


def places(order: np.ndarray, bench: Benchmark, direction: Direction) -> np.ndarray:
    """Return the place of every item, int16 [queries, items], from complete lists one after the other."""
    table = order.reshape(bench.queries(direction).size, bench.items(direction).size)
    found = np.empty(table.shape, np.int16)
    np.put_along_axis(found, table, np.arange(table.shape[1], dtype=np.int16)[None], axis=1)
    return found
