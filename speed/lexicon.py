"""WordNet: loading it, looking words up, and similarities of all pairs, against NLTK on the same files."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from _made import nltk_wordnet
from _stopwatch import in_own_process, main, median_time, peak_mb, peer_side, record, sized, timed

PAIRS, WORDS, LARGE = sized((100, 5000, 3000), (5, 20, 10))


def chosen(synsets: int, words: list[str]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return two sets of nouns by their number, and words to look up."""
    rng = np.random.default_rng(4)
    a, b = rng.choice(synsets, (2, PAIRS))
    return a, b, [f"{word}s" for word in rng.choice(words, WORDS)]


def nouns(folder: Path) -> tuple[list[str], list[str]]:
    """Return the offsets of all noun synsets and all nouns."""
    return tuple(
        [
            line.split(" ", 1)[0]
            for line in (folder / f"{kind}.noun").read_text().splitlines()
            if line[0] != " "
        ]
        for kind in ("data", "index")
    )


def karat() -> dict[str, float]:
    def load() -> None:
        from karat.lexicon import wordnet

        wordnet()

    load_s, mb = timed(load), peak_mb()
    from karat.lexicon import InformationContent, wordnet

    wn = wordnet()
    offsets, words = nouns(wn.files.path)
    a, b, words = chosen(len(offsets), words)
    lookup = timed(lambda: [wn.synsets(word) for word in words])
    brown = InformationContent.read(wn, "brown")
    large = np.random.default_rng(4).choice(len(offsets), (2, LARGE))
    return {
        "s": load_s, "mb": mb, "lookup": lookup,
        "path": median_time(lambda: wn.path_similarity(a, b)),
        "lin": median_time(lambda: wn.lin_similarity(a, b, brown)),
        "large": median_time(lambda: wn.path_similarity(*large)),
    }  # fmt: skip


def nltk() -> dict[str, float]:
    warnings.simplefilter("ignore")
    with nltk_wordnet() as root:
        return nltk_on(root)


def nltk_on(root: Path) -> dict[str, float]:
    folder, kept = root / "corpora" / "wordnet", []

    def load() -> None:
        import nltk as package
        from nltk.corpus.reader import WordNetCorpusReader

        package.data.path.append(str(root))
        kept.append(WordNetCorpusReader(str(folder), None))

    load_s, mb = timed(load), peak_mb()
    from nltk.corpus.reader import WordNetICCorpusReader

    reader = kept[0]
    offsets, words = nouns(folder)
    a, b, words = chosen(len(offsets), words)
    first, second = (
        [reader.synset_from_pos_and_offset("n", int(offsets[row])) for row in rows] for rows in (a, b)
    )
    brown = WordNetICCorpusReader(str(root / "corpora" / "wordnet_ic"), [r".*\.dat"]).ic("ic-brown.dat")

    def all_pairs(similarity: Callable) -> float:
        return timed(lambda: [[similarity(one, other) for other in second] for one in first])

    return {
        "s": load_s, "mb": mb,
        "lookup": timed(lambda: [reader.synsets(word) for word in words]),
        "path": all_pairs(lambda one, other: one.path_similarity(other)),
        "lin": all_pairs(lambda one, other: one.lin_similarity(other, brown)),
    }  # fmt: skip


def wn() -> dict[str, float]:
    def load() -> None:
        from wn import WordNet

        WordNet()

    return {"s": timed(load), "mb": peak_mb()}


def measure() -> list[dict]:
    first = timed(lambda: in_own_process(__file__, "parse"))
    ours = in_own_process(__file__, "karat")
    theirs, package = (peer_side(name, __file__, name, smoke=False) for name in ("nltk", "wn"))
    everything, some = "117659 synsets", f"{PAIRS}x{PAIRS}"
    return [
        record(
            "load WordNet", everything, ours, "import and load, from the cache; peak of the process",
            peer="nltk", theirs=theirs,
        ),
        record(
            "load WordNet", everything, ours, "the same against the API of the files' own package",
            peer="wn", theirs=package,
        ),
        record("read WordNet's files", everything, first, "once per machine: a process that parses them all"),
        record(
            "look up words", f"{WORDS} words", ours["lookup"], "synsets of plural nouns, each the first time",
            peer="nltk", theirs=theirs and theirs["lookup"],
        ),
        record(
            "path similarity", some, ours["path"], "all pairs of two sets of random nouns",
            peer="nltk", theirs=theirs and theirs["path"],
        ),
        record(
            "Lin similarity", some, ours["lin"], "the same, with the counts of the Brown corpus",
            peer="nltk", theirs=theirs and theirs["lin"],
        ),
        record("path similarity", f"{LARGE}x{LARGE}", ours["large"], "nine hundred times as many pairs"),
    ]  # fmt: skip


def parse() -> dict[str, float]:
    from karat.lexicon.arrays import parse as read
    from karat.lexicon.files import find_wordnet

    read(find_wordnet())
    return {"mb": peak_mb()}


if __name__ == "__main__":
    main(measure, {"karat": karat, "nltk": nltk, "wn": wn, "parse": parse})
