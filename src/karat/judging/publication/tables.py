"""The tables of a published folder: answers, pairs, conflicts, invalid items, and judgments as TREC qrels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.benchmarks import Benchmark, Direction
from karat.forms import NOT_GOLD, PERSON, AnswerTable, Pool, distinct, find, key_of, lookup, split_key
from karat.judging.publication.correction import Correction
from karat.judging.publication.evidence import Evidence
from karat.judging.publication.policies import Conflicts
from karat.judging.publication.validity import SIDES, Candidate

if TYPE_CHECKING:
    import polars as pl

GOLD = ("", "known no", "known yes")
"""By NOT_GOLD, GOLD_NO and GOLD_YES."""
WHY = ("", "pooled", "filled", "drawn")
"""Not in the pool, then by POOLED, FILLED and DRAWN."""
INVALID_COLUMNS = ("kind", "id", "status", "why", "text")


def published_names(answers: AnswerTable, real: bool = False) -> list[str]:
    """Return the names under which annotators are published: people as w001, w002, …

    Machine judges and judged sets keep their names, which say where answers come from.

    Parameters
    ----------
    answers
        The answers of the annotators.
    real
        Publish people's own names.

    Examples
    --------
    >>> from karat.forms import make_answers
    >>> from karat.forms import MACHINE
    >>> answers = make_answers([0], [0], [0], [4], ("Ann Lee", "vlm"), kinds=(PERSON, MACHINE))
    >>> published_names(answers)
    ['w001', 'vlm']
    """
    if real:
        return list(answers.annotators)
    kept = {name for name, kind in zip(answers.annotators, answers.kinds) if kind != PERSON}
    width = max(3, len(str(len(answers.annotators))))
    prefix = "w"
    # A machine judge may be called w001: then no person is.
    while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in kept):
        prefix += "w"
    names, people = [], 0
    for name, kind in zip(answers.annotators, answers.kinds):
        people += kind == PERSON
        names.append(f"{prefix}{people:0{width}d}" if kind == PERSON else name)
    return names


def answer_table(evidence: Evidence, real_names: bool = False) -> pl.DataFrame:
    """Return every answer in effect, including those that do not count.

    Columns: image and caption (ids), worker (the annotator), kind, answer (its code), rating, grade, gold
    ("known yes", "known no" or nothing), slot (the assignment; −1 for none), seconds, at (since 1970), used,
    details.
    """
    import polars as pl

    answers, form, benchmark = evidence.answers, evidence.form, evidence.benchmark
    code = np.array([form.code_of(rating) for rating in form.ratings.tolist()], dtype=str)
    table = pl.DataFrame(
        {
            "image": benchmark.images[answers.image],
            "caption": benchmark.captions[answers.caption],
            "worker": pick(published_names(answers, real_names), answers.annotator),
            "kind": pick(answers.kinds, answers.annotator),
            "answer": pick(code.tolist(), np.searchsorted(form.ratings, answers.rating)),
            "rating": answers.rating,
            "grade": form.grades(answers.rating),
            "gold": pick(GOLD, answers.gold - NOT_GOLD),
            "slot": answers.assignment,
            "seconds": answers.seconds,
            "at": answers.at,
            "used": np.ones(len(answers), bool) if evidence.used is None else evidence.used,
        }
    )
    details = answers.details
    rows = pl.DataFrame({"row": details.row, "details": pick(details.names, details.choice)})
    listed = rows.group_by("row", maintain_order=True).agg("details")
    return with_lists(table, listed).with_columns(pl.col("seconds").fill_nan(None))


def pair_table(evidence: Evidence, correction: Correction) -> pl.DataFrame:
    """Return every pair that was pooled or judged, sorted by image and caption.

    Columns: image and caption (ids), grade (as published; nothing where unjudged or invalid), answered_grade,
    rating, relevance, disagreement, answers, judged_by, pool ("pooled", "filled", "drawn" or nothing),
    posterior (a list over the form's ratings), sources (of the published grade), and lists of equal length
    with the models that suggested the pair: systems, directions, ranks and scores.
    """
    import polars as pl

    pool, merged, verdicts = evidence.pool, correction.merged, correction.verdicts
    benchmark = evidence.benchmark
    pooled, own = key_of(pool.image, pool.caption), key_of(verdicts.image, verdicts.caption)
    order = np.argsort(pooled, kind="stable")
    key = distinct(np.concatenate([pooled, own, merged.key]))
    image, caption = split_key(key)
    at = find(own, key)
    in_pool = lookup(pooled[order], pool.why[order].astype(np.float64), key, -1.0).astype(np.int64)

    def of_verdict(values: np.ndarray) -> np.ndarray:
        return lookup(own, values, key, np.nan)

    columns = {
        "image": benchmark.images[image],
        "caption": benchmark.captions[caption],
        "grade": lookup(merged.key, merged.grade, key, np.nan),
        "answered_grade": of_verdict(verdicts.grade),
        "rating": of_verdict(verdicts.rating),
        "relevance": of_verdict(verdicts.relevance),
        "disagreement": of_verdict(verdicts.disagreement),
        "answers": lookup(own, verdicts.answers, key, 0.0).astype(np.int64),
        "judged_by": pick(("", *correction.who_names), np.append(correction.who + 1, 0)[at]),
        "pool": pick(WHY, in_pool + 1),
    }
    table = pl.DataFrame(columns).with_columns(
        pl.col("grade", "answered_grade", "rating", "relevance", "disagreement").fill_nan(None)
    )
    judged = np.flatnonzero(at >= 0)
    posterior = pl.DataFrame({"row": judged, "posterior": verdicts.posterior[at[judged]]})
    table = with_lists(table, posterior.with_columns(pl.col("posterior").arr.to_list()))
    table = with_lists(table, source_lists(correction, key))
    return with_lists(table, place_lists(pool, find(key, pooled), benchmark.directions))


def pick(names: Sequence[str], at: np.ndarray) -> pl.Series:
    """Return names by their numbers, as a column."""
    import polars as pl

    # polars cannot gather from an empty column, not even no rows.
    return pl.Series(names or [""], dtype=pl.String).gather(at)


def source_lists(correction: Correction, key: np.ndarray) -> pl.DataFrame:
    """Return, for each published pair, the names of the sources of its grade."""
    import polars as pl

    merged = correction.merged
    row, source, _, names = merged.kept_grades(correction.published_who, correction.who_names)
    rows = pl.DataFrame({"row": find(key, merged.key)[row], "sources": pick(names, source)})
    return rows.group_by("row", maintain_order=True).agg("sources")


def place_lists(pool: Pool, row_of_pair: np.ndarray, directions: Sequence[Direction]) -> pl.DataFrame:
    """Return, for each pooled pair, the models that suggested it, with direction, rank and score."""
    import polars as pl

    places = pl.DataFrame(
        {
            "row": row_of_pair[pool.place_pair],
            "systems": pick(pool.systems, pool.place_system),
            # Where a collection is searched with its own items, either of two may have asked.
            "directions": pick([directions[0], directions[-1]], pool.place_direction),
            "ranks": pool.place_rank,
            "scores": pl.Series(pool.place_score, dtype=pl.Float64).fill_nan(None),
        }
    )
    return places.group_by("row", maintain_order=True).agg("systems", "directions", "ranks", "scores")


def with_lists(table: pl.DataFrame, lists: pl.DataFrame) -> pl.DataFrame:
    """Return a table with columns of lists, joined by row number; an empty list where there is none."""
    import polars as pl

    number = pl.col("row").cast(pl.Int64)
    numbered, lists = table.with_row_index("row").with_columns(number), lists.with_columns(number)
    joined = numbered.join(lists, on="row", how="left", maintain_order="left").drop("row")
    return joined.with_columns(pl.col(lists.drop("row").columns).fill_null([]))


def conflict_table(conflicts: Conflicts, benchmark: Benchmark) -> pl.DataFrame:
    """Return the conflicts with the benchmark's ids, and the captions where they are known."""
    import polars as pl

    image, caption = split_key(conflicts.key)
    sets = np.array(conflicts.names, dtype=object)[conflicts.source] if len(conflicts) else []
    texts = [caption_text(benchmark, index) for index in caption.tolist()]
    return pl.DataFrame(
        {
            "image": benchmark.images[image],
            "caption": benchmark.captions[caption],
            "set": pl.Series(sets, dtype=pl.String),
            "set_grade": pl.Series(conflicts.set_grade, dtype=pl.Float64),
            "answered_grade": pl.Series(conflicts.answered_grade, dtype=pl.Float64),
            "published_grade": pl.Series(conflicts.published_grade, dtype=pl.Float64),
            "text": pl.Series(texts, dtype=pl.String),
        }
    )


def invalid_rows(evidence: Evidence, candidates: Iterable[Candidate]) -> list[dict[str, str]]:
    """Return the removed items, then those that may be invalid, the most suspicious first."""
    benchmark = evidence.benchmark
    removed = [
        (kind, index, "removed", str(why))
        for kind, items in sorted(evidence.marked.items())
        for index, why in sorted(items.items())
    ]
    suspected = [(item.kind, item.index, "candidate", item.why) for item in candidates]
    out = []
    for kind, index, status, why in [*removed, *suspected]:
        side = benchmark.sides[SIDES.index(kind)]
        text = caption_text(benchmark, index) if side == benchmark.sides[1] else ""
        cells = (side.one, str(id_of(benchmark, kind, index)), status, why, text)
        out.append(dict(zip(INVALID_COLUMNS, cells)))
    return out


def invalid_table(rows: Iterable[Mapping[str, str]]) -> pl.DataFrame:
    """Return what `invalid_rows` returned as a table."""
    import polars as pl

    return pl.DataFrame(list(rows), schema=dict.fromkeys(INVALID_COLUMNS, pl.String))


def caption_text(benchmark: Benchmark, index: int) -> str:
    """Return a caption by its index; empty if it is not in the gallery."""
    texts = [] if benchmark.texts is None else benchmark.texts
    return str(texts[index]) if index < len(texts) else ""


def id_of(benchmark: Benchmark, kind: str, index: int) -> Any:
    """Return the id of an item."""
    return benchmark.ids[SIDES.index(kind)][index]
