"""Truths in which duplicates of positives are positives: ``--truth 'duplicates(original)'``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from karat.benchmarks import Benchmark, Truth, with_duplicates
from karat.duplicates.pairs import DuplicatePairs, Side, group_items
from karat.duplicates.pictures import picture_duplicates, print_pictures
from karat.duplicates.texts import caption_duplicates
from karat.errors import InputError, KaratError
from karat.scores import TRUTH_MAKERS

NAME = re.compile(r"duplicates\((?P<truth>.+?)(?P<exact>\s*,\s*exact)?\)")


def known_texts(benchmark: Benchmark) -> Sequence[str] | None:
    """Return the captions of a benchmark; None where it has none, or their file is not there."""
    try:
        return benchmark.needed_texts
    except KaratError:
        return None


def relevant_duplicates(benchmark: Benchmark, exact: bool = False) -> list[DuplicatePairs]:
    """Return duplicates that are relevant to whatever the other is: of pictures, and of captions' words.

    Parameters
    ----------
    benchmark
        With image files, captions or both.
    exact
        Files and texts that are the same alone, without the same picture in another file and the same
        words in another text.
    """
    benchmark.check_image_text()
    pairs: list[DuplicatePairs] = []
    if benchmark.image_paths:
        pairs += picture_duplicates(print_pictures(benchmark.image_paths))
    if (texts := known_texts(benchmark)) is not None:
        pairs += caption_duplicates(texts)
    if not pairs:
        raise InputError(
            f"{benchmark.name} has neither image files nor captions", fix="choose a benchmark that has them"
        )
    return [part for part in pairs if part.relevant and (part.exact or not exact)]


def duplicates_truth(
    benchmark: Benchmark, truth: str, exact: bool = False, pairs: Sequence[DuplicatePairs] | None = None
) -> Truth:
    """Return the truth by which duplicates of a truth's positives are positives, too.

    Parameters
    ----------
    benchmark, truth
        The benchmark, and the name of one of its truths.
    exact
        Count files and texts that are the same alone.
    pairs
        The duplicates, where they are known already.

    Examples
    --------
    >>> from karat.benchmarks import build
    >>> texts = ["a dog runs", "a brown dog", "A dog runs."]
    >>> pets = build("pets", ["dog", "pup"], [0, 1, 2], ["dog", "dog", "pup"], texts, where="", about="")
    >>> made = duplicates_truth(pets, "original")
    >>> made.name, made.judged("t2i").item.tolist()
    ('duplicates(original)', [0, 1, 0, 0, 1])
    """
    pairs = relevant_duplicates(benchmark, exact) if pairs is None else pairs
    sizes: dict[Side, int] = {"images": benchmark.images.size, "captions": benchmark.captions.size}
    groups = [
        group_items([part for part in pairs if part.side == side], size) for side, size in sizes.items()
    ]
    return with_duplicates(benchmark.truth(truth), groups[0], groups[1], name_of(truth, exact))


def name_of(truth: str, exact: bool) -> str:
    """Return the name of a truth with duplicates.

    >>> name_of("coco-5k", True)
    'duplicates(coco-5k, exact)'
    """
    return f"duplicates({truth}{', exact' if exact else ''})"


def add_duplicates(benchmark: Benchmark, name: str) -> tuple[Benchmark, str]:
    """Return the benchmark with a truth by its name, ``duplicates(TRUTH)``, and the truth's proper name."""
    match = NAME.fullmatch(name.strip())
    if match is None:
        fix = "write for example duplicates(original) or duplicates(original, exact)"
        raise InputError(f"{name!r} does not name a truth with duplicates", fix=fix)
    truth = duplicates_truth(benchmark, match["truth"].strip(), bool(match["exact"]))
    defaults = {**benchmark.defaults}
    if match["truth"] in defaults:
        defaults[truth.name] = defaults[match["truth"]]
    return replace(benchmark, truths={**benchmark.truths, truth.name: truth}, defaults=defaults), truth.name


TRUTH_MAKERS.add("duplicates", add_duplicates)
