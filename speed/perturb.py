"""Perturbed queries: captions rewritten, each kind in its own process.

With KARAT_DATA set, the captions are the 25,000 of the COCO test split; without it those of a known-truth
world of the same size. There is no peer that parses what it has rewritten.
"""

from _made import captioned
from _stopwatch import in_own_process, main, peak_mb, record, timed

import karat
from karat.perturbations import PERTURBATIONS


def rewritten(kind: str) -> dict[str, float]:
    """Time one kind; what is compiled or read once per machine is loaded before."""
    from karat.benchmarks import build

    benchmark, _ = captioned()
    texts = benchmark.needed_texts
    karat.perturb(build("few", ["x"], ["1"], ["x"], [texts[0]], where="few", about=""), kind)
    seconds = timed(lambda: karat.perturb(benchmark, kind))
    return {"s": seconds, "mb": peak_mb(), "captions": len(texts)}


def measure() -> list[dict]:
    """Return a record per kind."""
    done = {kind: in_own_process(__file__, kind) for kind in PERTURBATIONS}
    return [
        record(f"perturb, {kind}", f"{each['captions']} captions", each, "parse, rewrite, parse again")
        for kind, each in done.items()
    ]


if __name__ == "__main__":
    main(measure, {kind: (lambda kind=kind: rewritten(kind)) for kind in PERTURBATIONS})
