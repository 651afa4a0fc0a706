"""Every result of karat: it prints its parts and notes, is plain data, and writes itself to files."""

import importlib
import json
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat
from estimation.projects import answer, new_project
from estimation.scenes import scene, write
from judging.publication.published import small_evidence, small_project
from karat._util import PAGES, Layout, Result, list_settings
from karat._util.tables import text_of
from karat.baselines import FitSummary
from karat.benchmarks import BenchmarkSummary, Pairs, build
from karat.errors import InputError
from karat.estimation import (
    DESIGNS,
    VettedLabels,
    estimate_project,
    interval_estimates,
    make_candidates,
    next_pairs,
    parse_name,
    truth_labels,
)
from karat.explanations import Marks, find_concepts, find_slices, make_cleaning_list, summarise_marks
from karat.forms import load_form
from karat.judging import (
    AcceptanceRule,
    JudgedPool,
    answer_quality,
    make_pool,
    measure_bias,
    pool_cost,
    publish,
)
from karat.judging.machine_judges import CalibrationTable, Reply, calibrate
from karat.models.picture_search import Hit, SearchResult
from karat.scores import Leaderboard, Ratings, score_agreement
from karat.stats import Intervals
from karat.training.trained_model import TrainingSummary
from karat.world import make_world, simulate, simulate_systems

from house import MODULES
from latex import read_latex

HOSTILE = '<script>alert("1")</script>'
FEW = Intervals(resamples=50)
WORLD = make_world(images=12, captions=2, seed=2)


def runs():
    first, second, *_ = simulate_systems(WORLD)
    return [karat.load_run(first.scores, name=HOSTILE), karat.load_run(second.scores, name="b|c & _d")]


def scorecard(folder):
    card = karat.evaluate(runs(), WORLD.benchmark(), ["R@1", "MedR"], truth="original", intervals=FEW)
    return card.with_notes([f"named {HOSTILE}"])


def detected(folder):
    from karat.estimation import estimate_detections

    instances, detections = write(folder, *scene(0))
    return estimate_detections(detections, instances, vetted={10: True}, draws=4, name=HOSTILE)


def comparison(folder):
    return karat.compare(scorecard(folder), intervals=FEW, samples=100)


def leaderboard(folder=None):
    values = np.array([[0.2, 0.3, 9.0], [0.3, np.nan, 5], [0.4, 0.4, 4], [0.5, 0.6, 2]])
    return Leaderboard((HOSTILE, "b", "c", "d"), ("R@1", "RP", "MedR"), values, ("one is missing",))


def ratings():
    table = np.array([[1.0, 1], [1, 2], [2, 2], [3, 4], [4, 4], [4, 3]])
    return Ratings(list("xxyyxy"), list("123412"), (HOSTILE, "bob"), table, "people", notes=("six pairs",))


def captioned():
    texts = ["a black dog runs", f"a dog {HOSTILE}", "two men sit on a bench", "men on a bench"]
    return build(HOSTILE, ["x", "y"], ["1", "2", "3", "4"], list("xxyy"), texts, where="tiny", about=HOSTILE)


def calibration(folder=None):
    said = small_evidence().answers
    pairs = sorted({*zip(said.image.tolist(), said.caption.tolist())})
    replies = [Reply(image, caption, ("no", "yes")[k % 2]) for k, (image, caption) in enumerate(pairs)]
    return calibrate(replies, said, load_form("pair"), judge=HOSTILE, resamples=20)


def bias(folder):
    named = [replace_name(run, name) for run, name in zip(simulate_systems(WORLD)[:3], (HOSTILE, "b", "c"))]
    pool = make_pool(named, WORLD.benchmark(), top=2)
    judged = Pairs(pool.image, pool.caption, 1.0 * WORLD.pair_relevance(pool.image, pool.caption))
    return measure_bias(
        JudgedPool(pool, judged, WORLD.benchmark()),
        named,
        measure=["R@1"],
        complete="complete",
        intervals=FEW,
    )


def slices(folder=None):
    world = make_world(images=30, captions=2, seed=2)
    weak = np.arange(60) < 30
    run = simulate(world, 0.0, instance=9, weak=weak, name=HOSTILE)
    own = {HOSTILE: weak}
    found = find_slices(run, world.benchmark(), slices=own, kinds="colours", adjust=(), deals=39)
    return found.with_notes([f"named {HOSTILE}"])


def misread():
    rng = np.random.default_rng(0)
    color = rng.random(60) < 0.5
    return {HOSTILE: color, "size": color ^ (rng.random(60) < 0.1)}


def replace_name(run, name):
    return karat.load_run(run.scores, name=name)


def judged_quality(folder):
    evidence = small_evidence()
    names = (HOSTILE, *evidence.answers.annotators[1:])
    answers = replace(evidence.answers, annotators=names)
    return answer_quality(answers, evidence.form, evidence.pool, intervals=FEW)


def published(folder):
    with karat.store.open_project(small_project(folder)) as project:
        return publish(project, folder / "out", acceptance=AcceptanceRule("majority"))


def pooled(folder):
    """Return what was pooled for a new project."""
    WORLD.save(folder / "world", pictures=False)
    return karat.project.pool(runs(), folder / "world", folder / "pooled.db", top=2, gold_depth=5)


def exported(folder):
    """Return what an export of answers wrote."""
    return karat.project.export(small_project(folder), folder / f"{HOSTILE[1:7]}.csv", what="answers")


def imported(folder):
    """Return what an import read into a project."""
    place = pooled(folder).where
    karat.project.tasks(place)
    (folder / "in.csv").write_text("task,item,worker,answer\n0,1,ann,yes\n")
    return karat.project.import_(place, folder / "in.csv")


def judged_pairs(folder):
    """Return what a run answered in a project, after it was compared with people."""
    place = small_project(folder)
    world = make_world(images=30, captions=2, seed=5)
    run = replace_name(simulate_systems(world)[0], HOSTILE)
    karat.project.calibrate(place, run)
    return karat.project.judge(place, run, all=True, min_pairs=1, min_kappa=-1)


def restored(folder):
    """Return what a copy of a project was put in the place of."""
    copy = karat.project.backup(small_project(folder), folder / "copy.db").path
    return karat.project.restore(copy, folder / "p.db", force=True)


def located(folder):
    """Return where the benchmark of a project is; the folder has a hostile name."""
    project = small_project(folder)
    moved = (folder / "world").rename(folder / HOSTILE.replace("/", "|"))
    return karat.project.locate(project, moved)


def drawn_intervals():
    """Return intervals from half of the candidates, drawn at random."""
    candidates = make_candidates(runs(), WORLD.benchmark(), "original", direction="t2i", depth=3)
    p3, rng = karat.parse_measure("P@3"), np.random.default_rng(0)
    rows = np.flatnonzero(candidates.matter(p3))
    none = VettedLabels.none(candidates)
    batch = parse_name("uniform", DESIGNS).draw(
        none, 0.2 + 0.5 * candidates.noisy, p3, rows, len(rows) // 2, rng
    )
    truth = truth_labels(candidates, WORLD.benchmark().truth("complete"))
    return interval_estimates(VettedLabels(candidates, batch.rows, truth[batch.rows] > 0), [batch], p3)


def next_of_project(folder):
    """Return the pairs that a project draws first."""
    WORLD.save(folder / "world", pictures=False)
    with new_project(folder) as project:
        return next_pairs(project, runs(), "P@3", budget=60, direction="t2i")


def project_estimate(folder):
    """Return what the answers about the first pairs prove."""
    next_of_project(folder)
    with karat.store.open_project(folder / "p.db") as project:
        answer(project, WORLD)
        return estimate_project(project, runs())


def explained(folder=None):
    return karat.explain(runs(), WORLD.benchmark(), direction="t2i").with_notes([HOSTILE])


def robustness(folder=None):
    bench = WORLD.benchmark()
    first, second = runs()[:2]
    queries = karat.perturb(bench, "full-stop")
    return karat.robustness(first, second, bench, queries, "R@1", intervals=FEW)


MADE = {
    "Scorecard": scorecard,
    "Comparison": comparison,
    "Leaderboard": leaderboard,
    "CorrelationTable": lambda folder: karat.board.correlate(leaderboard(), intervals=FEW),
    "Agreement": lambda folder: karat.agree(ratings(), intervals=FEW),
    "ScoreAgreement": lambda folder: score_agreement(ratings(), {HOSTILE: range(6)}, intervals=FEW),
    "Inspection": lambda folder: karat.inspect(np.full((12, 24), 0.5), benchmark=WORLD.benchmark()),
    "DuplicateReport": lambda folder: karat.find_duplicates(captioned(), near_words=0.1),
    "FilterAudit": lambda folder: karat.captions.filter(captioned(), [ratings()], intervals=FEW),
    "PairScores": lambda folder: karat.captions.pairs(
        captioned(), (["x", "y"], ["4", "1"]), ["cider", "rouge-l"]
    ),
    "CandidateScores": lambda folder: karat.captions.score(
        ["a dog"], [HOSTILE, "dogs run"], ["cider", "bleu-1"]
    ),
    "ParsedCaptions": lambda folder: karat.captions.parse([f"a dog on {HOSTILE}", "..."]),
    "SliceReport": slices,
    "RuleReport": lambda folder: karat.rules(misread(), deals=39).with_notes(["one note"]),
    "MarkSummary": lambda folder: summarise_marks(Marks(misread(), np.full(60, 7))),
    "PerturbedCaptions": lambda folder: karat.perturb(captioned(), "full-stop"),
    "Robustness": robustness,
    "SearchResult": lambda folder: SearchResult(HOSTILE, (Hit(HOSTILE, "a.png", 0.5),), (HOSTILE,)),
    "BiasReport": bias,
    "QualityReport": judged_quality,
    "Calibration": calibration,
    "CalibrationTable": lambda folder: CalibrationTable((calibration(), calibration())),
    "PooledPairs": pooled,
    "PooledTasks": lambda folder: karat.project.tasks(pooled(folder).where),
    "Exported": exported,
    "Imported": imported,
    "JudgedPairs": judged_pairs,
    "BenchmarkPlace": located,
    "Backup": lambda folder: karat.project.backup(small_project(folder), folder / "copy.db"),
    "Restored": restored,
    "Cost": lambda folder: pool_cost(make_pool(runs(), WORLD.benchmark(), top=2), load_form("pair")),
    "Published": published,
    "BenchmarkList": lambda folder: replace(
        karat.benchmarks.list(), added={HOSTILE: {"source": "folder", "options": {"folder": HOSTILE}}}
    ),
    "BenchmarkSummary": lambda folder: BenchmarkSummary(captioned()),
    "SettingList": lambda folder: list_settings(),
    "MeasureList": lambda folder: karat.measures.list(),
    "FitSummary": lambda folder: FitSummary("BoW5", HOSTILE, 12, 2, (0.5, 0.25), 1, folder),
    "TrainingSummary": lambda folder: TrainingSummary(({"epoch": 1, "RSUM": 2.5},), "RSUM", True, folder),
    "MeasureCard": lambda folder: karat.measures.show("R@5"),
    "SimilarityTable": lambda folder: karat.captions.table(captioned(), "rouge-l", output=folder / "t.npy"),
    "FrequencyFile": lambda folder: karat.captions.corpus(captioned()),
    "WorldSummary": lambda folder: karat.world.make(4, 2, output=folder / "w", no_images=True).summary(),
    "ScoreEstimate": lambda folder: karat.estimate(
        runs(), WORLD.benchmark(), "P@3", noisy="original", vetted="complete", direction="t2i"
    ),
    "DetectionEstimate": detected,
    "IntervalEstimates": lambda folder: drawn_intervals(),
    "NextPairs": next_of_project,
    "ProjectEstimate": project_estimate,
    "Plan": lambda folder: karat.plan(
        runs(), WORLD.benchmark(), "P@3", noisy="original", direction="t2i", rho=0.5, prevalence=0.3
    ),
    "Explanation": explained,
    "LocalFailures": lambda folder: explained().local,
    "CleaningList": lambda folder: make_cleaning_list(runs(), WORLD.benchmark()),
    "Concepts": lambda folder: find_concepts(WORLD.benchmark()),
    "Simulation": lambda folder: karat.simulate(
        runs(),
        WORLD.benchmark(),
        "P@3",
        noisy="original",
        vetted="complete",
        direction="t2i",
        method="random+naive",
        times=2,
        batch=0.5,
    ),
}


def kinds(base=Result):
    """Yield every kind of result that karat has."""
    for kind in base.__subclasses__():
        # Not one that a test or an example in a docstring defines, nor one that shows what its base shows.
        defined = kind.__module__ in MODULES and hasattr(sys.modules[kind.__module__], kind.__name__)
        if defined and "parts" in vars(kind):
            yield kind
        yield from kinds(kind)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return one real object of each kind, made when it is first asked for."""
    known = {}

    def get(name):
        if name not in known:
            known[name] = MADE[name](tmp_path_factory.mktemp(name))
        return known[name]

    return get


def test_every_kind_of_result_is_tried():
    for module in MODULES:
        if "Result)" in MODULES[module].read_text(encoding="utf-8"):
            importlib.import_module(module)
    assert {kind.__name__ for kind in kinds()} == set(MADE)


@pytest.fixture(params=MADE)
def result(request, results):
    made = results(request.param)
    assert type(made).__name__ == request.param
    return made


def test_it_prints_its_parts_and_then_its_notes(result):
    parts = [part if isinstance(part, str) else text_of(part) for part in result.parts()]
    notes = [f"note: {note}" for note in result.notes]
    assert str(result) == "\n".join(["\n\n".join(parts), *notes])
    assert all(parts)
    assert result.tables() == [part for part in result.parts() if isinstance(part, Layout)]
    for table in result.tables():
        assert all(len(row) == len(table.head) for row in table.rows)
    # One line where a result stands in a list or a debugger.
    assert "\n" not in repr(result)[:80]


def test_records_are_flat_plain_data(result):
    records = result.records()
    assert records
    assert json.loads(json.dumps(records, allow_nan=False)) == records
    for record in records:
        assert all(value is None or isinstance(value, str | int | float) for value in record.values()), record
    json.loads(result.to_json())


def test_it_saves_itself_in_each_of_its_formats(result, tmp_path):
    for suffix in result.formats:
        path = tmp_path / f"result{suffix}"
        result.save(path)
        assert path.stat().st_size
        if suffix == ".json":
            assert path.read_text(encoding="utf-8") == result.to_json()
        elif suffix == ".md":
            assert path.read_text(encoding="utf-8") == result.to_markdown()
        elif suffix == ".tex":
            written = path.read_text(encoding="utf-8")
            assert len(read_latex(written)) == len(result.tables()) > 0
            assert all(f"% note: {note}" in written for note in result.notes)
        elif suffix in (".csv", ".parquet"):
            table = (pl.read_csv if suffix == ".csv" else pl.read_parquet)(path)
            names = dict.fromkeys(name for record in result.records() for name in record)
            assert table.columns == list(names)
            assert len(table) == len(result.records())
    back = pl.read_parquet(tmp_path / "result.parquet").to_dicts()
    for record, row in zip(result.records(), back):
        assert {name: row[name] for name in record} == record
    assert sorted(path.suffix for path in tmp_path.iterdir()) == sorted(result.formats)


def test_what_comes_from_users_is_escaped(result, tmp_path):
    shown = result._repr_html_()
    assert "<script" not in shown
    assert HOSTILE not in shown
    # Where the text shows the name, the page shows it too.
    assert (HOSTILE in str(result)) <= ("&lt;script&gt;" in shown)
    result.save(tmp_path / "page.html")
    assert HOSTILE not in (tmp_path / "page.html").read_text(encoding="utf-8")


class Texts(HTMLParser):
    """The texts of an HTML fragment: paragraphs, and tables as rows of cells."""

    def __init__(self, html):
        super().__init__()
        self.paragraphs, self.tables, self.into = [], [], None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        assert tag in {"div", "p", "table", "thead", "tbody", "tr", "th", "td", "b", "span"}
        assert {name for name, _ in attributes} <= {"style", "class", "scope", "aria-hidden"}
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("p", "th", "td"):
            self.into = self.paragraphs if tag == "p" else self.tables[-1][-1]
            self.into.append("")

    def handle_endtag(self, tag):
        if tag in ("p", "th", "td"):
            self.into = None

    def handle_data(self, data):
        if self.into is None:
            assert not data.strip()
        else:
            self.into[-1] += data


def test_a_notebook_shows_the_same_strings(result):
    read = Texts(result._repr_html_())
    tables = result.tables()
    assert len(read.tables) == len(tables)
    for table, rows in zip(tables, read.tables):
        printed = [*([table.head] if any(table.head) else []), *table.rows]
        for row, cells in zip(rows, printed):
            assert row[: len(cells)] == cells
            # A bar has no text.
            assert not any(row[len(cells) :])
        assert len(rows) == len(printed) or f"of {len(table.rows)} rows" in "".join(read.paragraphs)
    said = "\n".join(read.paragraphs)
    for part in result.parts():
        assert (part if isinstance(part, str) else part.title) in said
    assert all(f"note: {note}" in read.paragraphs for note in result.notes)


def test_it_is_a_table_of_pandas(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    table, records = result.to_pandas(), result.records()
    assert list(table.columns) == list(dict.fromkeys(name for record in records for name in record))
    for row, record in zip(table.to_dict("records"), records, strict=True):
        # pandas has NaN where something is missing.
        assert {name: None if row[name] != row[name] else row[name] for name in record} == record


def test_another_extension_is_refused_before_and_after(result, tmp_path):
    for refuse in (result.save, type(result).check_path):
        with pytest.raises(InputError, match=r"has the extension '\.xls'; use one of \.json, \.csv"):
            refuse(tmp_path / "a.xls")
    assert not list(tmp_path.iterdir())
    type(result).check_path(None)
    type(result).check_path("page.HTML")


def test_a_report_takes_the_place_of_the_plain_page(tmp_path, monkeypatch):
    written = []
    name = "Leaderboard"
    monkeypatch.setattr(PAGES, "_things", {**PAGES._things, name: lambda *given: written.append(given)})
    monkeypatch.setattr(PAGES, "_names", {**PAGES._names, name.lower(): name})
    board = leaderboard()
    # What derives from a leaderboard is one.
    derived = type("Derived", (Leaderboard,), {})(board.systems, board.metrics, board.values)
    for kind in (board, derived):
        kind.save(tmp_path / "report.html")
    assert written == [(board, tmp_path / "report.html"), (derived, tmp_path / "report.html")]


def test_a_failure_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "board.csv"
    path.write_text("before")

    def fail(self):
        raise InputError("no")

    monkeypatch.setattr(Leaderboard, "records", fail)
    with pytest.raises(InputError):
        leaderboard().save(path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_names_of_bytes_that_are_no_text_can_be_written(tmp_path):
    board = replace(leaderboard(), systems=("a\udcff", "b", "c", "d"))
    for suffix in (".json", ".md", ".tex", ".html"):
        Result.save(board, tmp_path / f"board{suffix}")
        # A page is a report, which a browser reads: it has no escapes of Python's.
        shown = "a?" if suffix == ".html" else r"\udcff"
        assert shown in (tmp_path / f"board{suffix}").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "board.json").read_text())[0]["system"] == "a\udcff"


def test_notes_are_added():
    board = leaderboard()
    assert board.with_notes([]) is board
    assert board.with_notes(["two"]).notes == ("one is missing", "two")


def test_markdown_has_no_drawings_and_keeps_lines(tmp_path):
    compared = comparison(Path())
    text = compared.to_markdown()
    assert "├" not in text
    assert "## Scores on original" in text
    assert text.count("\n- ") == len(compared.notes) > 0
    assert (
        "Least alike, and how many pairs of systems change places:  \n"
        in karat.board.correlate(leaderboard(), intervals=FEW).to_markdown()
    )
