"""Exact ranks of 50,000 images and 250,000 captions in both directions, against one BLAS product and FAISS.

``--rows 10000 --columns 50000`` measures a smaller table. FAISS is measured where it is installed
(the extra ``speed``); it gives the first 50 and no ranks. Sides take turns, and the best of each counts.
"""

import os
import tempfile
import threading
from pathlib import Path

import numpy as np
from _made import own_captions
from _stopwatch import PARSER, main, record, sized, timed

import karat
from karat.benchmarks import Benchmark

DIMENSIONS = 512
MEASURES = ("R@1", "R@5", "R@10", "MedR", "mAP@R")
MEMORY = 4_000_000_000
FIRST = 50


def sizes(default: tuple[int, int] = (50_000, 250_000)) -> tuple[int, int, int]:
    """Return rows and columns, and how often to measure, from the command line."""
    for name, number in zip(("rows", "columns", "repeats"), sized((*default, 3), (60, 300, 1))):
        PARSER.add_argument(f"--{name}", type=int, default=number)
    asked = PARSER.parse_args()
    return asked.rows, asked.columns, asked.repeats


def benchmark(rows: int, columns: int) -> Benchmark:
    """As many captions of every image, and nothing else relevant."""
    return own_captions(np.arange(columns) * rows // columns)


def tables(rows: int, columns: int, folder: Path) -> list[np.ndarray]:
    """Write vectors of length 1 to files, captions near their image, and return them mapped."""
    rng = np.random.default_rng(1)
    mapped = []
    images = rng.standard_normal((rows, DIMENSIONS), dtype=np.float32)
    for name, size in (("images", rows), ("captions", columns)):
        path = folder / f"{name}.npy"
        table = np.lib.format.open_memmap(path, "w+", np.float32, (size, DIMENSIONS))
        for begin in range(0, size, 10_000):
            part = images[np.arange(begin, min(begin + 10_000, size)) * rows // size]
            if name == "captions":
                part = part + 4 * rng.standard_normal(part.shape, dtype=np.float32)
            table[begin : begin + 10_000] = part / np.linalg.norm(part, axis=1, keepdims=True)
        table.flush()
        mapped.append(np.load(path, mmap_mode="r"))
    return mapped


class Peak(threading.Thread):
    """The most memory that is resident at any moment of a block of code, in megabytes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.stop, self.most = threading.Event(), 0.0

    def run(self) -> None:
        """Look at the memory again and again."""
        while not self.stop.wait(0.05):
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            self.most = max(self.most, pages * os.sysconf("SC_PAGE_SIZE") / 2**20)

    def __enter__(self) -> "Peak":
        self.start()
        return self

    def __exit__(self, *why: object) -> None:
        self.stop.set()
        self.join()


def product(images: np.ndarray, captions: np.ndarray) -> None:
    """One float32 product, in blocks of rows because the whole does not fit in memory."""
    step = max(1, (1 << 30) // (4 * len(captions)))
    out = np.empty((step, len(captions)), np.float32)
    for begin in range(0, len(images), step):
        part = images[begin : begin + step]
        np.matmul(part, captions.T, out=out[: len(part)])


def search(images: np.ndarray, captions: np.ndarray) -> None:
    """Both directions with FAISS, exact in single precision, the first 50."""
    import faiss

    for queries, items in ((images, captions), (captions, images)):
        index = faiss.IndexFlatIP(DIMENSIONS)
        index.add(items)
        index.search(queries, FIRST)


def measure() -> list[dict]:
    rows, columns, repeats = SIZE
    size = f"{rows}x{columns}x{DIMENSIONS}"
    with tempfile.TemporaryDirectory() as folder:
        mapped = tables(rows, columns, Path(folder))
        bench = benchmark(rows, columns)
        peaks: list[float] = []

        def evaluate() -> None:
            with Peak() as peak:
                karat.evaluate(karat.load_run(*mapped), bench, MEASURES, compute=karat.Compute(memory=MEMORY))
            peaks.append(peak.most)

        sides = {"karat": evaluate, "product": lambda: product(*mapped)}
        try:
            import faiss  # noqa: F401

            sides["faiss"] = lambda: search(*mapped)
        except ImportError:
            pass
        small = [table[:2000] for table in mapped]
        karat.evaluate(karat.load_run(*small), benchmark(*map(len, small)), MEASURES)
        best = dict.fromkeys(sides, np.inf)
        for _ in range(repeats):
            for name, side in sides.items():
                best[name] = min(best[name], timed(side))
    what = (
        f"karat: tables checked, exact {', '.join(MEASURES)} of both directions, tables in files; peer: {{}}"
    )
    ours = {"s": best["karat"], "mb": max(peaks)}
    faiss_finds = what.format(f"IndexFlatIP, the first {FIRST} of both directions")
    return [
        record(
            "one pass", size, ours, what.format("one float32 product"),
            peer="numpy product", theirs=best["product"],
        ),
        record("one pass", size, ours, faiss_finds, peer="faiss", theirs=best.get("faiss")),
    ]  # fmt: skip


if __name__ == "__main__":
    SIZE = sizes()
    main(measure)
