"""Instances to vet: which are pooled, their gold, and what becomes of the answers."""

import json

import numpy as np
import pytest

pytest.importorskip("pycocotools", reason="needs masks: pip install 'karat[masks]'")
pytest.importorskip("sqlalchemy", reason="needs the store: pip install 'karat[web]'")

from cli.conftest import both, command  # noqa: F401
from karat.benchmarks import load_benchmark
from karat.errors import InputError
from karat.forms import GOLD_NO, GOLD_YES, AnswerRows, form_from_data, form_to_data, load_form
from karat.judging import export_approvals, export_tasks, make_instance_pool, make_tasks, project_approvals
from karat.runs import load_detections
from karat.store import open_project
from made_instances import write_instances


def change(path, edit):
    """Edit a json file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    edit(content)
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def made(tmp_path):
    return write_instances(tmp_path)


def test_pool_has_masks_without_an_answer(made, tmp_path):
    def edit(content):
        entries = content["annotations"]
        entries[0]["iscrowd"] = 1
        del entries[1]["segmentation"]

    change(made[0], edit)
    known = tmp_path / "known.csv"
    known.write_text("annotation,approved\n103,1\n105,0\n", encoding="utf-8")
    bench = load_benchmark("instances", file=made[0], approved=known)
    pool = make_instance_pool(bench, form=load_form("mask"))
    assert pool.caption.tolist() == [2, 4, 6, 7, 8, 9, 10, 11]
    assert pool.image.tolist() == bench.instances.image[pool.caption].tolist()
    assert pool.judged == 2
    right = pool.gold_caption[pool.gold_right == GOLD_YES]
    assert set(right.tolist()) == {3}, "a gold positive is a mask that is known to be right"
    sampled = make_instance_pool(bench, sample=5, seed=2)
    assert len(sampled) == 5
    assert np.isin(sampled.caption, pool.caption).all()
    assert bench.texts[1:3] == ["cat", "dog"]


def test_detections_choose_what_they_overlap(made):
    bench = load_benchmark("instances", file=made[0])
    change(made[1], lambda content: content.__delitem__(slice(3, None)))
    run = load_detections(made[1], bench.instances)
    pool = make_instance_pool(bench, [run])
    assert (pool.caption.tolist(), pool.filtered) == ([0, 1, 2], 9)


def test_gold_negatives_show_an_object_where_none_of_its_kind_is(made):
    bench = load_benchmark("instances", file=made[0])
    pool = make_instance_pool(bench, form=load_form("mask"))
    image, caption = pool.gold_image, pool.gold_caption
    assert set(pool.gold_right.tolist()) == {GOLD_NO}
    assert (image % 2 != bench.instances.category[caption]).all(), "every second image shows cats alone"
    change(made[0], lambda content: content["images"][1].update(width=161))
    change(made[0], lambda content: [one.pop("segmentation") for one in content["annotations"][2:4]])
    other = make_instance_pool(load_benchmark("instances", file=made[0]), form=load_form("mask"))
    assert not np.isin(1, other.gold_image)
    assert not np.isin([2, 3], other.gold_caption).any()
    plan = make_tasks(pool, load_form("mask"), task_size=3, gold=3, benchmark=bench)
    rows = plan.gold != -1
    assert (plan.gold[rows] == GOLD_NO).all(), "no task takes a mask that nobody vetted for gold"


def test_verdicts_are_approvals(made, tmp_path, command):  # noqa: F811
    instances, detections, pictures = made
    place = tmp_path / "p.db"
    known = tmp_path / "known.csv"
    known.write_text("annotation,approved\n104,1\n", encoding="utf-8")
    settings = ("--set", f"images={pictures}", "--set", f"approved={known}")
    pooled = command("detections", "pool", "-b", instances, *settings, "--gold", 0, "-o", place)
    assert "Instances with masks to vet: 11.\nAlready answered: 1." in pooled
    with open_project(place) as project:
        bench = project.benchmark()
        image, caption = bench.instances.image[[0, 1, 2]], np.array([0, 1, 2])
        codes = ["approve", "reject", "unsure"]
        project.answers.record(AnswerRows([-1] * 3, image, caption, ["ann"] * 3, codes))
        assert project_approvals(project) == {104: True, 100: True, 101: False, 102: False}
        assert export_approvals(project, tmp_path / "a.csv").number == 4
        with pytest.raises(InputError, match="other tools do not show"):
            export_tasks(project, tmp_path / "tasks.csv")
    assert (tmp_path / "a.csv").read_text() == "annotation,approved\n104,1\n100,1\n101,0\n102,0\n"
    assert "3 pairs to judge" in command("project", "quality", place)
    assert "karat estimate" in command("project", "publish", place, "-o", tmp_path / "published", code=2)
    scored = ["detections", "estimate", detections, "-b", instances, "--estimator", "direct"]
    by_project, by_file = (command(*scored, "--vetted", vetted) for vetted in (place, tmp_path / "a.csv"))
    assert by_project == by_file
    assert "2 of 12 instances" in by_file

    # Masks that were drawn again are not those that annotators saw.
    other = tmp_path / "other.json"
    other.write_text(instances.read_text(), encoding="utf-8")
    change(other, lambda content: content["annotations"][5].pop("segmentation"))
    scored[4] = other
    assert "annotators saw other masks" in command(*scored, "--vetted", place, code=2)
    change(instances, lambda content: content["annotations"][5].pop("segmentation"))
    with open_project(place) as project, pytest.raises(InputError, match="has changed since annotators saw"):
        project.benchmark()


def test_what_is_refused(made, tmp_path, command):  # noqa: F811
    place = ("-o", tmp_path / "p.db")
    assert "name their folder" in command("detections", "pool", "-b", made[0], *place, code=2)
    images = ("--set", f"images={made[2]}")
    assert "shows no masks" in command(
        "detections", "pool", "-b", made[0], *images, "--form", "pair", *place, code=2
    )
    refused = command("project", "pool", "x.npy", "-b", "coco", "--form", "mask", *place, code=2)
    assert "shows masks" in refused
    (made[2] / "3.png").unlink()
    assert "has no image 3.png" in command("detections", "pool", "-b", made[0], *images, *place, code=2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"own_image": True}, "shows several captions or images"),
        ({"answers": {"key": "o"}}, "which shows and hides regions"),
    ],
)
def test_forms_with_regions(changes, message):
    data = form_to_data(load_form("mask"))
    if "answers" in changes:
        data["answers"][0].update(changes.pop("answers"))
    with pytest.raises(InputError, match=message):
        form_from_data({**data, **changes})
