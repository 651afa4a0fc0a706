"""A machine-made truth: pairs are relevant when the image's own captions say so."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast

import numpy as np

from karat._util import check_table
from karat.benchmarks import Benchmark, Judgments, Provenance, Share, Truth
from karat.captions.metric import CAPTION_METRICS
from karat.errors import InputError
from karat.runs import MatrixRun
from karat.scores import TRUTH_MAKERS, Similarities, keep_computed

NAME = re.compile(r"machine\((?P<metric>[\w-]+)\s*>=\s*(?P<least>\d*\.?\d+)\)")
BLOCK = 256


def machine_truth(
    benchmark: Benchmark,
    metric: str,
    at_least: float,
    *,
    top: float | None = None,
    similarity: np.ndarray | None = None,
) -> Truth:
    """Return the truth by which a pair is relevant where φ ≥ `at_least`, with the grade min(1, φ / top).

    So nDCG, R-Precision and every other measure can read φ; ``RP(rel=0.01)`` reads the threshold alone.
    Every pair is decided, and none was judged: its name starts with "machine", and tables, reports and
    saved folders say so.

    Parameters
    ----------
    benchmark
        One that holds its captions.
    metric
        The caption metric: "cider" (up to 10), "spice" (up to 1), …
    at_least
        From which φ on a pair is relevant; above 0.
    top
        The φ that gives grade 1; by default the median φ of images with their own captions, or
        `at_least` where that is higher.
    similarity
        φ of every image with every caption, where it is known already.

    Examples
    --------
    >>> from karat.world import make_world
    >>> world = make_world(20, seed=3)
    >>> truth = machine_truth(world.benchmark(), "hodosh-bleu", 0.8)
    >>> truth.name, truth.machine
    ('machine(hodosh-bleu>=0.8)', True)
    """
    highest, metric = CAPTION_METRICS[metric].highest, CAPTION_METRICS[metric].name
    if not 0 < at_least <= highest:
        raise InputError(f"{metric} from {at_least:g} on", fix=f"give a value above 0 and up to {highest:g}")
    if top is not None and not at_least <= top <= highest:
        fix = f"give a value from {at_least:g} to {highest:g}"
        raise InputError(f"{metric} has the grade 1 from {top:g} on", fix=fix)
    if similarity is None:
        # The same table that NCS and SR of this benchmark look at.
        similarity = cast(MatrixRun, Similarities(benchmark)[metric]).scores
    table = check_table(similarity, "similarity")
    size = (benchmark.images.size, benchmark.captions.size)
    if table.shape != size:
        shown, needed = (" by ".join(f"{n:,}" for n in shape) for shape in (table.shape, size))
        raise InputError(f"the similarity is {shown}", fix=f"give {needed}, images by captions")
    if top is None:
        top = max(at_least, own_median(benchmark, table))
    images, captions, ratings = [], [], []
    for begin in range(0, len(table), BLOCK):
        block = np.asarray(table[begin : begin + BLOCK])
        image, caption = np.nonzero(block >= np.float32(at_least))
        images.append(begin + image)
        captions.append(caption)
        ratings.append(block[image, caption].astype(np.float64))
    # float32 may lie a hair below what float64 would give.
    rating = np.clip(np.concatenate(ratings), at_least, top)
    if not len(rating):
        raise InputError(f"no pair reaches {metric} {at_least:g}", fix="give a lower value")
    scale = f"{metric}, more than {top:g} counted as that"
    source = Provenance(f"machine: {metric}", scale, Share(top=top, least=at_least))
    queries = {way: np.arange(benchmark.queries(way).size) for way in benchmark.directions}
    return Truth(
        name_of(metric, at_least),
        Judgments(np.concatenate(images), np.concatenate(captions), rating=rating, sources=[source]),
        queries,
        about=f"made by a machine: {metric} with the image's own captions is {at_least:g} or more",
        complete=True,
        machine=True,
    )


def own_median(benchmark: Benchmark, table: np.ndarray) -> float:
    """Return the median φ of images with their own captions."""
    owner = np.asarray(benchmark.caption_image)
    known = np.flatnonzero(owner >= 0)
    return float(np.median(table[owner[known], known])) if len(known) else 0.0


def name_of(metric: str, at_least: float) -> str:
    """Return a machine-made truth's name, every digit kept: two truths never share one.

    >>> name_of("cider", 1.0), name_of("cider", 0.00001)
    ('machine(cider>=1)', 'machine(cider>=0.00001)')
    """
    return f"machine({metric}>={np.format_float_positional(at_least, trim='-')})"


def parse_name(name: str) -> tuple[str, float]:
    """Return the metric and the least value of a machine-made truth's name; raise where it is not one."""
    match = NAME.fullmatch(name.strip().lower())
    if match is None:
        fix = "write for example machine(cider>=1)"
        raise InputError(f"{name!r} is not a machine-made truth", fix=fix)
    return CAPTION_METRICS[match["metric"]].name, float(match["least"])


def add_machine_truth(benchmark: Benchmark, name: str) -> tuple[Benchmark, str]:
    """Return the benchmark with one machine-made truth added, and the truth's name as it has it itself.

    >>> from karat.world import make_world
    >>> bench, name = add_machine_truth(make_world(20, seed=3).benchmark(), "machine(BLEU-1 >= 0.90)")
    >>> name, list(bench.truths)[-1]
    ('machine(bleu-1>=0.9)', 'machine(bleu-1>=0.9)')
    """
    truth = machine_truth(benchmark, *parse_name(name))
    more = replace(benchmark, truths={**benchmark.truths, truth.name: truth})
    keep_computed(benchmark, more)
    return more, truth.name


TRUTH_MAKERS.add("machine", add_machine_truth)
