"""The cleaning list: captions that probably do not belong to their image, the worst first.

Three signs, each from 0 (fits) to 1 (does not), and their mean:

- concepts: the share of the caption's concepts that neither the objects of its image nor its other captions
  have;
- words: one minus the highest share of content words that it has in common with another caption of its image;
- rank: log(place) / log(size of the gallery), the mean over runs and directions of the place at which a run
  ranks the image for the caption and the caption for the image.

A caption has the signs for which its benchmark and runs have what is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import Layout, Part, Result, plural, say, track
from karat.benchmarks import Benchmark, JudgedItems, as_benchmark, in_order
from karat.errors import InputError, KaratError
from karat.explanations.concept_sources import find_concepts
from karat.explanations.concepts import Concepts
from karat.explanations.noun_senses import MentionedConcepts, NounSenses, names_in
from karat.runs import Compute, Loading, Run, load_runs
from karat.scores.evaluation import ScanRequests, pairs_of

SIGNS = {
    "concepts": "names what its image and other captions do not show",
    "words": "shares few words with other captions of its image",
    "rank": "is ranked low for its image",
}
"""The signs of a wrong caption, in words."""
SUSPICIOUS = 0.5
"""From this value on a sign is given as a reason."""
SHOWN = 20


@dataclass(frozen=True, eq=False)
class CleaningList(Result):
    """Captions with their own images, the most suspicious first; `make_cleaning_list` makes it.

    Parameters
    ----------
    benchmark
        With ids and captions.
    score
        Per caption, how suspicious it is, from 0 to 1; NaN where nothing is known.
    signs
        By name, the parts of the score.
    notes
        What a reader should know.
    """

    benchmark: Benchmark
    score: np.ndarray
    signs: dict[str, np.ndarray]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return int((~np.isnan(self.score)).sum())

    def records(self) -> list[dict[str, Any]]:
        """Return one record per caption, the most suspicious first."""
        order = np.argsort(-np.where(np.isnan(self.score), -1, self.score), kind="stable")
        owner = np.asarray(self.benchmark.caption_image)
        texts = self.benchmark.needed_texts
        captions, images = self.benchmark.captions.values.tolist(), self.benchmark.images.values.tolist()
        return [
            {
                "caption": captions[k], "image": images[owner[k]], "score": round(float(self.score[k]), 4),
                "reasons": "; ".join(
                    SIGNS[name] for name, values in self.signs.items() if values[k] >= SUSPICIOUS
                ),
                **{
                    name: None if np.isnan(values[k]) else round(float(values[k]), 4)
                    for name, values in self.signs.items()
                },
                "text": texts[k],
            }
            for k in order.tolist()
            if not np.isnan(self.score[k])
        ]  # fmt: skip

    def parts(self) -> list[Part]:
        """Return how many captions there are, and the first of them."""
        rows = [
            [str(row["caption"]), str(row["image"]), f"{row['score']:.3f}", row["text"][:60]]
            for row in self.records()[:SHOWN]
        ]
        return [
            f"{plural(len(self), 'caption')} by how badly they fit their images: {', '.join(self.signs)}",
            Layout(["caption", "image", "score", "text"], rows, labels=2),
        ]


def make_cleaning_list(
    runs: Run | Sequence[Run] | Any,
    benchmark: Benchmark | str | Path,
    *,
    concepts: bool = True,
    setting: Mapping[str, Any] | None = None,
    loading: Loading | None = None,
    compute: Compute | None = None,
) -> CleaningList:
    """Rank the captions of a benchmark by how badly they fit the image that they belong to.

    Parameters
    ----------
    runs
        As `karat.evaluate` takes them; None for signs from captions and objects alone.
    benchmark
        A benchmark with captions whose images are known, its name or its folder.
    concepts
        Whether captions are parsed for concepts, the slowest part.
    setting
        Of the benchmark, as `karat.evaluate` takes it.
    loading, compute
        How runs are read, and what works on them.

    Returns
    -------
    CleaningList

    Examples
    --------
    >>> from karat.world import make_world, plant_wrong_captions, simulate
    >>> world = make_world(40, seed=1)
    >>> planted, wrong, _ = plant_wrong_captions(world.benchmark(), 0.05, seed=2)
    >>> cleaning = make_cleaning_list(None, planted)
    >>> bool(cleaning.score[wrong].mean() > cleaning.score[~wrong].mean())
    True
    """
    bench = as_benchmark(benchmark, setting)
    bench.check_gallery()
    bench.check_image_text()
    compute = compute or Compute()
    check_owners(bench)
    loaded = [] if runs is None else load_runs(runs, bench, loading, compute)
    bench = loaded[0].benchmark or bench if loaded else bench
    own = OwnPairs(bench)
    requests, passing = ScanRequests(own.pairs), compute.passing(loaded)
    scored = track(loaded, lambda run: f"scoring {run.name}")
    placed = [requests.of_run(run, compute.threads, passing).placed for run in scored]
    return rank_captions(own, placed, concepts)


def rank_captions(
    own: OwnPairs, placed: Sequence[Mapping[JudgedItems, JudgedItems]], concepts: bool = True
) -> CleaningList:
    """Return the cleaning list, by where each of several runs has placed the pairs that belong together."""
    bench = own.benchmark
    signs = {}
    if concepts:
        say("comparing the captions of images")
        signs["concepts"] = missing_concepts(bench)
    signs["words"] = missing_words(bench)
    if placed:
        signs["rank"] = own.low_ranks(placed)
    known = np.array(list(signs.values()))
    seen = ~np.isnan(known)
    score = np.where(seen, known, 0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    score[~seen.any(axis=0) | (np.asarray(bench.caption_image) < 0)] = np.nan
    return CleaningList(bench, score, signs)


def check_owners(benchmark: Benchmark) -> None:
    """Raise where a benchmark does not say which image each caption was written for."""
    if benchmark.caption_image is None:
        raise InputError(
            f"{benchmark.name} does not say which images its captions belong to", fix="use another"
        )


class OwnPairs:
    """Every caption with its own image, in both directions, for runs to place."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.owner = np.asarray(benchmark.caption_image)
        kept = np.flatnonzero(self.owner >= 0)
        self._captions: dict[JudgedItems, np.ndarray] = {}
        for direction in benchmark.directions:
            query, item = in_order(direction, self.owner[kept], kept)
            order = np.lexsort((item, query))
            self._captions[pairs_of(direction, query[order], item[order])] = kept[order]

    @property
    def pairs(self) -> list[JudgedItems]:
        """What runs have to place."""
        return list(self._captions)

    def low_ranks(self, placed: Sequence[Mapping[JudgedItems, JudgedItems]]) -> np.ndarray:
        """Return, per caption, the mean log place of its own pair over runs and directions, from 0 to 1."""
        parts = []
        for answers in placed:
            for pairs, captions in self._captions.items():
                if pairs not in answers:
                    continue
                counts, size = answers[pairs], self.benchmark.items(pairs.direction).size
                place = np.where(counts.above >= 0, counts.above + counts.tied / 2 + 1, size)
                values = np.full(len(self.owner), np.nan)
                values[captions] = np.log(place) / np.log(max(size, 2))
                parts.append(values)
        return np.mean(parts, axis=0)


def missing_concepts(benchmark: Benchmark) -> np.ndarray:
    """Return, per caption, the share of its concepts that its image and its other captions lack."""
    from karat.captions import scene_graphs

    owner, texts = np.asarray(benchmark.caption_image), benchmark.needed_texts
    senses = NounSenses()
    names = [[full for _, full in names_in(graph)] for graph in scene_graphs(list(texts))]
    synsets = [{s for name in each if (s := senses.synset(name)) is not None} for each in names]
    shown = ShownConcepts.of(benchmark)
    out = np.full(len(texts), np.nan)
    for k, others in siblings_of(owner):
        if not names[k] or not (others or shown):
            continue
        told = set().union(*(synsets[j] for j in others))
        missing = [
            name
            for name in names[k]
            if senses.synset(name) not in told and not (shown and shown.has(int(owner[k]), name))
        ]
        out[k] = len(missing) / len(names[k])
    return out


class ShownConcepts:
    """The concepts of the objects that are seen on each image."""

    def __init__(self, concepts: Concepts) -> None:
        self.mentions = MentionedConcepts(concepts.synsets)
        begin, end = concepts.ptr[:-1], concepts.ptr[1:]
        self.of_image = [set(concepts.synset[a:b].tolist()) for a, b in zip(begin, end)]

    @classmethod
    def of(cls, benchmark: Benchmark) -> ShownConcepts | None:
        """Return those of a benchmark; None where its objects are not known."""
        try:
            return cls(find_concepts(benchmark, "objects", facts=False))
        except KaratError:
            return None

    def has(self, image: int, name: str) -> bool:
        """Whether an image has a thing of that name, or a kind of it."""
        return bool(self.mentions.of_name(name) & self.of_image[image])


def siblings_of(owner: np.ndarray) -> Iterator[tuple[int, list[int]]]:
    """Yield each caption whose image is known, with the other captions of that image.

    >>> list(siblings_of(np.array([0, 1, 0, -1])))
    [(0, [2]), (1, []), (2, [0])]
    """
    by_image: dict[int, list[int]] = {}
    for k, image in enumerate(owner.tolist()):
        by_image.setdefault(image, []).append(k)
    for k, image in enumerate(owner.tolist()):
        if image >= 0:
            yield k, [j for j in by_image[image] if j != k]


def missing_words(benchmark: Benchmark) -> np.ndarray:
    """Return, per caption, one minus its best overlap of content words with another caption of its image."""
    from karat.captions import STOP_WORDS, stem, tokenise

    owner, texts = np.asarray(benchmark.caption_image), benchmark.needed_texts
    words = [{stem(word) for word in tokenise(text) if word not in STOP_WORDS} for text in texts]
    further = benchmark.other_texts or ()
    out = np.full(len(texts), np.nan)
    for k, siblings in siblings_of(owner):
        others = [words[j] for j in siblings]
        others += [{stem(word) for word in tokenise(text)} for text in (further[owner[k]] if further else ())]
        if others and words[k]:
            out[k] = 1 - max(len(words[k] & other) / len(words[k]) for other in others)
    return out
