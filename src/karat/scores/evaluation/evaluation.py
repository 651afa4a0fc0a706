"""Evaluation: score runs on the truths of a benchmark, in one call.

The choices are checked first (`options`), then the runs are loaded, each is scored in one pass over its
scores (`columns`), runs that rank no better than chance are looked at (`chance`), and intervals are added,
over the queries alone or over uncertain labels too (`label_uncertainty`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from karat._util import connected
from karat.benchmarks import Benchmark, as_benchmark
from karat.errors import InputError
from karat.measures import Named
from karat.runs import Compute, Loading, Run, load_runs, notes_on_loading, notes_on_making
from karat.scores.column_intervals import as_intervals, with_intervals, worth_sending
from karat.scores.evaluation.chance import check_chance
from karat.scores.evaluation.choices import score_choices
from karat.scores.evaluation.columns import scan_runs
from karat.scores.evaluation.label_uncertainty import with_label_uncertainty
from karat.scores.evaluation.options import LABEL_VERSIONS, check_options
from karat.scores.scorecard import Scorecard
from karat.scores.text_only import NONE
from karat.stats import Intervals


def evaluate(
    runs: Run | Sequence[Run] | Any,
    benchmark: Benchmark | str | Path,
    measure: Iterable[str | Named] | str | None = None,
    *,
    truth: Iterable[str] | str | None = None,
    direction: Iterable[str] | str | None = None,
    ties: str = "pessimistic",
    unjudged: str = "misses",
    like: str | None = None,
    intervals: Intervals | str | bool | None = None,
    interval_method: str | None = None,
    level: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    label_uncertainty: bool = False,
    label_versions: int = LABEL_VERSIONS,
    text_only: Any = None,
    phi: Mapping[str, Any] | None = None,
    setting: Mapping[str, Any] | None = None,
    details: bool = False,
    loading: Loading | None = None,
    compute: Compute | None = None,
) -> Scorecard:
    """Score one or several runs on a benchmark's truths.

    Parameters
    ----------
    runs
        A run or what `karat.load_run` takes: a path, an array, a dictionary of ranked lists, a
        tuple of two embedding tables; or a list of these, or a dictionary of these by name,
        ``{"clip": "sims.npy", "mine": scores}``. In a list of paths an image and a caption
        embedding table that follow each other are one run, as on the command line. A model that
        `karat.load_model` returned, or an object with ``encode_images`` and ``encode_texts``, is encoded.
    benchmark
        A benchmark, its name or its folder.
    measure
        One or several, such as "R@1" or "mAP@R"; by default the benchmark's own choice for each truth.
    truth
        One or several; all by default. A truth made by a machine is named "machine(cider>=1)".
    direction
        Which of the benchmark's directions, such as "i2t" or "t2i"; with both, their mean is added.
    ties
        What happens to equal scores: "pessimistic", "optimistic", "expected", "stable" (the order of the
        benchmark, or of a ranked list) or "trec_eval" (by falling id).
    unjudged
        What unjudged pairs count as: "misses"; "left_out", which ranks the judged items alone; or
        "bounds", which counts them as misses and adds bounds over everything they could be.
    like
        Follow the conventions of another tool: "trec_eval" with its option -c, or "trec_eval-intersection"
        for what it does without. Queries that a run lacks count 0 or are left out, queries without a relevant
        item count 0, what a list does not name is not retrieved, and ties are ordered by falling id.
    intervals
        True for 95% bootstrap intervals, "bca" for another method, or `karat.stats.Intervals`.
    interval_method, level, resamples, seed
        Of the intervals: "percentile" or "bca", how often they should hold, how many draws, their seed.
    label_uncertainty
        Also draw the labels from their probabilities, so that intervals, which this asks for, hold for
        queries and labels. The scores are those of the published labels. For truths whose labels have
        probabilities, as those that `karat.judging.publish` makes by Dawid–Skene.
    label_versions
        How many versions of the labels are drawn.
    text_only
        For benchmarks of choices: a control that sees the captions alone, shown beside the runs. "length"
        (fewer words; the default where every example has one image), "ngram:captions.txt", a file or an
        array of examples by captions, or "none".
    phi
        For NCS and SR: φ of every image with every caption by name, each a table or what
        `karat.load_run` takes. "cider", "spice" and the other caption metrics need not be given:
        they are computed from the benchmark's captions.
    setting
        Settings of a benchmark that is given by name, as `karat.load_benchmark` takes them.
    details
        Also keep what a report shows of every query: the place of the first relevant item, how much was
        judged, and the first result. They come from the same pass over the scores.
    loading
        How files and arrays are read: names of runs, the order of ids, the similarity of embeddings.
    compute
        What computes, and how much it may take. Results do not depend on it.

    Returns
    -------
    Scorecard
        Its notes say which runs rank no better than chance, and what else they could mean.

    Examples
    --------
    >>> import karat
    >>> import numpy as np
    >>> coco = karat.load_benchmark("coco")

    A system that knows which image each caption was written for, and nothing else, is perfect by
    the original labels, but misses most of what people judged relevant:

    >>> scores = np.zeros((5000, 25000), np.float32)
    >>> scores[coco.caption_image, np.arange(25000)] = 1
    >>> card = karat.evaluate(karat.load_run(scores), coco, ["R@1", "mAP@R"], truth=["coco-5k", "eccv"])
    >>> card.value("R@1", truth="coco-5k"), round(card.value("mAP@R", truth="eccv"), 3)
    (1.0, 0.224)
    """
    bench = as_benchmark(benchmark, setting)
    compute = compute or Compute()
    if bench.choices is not None:
        check_no_gallery(
            bench, unjudged=unjudged != "misses", like=like is not None,
            label_uncertainty=label_uncertainty, phi=bool(phi), scheduler=compute.scheduler is not None,
        )  # fmt: skip
        chosen = as_intervals(intervals, interval_method, level, resamples, seed)
        card = score_choices(
            runs, bench, measure, truth=truth, direction=direction, ties=ties, text_only=text_only,
            loading=loading, compute=compute,
        )  # fmt: skip
        return card if chosen is None else with_intervals(card, chosen)
    if text_only is not None and not (isinstance(text_only, str) and text_only == NONE):
        raise InputError("only benchmarks of choices have a text-only control", fix="leave out text_only")
    options = check_options(
        bench, measure, truth=truth, direction=direction, ties=ties, unjudged=unjudged, like=like,
        intervals=intervals, interval_method=interval_method, level=level, resamples=resamples, seed=seed,
        label_uncertainty=label_uncertainty, label_versions=label_versions, phi=phi, threads=compute.threads,
    )  # fmt: skip
    compute.check_device()
    with connected(compute.scheduler) as workers:
        loaded = load_runs(runs, options.benchmark, loading, compute)
        # Where a list of judgments is all that is known of the items, what runs list are items too.
        options = replace(
            options,
            benchmark=loaded[0].benchmark or options.benchmark,
            passing=compute.passing(loaded, workers),
        )
        scoring = scan_runs(loaded, options, details=details)
        card = scoring.card()
        made_with = {run.name: run.made_with for run in loaded if run.made_with is not None}
        notes = [*check_chance(card, loaded), *notes_on_loading(loaded), *notes_on_making(made_with)]
        card = replace(card, notes=[*notes, *card.notes], made_with=made_with)
        if options.label_versions:
            card = with_label_uncertainty(card, scoring)
        elif options.intervals is not None:
            card = with_intervals(card, options.intervals, worth_sending(card, options.intervals, workers))
    return card if workers is None else replace(card, notes=[*card.notes, *workers.notes])


def check_no_gallery(benchmark: Benchmark, **chosen: bool) -> None:
    """Raise for what is chosen about the ranking of a gallery, which choices do not have."""
    for name, differs in chosen.items():
        if differs:
            raise InputError(
                f"{benchmark.name} is a benchmark of choices, where {name} does not apply",
                fix=f"leave out {name}",
            )
