"""Estimated scores of detections: the AP that all masks would give, from boxes and some masks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import Layout, Part, Result, is_database, plural, split_names
from karat.benchmarks import Instances, load_instances, read_approvals
from karat.errors import InputError
from karat.estimation.candidates import VettedLabels
from karat.estimation.detected_pairs import MOST_DETECTIONS, THRESHOLDS, DetectedPairs, make_detected_pairs
from karat.estimation.estimation import FEW_LABELS, draw_scores
from karat.estimation.estimator import ESTIMATORS, LabelEstimator, run_probabilities
from karat.estimation.inputs import check_measures
from karat.estimation.query_means import mean_defined
from karat.estimation.score_estimate import OF_MASKS, as_json
from karat.estimation.vetting import DRAWS, values_per_query
from karat.measures import Measure, Named, parse_name, show_value
from karat.runs import Detections, load_detections

if TYPE_CHECKING:
    from karat.store import Project

BOXES, MASKS = "boxes", "masks"
"""The noisy labels of detections, and the vetted ones."""
DETECTION_MEASURES = ("iAP", "AP")
DETECTION_ESTIMATOR = "chi2-svm"


@dataclass(frozen=True, eq=False)
class DetectionColumn:
    """One measure, estimated for every run.

    Parameters
    ----------
    measure
        What was estimated.
    values
        Expected values [runs, categories], means over thresholds.
    spread
        Per run, the standard deviation of the score if the probabilities are right.
    naive, vetted_only
        Per run, the score with boxes where no mask is known, and that on the images where all are known.
    """

    measure: Measure
    values: np.ndarray
    spread: np.ndarray
    naive: np.ndarray
    vetted_only: np.ndarray


@dataclass(frozen=True, eq=False)
class DetectionEstimate(Result):
    """Estimated scores of detections, with what they rest on; `estimate_detections` makes it.

    Parameters
    ----------
    columns
        One per measure.
    pairs
        Detections with the instances that they may match.
    estimator
        How labels became probabilities.
    vetted
        How many instances have a vetted mask.
    notes
        What a reader should know.
    """

    columns: tuple[DetectionColumn, ...]
    pairs: DetectedPairs
    estimator: LabelEstimator
    vetted: int
    notes: tuple[str, ...] = ()

    def value(self, measure: str, run: str | None = None) -> float:
        """Return the estimated score of a run, the first by default."""
        at = 0 if run is None else self.pairs.runs.index(run)
        for record in self.records()[at :: len(self.pairs.runs)]:
            if record["measure"] == measure:
                return float(record["value"])
        raise InputError(f"{measure} was not estimated", fix="print the estimates")

    def records(self) -> list[dict[str, Any]]:
        """Return one record per measure and run."""
        return [
            {
                "run": run,
                "measure": str(column.measure),
                "estimator": str(self.estimator),
                "value": as_json(mean_defined(column.values[at])),
                "spread": as_json(column.spread[at]),
                "naive": as_json(column.naive[at]),
                "vetted_only": as_json(column.vetted_only[at]),
                "categories": column.values.shape[1],
                "instances": len(self.pairs.annotation),
                "vetted": self.vetted,
            }
            for column in self.columns
            for at, run in enumerate(self.pairs.runs)
        ]

    def categories(self) -> list[dict[str, Any]]:
        """Return one record per measure, run and category, with the number of its instances."""
        pairs, instances = self.pairs, self.pairs.instances
        known = ~np.isnan(pairs.true)
        units = np.unique(pairs.units[known])
        of_unit = instances.category[pairs.annotation]
        counts, vetted = (
            np.bincount(part, minlength=len(instances.names)) for part in (of_unit, of_unit[units])
        )
        return [
            {
                "run": run,
                "measure": str(column.measure),
                "category": instances.names[category],
                "value": as_json(value),
                "instances": int(counts[category]),
                "vetted": int(vetted[category]),
            }
            for column in self.columns
            for at, run in enumerate(pairs.runs)
            for category, value in zip(np.unique(pairs.category), column.values[at])
        ]

    def parts(self) -> Sequence[Part]:
        """Return the sentence on what is estimated, and the scores."""
        levels, instances = self.pairs.thresholds, plural(len(self.pairs.annotation), "instance")
        head = (
            f"Estimated for {OF_MASKS}.\n"
            f"Estimator {self.estimator}; {self.vetted:,} of {instances} have a vetted mask, the others a "
            f"box.\nMeans over {self.columns[0].values.shape[1]:,} categories and {len(levels)} thresholds "
            f"of overlap from {levels[0]:g} to {levels[-1]:g}. Percent ± one standard deviation."
        )
        if self.pairs.of_boxes:
            head = head.replace("masks", "boxes").replace("vetted mask, the others a box", "box")
        by_name = {str(column.measure): column.measure for column in self.columns}

        def shown(record: dict[str, Any], key: str) -> str:
            return show_value(by_name[record["measure"]], record[key])

        rows = [
            [
                record["run"],
                record["measure"],
                f"{shown(record, 'value')} ± {shown(record, 'spread')}",
                shown(record, "naive"),
                shown(record, "vetted_only"),
            ]
            for record in self.records()
        ]
        legend = (
            "boxes: where no mask is vetted, the box counts as the mask;\n"
            "vetted only: images whose instances all have vetted masks"
        )
        return [
            head,
            Layout(["run", "measure", "estimate", "boxes", "vetted only"], rows, labels=2, legend=legend),
        ]


def estimate_detections(
    runs: Detections | str | Path | Sequence[Detections | str | Path],
    instances: Instances | str | Path,
    measure: Iterable[str | Named] | str | None = None,
    *,
    vetted: str | Path | Mapping[int | str, bool] | Project = MASKS,
    estimator: str | LabelEstimator = DETECTION_ESTIMATOR,
    thresholds: Sequence[float] = THRESHOLDS,
    most: int = MOST_DETECTIONS,
    draws: int = DRAWS,
    seed: int = 0,
    name: Iterable[str] | str | None = None,
) -> DetectionEstimate:
    """Estimate what detections would score if the mask of every instance were vetted.

    An instance without a mask has a box. From the instances that have both, the estimator learns how probable
    it is that a detection overlaps a mask by at least a threshold, given how much it overlaps the box.

    Parameters
    ----------
    runs
        Detections, or result files of COCO's form.
    instances
        What was to be detected, or a file of COCO's form: boxes of all instances, and masks of some.
    measure
        "iAP", COCO's AP at 101 levels of recall, "AP", eq. 9 of Active testing, or other measures.
    vetted
        "masks": all masks of `instances` are vetted; or the answers of annotators, by annotation ids (see
        `Instances.with_answers`), or a file with the columns annotation and approved (1 or 0), or a project
        in which annotators approved masks, or its place.
    estimator
        How overlaps with boxes become probabilities.
    thresholds, most
        As in `make_detected_pairs`.
    draws
        How many versions of the labels are drawn, for the spread and for measures without a closed form.
    seed
        Of all random draws.
    name
        Of the runs; those of the files by default.
    """
    chosen = parse_name(estimator, ESTIMATORS)
    measures = check_measures(DETECTION_MEASURES if measure is None else measure)
    pairs = load_detected_pairs(runs, instances, vetted, thresholds=thresholds, most=most, name=name)
    rows = np.flatnonzero(~np.isnan(pairs.true))
    labels = VettedLabels(pairs, rows, pairs.labels[rows] > 0)
    ranked = pairs.vetted_by(labels.vetted)
    columns = []
    for one in measures:

        def scores(how: LabelEstimator, one: Measure = one) -> np.ndarray:
            return run_probabilities(how, labels, one, np.random.default_rng([seed, 3]))

        probability = labels.filled(np.zeros(len(pairs))) if labels.vetted.all() else scores(chosen)
        values = pairs.averaged(values_per_query(ranked, probability, one, draws, seed))
        others = (
            mean_defined(
                pairs.averaged(values_per_query(ranked, scores(ESTIMATORS[other]()), one, draws, seed))
            )
            for other in ("naive", "vetted-only")
        )
        spread = draw_scores(ranked, probability, one, draws, seed).std(axis=0)
        columns.append(DetectionColumn(one, values, spread, *others))
    units = len(np.unique(pairs.units[rows]))
    return DetectionEstimate(tuple(columns), pairs, chosen, units, tuple(detection_notes(pairs, units)))


def detection_notes(pairs: DetectedPairs, vetted: int) -> list[str]:
    """Return what a reader of the estimates should know."""
    notes = list(pairs.notes)
    if pairs.of_boxes:
        notes.append("detections with boxes are scored against boxes: there is nothing to vet")
    if vetted < len(pairs.annotation):
        notes.insert(
            0,
            "± is the standard deviation of the score if the estimator's probabilities are right; it is not "
            "a confidence interval",
        )
        if vetted < FEW_LABELS:
            notes.append(f"the estimates rest on {plural(vetted, 'vetted instance')}, which is few")
    return notes


def load_detected_pairs(
    runs: Detections | str | Path | Sequence[Detections | str | Path],
    instances: Instances | str | Path,
    vetted: str | Path | Mapping[int | str, bool] | Project = MASKS,
    *,
    thresholds: Sequence[float] = THRESHOLDS,
    most: int = MOST_DETECTIONS,
    name: Iterable[str] | str | None = None,
) -> DetectedPairs:
    """Read detections and instances, and pair them; see `estimate_detections`."""
    files = [runs] if isinstance(runs, Detections | str | Path) else list(runs)
    if not files:
        raise InputError("there are no detections", fix="give one result file or more")
    known = instances if isinstance(instances, Instances) else load_instances(instances)
    if isinstance(vetted, Mapping) or str(vetted) != MASKS:
        known = known.with_answers(answers_of(vetted, known))
    names = (
        [None] * len(files) if name is None else split_names(name) if isinstance(name, str) else list(name)
    )
    if len(names) != len(files):
        raise InputError(
            f"{plural(len(names), 'name')} for {plural(len(files), 'run')}", fix="give one for each"
        )
    loaded = [
        # The same detections of instances that have been answered about since.
        Detections(own or one.name, known, one.image, one.category, one.score, one.box, one.masks)
        if isinstance(one, Detections)
        else load_detections(one, known, own)
        for one, own in zip(files, names)
    ]
    pairs = make_detected_pairs(loaded, thresholds=thresholds, most=most)
    if np.isnan(pairs.true).all():
        raise InputError("no instance has a vetted mask", where=known.name, fix="vet some at random first")
    return pairs


def answers_of(
    vetted: str | Path | Mapping[int | str, bool] | Project, instances: Instances
) -> Mapping[int | str, bool]:
    """Return the answers of annotators about masks: as given, of a project, of its place, or of a file."""
    if isinstance(vetted, Mapping):
        return vetted
    if isinstance(vetted, str | Path) and not is_database(vetted):
        return read_approvals(Path(vetted), instances)
    # Loads the database, which files do not need.
    from karat.judging import project_approvals
    from karat.store import open_project

    if not isinstance(vetted, str | Path):
        return project_approvals(vetted, instances)
    with open_project(vetted) as project:
        return project_approvals(project, instances)
