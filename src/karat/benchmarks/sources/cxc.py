"""Crisscrossed Captions (Parekh et al., EACL 2021): its files of ratings, and two benchmarks that they make.

Each benchmark is one collection of COCO's test split that is searched with its own items: nothing is ranked
for itself. A pair has no direction: where both its orders were rated (2,863 pairs of images were), its rating
is the mean. ``sits_test.csv``, which rates captions with images, gives the truth cxc of the benchmark coco.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from karat._util import Param, parsing
from karat.benchmarks.benchmark import RECALLS, Benchmark
from karat.benchmarks.ids import Ids
from karat.benchmarks.judgments import Judgments, Provenance, Steps
from karat.benchmarks.pool_design import pair_key, pairs_of
from karat.benchmarks.registry import Source, find_file, load_benchmark, register
from karat.benchmarks.sides import pair_of, sides_of
from karat.benchmarks.truth import Truth
from karat.errors import InputError, MissingDataError

PAPER = "Crisscrossed Captions (Parekh et al. 2021)"
SCORES = ("agg_score", "score", "raw_score", "rating", "annotation")
"""What the column of ratings may be called; the aggregated file says agg_score."""
RELEVANT_FROM = 3.0
"""The rating from which CxC counts a pair as relevant; it gives the published 35,585 pairs."""
SCALE = "0 (unrelated) to 5 (complete), mean of five raters"
RATERS = Provenance("cxc", SCALE, Steps([(RELEVANT_FROM, 1.0)]))


def load_images(ratings: Path | None = None) -> Benchmark:
    """Build the benchmark of images that are searched with images."""
    images = load_benchmark("coco").images
    path = find_file("cxc", "ratings", "sis_test.csv") if ratings is None else Path(ratings)
    truths = rated("cxc-i2i", path, "image", images)
    return Benchmark(
        "cxc-i2i", images, images, truths, defaults=dict.fromkeys(truths, RECALLS),
        about="COCO's test images, searched with one another", sides=sides_of("i2i"),
    )  # fmt: skip


def load_captions(ratings: Path | None = None) -> Benchmark:
    """Build the benchmark of captions that are searched with captions; those of an image are a group."""
    coco = load_benchmark("coco")
    path = find_file("cxc", "ratings", "sts_test.csv") if ratings is None else Path(ratings)
    # Without those that other judgments of COCO mention.
    captions = Ids(coco.captions.gallery, kind="caption")
    truths = rated("cxc-t2t", path, "caption", captions)
    image = coco.clusters("t2i", np.arange(captions.size))
    truths["co-captions"] = Truth(
        "co-captions",
        Judgments(*pairs_within(image), sources=[Provenance("original")]),
        {"t2t": np.arange(captions.size)},
        about="the other captions of the same image",
    )
    return Benchmark(
        "cxc-t2t", captions, captions, truths, defaults=dict.fromkeys(truths, RECALLS),
        about="COCO's test captions, searched with one another", find_texts=coco.find_texts,
        sides=sides_of("t2t"), groups=coco.grouping and coco.grouping.within(1),
    )  # fmt: skip


def rated(name: str, path: Path, kind: str, ids: Ids) -> dict[str, Truth]:
    """Return the truth of a file of ratings, whose queries are the items that it rates with another."""
    columns = (f"{kind}1", f"{kind}2")
    one, other, rating = read_pairs(path, columns, path.name.split("_")[0])
    one, other = ids.index(one, path), ids.index(other, path)
    keep = one != other
    if not keep.any():
        raise InputError("rates nothing with another", where=path, fix="give the complete file")
    direction = name.removeprefix("cxc-")
    first, second = pair_of(direction, one[keep], other[keep])
    key, pair = np.unique(pair_key(first, second), return_inverse=True)
    rating = np.bincount(pair, rating[keep]) / np.bincount(pair)
    binary = Judgments(*pairs_of(key), rating=rating, sources=[RATERS])
    queries = {direction: np.unique(np.r_[first, second])}
    about = f"{PAPER}, rating {RELEVANT_FROM:g} or more of 5"
    return {name: Truth(name, binary, queries, about=about)}


def read_pairs(
    path: Path, columns: tuple[str, str] = ("image", "caption"), task: str = "sits"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the two ids and the rating of every rated pair; `columns` name the ids.

    ``sits_test.csv`` has one row per pair with its aggregated rating; ``sits_test_raw.csv`` has one row
    per rater, and the mean of a pair's rows is its rating. Captions are named like
    ``COCO_val2014:sentid:732091`` and images like ``COCO_val2014_000000365325.jpg``: the last number of
    each is the id.
    """
    import polars as pl

    fix = f"give the complete {task}_test.csv or {task}_test_raw.csv"
    if not Path(path).is_file():
        raise MissingDataError("there is no such file", where=path, fix=fix)
    with parsing(path, "is not a csv table", fix):
        table = pl.read_csv(path, infer_schema=False)
    score = next((name for name in SCORES if name in table.columns), SCORES[0])
    for column in (*columns[::-1], score):
        if column not in table.columns:
            raise InputError(f"has no column {column!r}", where=path, fix=fix)
    if table.is_empty():
        raise InputError("has no rows", where=path, fix=fix)
    rows = table.select(
        *(pl.col(name).str.extract(r"(\d+)(?:\.\w+)?$").cast(pl.Int64, strict=False) for name in columns),
        pl.col(score).cast(pl.Float64, strict=False),
    )
    for column in rows.columns:
        if rows[column].null_count():
            row = int(np.flatnonzero(rows[column].is_null().to_numpy())[0])
            raise InputError(
                f"row {row + 2} has no readable {column}", where=path, fix="fix or remove the row"
            )
    if not rows[score].is_between(0, 5).all():
        raise InputError("holds a rating outside 0 to 5", where=path, fix=fix)
    pairs = rows.group_by(*columns, maintain_order=True).agg(pl.col(score).mean())
    first, second, rating = (pairs[column].to_numpy() for column in (*columns, score))
    return first, second, rating


def pairs_within(group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of items of one group.

    >>> pairs_within(np.array([0, 0, 1, 0]))
    (array([0, 1, 0]), array([1, 3, 3]))
    """
    order = np.argsort(group, kind="stable")
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    for apart in range(1, int(np.bincount(group).max())):
        same = np.flatnonzero(group[order[:-apart]] == group[order[apart:]])
        pairs.append((order[same], order[same + apart]))
    return np.concatenate([first for first, _ in pairs]), np.concatenate([second for _, second in pairs])


for name, kind, load, file in (
    ("cxc-i2i", "images", load_images, "sis_test.csv"),
    ("cxc-t2t", "captions", load_captions, "sts_test.csv"),
):
    register(
        Source(
            name,
            f"COCO's test {kind}, searched with one another, by the ratings of Crisscrossed Captions",
            load,
            (Param("ratings", Path, f"{file} of Crisscrossed Captions", None),),
        )
    )
