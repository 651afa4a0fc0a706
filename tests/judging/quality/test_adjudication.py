"""An adjudicator's decision replaces the verdict and is not a vote."""

from dataclasses import replace

import numpy as np
import pytest

from karat.errors import InputError
from karat.forms.answer_table import ADJUDICATOR, make_answers, split_adjudicated
from karat.judging.exchange import export_answers, import_answers
from karat.judging.publication.correction import correct
from karat.judging.quality.agreement import annotator_agreement
from karat.judging.quality.report import answer_quality
from karat.judging.quality.verdicts import AGGREGATIONS, aggregate
from karat.store import create_project, open_project
from tests.judging.publication.published import small_evidence, small_project


def decided(evidence, image, caption, rating):
    """Add decisions to the answers of an evidence."""
    before, n = evidence.answers, len(np.atleast_1d(image))
    boss = len(before.annotators)
    added = make_answers(
        np.append(before.image, image), np.append(before.caption, caption),
        np.append(before.annotator, np.full(n, boss)), np.append(before.rating, rating),
        (*before.annotators, "boss"), kinds=(*before.kinds, ADJUDICATOR),
        assignment=np.append(before.assignment, np.full(n, -1)),
    )  # fmt: skip
    return replace(evidence, answers=added)


@pytest.mark.parametrize("method", [*AGGREGATIONS])
def test_the_decision_counts_and_nothing_else_changes(method):
    evidence = small_evidence(right=0.6)
    before = aggregate(evidence.answers, evidence.form, method)
    rows = np.array([3, 40, 77])
    rating = np.where(before.grade[rows] > 0, 1.0, 4.0)
    changed = decided(evidence, before.image[rows], before.caption[rows], rating)
    after = aggregate(changed.answers, evidence.form, method)
    assert np.flatnonzero(after.adjudicated).tolist() == rows.tolist()
    assert after.rating[rows].tolist() == rating.tolist()
    assert after.grade[rows].tolist() == (rating == 4).tolist()
    assert after.posterior[rows].sum(axis=1).tolist() == [1, 1, 1]
    rest = ~after.adjudicated
    for name in ("grade", "relevance", "posterior", "answers", "disagreement"):
        np.testing.assert_array_equal(getattr(after, name)[rest], getattr(before, name)[rest])
    np.testing.assert_array_equal(after.answers, before.answers)
    np.testing.assert_array_equal(after.disagreement, before.disagreement)


def test_the_last_decision_counts_also_without_other_answers():
    evidence = small_evidence()
    only = decided(
        replace(evidence, answers=evidence.answers.where(evidence.answers.image > 0)), [0, 0], [7, 7], [1, 4]
    )
    found = aggregate(only.answers, only.form)
    at = np.flatnonzero((found.image == 0) & (found.caption == 7))
    assert (found.grade[at].tolist(), found.answers[at].tolist()) == ([1.0], [0])
    assert np.isnan(found.disagreement[at]).all()
    assert (np.diff(found.image) >= 0).all()


@pytest.mark.parametrize("method", [*AGGREGATIONS])
def test_decisions_alone_are_verdicts(method):
    evidence = decided(small_evidence(), [0, 2], [7, 1], [4, 1])
    found = aggregate(split_adjudicated(evidence.answers)[1], evidence.form, method)
    assert found.grade.tolist() == [1, 0]


def test_agreement_and_annotators_do_not_change():
    evidence = small_evidence(right=0.6)
    changed = decided(evidence, evidence.pool.image, evidence.pool.caption, np.full(len(evidence.pool), 4))
    one, two = (annotator_agreement(one.answers, one.form) for one in (evidence, changed))
    assert one.records() == two.records()
    one, two = (answer_quality(one.answers, one.form, one.pool).to_records() for one in (evidence, changed))
    for table in ("workers", "agreement", "answers_by_rank", "hand_ins"):
        assert one[table] == two[table]
    assert one["verdicts"] != two["verdicts"]


@pytest.mark.parametrize("policy", ["people", "majority"])
def test_a_decision_can_take_an_original_positive_away(policy):
    evidence = small_evidence(right=1.0)
    own = evidence.benchmark.caption_image
    row = np.flatnonzero(own[evidence.pool.caption] == evidence.pool.image)[0]
    image, caption = evidence.pool.image[row], evidence.pool.caption[row]
    grade = lambda found: found.truth.judgments.pairs().grade[  # noqa: E731
        (found.merged.image == image) & (found.merged.caption == caption)
    ]
    before = correct(evidence, original_policy=policy)
    after = correct(decided(evidence, image, caption, 1), original_policy=policy)
    assert grade(before)[0] > 0
    assert grade(after)[0] == 0
    assert "adjudicators" in " ".join(after.who_names)


def test_the_store_keeps_withdraws_and_exports(tmp_path):
    place = small_project(tmp_path)
    with open_project(place) as project:
        table = project.answers.read()
        image, caption = int(table.image[0]), int(table.caption[0])
        project.reviews.adjudicate("a", image, caption, "no")
        project.reviews.adjudicate("b", image, caption, "yes")
        own = split_adjudicated(project.answers.read())[1]
        assert own.rating.tolist() == [1, 4]
        project.reviews.adjudicate("b", image, caption, None)
        assert split_adjudicated(project.answers.read())[1].rating.tolist() == [1]
        for wrong in (
            ("a", image, caption, "perhaps"),
            ("a", 10**6, caption, "no"),
            ("", image, caption, "no"),
        ):
            with pytest.raises(InputError):
                project.reviews.adjudicate(*wrong)
        with pytest.raises(InputError, match="is a person"):
            project.reviews.adjudicate(table.annotators[0], image, caption, "no")
        before = len(project.answers.read())
        export_answers(project, tmp_path / "out.csv")
        bench, form, plan = project.benchmark(), project.form, project.pools.plan()
    with create_project(tmp_path / "again.db", bench, form, source="made") as again:
        again.pools.add_tasks(plan)
        import_answers(again, tmp_path / "out.csv")
        assert len(again.answers.read()) == before
        assert split_adjudicated(again.answers.read())[1].rating.tolist() == [1]
