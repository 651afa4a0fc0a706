"""``karat detections`` as a user meets it."""

import json

import pytest

import karat
from estimation.scenes import scene, write


@pytest.fixture(scope="module")
def detected(tmp_path_factory):
    """Instances and detections in COCO's form, and answers about some masks."""
    place = tmp_path_factory.mktemp("detected")
    content, results = scene(0, images=6)
    instances, detections = write(place, content, results)
    answers = place / "answers.csv"
    real = [one["id"] for one in content["annotations"] if not one["iscrowd"]]
    answers.write_text("annotation,approved\n" + "".join(f"{key},{n % 2}\n" for n, key in enumerate(real)))
    return instances, detections, answers


def test_estimate(both, detected, tmp_path):
    instances, detections, answers = detected
    options = ("-b", instances, "--vetted", answers, "--draws", 8, "--name", "run")
    out = both("detections", "estimate", detections, *options, "--json", tmp_path / "e.json")
    found = karat.detections.estimate(detections, instances, vetted=answers, draws=8, name="run")
    assert out.out == f"{found}\n"
    assert json.loads((tmp_path / "e.json").read_text()) == found.records()
    both("detections", "estimate", detections, *options, "-o", tmp_path / "page.html")
    assert "vetted only" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_simulate(both, detected, tmp_path):
    instances, detections, _ = detected
    page, methods = tmp_path / "page.html", "random+naive,meec+direct"
    options = ("-b", instances, "--draws", 8, "--name", "run", "--method", methods, "--times", 2, "-o", page)
    out = both("detections", "simulate", detections, *options)
    assert "instances to vet: 100% of the effort" in page.read_text(encoding="utf-8")
    done = karat.detections.simulate(detections, instances, method=methods, times=2, draws=8, name="run")
    assert str(done).split("\nnote")[0] in out.out


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("estimate", ("--vetted", "none.csv"), "none.csv: there is no such file"),
        ("estimate", ("--estimator", "nope"), "unknown estimator 'nope'"),
        ("estimate", ("-o", "e.xyz"), "'.xyz'"),
        ("simulate", ("--method", "nope"), "'nope'"),
        ("simulate", ("--budget", "x"), "--budget is 'x'"),
        ("simulate", ("--direction", "i2t"), "No such option: --direction"),
    ],
)
def test_mistakes(command, detected, name, options, message):
    instances, detections, _ = detected
    assert message in command("detections", name, detections, "-b", instances, *options, code=2)
