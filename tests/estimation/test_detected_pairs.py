"""Detections as candidates: matching and AP as pycocotools has them, expectations as enumeration has them."""

import json
import os
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from estimation.scenes import evaluated, scene, write
from karat.benchmarks import load_instances
from karat.errors import InputError
from karat.estimation import (
    VettedLabels,
    estimate_detections,
    make_detected_pairs,
    parse_name,
    simulate_detections,
    vet,
)
from karat.estimation.estimator import ESTIMATORS
from karat.estimation.estimators.chi2_svm import ChiSquareDistance
from karat.estimation.vetting import values_per_query
from karat.measures import parse_measure
from karat.runs import load_detections

IAP, AP = parse_measure("iAP"), parse_measure("AP")


def load(folder, content, results, **options):
    instances, detections = write(folder, content, results)
    known = load_instances(instances)
    return make_detected_pairs([load_detections(detections, known, "run")], **options)


def by_category(pairs, values):
    """Return values [categories, thresholds] of one run."""
    return values[0].reshape(-1, len(pairs.thresholds))


@pytest.mark.parametrize("seed", range(12))
def test_scores_are_those_of_pycocotools_whatever_is_vetted(tmp_path, seed):
    content, results = scene(seed)
    pairs = load(tmp_path, content, results)
    rng = np.random.default_rng(seed)
    for share in (0.0, 0.5, 1.0):
        vetted = (rng.random(len(pairs.annotation)) < share)[pairs.units]
        labels = np.where(vetted, pairs.labels, pairs.noisy)
        boxes = set(pairs.instances.id[pairs.annotation[np.unique(pairs.units[~vetted])]].tolist())
        ours = by_category(pairs, values_per_query(pairs.vetted_by(vetted), labels, IAP))
        theirs = evaluated(content, results, boxes)
        np.testing.assert_allclose(ours, theirs[theirs[:, 0] > -1], atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_boxes_are_scored_against_boxes(tmp_path, seed):
    content, results = scene(seed)
    rng = np.random.default_rng(seed)
    for one in results:
        del one["segmentation"]
        one["bbox"] = [*rng.uniform(0, 12, 2).tolist(), *rng.uniform(1, 12, 2).tolist()]
    pairs = load(tmp_path, content, results)
    theirs = evaluated(content, results, kind="bbox")
    ours = by_category(pairs, values_per_query(pairs, pairs.labels, IAP))
    np.testing.assert_allclose(ours, theirs[theirs[:, 0] > -1], atol=1e-12)
    assert np.array_equal(pairs.labels > 0, pairs.noisy)


def test_more_detections_than_count_are_cut_as_pycocotools_does(tmp_path):
    content, results = scene(3)
    many = [{**one, "score": n / 700} for n, one in enumerate(results[:5] * 140)]
    pairs = load(tmp_path, content, many)
    theirs = evaluated(content, many)
    np.testing.assert_allclose(
        by_category(pairs, values_per_query(pairs.vetted_by(np.ones(len(pairs), bool)), pairs.labels, IAP)),
        theirs[theirs[:, 0] > -1],
        atol=1e-12,
    )


def test_a_vetted_part_is_scored_by_its_images_alone(tmp_path):
    content, results = scene(5)
    pairs = load(tmp_path, content, results)
    kept = {1, 4}
    vetted = np.isin(pairs.item, [image - 1 for image in kept])
    ours = by_category(
        pairs, values_per_query(pairs.vetted_by(vetted), np.where(vetted, pairs.labels, np.nan), IAP)
    )
    part = {**content, "images": [one for one in content["images"] if one["id"] in kept]}
    part["annotations"] = [one for one in content["annotations"] if one["image_id"] in kept]
    theirs = evaluated(part, [one for one in results if one["image_id"] in kept])
    names = [int(pairs.instances.categories[at]) - 1 for at in np.unique(pairs.category)]
    np.testing.assert_allclose(np.nan_to_num(ours, nan=-1), theirs[names], atol=1e-12)


def enumerated(pairs, p, measure):
    """Return the expected values under independent labels, and the slope for each label, by enumeration."""
    ranking, free = pairs.rankings["run"], np.flatnonzero((p > 0) & (p < 1))
    total, slope = 0.0, np.zeros((len(p), len(pairs.queries)))
    for labels in product((0.0, 1.0), repeat=len(free)):
        full = p.copy()
        full[free] = labels
        value = measure(ranking.under(full))
        chance = np.where(full[free] > 0, p[free], 1 - p[free])
        total = total + chance.prod() * value
        for at, row in enumerate(free):
            slope[row] += np.delete(chance, at).prod() * (1 if full[row] else -1) * value
    return total, slope.sum(axis=1)


@pytest.mark.parametrize("seed", range(6))
def test_closed_forms_are_those_of_enumeration(tmp_path, seed):
    # Instances apart and without crowds; up to three detections of each compete for it.
    content, results = scene(seed, images=3, most=2, crowds=False, wild=False)
    results = [{**one, "score": one["score"] / (1 + copy)} for one in results for copy in range(3)]
    pairs = load(tmp_path, content, results, thresholds=[0.5])
    ranking = pairs.rankings["run"]
    assert np.bincount(ranking.detection).max(initial=0) <= 1
    rng = np.random.default_rng(seed)
    p = np.where(pairs.possible, rng.choice([0.0, 1.0, 0.3, 0.6], len(pairs)), 0.0)
    open_rows = np.flatnonzero((p > 0) & (p < 1))
    p[open_rows[9:]] = 1.0
    values, slope = enumerated(pairs, p, AP)
    np.testing.assert_allclose(ranking.expected(p, AP, 1, rng), values, atol=1e-12)
    np.testing.assert_allclose(ranking.change(p, AP, 1, rng), 2 * p * (1 - p) * slope, atol=1e-12)
    drawn = ranking.expected(p, IAP, 4000, np.random.default_rng(1))
    np.testing.assert_allclose(drawn, enumerated(pairs, p, IAP)[0], atol=0.04)


def test_one_answer_tells_all_labels_of_an_instance(tmp_path):
    content, results = scene(1)
    pairs = load(tmp_path, content, results)
    done = vet(
        pairs, lambda rows: pairs.labels[rows] > 0, AP, estimator="direct", strategy="meec", batch=2, budget=5
    )
    assert [len(np.unique(pairs.units[step.rows])) for step in done.rounds] == [2, 2, 1]
    for step in done.rounds:
        assert set(np.flatnonzero(np.isin(pairs.units, pairs.units[step.rows]))) == set(step.rows)
    np.testing.assert_allclose(done.effort, np.array([2, 4, 5]) / len(pairs.annotation))


def test_an_interrupted_loop_goes_on_with_its_log(tmp_path):
    pairs = load(tmp_path, *scene(1))

    def loop(budget, answers):
        asked = []

        def answer(rows):
            asked.append(len(np.unique(pairs.units[rows])))
            return answers[rows] > 0

        options = {"estimator": "direct", "strategy": "meec", "batch": 2, "log": tmp_path / "log.jsonl"}
        return vet(pairs, answer, AP, budget=budget, **options), asked

    first, asked = loop(4, pairs.labels)
    assert asked == [2, 2]
    second, asked = loop(6, pairs.labels)
    assert asked == [2]
    np.testing.assert_array_equal(second.values()[:2], first.values())


@pytest.mark.parametrize(
    "method", ["random+naive", "mcm+direct", "meec+chi2-svm", "whole-images+vetted-only"]
)
def test_everything_vetted_is_the_score_itself(tmp_path, method):
    content, results = scene(2, images=6)
    instances, detections = write(tmp_path, content, results)
    done = simulate_detections(detections, instances, "iAP", method=method, times=2, batch=0.4, draws=8)
    result = done.results[0]
    truth = evaluated(content, results)
    assert result.truth[0] == pytest.approx(truth[truth[:, 0] > -1].mean())
    np.testing.assert_allclose(result.curves[0].estimate[:, -1, 0], result.truth[0])
    assert "instances to vet are 100% of the effort" in str(done)
    again = simulate_detections(detections, instances, "iAP", method=method, times=2, batch=0.4, draws=8)
    np.testing.assert_array_equal(again.results[0].curves[0].estimate, result.curves[0].estimate)


def test_whole_images_are_vetted_one_after_the_other(tmp_path):
    content, results = scene(4, images=6)
    pairs = load(tmp_path, content, results)
    done = vet(
        pairs, lambda rows: pairs.labels[rows] > 0, AP, estimator="vetted-only", strategy="whole-images",
        first="whole-images", batch=1,
    )  # fmt: skip
    images = [int(pairs.item[step.rows[0]]) for step in done.rounds]
    assert len(images) - 1 - sum(a == b for a, b in pairwise(images)) == len(set(images)) - 1


def test_estimates_from_answers_of_annotators(tmp_path):
    content, results = scene(0, images=8)
    instances, detections = write(tmp_path, content, results)
    known = load_instances(instances)
    real = known.id[~known.crowd].tolist()
    answers = {key: n % 3 > 0 for n, key in enumerate(real)}
    file = tmp_path / "answers.csv"
    file.write_text("annotation,approved\n" + "".join(f"{key},{int(yes)}\n" for key, yes in answers.items()))
    by_file, by_mapping = (
        estimate_detections(detections, instances, vetted=v, draws=16) for v in (file, answers)
    )
    assert by_file.records() == by_mapping.records()
    record = by_file.records()[0]
    assert (record["vetted"], record["instances"]) == (sum(answers.values()), len(real))
    assert record["naive"] != record["value"]
    assert sum(one["vetted"] for one in by_file.categories() if one["measure"] == "iAP") == sum(
        answers.values()
    )
    everything = estimate_detections(detections, instances, "iAP")
    truth = evaluated(content, results)
    assert everything.value("iAP") == pytest.approx(truth[truth[:, 0] > -1].mean())
    with pytest.raises(InputError, match="no instance has a vetted mask"):
        estimate_detections(detections, instances, vetted={})
    with pytest.raises(InputError, match="3 is not an annotation"):
        known.with_answers({3: True})


def test_distances_are_those_of_scikit_learn(tmp_path):
    from sklearn.metrics.pairwise import chi2_kernel

    pairs = load(tmp_path, *scene(7))
    distance = ChiSquareDistance.of(pairs)
    every = np.arange(len(pairs))
    one_hot = (distance.group[:, None] == np.unique(distance.group)) * 1.0
    theirs = chi2_kernel(np.column_stack([distance.x, one_hot]), gamma=0.1)
    np.testing.assert_allclose(
        np.exp(-0.1 * distance.between(every, every)), theirs[np.ix_(pairs.pair, pairs.pair)]
    )
    big = ChiSquareDistance(distance.x, distance.group, distance.row)
    big.__dict__["table"] = None
    np.testing.assert_allclose(big.between(every, every[:5]), distance.between(every, every[:5]))


def test_machines_learn_overlaps_with_masks_from_those_with_boxes(tmp_path):
    content, results = scene(11, images=60)
    pairs = load(tmp_path, content, results)
    rng = np.random.default_rng(0)
    rows = np.flatnonzero(
        np.isin(pairs.units, rng.permutation(len(pairs.annotation))[: len(pairs.annotation) // 2])
    )
    labels = VettedLabels(pairs, rows, pairs.labels[rows] > 0)
    tested = ~labels.vetted & pairs.possible
    for name in ("chi2-svm", "chi2-svm(by=query)", "chi2-svm(most=50)"):
        p = parse_name(name, ESTIMATORS).probabilities(labels, AP, np.random.default_rng(1))
        assert abs(p[tested].mean() - pairs.labels[tested].mean()) < 0.06
        assert (p[~pairs.possible] == 0).all()
        error = np.mean((p - pairs.labels)[tested] ** 2)
        assert name != "chi2-svm" or error < np.mean((pairs.noisy - pairs.labels)[tested] ** 2)


def test_what_cannot_be_compared_or_chosen_is_said(tmp_path):
    content, results = scene(0)
    instances, detections = write(tmp_path, content, results)
    with pytest.raises(InputError, match="bandit cannot choose among instances; choose one of mcm, meec"):
        simulate_detections(detections, instances, method="bandit+naive", times=1)
    with pytest.raises(InputError, match="two runs have the same name"):
        estimate_detections([detections, detections], instances)
    with pytest.raises(InputError, match="give rising numbers from"):
        estimate_detections(detections, instances, thresholds=[0.3])
    with pytest.raises(InputError, match="no places before they are matched"):
        estimate_detections(detections, instances, vetted={10: True, 11: True}, estimator="mixed")
    del content["annotations"][0]["segmentation"]
    content["annotations"][0]["iscrowd"] = 0
    instances, _ = write(tmp_path, content, results)
    with pytest.raises(InputError, match="there is 1 instance without a mask"):
        simulate_detections(detections, instances, times=1)


def test_the_sample_of_coco_has_its_published_scores():
    folder = Path(os.environ.get("KARAT_DATA", "")) / "cocoapi"
    if not folder.is_dir():
        pytest.skip("needs KARAT_DATA with cocoapi")
    files = {kind: folder / f"instances_val2014_fake{kind}100_results.json" for kind in ("segm", "bbox")}
    instances = load_instances(folder / "instances_val2014_100.json")
    content = json.loads((folder / "instances_val2014_100.json").read_text())
    for kind, published in (("segm", 0.320), ("bbox", 0.505)):
        found = estimate_detections(files[kind], instances, "iAP")
        assert round(found.value("iAP"), 3) == published
        theirs = evaluated(content, json.loads(files[kind].read_text()), kind=kind).mean(axis=1)
        np.testing.assert_allclose(found.columns[0].values[0], theirs[theirs > -1], atol=1e-12)
    pairs = make_detected_pairs([load_detections(files["segm"], instances)])
    assert round(float(values_per_query(pairs, pairs.noisy * 1.0, IAP).mean()), 3) == 0.126
