"""The data card: complete, and unbroken by whatever captions, names and remarks hold."""

import html
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.benchmarks import Benchmark, Ids
from karat.judging import publish
from karat.judging.publication.data_card import bars, code, markdown, plain
from tests.judging.publication.published import small_evidence

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "a | b \\| c",
    "line one\n\n# heading\n- list\n| x | y |",
    "[click](javascript:alert(1)) ![x](http://e.com/x.png) <http://e.com>",
    "`code` ```` fence **bold** __x__ ~~y~~ $z$",
    "\u202egnp.exe \u200b\x00\x1b[31m & &lt;script&gt;",
    "www.example.com mailto:a@b.c @everyone",
)


def hostile(bench: Benchmark) -> Benchmark:
    """The same benchmark with hostile ids and captions."""
    texts = [HOSTILE[k % len(HOSTILE)] for k in range(bench.captions.size)]
    ids = Ids([f"{HOSTILE[k % len(HOSTILE)]} {k}" for k in range(bench.captions.size)], kind="caption")
    return replace(bench, name=HOSTILE[2], captions=ids, texts=texts)


def shown(text: str) -> str:
    """What a reader sees of an escaped text."""
    return html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text))


@settings(deadline=None)
@given(st.text(max_size=60))
def test_a_plain_text_is_one_harmless_line_and_reads_the_same(text):
    made = plain(text)
    assert "\n" not in made
    assert "<" not in made
    assert ">" not in made
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*_\[\]~$]", made)
    assert not made.startswith(("#", "-", "+", "="))
    kept = [one for one in shown(made) if not one.isspace()]
    expected = [one for one in text if not one.isspace()]
    # Control characters go, all others stay.
    assert [one for one in expected if one in kept] == kept


@pytest.mark.parametrize("text", HOSTILE)
def test_a_row_of_a_table_stays_one_row(text):
    # What a template shows is escaped without being asked.
    row = markdown().from_string("| {{ text }} | {{ text ~ 1 }} |").render(text=text)
    assert "\n" not in row
    assert len(re.findall(r"(?<!\\)\|", row.replace("\\\\", ""))) == 3


def test_addresses_are_no_links():
    for text in ("http://e.com", "WWW.e.com", "mailto:x", "a@b.c"):
        assert plain(text) != text
        assert shown(plain(text)) == text


def test_a_fence_is_longer_than_those_inside():
    assert code("a ```` b").split("\n")[0] == "`````"


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, 5000), st.integers(1, 10**6), min_size=1))
def test_bars_count_everything(counts):
    lines = bars(counts).split("\n")
    assert sum(int(line.split()[-1].replace(",", "")) for line in lines) == sum(counts.values())
    assert max(line.count("█") for line in lines) == 40


def test_nothing_breaks_the_card(tmp_path):
    evidence = small_evidence()
    names = tuple(HOSTILE[k % len(HOSTILE)] + str(k) for k in range(len(evidence.answers.annotators)))
    systems = tuple(HOSTILE[k] for k in range(len(evidence.pool.systems)))
    rating = np.where(evidence.answers.caption < 8, 1, evidence.answers.rating)
    evidence = replace(
        evidence,
        benchmark=hostile(evidence.benchmark),
        pool=replace(evidence.pool, systems=systems),
        answers=replace(evidence.answers, annotators=names, rating=rating),
        marked={"caption": {3: HOSTILE[2], 4: HOSTILE[1]}},
        left_out=(HOSTILE[0],),
        project=HOSTILE[3],
    )
    found = publish(evidence, tmp_path / "out", licence=HOSTILE[0], made=HOSTILE[2])
    # Ids with spaces cannot be written to qrels: a note says so, and the other files are complete.
    assert any(note.startswith("no qrels were written") for note in found.notes)
    assert not list((tmp_path / "out").glob("qrels*"))
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    outside = re.sub(r"```.*?```", "", card, flags=re.DOTALL)
    assert "<" not in outside
    assert "onerror" in outside
    headings = [line for line in outside.split("\n") if line.startswith("#")]
    assert len(headings) == 12
    assert headings[1:] == [line for line in headings if line.startswith("## ")]
    for line in outside.split("\n"):
        if line.startswith("|"):
            assert line.endswith("|")
    assert not re.search(r"(?<!\\)\[", outside)


def test_the_card_tells_what_it_must(tmp_path):
    found = publish(small_evidence(), tmp_path / "out", licence="CC BY 4.0")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    counts = found.facts.counts
    for part in (
        "seer", "top 3", "dawid-skene", "Krippendorff", "CC BY 4.0", "karat project bias", "not irrelevant",
        "load_benchmark", f"{counts['judged_pairs']:,}",
        "captions of an image", "images of a caption", "█", "Is the image described",
    ):  # fmt: skip
        assert part in card, part
    assert "Not stated" not in card
