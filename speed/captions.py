"""Caption metrics of all pairs, against pycocoevalcap's pure-Python scorers on the same tokens.

With KARAT_DATA set, the captions are COCO's test split (5,000 images, 25,000 captions); without it those of a
known-truth world of the same size. The peer would need hours for all pairs: it scores a sample of them, and
its time is scaled to the whole.
"""

import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from _made import captioned
from _stopwatch import in_own_process, main, median_time, peak_mb, peer_side, record, sized, timed

from karat.captions.metric import CAPTION_METRICS
from karat.captions.similarity import references_of
from karat.captions.tokens import tokenise

RATED = sized(44_833, 50)
SAMPLE = sized(4_000, 20)
METRICS = ("cider", "plain-cider", "bleu-1", "bleu-4", "rouge-l", "hodosh-bleu", "hodosh-rouge")
PEERS = {"cider": "cider", "bleu-4": "bleu", "rouge-l": "rouge"}
GROWTH = sized((500, 1_000, 2_000, 5_000), (10, 20))


@cache
def references_and_candidates() -> tuple[list[list[str]], list[str]]:
    """Return the references of every image, and all captions as candidates."""
    benchmark, _ = captioned()
    return references_of(benchmark), list(benchmark.texts)


def warm(name: str) -> None:
    """Load the compiled loops: from the second process on they come from disk."""
    CAPTION_METRICS[name].matrix([["a dog"]], ["a dog"])


def all_pairs(name: str) -> dict[str, float]:
    """Time the whole table in memory, from raw captions."""
    references, candidates = references_and_candidates()
    warm(name)
    seconds = timed(lambda: CAPTION_METRICS[name].matrix(references, candidates))
    return {"s": seconds, "mb": peak_mb()}


def streamed() -> dict[str, float]:
    """Time the whole table of cider into a file, each caption left out of its own image's references."""
    references, candidates = references_and_candidates()
    sizes = [len(group) for group in references]
    own = np.repeat(np.arange(len(references)), sizes), np.concatenate([np.arange(n) for n in sizes])
    warm("cider")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "N.npy"
        seconds = timed(lambda: CAPTION_METRICS["cider"].matrix(references, candidates, own=own, out=out))
    return {"s": seconds, "mb": peak_mb()}


def listed() -> dict[str, float]:
    """Time cider of as many listed pairs as people rated in CxC."""
    references, candidates = references_and_candidates()
    rng = np.random.default_rng(0)
    image, caption = rng.integers(0, len(references), RATED), rng.integers(0, len(candidates), RATED)
    warm("cider")
    tokenise.cache_clear()
    seconds = timed(lambda: CAPTION_METRICS["cider"].prepare(references, candidates).at(image, caption))
    return {"s": seconds, "mb": peak_mb()}


def growth() -> dict[str, float]:
    """Time cider of the first images with their own captions."""
    references, _ = references_and_candidates()
    warm("cider")
    found = {}
    for size in GROWTH:
        some = references[:size]
        own = [caption for group in some for caption in group]
        tokenise.cache_clear()
        found[str(size)] = timed(lambda some=some, own=own: CAPTION_METRICS["cider"].matrix(some, own))
    return found


def scorer(name: str) -> Any:
    """Return pycocoevalcap's scorer of a metric."""
    from importlib import import_module

    module = import_module(f"pycocoevalcap.{PEERS[name]}.{PEERS[name]}")
    return getattr(module, PEERS[name].title())()


def peer(name: str) -> dict[str, float]:
    """Time the peer on a sample of pairs of an image and a caption, split into words beforehand."""
    references, candidates = references_and_candidates()
    rng = np.random.default_rng(0)
    spaced = [[" ".join(tokenise(text)) for text in group] for group in references]
    images = rng.integers(0, len(references), SAMPLE)
    asked = {k: spaced[i] for k, i in enumerate(images)}
    given = {
        k: [" ".join(tokenise(candidates[j]))] for k, j in enumerate(rng.integers(0, len(candidates), SAMPLE))
    }
    extra = {"verbose": 0} if name.startswith("bleu") else {}
    # The best of three: what is scaled to all pairs must not be a moment when the machine was busy.
    seconds = min(
        timed(lambda: scorer(name).compute_score(asked, given, **extra)) for _ in range(sized(3, 1))
    )
    return {"s": seconds, "mb": peak_mb()}


def tokens() -> dict[str, float]:
    """Time the words of all captions, none seen before, and the peer's."""
    from nltk.tokenize.treebank import TreebankWordTokenizer

    _, candidates = references_and_candidates()
    total = sum(len(tokenise(text)) for text in candidates)

    def ours() -> None:
        tokenise.cache_clear()
        for text in candidates:
            tokenise(text)

    split = TreebankWordTokenizer().tokenize
    theirs = median_time(lambda: [split(text.lower()) for text in candidates], repeats=3)
    return {"s": median_time(ours), "peer_s": theirs, "tokens": total}


SIDES: dict[str, Callable[[], dict[str, float]]] = {
    **{f"karat:{name}": partial(all_pairs, name) for name in METRICS},
    **{f"peer:{name}": partial(peer, name) for name in PEERS},
    "streamed": streamed,
    "listed": listed,
    "growth": growth,
    "tokens": tokens,
}


def measure() -> list[dict[str, Any]]:
    references, candidates = references_and_candidates()
    size, source = f"{len(references)}x{len(candidates)}", captioned()[1]
    times = len(references) * len(candidates) / SAMPLE
    records = []
    in_own_process(__file__, "karat:cider")  # compiles, once after an installation
    for name in METRICS:
        found = in_own_process(__file__, f"karat:{name}")
        what = f"{source}, all pairs in memory from raw text, new process, loops compiled before"
        compared: dict[str, Any] = {}
        if name in PEERS:
            other = peer_side("pycocoevalcap", __file__, f"peer:{name}")
            compared = {"peer": "pycocoevalcap", "theirs": other and {**other, "s": other["s"] * times}}
            if other:
                what += f"; the peer took {other['s']:.2f} s (best of 3) for {SAMPLE:,} pairs of ready "
                what += "tokens, counting the n-grams of each pair anew; scaled to all"
        records.append(record(f"captions, {name}", size, found, what, **compared))
    what = f"{source}, written to disk block by block, own captions left out"
    records.append(record("captions, cider to a file", size, in_own_process(__file__, "streamed"), what))
    what = f"{source}, listed pairs, reading all captions included"
    records.append(record("captions, cider of pairs", str(RATED), in_own_process(__file__, "listed"), what))
    for images, seconds in in_own_process(__file__, "growth").items():
        number = f"{images}x{5 * int(images)}"
        records.append(record("captions, cider, growth", number, seconds, f"{source}, from raw text"))
    found = in_own_process(__file__, "tokens")
    rate = found["tokens"] / found["s"]
    records.append(
        record(
            "captions, tokens", f"{found['tokens']:.0f}", found["s"],
            f"{source}, none seen before: {rate:,.0f} words a second on one core",
            peer="nltk treebank", theirs=found["peer_s"],
        )
    )  # fmt: skip
    return records


if __name__ == "__main__":
    main(measure, SIDES)
