"""The pass over 20,000 images and 100,000 captions by the workers of a cluster, against one machine.

A Dask scheduler and four workers of one thread each are started on this machine, so that both sides have the
same processors: the ratio says what the cluster costs, not what more machines bring. In a second evaluation
one worker is killed with SIGKILL when half of the tiles are done. All results have to be identical.
``--rows 5000 --columns 25000`` measures a smaller table.
"""

import logging
import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from _harness import main, record
from one_pass import DIMENSIONS, benchmark, sizes, tables

import karat
from karat._util import Stage, reporting
from karat.runs import Compute

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from local_cluster import local_cluster

MEASURES = ("R@1", "R@5", "R@10", "MedR", "mAP@R")
WORKERS = 4
REPEATS = 3


def measure() -> list[dict]:
    rows, columns, _ = SIZE
    logging.basicConfig(format="    log: %(name)s: %(message)s")
    with tempfile.TemporaryDirectory() as folder, local_cluster(folder, WORKERS) as cluster:
        tables(rows, columns, Path(folder))
        bench = benchmark(rows, columns)
        files = Path(folder) / "images.npy", Path(folder) / "captions.npy"

        def evaluate(**options: object) -> tuple[float, karat.Scorecard]:
            begin = time.perf_counter()
            card = karat.evaluate(files, bench, MEASURES, details=True, **options)
            return time.perf_counter() - begin, card

        class KillAtHalf:
            """Kills a worker when half of the tiles are done."""

            every = 0.0

            def show(self, stages: Sequence[Stage]) -> None:
                half = any(one.what == "tiles" and one.done == (one.total or 0) // 2 for one in stages)
                if half and cluster.workers[0].poll() is None:
                    cluster.workers[0].send_signal(signal.SIGKILL)
                    cluster.workers[0].wait()

        small = [np.load(file, mmap_mode="r")[:2000] for file in files]
        for options in ({}, {"scheduler": cluster.address}):
            karat.evaluate(karat.load_run(*small), benchmark(2000, 2000), MEASURES, details=True, **options)
        here, there = [], []
        for _ in range(REPEATS):
            here.append(evaluate())
            there.append(evaluate(compute=Compute(scheduler=cluster.address)))
        with reporting(KillAtHalf()):
            killed = evaluate(compute=Compute(scheduler=cluster.address))
    expected = here[0][1]
    for _, card in (*here, *there, killed):
        assert card.records() == expected.records()
        assert all(np.array_equal(a.values, b.values) for a, b in zip(card, expected) if b.values is not None)
    for note in set(killed[1].notes) - set(expected.notes):
        print(f"    note: {note}")
    best, peer = (min(seconds for seconds, _ in side) for side in (there, here))
    size = f"{rows}x{columns}x{DIMENSIONS}"
    processors = len(os.sched_getaffinity(0))
    what = (
        f"karat: {WORKERS} workers of one thread on {processors} processors, connecting included, tables in "
        "files{}, results identical; peer: the same evaluation without a cluster, on all processors"
    )
    one_machine = {"peer": "one machine", "peer_s": peer}
    return [
        record("cluster", size, best, what.format(""), **one_machine),
        record("cluster", size, killed[0], what.format(", one killed at half-way"), **one_machine),
    ]


if __name__ == "__main__":
    SIZE = sizes((20_000, 100_000))
    main(measure, {})
