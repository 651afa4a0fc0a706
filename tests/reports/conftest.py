"""Reports that several tests look at."""

import numpy as np
import pytest

import karat
from karat.reports import PageOptions, write_report
from karat.scores import curve_measures
from karat.stats import Intervals
from reports.hostile import hostile_benchmark, hostile_runs


@pytest.fixture(scope="session")
def hostile_comparison(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures") / "inside"
    folder.mkdir()
    bench = hostile_benchmark(folder=folder)
    runs = hostile_runs(bench)
    meaning = curve_measures("mine", 5, (1, 3, 9), gt=False)
    options = {
        "measure": ["R@1", "R@5", "mAP@R", "MedR", "NCS(mine)@5", *meaning], "samples": 499,
        "unjudged": "bounds", "phi": {"mine": np.exp(runs[1].scores)},
    }  # fmt: skip
    found = karat.compare(runs, bench, intervals=Intervals(resamples=300), **options)
    return found, runs, folder


@pytest.fixture(scope="session")
def hostile_report(hostile_comparison, tmp_path_factory):
    """A report of several runs with hostile names and texts, its pictures partly inlined, partly linked."""
    found, runs, folder = hostile_comparison
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    return write_report(
        found,
        path,
        runs=runs,
        page=PageOptions("<script>window.broken=1</script>", folder, 0.002),
    )
