"""The index files: the senses of each word, how often each was seen, and irregular forms."""

from __future__ import annotations

from karat.lexicon.data_files import key
from karat.lexicon.files import PARTS, REPAIR, Files
from karat.validation import InputError

Senses = dict[tuple[str, int], list[int]]
"""By word and number of its part of speech: the keys of its synsets, the commonest sense first."""


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
                offsets = [int(one) for one in fields[6 + int(fields[3]) :]]
                if not 0 < count == len(offsets):
                    raise ValueError
                senses[fields[0].decode(), part] = [key(part, offset) for offset in offsets]
            except (ValueError, IndexError):
                raise _broken(files, f"index.{name}", number, "lists no senses") from None
    return senses


def read_exceptions(files: Files) -> dict[tuple[str, int], list[str]]:
    """Return the base forms of irregular forms; a part of speech without its list has none."""
    found: dict[tuple[str, int], list[str]] = {}
    for part, name in enumerate(PARTS.values()):
        if f"{name}.exc" in files:
            for number, line in enumerate(files.read(f"{name}.exc").split(b"\n"), 1):
                try:
                    form, *bases = line.decode().split() or [""]
                except ValueError:
                    raise _broken(files, f"{name}.exc", number, "is no text") from None
                if bases:
                    found[form, part] = bases
    return found


def read_counts(files: Files) -> dict[tuple[str, int], int]:
    """Return how often each word was seen in each sense, by word and synset's key; none without the file.

    A line is a sense key, the synset's offset, the number of the sense and the count, such as
    ``dog%1:05:00:: 02084071 1 42``. (The file cntlist.rev numbers senses as an older version did.)
    """
    found: dict[tuple[str, int], int] = {}
    if "index.sense" not in files:
        return found
    for number, line in enumerate(files.read("index.sense").split(b"\n"), 1):
        if line.strip():
            try:
                name, offset, _, count = line.split()
                word, _, rest = name.rpartition(b"%")
                # 1 to 5: noun, verb, adjective, adverb, and an adjective that is a satellite.
                part = (0, 1, 2, 3, 2)[b"12345".index(rest[:1] or b"0")]
                if int(count):
                    found[word.decode(), key(part, int(offset))] = int(count)
            except ValueError:
                raise _broken(files, "index.sense", number, "is no sense") from None
    return found


def _broken(files: Files, name: str, line: int, what: str) -> InputError:
    return InputError(f"line {line} {what}", where=files.where(name), fix=REPAIR)
