"""Making known-truth worlds: with pictures, and abstract ones a hundred times as large."""

import tempfile
import time

from _stopwatch import in_own_process, main, peak_mb, record, sized

from karat.world import make_world, save_world, simulate

IMAGES, ABSTRACT = sized((1000, 100_000), (20, 100))


def pictures() -> dict[str, float]:
    """Images with five captions each, saved with their png files."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        save_world(make_world(images=IMAGES, captions=5, seed=7), folder)
        seconds = time.perf_counter() - begin
    return {"s": seconds, "mb": peak_mb()}


def abstract() -> dict[str, float]:
    """Scenes, each with its caption."""
    begin = time.perf_counter()
    make_world(images=ABSTRACT, captions=1, seed=7)
    return {"s": time.perf_counter() - begin, "mb": peak_mb()}


def truth() -> dict[str, float]:
    """The exact truth of all pairs."""
    world = make_world(images=IMAGES, captions=5, seed=7)
    begin = time.perf_counter()
    world.relevance()
    return {"s": time.perf_counter() - begin, "mb": peak_mb()}


def system() -> dict[str, float]:
    """Scores of a simulated system for all pairs."""
    world = make_world(images=IMAGES, captions=5, seed=7)
    begin = time.perf_counter()
    simulate(world)
    return {"s": time.perf_counter() - begin, "mb": peak_mb()}


SIDES = {"pictures": pictures, "abstract": abstract, "truth": truth, "system": system}
PAIRS, MANY = f"{IMAGES}x{5 * IMAGES}", f"{ABSTRACT}x{ABSTRACT}"
WHAT = {
    "pictures": (PAIRS, "scenes, captions, exact truth, 1,000 png files and the benchmark on disk"),
    "abstract": (MANY, "scenes and captions with their meanings; no pixels, no truth table"),
    "truth": (PAIRS, "which captions are true of which images"),
    "system": (PAIRS, "a score table of a simulated system"),
}


def measure():
    for name, (size, what) in WHAT.items():
        yield record(f"world, {name}", size, in_own_process(__file__, name), f"{what}; new process")


if __name__ == "__main__":
    main(measure, SIDES)
