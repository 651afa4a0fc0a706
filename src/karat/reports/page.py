"""The report: what all sections collected, in one html file that opens without a network.

Templates escape everything; the page's policy allows its own two scripts and no network.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import karat
from karat._util import PAGE_NEEDS, PAGES, check_writable, require, track, write_file
from karat.benchmarks import Benchmark
from karat.errors import InputError
from karat.estimation import ScoreEstimate, Simulation
from karat.explanations import Explanation
from karat.reports.boards import marked_low
from karat.reports.bundle import (
    packed_plotly,
    plotly_file,
    safe_json,
    script,
    source_hash,
    styles,
    template,
)
from karat.reports.material import EstimateMaterial, FailureMaterial, Material
from karat.reports.page_options import PageOptions
from karat.reports.section import in_order
from karat.runs import Compute, Run
from karat.scores import (
    Comparison,
    Leaderboard,
    Scorecard,
    as_leaderboard,
    check_choices,
    check_published_labels,
    compare,
    comparison_intervals,
    evaluate,
    number_of_swaps,
    select_metrics,
    with_intervals,
)
from karat.stats import Intervals

SUFFIXES = (".html", ".htm")
BRANDS = {
    "report": "karat report",
    "estimate": "karat estimate",
    "simulation": "karat simulate",
    "failures": "karat explain",
}
SCRIPTS = {
    "report": "main.js",
    "estimate": "estimates.js",
    "simulation": "estimates.js",
    "failures": "failure-page.js",
}
SCRIPTED = {"failures": "The list of failures needs"}
"""What needs scripts on a page, where it is something else than elsewhere."""
PLOTLESS = {"failures"}
"""Pages without a plot go without plotly."""


def report(
    runs: Any,
    benchmark: Benchmark | str | Path,
    measure: Any = None,
    *,
    output: str | Path = "report.html",
    page: PageOptions | None = None,
    test: str = "randomisation",
    alpha: float = 0.05,
    correction: str = "column",
    intervals: Intervals | str | bool = True,
    interval_method: str | None = None,
    level: float | None = None,
    resamples: int | None = None,
    samples: int | None = None,
    seed: int = 0,
    **options: Any,
) -> Comparison | Scorecard:
    """Score runs, compare them where there are several, and write one html page about them.

    The scores of each run are read once.

    Parameters
    ----------
    runs, benchmark, measure, **options
        As `karat.evaluate` takes them.
    output, page
        The file, and what is on it beside the result.
    test, alpha, correction, intervals, interval_method, level, resamples, samples, seed
        As `karat.compare` takes them.

    Returns
    -------
    Comparison or Scorecard
        What the page shows: a comparison, or the scorecard of one run with intervals.

    Examples
    --------
    >>> import tempfile
    >>> from karat.world import make_world, simulate
    >>> world = make_world(40, seed=3)
    >>> runs = [simulate(world, strength=strength, seed=1) for strength in (1, 3)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     named = dict(zip(["weak", "good"], runs))
    ...     shown = report(named, world.benchmark(), "R@1", output=f"{folder}/report.html", samples=99)
    >>> shown.standing("R@1", truth="original").runs
    ('good', 'weak')
    """
    target = Path(output)
    # Wrong choices show before large files are read.
    check_page(target)
    samples = number_of_swaps(samples, resamples)
    check_choices(test, alpha, samples, seed, correction)
    check_published_labels(options.get("label_uncertainty"))
    made = comparison_intervals(intervals, interval_method, level, resamples, seed)
    card = evaluate(runs, benchmark, measure, details=True, **{"text_only": "none", **options})
    found: Comparison | Scorecard
    if len(card.runs) > 1:
        found = compare(
            card, test=test, alpha=alpha, correction=correction, intervals=made, samples=samples, seed=seed
        )
    else:
        found = with_intervals(card, made)
    write_report(found, target, page=page, compute=options.get("compute"))
    return found


def report_board(
    source: Any,
    *,
    output: str | Path = "report.html",
    metric: Iterable[str] | None = None,
    lower_is_better: Iterable[str] = (),
    page: PageOptions | None = None,
) -> Leaderboard:
    """Write one html page about models of which only numbers are known: who leads, whether metrics agree.

    Parameters
    ----------
    source
        A table (csv, tsv or Parquet, whose first column names the system), json files that `karat evaluate`
        wrote, a folder of them, a `Leaderboard`, or Scorecards.
    output, page
        The file, and what is on it beside the numbers.
    metric
        Which metrics, in this order; all by default.
    lower_is_better
        Metrics where low is good, beside those whose names say so (MedR, MeanR).

    Returns
    -------
    Leaderboard
        The systems by metrics that the page shows.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import karat
    >>> board = Leaderboard(("a", "b", "c"), ("R@1", "RP"), np.array([[0.2, 0.3], [0.3, 0.2], [0.4, 0.4]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     karat.board.report(board, output=f"{folder}/report.html").metrics
    ('R@1', 'RP')
    """
    target = Path(output)
    check_page(target)
    check_writable(target)
    board = as_leaderboard(source)
    if metric is not None:
        board = select_metrics(board, list(metric))
    board = marked_low(board, list(lower_is_better))
    write_report(board, target, page=page)
    return board


def write_report(
    found: Comparison | Scorecard | Leaderboard | ScoreEstimate | Simulation | Explanation,
    path: str | Path,
    *,
    runs: Sequence[Run] = (),
    page: PageOptions | None = None,
    compute: Compute | None = None,
) -> Path:
    """Write one html file that says what was found, and opens without a network.

    Parameters
    ----------
    found
        What `karat.compare` or `karat.evaluate` returned, a leaderboard of numbers alone, or what
        `karat.estimate`, `karat.simulate` or `karat.explain` returned. Several
        runs of a scorecard are compared, and one run is given intervals, so that the page does not depend on
        what called it.
    path
        The file, which ends in .html.
    runs
        The runs behind a scorecard that was evaluated without ``details=True``: they are read again for the
        place of each first right answer, scores in smaller galleries, first results, and how much of them
        was judged.
    page
        What is on the page beside the result: a title, pictures, how it was made.
    compute
        How what is needed of the runs is computed.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> board = Leaderboard(("a", "b", "c"), ("R@1", "RP"), np.array([[0.2, 0.3], [0.3, 0.2], [0.4, 0.4]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     "Do the metrics agree?" in write_report(board, f"{folder}/report.html").read_text("utf-8")
    True
    """
    target = Path(path)
    check_page(target)
    card = found.card if isinstance(found, Comparison) else found
    if isinstance(card, Scorecard) and card.benchmark.choices is not None:
        # The sections are about ranked galleries; of choices the page shows what is printed.
        found.save_page(target)
        return target
    page = page or PageOptions()
    material: Material | EstimateMaterial | FailureMaterial
    if isinstance(found, Explanation):
        material = FailureMaterial(found, page, target)
    elif isinstance(found, ScoreEstimate | Simulation):
        material = EstimateMaterial(found, page, target)
    else:
        threads = None if compute is None else compute.threads
        material = Material(complete(found), tuple(runs), page, target, threads)
    text = render(material)
    # Names of files may hold bytes that are not text.
    content = text.encode("utf-8", "replace")
    write_file(target, lambda place: place.write_bytes(content))
    return target


def complete(found: Comparison | Scorecard | Leaderboard) -> Comparison | Scorecard | Leaderboard:
    """Return a scorecard compared, or with intervals where there is one run; anything else as it is."""
    if not isinstance(found, Scorecard) or all(column.value is None for column in found):
        return found
    if len(found.runs) == 1:
        return found if found.intervals is not None else with_intervals(found)
    try:
        return compare(found, intervals=found.intervals or True)
    except InputError:
        # No two runs share a measure, or the intervals include uncertain labels, which tests do not.
        return found if found.intervals is not None else with_intervals(found)


def check_page(target: Path) -> None:
    """Raise before the work starts when a page could not be written."""
    check_target(target)
    require(*PAGE_NEEDS)


def check_target(target: Path) -> None:
    """Raise before the work starts when the file's name says that it is something else."""
    if target.suffix.lower() not in SUFFIXES:
        raise InputError(f"has the extension {target.suffix!r}", where=target, fix="name it report.html")


def render(material: Material | EstimateMaterial | FailureMaterial) -> str:
    """Return the page."""
    from markupsafe import Markup

    sections: list[dict[str, Any]] = []
    for_scripts: dict[str, Any] = {"systems": material.systems}
    shown = in_order(material.kind)
    for section in track(shown, lambda section: f"writing {section.title}"):
        data = section.collect(material)
        if data is None:
            continue
        reason = data if isinstance(data, str) else None
        sections.append({"name": section.name, "title": section.title, "short": section.short,
                         "reason": reason, "data": None if reason else data})  # fmt: skip
        if reason is None and section.scripted:
            for_scripts[section.name] = data
    pictures = [part.get("thumbnails") or {} for part in for_scripts.values() if isinstance(part, dict)]
    linked = any(some.get("linked") for some in pictures)
    code = script(SCRIPTS[material.kind])
    plotly = None if material.kind in PLOTLESS else plotly_file()
    known = [code] if plotly is None else [code, plotly.read_text(encoding="utf-8")]
    others = {f"sections/{section.name}.html": section.template for section in shown if section.template}
    return template("page.html", trim=True, others=others).render(
        title=material.heading,
        brand=BRANDS[material.kind],
        sections=sections,
        linked=linked,
        policy=policy(known, linked),
        page=material.kind,
        scripted=SCRIPTED.get(material.kind, "Plots and the table of queries need"),
        # Markup: made by karat itself, or escaped for where it stands.
        style=Markup(styles()),
        script=Markup(code),
        data=Markup(safe_json(for_scripts)),
        plotly=None if plotly is None else Markup(packed_plotly(plotly)),
        version=karat.__version__,
        made=material.page.made.strftime("%Y-%m-%d"),
    )


def policy(scripts: Sequence[str], linked: bool) -> str:
    """Return the content security policy: known scripts, pictures, nothing from any network.

    Styles may be set by scripts, since plotly does; a style runs nothing.
    """
    local = " 'self' file:" if linked else ""
    return (
        f"default-src 'none'; script-src {' '.join(map(source_hash, scripts))}; "
        f"style-src 'unsafe-inline'; img-src data: blob:{local}; base-uri 'none'; form-action 'none'"
    )


for kind in (Scorecard, Comparison, Leaderboard, ScoreEstimate, Simulation, Explanation):
    PAGES.add(kind.__name__, write_report)
