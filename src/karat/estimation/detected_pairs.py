"""Detected pairs: detections with the instances that they may match, as candidates with uncertain labels.

A label says whether a detection overlaps an instance by at least a threshold. The noisy one is known from the
box of the instance, the vetted one from its mask. One answer about an instance, its mask, tells the labels of
all detections that overlap it, at all thresholds. The queries are the categories, once for each threshold;
how many items of each are relevant is known: the instances of the category.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from karat._util import plural
from karat.benchmarks import Instances, box_masks, overlaps
from karat.errors import InputError
from karat.estimation.candidates import Candidates, Ranking
from karat.estimation.expectation import BLOCK, Quotient, average_precision, form_of
from karat.estimation.query_means import mean_defined
from karat.estimation.strategy import numbered, sum_before
from karat.measures import Measure, Ranked
from karat.runs import Detections

THRESHOLDS = tuple(np.linspace(0.5, 0.95, 10).tolist())
"""COCO's thresholds of intersection over union."""
MOST_DETECTIONS = 100
"""How many detections of one image and category count, those of the highest scores: COCO's maxDets."""
LEAST_INSIDE = 0.45
"""The share of a detection that must lie inside a box for the two to be a pair: with less than half of it
inside, it cannot overlap the mask by half; the rest allows for rounded boxes."""
NO_PLACES = Ranked.from_places([[]], [[]], size=0)


@dataclass(frozen=True, eq=False)
class DetectionRanking(Ranking):
    """The detections of one run, category by category, and how labels of pairs become matches.

    Detections are sorted by score. `row` and `ranked` are empty: places depend on labels where there are
    crowds.

    Parameters
    ----------
    det_ptr, image, crowd
        The detections of each category; per detection, its image, and by how much it overlaps a crowd.
    pair_ptr, detection, instance, noisy, true
        The pairs of each category, sorted by detection and then by overlap, the highest first; per pair its
        detection and instance, and the overlap by the box and by the mask (NaN where that is unknown).
    base, width, place
        Where labels are: that of a pair at threshold t is candidate base[c] + t · width[c] + place.
    number
        How many instances each category has in each image, [C, images].
    thresholds
        The overlaps from which on a detection may match.
    row_image, row_pair
        Per candidate, its image and the number of its pair, the same at all thresholds.
    """

    det_ptr: np.ndarray = field(kw_only=True)
    image: np.ndarray = field(kw_only=True)
    crowd: np.ndarray = field(kw_only=True)
    pair_ptr: np.ndarray = field(kw_only=True)
    detection: np.ndarray = field(kw_only=True)
    instance: np.ndarray = field(kw_only=True)
    noisy: np.ndarray = field(kw_only=True)
    true: np.ndarray = field(kw_only=True)
    base: np.ndarray = field(kw_only=True)
    width: np.ndarray = field(kw_only=True)
    place: np.ndarray = field(kw_only=True)
    number: np.ndarray = field(kw_only=True)
    thresholds: np.ndarray = field(kw_only=True)
    row_image: np.ndarray = field(kw_only=True)
    row_pair: np.ndarray = field(kw_only=True)

    @cached_property
    def layout(self) -> tuple[np.ndarray | int, ...]:
        """What the compiled loops take after the labels."""
        return (
            self.pair_ptr, self.det_ptr, self.base, self.width, self.place, self.detection, self.instance,
            len(self.thresholds), int(self.instance.max(initial=-1)) + 1,
        )  # fmt: skip

    @cached_property
    def sizes(self) -> np.ndarray:
        """Per category and threshold, the number of detections."""
        return np.repeat(np.diff(self.det_ptr), len(self.thresholds))

    @cached_property
    def on_crowd(self) -> np.ndarray:
        """Per detection at a threshold, whether a crowd excuses it."""
        threshold = np.tile(self.thresholds, len(self.det_ptr) - 1)
        return self.at_thresholds(self.crowd) >= np.repeat(threshold, self.sizes)

    def at_thresholds(self, per_detection: np.ndarray) -> np.ndarray:
        """Return values of detections, repeated for each threshold of each category."""
        parts = [np.tile(per_detection[b:e], len(self.thresholds)) for b, e in pairwise(self.det_ptr)]
        return np.concatenate(parts)

    def vetted_by(self, vetted: np.ndarray) -> DetectionRanking:
        """Return the same with a detection's pairs in the order of their overlaps as these are known now."""
        category = np.repeat(np.arange(len(self.width)), np.diff(self.pair_ptr))
        overlap = np.where(vetted[self.base[category] + self.place], self.true, self.noisy)
        # Of equal overlaps the later annotation wins, as in COCO's evaluation.
        order = np.lexsort((-self.instance, -overlap, self.detection))
        names = ("detection", "instance", "noisy", "true", "place")
        return replace(self, **{name: getattr(self, name)[order] for name in names})

    def matched(self, grade: np.ndarray) -> np.ndarray:
        """Return matches [..., detections at thresholds] from labels, or their probabilities from those."""
        from karat.estimation.matching_kernels import match

        flat = np.ascontiguousarray(np.nan_to_num(grade)).reshape(-1, grade.shape[-1])
        out = np.zeros((len(flat), int(self.sizes.sum())))
        match(flat, *self.layout, out)
        return out.reshape(*grade.shape[:-1], -1)

    def under(self, grade: np.ndarray) -> Ranked:
        """Return what measures see: detections, matched or not, under labels or probabilities [..., J].

        Detections on a crowd that match nothing are left out. Where a label is NaN, so is its image: neither
        its detections nor its instances count.
        """
        grade = np.asarray(grade, dtype=np.float64)
        z = self.matched(grade)
        ptr = np.r_[0, np.cumsum(self.sizes)]
        number, out = self.number, self.on_crowd & (z < 0.5)
        if grade.ndim == 1 and np.isnan(grade).any():
            hidden = np.zeros(number.shape[1], bool)
            hidden[self.row_image[np.isnan(grade)]] = True
            number = np.where(hidden, 0, number)
            out = out | hidden[self.at_thresholds(self.image)]
        start = np.arange(ptr[-1]) - np.repeat(ptr[:-1], self.sizes).astype(np.float64)
        if out.any():
            z = np.where(out, 0.0, z)
            gone = np.cumsum(out, axis=-1)
            first = np.minimum(ptr[:-1], ptr[-1] - 1)
            before: np.ndarray = gone[..., first] - out[..., first]
            start = np.where(out, np.inf, start - (gone - np.repeat(before, self.sizes, axis=-1)))
        ones = np.ones(ptr[-1])
        total = np.repeat(number.sum(axis=1), len(self.thresholds)).astype(np.float64)
        return Ranked(ptr, start, ones, ones, z, self.sizes, self.sizes, ones == 0, total)

    def expected(
        self, probability: np.ndarray, measure: Measure, draws: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Return the expected value of each category at each threshold; NaN without instances.

        A measure with a closed form has it, which is exact where no detection is paired with two instances
        or lies on a crowd. Others are averaged over draws of the labels, each matched one to one.
        """
        ranked = self.under(probability)
        if np.isin(np.nan_to_num(probability), (0, 1)).all():
            return measure(ranked)
        form = form_of(ranked, measure)
        if form is None:
            blocks = luck_blocks(self.row_pair, draws, rng)
            return np.concatenate([measure(self.under(luck < probability)) for luck in blocks]).mean(axis=0)
        values = form.expect(ranked)[0]
        if isinstance(form, Quotient):
            values = values - self.exclude(probability, ranked, form)[0]
        return np.where(ranked.relevant > 0, values, np.nan)

    def change(
        self, probability: np.ndarray, measure: Measure, draws: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Return the expected change by the closed form, that of AP for measures that have none."""
        ranked = self.under(probability)
        form = form_of(ranked, measure)
        if not isinstance(form, Quotient):
            form = form_of(ranked, average_precision())
        assert isinstance(form, Quotient)
        return 2 * probability * (1 - probability) * self.exclude(probability, ranked, form)[1]

    def exclude(
        self, probability: np.ndarray, ranked: Ranked, form: Quotient
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what follows from the fact that one detection of an instance can match it, not two.

        Per query, by how much the value is smaller than with independent matches; per candidate,
        E[Q | label is 1] − E[Q | label is 0].
        """
        from karat.estimation.matching_kernels import shared_pairs

        inverse = ranked.spread(1 / np.maximum(ranked.relevant, 1))
        z, pair = ranked.grade, form.pair * inverse
        after = ranked.spread(ranked.sum(z * pair)) - sum_before(z * pair, ranked.ptr) - z * pair
        slope = form.own * inverse + pair * sum_before(z, ranked.ptr) + after
        less, change = np.zeros(ranked.n_queries), np.zeros(len(probability))
        # What is left out has no place, and its label changes nothing.
        placed = np.where(ranked.placed, slope, 0.0)
        shared_pairs(probability, *self.layout, pair, placed, less, change)
        return less, change


def luck_blocks(row_pair: np.ndarray, draws: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield random numbers [some draws, J], one for each pair: the same decides at all thresholds."""
    step = max(1, BLOCK // 16 // max(1, len(row_pair)))
    for begin in range(0, draws, step):
        yield rng.random((min(step, draws - begin), int(row_pair.max(initial=-1)) + 1))[:, row_pair]


@dataclass(frozen=True, eq=False)
class DetectedPairs(Candidates):
    """Pairs of detections and instances at thresholds; `make_detected_pairs` makes it.

    The candidates of a category at a threshold are the pairs of all runs, and the instances that no detection
    is paired with. The item of a candidate is its image, its unit the instance.

    Parameters
    ----------
    instances
        What was to be detected.
    category
        Per query, the index of its category.
    thresholds
        Of intersection over union.
    true
        Per candidate, the overlap with the instance's mask; NaN where it is unknown.
    level, pair
        Per candidate, the number of its threshold and of its pair.
    annotation
        Per unit, the index of its instance.
    of_boxes
        Whether the detections are boxes, which are scored against boxes.
    """

    instances: Instances = field(kw_only=True)
    category: np.ndarray = field(kw_only=True)
    thresholds: np.ndarray = field(kw_only=True)
    true: np.ndarray = field(kw_only=True)
    level: np.ndarray = field(kw_only=True)
    pair: np.ndarray = field(kw_only=True)
    annotation: np.ndarray = field(kw_only=True)
    of_boxes: bool = field(kw_only=True)
    rankings: Mapping[str, DetectionRanking]

    def __repr__(self) -> str:
        pairs, units = plural(int(self.pair.max()) + 1, "pair"), plural(len(self.annotation), "instance")
        return (
            f"DetectedPairs({pairs} of {units} at {len(self.thresholds)} thresholds; {', '.join(self.runs)})"
        )

    @cached_property
    def asked(self) -> np.ndarray:
        """Per candidate, whether it is its instance's: of the surest detection, at the middle threshold."""
        score = next(iter(self.scores.values()))
        middle = np.flatnonzero(self.level == len(self.thresholds) // 2)
        order = middle[np.lexsort((-score[middle], self.units[middle]))]
        mask = np.zeros(len(self), bool)
        mask[order[np.unique(self.units[order], return_index=True)[1]]] = True
        return mask

    @cached_property
    def places(self) -> dict[str, np.ndarray]:
        """Raises: places depend on the labels."""
        raise InputError(
            "detections have no places before they are matched", fix="choose the estimator chi2-svm or direct"
        )

    @cached_property
    def labels(self) -> np.ndarray:
        """Per candidate, 1 where the overlap with the mask reaches the threshold, else 0; NaN if unknown."""
        reaches = self.true >= reached(self.thresholds)[self.level]
        return np.where(np.isnan(self.true), np.nan, reaches)

    @property
    def levels(self) -> np.ndarray:
        """Per candidate, the number of its threshold."""
        return self.level

    @property
    def groups(self) -> np.ndarray:
        """Per candidate, the index of its category."""
        return self.category[self.query]

    @property
    def same_features(self) -> np.ndarray:
        """Per candidate, the number of its pair."""
        return self.pair

    @property
    def possible(self) -> np.ndarray:
        """Per candidate, whether it is of a detection: what is not detected cannot match."""
        return self.features["noisy IoU"] > 0

    def matter(self, measure: Measure) -> np.ndarray:
        """Return all candidates."""
        return np.ones(len(self), bool)

    def vetted_by(self, vetted: np.ndarray) -> DetectedPairs:
        """Return the candidates with the overlaps by masks where these are vetted."""
        return replace(self, rankings={run: one.vetted_by(vetted) for run, one in self.rankings.items()})

    def averaged(self, values: np.ndarray) -> np.ndarray:
        """Return values [..., queries] averaged over the thresholds of each category."""
        return mean_defined(values.reshape(*values.shape[:-1], -1, len(self.thresholds)))


@dataclass(frozen=True, eq=False)
class RunOverlaps:
    """The detections of one run that count, by category and score, and their pairs.

    Parameters
    ----------
    category, image, score, size, crowd
        Per detection; the size is width and height of its box as shares of the image.
    detection, instance, noisy, true
        Per pair, sorted by detection.
    """

    category: np.ndarray
    image: np.ndarray
    score: np.ndarray
    size: np.ndarray
    crowd: np.ndarray
    detection: np.ndarray
    instance: np.ndarray
    noisy: np.ndarray
    true: np.ndarray


def reached(thresholds: np.ndarray) -> np.ndarray:
    """Return the overlaps from which on thresholds are reached, as in COCO's evaluation: 1 up to rounding."""
    return np.minimum(thresholds, 1 - 1e-10)


def make_detected_pairs(
    runs: Sequence[Detections], *, thresholds: Sequence[float] = THRESHOLDS, most: int = MOST_DETECTIONS
) -> DetectedPairs:
    """Pair detections with the instances of their image and category that they may match.

    Parameters
    ----------
    runs
        Detections of the same instances.
    thresholds
        Of intersection over union, in ascending order.
    most
        How many detections of one image and category count, those of the highest scores.
    """
    instances, names = runs[0].instances, [run.name for run in runs]
    steps = np.asarray(thresholds, dtype=np.float64)
    real = np.flatnonzero(~instances.crowd)
    check_detections(runs, steps, real)
    categories = np.unique(instances.category[real])
    each = [run_overlaps(run, categories, steps[0], most) for run in runs]
    # The pairs of all runs, then the instances without a detection.
    unseen = np.setdiff1d(real, np.concatenate([one.instance for one in each]))
    instance = np.concatenate([*(one.instance for one in each), unseen])
    noisy = np.concatenate([*(one.noisy for one in each), np.zeros(len(unseen))])
    never = np.where(instances.vetted[unseen] | (runs[0].masks is None), 0.0, np.nan)
    true = np.concatenate([*(one.true for one in each), never])
    lowest = min((float(one.score.min()) for one in each if len(one.score)), default=0.0)
    score = np.concatenate([*(one.score[one.detection] for one in each), np.full(len(unseen), lowest)])
    size = np.concatenate([*(one.size[one.detection] for one in each), np.zeros((len(unseen), 2))])
    # The candidates: per category, its pairs at the first threshold, at the second, and so on.
    group = np.searchsorted(categories, instances.category[instance])
    order, width = np.argsort(group, kind="stable"), np.bincount(group, minlength=len(categories))
    ptr = np.r_[0, np.cumsum(width)]
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - ptr[group[order]]
    pair = np.concatenate([np.tile(order[b:e], len(steps)) for b, e in pairwise(ptr)])
    level = np.concatenate([np.repeat(np.arange(len(steps)), n) for n in width])
    row_image = instances.image[instance][pair]
    number = np.zeros((len(categories), len(instances.images)), np.int64)
    np.add.at(number, (np.searchsorted(categories, instances.category[real]), instances.image[real]), 1)
    first = np.r_[0, np.cumsum([len(one.instance) for one in each])]
    nothing = np.zeros(len(pair), bool)
    rankings = {
        run.name: DetectionRanking(
            np.zeros(0, np.int64), NO_PLACES, det_ptr=begin_of(one.category, categories), image=one.image,
            crowd=one.crowd, pair_ptr=begin_of(one.category[one.detection], categories),
            detection=one.detection, instance=one.instance, noisy=one.noisy, true=one.true,
            base=ptr[:-1] * len(steps), width=width, place=place[begin:end], number=number,
            thresholds=reached(steps), row_image=row_image, row_pair=pair,
        ).vetted_by(nothing)
        for run, one, (begin, end) in zip(runs, each, pairwise(first))
    }  # fmt: skip
    of_instance = instances.box[:, 2:] / instances.sizes[instances.image][:, ::-1]
    sides = {"detection": size, "instance": np.clip(of_instance[instance], 0, 1)}
    features = {"noisy IoU": noisy[pair]} | {
        f"{what} {side}": values[pair, axis]
        for what, values in sides.items()
        for axis, side in enumerate(("width", "height"))
    }
    annotation, unit = np.unique(instance, return_inverse=True)
    return DetectedPairs(
        "t2i", np.arange(len(categories) * len(steps)), np.r_[0, np.cumsum(np.repeat(width, len(steps)))],
        row_image, noisy[pair] >= reached(steps)[level], rankings, dict.fromkeys(names, score[pair]),
        features, notes=left_out_notes(runs, categories), unit=unit[pair], instances=instances,
        category=np.repeat(categories, len(steps)), thresholds=steps, true=true[pair], level=level, pair=pair,
        annotation=annotation, of_boxes=runs[0].masks is None,
    )  # fmt: skip


def check_detections(runs: Sequence[Detections], thresholds: np.ndarray, real: np.ndarray) -> None:
    """Raise where runs do not fit together, or there is nothing to match; `real` are not crowds."""
    instances = runs[0].instances
    if len({run.name for run in runs}) < len(runs):
        raise InputError("two runs have the same name", fix="give them different names: --name A,B")
    if any(run.instances is not instances for run in runs) or len({run.kind for run in runs}) > 1:
        raise InputError("the runs are of different instances or kinds", fix="give all masks or all boxes")
    if (
        not len(thresholds)
        or (np.diff(thresholds) <= 0).any()
        or not 0.5 <= thresholds[0] <= thresholds[-1] <= 1
    ):
        raise InputError(f"the thresholds are {thresholds.tolist()}", fix="give rising numbers from 0.5 to 1")
    if not len(real):
        raise InputError("has crowds alone", where=instances.name, fix="give instances that are not crowds")


def begin_of(category: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """Return where the entries of each category begin, and where they end."""
    return np.asarray(np.searchsorted(category, np.r_[categories, categories[-1] + 1]))


def left_out_notes(runs: Sequence[Detections], categories: np.ndarray) -> tuple[str, ...]:
    """Return how many detections do not count."""
    counts = {run.name: int((~np.isin(run.category, categories)).sum()) for run in runs}
    return tuple(
        f"{name}: not counted are {plural(count, 'detection')} of categories without instances"
        for name, count in counts.items()
        if count
    )


def run_overlaps(run: Detections, categories: np.ndarray, least: float, most: int) -> RunOverlaps:
    """Return the pairs of one run: detections that lie inside an instance's box by `LEAST_INSIDE` or more."""
    instances = run.instances
    order = np.lexsort((np.arange(len(run)), run.image, -run.score, run.category))
    order = order[np.isin(run.category[order], categories)]
    list_of = run.category[order].astype(np.int64) * len(instances.images) + run.image[order]
    order = order[numbered(list_of) < most]
    category, image, crowd = run.category[order], run.image[order], np.zeros(len(order))
    by_group = groups_of(instances.category, instances.image)
    parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))]
    for group, seen in groups_of(category, image).items():
        if group not in by_group:
            continue
        these = by_group[group]
        noisy, true, inside = group_overlaps(run, order[seen], these)
        flags = instances.crowd[these]
        crowd[seen] = np.where(flags, true, 0.0).max(axis=1)
        d, g = np.nonzero(~flags & ((inside >= LEAST_INSIDE) | (np.nan_to_num(true) >= least)))
        parts.append((seen[d], these[g], noisy[d, g], true[d, g]))
    columns = [np.concatenate(column) for column in zip(*parts)]
    sorted_pairs = np.argsort(columns[0], kind="stable")
    size = np.clip(run.box[order, 2:] / instances.sizes[image][:, ::-1], 0, 1)
    return RunOverlaps(
        category, image, run.score[order], size, crowd, *(column[sorted_pairs] for column in columns)
    )


def groups_of(category: np.ndarray, image: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
    """Return the numbers of the entries of each category and image, in ascending order."""
    order = np.lexsort((np.arange(len(image)), image, category))
    new = np.flatnonzero((np.diff(category[order]) != 0) | (np.diff(image[order]) != 0)) + 1
    parts = np.split(order, new) if len(order) else []
    return {(int(category[part[0]]), int(image[part[0]])): part for part in parts}


def group_overlaps(
    run: Detections, detections: np.ndarray, these: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return overlaps of detections with instances of one image, each [detections, instances].

    By the boxes; by the masks, NaN where unknown; and the share of the detection that is inside the box.
    """
    instances = run.instances
    crowd, box, all_flags = instances.crowd[these], instances.box[these], np.ones(len(these), bool)
    if run.masks is None:
        noisy = overlaps(run.box[detections], box, crowd)
        return noisy, noisy, overlaps(run.box[detections], box, all_flags)
    seen = [run.masks[at] for at in detections]
    filled = box_masks(box, *instances.sizes[instances.image[these[0]]].tolist())
    noisy, inside = overlaps(seen, filled, crowd), overlaps(seen, filled, all_flags)
    known = [n for n, at in enumerate(these) if instances.masks[at] is not None]
    masks = [mask for at in these if (mask := instances.masks[at]) is not None]
    true = np.full(noisy.shape, np.nan)
    true[:, known] = overlaps(seen, masks, crowd[known])
    return noisy, true, inside
