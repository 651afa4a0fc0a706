"""The pass over 20,000 images and 100,000 captions by the workers of a cluster, against one machine.

A Dask scheduler and four workers of one thread each are started on this machine, so that both sides have the
same processors: the ratio says what the cluster costs, not what more machines bring. In a second evaluation
one worker is killed with SIGKILL when half of the tiles are done. All results have to be identical.
``--rows 5000 --columns 25000`` measures a smaller table.
"""

import logging
import os
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from _stopwatch import SMOKE, left_out, main, record, sized
from one_pass import DIMENSIONS, MEASURES, benchmark, sizes, tables
from tests.local_cluster import local_cluster

import karat
from karat._util import Stage, reporting
from karat.runs import Compute

WORKERS = sized(4, 1)


def measure() -> list[dict]:
    rows, columns, repeats = SIZE
    logging.basicConfig(format="    log: %(name)s: %(message)s")
    with tempfile.TemporaryDirectory() as folder, local_cluster(folder, WORKERS) as cluster:
        tables(rows, columns, Path(folder))
        bench = benchmark(rows, columns)
        files = Path(folder) / "images.npy", Path(folder) / "captions.npy"

        def evaluate(compute: Compute | None = None) -> tuple[float, karat.Scorecard]:
            begin = time.perf_counter()
            card = karat.evaluate(files, bench, MEASURES, details=True, compute=compute)
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
        few, elsewhere = benchmark(*map(len, small)), Compute(scheduler=cluster.address)
        for compute in (None, elsewhere):
            karat.evaluate(karat.load_run(*small), few, MEASURES, details=True, compute=compute)
        here, there = [], []
        for _ in range(repeats):
            here.append(evaluate())
            there.append(evaluate(compute=elsewhere))
        killed = []
        if SMOKE:
            left_out("one killed at half-way", "there is only one")
        else:
            with reporting(KillAtHalf()):
                killed.append(evaluate(compute=elsewhere))
    expected = here[0][1]
    for _, card in (*here, *there, *killed):
        assert card.records() == expected.records()
        assert all(np.array_equal(a.values, b.values) for a, b in zip(card, expected) if b.values is not None)
    for note in {note for _, card in killed for note in card.notes} - set(expected.notes):
        print(f"    note: {note}")
    best, peer = (min(seconds for seconds, _ in side) for side in (there, here))
    size = f"{rows}x{columns}x{DIMENSIONS}"
    processors = len(os.sched_getaffinity(0))
    what = (
        f"karat: {WORKERS} workers of one thread on {processors} processors, connecting included, tables in "
        "files{}, results identical; peer: the same evaluation without a cluster, on all processors"
    )
    one_machine = {"peer": "one machine", "theirs": peer}
    return [
        record("cluster", size, best, what.format(""), **one_machine),
        *(
            record("cluster", size, seconds, what.format(", one killed at half-way"), **one_machine)
            for seconds, _ in killed
        ),
    ]


if __name__ == "__main__":
    SIZE = sizes((20_000, 100_000))
    main(measure)
