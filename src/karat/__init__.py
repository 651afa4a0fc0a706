"""karat: trustworthy evaluation of image–text retrieval when labels are incomplete and noisy.

>>> import karat
>>> coco = karat.load_benchmark("coco")
>>> run = karat.load_run("sims.npy")            # doctest: +SKIP
>>> print(karat.evaluate(run, coco))            # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.exports import lazily

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark as Benchmark
    from karat.benchmarks import Judgments as Judgments
    from karat.benchmarks import Truth as Truth
    from karat.benchmarks import load_benchmark as load_benchmark
    from karat.benchmarks import save_benchmark as save_benchmark
    from karat.measures import parse_measure as parse_measure
    from karat.runs import Run as Run
    from karat.runs import load_run as load_run
    from karat.scores import Comparison as Comparison
    from karat.scores import Scorecard as Scorecard
    from karat.scores import agree as agree
    from karat.scores import compare as compare
    from karat.scores import correlate as correlate
    from karat.scores import evaluate as evaluate
    from karat.validation import KaratError as KaratError

__version__ = "0.4.0"

# Loaded when first asked for, so that `import karat` costs no more than this file.
_HOME = {
    "Benchmark": "karat.benchmarks",
    "Comparison": "karat.scores",
    "Judgments": "karat.benchmarks",
    "KaratError": "karat.validation",
    "Run": "karat.runs",
    "Scorecard": "karat.scores",
    "Truth": "karat.benchmarks",
    "agree": "karat.scores",
    "compare": "karat.scores",
    "correlate": "karat.scores",
    "evaluate": "karat.scores",
    "load_benchmark": "karat.benchmarks",
    "load_run": "karat.runs",
    "parse_measure": "karat.measures",
    "save_benchmark": "karat.benchmarks",
}

__all__ = ["__version__", *_HOME]


__getattr__ = lazily(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
