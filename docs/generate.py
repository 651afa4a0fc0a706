"""Write the reference pages from the registry and the docstrings: ``make docs``."""

import importlib
import inspect
from pathlib import Path

from karat.measures.reference import to_markdown

HERE = Path(__file__).parent / "reference"
PACKAGES = (
    "karat", "karat.benchmarks", "karat.runs", "karat.measures", "karat.stats", "karat.scores",
    "karat.lexicon", "karat.lexicon.syntax", "karat.captions", "karat.world", "karat.systems",
    "karat.systems.images", "karat.systems.text", "karat.judging", "karat.judging.store",
    "karat.judging.judges", "karat.judging.exchange", "karat.reports",
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


def pages() -> dict[Path, str]:
    """Return every generated page by its path."""
    return {HERE / "measures.md": to_markdown(), HERE / "api.md": api()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")
