"""A command prints what one call in Python returns: `print(result)`, and nothing else on standard output."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")

import karat
from estimation.scenes import scene, write
from judging.publication.published import small_project
from karat.cli.main import every_command
from karat.estimation import estimate_project, next_pairs
from karat.forms import load_form
from karat.judging import AcceptanceRule, make_pool, pool_cost
from karat.judging.machine_judges import CalibrationTable
from karat.stats import Intervals
from karat.store import create_project, open_project
from karat.world import simulate_systems

FEW = Intervals(resamples=50)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A project with its world, three runs, a leaderboard, ratings and a list of pairs."""
    folder = tmp_path_factory.mktemp("results")
    small_project(folder)
    world = karat.world.make_world(images=30, captions=2, seed=5)
    for run in simulate_systems(world)[:3]:
        np.save(folder / f"{run.name}.npy", run.scores)
    (folder / "board.csv").write_text("system,R@1,RP,MedR\na,1,2,9\nb,2,1,5\nc,3,3,4\nd,4,5,2\n")
    bench = karat.load_benchmark(folder / "world")
    create_project(folder / "drawn.db", bench, load_form("pair"), source=str(folder / "world")).close()
    rows = ["image,caption,ann,bob"]
    for k in range(0, 60, 3):
        rows.append(f"{bench.images[k // 2]},{bench.captions[k]},{1 + k % 4},{1 + (k + k // 9) % 4}")
        rows.append(f"{bench.images[k // 2]},{bench.captions[(k + 7) % 60]},1,{1 + k % 2}")
    (folder / "ratings.csv").write_text("\n".join(rows) + "\n")
    (folder / "rules.csv").write_text("red,failed\n" + "1,1\n1,1\n0,0\n0,1\n" * 5)
    (folder / "dog.txt").write_text("a dog runs\na black dog\n")
    content, results = scene(0, images=6)
    for written, name in zip(write(folder, content, results), ("instances.json", "detections.json")):
        written.rename(folder / name)
    karat.perturb(bench, "full-stop").save(folder / "queries.tsv")
    return folder


@pytest.fixture
def runs(place):
    return [karat.load_run(path, name=path.stem) for path in run_files(place)]


def run_files(place):
    return sorted(place.glob("*.npy"))


@pytest.fixture
def bench(place):
    return karat.load_benchmark(place / "world")


@pytest.fixture
def prints(both):
    """Check what a command prints: the result on standard output, its notes again on standard error."""

    def check(result, *arguments, code=0):
        captured = both(*arguments, code=code)
        assert captured.out == f"{result}\n"
        assert captured.err == "".join(f"note: {note}\n" for note in result.notes)

    return check


MEASURED = ("-m", "R@1,MedR", "--truth", "original")


def test_evaluate(prints, place, bench, runs):
    card = karat.evaluate(runs, bench, ["R@1", "MedR"], truth="original")
    prints(card, "evaluate", *run_files(place), "-b", place / "world", *MEASURED)
    card = karat.evaluate(runs[:1], bench, ["R@1", "MedR"], truth="original", intervals=FEW)
    prints(card, "evaluate", run_files(place)[0], "-b", place / "world", *MEASURED,
           "--intervals", "--resamples", 50)  # fmt: skip


@pytest.mark.parametrize("detail", [False, True])
def test_compare(prints, place, bench, runs, detail):
    card = karat.evaluate(runs, bench, ["R@1", "MedR"], truth="original")
    compared = replace(karat.compare(card, resamples=99), detail=detail)
    prints(compared, "compare", *run_files(place), "-b", place / "world", *MEASURED, "--resamples", 99,
           *(["--detail"] if detail else []))  # fmt: skip


@pytest.mark.parametrize("detail", [False, True])
def test_correlate(prints, place, detail):
    table = replace(karat.board.correlate(place / "board.csv", intervals=FEW), detail=detail)
    prints(
        table,
        "board",
        "correlate",
        place / "board.csv",
        "--resamples",
        50,
        *(["--intervals"] if detail else []),
    )


def test_agree(prints, place, bench):
    path = place / "ratings.csv"
    prints(karat.agree(path, intervals=FEW), "agree", path, "--resamples", 50)
    agreed = karat.captions.agree(path, "rouge-l", bench, intervals=FEW)
    prints(agreed, "captions", "agree", path, "--score", "rouge-l", "-b", place / "world", "--resamples", 50)


def test_inspect(prints, place, bench):
    path = run_files(place)[0]
    prints(karat.inspect(path, benchmark=bench), "inspect", path, "-b", place / "world")


def test_filter(prints, place, bench):
    audit = karat.captions.filter(bench, [place / "ratings.csv"], from_=[0.25, 0.5], intervals=FEW)
    prints(audit, "captions", "filter", place / "world", "--ratings", place / "ratings.csv",
           "--from", "0.25,0.5", "--resamples", 50)  # fmt: skip


def test_quality(prints, place):
    with open_project(place / "p.db") as project:
        report = karat.project.quality(project, intervals=FEW)
    prints(report, "project", "quality", place / "p.db", "--resamples", 50)


def test_bias(prints, place, runs):
    with open_project(place / "p.db") as project:
        alone = karat.project.bias(project, intervals=FEW)
        report = karat.project.bias(project, runs, complete="complete", intervals=FEW)
    assert report.notes
    prints(alone, "project", "bias", place / "p.db", "--resamples", 50)
    files = ",".join(map(str, run_files(place)))
    prints(
        report, "project", "bias", place / "p.db", "--run", files, "--complete", "complete", "--resamples", 50
    )


def test_captions(prints, place, bench):
    path = place / "ratings.csv"
    names = ["cider", "rouge-l"]
    prints(
        karat.captions.pairs(bench, path, names),
        "captions",
        "pairs",
        place / "world",
        path,
        "-m",
        ",".join(names),
    )
    scores = karat.captions.score(["a dog runs", "a black dog"], ["dogs"], names)
    assert scores.notes
    prints(
        scores,
        "captions",
        "score",
        "--references",
        place / "dog.txt",
        "--candidate",
        "dogs",
        "-m",
        ",".join(names),
    )


@pytest.mark.parametrize("listing", [False, True])
def test_parse(prints, listing):
    parsed = replace(karat.captions.parse(["a cat on a sofa", "[b]two[/b] dogs"]), listing=listing)
    prints(
        parsed, "captions", "parse", "a cat on a sofa", "[b]two[/b] dogs", *(["--listing"] if listing else [])
    )


def test_pool(prints, place, bench, runs):
    cost = pool_cost(make_pool(runs, bench, top=2, form=load_form("pair")), load_form("pair"), overlap=2)
    prints(
        cost,
        "project",
        "pool",
        *run_files(place),
        "-b",
        place / "world",
        "--top",
        2,
        "--overlap",
        2,
        "--dry-run",
    )


def test_next_and_estimate(prints, place, runs):
    asking = ("--run", ",".join(map(str, run_files(place)[:2])), "-m", "P@3", "--direction", "t2i")
    chosen = {"measure": "P@3", "direction": "t2i"}
    with open_project(place / "drawn.db") as project:
        drawn = next_pairs(project, runs[:2], budget=40, dry_run=True, **chosen)
        estimated = estimate_project(project, runs[:2], **chosen)
    prints(drawn, "project", "next", place / "drawn.db", *asking, "--budget", 40, "--dry-run")
    prints(estimated, "project", "estimate", place / "drawn.db", *asking)


def test_lists(prints, place, bench):
    prints(karat.measures.list(), "measures")
    prints(karat.benchmarks.list(), "benchmarks")
    prints(karat.benchmarks.show(bench), "benchmarks", "show", place / "world")
    prints(CalibrationTable(()), "project", "judges", place / "p.db")


def test_publish(both, place, tmp_path):
    first = both("project", "publish", place / "p.db", "-o", tmp_path / "a", "-a", "majority")
    with open_project(place / "p.db") as project:
        published = karat.judging.publish(project, tmp_path / "b", acceptance=AcceptanceRule("majority"))
    assert first.out.replace(str(tmp_path / "a"), str(tmp_path / "b")) == f"{published}\n"
    assert published.to_json() == (Path(published.folder) / "karat-judging.json").read_text(encoding="utf-8")


def commands_with_json():
    """The names of all commands that have the option --json."""
    every = every_command().items()
    return sorted(" ".join(words) for words, command in every if "--json" in options_of(command))


def options_of(command):
    """The options of a command."""
    return {name for param in command.params for name in param.opts}


TO_STANDARD_OUTPUT = {
    "agree": ["ratings.csv", "--resamples", 50],
    "benchmarks list": [],
    "benchmarks show": ["world"],
    "captions agree": ["ratings.csv", "--score", "rouge-l", "-b", "world", "--resamples", 50],
    "captions pairs": ["world", "ratings.csv", "-m", "rouge-l"],
    "captions score": ["--references", "dog.txt", "--candidate", "dogs", "-m", "rouge-l"],
    "detections estimate": ["detections.json", "-b", "instances.json", "--draws", 2],
    "detections simulate": ["detections.json", "-b", "instances.json", "--draws", 2, "--times", 1],
    "measures list": [],
    "measures show": ["R@5"],
    "project bias": ["p.db", "--resamples", 50],
    "compare": ["a.npy", "b.npy", "-b", "world", *MEASURED, "--resamples", 99],
    "board correlate": ["board.csv", "--resamples", 50],
    "captions curve": ["a.npy", "-b", "world", "--by", "cider", "--truth", "original", "--m", "1,5"],
    "estimate": ["a.npy", "-b", "world", "--noisy", "original", "--vetted", "complete", "-m", "P@3"],
    "evaluate": ["a.npy", "-b", "world", *MEASURED],
    "explain": ["a.npy", "-b", "world", "--truth", "original"],
    "captions filter": ["world", "--ratings", "ratings.csv", "--from", "0.5", "--resamples", 50],
    "inspect": ["-b", "world", "--duplicates"],
    "project calibrate": ["p.db", "--run", "a.npy"],
    "project judges": ["p.db"],
    "project next": [
        "drawn.db",
        "--run",
        "a.npy",
        "-m",
        "P@3",
        "--direction",
        "t2i",
        "--budget",
        40,
        "--dry-run",
    ],
    "captions parse": ["a cat on a sofa"],
    "perturb": ["world", "--kind", "colour"],
    "plan": ["a.npy", "-b", "world", "--noisy", "original", "-m", "P@3", "--rho", 0.5, "--prevalence", 0.3],
    "project publish": ["p.db", "-o", "published", "-a", "majority"],
    "project quality": ["p.db", "--resamples", 50],
    "robustness": ["a.npy", "b.npy", "-b", "world", "--queries", "queries.tsv", "--resamples", 50],
    "project estimate": ["drawn.db", "--run", "a.npy", "-m", "P@3", "--direction", "t2i"],
    "project rules": ["p.db"],
    "rules": ["rules.csv", "--min-support", 1],
    "simulate": [
        *("a.npy", "-b", "world", "--noisy", "original", "--vetted", "complete", "-m", "P@3"),
        *("--times", 1, "--batch", "50%", "--method", "random+naive"),
    ],
}


@pytest.mark.parametrize("name", commands_with_json())
def test_json_goes_to_standard_output_and_nothing_else_does(both, place, tmp_path, monkeypatch, name):
    for path in place.iterdir():
        (tmp_path / path.name).symlink_to(path)
    for short, path in zip("ab", run_files(place)):
        (tmp_path / f"{short}.npy").symlink_to(path)
    monkeypatch.chdir(tmp_path)
    arguments = [*name.split(), *TO_STANDARD_OUTPUT[name]]
    page = ["-o", "page.html"] if name == "evaluate" else []
    piped = both(*arguments, "--json", "-", *page)
    json.loads(piped.out)
    assert ("wrote page.html" in piped.err) is bool(page)
    assert not Path("-").exists()
    for line in piped.err.splitlines():
        assert line.startswith(("note: ", "wrote ")), line
    if name != "project calibrate":  # which calibrates anew
        both(*arguments, "--json", "file.json", *(["--force"] if name == "project publish" else []))
        assert Path("file.json").read_text(encoding="utf-8") == piped.out
