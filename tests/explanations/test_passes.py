"""Each command reads each run's scores once, checks its choices once, and loads its runs once."""

import sys
from collections import Counter
from functools import cache

import numpy as np
import pytest

import karat
import karat.explanations.cleaning_list as cleaning_list
import karat.explanations.failure_analysis as failure_analysis
import karat.explanations.query_values as query_values
import karat.perturbations.assessment as assessment
import karat.runs.table as table
from karat.cli.main import main
from karat.explanations import find_slices, make_cleaning_list
from karat.runs import MatrixRun
from karat.world import make_world, simulate, simulate_reader

IMAGES, CAPTIONS = 60, 3
USERS = (assessment, cleaning_list, failure_analysis, query_values)


@cache
def world():
    return make_world(images=IMAGES, captions=CAPTIONS, seed=2)


@cache
def scores(number):
    """Return scores without ties: equal ones are looked up again, query by query."""
    run = simulate(world(), 4 + number, name=f"run{number}", seed=number)
    return run.scores + 1e-6 * np.random.default_rng(number).random(run.scores.shape)


def runs(number):
    return [MatrixRun(scores(k), f"run{k}") for k in range(number)]


class Counts:
    """How often runs are read, in a pass and beside it, and choices checked and runs loaded."""

    def __init__(self, monkeypatch):
        self.passes, self.beside, self.calls = Counter(), Counter(), Counter()
        inside = []
        one_pass = table.one_pass

        def counted_pass(run, *others):
            self.passes[run.name] += 1
            inside.append(run)
            one_pass(run, *others)
            inside.pop()

        monkeypatch.setattr(table, "one_pass", counted_pass)
        for name in ("query_tops", "query_scores", "block"):
            for owner in (table.TableRun, MatrixRun):
                if name in vars(owner):
                    monkeypatch.setattr(owner, name, self._beside(vars(owner)[name], inside))
        for module in USERS:
            for name in ("check_options", "load_runs"):
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, self._called(name, getattr(module, name)))

    def _beside(self, function, inside):
        def counted(run, *others):
            self.beside[run.name, function.__name__] += not inside
            return function(run, *others)

        return counted

    def _called(self, name, function):
        def counted(*given, **options):
            self.calls[name] += 1
            return function(*given, **options)

        return counted

    def check(self, number, options=1):
        """Assert one pass for each of so many runs, and nothing beside it."""
        assert self.passes == {f"run{k}": 1 for k in range(number)}
        assert not +self.beside
        assert self.calls == Counter(check_options=options, load_runs=1)


@pytest.fixture
def counts(monkeypatch):
    world().benchmark()
    return Counts(monkeypatch)


def test_what_is_read_beside_a_pass_is_counted(counts):
    karat.load_run(runs(1)[0], world().benchmark()).top("t2i", 1, np.arange(3))
    assert not counts.passes
    assert counts.beside == {("run0", "query_tops"): 1, ("run0", "query_scores"): 1}


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize(
    "asked", [{}, {"slices": True}, {"clean": True}, {"slices": True, "clean": True, "rank": [1, 3]}]
)
def test_explaining_reads_each_run_once(counts, number, asked):
    explained = karat.explain(runs(number), world().benchmark(), truth=["original", "complete"], **asked)
    counts.check(number)
    assert len(explained.columns) == 4 * number
    assert (explained.cleaning is not None) == ("clean" in asked)
    pairs = 4 * (2 * number - 2) if "slices" in asked else 0
    assert len(explained.slice_reports) == (4 * number + pairs if "slices" in asked else 0)


@pytest.mark.parametrize("number", [1, 2, 5])
def test_a_page_reads_nothing_again(counts, tmp_path, number):
    explained = karat.explain(runs(number), world().benchmark(), slices=True, clean=True)
    explained.save(tmp_path / "page.html")
    explained.local.save(tmp_path / "local.csv")
    explained.cleaning.save(tmp_path / "cleaning.csv")
    counts.check(number)


def test_the_command_reads_each_run_once(counts, tmp_path, monkeypatch):
    files = []
    for k in range(2):
        files.append(tmp_path / f"run{k}.npy")
        np.save(files[-1], scores(k))
    karat.save_benchmark(world().benchmark(), tmp_path / "world")
    written = ("--clean", tmp_path / "c.csv", "-o", tmp_path / "page.html")
    words = ["karat", "explain", *files, "-b", tmp_path / "world", "--slices", *written]
    monkeypatch.setattr(sys, "argv", [str(word) for word in words])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    counts.check(2)


@pytest.mark.parametrize("number", [1, 2, 5])
def test_the_cleaning_list_reads_each_run_once(counts, number):
    make_cleaning_list(runs(number), world().benchmark(), concepts=False)
    counts.check(number, options=0)


def test_slices_read_a_run_once_and_a_scorecard_not_at_all(counts):
    find_slices(runs(1)[0], world().benchmark(), deals=39)
    counts.check(1)
    counts.calls.clear()
    card = karat.evaluate(runs(1), world().benchmark(), "R@1")
    counts.passes.clear()
    find_slices(card, truth="original", deals=39)
    assert not counts.passes
    assert not +counts.beside
    assert not counts.calls


def test_slices_of_two_runs_are_checked_once(counts):
    find_slices(runs(1)[0], world().benchmark(), against=runs(2)[1], deals=39)
    assert counts.passes == {"run0": 1, "run1": 1}
    assert not +counts.beside
    # Each is loaded by itself: both may have the same name.
    assert counts.calls == Counter(check_options=1, load_runs=2)


@pytest.mark.parametrize("number", [1, 2, 5])
def test_robustness_reads_the_run_before_and_each_after_once(counts, number):
    bench = world().benchmark()
    kinds = ["colour", "article", "letter-case", "full-stop", "shuffle"][:number]
    perturbed = [karat.perturb(bench, kind) for kind in kinds]
    texts = [None, *([query.new for query in each.queries] for each in perturbed)]
    before, *after = (
        MatrixRun(simulate_reader(world(), each).scores, f"run{k}") for k, each in enumerate(texts)
    )
    intervals = karat.stats.Intervals(resamples=50)
    robust = karat.robustness(before, after, bench, perturbed, "R@1", per="caption", intervals=intervals)
    assert len(robust.effects) == number
    counts.check(number + 1)


def test_rules_read_no_run(counts):
    explained = karat.explain(runs(1), world().benchmark(), direction="t2i")
    counts.check(1)
    (column,) = explained.columns
    failed = np.isin(np.arange(IMAGES * CAPTIONS), column.failures.query)
    karat.rules({"failed": failed, "odd": np.arange(len(failed)) % 2 == 1}, "failed", deals=39)
    counts.check(1)
