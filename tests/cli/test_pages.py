"""What pages, messages and docstrings say: every command, option and name of Python that they give exists."""

import importlib
import re

import pytest

from karat.cli.main import every_command
from net.commands import pages, written

from house import MODULES, SOURCE

COMMANDS = every_command()
GROUPS = {words[0] for words in COMMANDS if len(words) > 1}
PLUG_IN_GROUPS = r"^\| `karat\.\w+`.*$|entry-points\.\"karat\.\w+\"|\(karat\.\w+\)"
"""Where a page names groups of entry points, which are no modules."""
ELSEWHERE = {"karat.toml", "karat.workers", "karat.web.requests"}
"""A file, the names of loggers, and what docs/architecture.md still says for `karat.project.estimate`."""


def options_of(words):
    """Return the options of a command."""
    return {"--help"} | {
        name for param in COMMANDS[words].params for name in (*param.opts, *param.secondary_opts)
    }


def wrong_in(text):
    """Return what a command says that the command line does not have; nothing where all is right."""
    # `KARAT_THREADS=1 karat …`; what follows a pipe is another program.
    typed = text[text.index("karat ") :].split("|")[0].removeprefix("karat --debug").split()
    typed = typed[1:] if typed[:1] == ["karat"] else typed
    words = tuple(typed[:2]) if typed and typed[0] in GROUPS else tuple(typed[:1])
    if words not in COMMANDS:
        # The group alone, or its help; the options before a command.
        alone = all(word.startswith("-") for word in typed[len(set(words[:1]) & GROUPS) :])
        return "" if alone else f"{text}: there is no such command"
    said = (re.match(r"--?[a-z][\w-]*", word) for word in typed)
    strange = {match[0] for match in said if match} - options_of(words)
    # A letter with its value: -mR@1.
    strange = {name for name in strange if name.startswith("--") or name[:2] not in options_of(words)}
    return f"{text}: {', '.join(sorted(strange))}" if strange else ""


def test_wrong_commands_are_seen():
    right = (
        "karat evaluate a.npy -m R@1 --json - | head",
        "KARAT_THREADS=1 karat project -q",
        "karat --help",
    )
    wrong = ("karat evaluate --bca", "karat project polish p.db", "karat publish p.db", "karat evaluate -x")
    assert [one for one in right if wrong_in(one)] == []
    assert [one for one in wrong if not wrong_in(one)] == []


@pytest.mark.parametrize("page", pages())
def test_commands_of_the_pages_exist(page):
    assert [said for command in written(pages()[page]) if (said := wrong_in(command))] == []


def test_commands_in_messages_exist():
    for path in (path for path in SOURCE.rglob("*") if path.suffix in (".py", ".html", ".js", ".toml")):
        commands = re.findall(r"`(karat [^`\n{]+)`", path.read_text(encoding="utf-8"))
        assert [said for command in commands if (said := wrong_in(command))] == [], path


def exists(dotted):
    """Whether a name is a module of karat, or something in one."""
    module, rest = dotted, []
    while module not in MODULES:
        module, _, name = module.rpartition(".")
        rest.insert(0, name)
    thing = importlib.import_module(module)
    for name in rest:
        if not hasattr(thing, name):
            return False
        thing = getattr(thing, name)
    return True


@pytest.mark.parametrize("page", pages())
def test_names_of_python_on_the_pages_exist(page):
    text = re.sub(PLUG_IN_GROUPS, "", pages()[page], flags=re.MULTILINE)
    # Not the end of another word, of an address or of a key in quotes.
    names = set(re.findall(r"(?<![\w./\"\[-])karat(?:\.[A-Za-z_]\w*)+", text)) - ELSEWHERE
    assert [name for name in sorted(names) if not exists(name)] == []
