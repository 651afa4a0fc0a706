"""The report on duplicates: how many, what they do to the labels, and what the scores would be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import TEXT_FORMATS, Layout, Part, Result, plural, say, track
from karat.benchmarks import Benchmark, as_benchmark, find_images, load_benchmark, note_on_duplicates
from karat.duplicates.pairs import DuplicatePairs, Side, equal_items, group_items
from karat.duplicates.pictures import NEAR_PICTURE, PicturePrints, picture_duplicates, print_pictures
from karat.duplicates.texts import NEAR_WORDS, caption_duplicates
from karat.duplicates.truths import duplicates_truth, known_texts
from karat.duplicates.vectors import close_rows, row_keys
from karat.errors import InputError, KaratError
from karat.runs import READERS, EmbeddingRun, Loading, Run, as_content, load_run, read_run
from karat.scores import Scorecard, evaluate

NEAR_VECTOR = 0.98
SHOWN = 3
"""Pairs of each kind that are shown."""


@dataclass(frozen=True)
class DuplicateCount:
    """How many duplicates of one kind there are.

    `items` are in `groups` of two or more; of captions, `across` groups are of more than one image. Against
    another collection, `items` have a duplicate there.
    """

    side: Side
    kind: str
    items: int
    groups: int
    largest: int
    across: int | None = None


@dataclass(frozen=True, eq=False)
class DuplicateReport(Result):
    """Duplicates of a benchmark's items, in the benchmark or in another collection.

    Parameters
    ----------
    benchmark
        Whose items they are.
    pairs
        By kind.
    against
        What the other collection is called; None where they are in the benchmark itself.
    other_ids
        Its ids, per side, where they are known.
    scores
        Of a run, by the truth as it is and with duplicates of positives as positives.
    notes
        What a reader should know.
    """

    formats = TEXT_FORMATS

    benchmark: Benchmark
    pairs: Sequence[DuplicatePairs]
    against: str | None = None
    other_ids: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    scores: Scorecard | None = None
    notes: Sequence[str] = ()

    def counts(self) -> list[DuplicateCount]:
        """Return how many duplicates of each kind there are."""
        return [self._count(part) for part in self.pairs]

    def _count(self, part: DuplicatePairs) -> DuplicateCount:
        if self.against is not None:
            items = len(np.unique(part.first))
            return DuplicateCount(part.side, part.kind, items, items, int(items > 0))
        size = getattr(self.benchmark, part.side).size
        groups = group_items([part], size)
        members = np.bincount(groups)
        across = None
        if part.side == "captions" and self.benchmark.caption_image is not None:
            # A group is across images where its captions have not all the same image.
            image = np.asarray(self.benchmark.caption_image)
            low, high = np.full(len(members), np.iinfo(np.int64).max), np.full(len(members), -2)
            np.minimum.at(low, groups, image)
            np.maximum.at(high, groups, image)
            across = int((low != high).sum())
        several = members[members > 1]
        return DuplicateCount(
            part.side, part.kind, int(several.sum()), len(several), int(members.max(initial=0)), across
        )

    def records(self) -> list[dict[str, Any]]:
        """Return one record per pair: side, kind, both ids, their similarity."""
        return [
            {"side": part.side, "kind": part.kind, "first": first, "second": second, "similarity": similarity}
            for part in self.pairs
            for first, second, similarity in zip(
                self._ids(part.side, part.first),
                self._ids(part.side, part.second, other=self.against is not None),
                part.similarity.tolist(),
            )
        ]

    def _ids(self, side: Side, index: np.ndarray, other: bool = False) -> list[Any]:
        if other:
            ids = self.other_ids.get(side)
            return index.tolist() if ids is None else [ids[row] for row in index.tolist()]
        return getattr(self.benchmark, side).gallery[index].tolist()

    def parts(self) -> list[Part]:
        """Return the counts, the scores where there are any, and some pairs."""
        counts = self.counts()
        if self.against is None:
            head = ["", "duplicates", "items", "groups", "largest", "across images"]
            rows = [
                [c.side, c.kind, f"{c.items:,}", f"{c.groups:,}", f"{c.largest:,}" if c.items else "–",
                 "–" if c.across is None else f"{c.across:,}"]
                for c in counts
            ]  # fmt: skip
            title = f"{self.benchmark.name}: duplicates in the gallery"
        else:
            head = ["", "duplicates", "items", "of", "share"]
            rows = []
            for c in counts:
                size = getattr(self.benchmark, c.side).size
                rows.append([c.side, c.kind, f"{c.items:,}", f"{size:,}", f"{100 * c.items / size:.2f}%"])
            title = f"{self.benchmark.name}: items that are in {self.against}, too"
        parts: list[Part] = [title, Layout(head, rows, labels=2)]
        if self.scores is not None:
            parts += self.scores.parts()
        if examples := [line for part in self.pairs for line in self._examples(part)]:
            parts.append("\n".join(examples))
        return parts

    def _examples(self, part: DuplicatePairs) -> list[str]:
        if not len(part):
            return []
        few = np.argsort(-part.similarity, kind="stable")[:SHOWN]
        shown = replace(part, first=part.first[few], second=part.second[few], similarity=part.similarity[few])
        texts = known_texts(self.benchmark) if part.side == "captions" else None
        lines = [f"{part.side}, {part.kind}:"]
        for row, (first, second) in enumerate(
            zip(
                self._ids(part.side, shown.first),
                self._ids(part.side, shown.second, other=self.against is not None),
            )
        ):
            said = "" if texts is None else f"  {texts[shown.first[row]]!r}"
            lines.append(f"  {first} = {second}  {shown.similarity[row]:.3f}{said}")
        return lines


def find_duplicates(
    benchmark: Benchmark | str | Path,
    *sources: Any,
    against: Any = None,
    near_picture: float = NEAR_PICTURE,
    near_words: float = NEAR_WORDS,
    near_vector: float = NEAR_VECTOR,
    truth: str | None = None,
    setting: Mapping[str, Any] | None = None,
    against_setting: Mapping[str, Any] | None = None,
    loading: Loading | None = None,
) -> DuplicateReport:
    """Find duplicates among a benchmark's items, or between them and another collection.

    Pictures by their files and outlines, captions by their words, and embeddings of a run by their rows.

    Parameters
    ----------
    benchmark
        A benchmark, its name or its folder.
    *sources
        A run, or what `karat.load_run` takes. The vectors of embeddings are compared; any run is scored by
        the truth as it is and with duplicates of positives as positives.
    against
        Another collection, such as the training set: a benchmark, its name or folder, a folder of pictures,
        or embeddings, a table or two. By default the gallery itself.
    near_picture, near_words, near_vector
        How similar near-duplicates are at least: outlines of pictures and vectors by their cosine, captions
        by the share of words and pairs of words that both have.
    truth
        Which labels duplicates change; by default the first that lists its pairs.
    setting, against_setting
        Settings of benchmarks that are given by name, as `karat.load_benchmark` takes them; those of
        `against` are the same where `against_setting` does not differ.
    loading
        How a run is read.

    Returns
    -------
    DuplicateReport

    Examples
    --------
    >>> from karat.benchmarks import build
    >>> texts = ["a dog runs", "a brown dog", "A dog runs."]
    >>> pets = build("pets", ["dog", "pup"], [0, 1, 2], ["dog", "dog", "pup"], texts, where="", about="")
    >>> print(find_duplicates(pets))
    pets: duplicates in the gallery
    <BLANKLINE>
              duplicates  items  groups  largest  across images
    ────────  ──────────  ─────  ──────  ───────  ─────────────
    captions  same text       0       0        –              0
    captions  same words      2       1        2              1
    captions  near words      0       0        –              0
    <BLANKLINE>
    captions, same words:
      0 = 2  1.000  'a dog runs'
    note: pets has no image files: pictures were not compared
    note: duplicates(original): 2 pairs are relevant by a duplicate; 2 images and 2 captions have a higher R
    """
    check_least(near_picture=near_picture, near_words=near_words, near_vector=near_vector)
    if against is None and against_setting:
        raise InputError("against_setting was given without against", fix="name the other collection")
    bench = as_benchmark(benchmark, setting)
    bench.check_gallery()
    bench.check_image_text()
    loading = loading or Loading()
    settings = {**(setting or {}), **(against_setting or {})}
    given = sources[0] if len(sources) == 1 else None
    similarity = given.similarity if isinstance(given, EmbeddingRun) else "dot"
    other = None if against is None else Collection.of(against, settings, similarity, bool(against_setting))
    run = loaded_run(sources, bench, loading)
    # Vectors are compared as they are in the files, whatever the scores are made of.
    stored = replace(loading, similarity="dot")
    vectors = run if loading.similarity == "dot" else loaded_run(sources, bench, stored)
    own = Collection.of_benchmark(bench)
    if isinstance(vectors, EmbeddingRun):
        own = replace(own, vectors=aligned_vectors(vectors))
    pairs, notes = item_duplicates(own, other, near_picture, near_words)
    pairs += vector_duplicates(own, other, near_vector)
    if not pairs:
        raise InputError(
            f"{bench.name} and what it is compared with have nothing of the same kind"
            if other
            else f"{bench.name} has neither image files nor captions",
            fix="give image files, captions, or the embeddings of a run",
        )
    if other is None:
        return with_scores(DuplicateReport(bench, pairs, notes=notes), run, truth)
    report = DuplicateReport(bench, pairs, other.name, other.ids, notes=notes)
    return report.with_notes([note_on_queries(report)])


def check_least(**least: float) -> None:
    """Raise where a smallest similarity of near-duplicates is none."""
    for name, similarity in least.items():
        if not 0 < similarity <= 1:
            raise InputError(f"{name} is {similarity:g}", fix="give a similarity above 0 and up to 1")


@dataclass(frozen=True, eq=False)
class Collection:
    """What is compared: pictures, captions, and vectors of both sides where there are any."""

    name: str
    pictures: Sequence[str] | None = None
    texts: Sequence[str] | None = None
    vectors: Mapping[Side, np.ndarray] = field(default_factory=dict)
    ids: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def material(self, side: str) -> Any:
        """Return what pictures or captions are compared by; None where there are none."""
        if side == "images":
            return print_pictures(self.pictures) if self.pictures else None
        return self.texts

    def notes_on_unread(self, material: Any) -> list[str]:
        """Return how many of its pictures could not be read, where there are any."""
        if not isinstance(material, PicturePrints) or not len(material.unread):
            return []
        unread = plural(len(material.unread), "picture")
        return [f"{unread} of {self.name} could not be read, first {material.unread[0]}"]

    @classmethod
    def of_benchmark(cls, benchmark: Benchmark) -> Collection:
        """Return a benchmark's own files."""
        ids = {"images": benchmark.images.gallery.tolist(), "captions": benchmark.captions.gallery.tolist()}
        name = benchmark.shown_as or benchmark.name
        return cls(name, benchmark.image_paths, known_texts(benchmark), ids=ids)

    @classmethod
    def of_embeddings(cls, parts: Sequence[Any], similarity: str) -> Collection:
        """Return the vectors of one table or of two."""
        name = Path(parts[0]).name if isinstance(parts[0], str | Path) else "the other table"
        run = embeddings_of(parts, similarity)
        return cls(name, vectors={"images": run.images, "captions": run.captions}, ids=run.ids)

    @classmethod
    def of(
        cls, source: Any, setting: Mapping[str, Any], similarity: str, only_benchmark: bool = False
    ) -> Collection:
        """Return what another collection is: a benchmark, a folder of pictures, or embeddings."""
        if isinstance(source, Benchmark):
            return cls.of_benchmark(source)
        parts = list(source) if isinstance(source, list | tuple) else [source]
        files = [Path(part) for part in parts if isinstance(part, str | Path)]
        # A single folder may be anything.
        if all(path.suffix in READERS or (len(parts) > 1 and path.is_dir()) for path in files):
            return cls.of_embeddings(parts, similarity)
        if len(parts) > 1:
            raise InputError("several collections were given", fix="compare with one at a time")
        try:
            return cls.of_benchmark(load_benchmark(parts[0], **setting))
        except KaratError:
            if only_benchmark:
                raise
            folder = Path(parts[0])
            names = find_images(folder) if folder.is_dir() else []
            if names:
                return cls(str(folder), [str(folder / name) for name in names], ids={"images": names})
            if folder.exists():
                with suppress(KaratError):
                    return cls.of_embeddings(parts, similarity)
            raise


def embeddings_of(parts: Sequence[Any], similarity: str) -> EmbeddingRun:
    """Return the vectors of both sides; one table is compared with both."""
    if len(parts) == 1 and len(as_content(parts[0]).tables) == 1:
        parts = [*parts, *parts]
    run = load_run(*parts, similarity=similarity)
    if not isinstance(run, EmbeddingRun):
        raise InputError("has no embeddings", where=run.where, fix="give vectors of images, captions or both")
    return run


def aligned_vectors(run: EmbeddingRun) -> dict[Side, np.ndarray]:
    """Return the vectors of a run in the order of its benchmark."""
    images, captions = run.maps(run.directions[0])
    return {"images": np.asarray(run.images)[images], "captions": np.asarray(run.captions)[captions]}


def loaded_run(sources: Sequence[Any], benchmark: Benchmark, loading: Loading) -> Run | None:
    """Return the run that is inspected, matched to the benchmark; None without one."""
    if not sources:
        return None
    return read_run(sources, benchmark, None, loading).align(benchmark)


def item_duplicates(
    own: Collection, other: Collection | None, near_picture: float, near_words: float
) -> tuple[list[DuplicatePairs], list[str]]:
    """Return duplicates of pictures by their files and of captions by their words, with notes."""
    pairs: list[DuplicatePairs] = []
    notes: list[str] = []
    vectors = own.vectors or (other and other.vectors)
    for side, what, compare, near in (
        ("images", "image files: pictures", picture_duplicates, near_picture),
        ("captions", "captions: texts", caption_duplicates, near_words),
    ):
        mine, theirs = own.material(side), None if other is None else other.material(side)
        lacking = own if mine is None else other if theirs is None else None
        if lacking is None:
            say(f"comparing {side}")
            pairs += compare(mine, theirs, near)
            notes += [*own.notes_on_unread(mine), *(other.notes_on_unread(theirs) if other else ())]
        elif not vectors:
            notes.append(f"{lacking.name} has no {what} were not compared")
    return pairs, notes


def vector_duplicates(own: Collection, other: Collection | None, least: float) -> list[DuplicatePairs]:
    """Return rows of embeddings that are equal, and others that are nearly parallel."""
    found: list[DuplicatePairs] = []
    for side, table in track(own.vectors.items(), lambda item: f"comparing vectors of {item[0]}"):
        theirs = None if other is None else other.vectors.get(side)
        if other is not None and theirs is None:
            continue
        if theirs is not None and theirs.shape[1] != table.shape[1]:
            raise InputError(
                f"{other.name if other else ''} has vectors of {theirs.shape[1]} dimensions, the run of "
                f"{table.shape[1]}",
                fix="give embeddings of the same model",
            )
        keys, other_keys = row_keys(table), None if theirs is None else row_keys(theirs)
        first, second = equal_items(keys, other_keys)
        found.append(DuplicatePairs(side, "same vector", first, second, np.ones(len(first))))
        first, second, cosine = close_rows(table, least, theirs)
        reference = keys if other_keys is None else other_keys
        new = np.array([keys[i] != reference[j] for i, j in zip(first, second)], bool)
        found.append(DuplicatePairs(side, "near vector", first[new], second[new], cosine[new]))
    return found


def note_on_queries(report: DuplicateReport) -> str:
    """Return how many queries are in another collection, or an image or caption that belongs to them is."""
    bench = report.benchmark
    touched: dict[str, np.ndarray] = {}
    for side in ("images", "captions"):
        rows = [part.first for part in report.pairs if part.side == side and not part.kind.startswith("near")]
        touched[side] = np.isin(np.arange(getattr(bench, side).size), np.concatenate([[], *rows]))
    images, captions = touched["images"].copy(), touched["captions"].copy()
    if bench.caption_image is not None:
        owned = np.asarray(bench.caption_image) >= 0
        owner = np.asarray(bench.caption_image)[owned]
        captions[owned] |= touched["images"][owner]
        images[owner[touched["captions"][owned]]] = True
    return (
        f"{images.sum():,} of {len(images):,} images and {captions.sum():,} of {len(captions):,} captions "
        f"are in {report.against}, or a caption or image of theirs is (near ones not counted)"
    )


def with_scores(report: DuplicateReport, run: Run | None, truth: str | None) -> DuplicateReport:
    """Return the report with what duplicates change: the labels, and the scores of a run."""
    bench = report.benchmark
    listed = [
        name for name, known in bench.truths.items() if known.judgments is not None and not known.complete
    ]
    chosen = truth or next(iter(listed), None)
    pairs = [part for part in report.pairs if part.relevant]
    if chosen is None or not pairs:
        return report
    more = duplicates_truth(bench, chosen, pairs=pairs)
    note = note_on_duplicates(more)
    report = replace(report, notes=[*report.notes, *([note] if note else [])])
    if run is None:
        return report
    both = replace(bench, truths={chosen: bench.truth(chosen), more.name: more})
    card = evaluate(run.align(both), both, ["R@1", "R@5", "R@10"])
    return replace(report, scores=card, notes=list(dict.fromkeys([*report.notes, *card.notes])))
