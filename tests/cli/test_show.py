"""What a terminal shows: tables in parts that fit, the best values in bold, names as plain text."""

import io
import time

import numpy as np
import pytest
from rich.console import Console

import karat
from karat._util import Layout, Result, current_reporter, stage
from karat.cli import show

from worlds import build


def screen(width: int) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, highlight=False, color_system=None)


def card(names):
    small = build([[1.0, None], [None, 1.0]], 2, np.eye(2), halves=False)
    runs = [karat.load_run(np.eye(2) * (1 - 2 * (k > 0)), name=name) for k, name in enumerate(names)]
    return karat.evaluate(runs, small.benchmark, ["R@1", "RSUM"], unjudged="bounds")


def test_a_table_is_split_where_it_does_not_fit():
    layout = card(["first system", "second system", "third system"]).tables()[0]
    narrow, wide = screen(60), screen(200)
    show.print_layout(layout, narrow)
    show.print_layout(layout, wide)
    assert narrow.file.getvalue().count("truth") > wide.file.getvalue().count("truth") == 1
    lines = narrow.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 60
    for name in ("first system", "second system", "third system"):
        assert name in narrow.file.getvalue()


def test_names_are_text_and_not_markup():
    layout = card(["[red]a[/red]", "b"]).tables()[0]
    wide = screen(200)
    show.print_layout(layout, wide)
    assert "[red]a[/red]" in wide.file.getvalue()


def test_a_terminal_shows_the_table_and_progress(monkeypatch, capsys):
    wide = screen(200)
    monkeypatch.setattr(show, "console", lambda stderr=False: wide)
    with show.working("scoring one [of]"):
        assert "scoring one [of]" not in capsys.readouterr().out
    show.show(card(["a", "b"]))
    text = wide.file.getvalue()
    assert "scoring one [of]" in text
    assert "unjudged pairs count as misses, [bounds] say what they could change" in text
    assert "100.00 [100.00, 100.00]" in text


def test_a_terminal_shows_how_far_a_pass_is(monkeypatch):
    wide = screen(200)
    monkeypatch.setattr(show, "console", lambda stderr=False: wide)
    with show.working("scoring"), stage("tiles [of]", 12, done=3):
        with show.working("writing"):
            assert show.console(stderr=True) is wide
        # The bars are drawn ten times a second, when the machine has time for it.
        end = time.monotonic() + 60
        while "25%" not in wide.file.getvalue():
            assert time.monotonic() < end
            time.sleep(0.05)
    text = wide.file.getvalue()
    assert "tiles [of]" in text
    assert "25%" in text


def test_nothing_but_errors_is_shown_when_quiet(monkeypatch, capsys):
    wide = screen(200)
    monkeypatch.setattr(show, "console", lambda stderr=False: wide)
    with show.silenced():
        assert show.quiet()
        with show.working("scoring"):
            assert current_reporter() is None
        show.print_notes(["one"])
        with pytest.raises(KeyboardInterrupt), show.working():
            raise KeyboardInterrupt("stopped; the same command goes on from there")
    assert not show.quiet()
    assert wide.file.getvalue() == ""
    assert capsys.readouterr().err == "karat: stopped; the same command goes on from there\n"


def test_one_run_has_bars_where_there_is_room():
    one = card(["A"])
    (layout,) = one.tables()
    wide = show.with_bars(layout, 200)
    assert len(wide.head) == len(layout.head) + 1
    drawn = [row[-1].strip() for row in wide.rows]
    assert "█" in drawn[0]
    assert not drawn[1]  # RSUM is no share
    assert show.with_bars(layout, 40) is layout


def test_a_legend_is_shown_where_its_marks_are():
    layout = Layout(["run", "p", ""], [["x", "0.001", "***"]], legend="*** p ≤ 0.01")
    for width, shown in ((40, True), (12, False)):
        terminal = screen(width)
        show.print_layout(layout, terminal)
        assert ("p ≤ 0.01" in terminal.file.getvalue()) is shown
        assert ("***" in terminal.file.getvalue()) is shown


def test_sums_are_percentages_and_not_ranks(capsys):
    one = card(["A"])
    show.show(karat.evaluate(karat.load_run(np.eye(2)), one.benchmark, ["RSUM"]))
    out = capsys.readouterr().out
    assert "600.00" in out
    assert "Values in percent;" in out
    show.show(karat.evaluate(karat.load_run(np.eye(2)), one.benchmark, ["RSUM", "MedR"]))
    assert "Values in percent, ranks as they are;" in capsys.readouterr().out
    show.show(karat.evaluate(karat.load_run(np.eye(2)), one.benchmark, ["MedR"]))
    assert "Values are ranks;" in capsys.readouterr().out


def test_what_is_piped_is_what_is_printed_and_the_notes_again_on_standard_error(capsys):
    noted = karat.evaluate(karat.load_run(np.eye(2)), card(["A"]).benchmark, ["R@1"]).with_notes(
        ["[one] image is missing"]
    )
    show.show(noted)
    captured = capsys.readouterr()
    assert captured.out == f"{noted}\n"
    assert captured.out.endswith("\nnote: [one] image is missing\n")
    assert captured.err == "note: [one] image is missing\n"


def test_quiet_prints_nothing_but_the_notes(capsys):
    show.show(Listing(), quiet=True)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "note: read it\n")


def test_a_terminal_shows_titles_lines_and_notes(monkeypatch):
    wide = screen(40)
    monkeypatch.setattr(show, "console", lambda stderr=False: wide)
    show.show(Listing())
    lines = [line.rstrip() for line in wide.file.getvalue().splitlines()]
    assert lines[0] == "a [b]cat[/b]"
    assert lines[1] == "  objects  cat, sofa"
    assert lines[-2:] == ["", "a second part", "note: read it"][-2:]
    # A long line is wrapped, not cut.
    assert "".join(lines[2:-2]).count("on") == 30


class Listing(Result):
    notes = ("read it",)

    def parts(self):
        rows = [["objects", "cat, sofa"], ["much", "on " * 30]]
        return [Layout(["", ""], rows, labels=2, title="a [b]cat[/b]"), "a second part"]

    def records(self):
        return []
