"""Perturbed queries: captions rewritten, each kind in its own process.

With KARAT_DATA set, the captions are the 25,000 of the COCO test split; without it those of a known-truth
world of the same size. There is no peer that parses what it has rewritten.
"""

import os

from _harness import in_own_process, main, peak_mb, record, timed

import karat
from karat import load_benchmark
from karat.perturbations import PERTURBATIONS

SIZE = 25_000


def rewritten(kind: str) -> dict[str, float]:
    """Time one kind; what is compiled or read once per machine is loaded before."""
    from karat.benchmarks import build
    from karat.world import make_world

    if os.environ.get("KARAT_DATA"):
        benchmark = load_benchmark("coco")
    else:
        benchmark = make_world(images=SIZE // 5, captions=5, seed=7).benchmark()
    texts = benchmark.needed_texts
    karat.perturb(build("few", ["x"], ["1"], ["x"], [texts[0]], where="few", about=""), kind)
    return {"seconds": timed(lambda: karat.perturb(benchmark, kind)), "mb": peak_mb()}


def measure() -> list[dict]:
    """Return a record per kind."""
    done = {kind: in_own_process(__file__, kind) for kind in PERTURBATIONS}
    return [
        record(
            f"perturb, {kind}", f"{SIZE} captions", each["seconds"], "parse, rewrite, parse again",
            karat_mb=each["mb"],
        )
        for kind, each in done.items()
    ]  # fmt: skip


if __name__ == "__main__":
    main(measure, {kind: (lambda kind=kind: rewritten(kind)) for kind in PERTURBATIONS})
