"""karat: trustworthy evaluation of image–text retrieval when labels are incomplete and noisy.

>>> import karat
>>> coco = karat.load_benchmark("coco")
>>> run = karat.load_run("sims.npy")            # doctest: +SKIP
>>> print(karat.evaluate(run, coco))            # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat._util import Scheduler as Scheduler
    from karat.benchmarks import Benchmark as Benchmark
    from karat.benchmarks import Judgments as Judgments
    from karat.benchmarks import Truth as Truth
    from karat.benchmarks import list_benchmarks as list_benchmarks
    from karat.benchmarks import load_benchmark as load_benchmark
    from karat.benchmarks import save_benchmark as save_benchmark
    from karat.duplicates import find_duplicates as find_duplicates
    from karat.errors import InputError as InputError
    from karat.errors import KaratError as KaratError
    from karat.estimation import estimate_detections as estimate_detections
    from karat.estimation import estimate_project as estimate_project
    from karat.estimation import estimate_scores as estimate_scores
    from karat.estimation import next_pairs as next_pairs
    from karat.estimation import plan_vetting as plan_vetting
    from karat.estimation import simulate_detections as simulate_detections
    from karat.estimation import simulate_vetting as simulate_vetting
    from karat.explanations import assess_robustness as assess_robustness
    from karat.explanations import explain_failures as explain_failures
    from karat.explanations import perturb_captions as perturb_captions
    from karat.measures import list_measures as list_measures
    from karat.measures import parse_measure as parse_measure
    from karat.models import encode as encode
    from karat.models import fit as fit
    from karat.models import fuse as fuse
    from karat.models import load_model as load_model
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
    from karat.scores import correlate as correlate
    from karat.scores import evaluate as evaluate
    from karat.scores import inspect as inspect

__version__ = "0.4.0"

# Each name is loaded on first use, so that `import karat` costs no more than this file.
__all__, __getattr__, __dir__ = exports(__name__, __file__)
__all__.append("__version__")
