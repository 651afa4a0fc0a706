"""Semantic margin's published tables beside ours."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "replications" / "semantic_margin.py"
KEYS = ["table", "row", "column", "paper", "ours", "note"]


def replicate(out, *arguments):
    env = {key: value for key, value in os.environ.items() if key != "KARAT_DATA"}
    subprocess.run([sys.executable, FILE, "--json", out, *arguments], check=True, env=env)
    return json.loads(out.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def ours(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("margin") / "1.json"
    records = replicate(out, "--data", data, "--table", "1")
    assert all(list(record) == KEYS for record in records)
    return {(record["row"], record["column"]): record["ours"] for record in records}


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Return all tables, without data."""
    return replicate(tmp_path_factory.mktemp("margin") / "all.json")


def test_binary_relevance(ours):
    assert abs(ours["Binary relevance (GT)", "All"] - 0.711) <= 0.002
    # The paper prints 0.00 where nothing varies.
    assert ours["Binary relevance (GT)", "Non-GT"] is None


def test_cider(ours):
    assert ours["NCS with CIDEr", "All"] >= 0.734
    assert ours["NCS with CIDEr", "Non-GT"] >= 0.453


def test_spice(ours):
    assert ours["NCS with SPICE", "All"] >= 0.72
    assert ours["NCS with SPICE", "Non-GT"] >= 0.50


def test_sums_of_tables_2_and_3(everything):
    """They follow from the printed parts, so they need no data; one printed sum is wrong."""
    of = {
        name: [r for r in everything if r["table"] == name and "Flickr8k" not in r["row"]] for name in "123"
    }
    assert {name: len(found) for name, found in of.items()} == {"1": 6, "2": 16 * 14, "3": 18 * 14}
    assert all(record["ours"] is None and "needs cxc" in record["note"] for record in of["1"])
    sums = [record for record in of["2"] + of["3"] if record["column"] in ("Rsum", "Nsum")]
    assert len(sums) == 2 * (16 + 18)
    wrong = [record for record in sums if abs(record["ours"] - record["paper"]) > 0.35]
    assert [(r["row"], r["column"], r["paper"], r["ours"]) for r in wrong] == [
        ("Flickr30K CVSE+SAM", "Nsum", 387.9, 369.0)
    ]
    for record in of["2"] + of["3"]:
        assert record in sums or (record["ours"] is None and record["note"] == "needs the trained model")


def test_tables_4_and_5_are_listed_with_what_they_need(everything):
    records = [r for r in everything if r["table"] in ("4", "5")]
    published = [r for r in records if not r["column"].startswith("Flickr8k")]
    assert len(published) == 6 * 6 + 12 * 3
    assert all(r["ours"] is None and "needs CVSE" in r["note"] for r in published)
    cell = next(r for r in published if (r["row"], r["column"]) == ("10 SN ✓", "MSCOCO-1K Rsum"))
    assert cell["paper"] == 521.3
    # Our network has the same rows, at two amounts of data.
    own = [r for r in records if r not in published]
    assert len(own) == 18 * 3 * 2
    assert {(r["table"], r["row"]) for r in own} == {(r["table"], r["row"]) for r in published}
    assert all(r["paper"] is None and r["ours"] > 0 and "train_margins" in r["note"] for r in own)


def test_our_trainings(everything):
    """Their tables have the paper's columns, and what the page says about them holds."""
    value = {
        (r["table"], r["row"], r["column"]): r["ours"] for r in everything if "train_margins" in r["note"]
    }
    columns = {r["column"] for r in everything if r["table"] == "2" and "Flickr8k" not in r["row"]}
    for share in ("10%", "25%", "100%"):
        rsum = {
            row.split(" ", 1)[1]: one
            for (table, row, column), one in value.items()
            if (table, column) == ("2", "Rsum") and f"-{share} " in row
        }
        assert len(rsum) == 6
        assert max(rsum, key=rsum.get) == "InfoNCE"
        for loss, total in rsum.items():
            row = f"Flickr8k-{share} {loss}"
            assert columns <= {column for table, name, column in value if (table, name) == ("2", row)}
            parts = [value["2", row, f"{way} R@{k}"] for way in ("I2T", "T2I") for k in (1, 5, 10)]
            assert abs(sum(parts) - total) < 1e-6
    controls = [r for r in everything if r["table"] == "2, margins without meaning" and r["column"] == "RSUM"]
    assert len(controls) == 18
    assert all("interval" in r["note"] for r in controls)
    assert {m for table, row, m in value if table == "Figure 3"} >= {"m = 1", "m = 10", "m = 30"}
