"""The sentences of the first screen of a report on runs."""

from __future__ import annotations

from karat.benchmarks import Benchmark
from karat.measures import parse_measure
from karat.reports.boards import short_list
from karat.reports.main_column import column_of
from karat.reports.material import JUDGED, Material
from karat.reports.sections.summary import by_score, draws_needed
from karat.reports.views import interval, is_share, shown
from karat.reports.words import called, in_words, number_word
from karat.scores import Column, Scorecard, Standing
from karat.scores.intervals import alone
from karat.scores.paired_tests import TESTS
from karat.scores.similarity import similarities_of
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


def tested_elsewhere(material: Material) -> bool:
    """Whether any column was tested."""
    return material.comparison is not None and any(s.tested for s in material.comparison.standings)


def unranked(card: Scorecard, columns: list[Column], key: Key) -> str:
    """Name the runs without a value in a column; nothing where every run has one."""
    lacking = [called(run) for run in card.runs if run not in {column.run for column in columns}]
    if not lacking:
        return ""
    has, isnt = ("has", "is") if len(lacking) == 1 else ("have", "are")
    return f"{short_list(lacking)} {has} no {key[2]} by the labels “{key[0]}” and {isnt} not ranked here."


def warnings(material: Material) -> str:
    """Return what a reader must know before believing a number; nothing where all is well."""
    card = material.card
    assert card is not None
    notes = alone(card) if card.intervals is not None else []
    if card.unjudged == "left_out":
        notes += [note for note in card.notes if note.startswith("nothing is judged not relevant")]
    return " ".join(
        f"{note[:1].upper() if note.startswith('nothing') else note[:1]}{note[1:]}." for note in notes
    )


def finding(material: Material, columns: list[Column], standing: Standing | None, key: Key) -> str:
    """Return the finding in one sentence."""
    best = columns[0]
    if standing is not None and len(standing.first) == 1:
        best = next(column for column in columns if column.run == standing.first[0])
    value = shown(best.measure, best.value)
    if standing is None:
        leader = f"{called(best.run)} has the best score: {value} {key[2]} by the labels “{key[0]}”"
        return f"{leader}; {'this score was not' if tested_elsewhere(material) else 'nothing was'} tested."
    first = [called(run) for run in standing.first]
    if len(first) == len(columns):
        everyone = number_word(len(columns))
        if draws_needed(material, standing):
            systems = f"{everyone} systems"
            return f"Who is first was not settled: the test drew too little to tell {systems} apart."
        everyone = "both" if len(columns) == 2 else f"all {everyone}"
        return f"No system is ahead: by the labels “{key[0]}”, {everyone} are tied for first."
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
    if phi := similarity_of(key):
        return (
            "What was measured?",
            f"{text}. What fits is decided by the similarity “{phi}”, not by labels.",
        )
    truth = bench.truth(key[0])
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
    """Say how far chance goes."""
    best, found, card = columns[0], material.comparison, material.card
    assert card is not None
    text = likely(f"the score of {called(best.run)}", best, card.intervals)
    text += " " if text else ""
    if found is None or standing is None:
        if found is None or not tested_elsewhere(material):
            return f"{text}The differences were not tested, so some of the order may be chance."
        return (
            f"{text}{TESTS[found.test].about} cannot be used on this score, so some of its order may be "
            "chance; “Who beats whom” has the scores that were tested."
        )
    pairs = len(columns) * (len(columns) - 1) // 2
    corrected = "" if pairs == 1 else f", corrected for testing {pairs:,} pairs"
    queries = plural(best.n, "query").replace("querys", "queries")
    if not alone(card):
        queries += f" of {plural(best.effective, 'image')}"
    text += (
        "One system counts as better than another only if chance would rarely explain their difference "
        f"(p ≤ {found.alpha:g}{corrected}), on {queries}."
    )
    needed = draws_needed(material, standing)
    if needed:
        option = " (--samples)" if found.test == "randomisation" else ""
        text += f" With so few draws no difference could pass: use {needed:,} or more draws{option}."
    return text


def likely(what: str, column: Column, made: Intervals | None) -> str:
    """Say where a score likely lies over all such queries; nothing where no interval is known."""
    ends = interval(column.measure, column.low, column.high)
    if not ends or made is None:
        return ""
    unit = "%" if is_share(column.measure) else ""
    low, high = ends.split("–")
    return (
        f"Over all queries of this kind, {what} likely lies between {low} and {high}{unit} "
        f"({100 * made.level:g}% confidence interval)."
    )


def elsewhere(material: Material, key: Key) -> str:
    """Say whether other labels and measures put the same systems first."""
    here = standing_at(material, key)
    others = [
        s
        for s in material.standings
        if s.tested and (s.truth, s.direction, str(s.measure)) != key and not draws_needed(material, s)
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
            f"the one other {scores} puts" if len(others) == 1 else f"all {len(others)} other {scores} put"
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
            changed.setdefault(tuple(sorted(s.first)), []).append(f"{s.truth} {s.measure}")
    # What differs most from the finding is said first: systems that are not among its first.
    order = sorted(changed, key=lambda first: len(set(first) & set(here.first)) / len(first))
    examples = [
        f"{short_list(names)} {'is' if len(first) == 1 else 'tie for'} first on {short_list(where, 2)}"
        for first, names, where in ((one, [called(run) for run in one], changed[one]) for one in order[:2])
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
        "misses": "counts as wrong, although some of it is right",
        "left_out": "is left out of the ranking: the scores count judged items alone",
        "bounds": "counts as wrong, although some of it is right",
    }[card.unjudged]
    reading = f"{'The rest' if judged else 'What nobody judged'} {reading}"
    text += f"{reading}."
    leader = ranked(card, key)[0].run
    best = [c for c in card if c.truth == key[0] and c.upper_bound is not None and c.run == leader]
    summed = [c for c in best if c.direction == "mean"] or best
    if summed:
        one = summed[0]
        ends = (shown(one.measure, end) for end in (one.lower_bound, one.upper_bound))
        text += f" So the {one.measure} of {called(one.run)} lies anywhere between {' and '.join(ends)}."
    return text
