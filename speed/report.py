"""What a report costs: its size, the time to write it, and the time until a browser can use it."""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from _made import coco
from _stopwatch import SMOKE, in_own_process, left_out, main, peak_mb, record, sized, timed
from tests.browser.chromium import missing, start

import karat
from karat.reports import write_report
from karat.stats import Intervals

NUMBERS = sized((5, 25), (2,))
WIDTH = 64
NO_BROWSER = "not opened" if SMOKE else missing()
SORT = """
const begin = performance.now();
document.querySelectorAll('.queries th button')[2].click();
return new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin))));
"""


def made_runs(benchmark: karat.Benchmark, number: int) -> list[karat.Run]:
    """Made-up systems on COCO: a random vector per image, and noise of rising strength on its captions."""
    rng = np.random.default_rng(0)
    images = rng.standard_normal((benchmark.images.size, WIDTH), dtype=np.float32)
    runs = []
    for k in range(number):
        noise = rng.standard_normal((benchmark.captions.size, WIDTH), dtype=np.float32)
        captions = images[benchmark.caption_image] + (2.2 + 0.05 * k) * noise
        runs.append(karat.load_run(images, captions, name=f"system {k + 1}", similarity="cosine"))
    return runs


def one_report(number: int) -> dict[str, float]:
    """Compare so many systems, write the report, open it and sort its table."""
    benchmark = coco()
    runs = made_runs(benchmark, number)
    found = karat.compare(runs, benchmark, samples=199, intervals=Intervals(resamples=200))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        # The first one also loads scipy and fills caches; the second is what it takes.
        seconds = min(timed(lambda: write_report(found, path, runs=runs)) for _ in range(sized(2, 1)))
        out = {"s": seconds, "mb": peak_mb(), "size_mb": path.stat().st_size / 1e6}
        if NO_BROWSER is None:
            browser = start(Path(folder) / "profile")
            try:
                opened = [browser.open(path) for _ in range(3)]
                out |= {"open": min(opened), "sort": browser.run(SORT) / 1000}
            finally:
                browser.driver.quit()
    return out


def measure():
    if NO_BROWSER:
        left_out("report, opened", NO_BROWSER)
    for number in NUMBERS:
        found, size = in_own_process(__file__, str(number)), f"{number}x{coco().captions.size // 1000}k"
        shown = f"opens in {found['open']:.2f} s, sorts in {found['sort']:.3f} s" if "open" in found else ""
        what = f"write_report alone; {found['size_mb']:.2f} MB; {shown or NO_BROWSER}"
        yield record("report, written", size, found, what)
        if "open" in found:
            what = "from the address to a usable table of queries, plotly not yet needed"
            yield record("report, opened", size, found["open"], what)


if __name__ == "__main__":
    main(measure, {str(number): partial(one_report, number) for number in NUMBERS})
