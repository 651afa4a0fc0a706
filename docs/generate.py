"""Write the reference pages from the registry and the docstrings: ``make docs``."""

import importlib
import inspect
from pathlib import Path

from karat.captions import CAPTION_METRICS
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


def pages() -> dict[Path, str]:
    """Return every generated page by its path."""
    return {
        HERE / "measures.md": to_markdown(),
        HERE / "api.md": api(),
        HERE / "caption-metrics.md": caption_metrics(),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")
