"""How time and memory grow with the number of items, and what 10⁸ × 10⁸ would cost at the measured rates.

`python speed/scaling.py` measures 10⁴, 3·10⁴ and 10⁵ images with as many captions; `--sizes` takes others,
such as 1e6. `--write PAGE` puts the tables between the marks of a page, with what `--with FILE` measured
elsewhere: speed/gpu.py on a GPU.
"""

import json
import math
import os
import platform
import tempfile
import time
from argparse import Namespace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from _stopwatch import PARSER, in_own_process, main, peak_mb, record, sized

WIDTH, SHARD_ROWS = 512, 10_000
SIZES = sized("10000,30000,100000", "100,200,300")
MEASURES = ["R@1", "R@5", "R@10", "MedR", "mAP@R"]
GOAL = 10**8
MARKS = ("<!-- speed/scaling.py -->", "<!-- end of speed/scaling.py -->")
PRODUCT_ROWS = sized(4096, 64)


def benchmark(n: int):
    """One caption an image, and as many more positives of each as ECCV Caption and CxC add."""
    from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth

    rng = np.random.default_rng(1)
    more = rng.permuted(np.tile(np.arange(n), 6))
    captions = np.r_[np.arange(n), rng.integers(0, n, 6 * n)]
    pairs = np.unique(np.c_[np.r_[np.arange(n), more], captions], axis=0)
    judged = Judgments(pairs[:, 0], pairs[:, 1], sources=[Provenance("own")])
    truth = Truth("own", judged, {"i2t": np.arange(n), "t2i": np.arange(n)})
    return Benchmark("scaling", Ids(range(n), kind="image"), Ids(range(n), kind="caption"), {"own": truth})


def write_tables(folder: Path, n: int) -> None:
    """Write shards of both sides; captions are noisy copies of their images: ranks are not all random."""
    rng = np.random.default_rng(1)
    for number, begin in enumerate(range(0, n, SHARD_ROWS)):
        images = rng.standard_normal((min(SHARD_ROWS, n - begin), WIDTH), dtype=np.float32)
        noise = rng.standard_normal(images.shape, dtype=np.float32)
        for side, table in (("images", images), ("captions", images + 4 * noise)):
            np.save(folder / f"{side}-{number:05d}.npy", table)


def score(n: int) -> dict[str, float]:
    """Load and score n by n, and return wall and processor seconds and the peak of memory."""
    import karat

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, 64)
        # The compiled loops are loaded before anything is measured.
        karat.evaluate(karat.load_run(folder), benchmark(64), MEASURES)
        write_tables(folder, n)
        bench = benchmark(n)
        times = [(time.perf_counter(), time.process_time())]
        run = karat.load_run(folder, benchmark=bench)
        times.append((time.perf_counter(), time.process_time()))
        karat.evaluate(run, bench, MEASURES)
        times.append((time.perf_counter(), time.process_time()))
    load, scored = (tuple(b - a for a, b in zip(*pair)) for pair in pairwise(times))
    return {
        "load_s": load[0], "load_cpu_s": load[1], "wall_s": scored[0], "s": scored[1],
        "mb": peak_mb(), "product_cpu_s": product(n),
    }  # fmt: skip


def product(n: int) -> float:
    """Return the processor seconds of the bare products of n by n, from a part of them."""
    rng = np.random.default_rng(1)
    columns = min(n, 20_000)
    left, right = (rng.standard_normal((rows, WIDTH), dtype=np.float32) for rows in (PRODUCT_ROWS, columns))
    out = left @ right.T
    begin = time.process_time()
    for _ in range(3):
        np.matmul(left, right.T, out=out)
    return (time.process_time() - begin) / 3 * n * n / (PRODUCT_ROWS * columns)


def machine() -> str:
    """Return the processor and how many of it may be used."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    named = [line.split(":")[1].strip() for line in text.splitlines() if line.startswith("model name")]
    return f"{named[0] if named else platform.processor()}, {len(os.sched_getaffinity(0))} cores"


def measure(sizes: list[int]):
    """Measure each size in a process of its own."""
    for n in sizes:
        seen = in_own_process(__file__, str(n))
        what = (
            f"processor seconds; {seen['wall_s']:.1f} s on {seen['s'] / seen['wall_s']:.2f} cores; "
            f"loaded and checked before in {seen['load_s']:.1f} s; "
            f"{n * n / seen['s'] / 1e6:.0f} million scores a core second"
        )
        yield record(
            f"scaling, {machine()}", f"{n}x{n}x{WIDTH}", seen, what,
            peer="the products alone, numpy", theirs=seen["product_cpu_s"],
        )  # fmt: skip


def side_of(made: dict) -> int:
    """Return how many images a record is about."""
    return int(made["size"].split("x")[0])


def fit(points: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the exponent b of time = a·n^b by least squares of the logarithms, and its standard error."""
    x, y = np.log(np.array(points)).T
    x0 = x - x.mean()
    slope = float(x0 @ y / (x0 @ x0))
    rest = y - y.mean() - slope * x0
    error = math.sqrt(float(rest @ rest) / (len(x) - 2) / float(x0 @ x0)) if len(x) > 2 else math.nan
    return slope, error


def duration(seconds: float) -> str:
    """Return a time as people say it."""
    for unit, size in (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} seconds"


def page(records: list[dict]) -> str:
    """Return what the page says: what was measured, the fit, and what the goal would cost."""
    ours = sorted((made for made in records if made["name"].startswith("scaling, ")), key=side_of)
    where = ours[-1]["name"].removeprefix("scaling, ")
    cores = int(where.split(", ")[-1].split()[0])
    slope, error = fit([(side_of(made), made["karat_s"]) for made in ours])
    last, n = ours[-1], side_of(ours[-1])
    spent = {"`karat.evaluate`": last["karat_s"], "the products alone": last["peer_s"]}
    rates = [(where, f"{what}, {n:,}²", cores * n * n / seconds) for what, seconds in spent.items()]
    for made in records:
        # Those of gpu.py: its names are the device and what was computed.
        if made not in ours:
            name, what = made["name"].split(": ")
            rates.append((name, f"{what}, {side_of(made):,}²", side_of(made) ** 2 / made["karat_s"]))
    table = GOAL * WIDTH * 4 / 1e9
    lines = [
        "| images × captions | core seconds | million scores each | times the products | peak memory |",
        "|---|--:|--:|--:|--:|",
        *(
            f"| {side_of(made):,} × {side_of(made):,} | {made['karat_s']:,.1f} "
            f"| {side_of(made) ** 2 / made['karat_s'] / 1e6:,.0f} | {1 / made['ratio']:.2f} "
            f"| {made['karat_mb']:,.0f} MB |"
            for made in ours
        ),
        "",
        f"{where}. Core seconds grow as n to the power {slope:.2f} ± {error:.2f} (standard error of the fit "
        f"over {len(ours)} sizes); the pairs grow as n².",
        "",
        "| 10⁸ × 10⁸ on | from | scores a second | one of them | 1,000 of them |",
        "|---|---|--:|--:|--:|",
        *(
            f"| {name} | {what} | {rate / 1e9:.3g} billion | {duration(GOAL**2 / rate)} "
            f"| {duration(GOAL**2 / rate / 1000)} |"
            for name, what, rate in rates
        ),
        "",
        f"Each table would be {table:,.0f} GB in float32, {table / 2:,.0f} GB in float16 or bfloat16.",
    ]
    return "\n".join(lines)


def write_page(path: Path, text: str) -> None:
    """Replace what is between the marks of a page."""
    old = path.read_text(encoding="utf-8")
    begin, end = (old.index(mark) for mark in MARKS)
    path.write_text(f"{old[:begin]}{MARKS[0]}\n\n{text}\n\n{old[end:]}", encoding="utf-8")


def options() -> Namespace:
    """Return what the command line says."""
    PARSER.add_argument("--sizes", default=SIZES, help="how many images and captions: 10000,30000,100000")
    PARSER.add_argument(
        "--with", dest="others", type=Path, action="append", default=[], help="add records of gpu.py"
    )
    PARSER.add_argument("--only-write", action="store_true", help="measure nothing")
    PARSER.add_argument("--write", type=Path, help="fill the marked part of this page")
    return PARSER.parse_args()


if __name__ == "__main__":
    asked = options()
    sizes = [int(float(size)) for size in asked.sizes.split(",")]
    records = main(
        partial(measure, [] if asked.only_write else sizes), {str(n): partial(score, n) for n in sizes}
    )
    for path in asked.others:
        records += json.loads(path.read_text(encoding="utf-8"))
    if records:
        print(page(records))
        if asked.write:
            write_page(asked.write, page(records))
