"""Making known-truth worlds: with pictures, and abstract ones a hundred times as large."""

import tempfile
import time

from _harness import in_own_process, main, peak_mb, record

from karat.world import make_world, save_world, simulate


def pictures() -> dict[str, float]:
    """A thousand images with five captions each, saved with their png files."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        save_world(make_world(images=1000, captions=5, seed=7), folder)
        seconds = time.perf_counter() - begin
    return {"s": seconds, "mb": peak_mb()}


def abstract() -> dict[str, float]:
    """A hundred thousand scenes, each with its caption."""
    begin = time.perf_counter()
    make_world(images=100_000, captions=1, seed=7)
    return {"s": time.perf_counter() - begin, "mb": peak_mb()}


def truth() -> dict[str, float]:
    """The exact truth of five million pairs."""
    world = make_world(images=1000, captions=5, seed=7)
    begin = time.perf_counter()
    world.relevance()
    return {"s": time.perf_counter() - begin, "mb": peak_mb()}


def system() -> dict[str, float]:
    """Scores of a simulated system for five million pairs."""
    world = make_world(images=1000, captions=5, seed=7)
    begin = time.perf_counter()
    simulate(world)
    return {"s": time.perf_counter() - begin, "mb": peak_mb()}


SIDES = {"pictures": pictures, "abstract": abstract, "truth": truth, "system": system}
WHAT = {
    "pictures": ("1000x5000", "scenes, captions, exact truth, 1,000 png files and the benchmark on disk"),
    "abstract": ("100000x100000", "scenes and captions with their meanings; no pixels, no truth table"),
    "truth": ("1000x5000", "which captions are true of which images"),
    "system": ("1000x5000", "a score table of a simulated system"),
}


def measure():
    records = []
    for name, (size, what) in WHAT.items():
        found = in_own_process(__file__, name)
        records.append(
            record(f"world, {name}", size, found["s"], f"{what}; new process", karat_mb=found["mb"])
        )
    return records


if __name__ == "__main__":
    main(measure, SIDES)
