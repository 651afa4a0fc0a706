"""The table of options: one name for one thing in every command, on the command line as in Python."""

import importlib
import inspect
import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from dataclasses import fields
from functools import cache
from operator import attrgetter

import numpy as np
import pytest
import typer

from karat.cli import options
from karat.cli.choices import CHOICES, choice_names
from karat.cli.command import PANELS, Command
from karat.cli.main import ORDER, app, built
from karat.judging.pools import GoldChoice, Rates
from karat.runs import Compute, Loading
from karat.world import make_world, save_world, simulate


@cache
def commands():
    """Return every command by its words after ``karat``."""
    found = {}

    def walk(command, words):
        for name, inner in getattr(command, "commands", {}).items():
            walk(inner, (*words, name))
        if isinstance(command, Command):
            found[" ".join(words)] = command

    walk(typer.main.get_command(app), ())
    return found


@pytest.mark.parametrize("name", ORDER)
def test_a_command_is_read_alone(name):
    """It is the same as among all others, and they lose nothing by it."""

    def facts(command):
        inner = {one: facts(each) for one, each in getattr(command, "commands", {}).items()}
        params = [(param.name, param.opts, param.help) for param in command.params]
        return command.name, command.help, command.rich_help_panel, params, inner

    alone = built(name).commands
    assert list(alone) == [name]
    assert facts(alone[name]) == facts(typer.main.get_command(app).commands[name])


def test_names_in_a_help_page_are_those_of_the_moment(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    before = command("evaluate", "--help")
    with monkeypatch.context() as change:
        change.setattr("karat.cli.choices.in_words", lambda placeholder: "other or names")
        assert "other or names" in command("evaluate", "--help")
    assert command("evaluate", "--help") == before


def shown_options(command):
    """Return the options that the help of a command shows."""
    return [p for p in command.params if p.param_type_name == "option" and not p.hidden]


def stem(text):
    """Return the words of a help text that are the same in every command."""
    return re.split(r"[.:;,(]", text)[0]


def test_all_commands_read_their_words_in_one_way():
    names = set(typer.main.get_command(app).commands)
    assert names == {name.split()[0] for name in commands()}
    assert len(commands()) > 30


# The same word, but not the same thing: benchmarks are named and listed, runs are named and read.
TWO_MEANINGS = {
    ("benchmarks add", "--name"),
    ("benchmarks add", "--ids"),
    ("benchmarks show", "--ids"),
    # How much of rankings is compared, not how many items are candidates.
    ("bias", "--depth"),
    # How runs are fused, not how pairs are chosen and estimated.
    ("fuse", "--method"),
    # A truth that says which queries count, not changed captions.
    ("pool", "--queries"),
    # What is changed in captions, not what a file of runs holds.
    ("perturb", "--kind"),
    # The model of a machine judge and its instructions, not a model that is scored and its captions.
    *((f"judge {command}", option) for command in ("calibrate", "run") for option in ("--model", "--prompt")),
    # How many pairs are vetted at a time, not how many are encoded.
    ("simulate", "--batch"),
    # Files of changed queries, not the truth whose queries are pooled.
    ("robustness", "--queries"),
}
# One thing in several types: one metric or several, a number for both directions or one for each.
TWO_TYPES = {"--metric", "--sample", "--output"}


def test_the_same_option_is_the_same_in_every_command():
    uses = defaultdict(list)
    for name, command in commands().items():
        for param in shown_options(command):
            if (name, param.opts[0]) not in TWO_MEANINGS:
                uses[param.opts[0]].append((name, param))
    source = inspect.getsource(options) + inspect.getsource(inspect.getmodule(Command))
    for option, found in uses.items():
        if len(found) == 1:
            continue
        assert f'"{option}' in source, f"{option} is not in the table"
        for what in (
            lambda param: param.opts,
            lambda param: param.rich_help_panel,
            lambda param: param.metavar,
            lambda param: stem(param.help),
            lambda param: param.opts[0] in TWO_TYPES or param.type_descriptor.annotation,
        ):
            kinds = {name: what(param) for name, param in found}
            assert len(set(map(str, kinds.values()))) == 1, f"{option}: {kinds}"


def test_a_letter_means_one_option():
    letters = defaultdict(set)
    for command in commands().values():
        for param in shown_options(command):
            for name in param.opts[1:]:
                letters[name].add(param.opts[0])
    assert letters.pop("-m") == {"--measure", "--metric"}
    assert {name: found for name, found in letters.items() if len(found) > 1} == {}


# What is the command line's alone: where things are written and shown, what becomes another object first.
BY_HAND = {
    "output", "json", "quiet", "benchmark", "qrels", "setting", "intervals", "interval_method", "level",
    "resamples", "seed", "similarity", "ids", "transpose", "name", "memory",
}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "functions", "more"),
    [
        ("evaluate", ["karat:evaluate", "karat:load_model", "karat:Scheduler"], {"per_query", "model"}),
        ("compare", ["karat:compare", "karat:evaluate", "karat:Scheduler"], {"detail"}),
        ("report", ["karat:report", "karat:PageOptions", "karat:evaluate", "karat:Scheduler"], set()),
        (
            "explain",
            [
                "karat:explain_failures",
                "karat.explanations:ConceptComparison",
                "karat.explanations:FaultChoices",
                "karat:PageOptions",
            ],
            {"local"},
        ),
        (
            "rules",
            [
                "karat.explanations:find_rules",
                "karat.explanations:summarise_marks",
                "karat.judging:project_marks",
                "karat.judging:AcceptanceRule",
            ],
            set(),
        ),
        ("correlate", ["karat.scores:correlate"], set()),
        (
            "agree",
            ["karat.scores:agree", "karat.scores:read_ratings", "karat.captions:collect_scores"],
            {"score"},
        ),
        (
            "curve",
            ["karat.scores:semantic_recall_curve", "karat:evaluate"],
            set(),
        ),
        ("encode", ["karat:encode", "karat:load_model"], set()),
        ("fuse", ["karat.models:fuse"], {"method_set"}),
        ("convert", ["karat.runs:convert"], set()),
        ("normalise", ["karat:normalise"], {"how_set"}),
        ("inspect", ["karat:inspect", "karat:find_duplicates"], {"duplicates", "near", "against_set"}),
        ("perturb", ["karat:perturb_captions"], set()),
        ("robustness", ["karat:assess_robustness"], set()),
        (
            "pool",
            [
                "karat.judging:make_pool",
                "karat.judging:QuerySample",
                "karat.judging:estimate_cost",
                "karat:Scheduler",
            ],
            {"dry_run", "force"},
        ),
        ("tasks", ["karat.judging:make_tasks", "karat.judging:estimate_cost"], {"dry_run"}),
        ("bias", ["karat.judging:measure_bias", "karat.judging:AcceptanceRule"], {"run", "drop_empty"}),
        (
            "quality",
            [
                "karat.judging:answer_quality",
                "karat.judging:AcceptanceRule",
                "karat.judging.quality:review_assignments",
            ],
            {"approve_passed", "reviewer", "export_review"},
        ),
        ("publish", ["karat.judging:publish", "karat.judging:AcceptanceRule"], {"invalid", "reviewer"}),
        ("backup", ["karat.judging.store:back_up"], set()),
    ],
)
def test_options_are_named_as_in_python(command, functions, more):
    known = set(BY_HAND | more)
    for function in functions:
        module, _, name = function.partition(":")
        known |= set(inspect.signature(getattr(importlib.import_module(module), name)).parameters)
    for record in (Loading, Compute):
        # What concerns reading runs and computing is a record in Python.
        known |= {field.name for field in fields(record)} if record.__name__.lower() in known else set()
    if "rates" in known:
        known |= {field.name for field in fields(Rates)}
    if "gold" in known:
        known |= {f"gold_{field.name}" for field in fields(GoldChoice)}
    for param in shown_options(commands()[command]):
        assert param.name in known, f"{command} --{param.name}"
        assert param.name == "setting" or param.opts[0] == "--" + param.name.replace("_", "-")


@pytest.mark.parametrize("placeholder", sorted(CHOICES))
def test_placeholders_stand_for_what_is_registered(placeholder):
    package, _, attribute = CHOICES[placeholder].partition(":")
    holder = attrgetter(attribute)(importlib.import_module(package))
    names = list(holder() if callable(holder) else holder)
    assert len(names) > 1
    assert choice_names(placeholder) == [name.replace("_", "-") for name in names]
    texts = [p.help or "" for c in commands().values() for p in c.params]
    used = {name for text in texts for name in re.findall(r"\{(\w+)\}", text)}
    # What help texts do not name is there for the shell.
    assert placeholder in used | {"sources", "measures"}


def test_no_help_text_lists_registered_names():
    # Extensions of files are in many texts, and so are directions, in examples.
    for placeholder in set(CHOICES) - {"run_files", "run_targets", "list_files", "measures", "directions"}:
        names = set(choice_names(placeholder))
        for path, command in commands().items():
            for text in [command.help, *(p.help or "" for p in command.params)]:
                words = set(re.findall(r"[\w.+-]*\w", text))
                assert len(names & words) < min(3, len(names)), f"{path}: {text!r} lists {placeholder}"


def run(*words, **env):
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "karat", *words],
        env=os.environ | env,
        capture_output=True,
        text=True,
    )


def test_the_help_is_short_and_fast():
    code = (
        "import sys; sys.argv[1:] = ['--help']\n"
        "from karat.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: print(*sorted(m for m in sys.modules if '.' not in m))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"COLUMNS": "80"}, capture_output=True, text=True
    )
    *page, modules = done.stdout.splitlines()
    assert not {"numpy", "polars", "scipy", "numba", "sqlalchemy"} & set(modules.split())
    assert "Start with:  karat evaluate sims.npy -b coco" in done.stdout
    headings = re.findall(r"╭─ (.*?) ─", "\n".join(page))
    assert headings == [
        "Options", "Every day", "Scores", "Estimates", "Captions", "Models", "Judging", "Data"
    ]  # fmt: skip
    listed = [line for line in page if re.match(r"│ [a-z]+ ", line)]
    # One line each.
    assert len(listed) == len(typer.main.get_command(app).commands)
    for name, command in commands().items():
        assert len(command.help.split("\n\n")[0]) <= 64, name


def test_the_help_of_a_command_has_panels_and_names(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    page = command("evaluate", "--help")
    headings = re.findall(r"╭─ (.*?) ─", page)
    assert headings == [
        "Arguments", "Input", "The model", "What is scored", "Intervals and tests", "Output", "Other"
    ]  # fmt: skip
    assert "Usage: karat evaluate [OPTIONS] [FILE...]" in page
    assert "pessimistic, optimistic," in page
    assert not re.search(r"<\w+>|\{\w+\}|x>=", page)
    assert all(len(line) <= 80 for line in page.splitlines())
    for name in commands():
        page = command(*name.split(), "--help")
        # The address of an image has braces of its own.
        assert not re.search(r"<\w+>|\{(?!name|id)\w+\}", page), name
        found = re.findall(r"╭─ (.*?) ─", page)
        panels = [heading for heading in found if heading in PANELS]
        assert panels == sorted(panels, key=PANELS.index), name


def completed(*words, word=""):
    """Return what bash offers after words, for the beginning of a word."""
    line = " ".join(["karat", *words, word])
    done = run(_KARAT_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) + 1))
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_completion_in_the_shell(tmp_path):
    assert completed(word="ev") == ["evaluate"]
    assert completed("judge") == ["calibrate", "run", "list"]
    assert completed("evaluate", word="--ti") == ["--ties"]
    assert "--measures" not in completed("evaluate", word="--me")
    assert completed("evaluate", "--ties", word="p") == ["pessimistic"]
    assert completed("fuse", "a.npy", "--method", word="rr") == ["rrf"]
    assert completed("captions", "table", "my/", "-m", word="bleu-1,sp") == ["bleu-1,spice"]
    assert {"coco", "flickr8k"} <= set(completed("evaluate", "-b"))
    script = run("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_KARAT_COMPLETE" in script.stdout


# Words as they are typed, and as the command reads them.
READ = [
    ("-m R@1,mAP@R -m RP a.npy", "-m R@1 -m mAP@R -m RP a.npy"),
    ("-m 'SR(cider, m=10)@5,RP' a.npy", "-m 'SR(cider, m=10)@5' -m RP a.npy"),
    ("-m R@1 sims.npy", "-m R@1 sims.npy"),
    ("-mR@1,RP sims.npy", "-m R@1 -m RP sims.npy"),
    ("--name A a.npy", "--name A a.npy"),
    ("--name=A,B a.npy b.npy", "--name A --name B a.npy b.npy"),
    ("-m R@1 runs/clip", "-m R@1 runs/clip"),
    ("-m R@1 here", "-m R@1 here"),
    ("--phi mine=a,b.npy a.npy", "--phi mine=a,b.npy a.npy"),
    ("--set x=1 coco a.npy", "--set x=1 coco a.npy"),
    ("-m R@1 mAP@R", "-m R@1 mAP@R"),
    ("--set x=1 --set y=2 a.npy", "--set x=1 --set y=2 a.npy"),
    ("--min-kappa -1 a.npy", "--min-kappa -1 a.npy"),
    ("-o -m a.npy", "-o -m a.npy"),
    ("a.npy -- -m R@1,RP", "a.npy -- -m R@1,RP"),
]


@pytest.mark.parametrize(("typed", "read"), READ)
def test_words_are_read(typed, read):
    assert commands()["evaluate"].one_by_one(shlex.split(typed)) == shlex.split(read)


def test_commas_belong_to_captions():
    command = commands()["captions score"]
    assert command.one_by_one(["--candidate", "a dog, running"]) == ["--candidate", "a dog, running"]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A small world, and two runs in it."""
    folder = tmp_path_factory.mktemp("options")
    made = make_world(12, 2, seed=1)
    save_world(made, folder / "world", pictures=False)
    for name, strength in (("a", 2), ("b", 4)):
        np.save(folder / f"{name}.npy", simulate(made, strength, seed=1).scores)
    return folder


def test_an_option_does_not_take_the_file_after_it(both, world, monkeypatch):
    monkeypatch.chdir(world)
    new = both("evaluate", "-b", "world/", "-m", "R@1", "a.npy")
    assert new.err == ""
    assert "R@1" in both("evaluate", "-b", "world/", "--name", "A", "a.npy").out
    assert both("evaluate", "a.npy", "b.npy", "-b", "world/", "-m", "R@1,RP", "--name", "A,B").err == ""


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--measures R@1", "No such option: --measures (Possible options: --measure"),
        ("--bca", "No such option: --bca"),
        ("-m R@1 mAP@R", "mAP@R: there is no such file"),
    ],
)
def test_mistyped_words_are_named(both, world, monkeypatch, typed, said):
    monkeypatch.chdir(world)
    found = both("evaluate", "a.npy", "-b", "world/", *typed.split(), code=2)
    assert said in found.err
    assert found.out == ""


def test_quiet_prints_nothing(both, world, monkeypatch):
    monkeypatch.chdir(world)
    found = both("evaluate", "a.npy", "-b", "world/", "-q", "--json", "card.json")
    assert found.out == ""
    assert (world / "card.json").stat().st_size > 100
    assert both("measures", "--quiet").out == ""
    assert "no such folder" in both("evaluate", "a.npy", "-b", "none/", "-q", code=2).err


def test_force_replaces_a_project(command, world, monkeypatch):
    monkeypatch.chdir(world)
    words = ("pool", "a.npy", "b.npy", "-b", "world/", "--top", "1", "--gold", "0", "-o", "p.db")
    command(*words)
    assert "already exists; choose another name, or pass --force" in command(*words, code=2)
    assert "wrote p.db" in command(*words, "--force")
