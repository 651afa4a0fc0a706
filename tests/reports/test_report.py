"""The report as a file: what is in it, what is not, and that nothing in it can run."""

import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import numpy as np
import pytest

import karat
from karat.benchmarks import Benchmark, Truth
from karat.errors import InputError
from karat.reports import PageOptions, write_report
from karat.reports.bundle import source_hash
from karat.reports.presentation import scale_of
from karat.reports.section import in_order
from karat.reports.sections import positives
from karat.reports.thumbnails import thumbnails
from karat.scores import Leaderboard
from karat.stats import Intervals
from reports.hostile import IMAGE_TAG, SCRIPT_END

from made import make_benchmark, make_run


class Page(HTMLParser):
    """What a browser would see: elements, scripts, text and ids."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.source = path.read_text(encoding="utf-8")
        self.tags, self.scripts, self.words, self.ids, self.attributes = [], [], [], [], []
        self._script = None
        self.feed(self.source)
        self.text = " ".join("".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag == "script":
            self._script = [dict(attrs), ""]

    def handle_endtag(self, tag):
        if tag == "script":
            self.scripts.append(tuple(self._script))
            self._script = None

    def handle_data(self, data):
        if self._script is not None:
            self._script[1] += data
        else:
            self.words.append(data)

    @property
    def data(self):
        return next(json.loads(text) for kind, text in self.scripts if kind.get("id") == "report-data")


@pytest.fixture(scope="module")
def hostile(hostile_report):
    return Page(hostile_report)


@pytest.fixture(scope="module")
def board():
    rng = np.random.default_rng(0)
    values = rng.random((6, 4))
    names = tuple(f"model {k}" for k in range(6))
    return Leaderboard(names, ("R@1", "RP", "MedR", "<b>x</b>"), values)


def test_every_section_is_there_in_order(hostile):
    names = [one.name for one in in_order()]
    assert [name for name in hostile.ids if name in names] == names
    for title in ("Who beats whom", "Do the metrics agree?", "Score against gallery size", "Methods"):
        assert title in hostile.text


def test_only_karats_scripts_can_run(hostile):
    runnable = [text for kind, text in hostile.scripts if kind.get("type") == "module"]
    assert len(runnable) == 1
    assert len(hostile.scripts) == 3
    policy = next(value for _, value in hostile.attributes if value and value.startswith("default-src"))
    assert source_hash(runnable[0]) in policy
    script = re.search(r"script-src ([^;]*);", policy).group(1)
    assert all(part.startswith("'sha256-") for part in script.split())
    assert "default-src 'none'" in policy
    assert "http" not in policy


def test_no_element_comes_from_names_or_captions(hostile):
    # The page itself says <em> and makes its pictures by scripts.
    assert not {"img", "iframe", "object", "embed", "link", "i", "b"} & set(hostile.tags)
    assert not [name for name, _ in hostile.attributes if name.startswith("on")]
    assert "<script>window.broken" in hostile.text
    assert SCRIPT_END in hostile.text
    assert all(not (value or "").startswith(("http:", "https:", "//")) for _, value in hostile.attributes)


def test_data_keeps_hostile_texts_as_they_are(hostile):
    assert hostile.data["queries"]["runs"][0] == SCRIPT_END
    block = next(text for kind, text in hostile.scripts if kind.get("id") == "report-data")
    assert not set("<>&\u2028\u2029") & set(block)


def test_pictures_stay_in_their_folder(hostile, hostile_report):
    pictures = hostile.data["queries"]["thumbnails"]
    assert sum(bool(small) for small in pictures["inline"]) > 2
    links = [link for link in pictures["links"] if link]
    assert links
    assert all(" " not in link and "#" not in link and '"' not in link for link in links)
    # Out of the folder by its name, and by a symbolic link; the broken file is linked, not read.
    assert pictures["inline"][-3:] == [None] * 3
    assert pictures["links"][-3:-1] == [None, None]
    for link in links:
        from urllib.parse import unquote

        assert (hostile_report.parent / unquote(link)).is_file()


def test_without_a_folder_no_picture_is_read(hostile_comparison, tmp_path):
    from karat.reports.material import Material

    found, _, _ = hostile_comparison
    assert thumbnails(Material(found, target=tmp_path / "report.html")) is None


def test_one_run_has_no_comparison(tmp_path):
    bench = make_benchmark(40)
    run = make_run(bench, 2, 1, "only")
    card = karat.evaluate(run, bench, ["R@1", "RP"], intervals=Intervals(resamples=200))
    page = Page(
        write_report(
            card, tmp_path / "one.html", runs=[run], page=PageOptions(command="karat report only.npy")
        )
    )
    assert {"summary", "forest", "gallery", "queries", "methods"} <= set(page.ids)
    assert not {"matrix", "flow", "correlation", "scatter"} & set(page.ids)
    assert "only reaches" in page.text
    assert "karat report only.npy" in page.text


def test_without_the_runs_sections_say_why(tmp_path):
    bench = make_benchmark(40)
    card = karat.evaluate([make_run(bench, 2, 1, "a"), make_run(bench, 1, 2, "b")], bench, ["R@1"])
    page = Page(write_report(card, tmp_path / "two.html"))
    assert "make the report from the runs" in page.text
    assert page.data["queries"]["firsts"] == {}


def test_only_numbers(board, tmp_path):
    page = Page(write_report(board, tmp_path / "board.html"))
    assert {"headline", "summary", "flow", "correlation", "scatter", "methods"} <= set(page.ids)
    assert not {"forest", "matrix", "queries", "labels", "gallery", "positives"} & set(page.ids)
    assert "no intervals, no tests" in page.text
    assert page.data["scatter"]["low"] == ["MedR"]


def test_the_headline_says_what_the_comparison_found(hostile_comparison, hostile):
    found, _, _ = hostile_comparison
    first = found.standing("mAP@R", truth="complete").first
    assert all(name in hostile.text for name in first)
    assert ("none of them is shown to be worse" if len(first) > 1 else "is first") in hostile.text
    assert "every pair of image and caption is judged" in hostile.text


def test_methods_state_every_choice(hostile):
    for said in (
        "Fisher's randomisation test", "499 random swaps", "Holm", "300 resamples, seed 0", "karat 0",
        f"numpy {np.__version__}", "ECCV Caption", "(clusters)", "right answers last",
        "counts as not relevant",
    ):  # fmt: skip
        assert said in hostile.text, said


def test_the_same_report_twice_is_the_same_file(board, tmp_path):
    made = datetime(2022, 4, 8, tzinfo=UTC)
    first, second = (
        write_report(board, tmp_path / name, page=PageOptions(made=made)) for name in ("a.html", "b.html")
    )
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("give", "message"),
    [
        ({"path": "report.pdf"}, "name it report.html"),
        ({"page": {"inline_images": -1}}, "give megabytes"),
        ({"found": 3}, "no report can be made of int"),
    ],
)
def test_mistakes_are_one_sentence(board, tmp_path, give, message):
    options = {"found": board, "path": "report.html", **give}
    with pytest.raises(InputError, match=message):
        write_report(
            options["found"], tmp_path / options["path"], page=PageOptions(**options.get("page", {}))
        )


def test_size_stays_small(hostile_report, board, tmp_path):
    # Plotly takes two megabytes of it.
    assert hostile_report.stat().st_size < 2_600_000
    assert write_report(board, tmp_path / "board.html").stat().st_size < 2_400_000


def test_texts_are_complete_where_they_are_long(hostile_report, hostile):
    import base64
    import gzip

    texts = json.loads(gzip.decompress(base64.b64decode(hostile.data["queries"]["texts"])))
    assert texts[0] == IMAGE_TAG
    assert len(texts[1]) == 10_000


def test_too_few_swaps_are_not_called_a_tie(tmp_path):
    bench = make_benchmark(60)
    runs = [make_run(bench, signal, k, f"run {k}") for k, signal in enumerate((4, 3, 2, 1))]
    found = karat.compare(runs, bench, measure=["R@1"], truth="own", samples=19)
    page = Page(write_report(found, tmp_path / "few.html"))
    assert "The first place is undecided" in page.text
    assert "use 240 or more draws" in page.text
    # The methods alone say what it would mean.
    assert "to be worse than the first" in page.text
    assert "not shown to be worse" not in page.text.split("Methods")[0]
    enough = karat.compare(runs, bench, measure=["R@1"], truth="own", samples=999)
    assert "run 0 is first" in Page(write_report(enough, tmp_path / "enough.html")).text


def say(found, folder):
    return Page(write_report(found, folder / "said.html")).text


def test_the_main_score_is_one_that_every_run_has(tmp_path):
    bench = make_benchmark(40)
    whole = [make_run(bench, signal, k, name) for k, (name, signal) in enumerate((("weak", 1), ("fair", 2)))]
    lists = {
        1000 + caption: [int(image), *(other for other in range(11) if other != image)][:10]
        for caption, image in enumerate(bench.caption_image)
    }
    seer = karat.load_run({"t2i": lists}, name="seer")
    found = karat.compare([*whole, seer], bench, measure=["R@1"], truth="own", samples=999)
    text = say(found, tmp_path)
    assert "seer is first: 100.0% R@1" in text
    assert "nothing was tested" not in text
    # Where no score has them all, the run without one is named.
    wrong = {caption: found[1:] for caption, found in lists.items()}
    blind = karat.load_run({"t2i": wrong}, name="blind")
    part = karat.compare([*whole, blind], bench, measure=["R@20"], truth="own", samples=999)
    assert "blind has no R@20 by the labels “own” and is not ranked here" in say(part, tmp_path)


def test_a_score_that_was_not_tested_is_said_to_be(tmp_path):
    bench = make_benchmark(40)
    runs = [make_run(bench, signal, k, f"run {k}") for k, signal in enumerate((3, 2))]
    text = say(karat.compare(runs, bench, measure=["R@1"], truth="own", test="mcnemar"), tmp_path)
    assert "this score was not tested" in text
    assert "nothing was tested" not in text
    assert "● beaten by none" not in text.split("Every score of")[0]


def test_different_numbers_look_different(tmp_path):
    values = np.array([[45.64, 1e-5], [45.61, 0.123456], [45.6, 0.2]])
    page = Page(write_report(Leaderboard(("a", "b", "c"), ("R@1", "x"), values), tmp_path / "n.html"))
    for number in ("45.64", "45.61", "45.60", "0.00001"):
        assert number in page.text
    assert page.data["scatter"]["values"] == values.tolist()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([[1, 1], [1, 1]], "a and b are tied for first under all 2 metrics"),
        ([[2, 2], [1, 2]], "a is first under all 2 metrics, but shares the first place under 1"),
        ([[2, 1], [1, 2]], "a and b are each first under 1 of 2"),
        ([[2, 2]], "a is the only system"),
        ([[2, np.nan], [np.nan, 2], [1, np.nan]], "no two metrics have numbers of the same two systems"),
        ([[2, np.nan], [np.nan, 2], [1, np.nan]], "No two metrics share 3 systems"),
        ([[3, np.nan], [2, 5], [1, 4]], "the systems that two metrics share have the same order"),
    ],
)
def test_headlines_of_numbers_are_true(tmp_path, values, said):
    names = tuple("abc"[: len(values)])
    text = say(Leaderboard(names, ("x", "y"), np.array(values, float)), tmp_path)
    assert said in text
    assert "1 systems" not in text


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((0, 2)), "has no systems"),
        (np.full((2, 2), np.nan), "holds no number"),
        (np.array([[1, np.inf], [2, 3]]), "holds inf for 'a' under 'y'"),
    ],
)
def test_empty_leaderboards_are_one_sentence(tmp_path, values, message):
    with pytest.raises(InputError, match=message):
        say(Leaderboard(tuple("ab"[: len(values)]), ("x", "y"), values), tmp_path)


def test_captions_of_unknown_images_are_not_called_clustered(tmp_path):
    known = make_benchmark(40)
    bench = Benchmark("loose", known.images, known.captions, {"own": known.truth("own")})
    runs = [make_run(known, signal, k, f"run {k}") for k, signal in enumerate((3, 1))]
    page = Page(
        write_report(karat.compare(runs, bench, measure=["R@1"], samples=99), tmp_path / "loose.html")
    )
    text = page.text
    assert "does not say which captions share an image" in page.source.split('id="summary-title"')[0]
    for wrong in (
        "clustered by image",
        "are not independent",
        "queries of 40 images",
        "queries of 120 images",
    ):
        assert wrong not in text


def test_a_truth_may_be_called_like_a_measure(tmp_path):
    made = make_benchmark(40)
    own = made.truth("own")
    named = {name: Truth(name, own.judgments, own.queries) for name in ("by MedR", "plain")}
    bench = Benchmark("made", made.images, made.captions, named, caption_image=made.caption_image)
    runs = [make_run(bench, signal, k, f"run {k}") for k, signal in enumerate((3, 1, 0.5))]
    page = Page(write_report(karat.evaluate(runs, bench, ["R@1", "MedR"]), tmp_path / "named.html"))
    assert page.data["scatter"]["low"] == ["by MedR MedR", "plain MedR"]
    assert all(places == [1.0] * 4 for places in page.data["scatter"]["places"][:1])


@pytest.mark.parametrize("measure", ["RSUM", "NSUM(mine)"])
def test_sums_have_no_percent_sign(measure, tmp_path):
    """A sum of percentages, as papers print it: 517.3, and never 517.3%."""
    bench = make_benchmark(30)
    runs = [make_run(bench, strength, seed, f"run {seed}") for seed, strength in enumerate((2, 1))]
    options = {"phi": {"mine": np.exp(runs[1].scores)}, "intervals": Intervals(resamples=50)}
    several = karat.evaluate(runs, bench, [measure, "R@1"], **options)
    alone = karat.evaluate(runs[0], bench, [measure], **options)
    for card in (several, alone):
        value = card.value(measure, truth="own", direction="both", run="run 0")
        assert 1.5 < value < 6
        assert f"{100 * value:.2f}" in str(card)
        page = Page(write_report(card, tmp_path / "report.html"))
        assert f"{100 * value:.1f}" in page.text
        assert re.search(r"\d%", page.text)
        assert not set(re.findall(r"(?<![\d.])\d{3}\.\d%", page.source)) - {"100.0%"}


@pytest.fixture(scope="module")
def two_runs():
    """A run called like a word of a sentence, and another that is nearly as good."""
    bench = make_benchmark(40)
    runs = [make_run(bench, signal, k, name) for k, (name, signal) in enumerate((("both", 2), ("k1", 2.1)))]
    return karat.compare(runs, bench, measure=["R@1", "R@5", "MedR"], truth="own", samples=999)


def test_names_in_sentences_are_marked(two_runs, hostile, tmp_path):
    page = Page(write_report(two_runs, tmp_path / "named.html"))
    points = page.source.split('<dl class="terms">')[1].split("</dl>")[0]
    best = two_runs.standing("R@1", truth="own").runs[0]
    assert f'the score of <bdi class="called">{best}</bdi>' in points
    assert '<bdi class="called">R@1</bdi> is the share of queries' in points
    # In the finding too; and a name cannot end its mark or bring one of its own.
    first = hostile.source.split('<p class="finding">')[1].split("</p>")[0]
    assert first.count('class="called"') > 1
    assert "\u2068" not in page.source.split('id="summary-title"')[0]
    board = Leaderboard(("both\u2069 <b>", "k1"), ("x",), np.array([[2.0], [1.0]]))
    source = Page(write_report(board, tmp_path / "hostile.html")).source
    assert '<bdi class="called">both &lt;b&gt;</bdi> leads under the one metric' in source


def test_two_systems_have_one_table_and_nothing_to_correlate(two_runs, tmp_path):
    page = Page(write_report(two_runs, tmp_path / "two.html"))
    assert not {"correlation", "scatter"} & set(page.ids)
    assert "flow" in page.ids
    (view,) = page.data["summary"]["views"]
    first, second = view["table"]["head"][1:3]
    assert view["table"]["head"] == ["Score", first, second, "Difference"]
    listed = {(row[0]["t"], row[0]["s"]) for row in view["table"]["rows"]}
    assert len(listed) == 9
    for measure in ("R@1", "R@5", "MedR"):
        for direction in ("mean", "i2t", "t2i"):
            name = {"mean": "mean of both", "i2t": "image → text", "t2i": "text → image"}[direction]
            assert (measure, f"own · {name}") in listed
    # The difference is that of the two columns before it.
    row = next(row for row in view["table"]["rows"] if row[0]["t"] == "R@1")
    values = [two_runs.card.value("R@1", truth="own", direction="mean", run=run) for run in (first, second)]
    difference = 100 * (values[0] - values[1])
    assert float(row[3]["t"].replace("−", "-").replace("±", "")) == pytest.approx(difference, abs=0.006)
    assert row[3]["s"].startswith("p ")


def test_numbers_of_two_systems_are_not_correlated(tmp_path):
    board = Leaderboard(("a", "b"), ("x", "y"), np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert not {"correlation", "scatter"} & set(Page(write_report(board, tmp_path / "two.html")).ids)


def test_all_scores_are_in_one_table(hostile, hostile_comparison):
    found, _, _ = hostile_comparison
    every = hostile.data["summary"]["every"]
    assert set(every["head"][1:]) == set(found.card.runs)
    columns = {(c.truth, c.direction, str(c.measure)) for c in found.card if c.value is not None}
    assert len(every["rows"]) == len(columns)
    assert "All scores in one table" in hostile.text


def test_bars_have_a_scale(two_runs, tmp_path):
    page = Page(write_report(two_runs, tmp_path / "two.html"))
    scale = page.source.split('<p class="scale"')[1].split("</p>")[0]
    ticks = [(float(at), text) for at, text in re.findall(r'left: ([\d.]+)%">([\d.,]+)%?<', scale)]
    assert ticks[0] == (0.0, "0")
    assert ticks[-1][0] == 100
    # The bar ends where its value is on the scale.
    top = float(ticks[-1][1])
    shown = page.source.split('<figure class="bars">')[1].split("</figure>")[0]
    widths = [float(width) for width in re.findall(r'class="fill"[^>]* width="([\d.]+)"', shown)]
    values = [float(value) for value in re.findall(r'class="value">([\d.]+)%<', shown)]
    assert len(widths) == 2
    assert np.array(widths) * top / 100 == pytest.approx(values, abs=0.06)


@pytest.mark.parametrize("largest", [1e-4, 0.7, 2.7, 28.8, 95.7, 100, 517.3, 40_000])
def test_scales_are_round_and_hold_the_largest(largest):
    values = [value for value, _ in scale_of(largest)]
    assert 3 <= len(values) <= 6
    assert values[-2] < largest <= values[-1] * 1.0001
    assert np.diff(values) == pytest.approx(values[1])
    assert f"{values[1]:e}".split("e")[0].rstrip("0") in ("1.", "2.", "2.5", "5.")


def test_a_few_are_not_called_none():
    counts = np.r_[1, np.full(500, 3)]
    assert "less than 1% of the 501 captions have exactly one" in positives.view("own", "t2i", counts)["says"]
    assert "more than 99% of" in positives.view("own", "t2i", np.r_[3, np.full(500, 1)])["says"]
    assert "; 0% of the 500 captions" in positives.view("own", "t2i", np.full(500, 3))["says"]


def test_the_best_of_numbers_is_not_said_to_be_tested(board, tmp_path):
    text = Page(write_report(board, tmp_path / "board.html")).text
    assert "beaten by none" not in text
    assert "● best" in text


def test_a_run_of_a_few_queries_has_a_report(tmp_path):
    (tmp_path / "few.qrels").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 1\nq2 0 d1 0\n")
    (tmp_path / "few.trec").write_text("q1 Q0 d1 1 2 a\nq1 Q0 d3 2 1 a\nq2 Q0 d1 1 3 a\nq2 Q0 d3 2 1 a\n")
    qrels = {"qrels": str(tmp_path / "few.qrels")}
    card = karat.evaluate(tmp_path / "few.trec", "trec", ["R@1", "AP"], setting=qrels, details=True)
    page = Page(write_report(card, tmp_path / "few.html"))
    [curve] = page.data["gallery"]["views"][0]["curves"]
    assert curve["low"] == [None] * len(curve["values"])
