"""The table of options: one name for one thing in every command, on the command line as in Python."""

import importlib
import inspect
import keyword
import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from dataclasses import fields
from functools import cache, reduce
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

import karat
from karat.cli import options
from karat.cli.choices import CHOICES, choice_names
from karat.cli.command import PANELS, Command, dressed
from karat.cli.main import PANELS as HEADINGS
from karat.cli.main import built, every_command, needed
from karat.judging import AcceptanceRule
from karat.judging.pools import GoldChoice, Rates
from karat.runs import Loading
from karat.training import NetworkOptions, TrainingOptions
from karat.world import make_world, save_world, simulate


@cache
def commands():
    """Return every command by its words after ``karat``."""
    return {" ".join(words): command for words, command in every_command().items()}


def test_a_command_is_read_alone():
    """It is the same as among all others, and they lose nothing by it."""

    def facts(command):
        return command.name, command.help, [(param.name, param.opts, param.help) for param in command.params]

    for name in commands():
        words = name.split()
        alone = needed([*words, "--help"])
        for word in words:
            assert [*alone.commands] == [word], name
            alone = alone.commands[word]
        assert facts(alone) == facts(commands()[name]), name


def test_names_in_a_help_page_are_those_of_the_moment(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    before = command("evaluate", "--help")
    with monkeypatch.context() as change:
        change.setattr("karat.cli.choices.in_words", lambda placeholder: "other or names")
        assert "other or names" in command("evaluate", "--help")
    assert command("evaluate", "--help") == before


def shown_options(command):
    """Return the options that the help of a command shows."""
    return [p for p in dressed(command.params) if p.param_type_name == "option" and not p.hidden]


def stem(text):
    """Return the words of a help text that are the same in every command."""
    return re.split(r"[.:;,(]", text)[0]


def test_there_are_few_of_each():
    """Some two dozen words after ``karat``, and commands whose options can be read at a glance."""
    assert len(built().commands) <= 28
    assert {name.split()[0] for name in commands()} == set(built().commands)
    most = {name: len(shown_options(command)) for name, command in commands().items()}
    # With --quiet, without --help.
    assert {name: number for name, number in most.items() if number > 23} == {}
    assert sum(most.values()) - len(most) < 600


def test_every_command_is_a_function_of_its_name():
    for words in every_command():
        *groups, name = (word.replace("-", "_") for word in words)
        holder = karat
        for group in groups:
            holder = getattr(holder, group)
        # A word of Python's own gets what PEP 8 gives it.
        assert callable(function_of(" ".join(words))), words
        assert f"{name}_" in dir(holder) or name in dir(holder)
        assert name in karat.__doc__


# The same word, but not the same thing: benchmarks are named and listed, runs are named and read.
TWO_MEANINGS = {
    ("benchmarks add", "--name"),
    ("benchmarks add", "--ids"),
    ("benchmarks show", "--ids"),
    # How much of rankings is compared, not how many items are candidates.
    ("project bias", "--depth"),
    # How runs are fused, not how pairs are chosen and estimated.
    ("fuse", "--method"),
    # A truth that says which queries count, not changed captions.
    ("project pool", "--queries"),
    # What is changed in captions, not what a file of runs holds.
    ("perturb", "--kind"),
    # The model of a machine judge and its instructions, not a model that is scored and its captions.
    *((f"project {name}", option) for name in ("calibrate", "judge") for option in ("--model", "--prompt")),
    # How many pairs are vetted at a time, not how many are encoded.
    ("simulate", "--batch"),
    ("detections simulate", "--batch"),
    # A file of instances, not the name of a benchmark.
    *((f"detections {name}", "--benchmark") for name in ("pool", "estimate", "simulate")),
    # Files of changed queries, not the truth whose queries are pooled.
    ("robustness", "--queries"),
}
# One thing in several types: one metric or several, a number for both directions or one for each.
TWO_TYPES = {"--metric", "--sample", "--output", "--resamples"}


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
    "output", "json", "quiet", "benchmark", "setting", "intervals", "interval_method", "level", "resamples",
    "seed", "similarity", "name", "files",
}  # fmt: skip
# What commands take besides the parameters of their function: those of other functions and records, and names
# that become something else first.
MORE = {
    "evaluate": (["karat:load_model"], {"per_query", "model"}),
    "compare": (["karat:evaluate"], {"detail"}),
    "report": (["karat:PageOptions", "karat:evaluate"], set()),
    "explain": (
        ["karat.explanations:ConceptComparison", "karat.explanations:FaultChoices", "karat:PageOptions"],
        {"local"},
    ),
    "captions curve": (["karat:evaluate"], set()),
    "board report": (["karat:PageOptions"], set()),
    # `NetworkOptions.text`, `TrainingOptions.measure`.
    "train": ([], {"text_side", "dev_measure"}),
    "fuse": ([], {"method_set"}),
    "normalise": ([], {"how_set"}),
    "inspect": (["karat:find_duplicates"], {"duplicates", "near", "against_set"}),
    "estimate": ([], {"feature"}),
    "simulate": ([], {"feature"}),
}


def function_of(name):
    """Return the Python function of a command."""
    *groups, verb = name.replace("-", "_").split()
    holder = reduce(getattr, groups, karat)
    return getattr(holder, f"{verb}_" if keyword.iskeyword(verb) else verb)


def test_options_are_named_as_in_python():
    wrong = {name: options_unlike_python(name) for name in commands()}
    assert {name: options for name, options in wrong.items() if options} == {}


def options_unlike_python(name):
    """Return the options of a command that the function of its name does not have, or writes otherwise."""
    functions, more = MORE.get(name, ([], set()))
    known = BY_HAND | more | set(inspect.signature(function_of(name)).parameters)
    for function in functions:
        module, _, inner = function.partition(":")
        known |= set(inspect.signature(getattr(importlib.import_module(module), inner)).parameters)
    # What travels as a record in Python.
    known |= {"device"} if "compute" in known else set()
    records = {
        "loading": Loading,
        "rates": Rates,
        "acceptance": AcceptanceRule,
        "network": NetworkOptions,
        "options": TrainingOptions,
    }
    for parameter, record in records.items():
        known |= {field.name for field in fields(record)} if parameter in known else set()
    if "gold" in known:
        known |= {f"gold_{field.name}" for field in fields(GoldChoice)}
    options = [
        param
        for param in commands()[name].params
        if param.param_type_name == "option" and param.name not in ("help", "quiet")
    ]
    written = {param.name: param.name.rstrip("_").replace("_", "-") for param in options}
    return [
        param.opts[0]
        for param in options
        if param.name not in known
        or (param.name != "setting" and param.opts[0] != f"--{written[param.name]}")
    ]


@pytest.mark.parametrize("placeholder", sorted(CHOICES))
def test_placeholders_stand_for_what_is_registered(placeholder):
    package, _, attribute = CHOICES[placeholder].partition(":")
    holder = attrgetter(attribute)(importlib.import_module(package))
    names = list(holder() if callable(holder) else holder)
    # Of machine judges by name karat has one; others come from plug-ins.
    assert len(names) > (placeholder != "judges")
    assert choice_names(placeholder) == [name.replace("_", "-") for name in names]
    texts = [p.help or "" for c in commands().values() for p in c.params]
    used = {name for text in texts for name in re.findall(r"\{(\w+)\}", text)}
    # What help texts do not name is there for the shell.
    assert placeholder in used | {"sources", "measures", "directions"}


def test_no_help_text_lists_registered_names():
    # Extensions of files are in many texts, and so are directions, in examples.
    for placeholder in set(CHOICES) - {"run_files", "run_targets", "list_files", "measures", "directions"}:
        names = set(choice_names(placeholder))
        for path, command in commands().items():
            for text in [command.help, *(p.help or "" for p in command.params)]:
                words = set(re.findall(r"[\w.+-]*\w", text))
                assert len(names & words) < max(2, min(3, len(names))), (
                    f"{path}: {text!r} lists {placeholder}"
                )


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
    assert headings == ["Options", *HEADINGS]
    listed = [line for line in page if re.match(r"│ [a-z]+ ", line)]
    # One line each.
    assert len(listed) == len(built().commands)
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
    assert completed("project", word="ca") == ["calibrate"]
    assert {"pool", "tasks", "publish"} <= set(completed("project"))
    assert completed("evaluate", word="--ti") == ["--ties"]
    assert "--measures" not in completed("evaluate", word="--me")
    assert completed("evaluate", "--ties", word="p") == ["pessimistic"]
    assert completed("fuse", "a.npy", "--method", word="rr") == ["rrf"]
    assert completed("captions", "table", "my/", "-m", word="bleu-1,sp") == ["bleu-1,spice"]
    assert {"coco", "flickr8k"} <= set(completed("evaluate", "-b"))
    script = run("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_KARAT_COMPLETE" in script.stdout


# Words as they are typed, and the values that the command takes from them.
READ = [
    ("-m R@1,mAP@R -m RP a.npy", {"measure": ["R@1", "mAP@R", "RP"]}),
    ("-m 'SR(cider, m=10)@5,RP' a.npy", {"measure": ["SR(cider, m=10)@5", "RP"]}),
    ("-m R@1 a.npy", {"measure": ["R@1"], "files": [Path("a.npy")]}),
    ("-mR@1,RP a.npy", {"measure": ["R@1", "RP"]}),
    ("--name=A,B a.npy", {"name": ["A", "B"]}),
    ("--phi mine=a,b.npy a.npy", {"phi": ["mine=a,b.npy"]}),
    ("--set x=1 --set y=2 a.npy", {"setting": ["x=1", "y=2"]}),
    ("-o -m a.npy", {"output": Path("-m")}),
    ("a.npy -- b.npy", {"files": [Path("a.npy"), Path("b.npy")]}),
    ("a.npy", {"measure": None, "name": None}),
]


@pytest.mark.parametrize(("typed", "read"), READ)
def test_words_are_read(world, monkeypatch, typed, read):
    monkeypatch.chdir(world)
    params = commands()["evaluate"].make_context("evaluate", shlex.split(typed)).params
    for name, value in read.items():
        given = params[name]
        assert (list(given) if isinstance(value, list) else given) == value


def test_commas_belong_to_captions():
    given = ["--references", "r.txt", "--candidate", "a dog, running"]
    params = commands()["captions score"].make_context("score", given).params
    assert list(params["candidate"]) == ["a dog, running"]


def test_a_comma_may_be_part_of_the_name_of_a_file(world, monkeypatch):
    monkeypatch.chdir(world)
    (world / "x,y.npy").touch()
    given = ["p.db", "--run", "x,y.npy", "--run", "a.npy,b.npy"]
    params = commands()["project next"].make_context("next", given).params
    assert [str(path) for path in params["run"]] == ["x,y.npy", "a.npy", "b.npy"]


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
        ("--qrels q.txt", "No such option: --qrels"),
        (
            "--threads 4",
            "--threads is a setting of this machine; set KARAT_THREADS, or threads in karat.toml",
        ),
        ("-m", "Option '-m' requires an argument; see karat evaluate --help."),
        ("--bca --threads 4", "No such option: --bca"),
    ],
)
def test_mistyped_words_are_named(both, world, monkeypatch, typed, said):
    monkeypatch.chdir(world)
    found = both("evaluate", "a.npy", "-b", "world/", *typed.split(), code=2)
    assert said in found.err
    assert found.out == ""


MEANT = {
    "publish": "karat project publish",
    "pool": "karat detections pool` or `karat project pool",
    "evalaute": "karat evaluate",
    "eval": "karat evaluate",
    "compair": "karat compare",
    "leaderboard": "karat board",
    "leaderbord": "karat board",
    "answers": "karat project export",
    "backup": "karat project backup",
    "calibrate": "karat project calibrate",
    "correlate": "karat board correlate",
    "parse": "karat captions parse",
    "curve": "karat captions curve",
    "metrics": "karat measures",
    "score": "karat evaluate",
    "test": "karat compare",
    "annotate": "karat serve",
    "normalize": "karat normalise",
    "benchmark": "karat benchmarks",
    "kappa": "karat agree",
    "embed": "karat encode",
    "project publsih": "karat project publish",
    "captions tabel": "karat captions table`?",
    "detections est": "karat detections estimate`?",
    "project evaluate": "karat evaluate`?",
    "train-model": "karat train`?",
}
"""Words that people try, and what they are told."""


@pytest.mark.parametrize("word", MEANT)
def test_a_word_that_is_no_command_is_told_what_it_may_be(both, word):
    said = both(*word.split(), "x.db", code=2).err
    assert said.startswith(f"karat: there is no command `karat {word}`; did you mean `{MEANT[word]}")
    assert said.count("\n") == 1


def test_a_project_is_not_a_run(both, world, monkeypatch):
    monkeypatch.chdir(world)
    both("project", "pool", "a.npy", "-b", "world/", "--top", "1", "--gold", "0", "-o", "not-a-run.db")
    for words in (("evaluate", "not-a-run.db"), ("estimate", "a.npy", "not-a-run.db", "--noisy", "original")):
        said = both(*words, "-b", "world/", code=2).err
        assert said == "karat: not-a-run.db: is a project; see karat project --help for what takes one.\n"


def test_a_word_like_nothing_is_told_where_commands_are_listed(both):
    for word in ("qqqq", ""):
        assert both(word, code=2).err == f"karat: there is no command `karat {word}`; see karat --help.\n"


def test_quiet_prints_nothing(both, world, monkeypatch):
    monkeypatch.chdir(world)
    found = both("evaluate", "a.npy", "-b", "world/", "-q", "--json", "card.json")
    assert found.out == ""
    assert (world / "card.json").stat().st_size > 100
    assert both("measures", "list", "--quiet").out == ""
    assert "no such folder" in both("evaluate", "a.npy", "-b", "none/", "-q", code=2).err


def test_force_replaces_a_project(command, world, monkeypatch):
    monkeypatch.chdir(world)
    words = ("project", "pool", "a.npy", "b.npy", "-b", "world/", "--top", "1", "--gold", "0", "-o", "p.db")
    command(*words)
    assert "already exists; choose another name, or pass --force" in command(*words, code=2)
    assert "wrote p.db" in command(*words, "--force")
