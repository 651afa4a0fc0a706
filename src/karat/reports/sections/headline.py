"""The first screen: the finding in one sentence, points that explain it, key numbers, and a small chart.

What is to be said of runs is decided first, as plain facts (`MainScore`, `OtherScores`). Then it is said, for
a reader who knows nothing of the measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from karat._util import plural, word_for
from karat.benchmarks import asks_first
from karat.measures import is_share, parse_measure
from karat.reports.boards import board_headline
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
    SUMS,
    called,
    chart,
    direction_heading,
    in_words,
    interval,
    number_word,
    percent,
    ranked_items,
    scale_of,
    scaled,
    short_list,
    shown,
    some_of,
    with_article,
)
from karat.reports.section import SectionData, section
from karat.scores import TESTS, Column, Comparison, Scorecard, Standing, similarities_of, ungrouped_notes

BARS = 8
READINGS = {
    "misses": "counts as wrong, although some of it is right",
    "left_out": "is left out of the ranking: the scores count judged items alone",
    "bounds": "counts as wrong, although some of it is right",
}
"""What happens to unjudged results."""


@dataclass(frozen=True, eq=False)
class MainScore:
    """The score that the headline is about, and who is first by it.

    Parameters
    ----------
    card, comparison
        All scores, and their comparison where there is one.
    key, columns
        The main score, and its value for each run that has one, best first.
    standing
        Who beats whom by it; None where it was not tested.
    needed
        How many draws could show a difference; 0 where there were enough.
    """

    card: Scorecard
    comparison: Comparison | None
    key: Key
    columns: Sequence[Column]
    standing: Standing | None
    needed: int

    @classmethod
    def of(cls, material: Material) -> MainScore:
        """Return what is known of the main score."""
        card = material.card
        assert card is not None
        key = ordered_columns(card)[0]
        standing = standing_at(material, key)
        needed = 0 if standing is None else draws_needed(material, standing)
        return cls(card, material.comparison, key, ranked(card, key), standing, needed)

    @property
    def first(self) -> tuple[str, ...]:
        """The runs that are not shown to be worse than another; none where that was not found out."""
        return () if self.standing is None or self.needed else tuple(self.standing.first)

    @property
    def leader(self) -> Column:
        """The column of the only first run, otherwise of the run with the best score."""
        alone = [column for column in self.columns if self.first == (column.run,)]
        return (alone or self.columns)[0]

    @property
    def name(self) -> str:
        """The measure and the labels."""
        return f"{called(self.key[2])} by the labels “{self.key[0]}”"

    @property
    def value(self) -> str:
        """The leader's value with the measure and the labels."""
        return f"{shown(self.leader.measure, self.leader.value)} {self.name}"

    @property
    def similarity(self) -> str:
        """The name of the similarity that it looks at; nothing where it looks at labels."""
        return ", ".join(similarities_of(parse_measure(self.key[2])))

    @property
    def others_tested(self) -> bool:
        """Whether any score was tested."""
        return self.comparison is not None and any(s.tested for s in self.comparison.standings)


@section("headline", "In short", "In short", order=10, scripted=False)
def collect(material: Material) -> SectionData:
    """Return the finding in one sentence, points that explain it, key numbers, and a small chart."""
    return board_headline(material) if material.card is None else run_headline(material)


def run_headline(material: Material) -> dict[str, Any]:
    """Return the headline of one run or several."""
    score = MainScore.of(material)
    several = len(score.card.runs) > 1
    points = {
        "What was measured?": measured(score),
        "How certain is that?": sureness(score) if several else sureness_alone(score),
        "Who is not ranked?": unranked(score),
        "Does it depend on the labels or the measure?": dependence(other_scores(material, score)),
        "What could unjudged pairs change?": unjudged(material, score),
        "Please note": warnings(score.card),
    }
    return {
        "finding": finding(score),
        "points": [{"term": term, "text": text} for term, text in points.items() if text],
        "tiles": tiles(score),
        **(bars(material, score) if several else {"bars": []}),
    }


def finding(score: MainScore) -> str:
    """Return the finding in one sentence."""
    first, leader = [called(run) for run in score.first], called(score.leader.run)
    if len(score.card.runs) == 1:
        return f"{leader} reaches {score.value}."
    if score.standing is None:
        what = "this score was not" if score.others_tested else "nothing was"
        return f"{leader} has the best score: {score.value}; {what} tested."
    systems = number_word(len(score.columns))
    if score.needed:
        return f"The first place is undecided: the test drew too few samples to separate {systems} systems."
    if len(first) == 1:
        beaten = score.standing.beats[score.standing.runs.index(score.leader.run)].sum()
        ahead = beaten == len(score.columns) - 1
        how = "ahead of every other system" if ahead else "the only system that none beats"
        return f"{leader} is first: {score.value}, {how}."
    labels = f"by the labels “{score.key[0]}”"
    if len(first) == len(score.columns):
        none = "neither" if len(first) == 2 else f"none of the {systems}"
        return f"No system is ahead: {labels}, {none} is shown to be better."
    best = f"the best {called(score.key[2])} is {shown(score.leader.measure, score.leader.value)}"
    none = "none of them is shown to be worse than another"
    return f"{short_list(first)} are ahead {labels}, and {none}: {best}."


def measured(score: MainScore) -> str:
    """Say what was asked, in plain words."""
    labels, direction, name = score.key
    bench = score.card.benchmark
    truth = bench.truth(labels)
    tasks = [
        f"for each of {len(truth.queries[way]):,} {bench.query_side(way).many}, "
        f"find the {ranked_items(way, bench.item_side(way))} that fit"
        for way in truth.directions
        if direction in (way, *SUMS)
    ]
    measure = score.columns[0].measure
    perfect = "; 100% is perfect" if is_share(measure) else ""
    task = f"The task: {', and '.join(tasks)}. {called(name)} is {in_words(measure)}{perfect}."
    if score.similarity:
        return f"{task} What fits is decided by the similarity “{score.similarity}”, not by labels."
    about = f": {truth.about.rstrip('.')}" if truth.about else ""
    alone = score.card.unjudged == "left_out" and not (truth.complete or truth.implicit)
    note = " Scores count judged items alone: all others were left out." if alone else ""
    return f"{task} What fits is decided by the labels “{labels}”{about}.{note}"


def sureness(score: MainScore) -> str:
    """Say how much of the result chance could explain."""
    return f"{likely(f'the score of {called(score.columns[0].run)}', score)} {how_tested(score)}".lstrip()


def how_tested(score: MainScore) -> str:
    """Say when one system counts as better than another."""
    comparison, best = score.comparison, score.columns[0]
    if comparison is None or not score.others_tested:
        return "The differences were not tested, so some of the order may be chance."
    if score.standing is None:
        return (
            f"{TESTS[comparison.test].about} cannot be used on this score, so some of its order may be "
            "chance; “Who beats whom” has the scores that were tested."
        )
    pairs = len(score.columns) * (len(score.columns) - 1) // 2
    corrected = "" if pairs == 1 else f", corrected for testing {pairs:,} pairs"
    grouping = score.card.benchmark.grouping
    of = ""
    if grouping is not None:
        of = f" of {best.effective:,} {word_for(best.effective, grouping.unit.one, grouping.unit.many)}"
    text = (
        "One system counts as better than another only if chance would rarely explain their difference "
        f"(p ≤ {comparison.alpha:g}{corrected}), on {plural(best.n, 'query')}{of}."
    )
    if not score.needed:
        return text
    option = " (--samples)" if comparison.test == "randomisation" else ""
    return f"{text} With so few draws no difference could pass: use {score.needed:,} or more draws{option}."


def sureness_alone(score: MainScore) -> str:
    """Say how much of the score of one run chance could explain."""
    return likely("the score", score) or (
        "No intervals were computed, so it is unknown how much of the score is chance."
    )


def likely(what: str, score: MainScore) -> str:
    """Say where the best score likely lies over all such queries; nothing where no interval is known."""
    column, intervals = score.columns[0], score.card.intervals
    ends = interval(column.measure, column.low, column.high)
    if not ends or intervals is None:
        return ""
    unit = "%" if is_share(column.measure) else ""
    low, high = ends.split("–")
    return (
        f"Over all queries of this kind, {what} likely lies between {low} and {high}{unit} "
        f"({100 * intervals.level:g}% confidence interval)."
    )


def unranked(score: MainScore) -> str:
    """Name the runs without a value; nothing where every run has one."""
    having = {column.run for column in score.columns}
    lacking = [called(run) for run in score.card.runs if run not in having]
    if not lacking:
        return ""
    has, is_not = word_for(len(lacking), "has", "have"), word_for(len(lacking), "is", "are")
    return f"{short_list(lacking)} {has} no {score.name} and {is_not} not ranked here."


@dataclass(frozen=True)
class OtherScores:
    """Whether other labels and measures put the same systems first.

    Parameters
    ----------
    first
        Who is first by the main score.
    total, same
        How many other scores have all systems, and how many of these put the same ones first.
    left_out
        Whether further scores were not looked at, since they lack some of the systems.
    leaders
        Who is first instead, and by which scores: what differs most from the main score comes first.
    """

    first: tuple[str, ...]
    total: int
    same: int
    left_out: bool
    leaders: dict[tuple[str, ...], list[str]]


def other_scores(material: Material, score: MainScore) -> OtherScores | None:
    """Return what other scores say of the main finding; None where there is no finding."""
    if score.standing is None or score.needed:
        return None
    here, systems = set(score.first), set(score.standing.runs)
    others = [standing for standing in decided(material) if key_of(standing) != score.key]
    whole = [standing for standing in others if systems <= set(standing.runs)]
    different = [standing for standing in whole if set(standing.first) != here]
    leaders: dict[tuple[str, ...], list[str]] = {}
    for standing in sorted(different, key=lambda s: len(set(s.first) & here) / len(s.first)):
        name = called(f"{standing.truth} {standing.measure}")
        leaders.setdefault(tuple(sorted(standing.first)), []).append(name)
    same = len(whole) - len(different)
    return OtherScores(score.first, len(whole), same, len(whole) < len(others), leaders)


def decided(material: Material) -> list[Standing]:
    """Return who beats whom on the scores that were tested with enough draws."""
    return [s for s in material.standings if s.tested and not draws_needed(material, s)]


def dependence(others: OtherScores | None) -> str:
    """Say whether other labels and measures put the same systems first."""
    if others is None or not others.total:
        return ""
    scores = some_of(others.same, others.total, "other score")
    having = " with all of these systems" if others.left_out else ""
    put = word_for(max(others.same, 1), "puts", "put")
    text = f"{scores}{having} {put} the same {word_for(len(others.first), 'system')} first."
    if others.same == others.total:
        return f"No: {text}"
    examples = [
        f"{short_list([called(run) for run in first])} {word_for(len(first), 'is', 'are')} ahead "
        f"on {short_list(names, 2)}"
        for first, names in list(others.leaders.items())[:2]
    ]
    return f"Yes: {text} {'; '.join(examples)}."


def summing_up(columns: Sequence[Column]) -> Sequence[Column]:
    """Return the means of both directions, or everything where there are none."""
    return [column for column in columns if column.direction == "mean"] or columns


def judged_shares(material: Material, score: MainScore) -> list[float]:
    """Return of each run which share of its first ten results was ever judged, where that is known."""
    columns = [c for c in material.places or () if (c.truth, str(c.measure)) == (score.key[0], JUDGED)]
    return [c.value for c in summing_up([c for c in columns if c.value is not None]) if c.value is not None]


def bounded(score: MainScore) -> Column | None:
    """Return a score of the best run that has bounds over what unjudged pairs could be, if there is one."""
    own = [c for c in score.card if (c.truth, c.run) == (score.key[0], score.columns[0].run)]
    columns = summing_up([c for c in own if c.upper_bound is not None])
    return columns[0] if columns else None


def unjudged(material: Material, score: MainScore) -> str:
    """Say what is unknown about the labels."""
    if score.similarity:
        gives = f"the similarity “{score.similarity}” gives every pair a value"
        return f"Nothing: {gives}. No person judged these."
    labels = score.key[0]
    truth = score.card.benchmark.truth(labels)
    if truth.machine:
        return f"Everything: a machine made the labels “{labels}” and no person judged them."
    if truth.complete or truth.implicit:
        first, second = score.card.benchmark.sides
        pair = first.many if first.kind == second.kind else f"{first.one} and {second.one}"
        return f"Nothing: by the labels “{labels}” every pair of {pair} is judged."
    shares, column = judged_shares(material, score), bounded(score)
    rest = f"{'The rest' if shares else 'What is unjudged'} {READINGS[score.card.unjudged]}."
    return " ".join(part for part in (judged(shares), rest, bounds(column)) if part)


def judged(shares: Sequence[float]) -> str:
    """Say how much of the first results was judged; nothing where that is not known."""
    if not shares:
        return ""
    low, high = min(shares), max(shares)
    share = percent(high) if high - low < 0.01 else f"{percent(low)} to {percent(high)}"
    return f"Of the first ten results that a system shows, {share} were ever judged."


def bounds(column: Column | None) -> str:
    """Say between which ends a score lies; nothing without bounds."""
    if column is None:
        return ""
    low, high = (shown(column.measure, end) for end in (column.lower_bound, column.upper_bound))
    unknown = sum(len(part.values) - part.n for part in column.parts or (column,) if part.values is not None)
    included = f", {plural(unknown, 'query')} without a known right answer included" if unknown else ""
    return (
        f"So the {called(column.measure)} of {called(column.run)} lies anywhere between {low} and {high}"
        f"{included}."
    )


def warnings(card: Scorecard) -> str:
    """Return warnings that a reader must know; none where there is nothing to warn of."""
    notes = ungrouped_notes(card) if card.intervals is not None else []
    if card.unjudged == "left_out":
        notes += [note for note in card.notes if note.startswith("nothing is judged not relevant")]
    return " ".join(
        f"{note[:1].upper() if note.startswith('nothing') else note[:1]}{note[1:]}." for note in notes
    )


def tiles(score: MainScore) -> list[dict[str, str]]:
    """Return the key numbers."""
    labels, benchmark = score.key[0], score.card.benchmark
    systems, queries, truths = len(score.card.runs), score.columns[0].n, len(truths_of(score.card))
    direction = min(benchmark.truth(labels).directions, key=asks_first)
    counts = positives_per_query(benchmark, labels, direction)
    query = with_article(benchmark.query_side(direction).one)
    items = ranked_items(direction, benchmark.item_side(direction))
    first = word_for(len(score.first), "first, alone", "not shown to be worse than the first")
    return [
        {"number": number, "text": text}
        for number, text in (
            (f"{systems:,}", word_for(systems, "system")),
            (f"{len(score.first):,}" if score.first else "", first),
            (f"{queries:,}", f"{word_for(queries, 'query')} of “{labels}”"),
            (f"{counts.mean():.1f}", f"{items} fit {query}, on average"),
            (f"{truths:,}", word_for(truths, "set of labels", "sets of labels")),
        )
        if number
    ]


def bars(material: Material, score: MainScore) -> dict[str, Any]:
    """Return the best systems' scores as shares of the chart's width, with intervals, a scale and a title."""
    columns, measure = score.columns, score.columns[0].measure
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
    labels, direction, name = score.key
    return {
        "title": f"{name}, labels “{labels}”, {direction_heading(direction)}",
        **chart(rows, scale, len(columns), measure.better == "low"),
    }
