"""A small benchmark with pictures, captions and runs whose names and texts try to break the page."""

from pathlib import Path

import numpy as np

import karat
from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth
from karat.runs import Fingerprint

IMAGE_TAG = "<img src=x onerror=\"window.broken='caption'\">"
SCRIPT_END = "</script><script>window.broken='run'</script>"
LONG = "a very long caption " * 500
RIGHT_TO_LEFT = "כלב שחור רץ על החוף"
PSEUDO_HTML = '<a href="javascript:window.broken=1">click</a> <b>bold</b> &amp; $x^2$ %{x}'
TEXTS = (
    IMAGE_TAG,
    LONG,
    RIGHT_TO_LEFT,
    PSEUDO_HTML,
    "{{ 7 * 7 }} ${7 * 7} \u2028 \u2029 \x00 ]]>",
    "<!-- <script>",
)
RUNS = (SCRIPT_END, "plain", RIGHT_TO_LEFT, PSEUDO_HTML)


def hostile_benchmark(n_images: int = 30, per_image: int = 2, folder: Path | None = None) -> Benchmark:
    """A benchmark of a partial and a complete truth; the first captions are hostile."""
    image = np.repeat(np.arange(n_images), per_image)
    n = len(image)
    own = Judgments(image, np.arange(n), sources=[Provenance("original")])
    # Image k also fits the captions of image k + 1.
    wide = Judgments(
        np.r_[image, (image + 1) % n_images], np.r_[np.arange(n), np.arange(n)], sources=[Provenance("exact")]
    )
    asked = {"i2t": np.arange(n_images), "t2i": np.arange(n)}
    truths = {
        "<b>own</b>": Truth("<b>own</b>", own, asked, about="<i>the own ones</i>"),
        "complete": Truth("complete", wide, asked, complete=True),
    }
    names = [f"<img src=x onerror=alert({k})>.png" for k in range(n_images)]
    texts = [TEXTS[k] if k < len(TEXTS) else f"caption {k} of a dog" for k in range(n)]
    paths = None
    if folder is not None:
        paths = draw(folder, n_images)
    ids = Ids(names, kind="image"), Ids([f"c{k}" for k in range(n)], kind="caption")
    return Benchmark("<em>made</em>", *ids, truths, caption_image=image, texts=texts, image_paths=paths)


def draw(folder: Path, n_images: int) -> list[str]:
    """Write small pictures; the last names lead elsewhere."""
    from PIL import Image

    names = [f'a picture #{k} "&%.png' for k in range(n_images)]
    for k, name in enumerate(names):
        Image.new("RGB", (40, 30), (8 * k % 255, 90, 160)).save(folder / name)
    outside = folder.parent / "outside.png"
    Image.new("RGB", (40, 30), "red").save(outside)
    (folder / "link.png").symlink_to(outside)
    (folder / "broken.png").write_bytes(b"no picture")
    return [*names[:-3], "../outside.png", "link.png", "broken.png"]


def hostile_runs(bench: Benchmark, names: tuple[str, ...] = RUNS) -> list[karat.Run]:
    """Runs of falling strength."""
    runs = []
    for k, name in enumerate(names):
        rng = np.random.default_rng(k)
        scores = rng.normal(size=(bench.images.size, bench.captions.size))
        scores[bench.caption_image, np.arange(bench.captions.size)] += 3 - 0.6 * k
        run = karat.load_run(scores.astype(np.float32), name=name)
        # The last run states nothing about itself.
        if k < len(names) - 1:
            run.made_with = Fingerprint({"model": name, "image.resize": 224 + 32 * k, names[0]: "shared"})
        runs.append(run)
    return runs
