"""The report as a file: what is in it, what is not, and that nothing in it can run."""

import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import numpy as np
import pytest

import karat
from karat.reports import write_report
from karat.reports.bundle import source_hash
from karat.reports.section import in_order
from karat.reports.thumbnails import thumbnails
from karat.scores.leaderboard import Leaderboard
from karat.stats.intervals import Intervals
from karat.validation import InputError
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
    page = Page(write_report(card, tmp_path / "one.html", runs=[run], command="karat report only.npy"))
    assert {"summary", "forest", "gallery", "queries", "methods"} <= set(page.ids)
    assert not {"matrix", "flow", "correlation", "scatter"} & set(page.ids)
    assert "only reaches" in page.text
    assert "karat report only.npy" in page.text


def test_without_the_runs_sections_say_why(tmp_path):
    bench = make_benchmark(40)
    card = karat.evaluate([make_run(bench, 2, 1, "a"), make_run(bench, 1, 2, "b")], bench, ["R@1"])
    page = Page(write_report(card, tmp_path / "two.html"))
    assert "make the report from the runs" in page.text
    assert "nothing was tested" in page.text
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
    assert ("tied for first" if len(first) > 1 else "is first") in hostile.text
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
    first, second = (write_report(board, tmp_path / name, made=made) for name in ("a.html", "b.html"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("give", "message"),
    [
        ({"path": "report.pdf"}, "name it report.html"),
        ({"inline_images": -1}, "give megabytes"),
        ({"found": 3}, "no report can be made of int"),
    ],
)
def test_mistakes_are_one_sentence(board, tmp_path, give, message):
    options = {"found": board, "path": "report.html", **give}
    with pytest.raises(InputError, match=message):
        write_report(options.pop("found"), tmp_path / options.pop("path"), **options)


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
    found = karat.compare(runs, bench, measures=["R@1"], truths="own", samples=19)
    page = Page(write_report(found, tmp_path / "few.html"))
    assert "Who is first was not settled" in page.text
    assert "use 240 or more draws" in page.text
    enough = karat.compare(runs, bench, measures=["R@1"], truths="own", samples=999)
    assert "run 0 is first" in Page(write_report(enough, tmp_path / "enough.html")).text
