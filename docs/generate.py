"""Write the reference pages from the registry and the docstrings: ``make docs``."""

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import typer

from karat.captions import CAPTION_METRICS
from karat.cli.choices import filled
from karat.cli.command import PANELS, RENAMED, Command, dressed
from karat.cli.main import app
from karat.measures.reference import to_markdown

HERE = Path(__file__).parent / "reference"
PACKAGES = (
    "karat", "karat.benchmarks", "karat.runs", "karat.measures", "karat.stats", "karat.scores",
    "karat.lexicon", "karat.lexicon.syntax", "karat.captions", "karat.world", "karat.models",
    "karat.models.images", "karat.models.text", "karat.judging", "karat.judging.store",
    "karat.judging.judges", "karat.judging.exchange", "karat.reports", "karat.web",
)  # fmt: skip


def api() -> str:
    """Return the page of public names: each with its call and the first line of its docstring."""
    lines = [
        "# Public names",
        "",
        "Made from the docstrings by `make docs`; `help(karat.evaluate)` shows more.",
        "",
    ]
    for package in PACKAGES:
        module = importlib.import_module(package)
        lines += [f"## `{package}`", "", (inspect.getdoc(module) or "").split("\n")[0], ""]
        for name in sorted(module.__all__, key=str.lower):
            thing = getattr(module, name)
            first = (inspect.getdoc(thing) or "").split("\n")[0]
            if inspect.isroutine(thing) or hasattr(thing, "__wrapped__"):
                arguments = ", ".join(
                    f"*{p.name}"
                    if p.kind is p.VAR_POSITIONAL
                    else f"**{p.name}"
                    if p.kind is p.VAR_KEYWORD
                    else p.name
                    for p in inspect.signature(thing).parameters.values()
                )
                lines.append(f"- `{name}` `({arguments})`: {first}")
            elif inspect.isclass(thing):
                lines.append(f"- `{name}`: {first}")
            else:
                lines.append(f"- `{name}`")
        lines.append("")
    return "\n".join(lines)


def caption_metrics() -> str:
    """Return the page of caption metrics: each with its formula, paper, range and other names."""
    lines = ["# Caption metrics", "", "Made from the registry by `make docs`.", ""]
    for name in sorted(CAPTION_METRICS):
        metric = CAPTION_METRICS[name]
        lines += [f"## `{name}`", "", (inspect.getdoc(metric) or "").split("\n")[0], ""]
        lines += [f"- **formula**: {metric.formula}", f"- **paper**: {metric.source}"]
        lines += [f"- **also**: {', '.join(metric.aliases)}"] if metric.aliases else []
        lines += [f"- **range**: 0 to {metric.highest:g}", ""]
    return "\n".join(lines)


def options() -> str:
    """Return the page of options that several commands take, and of their names in the version before."""
    uses: dict[str, list[tuple[str, Any]]] = {}
    for name, command in commands(typer.main.get_command(app)).items():
        for param in dressed(command.params):
            if param.param_type_name == "option" and not param.hidden:
                uses.setdefault(param.opts[0], []).append((name, param))
    lines = [
        "# Options",
        "",
        "The options that more than one command takes, made by `make docs` from the commands' own table.",
        "They are named as in Python: `--interval-method` is `interval_method=`. Options that take several",
        "values are repeated or take commas: `-m R@1,RP` is `-m R@1 -m RP`. Options that take `NAME=VALUE`",
        "are repeated.",
        "",
    ]
    for panel in PANELS:
        rows = []
        for _, found in sorted(uses.items()):
            # Where a word means something else, it is not this option.
            same = [(name, param) for name, param in found if stem(param) == stem(found[0][1])]
            if len(same) > 1 and same[0][1].rich_help_panel == panel:
                names = "every command" if len(same) > 30 else ", ".join(name for name, _ in same)
                rows.append(f"| {shown(same[0][1])} | {common([param for _, param in same])} | {names} |")
        if rows:
            lines += [f"## {panel}", "", "| option | what it does | commands |", "|---|---|---|", *rows, ""]
    lines += ["## Renamed", "", "Old names work for one version, with a note.", ""]
    lines += ["| commands | before | now |", "|---|---|---|"]
    for path, renamed in RENAMED.items():
        lines += [f"| {path or 'all'} | `{old}` | `{new}` |" for old, new in renamed.items()]
    return "\n".join([*lines, ""])


def commands(command: Any, words: tuple[str, ...] = ()) -> dict[str, Command]:
    """Return every command by its words after ``karat``."""
    found: dict[str, Command] = {" ".join(words): command} if isinstance(command, Command) else {}
    for name, inner in getattr(command, "commands", {}).items():
        found |= commands(inner, (*words, name))
    return found


def shown(param: Any) -> str:
    """Return an option as it is typed."""
    names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
    return f"{names} {param.metavar}".rstrip()


def stem(param: Any) -> str:
    """Return the words of a help text that are the same in every command."""
    return re.split(r"[:;]", param.help)[0].rstrip(".")


def common(params: list[Any]) -> str:
    """Return the help text of an option, or what its texts have in common."""
    texts = {param.help for param in params}
    return filled(params[0].help if len(texts) == 1 else f"{stem(params[0])}.")


def pages() -> dict[Path, str]:
    """Return every generated page by its path."""
    return {
        HERE / "measures.md": to_markdown(),
        HERE / "api.md": api(),
        HERE / "caption-metrics.md": caption_metrics(),
        HERE / "options.md": options(),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")
