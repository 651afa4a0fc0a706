"""The tables of a published folder: every raw answer, and every pair with what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.benchmarks import DIRECTIONS
from karat.judging.pools import Pool, distinct, find, key_of, lookup, split_key
from karat.judging.publishing.annotators import published_names
from karat.judging.publishing.correction import Correction
from karat.judging.publishing.evidence import Evidence
from karat.judging.tasks import UNKNOWN

if TYPE_CHECKING:
    import polars as pl

GOLD = ("", "known no", "known yes")
"""By UNKNOWN, KNOWN_NO and KNOWN_YES."""
WHY = ("", "pooled", "filled")
"""Not in the pool, then by POOLED and FILLED."""


def answer_table(evidence: Evidence, real_names: bool = False) -> pl.DataFrame:
    """Return every answer in effect, those that do not count too.

    Columns: image and caption (ids), worker, kind, answer (its code), rating, grade, gold ("known yes",
    "known no" or nothing), slot (which hand-in; −1 for none), seconds, at (since 1970), used, details.
    """
    import polars as pl

    said, form, benchmark = evidence.answers, evidence.form, evidence.benchmark
    code = np.array([form.code_of(rating) for rating in form.ratings.tolist()], dtype=str)
    table = pl.DataFrame(
        {
            "image": benchmark.images[said.image],
            "caption": benchmark.captions[said.caption],
            "worker": pick(published_names(said, real_names), said.worker),
            "kind": pick(said.kinds, said.worker),
            "answer": pick(code.tolist(), np.searchsorted(form.ratings, said.rating)),
            "rating": said.rating,
            "grade": form.grades(said.rating),
            "gold": pick(GOLD, said.gold - UNKNOWN),
            "slot": said.slot,
            "seconds": said.seconds,
            "at": said.at,
            "used": np.ones(len(said), bool) if evidence.used is None else evidence.used,
        }
    )
    rows = pl.DataFrame({"row": said.detail_row, "details": pick(said.details, said.detail)})
    listed = rows.group_by("row", maintain_order=True).agg("details")
    return with_lists(table, listed).with_columns(pl.col("seconds").fill_nan(None))


def pair_table(evidence: Evidence, found: Correction) -> pl.DataFrame:
    """Return every pair that was pooled or is judged, sorted by image and caption.

    Columns: image and caption (ids), grade (as published; nothing where unjudged or invalid), answered_grade,
    rating, relevance, disagreement, answers, judged_by, pool ("pooled", "filled" or nothing), posterior (a
    list over the form's ratings), sources (whose word is published), and lists of one length: systems,
    directions, ranks and scores of those that suggested it.
    """
    import polars as pl

    pool, merged, verdicts, benchmark = evidence.pool, found.merged, found.verdicts, evidence.benchmark
    pooled, own = key_of(pool.image, pool.caption), key_of(verdicts.image, verdicts.caption)
    order = np.argsort(pooled, kind="stable")
    key = distinct(np.concatenate([pooled, own, merged.key]))
    image, caption = split_key(key)
    at = find(own, key)
    in_pool = lookup(pooled[order], pool.why[order].astype(np.float64), key, -1.0).astype(np.int64)

    def of_people(values: np.ndarray) -> np.ndarray:
        return lookup(own, values, key, np.nan)

    columns = {
        "image": benchmark.images[image],
        "caption": benchmark.captions[caption],
        "grade": lookup(merged.key, merged.grade, key, np.nan),
        "answered_grade": of_people(verdicts.grade),
        "rating": of_people(verdicts.rating),
        "relevance": of_people(verdicts.relevance),
        "disagreement": of_people(verdicts.disagreement),
        "answers": lookup(own, verdicts.answers, key, 0.0).astype(np.int64),
        "judged_by": pick(("", *found.who_names), np.append(found.who + 1, 0)[at]),
        "pool": pick(WHY, in_pool + 1),
    }
    table = pl.DataFrame(columns).with_columns(
        pl.col("grade", "answered_grade", "rating", "relevance", "disagreement").fill_nan(None)
    )
    judged = np.flatnonzero(at >= 0)
    posterior = pl.DataFrame({"row": judged, "posterior": verdicts.posterior[at[judged]]})
    table = with_lists(table, posterior.with_columns(pl.col("posterior").arr.to_list()))
    table = with_lists(table, source_lists(found, key))
    return with_lists(table, place_lists(pool, find(key, pooled)))


def pick(names: Sequence[str], at: np.ndarray) -> pl.Series:
    """Return names by their numbers, as a column."""
    import polars as pl

    # Nothing can be taken from no names at all, not even nothing.
    return pl.Series(names or [""], dtype=pl.String).gather(at)


def source_lists(found: Correction, key: np.ndarray) -> pl.DataFrame:
    """Return, of each published pair, the names of those whose word it is."""
    import polars as pl

    row, source, _, names = found.merged.words(found.published_who, found.who_names)
    rows = pl.DataFrame({"row": find(key, found.merged.key)[row], "sources": pick(names, source)})
    return rows.group_by("row", maintain_order=True).agg("sources")


def place_lists(pool: Pool, row_of_pair: np.ndarray) -> pl.DataFrame:
    """Return, of each pooled pair, who suggested it: system, direction, rank and score."""
    import polars as pl

    places = pl.DataFrame(
        {
            "row": row_of_pair[pool.place_pair],
            "systems": pick(pool.systems, pool.place_system),
            "directions": pick(list(DIRECTIONS), pool.place_direction),
            "ranks": pool.place_rank,
            "scores": pl.Series(pool.place_score, dtype=pl.Float64).fill_nan(None),
        }
    )
    return places.group_by("row", maintain_order=True).agg("systems", "directions", "ranks", "scores")


def with_lists(table: pl.DataFrame, lists: pl.DataFrame) -> pl.DataFrame:
    """Return a table with columns of lists, joined by the row's number; an empty list where there is none."""
    import polars as pl

    number = pl.col("row").cast(pl.Int64)
    numbered, lists = table.with_row_index("row").with_columns(number), lists.with_columns(number)
    joined = numbered.join(lists, on="row", how="left", maintain_order="left").drop("row")
    return joined.with_columns(pl.col(lists.drop("row").columns).fill_null([]))
