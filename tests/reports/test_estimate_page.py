"""Pages of estimates and of simulated vetting: what is in them, and that nothing in them can run."""

import re
from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.estimation import (
    ESTIMATORS,
    Curve,
    EstimatedColumn,
    ScoreEstimate,
    Simulated,
    Simulation,
    VettedLabels,
    make_candidates,
)
from karat.measures import parse_measure
from karat.reports import PageOptions, write_report
from karat.reports.bundle import source_hash
from karat.reports.section import in_order
from reports.hostile import IMAGE_TAG, RIGHT_TO_LEFT, SCRIPT_END, hostile_benchmark, hostile_runs
from reports.test_report import Page

EFFORT = np.array([0.05, 0.2, 0.6, 1.0])


def make_simulated(runs=2, methods=("random+naive", "meec+learned"), times=3, seed=0) -> Simulated:
    """Errors that fall with effort; the first method knows nothing after the first batch."""
    rng = np.random.default_rng(seed)
    truth = np.linspace(0.5, 0.4, runs)
    curves = []
    for k, method in enumerate(methods):
        off = 0.2 * (1 - EFFORT)[:, None] * rng.random((times, len(EFFORT), runs))
        error = np.abs(off).mean(axis=-1)
        before = np.c_[np.full(times, np.nan), error[:, 1:] + 0.01]
        estimate = truth - off
        if not k:
            error[:, 0] = estimate[:, 0] = np.nan
        curves.append(Curve(method, EFFORT, estimate, error, before))
    names = (SCRIPT_END, RIGHT_TO_LEFT, "plain")[:runs]
    return Simulated(
        parse_measure("P@10"), "t2i", names, truth, truth / 2, 900, 300, 0.9, tuple(curves), 0.22, 30, 900
    )


def make_simulation(**options) -> Simulation:
    return Simulation((make_simulated(**options),), 3, "<b>own</b>", "complete", ("a <i>note</i>",))


@pytest.fixture(scope="module")
def simulation():
    return make_simulation(methods=("random+naive", SCRIPT_END))


@pytest.fixture(scope="module")
def estimate(tmp_path_factory):
    """Estimates on hostile names and captions, with pictures; a third of the first results is vetted."""
    folder = tmp_path_factory.mktemp("pictures") / "inside"
    folder.mkdir()
    bench = hostile_benchmark(folder=folder)
    bench = replace(bench, image_folder=str(folder))
    runs = hostile_runs(bench)[:3]
    columns = [make_column(bench, runs, way) for way in ("i2t", "t2i")]
    naive = ESTIMATORS["naive"]()
    return ScoreEstimate(
        tuple(columns), naive, "population", "<b>own</b>", IMAGE_TAG, ("a <i>note</i>",), bench
    )


def make_column(bench, runs, way, noisy="<b>own</b>") -> EstimatedColumn:
    pairs = make_candidates(runs, bench, noisy, direction=way, depth=10)
    rng = np.random.default_rng(1)
    rows = np.flatnonzero(rng.random(len(pairs)) < 0.3)
    labels = VettedLabels(pairs, rows, rng.random(len(rows)) < 0.3)
    probability = labels.filled(rng.random(len(pairs)))
    values = rng.random((len(runs), len(pairs.queries)))
    score = values.mean(axis=1)
    draws = score + 0.01 * rng.standard_normal((20, len(runs)))
    nothing = np.full(len(runs), np.nan)
    return EstimatedColumn(
        parse_measure("P@10"), way, pairs, labels, probability, values, draws.std(axis=0), draws, score / 2,
        score / 3, nothing,
    )  # fmt: skip


@pytest.fixture(scope="module")
def simulation_file(simulation, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "simulation.html"
    simulation.save(path)
    return path


@pytest.fixture(scope="module")
def estimate_file(estimate, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "estimate.html"
    return write_report(estimate, path, page=PageOptions(command=f"karat estimate '{SCRIPT_END}'"))


@pytest.mark.parametrize("which", ["simulation", "estimate"])
def test_all_sections_are_there_in_order(which, request):
    page = Page(request.getfixturevalue(f"{which}_file"))
    names = [one.name for one in in_order(which)]
    assert [name for name in page.ids if name in names] == names
    # Each figure has a sentence on how to read it, a text for those who do not see it, and its numbers.
    plots = [value for name, value in page.attributes if name == "data-plot"]
    assert len(plots) == {"simulation": 6, "estimate": 3}[which]
    tables = [value for name, value in page.attributes if name == "data-table"]
    assert set(plots) <= set(tables)
    assert page.text.count("How to read it") == {"simulation": 4, "estimate": 3}[which]
    assert "this test set" in page.text or "queries like these" in page.text


@pytest.mark.parametrize("which", ["simulation", "estimate"])
def test_nothing_from_the_data_can_run(which, request):
    page = Page(request.getfixturevalue(f"{which}_file"))
    runnable = [text for kind, text in page.scripts if kind.get("type") == "module"]
    assert len(runnable) == 1
    assert len(page.scripts) == 3
    policy = next(value for _, value in page.attributes if value and value.startswith("default-src"))
    assert source_hash(runnable[0]) in policy
    assert "http" not in policy
    assert not {"iframe", "object", "embed", "link", "i", "b"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert all(not (value or "").startswith(("http:", "https:", "//")) for _, value in page.attributes)
    block = next(text for kind, text in page.scripts if kind.get("id") == "report-data")
    assert not set("<>&\u2028\u2029") & set(block)
    assert SCRIPT_END in page.text
    assert "a <i>note</i>" in page.text


def test_pictures_stay_in_their_folder(estimate_file):
    page = Page(estimate_file)
    found = page.data["strips"]
    kept = dict(zip(found["wanted"], found["thumbnails"]["inline"]))
    linked = dict(zip(found["wanted"], found["thumbnails"]["links"]))
    assert sum(map(bool, kept.values())) > 5
    # Out of the folder by its name, and by a symbolic link.
    outside = {27, 28} & set(kept)
    assert outside
    assert all(kept[k] is None and linked[k] is None for k in outside)
    assert page.tags.count("img") == len([1 for name, _ in page.attributes if name == "data-image"])
    assert not [value for name, value in page.attributes if name == "src"]


def test_strips_say_what_is_vetted_and_what_is_guessed(estimate, estimate_file):
    page = Page(estimate_file)
    kinds = {value for name, value in page.attributes if name == "class" and value.startswith("edge ")}
    assert kinds == {f"edge {how} {what}" for how in ("vetted", "guessed") for what in ("yes", "no")}
    groups = page.data["strips"]["groups"]
    column = estimate.columns[1]
    [group] = [one for one in groups if one["run"] == "plain" and one["direction"] == "text → image"]
    for strip in group["queries"]:
        places = [one["place"] for one in strip["results"]]
        assert places == list(range(1, 11))
        query = next(
            k
            for k, asked in enumerate(column.candidates.queries)
            if estimate.benchmark.texts[asked][:160] == strip["query"]["text"][:160]
        )
        order = column.candidates.rankings["plain"]
        begin = order.ranked.ptr[query]
        rows = order.row[begin : begin + 10]
        assert [one["image"] for one in strip["results"]] == column.candidates.item[rows].tolist()
        for row, one in zip(rows, strip["results"]):
            chance = column.probability[row]
            assert one["kind"].startswith("vetted") == bool(column.labels.vetted[row])
            assert one["kind"].endswith("yes") == (chance >= 0.5)
            if not column.labels.vetted[row]:
                assert one["says"] == f"p = {chance:.2f}"
    assert [strip["why"] for strip in group["queries"]].count("least certain") == 3


def test_captions_without_pictures_are_words(estimate, tmp_path):
    plain = replace(estimate, benchmark=replace(estimate.benchmark, image_paths=None))
    page = Page(write_report(plain, tmp_path / "words.html"))
    assert "img" not in page.tags
    assert "<img src=x onerror=alert(3)>.png" in page.text
    nothing = Page(write_report(replace(estimate, benchmark=None), tmp_path / "bare.html"))
    assert "caption 3" in nothing.text


def test_one_run_has_no_gaps(estimate, tmp_path):
    page = Page(write_report(make_simulation(runs=1), tmp_path / "one.html"))
    assert "gaps" not in page.ids
    column = estimate.columns[0]
    pairs = replace(column.candidates, rankings={"plain": column.candidates.rankings["plain"]})
    alone = replace(
        column, candidates=pairs, draws=column.draws[:, :1],
        **{k: getattr(column, k)[:1] for k in ("values", "spread", "naive", "sample_mean", "vetted_only")},
    )  # fmt: skip
    page = Page(write_report(replace(estimate, columns=(alone,)), tmp_path / "alone.html"))
    assert "differences" not in page.ids


def test_missing_values(estimate, tmp_path):
    undefined = make_simulated()
    for curve in undefined.curves:
        curve.error[:] = curve.estimate[:] = np.nan
    simulation = Simulation((undefined,), 3, "noisy", "true")
    page = Page(write_report(simulation, tmp_path / "nothing.html"))
    assert "no method has an estimate yet" in page.text
    assert page.data["errors"]["views"][0]["lines"][0]["values"] == [None] * 4
    column = estimate.columns[0]
    unknown = replace(
        column, values=column.values * np.nan, spread=np.full(3, np.nan), draws=column.draws * np.nan,
        probability=column.labels.filled(np.full(len(column.candidates), np.nan)),
    )  # fmt: skip
    page = Page(write_report(replace(estimate, columns=(unknown,)), tmp_path / "unknown.html"))
    assert "has no estimate of" in page.text
    assert "nothing is guessed" not in page.text
    assert "? unknown" in page.text


def test_numbers_are_those_of_the_result(simulation, simulation_file):
    page = Page(simulation_file)
    [result] = simulation.results
    [view] = page.data["errors"]["views"]
    assert view["noisy"] == 22
    last = view["lines"][1]
    np.testing.assert_allclose(last["values"], 100 * result.curves[1].error.mean(axis=0), atol=1e-3)
    apart = 100 * result.curves[1].error.std(axis=0, ddof=1)
    np.testing.assert_allclose(np.subtract(last["high"], last["values"]), apart, atol=2e-3)
    assert last["labels"] == [15, 60, 180, 300]
    # An estimate that is missing is no point, and a dash in the table.
    assert view["lines"][0]["values"][0] is None
    assert view["table"]["rows"][0][1] == "—"
    squared = 1e4 * ((result.curves[1].estimate[..., 0] - result.curves[1].estimate[..., 1] - 0.1) ** 2).mean(
        0
    )
    shown = page.data["gaps"]["views"][0]["squared"]["lines"][1]["values"]
    np.testing.assert_allclose(shown, squared, atol=1e-3)
    bars = {bar["name"]: bar["count"] for bar in page.data["effort"]["views"][0]["bars"]}
    assert bars == {"5% of the effort": 15, "20% of the effort": 60, "100% of the effort": 300,
                    "all candidates": 900, "all pairs": 900}  # fmt: skip


def test_how_many_were_enough():
    result = make_simulated(runs=1, methods=("a+b",))
    error = np.array([[0.03, 0.008, 0.015, 0.004]] * 3)
    curve = replace(result.curves[0], estimate=(result.truth + error[..., None]))
    assert result.enough(curve, 0.02) == 0.2
    # Close for a moment is not enough: from there on.
    assert result.enough(curve, 0.01) == 1.0
    assert result.enough(curve, 0.001) is None
    assert result.enough(curve, 0.1) == 0.05


def test_tables_fit_a_terminal():
    names = ("random+naive", "mcm+naive", "random+learned", "mcm+learned", "meec+learned")
    result = make_simulated(runs=2, methods=names)
    effort = np.array([0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0])
    wide = [
        replace(c, effort=effort, **{k: np.repeat(getattr(c, k)[:, :1], 7, axis=1) + 0.2
                for k in ("estimate", "error", "error_before")}) for c in result.curves
    ]  # fmt: skip
    result = replace(result, runs=("seer", "learner"), looked_at=123_456, curves=tuple(wide))
    text = str(Simulation((result,), 50, "original", "complete"))
    assert max(map(len, text.splitlines())) <= 100
    assert "this test set: the score that fully vetted labels would give" in text


def test_estimates_in_text_say_what_is_estimated(estimate):
    text = str(estimate)
    assert text.startswith("Estimated for queries like these: ")
    assert "noisy label" in text
    assert " ± " in text


def test_figures_for_notebooks(simulation, estimate):
    for figure, traces in (
        # Each method has a line, and a band; the first has no band where nothing is known.
        (simulation.plot(), 5),
        (simulation.plot(show="wrong-order"), 4),
        (simulation.plot("P@10", direction="t2i", show="score"), 12),
        (estimate.plot(direction="t2i"), 3),
    ):
        assert len(figure.data) == traces
        assert not re.search(r"<script|<img", figure.to_json())
    assert [round(v, 3) for v in simulation.plot().data[3].y] == pytest.approx(
        (100 * simulation.results[0].curves[1].error.mean(axis=0)).round(3)
    )


def test_everything_vetted_guesses_nothing(tmp_path):
    from karat.world import make_world, simulate_systems

    world = make_world(images=20, captions=1, seed=1)
    done = karat.estimate(
        simulate_systems(world)[:1], world.benchmark(), "P@5", noisy="original", vetted="complete",
        estimator="naive", direction="t2i",
    )  # fmt: skip
    page = Page(write_report(done, tmp_path / "full.html"))
    assert "nothing is guessed" in page.text
    assert done.benchmark is not None
    assert (tmp_path / "full.html").stat().st_size < 3_000_000


def test_page_of_detections_speaks_of_instances(tmp_path):
    found = replace(
        make_simulated(), measure=parse_measure("iAP"), direction=None, unit="instance", per="category"
    )
    Simulation((found,), 3, "boxes", "masks").save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    text = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    for words in (
        "a way to choose instances", "the mean over categories of how", "which instances happened",
        "the masks of all instances would give", "random over categories", "Error per category",
        "per category against the share of vetted instances",
    ):  # fmt: skip
        assert words in text
    assert "vetted pairs" not in text
