"""Write docs/estimator-bench.md: every estimator with every strategy on worlds whose labels are known.

    make bench-estimators                                   # some ten minutes on two cores
    python scripts/bench_estimators.py --quick --output /tmp/bench.md --json /tmp/bench.json

The page is made by this file alone; numbers on it are never edited.
"""

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import karat
from karat.estimation import (
    ESTIMATORS,
    STRATEGIES,
    Candidates,
    Method,
    make_candidates,
    simulate_candidates,
    vet,
)
from karat.estimation.inputs import is_cut
from karat.estimation.query_means import mean_defined
from karat.estimation.vetting import truth_labels, values_per_query
from karat.measures import Measure, parse_measure
from karat.world import System, make_world, simulate_systems

PAGE = Path(__file__).parents[1] / "docs" / "estimator-bench.md"
MEASURES = ("P@10", "RP", "AP")
SHARES = (0.05, 0.2, 0.5)
BATCH = 0.05
SYSTEMS = (
    System("strong", strength=3.0),
    System("fair", strength=2.0),
    System("memoriser", strength=2.0, instance=1.0),
    System("colour-blind", strength=3.0, blind=("colour",)),
    System("uneven", strength=3.0, uneven=0.8),
)
NOISE = {
    "original": (None, None),
    "half missing": (0.5, 0.02),
    "unreliable": (0.3, 0.1),
}
"""Of the noisy labels: the share of relevant pairs that they miss, and of others that they call relevant."""
SLOW = "boosting"
"""An estimator that takes far longer than the others, and so gets fewer worlds with several systems."""


@dataclass(frozen=True)
class Sizes:
    """How large the bench is."""

    worlds: int
    slow_worlds: int
    queries: int
    depth: int
    single_worlds: int
    single_queries: int


FULL = Sizes(worlds=4, slow_worlds=1, queries=50, depth=15, single_worlds=100, single_queries=100)
QUICK = Sizes(worlds=1, slow_worlds=0, queries=30, depth=12, single_worlds=10, single_queries=60)


def world_candidates(
    measure: Measure, seed: int, systems: Sequence[System], queries: int, depth: int, noise: str = "original"
) -> tuple[Candidates, np.ndarray]:
    """Return candidates of a new world, and whether each is relevant."""
    world = make_world(images=2 * queries, captions=1, seed=seed)
    bench, runs = world.benchmark(), simulate_systems(world, seed, systems)
    candidates = make_candidates(
        runs, bench, "original", direction="t2i", queries=np.arange(queries),
        depth=measure.k if is_cut(measure) else depth, noisy_positives=not is_cut(measure),
    )  # fmt: skip
    relevant = truth_labels(candidates, bench.truth("complete")) > 0
    missed, invented = NOISE[noise]
    if missed is not None:
        luck = np.random.default_rng([seed, 21]).random(len(candidates))
        candidates = replace(candidates, noisy=np.where(relevant, luck >= missed, luck < invented))
    return candidates, relevant


def single_system(measure: str, names: Sequence[str], queries: int, depth: int, seed: int) -> np.ndarray:
    """Return absolute errors of a score [estimators, shares] in points, for one system on one world.

    Pairs are drawn at random out of those that the measure looks at; vetted-only gets as many in whole
    queries, without which it is undefined.
    """
    named = parse_measure(measure)
    system = SYSTEMS[seed % len(SYSTEMS)]
    candidates, relevant = world_candidates(named, seed, [system], queries, depth)
    true = mean_defined(values_per_query(candidates, relevant.astype(float), named))[0]
    estimates = np.empty((len(names), len(SHARES)))
    for n, name in enumerate(names):
        how = "whole-queries" if name == "vetted-only" else "random"
        for s, share in enumerate(SHARES):
            done = vet(
                candidates, relevant.__getitem__, named, estimator=name, strategy=how, first=how,
                budget=share, batch=share, seed=seed,
            )  # fmt: skip
            estimates[n, s] = mean_defined(done.rounds[-1].after)[0]
    return 100 * np.abs(estimates - true)


def several_systems(task: tuple[str, str, int], sizes: Sizes) -> list[dict[str, Any]]:
    """Return one record per method and share, for one measure, noise and world."""
    measure, noise, seed = task
    named = parse_measure(measure)
    candidates, relevant = world_candidates(named, seed, SYSTEMS, sizes.queries, sizes.depth, noise)
    records = []
    for strategy in STRATEGIES:
        for estimator in ESTIMATORS:
            if estimator == SLOW and (noise != "original" or seed >= sizes.slow_worlds):
                continue
            begin = time.process_time()
            result = simulate_candidates(
                candidates, relevant, named, [Method.parse(f"{strategy}+{estimator}")], times=1,
                budget=max(SHARES), batch=BATCH, seed=seed,
            )  # fmt: skip
            seconds = time.process_time() - begin
            [curve] = result.curves
            wrong = result.gaps(curve)[1]
            for share in SHARES:
                at = int(np.searchsorted(curve.effort, share - 1e-9))
                off = 100 * (curve.estimate[0, at] - result.truth)
                records.append(
                    {
                        "measure": measure,
                        "noise": noise,
                        "world": seed,
                        "strategy": strategy,
                        "estimator": estimator,
                        "share": share,
                        "bias": mean_defined(off),
                        "error": mean_defined(np.abs(off)),
                        "per_query": 100 * curve.error[0, at],
                        "tau": 1 - 2 * wrong[0, at],
                        "seconds": seconds / len(curve.effort),
                    }
                )
    return [{key: as_plain(value) for key, value in record.items()} for record in records]


def as_plain(value: Any) -> Any:
    """Return a number as json knows it: None for NaN."""
    if isinstance(value, np.generic | np.ndarray | float):
        return None if np.isnan(value) else float(value)
    return value


def run(sizes: Sizes, processes: int) -> dict[str, Any]:
    """Run everything and return all numbers."""
    names = list(ESTIMATORS)
    tasks = [
        (measure, noise, seed)
        for seed in range(sizes.worlds)
        for noise in NOISE
        for measure in MEASURES[::-1]
    ]
    begin = time.perf_counter()
    with ProcessPoolExecutor(processes) as pool:
        single = {}
        for measure in MEASURES:
            one = partial(single_system, measure, names, sizes.single_queries, sizes.depth)
            single[measure] = list(pool.map(one, range(sizes.single_worlds), chunksize=5))
            say(f"one system, {measure}: {time.perf_counter() - begin:.0f} s")
        several = []
        for number, records in enumerate(pool.map(partial(several_systems, sizes=sizes), tasks), 1):
            several += records
            say(f"{number} of {len(tasks)}: {time.perf_counter() - begin:.0f} s")
    return {
        "names": names,
        "single": {measure: np.array(found).tolist() for measure, found in single.items()},
        "several": several,
    }


def say(text: str) -> None:
    """Tell how far it is."""
    print(text, file=sys.stderr, flush=True)


def mean(records: Iterable[dict[str, Any]], key: str) -> float:
    """Return the mean of what is defined; NaN for nothing."""
    values = [record[key] for record in records if record[key] is not None]
    return float(np.mean(values)) if values else float("nan")


def select(records: list[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    """Return the records that have all given values."""
    return [record for record in records if all(record[key] == value for key, value in wanted.items())]


def show(number: float, digits: int = 2) -> str:
    """Return a number for a cell."""
    # Adding 0 turns −0 into 0.
    return "–" if np.isnan(number) else f"{round(number, digits) + 0:.{digits}f}".replace("-", "−")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], labels: int = 1) -> list[str]:
    """Return the lines of a table in Markdown."""
    rule = ["---"] * labels + ["--:"] * (len(head) - labels)
    return ["| " + " | ".join(row) + " |" for row in (head, rule, *rows)] + [""]


def single_tables(found: dict[str, Any]) -> list[str]:
    """Return errors of each estimator for one system, with their standard errors."""
    lines = []
    for measure in MEASURES:
        errors = np.array(found["single"][measure], dtype=float)
        means = np.nanmean(errors, axis=0)
        sure = np.nanstd(errors, axis=0, ddof=1) / np.sqrt(len(errors))
        base = means[found["names"].index("sample-mean")]
        rows = [
            [f"`{name}`", *(f"{show(x)} ± {show(y)}" for x, y in zip(row, spread)),
             *(show(x / b) for x, b in zip(row, base))]
            for name, row, spread in zip(found["names"], means, sure)
        ]  # fmt: skip
        head = [f"{measure}, estimator", *(f"{share:.0%}" for share in SHARES),
                *(f"{share:.0%}, ratio" for share in SHARES)]  # fmt: skip
        lines += table(head, rows)
    return lines


def by_one(records: list[dict[str, Any]], key: str, names: Iterable[str], quantity: str) -> list[str]:
    """Return a table of a quantity, a row for each estimator or strategy, over all noise levels."""
    rows = []
    for name in names:
        own = select(records, **{key: name})
        rows.append(
            [f"`{name}`"]
            + [
                show(mean(select(own, measure=measure, share=share), quantity))
                for measure in MEASURES
                for share in SHARES
            ]
        )
    head = [key, *(f"{measure}, {share:.0%}" for measure in MEASURES for share in SHARES)]
    return table(head, rows)


QUANTITIES = {
    "error": "Error of the mean",
    "per_query": "Mean absolute error per query",
    "bias": "Bias",
    "tau": "Rank correlation of the systems (τ)",
}


def summary(records: list[dict[str, Any]], key: str, names: Sequence[str]) -> list[str]:
    """Return the four tables of one comparison."""
    lines = []
    for quantity, title in QUANTITIES.items():
        lines += [f"{title}:", "", *by_one(records, key, names, quantity)]
    return lines


def same_worlds(records: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return the records, and those of an estimator where the slow one was run under a name of its own."""
    where = {(record["world"], record["noise"]) for record in select(records, estimator=SLOW)}
    return records + [
        {**record, "estimator": f"{name}, as {SLOW}"}
        for record in select(records, estimator=name)
        if (record["world"], record["noise"]) in where
    ]


def cost_table(records: list[dict[str, Any]], key: str, names: Sequence[str]) -> list[str]:
    """Return the seconds that a batch takes."""
    rows = [
        [f"`{name}`"]
        + [show(mean(select(records, measure=measure, **{key: name}), "seconds"), 3) for measure in MEASURES]
        for name in names
    ]
    return table([key, *MEASURES], rows)


def every_method(records: list[dict[str, Any]]) -> list[str]:
    """Return a table per measure and noise with all methods."""
    lines = []
    for measure in MEASURES:
        for noise in NOISE:
            own = select(records, measure=measure, noise=noise)
            rows = []
            for strategy in STRATEGIES:
                for estimator in ESTIMATORS:
                    method = select(own, strategy=strategy, estimator=estimator)
                    cells = [
                        show(mean(select(method, share=share), quantity))
                        for share in SHARES
                        for quantity in QUANTITIES
                    ]
                    rows.append([f"`{strategy}+{estimator}`", *cells, show(mean(method, "seconds"), 3)])
            head = ["method"]
            head += [
                f"{name} {share:.0%}" for share in SHARES for name in ("error", "per query", "bias", "τ")
            ]
            lines += [
                "<details>",
                f"<summary>{measure}, noisy labels “{noise}”</summary>",
                "",
                *table([*head, "s"], rows),
                "</details>",
                "",
            ]
    return lines


def ratios(found: dict[str, Any]) -> dict[str, float]:
    """Return, per estimator, its highest ratio to the error of the sample mean, for one system."""
    base = found["names"].index("sample-mean")
    means = np.array([np.nanmean(np.array(found["single"][measure], float), axis=0) for measure in MEASURES])
    return dict(zip(found["names"], (means / means[:, [base]]).max(axis=(0, 2)).tolist()))


def recommendation(found: dict[str, Any], chosen: str) -> list[str]:
    """Return what is recommended, with the numbers that say why."""
    worst, records = ratios(found), select(found["several"], share=0.2)
    error = {name: mean(select(records, strategy=name, estimator=chosen), "error") for name in STRATEGIES}
    ranked = sorted(error, key=lambda name: error[name])
    near = [f"`{name}`" for name in ranked if error[name] <= error[ranked[0]] + 0.1]
    naive = {name: mean(select(records, strategy=name, estimator="naive"), "error") for name in STRATEGIES}
    kept = [name for name in ESTIMATORS if ESTIMATORS[name].recommended and worst[name] <= LIMIT]
    broken = [name for name in ESTIMATORS if ESTIMATORS[name].recommended and worst[name] > LIMIT]
    return [
        f"- **Estimator: {' or '.join(f'`{name}`' for name in kept)}.** karat recommends an estimator if its "
        f"error for one system is at most {LIMIT} times that of the sample mean, whatever the measure and "
        "the share. The highest ratios: "
        + ", ".join(f"`{name}` {show(ratio)}" for name, ratio in worst.items() if name != "sample-mean")
        + "."
        + "".join(f" **`{name}` is registered as recommended, and should not be.**" for name in broken),
        f"- **Strategy, for a score from few labels: {' or '.join(near)}**, which are within 0.1 points of "
        f"each other. With `{chosen}` and 20% vetted, the error of the mean over all measures and noise "
        "levels is, in points: " + ", ".join(f"`{name}` {show(error[name])}" for name in ranked) + ".",
        "- **Random vetting, where the sample must be fair**: for intervals that hold whatever the estimator "
        "does, or where other questions will be asked of the same labels.",
        "- **`naive` gains nothing from strategies that look for uncertain labels**, since it is never "
        "uncertain. With 20% vetted, in points: "
        + ", ".join(f"`{name}` {show(naive[name])}" for name in ("random", "meec", "entropy"))
        + f"; `mcm`, which looks for mistakes, {show(naive['mcm'])}.",
    ]


HEAD = """# The estimator bench

Made by `{command}` with karat {karat}, numpy {numpy} and Python {python}; not edited by hand. The same seeds
give the same numbers, except for the costs.

It compares every estimator (how vetted labels become probabilities of the others) with every strategy (which
pairs are vetted next) where all labels are known: on [made worlds](world.md), whose captions are true or false of
each image by construction.

## Recommendation

{recommendation}

## How it is made

- **Worlds**: {sizes.worlds} with {images} images and a caption for each, seeds 0 to {last}. {sizes.queries} captions
  ask, and all images are ranked (t2i). `{slow}` is slow: it has {sizes.slow_worlds} of the worlds, with
  the noisy labels *original*, and a row beside it has `{chosen}` on the same.
- **Systems**: {systems}. Their noise has variance 1.
- **Candidates**: for P@10 the first 10 of each system; for RP and AP the first {sizes.depth} of each, and what the
  original labels call relevant. Other pairs count as not relevant.
- **Noisy labels**: {noise}.
- **Shares vetted**: {shares} of the pairs that the measure looks at, in batches of {batch:.0%}. The first batch is
  random, and the estimator learns after each.
- **Truth**: the score when all candidates have their true label. The annotators make no mistakes.

| quantity | definition |
|---|---|
| error of the mean | absolute difference between a system's estimated and true score, in points (0 to 100); mean over systems, worlds and noise levels |
| mean absolute error per query | absolute difference between the estimated and the true value of a query, in points; mean over queries, systems, worlds and noise levels, so that errors of opposite sign do not cancel |
| bias | estimated minus true score, in points; mean over systems, worlds and noise levels |
| τ | Kendall's rank correlation of the systems by estimated and by true score: 1 − 2 · (share of pairs in the wrong order), where equal estimates count half and pairs that are truly equal are left out |
| cost | seconds of CPU per batch: choosing, learning, and estimating all systems before and after |

“–” is not defined: `vetted-only` has a value only for queries that are vetted completely. The sample mean of a
system is that of the vetted pairs inside its own first K. It knows nothing of places, and so is far off for RP and AP.

## One system, random vetting

{sizes.single_worlds} worlds (seeds 0 to {last_single}) of {images_single} images, of which {sizes.single_queries}
captions ask; the systems take turns; noisy labels *original*. Error of the mean in points ± its standard error over
worlds, and its ratio to that of the sample mean. `vetted-only` gets as many pairs in whole queries.

"""  # noqa: E501
LIMIT = 1.1


def page(found: dict[str, Any], sizes: Sizes, command: str) -> str:
    """Return the page."""
    records = found["several"]
    chosen = next(name for name in ESTIMATORS if ESTIMATORS[name].recommended and name != SLOW)
    beside = f"{chosen}, as {SLOW}"
    at_random = same_worlds(select(records, strategy="random"), chosen)
    names = [name for known in ESTIMATORS for name in ((known, beside) if known == SLOW else (known,))]
    head = HEAD.format(
        command=command, karat=karat.__version__, numpy=np.__version__, python=platform.python_version(),
        recommendation="\n".join(recommendation(found, chosen)), sizes=sizes, slow=SLOW,
        images=2 * sizes.queries, last=sizes.worlds - 1, chosen=chosen, batch=BATCH, noise=shown_noise(),
        systems="; ".join(map(shown_system, SYSTEMS)), shares=", ".join(f"{share:.0%}" for share in SHARES),
        last_single=sizes.single_worlds - 1, images_single=2 * sizes.single_queries,
    )  # fmt: skip
    lines = [
        *single_tables(found),
        f"## Estimators, with random vetting of {len(SYSTEMS)} systems",
        "",
        "Means over the noise levels.",
        "",
        *summary(at_random, "estimator", names),
        f"## Strategies, with the estimator `{chosen}`",
        "",
        "Means over the noise levels.",
        "",
        *summary(select(records, estimator=chosen), "strategy", list(STRATEGIES)),
        "## Cost",
        "",
        "Seconds of CPU per batch, on one core.",
        "",
        *cost_table(at_random, "estimator", list(ESTIMATORS)),
        *cost_table(select(records, estimator=chosen), "strategy", list(STRATEGIES)),
        "## Every method",
        "",
        f"`{SLOW}` on few worlds, as above.",
        "",
        *every_method(records),
    ]
    return head + "\n".join(lines).rstrip() + "\n"


def shown_noise() -> str:
    """Return the noise levels in words."""
    words = []
    for name, (missed, invented) in NOISE.items():
        what = "the image that a caption was written for is its only positive"
        if missed is not None:
            what = (
                f"{missed:.0%} of the relevant pairs are missed, {invented:.0%} of the others called relevant"
            )
        words.append(f"*{name}*, {what}")
    return "; ".join(words)


def shown_system(system: System) -> str:
    """Return a system in words."""
    more = [f"blind to {', '.join(system.blind)}"] if system.blind else []
    more += [f"instance {system.instance:g}"] if system.instance else []
    more += [f"uneven {system.uneven:g}"] if system.uneven else []
    return f"{system.name} ({', '.join([f'strength {system.strength:g}', *more])})"


def main() -> None:
    """Read the command line, run, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small worlds and few of them: a minute")
    parser.add_argument("--worlds", type=int, help="how many worlds, seeds from 0")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--output", type=Path, default=PAGE)
    parser.add_argument("--json", type=Path, help="write all numbers here")
    asked = parser.parse_args()
    sizes = QUICK if asked.quick else FULL
    if asked.worlds:
        sizes = replace(sizes, worlds=asked.worlds)
    command = "make bench-estimators"
    if asked.quick or asked.worlds:
        shown = [
            *(["--quick"] if asked.quick else []),
            *([f"--worlds {asked.worlds}"] if asked.worlds else []),
        ]
        command = " ".join(["python scripts/bench_estimators.py", *shown])
    begin = time.perf_counter()
    found = run(sizes, asked.processes)
    if asked.json:
        asked.json.write_text(json.dumps(found) + "\n", encoding="utf-8")
    asked.output.write_text(page(found, sizes, command), encoding="utf-8")
    say(f"{asked.output}: {(time.perf_counter() - begin) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
