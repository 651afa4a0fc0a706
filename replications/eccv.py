"""ECCV Caption (Chun et al., ECCV 2022): its published tables beside what karat computes.

- Table 3 counts positives; karat counts them in the truths that it reads from the package eccv_caption.
- Table 2 tells precision and recall of older labels by people's. What people said was published merged with
  CxC's positives only, which decides most of it: karat's numbers against that are rows of their own.
- Table A.1 is lost in the text at hand.
- Table D.3 correlates nine metrics over 25 models; karat correlates the scores of tables D.1 and D.2. The
  means of both directions are taken here: table 4's COCO 1K R@1 averages the 1K score of one direction
  with the 5K score of the other in 24 of its 25 rows. PMRP is table 4's, which D.3 uses and which the
  means of D.1 and D.2 contradict in 11 rows.
"""

from itertools import combinations
from pathlib import Path

import numpy as np
from _paper import POINTS, Records, main, read_table, record

import karat
from karat.benchmarks import DIRECTIONS
from karat.judging import BiasTable, bias_from_table, label_quality, make_pool
from karat.judging.pools import GoldChoice, QuerySample
from karat.runs import EmbeddingRun
from karat.scores import Leaderboard, correlate

TRUTHS = {"Original MS-COCO Caption": "coco-5k", "CxC": "cxc", "ECCV Caption": "eccv"}
COLUMNS = {"t2i": "# positive images", "i2t": "# positive captions"}
MEASURES = {"eccv_e1a": "R@1", "eccv_e1b": "R-Precision"}
PARTS = {"bias": "bias", "self bias": "self_bias", "non-self bias": "other_bias"}
DRAWN = "drawn in figure E.2, not printed; follows from table E.1"
SIZES = {"i2t": 1261, "t2i": 1333}


def load_leaderboard() -> Leaderboard:
    """Return the 25 models by the nine metrics of table D.3, in percent: means of both directions."""
    first, second, fourth = (read_table(name) for name in ("eccv_d1", "eccv_d2", "eccv_4"))
    metrics = [line["metric"] for line in read_table("eccv_d3")]
    values = [
        [float(c["PMRP"]) if name == "PMRP" else (float(a[name]) + float(b[name])) / 2 for name in metrics]
        for a, b, c in zip(first, second, fourth, strict=True)
    ]
    return Leaderboard(tuple(line["model"] for line in first), tuple(metrics), np.array(values))


def table_2(data: Path | None) -> Records:
    """Return precision and recall of older labels, in percent."""
    merged = {
        (found.truth, found.direction): found
        for found in label_quality(karat.load_benchmark("coco"), "eccv", ["coco-5k", "cxc"], intervals=POINTS)
    }
    gone = "the human-verified positives were not published apart from CxC's"
    out = []
    for line in read_table("eccv_2"):
        for column in list(line)[1:]:
            out.append(record("2", line["dataset"], column, float(line[column]), None, gone))
    for name in (line["dataset"] for line in read_table("eccv_2") if line["dataset"] in TRUTHS):
        for direction in DIRECTIONS:
            found = merged[TRUTHS[name], direction]
            for part, value in (("Prec", found.precision.value), ("Recall", found.recall.value)):
                row, column = f"{name}, against ECCV Caption", f"{direction.upper()} {part}"
                out.append(record("2", row, column, None, 100 * value, "not in the paper: CxC included"))
    return out


def table_3(data: Path | None) -> Records:
    """Return the numbers of positives over the queries of ECCV Caption."""
    coco = karat.load_benchmark("coco")
    out = []
    for line in read_table("eccv_3"):
        for direction in reversed(DIRECTIONS):
            ours, note = None, "the human-verified positives were not published apart from CxC's"
            if line["dataset"] in TRUTHS:
                asked = coco.truth("eccv").queries[direction]
                judged = coco.truth(TRUTHS[line["dataset"]]).judged(direction)
                ours, note = float(np.isin(judged.query_of_row, asked).sum()), ""
            column = COLUMNS[direction]
            out.append(record("3", line["dataset"], column, float(line[column]), ours, note))
    return out


def table_d3(data: Path | None) -> Records:
    """Return Kendall's tau of every two metrics: each pair once."""
    found = correlate(load_leaderboard(), "tau", intervals=POINTS)
    published = {line["metric"]: line for line in read_table("eccv_d3")}
    return [
        record("D.3", row, column, float(published[row][column]), found.pair(row, column).value)
        for row, column in combinations(published, 2)
    ]


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


if __name__ == "__main__":
    tables = {
        "2": table_2, "3": table_3, "3.2": section_3_2, "D.3": table_d3, "E.2": figure_e2, "E.3": equation_e6,
    }  # fmt: skip
    main(tables, __doc__, load_leaderboard)
