"""Perturbed captions: queries with changed words, each change logged, and how many captions have any."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from karat._util import Layout, Part, Result, check_choice, plural, say, track
from karat.benchmarks import Benchmark, as_benchmark
from karat.captions import PerturbedQuery, WordChange, apply_changes, tokenise, write_queries
from karat.errors import InputError
from karat.measures import parse_name
from karat.perturbations.perturbation import PERTURBATIONS, Perturbation
from karat.perturbations.wording import Option, Wording, english_share, read_wordings

WORDS = ("one", "all")
"""Of each caption, one place is changed, or all that can be."""
LEAST_ENGLISH = 0.7
"""The share of known words that a caption must have; captions with fewer are left alone."""
MOST_FOREIGN = 0.5
"""The share of captions with too few known words from which on a benchmark is refused."""
EXAMPLES = 3


@dataclass(frozen=True)
class PerturbedCaptions(Result):
    """Queries with changed words.

    Parameters
    ----------
    benchmark, kind, words, seed
        What was changed, how, whether at one place or at all, and by which random numbers.
    queries
        The captions that were changed, in the order of the benchmark.
    unchanged
        The others; `save` writes them too if there are any.
    captions
        How many captions the benchmark has.
    sets, changed_sets
        How many images have captions, and of how many at least one was changed.
    """

    benchmark: str
    kind: str
    words: str
    seed: int
    queries: tuple[PerturbedQuery, ...] = field(repr=False)
    unchanged: tuple[PerturbedQuery, ...] = field(repr=False)
    captions: int
    sets: int
    changed_sets: int
    notes: tuple[str, ...] = ()

    formats: ClassVar[tuple[str, ...]] = (*Result.formats, ".tsv")

    @property
    def share(self) -> float:
        """The share of captions that were changed."""
        return len(self.queries) / self.captions

    @property
    def set_share(self) -> float:
        """The share of caption sets, one per image, with at least one changed caption."""
        return self.changed_sets / self.sets if self.sets else float("nan")

    def records(self) -> list[dict[str, Any]]:
        """Return one record per changed caption."""
        return [
            {
                "caption": query.caption,
                "old": query.old,
                "new": query.new,
                "changes": json.dumps([asdict(change) for change in query.changes], ensure_ascii=False),
            }
            for query in self.queries
        ]

    def parts(self) -> list[Part]:
        """Return how many captions were changed, and some of them."""
        counts = [("captions", len(self.queries), self.captions)]
        if self.sets:
            counts.append(("caption sets", self.changed_sets, self.sets))
        rows = [[name, f"{some:,}", f"{of:,}", f"{100 * some / of:.1f}"] for name, some, of in counts]
        shown: list[Part] = [
            f"{self.benchmark}: {self.kind}, {self.words} of each caption's words that fit, seed {self.seed}",
            Layout(["", "changed", "of", "%"], rows),
        ]
        examples = [
            line for query in self.queries[:EXAMPLES] for line in (["−", query.old], ["+", query.new])
        ]
        return [*shown, Layout(["", ""], examples, labels=2)] if examples else shown

    def save(self, path: str | Path) -> None:
        """Write the queries (tsv), or what other results write, by the extension."""
        path = Path(path)
        if path.suffix == ".tsv":
            write_queries((*self.queries, *self.unchanged), path)
        else:
            super().save(path)


def perturb(
    benchmark: Benchmark | str | Path,
    kind: str | Perturbation,
    *,
    words: str = "one",
    seed: int = 0,
    keep_unchanged: bool = False,
    setting: Mapping[str, Any] | None = None,
) -> PerturbedCaptions:
    """Change words of captions, keeping the grammar, to see whether a model reads them.

    A word is changed only where its tag and its part in the sentence agree; articles, verbs and other words
    that have to agree change with it. The result is parsed again, and rejected where the tag of a changed
    word has changed. Every change is logged.

    Parameters
    ----------
    benchmark
        One with English captions, its name or its folder.
    kind
        A perturbation such as "colour" or "colour(in)"; docs/perturb.md lists them.
    words
        "one" changes one place of each caption, drawn at random, "all" every place.
    seed
        Of every random draw. Draws depend on the seed and the caption's id alone.
    keep_unchanged
        Whether captions that the kind does not apply to are saved too, as they are.
    setting
        Settings of a benchmark that is given by name.

    Returns
    -------
    PerturbedCaptions
        The new queries and the share of captions and of caption sets that were changed.

    Raises
    ------
    InputError
        If most captions are not in English.

    Examples
    --------
    >>> from karat.world import make_world
    >>> world = make_world(images=4, captions=2, seed=1).benchmark()
    >>> query = perturb(world, "article").queries[0]
    >>> query.old, query.new
    ('A cat.', 'The cat.')
    """
    perturbation = parse_name(kind, PERTURBATIONS)
    check_choice(words, WORDS, "words")
    benchmark = as_benchmark(benchmark, setting)
    benchmark.check_image_text()
    texts = list(benchmark.needed_texts)
    names = [str(name) for name in benchmark.captions.gallery.tolist()]
    rows, notes = _readable(texts, benchmark.name)
    needs = perturbation.needs()
    if needs is not None:
        rows = [row for row in rows if not needs.isdisjoint(_pieces(texts[row]))]
    wordings = list(read_wordings([texts[row] for row in rows]))
    perturbation = perturbation.fit(wordings)
    drafts = [
        _Draft(names[row], wording, perturbation, words, seed)
        for row, wording in zip(track(rows, "changing words"), wordings)
    ]
    say("reading the changed captions")
    _settle(drafts, perturbation)
    changed = {
        row: PerturbedQuery(draft.name, draft.wording.text, *draft.result())
        for row, draft in zip(rows, drafts)
        if draft.slots and draft.result()[1]
    }
    unchanged = [
        PerturbedQuery(name, text, text, ())
        for row, (name, text) in enumerate(zip(names, texts))
        if keep_unchanged and row not in changed
    ]
    if not changed:
        notes = (*notes, f"no caption has a word that {perturbation} changes")
    image = benchmark.caption_image
    sets = np.zeros(0, np.int64) if image is None else np.unique(image[image >= 0])
    hit = np.zeros(0) if image is None else np.unique(image[list(changed)]) if changed else sets[:0]
    return PerturbedCaptions(
        benchmark.name,
        str(perturbation),
        words,
        seed,
        tuple(changed.values()),
        tuple(unchanged),
        len(texts),
        len(sets),
        int((hit >= 0).sum()),
        notes,
    )


def _pieces(text: str) -> Iterator[str]:
    """Yield the words of a caption, and the last part of those with hyphens."""
    for word in tokenise(text):
        yield word
        if "-" in word:
            yield word.rpartition("-")[2]


def _readable(texts: Sequence[str], name: str) -> tuple[list[int], tuple[str, ...]]:
    """Return the captions that can be read, and a note on others; raise where most cannot."""
    if not texts:
        raise InputError(f"{name} has no captions", fix="choose a benchmark that has captions")
    share = [english_share(tokenise(text)) for text in texts]
    rows = [row for row, each in enumerate(share) if each >= LEAST_ENGLISH]
    foreign = len(texts) - len(rows)
    if foreign > MOST_FOREIGN * len(texts):
        raise InputError(
            f"{foreign:,} of {plural(len(texts), 'caption')} of {name} have fewer than {LEAST_ENGLISH:.0%} "
            "English words, and karat rewrites English alone",
            fix="choose a benchmark with English captions",
        )
    what = "has too few English words and is" if foreign == 1 else "have too few English words and are"
    return rows, (f"{plural(foreign, 'caption')} {what} left as written",) if foreign else ()


class _Draft:
    """A caption on its way to a new query: per place, the options that have not been rejected."""

    def __init__(self, name: str, wording: Wording, kind: Perturbation, words: str, seed: int) -> None:
        self.name, self.wording, self.kind = name, wording, kind
        rng = np.random.default_rng([seed, zlib.crc32(name.encode("utf-8", "surrogatepass"))])
        places = [list(options) for options in kind.places(wording, rng) if options] if len(wording) else []
        if words == "one" and len(places) > 1:
            order = rng.permutation(len(places)).tolist()
            places = [[option for place in order for option in places[place]]]
        self.slots = places

    def options(self) -> list[Option]:
        """Return the option that each place has now; places that overlap an earlier one are dropped."""
        taken: set[int] = set()
        kept = []
        for slot in self.slots:
            own = {at for each in slot[0] for at in range(each.first, each.last + 1)}
            if taken.isdisjoint(own):
                taken |= own
                kept.append(slot)
        self.slots = kept
        return [slot[0] for slot in kept]

    def changes(self) -> tuple[WordChange, ...]:
        """Return what is changed now."""
        replacements = [each for option in self.options() for each in option]
        return self.wording.changes(replacements, self.kind.name)

    def result(self) -> tuple[str, tuple[WordChange, ...]]:
        """Return the new text and its changes."""
        changes = self.changes()
        return apply_changes(self.wording.text, changes), changes

    def reject(self, after: Wording) -> bool:
        """Drop the options that the parsed result speaks against; return whether any was."""
        where = self._places_in(after)
        rejected = False
        for slot in self.slots:
            fits = where is not None and self.kind.accepts(self.wording, after, slot[0], where)
            if not fits:
                del slot[0]
                rejected = True
        self.slots = [slot for slot in self.slots if slot]
        return rejected

    def _places_in(self, after: Wording) -> dict[int, int] | None:
        """Return for each word the last word of what it has become; None where the words do not match."""
        last_of: dict[int, int] = {}
        shift = 0
        ends = {end: at for at, (_, end) in enumerate(after.spans)}
        changes = {change.position: change for change in self.changes()}
        covered = -1
        for at, (begin, end) in enumerate(self.wording.spans[: len(self.wording)]):
            if begin < covered:
                last_of[at] = last_of[at - 1]
                continue
            change = changes.get(begin)
            if change is not None:
                covered = begin + len(change.old)
                shift += len(change.new) - len(change.old)
                end = covered
            if end + shift not in ends:
                return None
            last_of[at] = ends[end + shift]
        return last_of


def _settle(drafts: Sequence[_Draft], kind: Perturbation) -> None:
    """Parse the results again and reject what does not fit, until all that is left does."""
    pending = [draft for draft in drafts if draft.slots] if kind.checked else []
    while pending:
        parsed = read_wordings([draft.result()[0] for draft in pending])
        pending = [draft for draft, after in zip(pending, parsed) if draft.reject(after) and draft.slots]
