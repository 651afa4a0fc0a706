"""All of WordNet as a few arrays: read from its files once, then from the cache."""

from __future__ import annotations

import zlib
from itertools import chain

import numpy as np

from karat.benchmarks.cache import Arrays, cached
from karat.lexicon.data_files import DataFiles
from karat.lexicon.files import PARTS, REPAIR, Files
from karat.lexicon.hierarchy import closures
from karat.lexicon.index_files import read_counts, read_exceptions, read_senses
from karat.lexicon.strings import pack
from karat.validation import KaratError, parsing

# Part of the cache's name: what an older layout left there is not taken for this one.
_LAYOUT = 1


def read_arrays(files: Files) -> Arrays:
    """Return the arrays, from the cache while the files stay the same."""
    names = [f"{kind}.{part}" for kind in ("data", "index") for part in PARTS.values()]
    names += [*(f"{part}.exc" for part in PARTS.values()), "index.sense"]
    place = zlib.crc32(str(files.path.resolve()).encode("utf-8", "surrogateescape"))
    inputs = files.stamped(*names)
    return cached(f"wordnet-{_LAYOUT}-{place:08x}", inputs, lambda: parse(files))


def parse(files: Files) -> Arrays:
    """Return the arrays, read from the files."""
    with parsing(files.path, "holds files that are not WordNet's", REPAIR):
        try:
            return _parse(files)
        except KaratError as error:
            # What concerns all files at once does not know where they lie.
            raise error if error.where else type(error)(error.what, where=files.path, fix=REPAIR) from None


def _parse(files: Files) -> Arrays:
    synsets = DataFiles(files)
    senses, counts, exceptions = read_senses(files), read_counts(files), read_exceptions(files)
    indexed = sorted({word for word, _ in senses})
    others = {*synsets.words, *(form for form, _ in exceptions), *chain.from_iterable(exceptions.values())}
    # Words with senses come first, so that the table of senses ends with them.
    texts = [*indexed, *sorted(others.difference(indexed))]
    number = {text: place for place, text in enumerate(texts)}
    arrays = pack(texts)

    places = [(word, part) for word in indexed for part in range(len(PARTS))]
    lists = [senses.get(place, ()) for place in places]
    arrays["sense_start"] = _starts([len(one) for one in lists])
    keys = np.fromiter(chain.from_iterable(lists), np.int64)
    arrays["senses"] = synsets.rows(keys, "index files").astype(np.int32)
    seen = (counts.get((word, synset), 0) for (word, _), one in zip(places, lists) for synset in one)
    arrays["sense_counts"] = np.fromiter(seen, np.int32)

    irregular = [
        (number[form] * len(PARTS) + part, number[base])
        for (form, part), bases in exceptions.items()
        for base in bases
    ]
    table = np.array(irregular, np.int32).reshape(-1, 2)
    arrays["exceptions"] = table[np.argsort(table[:, 0], kind="stable")]

    arrays["offsets"] = np.array(synsets.offsets, np.int32)
    arrays["lines"] = np.array(synsets.begins, np.int32)
    arrays["letters"] = np.array(synsets.letters, np.uint8)
    arrays["word_start"] = _starts(synsets.sizes)
    arrays["words"] = np.array([number[word] for word in synsets.words], np.int32)
    arrays["antonyms"] = synsets.antonyms(arrays["word_start"])
    arrays["edge_start"], arrays["edges"] = synsets.edges()
    size = len(synsets.offsets)
    up = arrays["edge_start"][: 2 * size + 1]
    child = np.repeat(np.tile(np.arange(size), 2), np.diff(up))
    return arrays | closures(child, arrays["edges"][: up[-1]], size)


def _starts(sizes: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
