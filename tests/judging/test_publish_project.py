"""Publishing from a real project: rejected hand-ins, known pairs, marks."""

import json

import polars as pl
import pytest

import karat
from karat.errors import InputError
from karat.judging import open_project
from karat.judging.publishing.publish import publish
from karat.world import make_world
from tests.judging.published import small_project


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return small_project(tmp_path_factory.mktemp("project"))


def test_a_project_is_published(place, tmp_path):
    with open_project(place) as project:
        found = publish(project, tmp_path / "out")
        answers, slots = project.answers.read(), project.queue.slots()
    table = pl.read_parquet(tmp_path / "out" / "answers.parquet")
    rejected = answers.slot == slots.slot[0]
    assert rejected.any()
    assert (~table["used"]).to_list() == rejected.tolist()
    assert found.notes[0].endswith("of rejected hand-ins are left out")
    truth = karat.load_benchmark(tmp_path / "out").truth("corrected")
    assert 4 not in truth.queries["t2i"]
    data = json.loads((tmp_path / "out" / "karat-judging.json").read_text(encoding="utf-8"))
    assert data["counts"]["hand_ins"] == {"approve": 0, "reject": 1}
    assert data["choices"]["control"] is None
    assert data["project"] == "try"
    # Careful people say "yes" where every statement holds, "partially" where most do.
    pairs = found.correction.answered.judgments.pairs()
    world = make_world(images=30, captions=2, seed=5)
    right = (world.pair_relevance(pairs.image, pairs.caption) > 0) == (pairs.grade == 1)
    assert right.mean() > 0.95


def test_known_pairs_are_no_verdicts(place, tmp_path):
    with open_project(place) as project:
        plan, pool = project.pools.plan(), project.pools.read()
        found = publish(project, tmp_path / "out")
    verdicts = found.correction.verdicts
    pooled = set(zip(pool.image.tolist(), pool.caption.tolist()))
    assert set(zip(verdicts.image.tolist(), verdicts.caption.tolist())) <= pooled
    assert found.facts.counts["gold_items"] == (plan.gold >= 0).sum()


def test_nobody_was_approved_yet(place, tmp_path):
    with open_project(place) as project, pytest.raises(InputError, match="no answer counts"):
        publish(project, tmp_path / "out", approved_only=True)
