"""Machine judges at work: nothing is asked twice, nothing is used before it was compared with people."""

import json

import numpy as np
import pytest

from karat.errors import InputError
from karat.forms import AnswerRows, load_form
from karat.forms.answer_table import MACHINE
from karat.judging import make_pool
from karat.judging.machine_judges import (
    Reply,
    ScoringJudge,
    calibrate_in,
    calibration_of,
    judge_in,
    kept_judge,
    learn_judge,
)
from karat.judging.machine_judges.work import ask, questions_about, stored_replies
from karat.store import create_project
from karat.world import ask as ask_people
from karat.world import careful, make_world, simulate

FORM = load_form("pair")
CODES = ["no", "mostly_no", "partially", "yes"]


class Project:
    """What the fixture makes: a project with half of its pool judged by two careful people."""

    def __init__(self, tmp_path):
        self.world = make_world(images=40, captions=2, seed=5)
        self.benchmark = self.world.benchmark()
        self.runs = [
            simulate(self.world, 4.0, seed=n, name=f"system-{n}").align(self.benchmark) for n in range(2)
        ]
        self.pool = make_pool(self.runs, self.benchmark, top=4)
        self.half = np.arange(len(self.pool)) % 2 == 0
        self.store = create_project(tmp_path / "p.db", self.benchmark, FORM, source="world")
        self.store.pools.set(self.pool)
        pairs = (self.pool.image[self.half], self.pool.caption[self.half])
        said = ask_people(self.world, *pairs, [careful("ann"), careful("bea")], seed=1)
        details = [{"shortcomings": ["grammar"]} if r in (2, 3) else None for r in said.rating]
        self.store.answers.record(
            AnswerRows(
                np.full(len(said), -1), said.image, said.caption,
                [said.annotators[number] for number in said.annotator],
                [CODES[r - 1] for r in said.rating], details=details,
            )
        )  # fmt: skip

    def judge(self, name="oracle", right=True, calls=None):
        def score(questions):
            if calls is not None:
                calls.extend(questions)
            image, caption = (
                np.array([getattr(q, side) for q in questions]) for side in ("image", "caption")
            )
            share = self.world.pair_shares(image, caption)
            return share if right else -share

        return ScoringJudge(name, score, (1e-9, 0.5, 1.0) if right else (-1.0, -0.5, -1e-9), FORM)


@pytest.fixture
def made(tmp_path):
    project = Project(tmp_path)
    yield project
    project.store.close()


def test_a_judge_is_refused_until_people_agree_with_it(made):
    judge = made.judge()
    with pytest.raises(InputError, match="never compared with people"):
        judge_in(made.store, judge)
    assert calibration_of(made.store, judge) is None
    found = calibrate_in(made.store, judge, sample=80)
    assert found.kappa.low > 0.6
    assert found.people is not None
    assert found.asked == 80
    with pytest.raises(InputError, match="80 pairs, not 5000"):
        judge_in(made.store, judge, min_pairs=5000)
    added = judge_in(made.store, judge)
    assert added == int((~made.half).sum())
    answers = made.store.answers.read()
    machine = np.array([kind == MACHINE for kind in answers.kinds])[answers.annotator]
    assert machine.sum() == added
    truth = made.world.pair_relevance(answers.image[machine], answers.caption[machine])
    assert np.array_equal(answers.rating[machine] == 4, truth)
    # Again: everything is answered.
    assert judge_in(made.store, judge) == 0


def test_a_judge_who_errs_is_refused(made):
    bad = made.judge("liar", right=False)
    calibrate_in(made.store, bad)
    with pytest.raises(InputError, match="not fit to be used: the lower end"):
        judge_in(made.store, bad)
    other = ScoringJudge("oracle", bad.score, (0.1, 0.2, 0.3), FORM)
    with pytest.raises(InputError, match="never compared"):
        judge_in(made.store, other)


def test_nothing_is_asked_twice_and_costs_are_bounded(made):
    calls = []
    judge = made.judge(calls=calls)
    asked = questions_about(made.benchmark, made.pool.image[:30], made.pool.caption[:30])
    first = list(ask(made.store, judge, asked[:20]))
    assert len(calls) == 20
    second = list(ask(made.store, judge, asked))
    assert len(calls) == 30
    assert {(one.image, one.caption, one.code) for one in first} <= {
        (one.image, one.caption, one.code) for one in second
    }
    assert len(list(stored_replies(made.store, judge))) == 30

    class Dear:
        name, model, version, needs_images = "dear", "dear", "1", False

        def judge(self, questions):
            for one in judge.judge(questions):
                yield type(one)(
                    one.image, one.caption, one.code, raw="said", cost=1.0, tokens_in=7, sent="asked"
                )

    with pytest.raises(InputError, match=r"has cost 3\.00"):
        list(ask(made.store, Dear(), asked, max_cost=3.0))
    kept = list(stored_replies(made.store, Dear()))
    assert [(one.cost, one.raw, one.sent, one.tokens_in) for one in kept] == [(1.0, "said", "asked", 7)] * 3


def test_a_run_learns_from_half_of_the_images(made):
    run = made.runs[0]
    with pytest.raises(InputError, match="never compared"):
        kept_judge(made.store, run)
    judge, rest = learn_judge(made.store, run, seed=3)
    answers = made.store.answers.read()
    assert 0 < len(rest) < len(np.unique(answers.image))
    found = calibrate_in(made.store, judge, images=rest)
    assert found.competitor == "system-0"
    assert found.kappa.value > 0.1
    asked = list(stored_replies(made.store, judge))
    assert np.isin([one.image for one in asked], rest).all()
    assert kept_judge(made.store, run).version == judge.version


def test_images_that_people_have_not_judged(made):
    with pytest.raises(InputError, match="not judged any of the pairs yet"):
        calibrate_in(made.store, made.judge(), images=np.array([10**6]))


def test_command_line(made, tmp_path, monkeypatch, capsys):
    from karat.cli.main import main

    made.world.save(tmp_path / "world", pictures=False)
    # The store remembers where its benchmark came from.
    np.save(tmp_path / "system-0.npy", made.runs[0].scores)
    with create_project(tmp_path / "q.db", made.benchmark, FORM, source=str(tmp_path / "world")) as project:
        project.pools.set(made.pool)
        answers = made.store.answers.read()
        details = [{"shortcomings": ["grammar"]} if r in (2, 3) else None for r in answers.rating]
        project.answers.record(
            AnswerRows(
                answers.assignment, answers.image, answers.caption,
                [answers.annotators[number] for number in answers.annotator],
                [FORM.code_of(r) for r in answers.rating], details=details,
            )
        )  # fmt: skip

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["karat", "project", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        out = capsys.readouterr()
        return stop.value.code, out.out, out.err

    where, run_file = tmp_path / "q.db", tmp_path / "system-0.npy"
    code, out, err = run("calibrate", where, "--run", run_file, "--json", tmp_path / "c.json")
    assert (code, err) == (0, "")
    assert "competitor 'system-0'" in out
    assert json.loads((tmp_path / "c.json").read_text())[0]["judge"] == "system-0"
    code, _, err = run("judge", where, "--run", run_file, "--min-kappa", "0.99")
    assert code == 2
    assert "not fit to be used" in err
    code, out, err = run("judge", where, "--run", run_file, "--min-kappa", "-1", "--min-pairs", "1")
    assert (code, err) == (0, "")
    assert out.startswith("added ")
    code, out, _ = run("judges", where)
    assert code == 0
    assert "system-0" in out
    code, _, err = run("calibrate", where)
    assert code == 2
    assert "no single machine judge is given" in err
    code, _, err = run("calibrate", where, "--url", "http://127.0.0.1:1/v1", "--model", "m")
    assert code == 2
    assert "no image files" in err


class Mute:
    """A machine judge that answers the first questions only."""

    name, model, version, needs_images = "mute", "mute", "1", False

    def __init__(self, answers):
        self.answers = answers

    def judge(self, questions):
        for number, question in enumerate(questions):
            code = "yes" if number < self.answers else None
            yield Reply(question.image, question.caption, code, error="" if code else "it is mute")


def test_a_judge_without_any_answer_is_not_calibrated(made):
    with pytest.raises(InputError, match="'mute' gave no answer to 9 pairs: it is mute"):
        calibrate_in(made.store, Mute(0), sample=9)
    assert calibration_of(made.store, Mute(0)) is None


def test_a_calibration_with_undefined_figures_is_kept(made):
    found = calibrate_in(made.store, Mute(1), sample=9)
    assert np.isnan(found.kappa.low)
    kept = calibration_of(made.store, Mute(1))
    assert kept.answered == 1
    assert np.isnan(kept.kappa.low)
    assert "undefined" in kept.objections()[1]
