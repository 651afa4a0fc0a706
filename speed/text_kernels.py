"""Text kernels of all pairs of items with five captions each, against scikit-learn where it has the parts.

With KARAT_DATA set, the items are the training images of Flickr8k (6,000 with 30,000 captions); without it
those of a known-truth world of the same size. KARAT_TEXT_ITEMS sets another number of items. No package that
we know has a string kernel with similarities of words: the best kernel has no peer. Peers of the plain ones
are made from scikit-learn's parts.
"""

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from _stopwatch import DATA, in_own_process, main, peak_mb, record, sized, timed

from karat.baselines.text import tagged_words, text_kernel
from karat.captions.system_words import SystemWords

ITEMS = sized(int(os.environ.get("KARAT_TEXT_ITEMS", "6000")), 20)
BEST = "TRI5-A,Dic-sqrt-idf"


def texts() -> list[list[str]]:
    """Return the captions of every item."""
    if DATA is None:
        from karat.world import make_world

        benchmark = make_world(images=ITEMS, captions=5, seed=7).benchmark()
        captions = [*benchmark.texts]
        return [captions[k : k + 5] for k in range(0, len(captions), 5)]
    place = DATA / "flickr8k"
    found: dict[str, list[str]] = {}
    for line in (place / "Flickr8k.token.txt").read_text(encoding="utf-8").splitlines():
        name, _, caption = line.partition("\t")
        found.setdefault(name.partition("#")[0], []).append(caption)
    names = (place / "Flickr_8k.trainImages.txt").read_text(encoding="utf-8").split()
    return [found[name] for name in names[:ITEMS]]


@cache
def captions() -> tuple[list[list[tuple[str, ...]]], list[list[tuple[str, ...]]]]:
    """Return the words of every caption, and their tags."""
    raw = texts()
    return tagged_words(SystemWords().fit([caption for item in raw for caption in item]), raw)


def fitted(name: str) -> dict[str, float]:
    """Time fitting and the kernel of all pairs; the compiled loops are loaded before."""
    words, tags = captions()
    kernel = text_kernel(name)
    fit = timed(lambda: kernel.fit(words, tags))
    kernel.kernel(words[:2])
    kernel.kernel(words[:2], words[:2])
    before = peak_mb()
    return {"fit": fit, "kernel": timed(lambda: kernel.kernel(words)), "before": before, "mb": peak_mb()}


def prepared() -> dict[str, float]:
    """Time the preprocessing: spelling, tags, lemmas."""
    return {"s": timed(captions)}


def spans(item: list[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield every word, pair and triple of an item's captions, once per span."""
    for caption in item:
        for i, first in enumerate(caption):
            yield (first,)
            inside: set[str] = set()
            for last in caption[i + 1 :]:
                yield first, last
                for middle in inside:
                    yield first, middle, last
                inside.add(last)


def counted(analyzer: Any, match: float) -> dict[str, float]:
    """Time scikit-learn's counts of what `analyzer` yields, their weights, products and cosines."""
    from sklearn.feature_extraction.text import CountVectorizer

    words, _ = captions()

    def work() -> None:
        vectors = CountVectorizer(analyzer=analyzer, dtype=np.float64)
        counts = vectors.fit_transform(words)
        weights = np.empty(counts.shape[1])
        for feature, column in vectors.vocabulary_.items():
            weights[column] = match ** len(feature) if isinstance(feature, tuple) else 1.0
        counts = counts.multiply(weights).tocsr()
        values = (counts @ counts.T).toarray()
        own = np.sqrt(values.diagonal())
        values /= own[:, None]
        values /= own

    return {"s": timed(work), "mb": peak_mb()}


def tri5_peer() -> dict[str, float]:
    return counted(lambda item: [*spans(item)], 0.5)


def bow5_peer() -> dict[str, float]:
    return counted(lambda item: [word for caption in item for word in caption], 1.0)


OURS = {"best": BEST, "tri5": "TRI5", "tagrank": "TAGRANK", "bow5": "BoW5"}
PEERS = {"tri5": tri5_peer, "bow5": bow5_peer}
SIDES = {
    "words": prepared,
    **{side: (lambda name=name: fitted(name)) for side, name in OURS.items()},
    **{f"{side}-peer": peer for side, peer in PEERS.items()},
}


def measure():
    size, source = f"{ITEMS}x{ITEMS}", "Flickr8k" if DATA else "a known-truth world"
    what = f"of {source}: fit and transform with tags"
    yield record("words of captions", f"{5 * ITEMS} captions", in_own_process(__file__, "words"), what)
    for side, name in OURS.items():
        ours = in_own_process(__file__, side)
        yield record(f"fit {name}", size, ours["fit"], "from words: vocabulary, weights, similarities")
        what = f"all pairs from words, normalised; peak of the process, {ours['before']:.0f} MB before"
        compared: dict[str, Any] = {}
        if side in PEERS:
            compared = {"peer": "scikit-learn", "theirs": in_own_process(__file__, f"{side}-peer")}
            what += "; the peer counts features and multiplies"
        yield record(name, size, {"s": ours["kernel"], "mb": ours["mb"]}, what, **compared)


if __name__ == "__main__":
    main(measure, SIDES)
