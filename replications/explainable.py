"""Explainable evaluation (Lymperaiou et al. 2022): its published tables beside what karat computes.

- Table 3: concept metrics of failures. The paper's models and Visual Genome's regions are not at hand; its
  columns are computed for systems that see an image through its captions, on COCO's test split with boxes and
  on Flickr8k's with concepts from captions, where numbers and sizes of things are not known. A caption asks
  for images (t2i) and is never compared with itself: the image's other captions stand for it.
- Columns, stated precisely: CA, NCS, CE and SD are means per failure where defined; SD is binary, from a
  difference of 100% of the ground truth's area on, over all matched boxes. obj hit is Σ|V(g) ∩ V(r)|, obj
  miss counts both sides, matched % synsets is matched pairs per non-common synset (at most 50%), and "avg%
  enum disagr." is how many common concepts differ in number per failure: a count, as in the paper.
- Table 6, row "all MiniLM L6": a sentence model on all of Flickr8k. The paper does not state which captions
  ask. The first caption of each image asks, and the image is its other four captions, joined to one text;
  other readings, such as the mean of their vectors, are rows of their own.
- Tables 1 and 6 to 13: the share of failures is 100% − R@1, computed from the printed R@1; one row of table 9
  contradicts it. Table 2: the printed shares as parts of 103 pairs.
- Tables 4 and 5: every kind of changed caption on COCO's test split, see `_perturbed_queries`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from _paper import Records, main, number, read_table, record
from _perturbed_queries import SENTENCE_MODEL, table_4, table_5

import karat
from karat.benchmarks import Benchmark
from karat.captions import CAPTION_METRICS, all_pairs
from karat.errors import MissingDataError
from karat.explanations import ConceptComparison, find_concepts
from karat.models import Encoder, TextMetric, load_model

SYSTEMS = {
    "BoW": CAPTION_METRICS["bow"],
    "CIDEr": CAPTION_METRICS["cider"],
    "SPICE": CAPTION_METRICS["spice"],
}
BOXES, CAPTIONS = (
    Path("coco", "coco_karpathy_test_boxes.json"),
    Path("coco", "coco_karpathy_test_captions.tsv"),
)
FLICKR8K = Path("flickr8k")
COLUMNS: dict[str, tuple[str, float]] = {
    "CA": ("agreement", 100),
    "NCS": ("similarity", 1),
    "CE": ("enumeration", 1),
    "SD": ("size_binary", 100),
    "obj hit": ("hit", 1),
    "obj miss": ("miss", 1),
    "matched % synsets": ("matched_share", 100),
    "avg% enum disagr.": ("differing_per_failure", 1),
}
"""The columns of table 3, by what karat calls them, and the paper's units."""
BESIDE: dict[str, tuple[str, float, str]] = {
    "Fails (%)": ("failure_share", 100, "the share of failures"),
    "obj miss, ground truth": ("miss_ground_truth", 1, "concepts of the ground truth alone"),
    "enum disagr. %": ("differing_share", 100, "of common concepts, those that differ in number"),
    "CE mode": ("enumeration_mode", 1, "the most frequent CE of a failure"),
    "CA per concept": ("agreement_per_concept", 100, "common concepts of all of the ground truth's"),
    "NCS per pair": ("similarity_per_pair", 1, "mean over matched pairs of all failures"),
    "CE per concept": ("enumeration_per_concept", 1, "mean over common concepts of all failures"),
    "SD per box": ("size_binary_per_box", 100, "mean over matched boxes of all failures"),
    "SD, mean difference": ("size", 1, "the mean difference of areas, not its binary form"),
    "SD, formula": ("size_binary_by_concept", 1, "shares of each concept, added up, as the formula says"),
}
"""What stands beside table 3 and the paper does not print."""
NEAREST = "all 8,091 images; the first caption asks, the other four, joined to one text, stand for the image"
NOT_STATED = "another reading of what the paper does not state"
NEEDS_VG = "needs the paper's sentence models, and Visual Genome's images and regions"
MODEL_ROW = "all MiniLM L6"
RANK_MEASURES = {
    "Recall @1": "R@1",
    "Recall @5": "R@5",
    "Recall @10": "R@10",
    "MRR @5": "MRR@5",
    "MRR @10": "MRR@10",
    "MRR @all": "MRR",
    "Median Rank": "MedR",
}
"""The columns of the tables of ranks, by their measures."""


@dataclass(frozen=True)
class Reading:
    """Which captions of an image ask, and which stand for the image, by their numbers; of which split."""

    query: tuple[int, ...] = (0,)
    corpus: tuple[int, ...] = (1, 2, 3, 4)
    split: str = "all"
    joined: bool = False
    """Whether the corpus is one text instead of the mean of several vectors."""
    kept: bool = False
    """Whether a caption that asks stands for its image when others ask, as in `karat encode`."""


READINGS = {
    "": Reading(joined=True),
    "one text of three others": Reading(corpus=(1, 2, 3), joined=True),
    "mean of four others": Reading(),
    "mean of four others, of other images all five": Reading(kept=True),
    "mean of three others": Reading(corpus=(1, 2, 3)),
    "mean of two others": Reading(corpus=(1, 2)),
    "one other": Reading(corpus=(1,)),
    "two ask, mean of three others": Reading((0, 1), (2, 3, 4)),
    "the last asks, mean of four others": Reading((4,), (0, 1, 2, 3)),
    "mean of four others, train split": Reading(split="train"),
    "mean of four others, test split": Reading(split="test"),
}
"""Readings of what the paper does not say; the first is nearest to its numbers."""
UNDEFINED = "not defined: captions do not say how many things there are, or how large"
PAIRS = 103
RANKED = {
    "1": NEEDS_VG,
    "6": "needs the paper's sentence models",
    "7": "needs a T5 summariser",
    "8": "needs a Pegasus summariser",
    "9": "needs the paper's sentence models and all of Flickr30k",
    "10": "needs a T5 summariser and all of Flickr30k",
    "11": NEEDS_VG,
    "12": f"{NEEDS_VG}, and a T5 summariser",
    "13": f"{NEEDS_VG}, and a Pegasus summariser",
}
"""What the tables of ranks would need."""


def coco(data: Path) -> Benchmark:
    """Return COCO's test split with captions and boxes."""
    return karat.load_benchmark("coco", captions=data / CAPTIONS, boxes=data / BOXES)


def flickr8k(data: Path) -> Benchmark:
    """Return Flickr8k's test split with all captions."""
    return karat.load_benchmark("flickr8k", folder=data / FLICKR8K)


COLLECTIONS: dict[str, tuple[Callable[[Path], Benchmark], tuple[Path, ...]]] = {
    "COCO test, boxes": (coco, (BOXES, CAPTIONS)),
    "Flickr8k test, captions": (flickr8k, (FLICKR8K,)),
}


def table_3(data: Path | None) -> Records:
    """Return the paper's rows, which cannot be computed, and ours."""
    out = [
        record("3", line["row"], column, number(line[column]), None, NEEDS_VG)
        for line in read_table("explainable_3")
        for column in COLUMNS
    ]
    for collection, (load, files) in COLLECTIONS.items():
        if data is None or not all((data / file).exists() for file in files):
            note = f"needs {' and '.join(map(str, files))} under --data"
            out += [
                record("3", f"{name}: {collection}", column, None, None, note)
                for name in SYSTEMS
                for column in COLUMNS
            ]
            continue
        out += explained(collection, load(data))
    return out


def explained(collection: str, bench: Benchmark) -> Records:
    """Return the rows of the systems on one collection, for all concepts and for what queries mention."""
    tables, missing = {}, {}
    for name, metric in SYSTEMS.items():
        try:
            tables[name] = all_pairs(bench, metric, leave_out=True)
        except MissingDataError as error:
            missing[name] = str(error)
    concepts = find_concepts(bench)
    found = karat.explain(
        tables, bench, direction="t2i", concepts=concepts, comparison=ConceptComparison(query_informed=True)
    )
    out = [
        record("3", f"{name}: {collection}", column, None, None, why)
        for name, why in missing.items()
        for column in COLUMNS
    ]
    for row in found.records():
        informed = row["concepts"] != "all"
        title = f"{row['run']}: {collection}{', query-informed' if informed else ''}"
        for column, (key, unit) in COLUMNS.items():
            defined = row.get(f"{key}_defined")
            note = "" if defined is None else f"defined for {defined:,} of {row['failures']:,} failures"
            out.append(entry(title, column, row[key], unit, note))
        for column, (key, unit, note) in BESIDE.items():
            if not (informed and column == "Fails (%)"):
                out.append(entry(title, column, row[key], unit, note))
    return out


def entry(row: str, column: str, value: float | None, unit: float, note: str) -> dict:
    """Return one of our own numbers in the paper's units."""
    return record(
        "3", row, column, None, None if value is None else unit * value, UNDEFINED if value is None else note
    )


def ranked(table: str, data: Path | None = None) -> Records:
    """Return a table of ranks: shares of failures from the printed R@1, nothing for the rest."""
    out = []
    for line in read_table("explainable_ranks", table):
        for column in list(line)[2:]:
            ours, note = None, RANKED[table]
            if column == "Fails (%)":
                recall = float(line["Recall @1"]) * (1 if table in ("1", "11") else 100)
                ours, note = round(100 - recall, 2), "100% less the printed R@1"
                if abs(ours - float(line[column])) > 0.01:
                    note += ", which the printed share contradicts"
            out.append(record(table, line["row"], column, number(line[column]), ours, note))
    return out


def table_6(data: Path | None) -> Records:
    """Return the table of ranks with the row of the sentence model at hand, and its other readings."""
    out = ranked("6")
    try:
        model = load_model(SENTENCE_MODEL)
    except MissingDataError as error:
        return noted(out, str(error))
    if data is None or not (data / FLICKR8K).exists():
        return noted(out, f"needs {FLICKR8K} under --data")
    rest = [one for one in out if one["row"] != MODEL_ROW]
    own = {one["column"]: one for one in out if one["row"] == MODEL_ROW}
    for name, reading in READINGS.items():
        found = read_ranks(model, reading, data / FLICKR8K)
        for column, value in found.items():
            if name:
                rest.append(record("6", f"{MODEL_ROW}: {name}", column, None, value, NOT_STATED))
            else:
                own[column] |= {"ours": value, "note": NEAREST}
    own["Fails (%)"] |= {"ours": round(100 - 100 * own["Recall @1"]["ours"], 2), "note": "100% less our R@1"}
    return [*own.values(), *rest]


def noted(records: Records, note: str) -> Records:
    """Return records with a note on the row of the sentence model, where it has no number of ours."""
    return [
        {**one, "note": note} if one["row"] == MODEL_ROW and one["ours"] is None else one for one in records
    ]


def read_ranks(model: Encoder, reading: Reading, folder: Path) -> dict[str, float]:
    """Return the columns of a table of ranks under one reading, from Flickr8k's files."""
    bench = karat.load_benchmark("flickr8k", folder=folder, split=reading.split, caption=reading.query[0])
    captions = [
        [*others[: reading.query[0]], text, *others[reading.query[0] :]]
        for text, others in zip(bench.needed_texts, bench.other_texts or ())
    ]
    corpora = [[own[number] for number in reading.corpus] for own in captions]
    if reading.joined:
        corpora = [[" ".join(own)] for own in corpora]
    if reading.kept:
        scores = karat.encode(model, bench).scores
    elif len(reading.query) == 1:
        scores = TextMetric(model).matrix(corpora, bench.needed_texts)
    else:
        # A query of several sentences is the mean of their vectors, as an image is.
        asked = [[own[number] for number in reading.query] for own in captions]
        scores = (mean_vectors(model, corpora) @ mean_vectors(model, asked).T).astype(np.float32)
    card = karat.evaluate(scores, bench, RANK_MEASURES.values(), truth="original", direction="t2i")
    values = {one["measure"]: one["value"] for one in card.records()}
    return {column: values[measure] for column, measure in RANK_MEASURES.items()}


def mean_vectors(model: Encoder, groups: list[list[str]]) -> np.ndarray:
    """Return the mean of the vectors of each group's texts, of length 1."""
    rows = model.encode_texts([text for group in groups for text in group])
    means = rows.reshape(len(groups), -1, rows.shape[1]).mean(axis=1)
    return means / np.linalg.norm(means, axis=1, keepdims=True)


def table_2(data: Path | None = None) -> Records:
    """Return the shares of misread semantics: which number of 103 pairs each can be."""
    out = []
    for line in read_table("explainable_2_4_5", "2"):
        printed = float(line["paper"])
        times = round(printed * PAIRS / 100)
        share = round(100 * times / PAIRS, 2)
        fits = abs(share - printed) < 0.005
        note = f"{times} of {PAIRS} pairs" if fits else f"no number of {PAIRS} pairs gives this share"
        note += "; the answers themselves need people who look at the images"
        out.append(record("2", line["row"], line["column"], printed, share if fits else None, note))
    return out


MAKERS = {
    "1": partial(ranked, "1"),
    "2": table_2,
    "3": table_3,
    "4": table_4,
    "5": table_5,
    **{table: partial(ranked, table) for table in RANKED if table != "1"},
    "6": table_6,
}

if __name__ == "__main__":
    main(MAKERS, __doc__)
