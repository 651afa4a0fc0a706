"""ECCV Caption's appendix E.3 and §3.2: bias from its tables E.1a and E.1b, and the size of its pool."""

from pathlib import Path

import numpy as np
from _paper import Records, read_table, record

import karat
from karat.judging import BiasTable, bias_from_table, make_pool
from karat.judging.pools import GoldChoice, QuerySample
from karat.runs import EmbeddingRun

MEASURES = {"eccv_e1a": "R@1", "eccv_e1b": "R-Precision"}
PARTS = {"bias": "bias", "self bias": "self_bias", "non-self bias": "other_bias"}
DRAWN = "drawn in figure E.2, not printed; follows from table E.1"
SIZES = {"i2t": 1261, "t2i": 1333}


def load_bias(name: str) -> BiasTable:
    """Return one of the tables E.1 as scores by the models that annotated."""
    lines = read_table(name)
    models = tuple(line["model"] for line in lines)
    return bias_from_table(
        {
            models if column == "All" else column: {line["model"]: float(line[column]) for line in lines}
            for column in (*models, "All")
        }
    )


def equation_e6(data: Path | None) -> Records:
    """Return the bias of one annotator that the text works out under R@1 (eq. E.6)."""
    table = load_bias("eccv_e1a")
    published = {
        (line["row"], line["column"]): float(line["paper"]) for line in read_table("eccv_text", "E.3")
    }
    return [
        record("E.3", row, column, paper, float(getattr(table, PARTS[column])[table.systems.index(row)]))
        for (row, column), paper in published.items()
    ]


def figure_e2(data: Path | None) -> Records:
    """Return the mean bias over single annotators; that of several needs the raw answers."""
    return [
        record(
            "E.2", "1 model", f"{measure} {column}", None, getattr(load_bias(name).curve()[0], part), DRAWN
        )
        for name, measure in MEASURES.items()
        for column, part in PARTS.items()
    ]


def section_3_2(data: Path | None) -> Records:
    """Return the size of the pool: five made-up systems, as many queries as the paper has, the first five."""
    coco = karat.load_benchmark("coco")
    rng = np.random.default_rng(0)
    systems = []
    for number in range(5):
        images, captions = (
            rng.normal(size=(ids.size, 4)).astype(np.float32) for ids in (coco.images, coco.captions)
        )
        systems.append(EmbeddingRun(images, captions, name=f"system {number}"))
    pool = make_pool(systems, coco, top=5, queries=QuerySample(SIZES), gold=GoldChoice(0))
    ours = {"before duplicates are removed": float(pool.suggestions)}
    return [
        record("3.2", line["row"], line["column"], float(line["paper"]), ours.get(line["column"]), note)
        for line in read_table("eccv_text", "3.2")
        for note in ["" if line["column"] in ours else "the five models' rankings were not published"]
    ]
