"""Hodosh's vocabularies (§3.5.3, §3.5.4) and figure 3, from our words and from the authors' lemmas.

The authors' lemmas are those of Flickr8k.lemma.token.txt without our stop words; parts of speech are our
tagger's on the captions as they were written, where both have as many words, and unknown elsewhere. Figure 3
prints Lin's similarity itself (eq. 22), not the cosine that the kernel uses.
"""

from functools import cached_property
from pathlib import Path

from _hodosh_inputs import TEXTS, Flickr8k, Items
from _paper import Records, beside, read_table, record

from karat.baselines.text import AlignmentSimilarity, DistributionalSimilarity, LinSimilarity, Similarity
from karat.benchmarks.sources.flickr8k import read_captions
from karat.captions.system_words import PARTS
from karat.captions.tokens import STOP_WORDS
from karat.lexicon.syntax import TAGS, load_parser

LEMMAS = "Flickr8k.lemma.token.txt"
SHOWN = 5
"""How many neighbours the figure has."""


def missing_words(data: Path | None) -> str | None:
    """Return what is missing under `data`, as a note; None where all is there."""
    there = data is not None and all((data / "flickr8k" / name).is_file() for name in (*TEXTS, LEMMAS))
    return None if there else f"needs flickr8k/ with its captions, splits and {LEMMAS} under --data"


class Learned:
    """The lexical similarities of one set of training words."""

    def __init__(self, captions: Items, tags: Items) -> None:
        self.captions, self.tags = captions, tags

    @cached_property
    def alignment(self) -> AlignmentSimilarity:
        """σ_A."""
        return AlignmentSimilarity().fit(self.captions, self.tags)

    @cached_property
    def similarities(self) -> dict[str, Similarity]:
        """By their names in figure 3."""
        return {
            "Alignment": self.alignment,
            "Distributional ic": DistributionalSimilarity().fit(self.captions),
            "Lin": LinSimilarity(cosine=False).fit(self.captions),
        }

    def counts(self) -> dict[tuple[str, str], int]:
        """Return the sizes of the vocabularies, by section and row."""
        nouns, verbs = {*self.alignment.nouns_}, {*self.alignment.verbs_}
        return {
            ("3.5.3", "words"): len(self.similarities["Distributional ic"].words_),
            ("3.5.4", "nouns"): len(nouns),
            ("3.5.4", "verbs"): len(verbs),
            ("3.5.4", "both"): len(nouns & verbs),
        }


def authors_words(flickr: Flickr8k) -> tuple[Items, Items]:
    """Return the authors' lemmas of the training captions, and their parts of speech by our tagger."""
    lemmas, raw = (read_captions(flickr.folder / name) for name in (LEMMAS, TEXTS[0]))
    names = flickr.benches["train"].images.values.tolist()
    pairs = [[(lemmas[name][k], raw[name][k]) for k in sorted(raw[name])] for name in names]
    parsed = load_parser()([text.lower().split() for own in pairs for _, text in own])
    ends = parsed.ptr.tolist()
    words: Items = []
    tags: Items = []
    number = 0
    for own in pairs:
        words.append([])
        tags.append([])
        for lemmatised, _ in own:
            split = lemmatised.lower().split()
            found = [
                PARTS.get(TAGS[tag], "-") for tag in parsed.tag[ends[number] : ends[number + 1]].tolist()
            ]
            found = found if len(found) == len(split) else ["-"] * len(split)
            kept = [k for k, word in enumerate(split) if word not in STOP_WORDS and word[0].isalpha()]
            words[-1].append(tuple(split[k] for k in kept))
            tags[-1].append(tuple(found[k] for k in kept))
            number += 1
    return words, tags


def vocabularies(table: str, ours: Learned | None, authors: Learned | None, missing: str = "") -> Records:
    """Return the sizes of a section's vocabularies; `missing` says why there are none of ours."""
    lines = read_table("hodosh_words", table)
    found: dict[tuple[str, str, str], tuple[float | None, str]] = {}
    for line in lines:
        key = table, line["row"]
        if ours is None or authors is None:
            found[(*key, line["column"])] = None, missing
        else:
            note = f"from the authors' lemmas {authors.counts()[key]:,}; lemmas, tagger and stop words differ"
            found[(*key, line["column"])] = float(ours.counts()[key]), note
    return beside(lines, found)


def neighbours(ours: Learned | None, authors: Learned | None, missing: str = "") -> Records:
    """Return figure 3: the paper's neighbours with our similarities, and how many of them are among ours."""
    figure: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for line in read_table("hodosh_figure_3"):
        figure.setdefault((line["word"], line["similarity"]), []).append(
            (line["neighbour"], float(line["value"]))
        )
    out = []
    for (word, kind), near in figure.items():
        row = f"{word}: {kind}"
        known = None if ours is None or authors is None else (ours, authors)
        if known is None or kind not in known[0].similarities:
            note = missing or "needs the British National Corpus"
            out += [record("Figure 3", row, other, value, None, note) for other, value in near]
            continue
        mine, theirs = (one.similarities[kind] for one in known)
        for other, value in near:
            note = f"from the authors' lemmas {similar(theirs, word, other):.2f}"
            out.append(record("Figure 3", row, other, value, similar(mine, word, other), note))
        lists = [one.nearest(word, SHOWN) for one in (mine, theirs)]
        common = [len({other for other, _ in near} & {other for other, _ in one}) for one in lists]
        note = f"ours: {listed(lists[0])}; from the authors' lemmas {common[1]}: {listed(lists[1])}"
        out.append(record("Figure 3", row, "neighbours in common", float(SHOWN), float(common[0]), note))
    return out


def similar(learned: Similarity, first: str, second: str) -> float:
    """Return how similar two words are."""
    return float(learned.kappa([first, second])[0, 1])


def listed(near: list[tuple[str, float]]) -> str:
    """Return words with their similarities.

    >>> listed([("biker", 0.861), ("bmx", 0.75)])
    'biker .86, bmx .75'
    """
    return ", ".join(f"{word} {value:.2f}".replace(" 0.", " .") for word, value in near)
