"""``karat board correlate`` as a user meets it."""

import io
import json

import pytest
from rich.console import Console

from karat.cli import show


@pytest.fixture
def board(tmp_path, rng):
    """Nine metrics with long names over 20 systems."""
    strength = rng.normal(size=(20, 1))
    values = strength + rng.normal(0, 0.6, (20, 9))
    values[:, 8] = 40 - 10 * values[:, 8]
    names = [*(f"COCO {k}K R@{k}" for k in range(1, 9)), "MedR"]
    rows = [",".join([f"system {k}", *(f"{v:.4f}" for v in row)]) for k, row in enumerate(values)]
    path = tmp_path / "board.csv"
    path.write_text("\n".join([",".join(["model", *names]), *rows]) + "\n")
    return path


def test_the_table_fits_eighty_columns(both, board, tmp_path):
    out = both("board", "correlate", board, "--json", tmp_path / "t.json", "-o", tmp_path / "t.md").out
    assert out.startswith("Kendall's tau-b of 9 metrics over 20 systems\n")
    assert max(len(line) for line in out.splitlines() if not line.startswith("note: ")) <= 80
    assert "Least alike, and how many pairs of systems change places:" in out
    records = json.loads((tmp_path / "t.json").read_text())
    assert len(records) == 36
    assert all(record["low"] <= record["value"] <= record["high"] for record in records)
    assert "| metric | metric |" in (tmp_path / "t.md").read_text()


def test_a_terminal_gets_the_same_table(both, board, monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=True, width=80, highlight=False, color_system=None)
    monkeypatch.setattr(show, "console", lambda stderr=False: screen)
    both("board", "correlate", board, "--resamples", 50)
    lines = screen.file.getvalue().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80
    assert sum(line.startswith("3  COCO 3K R@3") for line in lines) == 1  # in one part, not split


def test_intervals_methods_and_signs(both, board):
    out = both(
        "board", "correlate", board, "--coefficient", "spearman", "--intervals", "--interval-method", "bca",
        "--level", 0.9, "--resamples", 200, "--metric", "COCO 1K R@1,MedR",
    )  # fmt: skip
    assert "90% interval" in out.out
    assert "Spearman's rho of 2 metrics" in out.out
    assert "note: low is good for MedR" in out.err
    again = both("board", "correlate", board, "--lower-is-better", "COCO 1K R@1", "--resamples", 20).err
    assert "low is good for COCO 1K R@1, MedR: their signs are changed" in again
    assert "COCO 1K R@1 is negatively correlated with all other metrics" in again


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv"], "none.csv: there is no such file"),
        (["{board}", "--coefficient", "phi"], "coefficient is 'phi'"),
        (["{board}", "--lower-is-better", "loss"], "the leaderboard has no metric 'loss'"),
        (["{board}", "--level", "95"], "level is 95"),
        (["{board}", "--resamples", "0"], "Invalid value for '--resamples'"),
        (["{board}", "--seed", "-1"], "Invalid value for '--seed'"),
        (["{board}", "-o", "t.xls"], "t.xls: has the extension '.xls'"),
        (["{board}", "--json", "nowhere/t.json"], "there is no folder nowhere"),
        ([], "Missing argument"),
    ],
)
def test_mistakes(both, board, arguments, message):
    assert message in both("board", "correlate", *(a.format(board=board) for a in arguments), code=2).err
