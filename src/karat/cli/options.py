"""The options that more than one command takes: each is defined once, and named as in Python.

What differs from command to command is a function of the words that differ; its name, panel and first words
are the same everywhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat._util import check_writable
from karat.cli.choices import completion
from karat.cli.command import ANSWERS, COST, ESTIMATED, INPUT, JUDGE, MODEL, OUTPUT, SCORED, SURE
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark
    from karat.runs import Compute, Loading, Run


def option(*names: str, panel: str | None = None, choices: str = "", **keywords: Any) -> Any:
    """Return an option; `choices` is the placeholder of its values, for completion in the shell."""
    if choices:
        keywords["autocompletion"] = completion(choices)
    return typer.Option(*names, rich_help_panel=panel, **keywords)


def output(what: str, **keywords: Any) -> Any:
    """Return the option ``-o`` of a command, given what is written and to what."""
    return option(
        "--output",
        "-o",
        panel=OUTPUT,
        metavar="FILE",
        show_default=False,
        help=f"Where the result goes: {what}",
        **keywords,
    )


def check_file(context: typer.Context, value: Any) -> Any:
    """Raise before the work starts when a file of results could not be written."""
    if not context.resilient_parsing:
        check_writable(value)
    return value


def result_file(what: str) -> Any:
    """Return the option ``-o`` of a command whose result is written to a file, given which files."""
    return output(what, callback=check_file)


def metric(which: str, choices: str = "") -> Any:
    """Return the option ``-m`` of commands that have metrics, given which ones."""
    return option(
        "--metric",
        "-m",
        panel=SCORED,
        choices=choices,
        show_default=bool(choices),
        help=f"Which metrics: {which}",
    )


def measure(more: str = "") -> Any:
    """Return the option ``-m`` of commands that have measures, given what else there is to say."""
    return option(
        "--measure",
        "-m",
        panel=SCORED,
        choices="measures",
        help=f"Measures such as R@1,mAP@R; see `karat measures`.{more}",
    )


def estimator(more: str = "", **keywords: Any) -> Any:
    """Return the option ``--estimator``, given what else there is to say."""
    return option(
        "--estimator",
        panel=ESTIMATED,
        choices="estimators",
        help=f"How vetted labels become probabilities of the others: {{estimators}}{more}.",
        **keywords,
    )


def intervals(which: str, *names: str) -> Any:
    """Return the option ``--intervals``, given of what."""
    return option(
        *(names or ("--intervals",)), panel=SURE, show_default=False, help=f"Add intervals: {which}"
    )


def sample(of: str, **keywords: Any) -> Any:
    """Return the option ``--sample``, given what is drawn."""
    return option("--sample", panel=INPUT, metavar="N", help=f"How many, drawn at random: {of}", **keywords)


def unlisted(what: str, choices: str = "") -> Any:
    """Return the option ``--unlisted``, given what pairs may count as."""
    return option(
        "--unlisted",
        panel=ESTIMATED,
        choices=choices,
        help=f"Pairs that the vetted truth does not list: {what}",
    )


def budget(which: str) -> Any:
    """Return the option ``--budget``, given which pairs."""
    return option("--budget", panel=ESTIMATED, help=f"How many pairs are vetted: {which}")


def interval_method(choices: str) -> Any:
    """Return the option ``--interval-method``, given the placeholder of the methods."""
    return option(
        "--interval-method",
        panel=SURE,
        choices=choices,
        help=f"How intervals are made: {{{choices}}}.",
    )


def noisy(more: str = "", **keywords: Any) -> Any:
    """Return the option ``--noisy``, given what it is by default."""
    return option(
        "--noisy",
        panel=ESTIMATED,
        metavar="TRUTH",
        help=f"The truth with the labels that all pairs have{more}.",
        **keywords,
    )


def vetted(more: str = "", **keywords: Any) -> Any:
    """Return the option ``--vetted``, given what else there is to say."""
    return option(
        "--vetted",
        panel=ESTIMATED,
        metavar="TRUTH",
        help=f"The truth with the labels that are right, or a file: image, caption, label (1 or 0).{more}",
        **keywords,
    )


def depth(**keywords: Any) -> Any:
    """Return the option ``--depth``."""
    return option(
        "--depth",
        min=1,
        panel=ESTIMATED,
        help="How many first items of each run are candidates; for P@K alone always K.",
        **keywords,
    )


def fixed_ties(**keywords: Any) -> Any:
    """Return the option ``--ties`` of estimates."""
    return option(
        "--ties", panel=SCORED, choices="fixed_ties", help="Equal scores: {fixed_ties}.", **keywords
    )


def slices(what: str) -> Any:
    """Return the option ``--slices``, given what is searched for."""
    return option("--slices", panel=SCORED, help=f"Slices of the queries: {what}")


def min_support(of: str) -> Any:
    """Return the option ``--min-support``, given what is counted."""
    return option("--min-support", min=1, panel=SCORED, help=f"The fewest with both sides of a rule: {of}.")


def level(more: str = "", **keywords: Any) -> Any:
    """Return the option ``--level``, given what it is by default."""
    return option("--level", panel=SURE, help=f"Confidence level of intervals{more}.", **keywords)


def original(more: str) -> Any:
    """Return the option ``--original``, given what it is by default."""
    return option(
        "--original", panel=ANSWERS, metavar="TRUTH", help=f"The truth with the original positives; {more}"
    )


def run_files(more: str = "") -> Any:
    """Return the argument with the files of runs, given what else it may be."""
    runs = (
        "Runs: score tables (images by captions), pairs of embedding tables, or ranked lists; {run_files}; "
        "or models, as hf:FOLDER."
    )
    return typer.Argument(metavar="FILE...", help=f"{runs} {more}".rstrip(), show_default=False)


# Input.
Files = Annotated[list[Path], run_files()]
DetectionFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Detections, as json in COCO's form: a file for each model.",
        show_default=False,
    ),
]
InstancesFile = Annotated[
    str,
    option(
        "--benchmark",
        "-b",
        panel=INPUT,
        metavar="FILE",
        show_default=False,
        help="Instances with boxes and masks, json in COCO's form.",
    ),
]
BoardFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="A table (csv, tsv, Parquet: the first column names the system, the others are metrics), "
        "json files of `karat evaluate --json`, or a folder of such files.",
        show_default=False,
    ),
]
ProjectPlace = Annotated[
    str,
    typer.Argument(
        metavar="PROJECT", help="A project's file, or its postgresql:// address.", show_default=False
    ),
]
Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A folder that karat fit or karat train wrote, hf:FOLDER, open_clip:ARCHITECTURE, "
        "sentence:FOLDER, or your own module:function.",
        show_default=False,
    ),
]
Weights = Annotated[
    Path | None,
    option(
        "--weights",
        panel=MODEL,
        show_default=False,
        help="For open_clip:ARCHITECTURE, its weights: a .safetensors file.",
    ),
]
CaptionPrompt = Annotated[
    str | None,
    option(
        "--prompt",
        panel=MODEL,
        metavar="TEXT",
        show_default=False,
        help="What each caption is put into: 'a photo of {}'.",
    ),
]
Precision = Annotated[
    str | None,
    option(
        "--precision",
        panel=MODEL,
        choices="precisions",
        show_default=False,
        help="Of weights and computation: {precisions}; float32 by default.",
    ),
]
Device = Annotated[
    str | None,
    option(
        "--device",
        panel=MODEL,
        choices="devices",
        show_default=False,
        help="Where to compute: {devices}; by default a GPU where there is one.",
    ),
]
Batch = Annotated[
    int | None,
    option(
        "--batch",
        min=1,
        panel=MODEL,
        show_default=False,
        help="How many pictures or captions to compute at a time; halved where the memory does not suffice.",
    ),
]
Captioned = Annotated[
    str,
    typer.Argument(
        metavar="BENCHMARK",
        help="A benchmark with captions; see `karat benchmarks`.",
        show_default=False,
        autocompletion=completion("sources"),
    ),
]
BenchmarkName = Annotated[
    str,
    option(
        "--benchmark", "-b", panel=INPUT, choices="sources", help="Name or folder; see `karat benchmarks`."
    ),
]
OptionalBenchmark = Annotated[
    str | None,
    option(
        "--benchmark", "-b", panel=INPUT, choices="sources", help="Name or folder; see `karat benchmarks`."
    ),
]
Setting = Annotated[
    list[str] | None,
    option(
        "--set",
        panel=INPUT,
        metavar="NAME=VALUE",
        help="A setting of the benchmark: cxc_ratings=sits_test.csv.",
    ),
]
Name = Annotated[list[str] | None, option("--name", panel=INPUT, help="Names of the runs: A,B.")]
Similarity = Annotated[
    str, option("--similarity", panel=INPUT, choices="similarities", help="For embeddings: {similarities}.")
]
Corpus = Annotated[
    Path | None,
    option("--corpus", panel=INPUT, help="For cider: document frequencies, from `karat captions corpus`."),
]
ChangedCaptions = Annotated[
    Path | None,
    option(
        "--queries",
        panel=INPUT,
        show_default=False,
        help="Changed captions in place of the benchmark's, in the order of the file, from `karat perturb`.",
    ),
]
Rater = Annotated[
    list[str] | None,
    option("--rater", panel=INPUT, help="Of one table, only these raters, or columns."),
]
LeaveOut = Annotated[bool, option("--leave-out", panel=SCORED, help="Do not compare a caption with itself.")]


# What is scored.
Measure = Annotated[list[str] | None, measure()]
Truth = Annotated[
    list[str] | None,
    option(
        "--truth",
        panel=SCORED,
        help="Truths of the benchmark, or made from captions: 'machine(cider>=1)'.",
    ),
]
Direction = Annotated[
    list[str] | None,
    option(
        "--direction",
        panel=SCORED,
        choices="directions",
        help="Directions of the benchmark, such as i2t, t2i or q2d; all by default.",
    ),
]
Ties = Annotated[str, option("--ties", panel=SCORED, choices="ties", help="Equal scores: {ties}.")]
Like = Annotated[
    str | None,
    option(
        "--like",
        panel=SCORED,
        choices="likes",
        help="Conventions of another tool: {likes}, which is trec_eval without -c.",
    ),
]
Unjudged = Annotated[
    str,
    option("--unjudged", panel=SCORED, choices="readings", help="Unjudged pairs: {readings}."),
]
Phi = Annotated[
    list[str] | None,
    option(
        "--phi",
        panel=SCORED,
        metavar="NAME=VALUE",
        help="Your own similarity, for NCS and SR: mine=N.npy.",
    ),
]
Top = Annotated[int, option("--top", "-k", min=1, panel=SCORED, help="Only the first N items of each query.")]
OptionalTop = Annotated[
    int | None, option("--top", "-k", min=1, panel=SCORED, help="Only the first N items of each query.")
]
LowerIsBetter = Annotated[
    list[str] | None,
    option("--lower-is-better", panel=SCORED, help="Metrics where low is good, besides MedR and MeanR."),
]
CaptionMetricNames = Annotated[list[str] | None, metric("{metrics}.", "metrics")]
BoardMetric = Annotated[list[str] | None, metric("columns of the table, in this order; all by default.")]

# Intervals and tests.
Resample = Annotated[
    str,
    option(
        "--resample", panel=SURE, choices="resampled", help="What to resample for intervals: {resampled}."
    ),
]
ThresholdIntervals = Annotated[
    bool | None,
    intervals("in the table of thresholds; by default where they fit.", "--intervals/--no-intervals"),
]
ScoreIntervals = Annotated[
    bool, intervals("bootstrap over images with their captions, or the groups of another benchmark.")
]
IntervalMethod = Annotated[str, interval_method("interval_methods")]
Level = Annotated[float, level()]
Resamples = Annotated[int, option("--resamples", min=1, panel=SURE, help="How many bootstrap draws.")]
OptionalResamples = Annotated[
    int | None,
    option(
        "--resamples",
        min=1,
        panel=SURE,
        show_default=False,
        help="How many bootstrap draws, 10,000; with it as many swaps of a test, otherwise 100,000.",
    ),
]
Seed = Annotated[int, option("--seed", min=0, panel=SURE, help="Seed of every random draw.")]
Test = Annotated[str, option("--test", panel=SURE, choices="tests", help="The paired test: {tests}.")]
Correction = Annotated[
    str,
    option(
        "--correction",
        panel=SURE,
        choices="corrections",
        help="Over which comparisons of runs p-values are corrected: {corrections}.",
    ),
]
Power = Annotated[
    float | None,
    option("--power", panel=SURE, help="Also give the smallest difference found with this power: 0.8."),
]
Alpha = Annotated[float, option("--alpha", panel=SURE, help="The level at which one run beats another.")]

# Judging: which answers count, and what they become: the fields of `karat.judging.AcceptanceRule`.
AGGREGATE, GOLD_SHARE = "dawid-skene", 0.7
"""Defaults of `AcceptanceRule`, which a command line cannot import without numpy; a test compares them."""
Aggregate = Annotated[
    str,
    option(
        "--aggregate",
        "-a",
        panel=ANSWERS,
        choices="aggregations",
        help="How answers become verdicts: {aggregations}.",
    ),
]
AggregateSetting = Annotated[
    list[str] | None,
    option(
        "--aggregate-set",
        panel=ANSWERS,
        metavar="NAME=VALUE",
        help="A setting of the aggregation: threshold=0.66.",
    ),
]
GoldShare = Annotated[
    float,
    option(
        "--gold-share",
        min=0,
        max=1,
        panel=ANSWERS,
        help="Share of gold pairs that an annotator must judge right.",
    ),
]
OnlyIfCertain = Annotated[
    bool,
    option(
        "--only-if-certain",
        panel=ANSWERS,
        help="Fail an annotator only when all of the 95% interval lies below.",
    ),
]
CaptionsWrong = Annotated[
    int,
    option(
        "--captions-wrong",
        min=0,
        panel=ANSWERS,
        help="In a grid: captions of a gold image that may be wrong.",
    ),
]
Exclude = Annotated[
    bool | None,
    option(
        "--exclude/--keep",
        panel=ANSWERS,
        help="Leave out annotators who fail the gold pairs; default unless the aggregation weights them.",
    ),
]
ApprovedOnly = Annotated[
    bool, option("--approved-only", panel=ANSWERS, help="Only approved assignments count.")
]
Reviewer = Annotated[
    str,
    option("--reviewer", panel=ANSWERS, show_default=False, help="Who decides; your login name by default."),
]

# Estimates.
LabelEstimator = Annotated[str, estimator()]
Target = Annotated[
    str,
    option(
        "--target",
        panel=ESTIMATED,
        choices="targets",
        help="What is estimated: {targets}, the score on these queries or on queries like these.",
    ),
]
NoisyTruth = Annotated[str, noisy()]
OptionalNoisyTruth = Annotated[str | None, noisy("; by default the benchmark's first", show_default=False)]
VettedTruth = Annotated[str, vetted()]
CandidateDepth = Annotated[int, depth()]
OptionalDepth = Annotated[int | None, depth(show_default=False)]
CandidateSample = Annotated[int, sample("further candidates of each query.", min=0)]
FixedTies = Annotated[str, fixed_ties()]
OptionalFixedTies = Annotated[str | None, fixed_ties(show_default=False)]
Feature = Annotated[
    list[str] | None,
    option(
        "--feature",
        panel=ESTIMATED,
        metavar="NAME=FILE",
        help="What else may tell whether a pair is relevant, a score table: clip=sims.npy.",
    ),
]
SimulatedMethod = Annotated[
    list[str] | None,
    option(
        "--method",
        panel=ESTIMATED,
        metavar="STRATEGY+ESTIMATOR",
        help="Which, such as random+naive,meec+learned. Strategies: {strategies}. Estimators: {estimators}.",
    ),
]
Times = Annotated[int, option("--times", min=1, panel=ESTIMATED, help="How many repetitions.")]
VettedBatch = Annotated[
    str,
    option("--batch", panel=ESTIMATED, help="How many pairs are vetted at a time: a number, or a share."),
]
LabelDraws = Annotated[
    int, option("--draws", min=2, panel=ESTIMATED, help="How many versions of the labels to draw.")
]

# Judging: tasks.
AskedForm = Annotated[
    str,
    option(
        "--form",
        panel=SCORED,
        choices="forms",
        help="What annotators are asked: {forms}; or a .toml file.",
    ),
]
TaskSize = Annotated[
    int | None,
    option("--task-size", min=1, panel=COST, help="Pairs to judge per task; by default as in the form."),
]
Gold = Annotated[
    int | None,
    option("--gold", min=0, panel=COST, help="Gold pairs hidden in each task; by default as in the form."),
]
Overlap = Annotated[int, option("--overlap", min=1, panel=COST, help="How many annotators answer each task.")]
PerHour = Annotated[float, option("--per-hour", min=0, panel=COST, help="Pay per hour, in any currency.")]
Fee = Annotated[float, option("--fee", min=0, panel=COST, help="The platform's share on top of the pay.")]
DryRun = Annotated[bool, option("--dry-run", panel=COST, help="Only print what it would cost.")]
AnswerFormat = Annotated[
    str | None,
    option(
        "--format",
        panel=INPUT,
        choices="answer_formats",
        show_default=False,
        help="{answer_formats}; by default from the file.",
    ),
]

# Judging: machine judges.
RunFile = Annotated[
    list[Path] | None,
    option(
        "--run",
        panel=INPUT,
        help="Files of the runs: a.npy,b.npy; both tables of a run of embeddings; or a model, as hf:FOLDER.",
    ),
]
Config = Annotated[
    Path | None,
    option(
        "--config",
        panel=JUDGE,
        help="A TOML file: url, model, timeout, parallel, price_in, price_out, key_env …",
    ),
]
Url = Annotated[
    str | None,
    option("--url", panel=JUDGE, metavar="URL", help="A chat endpoint, such as http://127.0.0.1:8000/v1."),
]
ModelName = Annotated[
    str | None,
    option("--model", panel=JUDGE, help="The model's name there; its key comes from KARAT_JUDGE_KEY."),
]
Prompt = Annotated[
    str, option("--prompt", panel=JUDGE, metavar="FILE", help="'default' or a text file with $caption in it.")
]
Threshold = Annotated[
    list[float] | None,
    option(
        "--threshold", panel=JUDGE, help="With --run: rising scores, one fewer than the form has answers."
    ),
]
JudgeKind = Annotated[
    str | None,
    option(
        "--judge",
        panel=JUDGE,
        choices="judges",
        show_default=False,
        help="In place of these, a kind of machine judge, such as one of a plug-in: {judges}.",
    ),
]
JudgeSetting = Annotated[
    list[str] | None,
    option(
        "--judge-set",
        panel=JUDGE,
        metavar="NAME=VALUE",
        show_default=False,
        help="A setting of --judge.",
    ),
]
MaxCost = Annotated[
    float | None, option("--max-cost", min=0, panel=JUDGE, help="Stop when this much is spent.")
]

# Output.
IdsTarget = Annotated[
    Path | None, option("--ids", panel=OUTPUT, help="Write the order of ids to this file as json.")
]
Save = Annotated[
    Path | None,
    option("--save", panel=OUTPUT, metavar="FOLDER", help="Save the benchmark in this folder."),
]
Json = Annotated[
    Path | None,
    option(
        "--json",
        panel=OUTPUT,
        callback=check_file,
        help="Also write the result to this file as json; - for standard output, without the tables.",
    ),
]
Page = Annotated[Path, result_file("an html file.")]
ScorecardFile = Annotated[
    Path | None,
    result_file(
        "{scorecard_files}; html is a report. For other programs, each run in its own file: {exchange_files} "
        "(Every Eval Ever, model-index)."
    ),
]
ImageFolder = Annotated[
    Path | None,
    option(
        "--image-folder",
        panel=OUTPUT,
        metavar="FOLDER",
        help="Show only image files in this folder; by default where the benchmark has them.",
    ),
]
Title = Annotated[str | None, option("--title", panel=OUTPUT, help="The page's title.")]
Force = Annotated[bool, option("--force", panel=OUTPUT, help="Replace what is there.")]


def parse_settings(given: list[str] | None) -> dict[str, str]:
    """Return ``NAME=VALUE`` settings as a dictionary.

    >>> parse_settings(["cxc_ratings=sits_test.csv"])
    {'cxc_ratings': 'sits_test.csv'}
    """
    settings = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"{text!r} is not a setting", fix="write NAME=VALUE")
        settings[name.strip()] = value.strip()
    return settings


def parse_amount(text: str, named: str) -> int | float:
    """Return a number of pairs, or a share of them.

    >>> [parse_amount(text, "--budget") for text in ("200", "1", "5%", "0.2")]
    [200, 1, 0.05, 0.2]
    """
    share = text.strip().endswith("%")
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        number = float("nan")
    if not number > 0 or (share and number > 100):
        raise InputError(f"{named} is {text!r}", fix="give a number of pairs, or a share such as 20% or 0.2")
    if share:
        return number / 100
    # "1" is one pair, "1.0" all of them.
    return int(text) if text.strip().isdigit() else number


def parse_numbers(given: list[str] | None, named: str) -> list[float] | None:
    """Return the values of an option as numbers.

    >>> parse_numbers(["2.66", "3"], "--first-from")
    [2.66, 3.0]
    """
    try:
        return None if not given else [float(text) for text in given]
    except ValueError:
        raise InputError(
            f"{named} is {','.join(given or [])!r}", fix="give numbers such as 3,3.5,4"
        ) from None


def parse_files(given: list[str] | None) -> dict[str, Path]:
    """Return ``NAME=FILE`` settings as a dictionary.

    >>> parse_files(["mine=N.npy"])
    {'mine': PosixPath('N.npy')}
    """
    return {name: Path(file) for name, file in parse_settings(given).items()}


def load_runs(
    files: list[Path], benchmark: Benchmark, loading: Loading, compute: Compute | None = None
) -> list[Run]:
    """Load the runs of `Files` as the options of reading them say, and print what a reader should know."""
    from karat.cli.show import print_notes
    from karat.runs import load_runs as load
    from karat.runs import notes_on_loading

    runs = load(files, benchmark, loading, compute)
    print_notes(notes_on_loading(runs))
    return runs
