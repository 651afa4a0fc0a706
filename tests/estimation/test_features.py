"""Features from further runs, caption metrics and machine judges."""

import numpy as np
import pytest

from karat.errors import InputError
from karat.estimation import judge_features, make_candidates, score_features
from karat.forms import MACHINE, PERSON, AnswerRows, load_form
from karat.judging import make_pool
from karat.judging.machine_judges import ScoringJudge, calibrate_in
from karat.runs import RankingsRun
from karat.store import create_project
from karat.world import make_world, simulate_systems


@pytest.fixture(scope="module")
def world():
    return make_world(images=40, captions=2, seed=5)


@pytest.fixture(scope="module")
def candidates(world):
    return make_candidates(
        simulate_systems(world)[:1], world.benchmark(), "original", direction="t2i", depth=5
    )


def test_scores_of_a_further_run(world, candidates):
    benchmark, run = world.benchmark(), simulate_systems(world)[1]
    features = score_features({"second": run}, benchmark, candidates)
    image, caption = candidates.pairs
    assert np.array_equal(features["second"], run.align(benchmark).pairs("i2t", image, caption))
    more = candidates.with_features(features)
    with pytest.raises(InputError, match="two features are called 'second'"):
        more.with_features(features)


def test_places_of_a_further_ranked_list(world, candidates):
    benchmark = world.benchmark()
    image, caption = (ids[index] for ids, index in zip((benchmark.images, benchmark.captions), (3, 7)))
    run = RankingsRun({"t2i": {caption: [benchmark.images[0], image]}}, name="short")
    values = score_features({"short": run}, benchmark, candidates)["short"]
    listed = candidates.find(np.array([7, 7]), np.array([0, 3]))
    assert [values[row] for row in listed if row >= 0] == [
        value for row, value in zip(listed, [0.0, -np.log(2)]) if row >= 0
    ]
    assert np.isnan(np.delete(values, listed[listed >= 0])).all()


def test_answers_of_machine_judges_need_approval(world, candidates, tmp_path):
    benchmark, form = world.benchmark(), load_form("pair")
    image, caption = candidates.pairs
    relevant = world.pair_relevance(image, caption)
    with create_project(tmp_path / "p.db", benchmark, form, source="world") as project:

        def answer(annotator, rows, kind):
            n = len(rows)
            codes = ["yes" if truth else "no" for truth in relevant[rows]]
            project.answers.record(
                AnswerRows(np.full(n, -1), image[rows], caption[rows], [annotator] * n, codes, kind=kind)
            )

        def score(questions):
            asked = np.array([(question.image, question.caption) for question in questions])
            return world.pair_shares(*asked.T)

        project.pools.set(make_pool(simulate_systems(world)[:2], benchmark, top=2))
        judge = ScoringJudge("oracle", score, (1e-9, 0.5, 1.0), form)
        name = f"machine:oracle@{judge.version}"
        answer("ann", np.arange(120), PERSON)
        assert judge_features(project, benchmark, candidates) == {}
        answer(name, np.arange(100, 300), MACHINE)
        with pytest.raises(InputError, match=r"oracle@.* are not fit to be features: it was never compared"):
            judge_features(project, benchmark, candidates)
        calibrate_in(project, judge, sample=100)
        with pytest.raises(InputError, match="on 100 pairs, not 500"):
            judge_features(project, benchmark, candidates, min_pairs=500)
        features = judge_features(project, benchmark, candidates)
        assert list(features) == [name]
        assert np.array_equal(features[name][100:300] == 4, relevant[100:300])
        assert np.isnan(np.delete(features[name], np.arange(100, 300))).all()
        other = make_world(images=40, captions=1, seed=6).benchmark()
        with pytest.raises(InputError, match="is about other images and captions"):
            judge_features(project, other, candidates)
