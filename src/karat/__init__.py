"""karat: trustworthy evaluation of image–text retrieval when labels are incomplete and noisy.

>>> import karat
>>> coco = karat.load_benchmark("coco")
>>> run = karat.load_run("sims.npy")            # doctest: +SKIP
>>> print(karat.evaluate(run, coco))            # doctest: +SKIP

Each command of the command line is a function of the same name, with the same options.

Scores:       evaluate, compare, report, explain, rules, robustness, agree
Runs:         load_run, inspect, convert, normalise, fuse
Models:       load_model, fit, train, encode, search
True scores:  estimate, plan, simulate; karat.detections: estimate, simulate, pool
Judging:      serve, open_project; karat.project: pool, tasks, next, estimate, export, import_, quality,
              rules, calibrate, judge, judges, publish, bias, locate, backup, restore
Captions:     perturb; karat.captions: score, table, pairs, corpus, parse, filter, curve
And:          load_benchmark; settings, progress; karat.benchmarks: list, show, add, remove;
              karat.measures: list, show; karat.board: report, correlate; karat.world: make
Nouns:        Run, Benchmark, Truth, Judgments, Scorecard, Comparison, Meter, Project
Records:      Loading (how runs are read), Compute (what computes), Scheduler, PageOptions

A result prints itself; ``records()``, ``to_frame()``, ``save("scores.tex")`` give its numbers.
``help(karat.evaluate)`` says more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat._util.lazy import LATER, exports

if TYPE_CHECKING:
    from karat import benchmarks as benchmarks
    from karat import board as board
    from karat import captions as captions
    from karat import detections as detections
    from karat import measures as measures
    from karat import project as project
    from karat import world as world
    from karat._util import Scheduler as Scheduler
    from karat._util import list_settings as settings
    from karat._util import progress as progress
    from karat.baselines import fit as fit
    from karat.baselines import fuse as fuse
    from karat.benchmarks import Benchmark as Benchmark
    from karat.benchmarks import Judgments as Judgments
    from karat.benchmarks import Truth as Truth
    from karat.benchmarks import load_benchmark as load_benchmark
    from karat.benchmarks import save_benchmark as save_benchmark
    from karat.duplicates import find_duplicates as find_duplicates
    from karat.errors import InputError as InputError
    from karat.errors import KaratError as KaratError
    from karat.estimation import estimate as estimate
    from karat.estimation import plan as plan
    from karat.estimation import simulate as simulate
    from karat.explanations import explain as explain
    from karat.explanations import rules as rules
    from karat.measures import parse_measure as parse_measure
    from karat.models import encode as encode
    from karat.models import load_model as load_model
    from karat.models import search as search
    from karat.perturbations import perturb as perturb
    from karat.perturbations import robustness as robustness
    from karat.reports import PageOptions as PageOptions
    from karat.reports import report as report
    from karat.reports import write_report as write_report
    from karat.runs import Compute as Compute
    from karat.runs import Loading as Loading
    from karat.runs import Run as Run
    from karat.runs import convert as convert
    from karat.runs import load_run as load_run
    from karat.runs import normalise as normalise
    from karat.scores import Comparison as Comparison
    from karat.scores import Meter as Meter
    from karat.scores import Scorecard as Scorecard
    from karat.scores import agree as agree
    from karat.scores import compare as compare
    from karat.scores import evaluate as evaluate
    from karat.scores import inspect as inspect
    from karat.store import Project as Project
    from karat.store import open_project as open_project
    from karat.training import train as train
    from karat.web import serve as serve

__version__ = "0.4.0"

LATER |= {
    "exchange": ("karat.scores.exchange",),
    "model": ("karat.baselines.image_text_model", "karat.training.trained_model"),
    "run": ("karat.models.encoding",),
    "page": ("karat.reports.page", "karat.reports.search_page"),
    "similarity": ("karat.captions.similarity",),
    "text-only": ("karat.captions.language_model",),
    "truth": ("karat.captions.machine_truths", "karat.duplicates.truths"),
}


def _hint(name: str) -> str:
    """Return what a wrong name may mean: a name of karat, or of one of its packages."""
    from pathlib import Path

    from karat._util.lazy import homes
    from karat.guesses import did_you_mean

    here = Path(__file__)
    names = list(__all__)
    own = {one: module for one, (module, _) in homes(__file__).items()}
    groups = [one for one, module in own.items() if module == __name__]
    for package in sorted(here.parent.glob("*/__init__.py"), key=lambda path: path.parent.name not in groups):
        name_of = package.parent.name
        if not name_of.startswith("_"):
            # What karat itself offers is meant by its short name; a group's `estimate` is another one.
            short = [
                one for one, module in own.items() if name_of not in groups or module == f"karat.{name_of}"
            ]
            names += [f"{name_of}.{one}" for one in homes(str(package)) if one not in short]
    return did_you_mean(name, names, shown="karat.{}")


# Each name is loaded on first use, so that `import karat` costs no more than this file.
__all__, __getattr__, __dir__ = exports(__name__, __file__, _hint)
__all__.append("__version__")
