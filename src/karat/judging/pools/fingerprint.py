"""A fingerprint of a benchmark's ids: under the same one, pairs mean the same."""

from __future__ import annotations

import hashlib
import json

from karat.benchmarks import Benchmark


def fingerprint(benchmark: Benchmark) -> str:
    """Return a hash of the ids of a benchmark's images and captions, in their order.

    >>> from karat.world import make_world
    >>> len(fingerprint(make_world(images=3, captions=1, seed=1).benchmark()))
    64
    """
    made = hashlib.sha256()
    for ids in (benchmark.images, benchmark.captions):
        made.update(json.dumps([ids.size, ids.values.tolist()]).encode())
    return made.hexdigest()
