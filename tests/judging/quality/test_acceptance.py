"""One acceptance rule: quality, publish and bias speak of the same labels."""

import inspect
from dataclasses import fields, replace

import numpy as np
import pytest

import karat
from karat.cli import options
from karat.cli.project.bias import bias as bias_command
from karat.cli.project.publish import publish as publish_command
from karat.cli.project.quality import quality as quality_command
from karat.errors import InputError
from karat.forms import load_form, make_answers
from karat.judging import (
    AcceptanceRule,
    accepted_answers,
    aggregate,
    answer_quality,
    correct,
    evidence_of,
    make_pool,
    make_tasks,
    measure_bias,
    project_verdicts,
    publish,
    simulate_answers,
)
from karat.project import verdicts as verdicts_of_projects
from karat.stats import Intervals
from karat.store import create_project
from karat.world import adversarial, average, careful, lazy, make_world, simulate_systems

FEW = Intervals(resamples=20)


def careless(name):
    """An annotator who mostly says yes without looking."""
    return lazy(name, 0.3, "yes")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Good and bad annotators, gold, rejected and approved assignments, an invalid caption."""
    folder = tmp_path_factory.mktemp("acceptance")
    world = make_world(images=40, captions=2, seed=6)
    world.save(folder / "world", pictures=False)
    bench, form = karat.load_benchmark(folder / "world"), load_form("pair")
    pool = make_pool(simulate_systems(world)[:3], bench, top=3)
    people = [kind(f"{kind.__name__} {k}") for k in range(6) for kind in (careful, average, careless)]
    people += [adversarial(f"bad {k}") for k in range(4)]
    with create_project(folder / "p.db", bench, form, source=str(folder / "world")) as project:
        project.pools.set(pool)
        project.pools.add_tasks(make_tasks(pool, form, task_size=16, gold=2, overlap=3))
        project.answers.record(simulate_answers(world, project.pools.plan(), people, form, seed=1).rows())
        assignments = project.queue.assignments().assignment.tolist()
        project.reviews.add(assignments[:2], "reject", "me", "random")
        project.reviews.add(assignments[2:40], "approve", "me", "")
        project.reviews.mark_invalid("caption", int(pool.caption[0]), "no image", "me")
        yield project


RULES = {
    "default": {},
    "majority": {"aggregate": "majority"},
    "a threshold": {"aggregate": "majority", "aggregate_set": {"threshold": 0.7}},
    "strict": {"aggregate": "mean", "gold_share": 0.95},
    "certain": {"aggregate": "mean", "gold_share": 0.95, "only_if_certain": True},
    "kept": {"aggregate": "majority", "exclude": False},
    "excluded": {"exclude": True},
    "approved": {"aggregate": "majority", "approved_only": True},
}


@pytest.mark.parametrize("name", RULES)
def test_bias_measures_what_is_published_and_described(name, project, tmp_path, monkeypatch):
    rule = AcceptanceRule(**RULES[name])
    measured = []

    def measure(labels, *args, **more):
        measured.append(labels.judged)
        return measure_bias(labels, *args, **more)

    monkeypatch.setattr(verdicts_of_projects, "measure_bias", measure)
    report = karat.project.bias(project, acceptance=rule, intervals=FEW)
    published = publish(project, tmp_path / "out", acceptance=rule)
    quality = karat.project.quality(project, acceptance=rule, intervals=FEW)

    (bias,) = measured
    verdicts = published.correction.verdicts
    for column in ("image", "caption", "grade"):
        np.testing.assert_array_equal(getattr(bias, column), getattr(verdicts, column))
        np.testing.assert_array_equal(getattr(bias, column), getattr(quality.verdicts[0], column))
    row = quality.to_records()["verdicts"][0]
    counts = published.facts.counts
    assert (row["pairs"], row["relevant"]) == (counts["judged_pairs"], counts["relevant_pairs"])
    relevant = int((bias.grade > 0).sum())
    assert (row["pairs"], row["relevant"]) == (len(bias), relevant)
    assert f"Labels: {len(bias):,} verdicts by {verdicts.method}, {relevant:,} relevant" in str(report)
    # Before merging: the pairs of valid items, with their grades.
    answered = published.correction.answered.judgments
    valid = bias.caption != next(iter(project.reviews.invalid()["caption"]))
    assert 0 < valid.sum() < len(valid)
    for column in ("image", "caption", "grade"):
        np.testing.assert_array_equal(getattr(answered, column), getattr(bias, column)[valid])


def test_the_rules_differ(project):
    """The options of the test above change the labels, or it would show nothing."""
    labels = {name: project_verdicts(project, AcceptanceRule(**rule))[1] for name, rule in RULES.items()}
    shown = {name: (v.grade.tobytes(), v.answers.tobytes()) for name, v in labels.items()}
    assert len(set(shown.values())) == len(RULES)


def test_verdicts_are_those_of_the_parts(project):
    """The rule adds nothing: by hand, answers are accepted, then aggregated."""
    rule = AcceptanceRule("mean", {"threshold": 0.6}, 0.8)
    accepted, verdicts = project_verdicts(project, rule)
    by_hand = accepted_answers(
        project.answers.read(), project.form, reviews=project.reviews.read(),
        assignments=project.queue.assignments(), gold_share=0.8,
    )  # fmt: skip
    np.testing.assert_array_equal(accepted.kept, by_hand.kept)
    assert accepted.notes == by_hand.notes != ()
    expected = aggregate(by_hand.answers, project.form, "mean", threshold=0.6).asked
    np.testing.assert_array_equal(verdicts.grade, expected.grade)


@pytest.mark.parametrize("command", [bias_command, publish_command, quality_command])
def test_options_and_defaults_are_those_of_the_rule(command):
    parameters = inspect.signature(command).parameters
    for field in fields(AcceptanceRule):
        assert parameters[field.name].default == field.default, field.name
    assert (AcceptanceRule.aggregate, AcceptanceRule.gold_share) == (options.AGGREGATE, options.GOLD_SHARE)


def test_an_evidence_knows_its_rule(project, tmp_path):
    evidence = evidence_of(project, AcceptanceRule("majority"))
    verdicts = correct(evidence).verdicts
    assert verdicts.method == "majority"
    np.testing.assert_array_equal(verdicts.grade, project_verdicts(project, evidence.acceptance)[1].grade)
    strict = evidence_of(project, AcceptanceRule("majority", {"threshold": 0.9}))
    assert correct(strict).verdicts.settings["threshold"] == 0.9
    published = publish(evidence, tmp_path / "out")
    assert published.correction.verdicts.method == "majority"
    with pytest.raises(InputError, match="says itself which answers count"):
        publish(evidence, tmp_path / "out", acceptance=AcceptanceRule("dawid-skene"))
    made_by_hand = replace(evidence, acceptance=None)
    assert correct(made_by_hand).verdicts.method == AcceptanceRule.aggregate


def test_wrong_rules():
    with pytest.raises(InputError, match="loudest"):
        AcceptanceRule("loudest")
    with pytest.raises(InputError, match="gold_share is 7"):
        AcceptanceRule(gold_share=7)
    rule, form = AcceptanceRule("majority"), load_form("pair")
    failed = make_answers([0, 1], [0, 1], [0, 0], [1, 4], ("eve",), gold=[1, -1], assignment=[7, 7])
    with pytest.raises(InputError, match=r"no answer counts \(2 answers of annotators who fail the gold"):
        answer_quality(failed, form, acceptance=rule)
    with pytest.raises(InputError, match=r"no answer counts \(all are about gold pairs"):
        rule.verdicts(failed.where(failed.gold == 1), form)
    with pytest.raises(InputError, match="the project has no answers"):
        rule.accept(failed.where([False, False]), form)
