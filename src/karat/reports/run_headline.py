"""The headline of a report on runs: the finding in one sentence, points that explain it, key numbers, bars.

Every sentence is for a reader who knows nothing of the measures.
"""

from __future__ import annotations

from typing import Any

from karat._util import plural
from karat.measures import is_share, parse_measure
from karat.reports.columns import (
    Key,
    draws_needed,
    key_of,
    ordered_columns,
    positives_per_query,
    ranked,
    standing_at,
    standing_of,
    truths_of,
)
from karat.reports.material import JUDGED, Material
from karat.reports.presentation import (
    DIRECTION_TITLES,
    called,
    chart,
    in_words,
    interval,
    number_word,
    percent,
    scale_of,
    scaled,
    short_list,
    shown,
)
from karat.scores import TESTS, Column, Scorecard, Standing, similarities_of, ungrouped_notes
from karat.stats import Intervals

BARS = 8


def of_several(material: Material) -> dict[str, Any]:
    """Return the headline of several runs."""
    card = material.card
    assert card is not None
    key = ordered_columns(card)[0]
    columns = ranked(card, key)
    standing = standing_at(material, key)
    points = [measured(card, key), ("How certain is that?", sureness(material, columns, standing))]
    if lacking := unranked(card, columns, key):
        points.append(("Who is not ranked?", lacking))
    if dependence := elsewhere(material, key):
        points.append(("Does it depend on the labels or the measure?", dependence))
    points.append(("What could unjudged pairs change?", unjudged(material, key)))
    if notes := warnings(material):
        points.append(("Please note", notes))
    settled = standing is not None and not draws_needed(material, standing)
    return {
        "finding": finding(material, columns, standing, key),
        "points": [{"term": term, "text": text} for term, text in points],
        "tiles": tiles(material, key, len(standing.first) if standing is not None and settled else None),
        "title": f"{key[2]}, labels “{key[0]}”, {DIRECTION_TITLES[key[1]]}",
        **bars(material, columns),
    }


def of_one(material: Material) -> dict[str, Any]:
    """Return the headline of one run."""
    card = material.card
    assert card is not None
    key = ordered_columns(card)[0]
    column = ranked(card, key)[0]
    sure = likely("the score", column, card.intervals)
    sure = sure or "No intervals were computed, so it is unknown how much of the score is chance."
    points = [
        measured(card, key),
        ("How certain is that?", sure),
        ("What could unjudged pairs change?", unjudged(material, key)),
    ]
    if notes := warnings(material):
        points.append(("Please note", notes))
    value = shown(column.measure, column.value)
    return {
        "finding": f"{called(column.run)} reaches {value} {called(key[2])} by the labels “{key[0]}”.",
        "points": [{"term": term, "text": text} for term, text in points],
        "tiles": tiles(material, key, None),
        "bars": [],
    }


def finding(material: Material, columns: list[Column], standing: Standing | None, key: Key) -> str:
    """Return the finding in one sentence."""
    best = columns[0]
    if standing is not None and len(standing.first) == 1:
        best = next(column for column in columns if column.run == standing.first[0])
    value = shown(best.measure, best.value)
    if standing is None:
        leader = f"{called(best.run)} has the best score: {value} {called(key[2])} by the labels “{key[0]}”"
        return f"{leader}; {'this score was not' if tested_elsewhere(material) else 'nothing was'} tested."
    first = [called(run) for run in standing.first]
    if len(first) == len(columns):
        everyone = number_word(len(columns))
        if draws_needed(material, standing):
            systems = f"{everyone} systems"
            return f"The first place is undecided: the test drew too few samples to separate {systems}."
        none = "neither" if len(columns) == 2 else f"none of the {everyone}"
        return f"No system is ahead: by the labels “{key[0]}”, {none} is shown to be better."
    if len(first) == 1:
        at = standing.runs.index(standing.first[0])
        wins = standing.beats[at].sum() == len(columns) - 1
        how = "ahead of every other system" if wins else "the only system that none beats"
        return f"{first[0]} is first: {value} {called(key[2])} by the labels “{key[0]}”, {how}."
    lead = f"{short_list(first)} are ahead by the labels “{key[0]}”"
    return (
        f"{lead}, and none of them is shown to be worse than another: the best {called(key[2])} is {value}."
    )


def tested_elsewhere(material: Material) -> bool:
    """Whether any column was tested."""
    return material.comparison is not None and any(s.tested for s in material.comparison.standings)


def measured(card: Scorecard, key: Key) -> tuple[str, str]:
    """Say what was asked, in plain words."""
    benchmark = card.benchmark
    tasks = [
        f"for each of {len(queries):,} {query}s, find the {item}s that fit"
        for direction, query, item in (("i2t", "image", "caption"), ("t2i", "caption", "image"))
        if len(queries := benchmark.truth(key[0]).queries.get(direction, ()))  # type: ignore[call-overload]
        and (key[1] in (direction, "mean", "both"))
    ]
    column = next(column for column in card if key_of(column) == key)
    text = f"The task: {', and '.join(tasks)}. {called(key[2])} is {in_words(column.measure)}"
    text += "; 100% is perfect" if is_share(column.measure) else ""
    if phi := similarity_of(key):
        return (
            "What was measured?",
            f"{text}. What fits is decided by the similarity “{phi}”, not by labels.",
        )
    truth = benchmark.truth(key[0])
    about = f": {truth.about.rstrip('.')}" if truth.about else ""
    left_out = card.unjudged == "left_out" and not (truth.complete or truth.implicit)
    judged_alone = " Scores count judged items alone: all others were left out." if left_out else ""
    return (
        "What was measured?",
        f"{text}. What fits is decided by the labels “{key[0]}”{about}.{judged_alone}",
    )


def similarity_of(key: Key) -> str:
    """Return the name of the similarity that a score looks at; nothing where it looks at labels."""
    return ", ".join(similarities_of(parse_measure(key[2])))


def sureness(material: Material, columns: list[Column], standing: Standing | None) -> str:
    """Say how much of the result chance could explain."""
    best, comparison, card = columns[0], material.comparison, material.card
    assert card is not None
    text = likely(f"the score of {called(best.run)}", best, card.intervals)
    text += " " if text else ""
    if comparison is None or standing is None:
        if comparison is None or not tested_elsewhere(material):
            return f"{text}The differences were not tested, so some of the order may be chance."
        return (
            f"{text}{TESTS[comparison.test].about} cannot be used on this score, so some of its order may be "
            "chance; “Who beats whom” has the scores that were tested."
        )
    pairs = len(columns) * (len(columns) - 1) // 2
    corrected = "" if pairs == 1 else f", corrected for testing {pairs:,} pairs"
    queries = plural(best.n, "query").replace("querys", "queries")
    if not ungrouped_notes(card):
        queries += f" of {plural(best.effective, 'image')}"
    text += (
        "One system counts as better than another only if chance would rarely explain their difference "
        f"(p ≤ {comparison.alpha:g}{corrected}), on {queries}."
    )
    needed = draws_needed(material, standing)
    if needed:
        option = " (--samples)" if comparison.test == "randomisation" else ""
        text += f" With so few draws no difference could pass: use {needed:,} or more draws{option}."
    return text


def likely(what: str, column: Column, intervals: Intervals | None) -> str:
    """Say where a score likely lies over all such queries; nothing where no interval is known."""
    ends = interval(column.measure, column.low, column.high)
    if not ends or intervals is None:
        return ""
    unit = "%" if is_share(column.measure) else ""
    low, high = ends.split("–")
    return (
        f"Over all queries of this kind, {what} likely lies between {low} and {high}{unit} "
        f"({100 * intervals.level:g}% confidence interval)."
    )


def unranked(card: Scorecard, columns: list[Column], key: Key) -> str:
    """Name the runs without a value in a column; nothing where every run has one."""
    lacking = [called(run) for run in card.runs if run not in {column.run for column in columns}]
    if not lacking:
        return ""
    has, isnt = ("has", "is") if len(lacking) == 1 else ("have", "are")
    what = f"{called(key[2])} by the labels “{key[0]}”"
    return f"{short_list(lacking)} {has} no {what} and {isnt} not ranked here."


def elsewhere(material: Material, key: Key) -> str:
    """Say whether other labels and measures put the same systems first."""
    here = standing_at(material, key)
    others = [
        s for s in material.standings if s.tested and key_of(s) != key and not draws_needed(material, s)
    ]
    if here is None or draws_needed(material, here):
        return ""
    known = len(others)
    others = [s for s in others if set(s.runs) >= set(here.runs)]
    if not others:
        return ""
    scores = "score" if len(others) == 1 else "scores"
    if len(others) < known:
        scores += f" that {'has' if len(others) == 1 else 'have'} all of these systems"
    same = [s for s in others if set(s.first) == set(here.first)]
    whom = "the same system" if len(here.first) == 1 else "the same systems"
    if len(same) == len(others):
        which = (
            f"the one other {scores} puts"
            if len(others) == 1
            else f"the {len(others)} other {scores} all put"
        )
        return f"No: {which} {whom} first."
    if len(others) == 1:
        text = f"the one other {scores} does not put {whom} first."
    else:
        only = f"only {len(same)}" if same else "none"
        text = (
            f"{only} of the {len(others)} other {scores} {'puts' if len(same) == 1 else 'put'} {whom} first."
        )
    changed: dict[tuple[str, ...], list[str]] = {}
    for s in others:
        if set(s.first) != set(here.first):
            changed.setdefault(tuple(sorted(s.first)), []).append(called(f"{s.truth} {s.measure}"))
    # What differs most from the finding is said first: systems that are not among its first.
    order = sorted(changed, key=lambda first: len(set(first) & set(here.first)) / len(first))
    examples = [
        f"{short_list(names)} {'is' if len(first) == 1 else 'are'} ahead on {short_list(where, 2)}"
        for first, names, where in (
            (runs, [called(run) for run in runs], changed[runs]) for runs in order[:2]
        )
    ]
    return f"Yes: {text} {'; '.join(examples)}."


def unjudged(material: Material, key: Key) -> str:
    """Say what is unknown about the labels."""
    card = material.card
    assert card is not None
    if phi := similarity_of(key):
        return f"Nothing: the similarity “{phi}” gives every pair a value. No person judged these."
    truth = card.benchmark.truth(key[0])
    if truth.machine:
        return f"Everything: a machine made the labels “{key[0]}” and no person judged them."
    if truth.complete or truth.implicit:
        return f"Nothing: by the labels “{key[0]}” every pair of image and caption is judged."
    text = ""
    judged = [
        c.value
        for c in (material.places or ())
        if key_of(c) == (key[0], "mean", JUDGED) and c.value is not None
    ] or [
        c.value
        for c in (material.places or ())
        if c.truth == key[0] and str(c.measure) == JUDGED and c.value is not None
    ]
    if judged:
        low, high = min(judged), max(judged)
        share = percent(high) if high - low < 0.01 else f"{percent(low)} to {percent(high)}"
        text = f"Of the first ten results that a system shows, {share} were ever judged. "
    reading = {
        "misses": "counts as wrong, although some of it is right",
        "left_out": "is left out of the ranking: the scores count judged items alone",
        "bounds": "counts as wrong, although some of it is right",
    }[card.unjudged]
    reading = f"{'The rest' if judged else 'What is unjudged'} {reading}"
    text += f"{reading}."
    leader = ranked(card, key)[0].run
    best = [c for c in card if c.truth == key[0] and c.upper_bound is not None and c.run == leader]
    summed = [c for c in best if c.direction == "mean"] or best
    if summed:
        column = summed[0]
        ends = (shown(column.measure, end) for end in (column.lower_bound, column.upper_bound))
        without = sum(
            len(leaf.values) - leaf.n for leaf in column.parts or (column,) if leaf.values is not None
        )
        included = f", {plural_queries(without)} without a known right answer included" if without else ""
        text += (
            f" So the {called(column.measure)} of {called(column.run)} lies anywhere between "
            f"{' and '.join(ends)}{included}."
        )
    return text


def plural_queries(number: int) -> str:
    """Return a number of queries.

    >>> plural_queries(1), plural_queries(594)
    ('1 query', '594 queries')
    """
    return f"{number:,} {'query' if number == 1 else 'queries'}"


def warnings(material: Material) -> str:
    """Return warnings that a reader must know; none where there is nothing to warn of."""
    card = material.card
    assert card is not None
    notes = ungrouped_notes(card) if card.intervals is not None else []
    if card.unjudged == "left_out":
        notes += [note for note in card.notes if note.startswith("nothing is judged not relevant")]
    return " ".join(
        f"{note[:1].upper() if note.startswith('nothing') else note[:1]}{note[1:]}." for note in notes
    )


def tiles(material: Material, key: Key, first: int | None) -> list[dict[str, str]]:
    """Return the key numbers."""
    card = material.card
    assert card is not None
    column = ranked(card, key)[0]
    out = [{"number": f"{len(card.runs):,}", "text": "system" if len(card.runs) == 1 else "systems"}]
    if first is not None:
        out.append(
            {
                "number": f"{first:,}",
                "text": "first, alone" if first == 1 else "not shown to be worse than the first",
            }
        )
    out.append(
        {"number": f"{column.n:,}", "text": f"{'query' if column.n == 1 else 'queries'} of “{key[0]}”"}
    )
    direction = "t2i" if len(card.benchmark.truth(key[0]).queries.get("t2i", ())) else "i2t"
    counts = positives_per_query(card.benchmark, key[0], direction)
    what = "images fit a caption" if direction == "t2i" else "captions fit an image"
    out.append({"number": f"{counts.mean():.1f}", "text": f"{what}, on average"})
    truths = len(truths_of(card))
    out.append({"number": f"{truths:,}", "text": "set of labels" if truths == 1 else "sets of labels"})
    return out


def bars(material: Material, columns: list[Column]) -> dict[str, Any]:
    """Return the best systems' scores as shares of the chart's width, with their intervals and a scale."""
    measure = columns[0].measure
    ends = [scaled(measure, column.high if column.high is not None else column.value) for column in columns]
    scale = scale_of(max(end or 0.0 for end in ends[:BARS]), "%" if is_share(measure) else "")
    top = scale[-1][0] if scale else 1.0

    def share(value: float | None) -> float | None:
        return None if value is None else round(100 * (scaled(measure, value) or 0.0) / top, 2)

    rows = []
    for column in columns[:BARS]:
        first, places = standing_of(material, column)
        rows.append({
            "name": column.run, "width": share(column.value), "low": share(column.low),
            "high": share(column.high), "text": shown(column.measure, column.value), "first": first,
            "between": interval(column.measure, column.low, column.high), "places": places,
            "value": scaled(column.measure, column.value),
        })  # fmt: skip
    return chart(rows, scale, len(columns), measure.better == "low")
