"""What a report costs: its size, the time to write it, and the time until a browser can use it."""

import sys
import tempfile
from pathlib import Path

import numpy as np
from _harness import in_own_process, main, peak_mb, record, timed

import karat
from karat.reports import write_report
from karat.stats import Intervals

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from browser.chromium import missing, start

WIDTH = 64
SORT = """
const begin = performance.now();
document.querySelectorAll('.queries th button')[2].click();
return new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin))));
"""


def made_runs(coco: karat.Benchmark, number: int) -> list[karat.Run]:
    """Made-up systems on COCO: a random vector per image, and noise of rising strength on its captions."""
    rng = np.random.default_rng(0)
    images = rng.standard_normal((coco.images.size, WIDTH), dtype=np.float32)
    runs = []
    for k in range(number):
        noise = rng.standard_normal((coco.captions.size, WIDTH), dtype=np.float32)
        captions = images[coco.caption_image] + (2.2 + 0.05 * k) * noise
        runs.append(karat.load_run(images, captions, name=f"system {k + 1}", similarity="cosine"))
    return runs


def one_report(number: int) -> dict[str, float]:
    """Compare so many systems, write the report, open it and sort its table."""
    coco = karat.load_benchmark("coco")
    runs = made_runs(coco, number)
    found = karat.compare(runs, coco, samples=199, intervals=Intervals(resamples=200))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        # The first one also loads scipy and fills caches; the second is what it takes.
        seconds = min(timed(lambda: write_report(found, path, runs=runs)) for _ in range(2))
        out = {"seconds": seconds, "mb": peak_mb(), "size_mb": path.stat().st_size / 1e6}
        if missing() is None:
            browser = start(Path(folder) / "profile")
            try:
                opened = [browser.open(path) for _ in range(3)]
                out |= {"open": min(opened), "sort": browser.run(SORT) / 1000}
            finally:
                browser.driver.quit()
    return out


def measure():
    records = []
    for number in (5, 25):
        found = in_own_process(__file__, str(number))
        shown = f"opens in {found['open']:.2f} s, sorts in {found['sort']:.3f} s" if "open" in found else ""
        records.append(
            record(
                "report, written", f"{number}x25k", found["seconds"],
                f"write_report alone; {found['size_mb']:.2f} MB; {shown or missing()}", karat_mb=found["mb"],
            )
        )  # fmt: skip
        if "open" in found:
            what = "from the address to a usable table of queries, plotly not yet needed"
            records.append(record("report, opened", f"{number}x25k", found["open"], what))
    return records


if __name__ == "__main__":
    sides = {str(number): (lambda n=number: one_report(n)) for number in (5, 25)}
    main(measure, sides)
