"""The pass on one GPU: counts for judged items and the first 50 of both directions, against PyTorch.

`python speed/gpu.py` needs PyTorch with a GPU, and no installation of karat. It begins with `--check`, which
can be run alone: a digest of all ranks and lists of a table of 20,000 × 100,000 with planted duplicates, from
the GPU where there is one and from the processor elsewhere, is compared with that of the processor; and on a
GPU, with up to four judged items per query in either direction, the kernels are compared with plain PyTorch.

A million images and a million captions, 512 dimensions. A caption's vector is that of its image times a
weight plus noise: a good model (weight 0.25, R@1 76%), a weak one (0.1), and chance (0), whose judged items
lie where most scores are, so that most comparisons are close. Times are the best of three calls, with the
device waited for, of tables on the device; one line includes the way there and back, and the last is
`karat.evaluate(..., device="cuda")` of npy files, with everything that the processor does before and after.
"""

import hashlib
import math
import sys
import tempfile
import time
from functools import partial
from typing import Any

import numpy as np
import torch
from _made import own_captions
from _stopwatch import PARSER, ROOT, SMOKE, left_out, main, record, sized

sys.path.insert(0, str(ROOT / "src"))
from karat.runs.devices.cuda import Copies
from karat.runs.fused_pass import NOTHING, Asked, scan_tables
from karat.runs.fused_tiles import TorchTiles, exact_products

PARSER.add_argument("--items", type=int, default=sized(1_000_000, 4_000), help="images, and as many captions")
PARSER.add_argument("--check", action="store_true", help="only check ranks and lists")
DIMENSIONS, FIRST = 512, 50
CHECKED = sized(20_000, 200)
"""Images of `--check`, with five captions each."""
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
BY_PROCESSOR = "fd645882f66b38fa5dc788e607bf6399e823f334967a5ac7abaec62b8617e84e"
"""The digest of `--check` on a processor."""


def vectors(items: int, weight: float, kind: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Return images and captions of length 1; caption i belongs to image i."""
    draw = torch.Generator(DEVICE).manual_seed(0)

    def noise(size: int) -> torch.Tensor:
        return torch.nn.functional.normalize(
            torch.randn(size, DIMENSIONS, generator=draw, device=DEVICE), dim=1
        )

    images = torch.empty(items, DIMENSIONS, dtype=kind, device=DEVICE)
    captions = torch.empty_like(images)
    for begin in range(0, items, 1 << 17):
        own = noise(min(1 << 17, items - begin))
        images[begin : begin + len(own)] = own
        mixed = torch.nn.functional.normalize(weight * own + noise(len(own)), dim=1)
        captions[begin : begin + len(own)] = mixed
    return images, captions


def questions(images: torch.Tensor, captions: torch.Tensor) -> tuple[Asked, Asked]:
    """Return what both sides ask: where their own item comes out, and the first items."""
    own = torch.arange(len(images), device=DEVICE)
    score = exact_products(images, captions, own, own)[None]
    return Asked(score, own[None], own, FIRST), Asked(score, own[None], own, FIRST)


def best_of(work: Any, repeats: int = 3) -> float:
    """Return the shortest of several calls, waiting for the device."""
    seconds = math.inf
    for _ in range(repeats):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        seconds = min(seconds, time.perf_counter() - begin)
    return seconds


def blocked_product(images: torch.Tensor, captions: torch.Tensor) -> None:
    for begin in range(0, len(images), 16384):
        images[begin : begin + 16384] @ captions[: 1 << 17].T


def product_and_topk(images: torch.Tensor, captions: torch.Tensor) -> None:
    """What one would write: no ranks, and scores rounded to bfloat16."""
    for queries, items in ((images, captions), (captions, images)):
        for begin in range(0, len(queries), 4096):
            (queries[begin : begin + 4096] @ items.T).topk(FIRST, 1)


def there_and_back(tables: list[np.ndarray], asked: tuple[Asked, Asked]) -> None:
    """From main memory to the device and, what was found, back; bfloat16 as whole numbers of 16 bits."""
    copies = Copies(DEVICE)
    images, captions = (copies.to_device(table).view(torch.bfloat16) for table in tables)
    for answer in scan_tables(images, captions, *asked):
        for part in (answer.above, answer.tied, answer.item.int(), answer.score):
            copies.to_host(part)


def evaluated(images: torch.Tensor, captions: torch.Tensor) -> tuple[float, float]:
    """Return how long loading npy files takes, and scoring them: R@1, R@5, R@10, MedR and mAP@R."""
    import karat

    benchmark = own_captions(np.arange(len(images)))
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/{side}.npy" for side in ("images", "captions")]
        for path, table in zip(paths, (images, captions)):
            np.save(path, table.float().cpu().numpy())
        begin = time.perf_counter()
        run = karat.load_run(*paths, benchmark=benchmark)
        loaded = time.perf_counter()
        karat.evaluate(
            run, benchmark, ["R@1", "R@5", "R@10", "MedR", "mAP@R"], compute=karat.Compute(device="cuda")
        )
        return loaded - begin, time.perf_counter() - loaded


class Steps:
    """Seconds of every step of a pass."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        torch.cuda.synchronize()
        self.last = time.perf_counter()

    def __call__(self, name: str) -> None:
        """Note that a step is done."""
        torch.cuda.synchronize()
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self.last
        self.last = now


def measure() -> list[dict]:
    asked = PARSER.parse_args()
    if DEVICE == "cpu" and not asked.check:
        left_out("the pass on a GPU", "torch finds none; --check works without one")
    if asked.check or SMOKE or DEVICE == "cuda":
        same = check()
        if not same and (asked.check or SMOKE):
            sys.exit(1)
    if asked.check or DEVICE == "cpu":
        return []
    n = asked.items
    work = 2.0 * n * n * DIMENSIONS
    size = f"{n}x{n}x{DIMENSIONS}"
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    square = torch.randn(8192, 8192, device=DEVICE, dtype=torch.bfloat16)
    seconds = best_of(lambda: square @ square, 10)
    print(f"square bfloat16 product: {2 * 8192**3 / seconds / 1e12:.0f} TFLOP/s")
    records = []

    def report(name: str, seconds: float, **others: Any) -> None:
        print(f"{name}: {seconds:.3f} s, {work / seconds / 1e12:.0f} TFLOP/s", flush=True)
        memory = torch.cuda.max_memory_allocated() / 2**20
        records.append(
            record(f"{torch.cuda.get_device_name()}: {name}", size, {"s": seconds, "mb": memory}, **others)
        )

    what = "karat: exact ranks of the judged items and the exact first 50, both directions, "
    here = what + "tables on the device"
    tables = vectors(n, 0.25, torch.bfloat16)
    asked = questions(*tables)
    scan_tables(*tables, *asked)
    seconds = best_of(partial(scan_tables, *tables, *asked))
    product = best_of(partial(blocked_product, *tables), 1) / min(1.0, (1 << 17) / n)
    print(f"blocked product of these shapes: {work / product / 1e12:.0f} TFLOP/s")
    peer = best_of(partial(product_and_topk, *tables), 1)
    report(
        "good model, bfloat16", seconds, what=f"{here}; peer: no ranks, scores rounded to bfloat16",
        peer="torch matmul + topk(50), both directions", theirs=peer,
    )  # fmt: skip
    print(f"torch matmul + topk(50), both directions: {peer:.2f} s, {peer / seconds:.1f} times karat")
    steps = Steps()
    found = scan_tables(*tables, *asked, watch=steps)
    print({step: round(1000 * part) for step, part in steps.seconds.items()}, "ms")
    print("R@1", [round(float((answer.above == 0).double().mean()), 4) for answer in found], flush=True)
    del found
    arrays = [table.view(torch.int16).cpu().numpy() for table in tables]
    seconds = best_of(partial(there_and_back, arrays, asked), 2)
    report("good model, bfloat16, with transfers", seconds, what=what + "tables and results in main memory")
    del tables, asked, arrays
    for name, weight, kind in (
        ("weak model, bfloat16", 0.1, torch.bfloat16),
        ("chance, bfloat16", 0.0, torch.bfloat16),
        ("good model, float32", 0.25, torch.float32),
    ):
        torch.cuda.reset_peak_memory_stats()
        tables = vectors(n, weight, kind)
        asked = questions(*tables)
        scan_tables(*tables, *asked)
        report(name, best_of(partial(scan_tables, *tables, *asked), 1), what=here)
        del tables, asked
    torch.cuda.reset_peak_memory_stats()
    try:
        load, score = evaluated(*vectors(n, 0.25, torch.bfloat16))
    except (ImportError, OSError) as error:
        # What was measured is kept: numba is missing, or room on the disk.
        print(f"karat.evaluate of npy files: not measured ({error})")
        return records
    print(f"npy files loaded and checked: {load:.1f} s")
    report("good model, karat.evaluate of npy files", score, what="five measures of both directions")
    return records


def check() -> bool:
    """Print whether ranks and lists are those of the processor, and whether the kernels are right."""
    images, captions, own = duplicates()
    first = np.arange(len(images))
    by = by_gpu if DEVICE == "cuda" or SMOKE else by_cpu
    found = digest(by(images, captions, own, first))
    expected = digest(by_cpu(images, captions, own, first)) if SMOKE else BY_PROCESSOR
    same = found == expected
    print("ranks and lists:", found, "on", DEVICE, "" if same else f"instead of {expected}", flush=True)
    if DEVICE == "cpu":
        return same
    for kind in (torch.bfloat16, torch.float16, torch.float32):
        tables = [table.float().to(DEVICE) for table in (images, captions)]
        if kind != torch.bfloat16:
            # Numbers that this type has and the shorter ones do not.
            tables = [(table * 1.001).to(kind) for table in tables]
        # Every one of these is compiled, for up to ten seconds.
        for layers in ((4, 1), (1, 4), (4, 4)) if kind == torch.bfloat16 else ((4, 4),):
            asked = [several(tables, side, number) for side, number in enumerate(layers)]
            pairs = zip(*(scan_tables(*tables, *asked, engine=engine) for engine in (None, TorchTiles)))
            equal = all(
                torch.equal(part, other)
                for pair in pairs
                for part, other in zip(*(vars(answer).values() for answer in pair))
            )
            print(f"{kind}, {layers} judged items: {'equal' if equal else 'NOT EQUAL'}", flush=True)
            same &= equal
    return same


def several(tables: list[torch.Tensor], side: int, number: int) -> Asked:
    """Return what a side asks: where items come out that score high or low, and the first items."""
    queries, items = tables[side], tables[1 - side]
    every = torch.arange(len(queries), device=DEVICE)
    scores = torch.full((number, len(queries)), NOTHING, dtype=torch.float64, device=DEVICE)
    places = torch.zeros(scores.shape, dtype=torch.int64, device=DEVICE)
    for layer in range(number):
        # Not all queries have the further ones.
        some = every[layer::2] if layer else every
        item = ((1, 1, 7919, 104_729)[layer] * some + CHECKED * layer) % len(items)
        scores[layer, some] = exact_products(queries, items, some, item)
        places[layer, some] = item
    return Asked(scores, places, torch.arange(len(items), device=DEVICE), FIRST)


def duplicates() -> tuple[torch.Tensor, torch.Tensor, np.ndarray]:
    """Return images and captions with duplicates and ties, and of each caption its image."""
    draw, n = np.random.default_rng(0), CHECKED
    images, captions = (
        torch.from_numpy(draw.standard_normal((size, 128), np.float32)).bfloat16() for size in (n, 5 * n)
    )
    own = np.arange(5 * n) % n
    captions = (0.5 * images[own] + captions).bfloat16()
    captions[5 * n // 2 : 3 * n], images[n // 2 : n // 2 + n // 20], captions[-n // 40 :] = (
        captions[: n // 2],
        images[: n // 20],
        captions[7],
    )
    return images, captions, own


def digest(parts: list[np.ndarray]) -> str:
    """Return a digest of ranks and lists."""
    return hashlib.sha256(
        b"".join(np.ascontiguousarray(part, part.dtype).tobytes() for part in parts)
    ).hexdigest()


def by_gpu(
    images: torch.Tensor, captions: torch.Tensor, own: np.ndarray, first: np.ndarray
) -> list[np.ndarray]:
    """Ranks and lists by `scan_tables`."""
    tables = [table.to(DEVICE) for table in (images, captions)]
    every = [torch.arange(len(table), device=DEVICE) for table in tables]
    items = [torch.from_numpy(index).to(DEVICE) for index in (first, own)]
    scores = [
        exact_products(tables[0], tables[1], every[0], items[0]),
        exact_products(tables[0], tables[1], items[1], every[1]),
    ]
    asked = [Asked(scores[k][None], items[k][None], every[1 - k], FIRST) for k in (0, 1)]
    parts = []
    for answer in scan_tables(*tables, *asked):
        parts += [
            answer.above[0],
            answer.tied[0] - 1,
            answer.earlier[0],
            answer.item.flatten(),
            answer.score.flatten(),
        ]
    return [part.cpu().numpy() for part in parts]


def by_cpu(
    images: torch.Tensor, captions: torch.Tensor, own: np.ndarray, first: np.ndarray
) -> list[np.ndarray]:
    """The same by the pass on the processor."""
    from karat.runs import EmbeddingRun, TopRequest, pairs_to_place

    run = EmbeddingRun(images.float().numpy(), captions.float().numpy())
    items = [
        pairs_to_place("i2t", np.arange(len(images)), first),
        pairs_to_place("t2i", np.arange(len(captions)), own),
    ]
    scanned = run.scan(items, tops=[TopRequest("i2t", FIRST), TopRequest("t2i", FIRST)])
    parts = []
    for placed, top in zip(scanned.placed, scanned.tops):
        parts += [placed.above, placed.tied, placed.earlier, top.item, top.score]
    return parts


if __name__ == "__main__":
    main(measure)
