"""Every verb that may take long says how far it is, with a total that is reached."""

import csv
from pathlib import Path

import numpy as np
import pytest

import karat
from karat._util import reporting
from karat.captions import all_pairs
from karat.duplicates import find_duplicates
from karat.estimation import estimate_project, next_pairs
from karat.explanations import find_slices, make_cleaning_list
from karat.forms import load_form
from karat.judging import (
    export_answers,
    export_tasks,
    import_answers,
    make_pool,
    make_tasks,
    publish,
    simulate_answers,
)
from karat.scores import agree
from karat.stats import Intervals
from karat.store import create_project, open_project
from karat.world import careful, make_world, save_world, simulate_systems
from told import Told


class Place:
    """A small world in files, its systems, and a project with answers about their first items."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        world = make_world(images=60, captions=2, seed=1)
        save_world(world, folder / "world")
        self.bench = karat.load_benchmark(folder / "world")
        self.runs = simulate_systems(world, seed=1)[:3]
        self.form = load_form("pair")
        self.pool = make_pool(self.runs, self.bench, top=3, form=self.form, seed=1)
        self.plan = make_tasks(self.pool, self.form, seed=1)
        people = [careful(f"ann {number}") for number in range(9)]
        self.rows = simulate_answers(world, self.plan, people, self.form, seed=1).rows()
        self.place = self.create("answered")
        with open_project(self.place) as project:
            project.answers.record(self.rows)
            self.answers = folder / "answers.jsonl"
            export_answers(project, self.answers)
        gallery = self.bench.images.gallery, self.bench.captions.gallery
        rng = np.random.default_rng(0)
        with (folder / "ratings.csv").open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["image", "caption", "ann", "bob"])
            for caption in range(100):
                image = gallery[0][rng.integers(60)]
                table.writerow([image, gallery[1][caption], *rng.integers(1, 5, 2)])

    def create(self, name: str) -> Path:
        """Return a new project with the pool and its tasks."""
        path = self.folder / f"{name}.db"
        source = str(self.folder / "world")
        with create_project(path, self.bench, self.form, source=source, name=name) as project:
            project.pools.add(self.pool)
            project.pools.add_tasks(self.plan)
        return path


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Place:
    return Place(tmp_path_factory.mktemp("place"))


def with_project(work, name=None):
    """Return what opens a project, a new one where it has a name, before it works."""

    def opened(place, folder):
        with open_project(place.create(name) if name else place.place) as project:
            return work(place, project, folder)

    return opened


def estimated(place, project, folder):
    next_pairs(project, place.runs[:2], "P@10", budget=40, direction="t2i")
    return estimate_project(project, place.runs[:2])


VERBS = {
    "evaluate": lambda place, folder: karat.evaluate(place.runs, place.bench, "R@1", intervals=True),
    "compare": lambda place, folder: karat.compare(place.runs, place.bench, "R@1", samples=999),
    "report": lambda place, folder: karat.report(
        place.runs[:2], place.bench, "R@1", output=folder / "page.html", samples=99, resamples=50
    ),
    "inspect": lambda place, folder: karat.inspect(place.runs[0], benchmark=place.bench),
    "fuse": lambda place, folder: karat.fuse(place.runs, place.bench),
    "normalise": lambda place, folder: karat.normalise(place.runs[0], how="csls"),
    "convert": lambda place, folder: karat.convert(
        np.eye(60, 8), np.eye(120, 8), target=folder / "scores.npy", kind="scores"
    ),
    "explain": lambda place, folder: karat.explain(
        place.runs[:2], place.bench, slices=True, clean=True
    ),
    "slices": lambda place, folder: find_slices(place.runs[0], place.bench),
    "clean": lambda place, folder: make_cleaning_list(place.runs[:1], place.bench),
    "rules": lambda place, folder: karat.rules(
        {name: np.arange(60) % 7 > k for k, name in enumerate("abc")}
    ),
    "perturb": lambda place, folder: karat.perturb(place.bench, "article"),
    "duplicates": lambda place, folder: find_duplicates(place.bench),
    "estimate": lambda place, folder: karat.estimate(
        place.runs[:2], place.bench, "P@10", noisy="original", vetted="complete", direction="t2i"
    ),
    "plan": lambda place, folder: karat.plan(
        place.runs[:2], place.bench, "P@10", prevalence=0.2, direction="t2i"
    ),
    "simulate": lambda place, folder: karat.simulate(
        place.runs[:1], place.bench, "P@10", noisy="original", vetted="complete", direction="t2i",
        method="random+naive", times=2, batch=0.5,
    ),
    "agree": lambda place, folder: agree(place.folder / "ratings.csv"),
    "filter": lambda place, folder: karat.captions.filter(
        place.bench, [place.folder / "ratings.csv"], relevant_from=[3], intervals=Intervals(resamples=50)
    ),
    "captions score": lambda place, folder: karat.captions.pairs(
        place.bench,
        (place.bench.images.gallery[:2], place.bench.captions.gallery[:2]),
        ["hodosh-bleu", "rouge-l"],
    ),
    "captions table": lambda place, folder: all_pairs(place.bench, "hodosh-bleu"),
    "encode": lambda place, folder: karat.encode(lambda texts: np.eye(len(texts), 9), place.bench),
    "world": lambda place, folder: save_world(make_world(images=4, captions=1, seed=2), folder / "w"),
    "pool": lambda place, folder: make_pool(place.runs, place.bench, top=3, form=place.form, seed=1),
    "tasks": lambda place, folder: make_tasks(place.pool, place.form, seed=1),
    "estimate a project": with_project(estimated, "estimated"),
    "import": with_project(
        lambda place, project, folder: import_answers(project, place.answers), "imported"
    ),
    "export": with_project(lambda place, project, folder: export_answers(project, folder / "a.csv")),
    "export tasks": with_project(lambda place, project, folder: export_tasks(project, folder / "t.jsonl")),
    "quality": with_project(lambda place, project, folder: karat.project.quality(project)),
    "bias": with_project(lambda place, project, folder: karat.project.bias(project, place.runs)),
    "publish": with_project(lambda place, project, folder: publish(project, folder / "published")),
}  # fmt: skip


@pytest.mark.parametrize("verb", list(VERBS))
def test_a_stage_with_a_total_reaches_it(verb, place, tmp_path):
    told = Told()
    with reporting(told):
        VERBS[verb](place, tmp_path)
    assert told.reached, f"{verb} told of {told.heard[:5]} and said {told.said}"
    # All stages have ended.
    assert told.open == 0


def test_a_project_tells_of_what_takes_its_time(place, tmp_path):
    told = Told()
    with open_project(place.place) as project, reporting(told):
        publish(project, tmp_path / "published")
        export_answers(project, tmp_path / "answers.jsonl")
    assert told.reached["writing files"] == 4
    assert told.reached["writing answers"] == len(place.rows)
    with open_project(place.create("told")) as project, reporting(told):
        import_answers(project, place.answers)
    assert told.reached["reading lines"] == len(place.rows)
    assert told.reached["writing rows"]


def test_results_do_not_depend_on_who_is_told(place):
    with reporting(Told()):
        told = karat.evaluate(place.runs, place.bench, intervals=True, resamples=200)
    assert told.records() == karat.evaluate(place.runs, place.bench, intervals=True, resamples=200).records()
