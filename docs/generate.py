"""Write the reference pages from the registry and the docstrings: ``make docs``."""

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

from karat.captions import CAPTION_METRICS
from karat.cli.choices import filled
from karat.cli.command import PANELS, dressed
from karat.cli.main import every_command
from karat.estimation import DESIGNS, ESTIMATORS, STRATEGIES
from karat.forms import FORMS, Form, load_form
from karat.judging.quality import AGGREGATIONS
from karat.measures.reference import describe_param, to_markdown
from karat.models import ENCODERS, SUMMARISERS
from karat.perturbations import PERTURBATIONS
from karat.training import LOSSES

HERE = Path(__file__).parent / "reference"
PACKAGES = (
    "karat", "karat.benchmarks", "karat.runs", "karat.measures", "karat.stats", "karat.scores",
    "karat.lexicon", "karat.lexicon.syntax", "karat.captions", "karat.perturbations", "karat.world",
    "karat.models", "karat.duplicates", "karat.baselines", "karat.baselines.images", "karat.baselines.text",
    "karat.explanations", "karat.forms", "karat.store", "karat.judging", "karat.judging.machine_judges",
    "karat.judging.exchange", "karat.estimation", "karat.training", "karat.reports", "karat.web",
    "karat.board", "karat.detections", "karat.project",
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
            if inspect.ismodule(thing):
                continue
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


def models() -> str:
    """Return the page of names of models, and of summarisers."""
    lines = [
        "# Names of models",
        "",
        "What `karat encode` and `karat search` take; made from the registry by",
    ]
    lines += ["`make docs`.", "", "| name | what it is |", "|---|---|"]
    lines += [f"| `{scheme.form}` | {scheme.help} |" for scheme in ENCODERS.values()]
    lines += [
        "",
        "A name may always begin with its kind: `function:sentence:encode` is the function `encode` of",
    ]
    lines += [
        "your module `sentence`.",
        "",
        f"Summarisers: {', '.join(f'`{name}`' for name in SUMMARISERS)}.",
    ]
    return "\n".join([*lines, ""])


def aggregations() -> str:
    """Return the page of aggregations: each with what it does and its settings."""
    lines = ["# Aggregations", "", "How answers become verdicts; made from the registry by `make docs`.", ""]
    for name in sorted(AGGREGATIONS):
        aggregation = AGGREGATIONS[name]
        weighs = "yes" if aggregation.weighs_annotators else "no"
        lines += [f"## `{name}`", "", f"{aggregation.about[0].upper()}{aggregation.about[1:]}.", ""]
        lines += [f"- **weighs annotators itself**: {weighs}"]
        lines += [
            f"- **`--aggregate-set {param.name}={param.default}`** (the default): {param.help}"
            for param in aggregation.params
        ]
        lines.append("")
    return "\n".join(lines)


def estimates() -> str:
    """Return the page of estimators and vetting strategies: each with its formula, paper and parameters."""
    lines = ["# Estimators and strategies", "", "Made from the registries by `make docs`.", ""]
    lines += ["Names are written with parameters, as those of measures: `learned(smoothing=0)`.", ""]
    for heading, registry in (("Estimators", ESTIMATORS), ("Strategies", STRATEGIES), ("Designs", DESIGNS)):
        lines += [f"## {heading}", ""]
        for name in sorted(registry):
            lines += named_thing(name, registry[name])
    return "\n".join(lines)


def named_thing(name: str, kind: Any) -> list[str]:
    """Return the lines on one registered thing: what it does, its formula, paper, aliases and parameters."""
    title, _, rest = inspect.cleandoc(kind.__doc__ or "").partition("\n")
    prose = rest.strip().split(">>>")[0].strip()
    lines = [f"### `{name}`", "", title, "", *([prose, ""] if prose else [])]
    lines += ["- **recommended**"] if getattr(kind, "recommended", False) else []
    lines += [f"- **formula**: {kind.formula}"] if kind.formula else []
    lines += [f"- **paper**: {kind.source}"] if kind.source else []
    lines += [f"- **also**: {', '.join(kind.aliases)}"] if kind.aliases else []
    lines += [f"- **parameter** {describe_param(param, False)}" for param in kind.params]
    return [*lines, ""]


def losses() -> str:
    """Return the page of losses: each with its formula and paper."""
    lines = [
        "# Losses",
        "",
        "Made from the registry by `make docs`; [how to use them](../train-losses.md).",
        "",
    ]
    for name in sorted(LOSSES):
        loss = LOSSES[name]
        lines += [f"## `{name}`", "", (inspect.getdoc(loss) or "").split("\n")[0], ""]
        lines += [f"- **class**: `karat.training.{loss.__name__}`", f"- **formula**: {loss.formula}"]
        lines += [
            f"- **paper**: {loss.source}",
            f"- **needs margins**: {'yes' if loss.needs_margins else 'no'}",
        ]
        lines += [f"- **also**: {', '.join(loss.aliases)}"] if loss.aliases else []
        lines.append("")
    return "\n".join(lines)


def perturbations() -> str:
    """Return the page of perturbations: those that change the meaning, then the controls that keep it."""
    lines = [
        "# Perturbations",
        "",
        "Made from the registry by `make docs`; [how to use them](../perturb.md).",
        "",
    ]
    for heading, keeps in (("Kinds that change the meaning", False), ("Controls that keep it", True)):
        lines += [f"## {heading}", ""]
        for name in PERTURBATIONS:
            if PERTURBATIONS[name].keeps_meaning == keeps:
                lines += named_thing(name, PERTURBATIONS[name])
    return "\n".join(lines)


def forms() -> str:
    """Return the page of forms: each with its question, its answers and their grades, and its sizes."""
    lines = ["# Forms", "", "What annotators are asked; made from the forms' files by `make docs`.", ""]
    for name in FORMS:
        form = load_form(name)
        lines += [f"## `{name}`", "", form.about, "", f"**{form.question}**", ""]
        lines += ["| answer | rating | grade |", "|---|---:|---:|"]
        lines += [f"| {answer.text} | {answer.rating:g} | {answer.grade:g} |" for answer in form.answers]
        lines += ["", *(f"- {fact}" for fact in form_facts(form)), ""]
    return "\n".join(lines)


def form_facts(form: Form) -> list[str]:
    """Return what a form shows, how large its tasks are, and what it asks afterwards."""
    shown = f"an image and {form.columns} captions" if form.layout == "grid" else "an image and a caption"
    own = ", and the image that the caption was written for" if form.own_image else ""
    own += ", with the box and the mask of an instance drawn over the image" if form.regions else ""
    facts = [
        f"Shows {shown} at a time{own}.",
        f"A task has {form.pairs} pairs to judge and {form.gold} gold pairs; an answer takes about "
        f"{form.seconds:g} seconds.",
    ]
    for question in form.follow_ups:
        when = f" after {' or '.join(f'`{code}`' for code in question.when)}" if question.when else ""
        facts.append(f"Follow-up question{when}: {question.text}")
    return facts


def options() -> str:
    """Return the page of options that several commands take."""
    uses: dict[str, list[tuple[str, Any]]] = {}
    for words, command in every_command().items():
        for param in dressed(command.params):
            if param.param_type_name == "option" and not param.hidden:
                uses.setdefault(param.opts[0], []).append((" ".join(words), param))
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
    return "\n".join([*lines, ""])


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
        HERE / "models.md": models(),
        HERE / "api.md": api(),
        HERE / "caption-metrics.md": caption_metrics(),
        HERE / "aggregations.md": aggregations(),
        HERE / "estimators.md": estimates(),
        HERE / "forms.md": forms(),
        HERE / "losses.md": losses(),
        HERE / "options.md": options(),
        HERE / "perturbations.md": perturbations(),
    }


if __name__ == "__main__":
    made = pages()
    if "--check" in sys.argv:
        sys.exit(", ".join(path.name for path, text in made.items() if path.read_text("utf-8") != text) or 0)
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")
