"""What a terminal shows: tables in parts that fit, the best values in bold, names as plain text."""

import io

import numpy as np
from rich.console import Console

import karat
from karat.cli import show
from karat.scores import lay_out

from worlds import build


def screen(width: int) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, highlight=False, color_system=None)


def card(names):
    small = build([[1.0, None], [None, 1.0]], 2, np.eye(2), halves=False)
    runs = [karat.load_run(np.eye(2) * (1 - 2 * (k > 0)), name=name) for k, name in enumerate(names)]
    return karat.evaluate(runs, small.benchmark, ["R@1", "RSUM"], unjudged="bounds")


def test_a_table_is_split_where_it_does_not_fit():
    layout = lay_out(card(["first system", "second system", "third system"]))
    narrow, wide = screen(60), screen(200)
    show.print_layout(layout, narrow)
    show.print_layout(layout, wide)
    assert narrow.file.getvalue().count("truth") > wide.file.getvalue().count("truth") == 1
    lines = narrow.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 60
    for name in ("first system", "second system", "third system"):
        assert name in narrow.file.getvalue()


def test_names_are_text_and_not_markup():
    layout = lay_out(card(["[red]a[/red]", "b"]))
    wide = screen(200)
    show.print_layout(layout, wide)
    assert "[red]a[/red]" in wide.file.getvalue()


def test_a_terminal_shows_the_table_and_progress(monkeypatch, capsys):
    wide = screen(200)
    monkeypatch.setattr(show, "console", lambda stderr=False: wide)
    with show.progress(2) as step:
        step("one [of]")
    show.print_scorecard(card(["a", "b"]))
    text = wide.file.getvalue()
    assert "scoring one [of] (1 of 2)" in text
    assert "unjudged pairs count as misses, [bounds] say what they could change" in text
    assert "100.00 [100.00, 100.00]" in text
    with show.progress(1) as step:
        assert step is None


def test_one_run_has_bars_where_there_is_room():
    one = card(["A"])
    layout = lay_out(one)
    wide = show.with_bars(layout, one, 200)
    assert len(wide.head) == len(layout.head) + 1
    drawn = [row[-1].strip() for row in wide.rows]
    assert "█" in drawn[0]
    assert not drawn[1]  # RSUM is no share
    assert show.with_bars(layout, one, 40) is layout


def test_sums_are_percentages_and_not_ranks(capsys):
    one = card(["A"])
    show.print_scorecard(karat.evaluate(karat.load_run(np.eye(2)), one.benchmark, ["RSUM"]))
    out = capsys.readouterr().out
    assert "600.00" in out
    assert "Values in percent;" in out
    show.print_scorecard(karat.evaluate(karat.load_run(np.eye(2)), one.benchmark, ["RSUM", "MedR"]))
    assert "Values in percent, ranks as they are;" in capsys.readouterr().out
    show.print_scorecard(karat.evaluate(karat.load_run(np.eye(2)), one.benchmark, ["MedR"]))
    assert "Values are ranks;" in capsys.readouterr().out
