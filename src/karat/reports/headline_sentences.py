"""The sentences of the first screen of a report on runs."""

from __future__ import annotations

from karat.benchmarks import Benchmark
from karat.reports.boards import short_list
from karat.reports.main_column import column_of
from karat.reports.material import JUDGED, Material
from karat.reports.sections.summary import by_score
from karat.reports.views import interval, is_share, shown
from karat.reports.words import called, in_words, number_word
from karat.scores import Column, Scorecard, Standing
from karat.stats.intervals import Intervals
from karat.validation import plural

Key = tuple[str, str, str]
"""Truth, direction and measure."""


def ranked(card: Scorecard, key: Key) -> list[Column]:
    """Return the columns of all runs that have a value, best first."""
    columns = {run: column_of(card, key, run) for run in card.runs}
    order = by_score(card.runs, list(columns.values()))
    return [c for run in order if (c := columns[run]) is not None and c.value is not None]


def standing_at(material: Material, key: Key) -> Standing | None:
    """Return who beats whom in a column; None where nothing was tested."""
    if material.comparison is None:
        return None
    for standing in material.comparison.standings:
        if (standing.truth, standing.direction, str(standing.measure)) == key and standing.tested:
            return standing
    return None


def finding(material: Material, columns: list[Column], standing: Standing | None, key: Key) -> str:
    """Return the finding in one sentence."""
    best = columns[0]
    if standing is not None and len(standing.first) == 1:
        best = next(column for column in columns if column.run == standing.first[0])
    value = shown(best.measure, best.value)
    if standing is None:
        leader = f"{called(best.run)} has the best score: {value} {key[2]} by the labels “{key[0]}”"
        return f"{leader}; nothing was tested."
    first = [called(run) for run in standing.first]
    if len(first) == len(columns):
        everyone = number_word(len(columns))
        if draws_needed(material, standing):
            return f"Who is first was not settled: the test drew too little to tell {everyone} systems apart."
        return f"No system is ahead: by the labels “{key[0]}”, all {everyone} are tied for first."
    if len(first) == 1:
        at = standing.runs.index(standing.first[0])
        wins = standing.beats[at].sum() == len(columns) - 1
        how = "ahead of every other system" if wins else "the only system that none beats"
        return f"{first[0]} is first: {value} {key[2]} by the labels “{key[0]}”, {how}."
    lead = f"{short_list(first)} are tied for first by the labels “{key[0]}”"
    return f"{lead}: the best {key[2]} is {value}, but the data cannot tell them apart."


def measured(card: Scorecard, key: Key) -> tuple[str, str]:
    """Say what was asked, in plain words."""
    bench: Benchmark = card.benchmark
    asked = [
        f"for each of {len(queries):,} {query}s, find the {item}s that fit"
        for direction, query, item in (("i2t", "image", "caption"), ("t2i", "caption", "image"))
        if len(queries := bench.truth(key[0]).queries.get(direction, ()))  # type: ignore[call-overload]
        and (key[1] in (direction, "mean", "both"))
    ]
    column = next(c for c in card if (c.truth, c.direction, str(c.measure)) == key)
    text = f"The task: {', and '.join(asked)}. {key[2]} is {in_words(column.measure)}"
    text += "; 100% is perfect" if is_share(column.measure) else ""
    about = bench.truth(key[0]).about.rstrip(".")
    return (
        "What was measured?",
        f"{text}. What fits is decided by the labels “{key[0]}”{f': {about}' if about else ''}.",
    )


def sureness(material: Material, columns: list[Column], standing: Standing | None) -> str:
    """Say how far chance goes."""
    best, found = columns[0], material.comparison
    if found is None or standing is None or found.card.intervals is None:
        return "The differences were not tested, so some of the order may be chance."
    pairs = len(columns) * (len(columns) - 1) // 2
    text = likely(f"the score of {called(best.run)}", best, found.card.intervals)
    corrected = "" if pairs == 1 else f", corrected for testing {pairs:,} pairs"
    text += (
        " One system counts as better than another only if chance would rarely explain their difference "
        f"(p ≤ {found.alpha:g}{corrected}), on {best.n:,} queries of {plural(best.effective, 'image')}."
    )
    needed = draws_needed(material, standing)
    if needed:
        text += f" With so many pairs no difference could pass: use {needed:,} or more draws (--samples)."
    return text


def draws_needed(material: Material, standing: Standing) -> int:
    """Return how many random swaps could show a difference; 0 where there were enough.

    The smallest p-value of S swaps is 1/(S + 1), and Holm multiplies it by the number of pairs: with too
    few swaps, everybody is tied whatever the systems do.
    """
    found = material.comparison
    if found is None or found.test != "randomisation" or standing.beats.any():
        return 0
    same = (standing.truth, standing.direction, str(standing.measure))
    seen = [
        d.p for d in found.differences if (d.truth, d.direction, str(d.measure)) == same and d.p is not None
    ]
    if not seen or min(seen) > 1.5 / (found.samples + 1):
        return 0
    return round(2 * len(seen) / found.alpha)


def likely(what: str, column: Column, made: Intervals | None) -> str:
    """Say where a score would lie on other queries; nothing where no interval is known."""
    ends = interval(column.measure, column.low, column.high)
    if not ends or made is None:
        return ""
    unit = "" if column.measure.unit == "rank" else "%"
    low, high = ends.split("–")
    return (
        f"Asked other queries of the same kind, {what} would likely lie between {low} and {high}{unit} "
        f"({100 * made.level:g}% interval)."
    )


def elsewhere(material: Material, key: Key) -> str:
    """Say whether other labels and measures put the same systems first."""
    here = standing_at(material, key)
    others = [s for s in material.standings if s.tested and (s.truth, s.direction, str(s.measure)) != key]
    if here is None or not others:
        return ""
    same = [s for s in others if set(s.first) == set(here.first)]
    whom = "the same system" if len(here.first) == 1 else "the same systems"
    text = f"{len(same)} of the {len(others)} other scores put {whom} first."
    if len(same) == len(others):
        return f"No: {text.replace(f'{len(same)} of the {len(others)}', f'all {len(others)}')}"
    changed: dict[tuple[str, ...], list[str]] = {}
    for s in others:
        if set(s.first) != set(here.first):
            changed.setdefault(tuple(sorted(s.first)), []).append(f"{s.truth} {s.measure}")
    # What differs most from the finding is said first: systems that are not among its first.
    order = sorted(changed, key=lambda first: len(set(first) & set(here.first)) / len(first))
    examples = [
        f"{short_list(names)} {'is' if len(first) == 1 else 'tie for'} first on {short_list(where, 2)}"
        for first, names, where in ((one, [called(run) for run in one], changed[one]) for one in order[:2])
    ]
    count = f"only {text}" if same else text.replace("0 of", "none of")
    return f"Yes: {count} {'; '.join(examples)}."


def unjudged(material: Material, key: Key) -> str:
    """Say what is unknown about the labels."""
    card = material.card
    assert card is not None
    truth = card.benchmark.truth(key[0])
    if truth.complete or truth.implicit:
        return f"Nothing: by the labels “{key[0]}” every pair of image and caption is judged."
    text = ""
    judged = [
        c.value
        for c in (material.places or ())
        if (c.truth, c.direction, str(c.measure)) == (key[0], "mean", JUDGED) and c.value is not None
    ] or [
        c.value
        for c in (material.places or ())
        if c.truth == key[0] and str(c.measure) == JUDGED and c.value is not None
    ]
    if judged:
        low, high = 100 * min(judged), 100 * max(judged)
        share = f"{high:.0f}%" if high - low < 1 else f"{low:.0f}–{high:.0f}%"
        text = f"Of the first ten results that a system shows, {share} were ever judged. "
    reading = {
        "misses": "The rest counts as wrong, although some of it is right",
        "left_out": "The rest is left out of the ranking",
        "bounds": "The rest counts as wrong, although some of it is right",
    }[card.unjudged]
    text += f"{reading}."
    leader = ranked(card, key)[0].run
    best = [c for c in card if c.truth == key[0] and c.upper_bound is not None and c.run == leader]
    summed = [c for c in best if c.direction == "mean"] or best
    if summed:
        one = summed[0]
        ends = (shown(one.measure, end) for end in (one.lower_bound, one.upper_bound))
        text += f" So the {one.measure} of {called(one.run)} lies anywhere between {' and '.join(ends)}."
    return text
