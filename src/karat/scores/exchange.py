"""Scores for other programs: a record of Every Eval Ever, and the model-index of a model card.

Both are about one model, so that each run has its own file. Each registers itself by how its files' names
end, and `Scorecard.save` finds it there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

from karat._util import json_text, write_file, write_text
from karat.benchmarks import Benchmark, direction_title, is_direction
from karat.errors import InputError, printable, unknown_name
from karat.measures import Named
from karat.scores.column import Column
from karat.scores.scorecard import EXCHANGES, READING, Scorecard, labels_drawn, units_drawn

SCHEMA = "0.3.0"
"""The version of Every Eval Ever's schema that records follow."""
UNKNOWN = "unknown"
UNITS = {"fraction": "proportion", "sum": "sum of proportions", "rank": "rank"}


def every_eval_ever(
    card: Scorecard,
    run: str | None = None,
    *,
    organization: str = UNKNOWN,
    relationship: str = "other",
    model_id: str | None = None,
    made: datetime | None = None,
) -> dict[str, Any]:
    """Return the scores of one run as a record of Every Eval Ever, a shared format of evaluation results.

    It follows version 0.3.0 of the schema that the EvalEval coalition publishes [1]_. Scores are fractions of
    1, or ranks. What the run was made with is in the additional details of the model.

    Parameters
    ----------
    card
        A scorecard, with intervals where the record should have them.
    run
        Which of its runs; may be left out where there is only one.
    organization, relationship
        Who evaluated: a name, and "first_party", "third_party", "collaborative" or "other".
    model_id
        The model as ``developer/name``; the run's name by default.
    made
        When; now by default.

    References
    ----------
    .. [1] https://github.com/evaleval/every_eval_ever, eval.schema.json; arXiv:2606.14516

    Examples
    --------
    >>> from karat.world import make_world, simulate
    >>> from karat.scores import evaluate
    >>> world = make_world(20, seed=1)
    >>> card = evaluate({"mine": simulate(world, seed=1)}, world.benchmark(), "R@1", truth="original")
    >>> record = every_eval_ever(card, organization="My lab", relationship="first_party")
    >>> record["model_info"]["name"], [result["evaluation_name"] for result in record["evaluation_results"]]
    ('mine', ['world original image→text', 'world original text→image', 'world original mean'])
    """
    columns = columns_of(card, run)
    name = columns[0].run
    moment = str(int((made or datetime.now(UTC)).timestamp()))
    import karat

    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{card.benchmark.name}/{model_id or name}/{moment}",
        "evaluation_timestamp": moment,
        "retrieved_timestamp": moment,
        "source_metadata": {
            "source_name": "karat",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": relationship,
        },
        "eval_library": {
            "name": "karat",
            "version": karat.__version__,
            "additional_details": choices_of(card),
        },
        "model_info": {
            "name": name,
            "id": model_id or name,
            "additional_details": {
                **facts_of(card, name),
                "deployment_type": UNKNOWN,
                "model_availability": UNKNOWN,
            },
        },
        "evaluation_results": [result_of(column, card) for column in columns],
    }


def columns_of(card: Scorecard, run: str | None) -> list[Column]:
    """Return the columns of one run that have a value, or raise."""
    if run is None and len(card.runs) != 1:
        raise InputError(f"the scorecard has {len(card.runs)} runs", fix=f"say which: {', '.join(card.runs)}")
    name = card.runs[0] if run is None else run
    if name not in card.runs:
        raise unknown_name("run", name, card.runs)
    columns = [column for column in card if column.run == name and column.value is not None]
    if not columns:
        raise InputError(f"{name} has no value to write", fix="print the scorecard to see why")
    return columns


def choices_of(card: Scorecard) -> dict[str, str]:
    """Return how the scores are to be read."""
    unjudged = {} if card.benchmark.choices is not None else {"unjudged": READING[card.unjudged]}
    like = {} if card.like is None else {"like": str(card.like)}
    return {"ties": card.ties, **unjudged, **like}


def facts_of(card: Scorecard, run: str) -> dict[str, str]:
    """Return what a run was made with, each value as text."""
    made_with = card.made_with.get(run)
    return {} if made_with is None else {name: as_text(value) for name, value in made_with.facts.items()}


def as_text(value: Any) -> str:
    """Return a plain value as text: words as they are, others as json writes them.

    >>> as_text("bicubic"), as_text(224), as_text(None)
    ('bicubic', '224', 'null')
    """
    return value if isinstance(value, str) else json.dumps(value)


def task_type(direction: str, benchmark: Benchmark) -> str:
    """Return what a model card calls a task: "image-to-text-retrieval", for both "image-text-retrieval"."""
    both = "-".join(side.kind for side in benchmark.sides)
    return f"{direction_title(direction, '-to-') if is_direction(direction) else both}-retrieval"


def inner(measure: Named) -> Named:
    """Return the measure that a mean of both directions is of, or itself."""
    return getattr(measure, "measure", measure)


def result_of(column: Column, card: Scorecard) -> dict[str, Any]:
    """Return one score of a record of Every Eval Ever."""
    bench, measure = card.benchmark, inner(column.measure)
    assert column.value is not None
    sizes = {"images": f"{bench.images.size}", "captions": f"{bench.captions.size}"}
    about = {"about": bench.about} if bench.about else {}
    return {
        "evaluation_result_id": f"{column.truth}/{column.direction}/{measure}",
        "evaluation_name": f"{bench.name} {column.truth} {direction_title(column.direction)}",
        "source_data": {
            "dataset_name": bench.name,
            "source_type": "other",
            "additional_details": {"truth": column.truth, **sizes, **about},
        },
        "metric_config": {
            "evaluation_description": described(measure),
            "metric_id": f"karat.{measure}",
            "metric_name": str(measure),
            "metric_kind": measure.name,
            "metric_unit": UNITS[measure.unit],
            "metric_parameters": parameters(measure),
            "lower_is_better": measure.better == "low",
            "score_type": "continuous",
            **limits(column),
            "additional_details": {"direction": column.direction, "truth": column.truth},
        },
        "score_details": {
            "score": column.value,
            "details": {name: as_text(value) for name, value in more(column).items()},
            "uncertainty": {"num_samples": column.n, **uncertainty(column, card)},
        },
    }


def parameters(measure: Named) -> dict[str, float | str]:
    """Return the parameters of a measure by name.

    >>> from karat.measures import parse_measure
    >>> parameters(parse_measure("SR(cider, m=10)@5"))
    {'k': 5, 'phi': 'cider', 'm': 10, 'gt': True, 'any': False}
    """
    params = [*([measure.cutoff] if measure.cutoff else []), *measure.params]
    values = {param.name: getattr(measure, param.name) for param in params}
    return {
        name: value if isinstance(value, int | float) else str(value)
        for name, value in values.items()
        if value is not None
    }


def described(measure: Named) -> str:
    """Return a measure in one sentence, with its formula and paper where they are known."""
    sentence = (type(measure).__doc__ or "").strip().split("\n")[0]
    source = f"({measure.source})" if measure.source else ""
    return " ".join(filter(None, [sentence, measure.formula, source]))


def limits(column: Column) -> dict[str, Any]:
    """Return the least and the greatest value that a measure can have."""
    if column.measure.unit == "rank":
        return {"min_score": 1, "max_score": "Infinity"}
    return {"min_score": 0, "max_score": 1 if column.measure.unit == "fraction" else len(column.parts)}


def more(column: Column) -> dict[str, Any]:
    """Return what else is known of a score: how many queries and clusters, bounds, chance."""
    known = {
        "queries": column.n,
        "clusters": column.effective or None,
        "lower_bound": column.lower_bound,
        "upper_bound": column.upper_bound,
        "chance": column.chance,
    }
    return {name: value for name, value in known.items() if value is not None}


def uncertainty(column: Column, card: Scorecard) -> dict[str, Any]:
    """Return the interval of a score and how it was made; nothing where there is none."""
    made = card.intervals
    if made is None or column.low is None or column.high is None:
        return {}
    bootstrap = f"{made.shown} bootstrap of {units_drawn(card)}{labels_drawn(card)}"
    interval = {
        "lower": column.low,
        "upper": column.high,
        "confidence_level": made.level,
        "method": column.interval_method or bootstrap,
    }
    resamples = {} if column.interval_method else {"num_bootstrap_samples": made.resamples}
    return {"confidence_interval": interval, **resamples}


def model_index(card: Scorecard, run: str | None = None) -> list[dict[str, Any]]:
    """Return the scores of one run as the ``model-index`` of a model card on the Hugging Face Hub.

    Parameters
    ----------
    card
        A scorecard.
    run
        Which of its runs; may be left out where there is only one.

    Returns
    -------
    list of dict
        One entry: `huggingface_hub.repocard_data.model_index_to_eval_results` reads it. The truth is the
        configuration of the dataset, the direction the type of the task; intervals and the number of queries
        are arguments of the metric.

    Examples
    --------
    >>> from karat.world import make_world, simulate
    >>> from karat.scores import evaluate
    >>> world = make_world(20, seed=1)
    >>> card = evaluate({"mine": simulate(world, seed=1)}, world.benchmark(), "R@1", truth="original")
    >>> [result["task"]["type"] for result in model_index(card)[0]["results"]]
    ['image-to-text-retrieval', 'text-to-image-retrieval', 'image-text-retrieval']
    """
    columns = columns_of(card, run)
    results: dict[tuple[str, str], dict[str, Any]] = {}
    for column in columns:
        title = direction_title(column.direction)
        own = results.setdefault((column.truth, column.direction), {
            "task": {"type": task_type(column.direction, card.benchmark), "name": f"retrieval, {title}"},
            "dataset": {
                "type": card.benchmark.name,
                "name": f"{card.benchmark.name}, {column.truth}",
                "config": column.truth,
            },
            "metrics": [],
        })  # fmt: skip
        level = {"low": column.low, "high": column.high, "level": card.intervals and card.intervals.level}
        arguments = {
            "direction": column.direction,
            **more(column),
            **(level if uncertainty(column, card) else {}),
            **choices_of(card),
            "better": column.measure.better,
        }
        measure = str(inner(column.measure))
        own["metrics"].append(
            {"type": measure, "name": f"{measure} ({title})", "value": column.value, "args": arguments}
        )
    return [{"name": columns[0].run, "results": list(results.values())}]


def yaml_of(value: Any, indent: str = "") -> str:
    """Return nested dictionaries and lists of plain values as YAML.

    >>> print(yaml_of({"results": [{"value": 1e-5, "name": "a: b"}, {"value": None}]}))
    results:
    - value: 1.0e-05
      name: "a: b"
    - value: null
    """
    if isinstance(value, Mapping):
        lines = [f"{indent}{key}:{below(entry, indent)}" for key, entry in value.items()]
    else:
        lines = [f"{indent}- {yaml_of(entry, indent + '  ').lstrip()}" for entry in value]
    return "\n".join(lines)


def below(value: Any, indent: str) -> str:
    """Return what follows a key: a value on its line, or what is nested on the next."""
    if isinstance(value, Mapping | list):
        return "\n" + yaml_of(value, indent + "  " * isinstance(value, Mapping))
    return f" {scalar(value)}"


def scalar(value: Any) -> str:
    """Return a plain value in YAML; text is quoted, and what is not printable escaped.

    >>> scalar("a\\x7f\\U0001f600"), scalar(1e-05), scalar(True)
    ('"a\\\\U0000007f😀"', '1.0e-05', 'true')
    """
    if isinstance(value, float) and "." not in repr(value):
        # Without a point, YAML reads text.
        return repr(value).replace("e", ".0e")
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in quoted)


def eee_text(card: Scorecard, run: str) -> str:
    """Return the record of one run as json."""
    return json_text(every_eval_ever(card, run))


def model_index_text(card: Scorecard, run: str) -> str:
    """Return the block of one run, below what it was made with, for which the format has no place."""
    import karat

    facts = [f"  {printable(name)}: {printable(value)}" for name, value in facts_of(card, run).items()]
    head = [f"Scored with karat {karat.__version__}.", *(["Made with", *facts] if facts else [])]
    comments = "".join(f"# {line}\n" for line in head)
    return comments + yaml_of({"model-index": model_index(card, run)}) + "\n"


def files_of(runs: Sequence[str], path: Path, ending: str) -> dict[str, Path]:
    """Return the file of each run: the one that was named, or with the run's name before the ending.

    >>> files_of(["clip"], Path("scores.eee.json"), ".eee.json")["clip"].name
    'scores.eee.json'
    >>> files = files_of(["a/clip", "a:clip"], Path("scores.eee.json"), ".eee.json")
    >>> [file.name for file in files.values()]
    ['scores.a-clip.eee.json', 'scores.a-clip-2.eee.json']
    """
    if len(runs) == 1:
        return {runs[0]: path}
    names: dict[str, str] = {}
    for run in runs:
        plain = re.sub(r"[^\w.-]+", "-", run).strip(".-") or "run"
        numbered = (f"{plain}-{number}" for number in count(2))
        names[run] = next(name for name in chain([plain], numbered) if name not in names.values())
    stem = path.name.removesuffix(ending)
    return {run: path.with_name(f"{stem}.{name}{ending}") for run, name in names.items()}


def exchange(ending: str, text_of: Callable[[Scorecard, str], str]) -> None:
    """Register what makes the text of one run of a scorecard under the ending of a file's name."""

    def save(card: Scorecard, path: Path) -> None:
        valued = [run for run in card.runs if any(c.run == run and c.value is not None for c in card)]
        for run, file in files_of(valued or card.runs, path, ending).items():
            write_file(file, partial(write_text, text=text_of(card, run)))

    EXCHANGES.add(ending, save)


exchange(".eee.json", eee_text)
exchange(".yaml", model_index_text)
