"""Coverage of intervals and size of tests from five images to a thousand: the table of ``docs/how-sure.md``.

Images are drawn from populations that are known exactly, as `populations` has them for one world; here they
are formulas, so that thousands of samples of every size take minutes. ``make test-statistical`` computes the
table, checks it, and writes it into the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from karat.measures import MEAN, MEDIAN
from karat.stats import Intervals, Sample, Samples, mean_ends, other_ends, randomisation_test, spread_of
from karat.stats.bootstrap import FEWEST_RESAMPLED, sign_p, swap_floor
from karat.stats.few_clusters import FEW
from karat.stats.paired_tests import binomial_p, subtract

SIZES = (5, 10, 20, 50, 100, 1000)
REPETITIONS = 2000
"""Half as many of the largest samples, which take longest."""
PAGE = Path(__file__).parents[2] / "docs" / "how-sure.md"
Key = tuple[str, str, int]
"""A population, a direction and a number of images."""
BEGIN, END = "<!-- small samples: begin -->", "<!-- small samples: end -->"


@dataclass(frozen=True)
class Population:
    """Values per query, and the score of all queries there could be.

    Parameters
    ----------
    name, direction
        What is measured; image queries have one value per image, caption queries five.
    draw
        From a generator and a number of images to values [images, queries of each].
    truth
        The score of the population.
    aggregate
        How values become one number.
    """

    name: str
    direction: str
    draw: Callable[[np.random.Generator, int], np.ndarray]
    truth: float
    aggregate: object = MEAN


def share(p: float, each: int) -> Callable[[np.random.Generator, int], np.ndarray]:
    """Hits and misses; the captions of one image succeed together with correlation 0.3."""

    def draw(rng: np.random.Generator, images: int) -> np.ndarray:
        chance = (
            np.full((images, 1), p)
            if each == 1
            else rng.beta(p / 0.3 * 0.7, (1 - p) / 0.3 * 0.7, (images, 1))
        )
        return (rng.random((images, each)) < chance).astype(float)

    return draw


def precision(each: int) -> Callable[[np.random.Generator, int], np.ndarray]:
    """Average precisions: a fifth are 0, a tenth 1, the others between, alike within an image; mean 0.38."""

    def draw(rng: np.random.Generator, images: int) -> np.ndarray:
        middle = rng.beta(1.2, 1.8, (images, 1))
        between = middle if each == 1 else rng.beta(4 * middle, 4 * (1 - middle), (images, each))
        kind = rng.random((images, each))
        return np.where(kind < 0.2, 0.0, np.where(kind < 0.3, 1.0, between))

    return draw


def ranks(each: int) -> Callable[[np.random.Generator, int], np.ndarray]:
    """Ranks whose logarithm is normal, alike within an image; a median of 34."""

    def draw(rng: np.random.Generator, images: int) -> np.ndarray:
        shared = 0.0 if each == 1 else 0.8 * rng.normal(size=(images, 1))
        return np.ceil(np.exp(3.5 + shared + 1.2 * rng.normal(size=(images, each))))

    return draw


def populations() -> list[Population]:
    """The populations of the table, image queries and caption queries of each."""
    out = []
    for direction, each in (("i2t", 1), ("t2i", 5)):
        out += [
            Population(f"share, {100 * p:g}%", direction, share(p, each), p) for p in (0.02, 0.5, 0.81, 0.98)
        ]
        out.append(Population("mAP@R", direction, precision(each), 0.1 + 0.7 * 0.4))
        spread = np.exp((1.44 + (0 if each == 1 else 0.64)) / 2)
        # Rounded up, a rank is half a place longer on average.
        out.append(Population("MeanR", direction, ranks(each), float(np.exp(3.5) * spread + 0.5)))
        out.append(Population("MedR", direction, ranks(each), 34.0, MEDIAN))
    return out


@dataclass(frozen=True)
class Covered:
    """How often an interval held: resampled as it is, and as karat gives it; None where it gives none.

    `noted` is how often karat adds a note: on few images, on an exact interval, on a mean of few long ranks.
    """

    plain: float
    given: float | None
    noted: float


def coverage(population: Population, images: int, repetitions: int = REPETITIONS) -> Covered:
    """Return how often the percentile interval, and karat's, holds the score of the population."""
    rng = np.random.default_rng([images, *f"{population.name} {population.direction}".encode()])
    plain = given = made = noted = 0
    for seed in range(repetitions):
        values = population.draw(rng, images)
        cluster = np.repeat(np.arange(images), values.shape[1])
        sample = Sample(values.ravel(), cluster, aggregate=population.aggregate)  # type: ignore[arg-type]
        column = Samples([sample], images)
        intervals = Intervals(resamples=400, seed=seed)
        value = column.values()
        low, high = (
            float(end[0]) for end in intervals.ends(value, *intervals.draw(column.resampled, images))
        )
        plain += low <= population.truth <= high
        if population.aggregate is MEAN:
            spread = spread_of([sample], images)
            (low, high), method = mean_ends(float(value[0]), (low, high), spread, 0.95)
            noted += images < FEW or method is not None or (spread.top is None and spread.long_tailed)
        else:
            low, high = other_ends((low, high), images)
            noted += images < FEW
        made += low == low
        given += low <= population.truth <= high
    return Covered(plain / repetitions, given / made if made else None, noted / repetitions)


@dataclass(frozen=True)
class Sizes:
    """How often tests find a difference at the 5% level where there is none; None where karat refuses."""

    randomisation: float
    resampled: float
    bootstrap: float | None
    mcnemar: float | None


def sizes(population: Population, images: int, repetitions: int = REPETITIONS) -> Sizes:
    """Return the size of every test on two systems with the same chance on every image."""
    rng = np.random.default_rng([images, 7, *f"{population.name} {population.direction}".encode()])
    counts = np.zeros(4)
    for seed in range(repetitions):
        pair = np.stack([population.draw(rng, images) for _ in range(2)])
        # Exchangeable image by image, and alike: half of the images have the same values.
        alike = rng.random(images) < 0.5
        pair[1, alike] = pair[0, alike]
        first, second = pair.reshape(2, -1)
        cluster = np.repeat(np.arange(images), pair.shape[2])
        counts[0] += randomisation_test(first, second, cluster, MEAN, samples=999, seed=seed).p <= 0.05
        both = Samples([Sample(first, cluster), Sample(second, cluster)], images)
        draws, _ = Intervals(resamples=999, seed=seed).draw(both.resampled, images)
        p = float(sign_p(subtract(draws[0], draws[1])))
        counts[1] += p <= 0.05
        counts[2] += max(p, swap_floor(int((pair[0] != pair[1]).any(axis=1).sum()))) <= 0.05
        counts[3] += binomial_p(int((first > second).sum()), int((first < second).sum()), "mid-p") <= 0.05
    share = counts / repetitions
    single = population.direction == "i2t" and population.name.startswith("share")
    return Sizes(
        share[0], share[1], share[2] if images >= FEWEST_RESAMPLED else None, share[3] if single else None
    )


def percent(number: float | None) -> str:
    return "none" if number is None else f"{100 * number:.1f}"


def table(repetitions: int = REPETITIONS) -> tuple[dict[Key, Covered], dict[Key, Sizes]]:
    """Compute everything."""
    known = populations()
    times = {n: repetitions if n < SIZES[-1] else repetitions // 2 for n in SIZES}
    covered = {(p.name, p.direction, n): coverage(p, n, times[n]) for p in known for n in SIZES}
    tested = [p for p in known if p.name in ("share, 50%", "share, 81%", "mAP@R")]
    false = {(p.name, p.direction, n): sizes(p, n, times[n]) for p in tested for n in SIZES}
    return covered, false


def held(found: Covered) -> str:
    """Return a cell: karat's interval, a star where a note goes with it, and the percentile interval."""
    star = "\\*" if found.given is not None and found.noted > 0.5 else ""
    return f"{percent(found.given)}{star} ({percent(found.plain)})"


def markdown(covered: dict[Key, Covered], false: dict[Key, Sizes]) -> str:
    """Lay the figures out as the page shows them."""

    def row(title: str, cells: Iterable[str]) -> str:
        return f"| {title} | {' | '.join(cells)} |"

    head = [f"{n:,}" for n in SIZES]
    rule = "|---|" + "--:|" * len(SIZES)
    lines = [row("95% intervals that hold, in %; images:", head), rule]
    for where in dict.fromkeys(key[:2] for key in covered):
        lines.append(row(", ".join(where), (held(covered[*where, n]) for n in SIZES)))
    lines += ["", row("false alarms at the 5% level, in %; images:", head), rule]
    for where in dict.fromkeys(key[:2] for key in false):
        found, name = [false[*where, n] for n in SIZES], ", ".join(where)
        lines.append(row(f"randomisation, {name}", (percent(s.randomisation) for s in found)))
        both = (f"{percent(s.bootstrap)} ({percent(s.resampled)})" for s in found)
        lines.append(row(f"paired bootstrap, {name}", both))
        if found[0].mcnemar is not None:
            lines.append(row(f"McNemar mid-p, {name}", (percent(s.mcnemar) for s in found)))
    return "\n".join(lines)


def write_page(text: str, page: Path = PAGE) -> None:
    """Put the table between its marks."""
    whole = page.read_text(encoding="utf-8")
    before, rest = whole.split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
