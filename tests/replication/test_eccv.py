"""ECCV Caption's published tables beside ours."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "replications"
KEYS = ["table", "row", "column", "paper", "ours", "note"]


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    out = tmp_path_factory.mktemp("eccv") / "eccv.json"
    subprocess.run([sys.executable, FOLDER / "eccv.py", "--json", out], check=True)
    return json.loads(out.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def module():
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("replication_eccv", FOLDER / "eccv.py")
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        yield made
    finally:
        sys.path.remove(str(FOLDER))
        sys.modules.pop("_paper", None)


def test_records_follow_the_contract(records):
    for record in records:
        assert list(record) == KEYS
        assert record["ours"] is not None or record["note"]
    assert len({(r["table"], r["row"], r["column"]) for r in records}) == len(records)


def test_all_36_pairs_of_table_d3(records):
    pairs = [r for r in records if r["table"] == "D.3"]
    assert len(pairs) == 36
    assert len({frozenset((r["row"], r["column"])) for r in pairs}) == 36
    assert max(abs(r["ours"] - r["paper"]) for r in pairs) <= 0.01


def test_counts_of_table_3(records):
    counts = [r for r in records if r["table"] == "3"]
    assert len(counts) == 8
    assert [r["row"] for r in counts if r["ours"] is None] == ["Human-verified positives"] * 2
    assert all(r["ours"] == r["paper"] for r in counts if r["ours"] is not None)


def test_the_size_of_the_pool(records):
    """§3.2: (1,261 + 1,333) × 5 × 5 suggestions, counted in a pool of five made-up systems."""
    before, after = (r for r in records if r["table"] == "3.2")
    assert before["ours"] == before["paper"] == 64850
    assert after["ours"] is None


def test_the_bias_of_pvse(records):
    """Equation E.6 and the lines below it, which the paper rounds to one digit."""
    found = {r["column"]: r for r in records if r["table"] == "E.3"}
    assert set(found) == {"bias", "self bias", "non-self bias"}
    for one in found.values():
        assert one["ours"] == pytest.approx(one["paper"], abs=0.0501)


def test_single_annotators(records):
    """What figure E.2 draws for one model, worked out by hand from tables E.1a and E.1b."""
    found = {r["column"]: r["ours"] for r in records if r["table"] == "E.2"}
    assert found["R@1 bias"] == pytest.approx(16.28, abs=0.005)
    assert found["R-Precision bias"] == pytest.approx(5.31, abs=0.005)
    assert found["R@1 self bias"] == pytest.approx(5.12, abs=0.005)
    assert found["R-Precision self bias"] == pytest.approx(10.60, abs=0.005)


def test_the_best_model_of_each_annotator_is_itself(module):
    """What the caption of table E.1 says; on CLIP's labels ViLT has the same R@1."""
    for name in ("eccv_e1a", "eccv_e1b"):
        lines = module.read_table(name)
        for line in lines:
            column = {other["model"]: float(other[line["model"]]) for other in lines}
            assert column[line["model"]] == max(column.values()), (name, line["model"])


def test_table_2_is_open_and_its_neighbour_is_not(records):
    rows = [r for r in records if r["table"] == "2"]
    assert [r["ours"] is None for r in rows] == [r["paper"] is not None for r in rows]
    known = {(r["row"], r["column"]): r["ours"] for r in rows if r["ours"] is not None}
    assert all(0 < value <= 100 for value in known.values())
    coco = "Original MS-COCO Caption, against ECCV Caption"
    assert known[coco, "T2I Prec"] == 100  # ECCV Caption holds every original positive of its captions
    assert known[coco, "T2I Recall"] < known["CxC, against ECCV Caption", "T2I Recall"]


def test_the_transcription_agrees_with_itself(module):
    """Table 4 averages D.1 and D.2, but for what the errata name."""
    first, second, fourth = (module.read_table(name) for name in ("eccv_d1", "eccv_d2", "eccv_4"))
    assert len(first) == len(second) == len(fourth) == 25
    wrong = dict.fromkeys(list(fourth[0])[1:], 0)
    for a, b, c in zip(first, second, fourth):
        assert a["model"] == b["model"] == c["model"]
        for name in wrong:
            wrong[name] += abs((float(a[name]) + float(b[name])) / 2 - float(c[name])) > 0.0101
    assert wrong.pop("COCO 1K R@1") == 24
    assert wrong.pop("PMRP") == 11
    assert not any(wrong.values())
    for row in module.read_table("eccv_d3"):
        for name in list(row)[1:]:
            mirrored = next(other for other in module.read_table("eccv_d3") if other["metric"] == name)
            assert row[name] == mirrored[row["metric"]]


def test_the_leaderboard(module):
    board = module.load_leaderboard()
    assert (len(board.systems), len(board.metrics)) == (25, 9)
    assert np.isfinite(board.values).all()
    assert board.values[board.systems.index("BLIP"), board.metrics.index("PMRP")] == 57.17


def test_the_command_line(tmp_path):
    run = [sys.executable, FOLDER / "eccv.py"]
    env = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    shown = subprocess.run([*run, "--table", "D.3"], capture_output=True, text=True, check=True, env=env)
    assert shown.stdout.splitlines()[0].split() == [
        "table", "row", "column", "paper", "ours", "differs", "note",
    ]  # fmt: skip
    assert "Human-verified" not in shown.stdout
    wrong = subprocess.run([*run, "--table", "9"], capture_output=True, text=True)
    assert wrong.returncode == 2
    assert wrong.stderr == "eccv.py: there is no table '9'; choose one of 2, 3, 3.2, D.3, E.2, E.3.\n"
    for option in ("--data", "--json"):
        place = tmp_path / "none" / "x"
        wrong = subprocess.run([*run, "--table", "D.3", option, place], capture_output=True, text=True)
        assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
        assert str(place) in wrong.stderr
