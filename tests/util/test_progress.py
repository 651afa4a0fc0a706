"""Long work: what is told of its stages, to whom and how often; what a terminal and a notebook show."""

import io
import sys
import threading
import time
import types

import pytest
from rich.console import Console

from karat._util import bars, current_reporter, progress, reporting, say, stage, track
from karat._util.long_work import Stage
from karat._util.progress_bar import TerminalBars, lines
from told import Told


def test_nothing_is_told_without_a_reporter():
    items = [1, 2, 3]
    assert track(items, "reading") is items
    with stage("reading", 3) as reading:
        reading.advance()
        say("nothing")
    assert current_reporter() is None


def test_stages_are_told_inside_each_other():
    shown = []

    class All(Told):
        def show(self, stages):
            shown.append([(one.what, one.done, one.total, one.said) for one in stages])

    with reporting(All()):
        say("loading")
        for run in track(["a", "b"], lambda run: f"scoring {run}"):
            with stage("tiles", 2, done=1) as tiles:
                tiles.at(2)
            say(f"adding up {run}")
    whole = ("", 0, None, "loading")
    assert shown == [
        [whole],
        *(
            step
            for k, run in enumerate("ab")
            for step in (
                [whole, (f"scoring {run}", k, 2, "")],
                [whole, (f"scoring {run}", k, 2, ""), ("tiles", 1, 2, "")],
                [whole, (f"scoring {run}", k, 2, ""), ("tiles", 2, 2, "")],
                [whole, (f"scoring {run}", k, 2, "")],
                [whole, (f"scoring {run}", k, 2, f"adding up {run}")],
                [whole, (f"scoring {run}", k + 1, 2, "")],
            )
        ),
        [whole],
    ]


def test_numbers_are_told_some_ten_times_a_second_and_stages_at_once():
    told = Told()
    told.every = 0.1
    began = time.monotonic()
    with reporting(told):
        for _ in track(range(200_000), "counting"):
            pass
        for name in "abc":
            with stage(name, 1):
                pass
    passed = time.monotonic() - began
    assert len(told.numbers("counting")) <= passed / 0.1 + 2
    assert [name for name in "abc" if told.numbers(name)] == list("abc")


def test_threads_are_told_of_through_a_stage_and_have_no_reporter_of_their_own():
    told, found = Told(), []

    def work(one: Stage):
        found.append(current_reporter())
        for _ in range(1000):
            one.advance()

    with reporting(told), stage("blocks", 4000) as blocks:
        threads = [threading.Thread(target=work, args=(blocks,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert blocks.done == 4000
    assert told.reached == {"blocks": 4000}
    # Python 3.14 without its lock lets threads inherit the context.
    assert set(found) <= {None, told}


def test_an_error_ends_its_stages():
    told = Told()
    shown = []
    told.show = lambda stages: shown.append([one.what for one in stages[1:]])

    def fail():
        with stage("outer", 2):
            for _ in track([1], "inner"):
                raise ZeroDivisionError

    with reporting(told):
        with pytest.raises(ZeroDivisionError):
            fail()
        assert shown[-1] == []
    assert current_reporter() is None


def test_an_abandoned_loop_ends_its_stage():
    told = Told()
    with reporting(told):
        for item in track(range(5), "looking"):
            if item == 2:
                break
        say("done")
    assert told.numbers("looking") == [(0, 5), (1, 5), (2, 5)]
    assert told.said == ["done"]


def test_a_reporter_can_be_put_aside():
    told = Told()
    with reporting(told), reporting(None), stage("quiet", 1) as one:
        one.advance()
    assert told.heard == []


def screen(width: int = 120) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, highlight=False, color_system=None)


def drawn(*stages: Stage) -> str:
    wide = screen()
    shown = TerminalBars(wide)
    shown.show([Stage(None, "", None), *stages])
    wide.print(shown.draw())
    return wide.file.getvalue()


def test_a_terminal_shows_the_share_and_the_time():
    outer, inner = Stage(None, "scoring [b]", 3), Stage(None, "tiles", 1200, done=200)
    outer.began -= 100
    inner.began -= 10
    outer.at(1)
    inner.at(700)
    inner.said = "writing"
    first, second = drawn(outer, inner).splitlines()
    assert "scoring [b]" in first
    assert "33%  1 of 3  1:40  3:20 left" in first
    assert "tiles: writing" in second
    # What was done before it began took no time.
    assert "58%  700 of 1,200  0:10  0:10 left" in second


def test_short_stages_and_totals_of_one_have_no_line():
    outer, one, short = Stage(None, "runs", 3), Stage(None, "tiles", 1), Stage(None, "blocks", 9)
    for stage_of in (outer, one):
        stage_of.began -= 1
    assert [line.what for line in lines([Stage(None, "", None), outer, one, short])] == ["runs"]
    short.began -= 1
    assert [line.what for line in lines([Stage(None, "", None), outer, one, short])] == ["runs", "blocks"]
    deep = [Stage(None, str(k), 9) for k in range(5)]
    for stage_of in deep:
        stage_of.began -= 1
    assert [line.what for line in lines(deep)] == ["0", "4"]


def test_unknown_lengths_have_a_sentence():
    one = Stage(None, "reading rows", None)
    one.at(12_345)
    assert "reading rows 12,345  0:00" in drawn(one)
    whole = Stage(None, "", None)
    whole.said = "loading"
    wide = screen()
    shown = TerminalBars(wide)
    shown.show([whole])
    wide.print(shown.draw())
    assert "loading" in wide.file.getvalue()


def test_bars_leave_nothing_behind():
    wide = screen()

    def fail():
        with bars(wide), stage("scoring", 2):
            assert isinstance(current_reporter(), TerminalBars)
            with progress():
                # Those that are there already are used.
                assert current_reporter().console is wide
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert current_reporter() is None
    # The line was erased.
    assert wide.file.getvalue().rstrip().endswith(("\x1b[2K", "\x1b[?25h"))
    piped = Console(file=io.StringIO())
    with bars(piped):
        assert current_reporter() is None


def test_a_notebook_shows_html(monkeypatch):
    updates = []

    class Place:
        def update(self, html):
            updates.append(html)

    fake = types.ModuleType("IPython.display")
    fake.HTML = str
    fake.display = lambda shown, display_id: Place()
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    with bars(types.SimpleNamespace(is_jupyter=True)), stage("a <b>", 4, done=1):
        pass
    shown = next(html for html in updates if "progress" in html)
    assert shown.startswith('<div><progress value="0.25"></progress>  25% a &lt;b&gt;')
    assert updates[-1] == ""
