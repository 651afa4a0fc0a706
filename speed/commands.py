"""What several runs cost against one: `karat compare`, `karat report` and a written report, on one core.

Five made-up score tables on COCO, 5,000 × 25,000 float32 each, are written to a temporary folder: 2.5 GB.
"""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _stopwatch import SMOKE, main, record, sized

RUNS, WIDTH, ROUNDS = sized((5, 64, 4), (2, 8, 1))
SHAPE = sized("5k x 25k", "40 x 200")
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


class Cost(NamedTuple):
    """What a process took; the smallest of several is the one that took the least time."""

    seconds: float
    mb: float

    def side(self) -> dict[str, float]:
        """Return it as a record has it."""
        return {"s": self.seconds, "mb": self.mb}


def make_tables(paths: list[Path]) -> None:
    """Write cosines of random vectors: one per image, and noise of rising strength on its captions."""
    import karat
    from karat.world import make_world, save_world

    if SMOKE:
        save_world(make_world(images=40, captions=5, seed=1), paths[0].parent / "world", pictures=False)
    coco = karat.load_benchmark(paths[0].parent / "world" if SMOKE else "coco")
    rng = np.random.default_rng(0)
    images = rng.standard_normal((coco.images.size, WIDTH), dtype=np.float32)
    for k, path in enumerate(paths):
        noise = rng.standard_normal((coco.captions.size, WIDTH), dtype=np.float32)
        captions = images[coco.caption_image] + (2.2 + 0.05 * k) * noise
        sides = [table / np.linalg.norm(table, axis=1, keepdims=True) for table in (images, captions)]
        np.save(path, (sides[0] @ sides[1].T).astype(np.float32))


def cost(*arguments: str) -> Cost:
    """Return what a command takes as a user runs it, from its start to its end."""
    command = [str(Path(sys.executable).with_name("karat")), *arguments]
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, env=os.environ | ONE_THREAD, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return Cost(seconds, usage.ru_maxrss / 1024)


def measure():
    # Processes that are started from here inherit it.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    best: dict[str, Cost] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [folder / f"system-{k + 1}.npy" for k in range(RUNS)]
        # Elsewhere: Linux counts the memory of whoever starts a process as that process's own.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as elsewhere:
            elsewhere.submit(make_tables, paths).result()
        tables = [str(path) for path in paths]
        for number in range(ROUNDS):
            commands = {
                "evaluate": ("evaluate", tables[0]),
                "compare": ("compare", *tables),
                "report": ("report", *tables, "-o", str(folder / f"several-{number}.html")),
                "evaluate -o": ("evaluate", tables[0], "-o", str(folder / f"one-{number}.html")),
            }
            benchmark = ("-b", str(folder / "world")) if SMOKE else ()
            # One after the other in every round, so that all of them meet the same machine.
            for key, arguments in commands.items():
                best[key] = min(best.get(key, Cost(np.inf, np.inf)), cost(*arguments, *benchmark))
    one = best["evaluate"]
    how = f"whole processes on one core with one thread, the best of {ROUNDS}"
    records = [record("karat evaluate", f"1 x {SHAPE}", one.side(), f"default truths and measures; {how}")]
    for key, title, number, wanted in (
        ("compare", "karat compare", RUNS, 4),
        ("report", "karat report", RUNS, 7),
        ("evaluate -o", "karat evaluate -o report.html", 1, 1.6),
    ):
        times = best[key].seconds / one.seconds
        records.append(
            record(
                title,
                f"{number} x {SHAPE}",
                best[key].side(),
                f"{times:.2f} times one evaluate; at most {wanted:g} wanted; {how}",
                peer="one `karat evaluate`",
                theirs=one.side(),
            )
        )
    return records


if __name__ == "__main__":
    main(measure)
