"""Semantic margin (Biten et al., WACV 2022): its published tables beside what karat computes.

- Table 1: Pearson's r of people's ratings (Crisscrossed Captions) with relevance. "NCS with φ" is φ itself,
  of the image's five captions and the rated caption; an original caption is among the references that it
  is compared with, as in eq. 3. Dividing φ by the image's best value, as NCS@1 would, is given in the
  notes. "Non-GT" are the pairs whose caption was not written for the image.
- Binary relevance is the same for all non-GT pairs, so its correlation is not defined there; the paper
  prints 0.00.
- Tables 2 to 5 need VSRN, CVSE and SGR and the images of Flickr30K and COCO. Our own network was trained on
  Flickr8k instead (scripts/train_margins.py; docs/train.md says what comes out). Its numbers are the rows of
  table 2 and the columns of tables 4 and 5 that say Flickr8k, and figure 3; what the paper does not have,
  such as intervals of differences, has tables of its own. They come from
  tables/semantic_margin_flickr8k.json.
- In tables 2 and 3 arithmetic can be checked: Rsum and Nsum beside the sums of their parts. In table 3,
  CVSE+SAM on Flickr30K has parts that sum to 369.0 and prints an Nsum of 387.9; all others agree within what
  rounding allows.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from _paper import TABLES, Records, beside, main, number, read_table, record

import karat
from karat._util.text import ends
from karat.captions.metric import CAPTION_METRICS, Prepared
from karat.captions.similarity import references_of
from karat.errors import MissingDataError
from karat.scores import locate, read_ratings
from karat.scores.agreement.score_agreement import ALL, NOT_ORIGINAL, score_agreement
from karat.stats import Intervals

RATINGS, CAPTIONS = Path("cxc", "sits_test.csv"), Path("coco", "coco_karpathy_test_captions.tsv")
ROWS = {"Binary relevance (GT)": "original", "NCS with SPICE": "spice", "NCS with CIDEr": "cider"}
COLUMNS = {"All": ALL, "Non-GT": NOT_ORIGINAL}
MADE = Intervals(resamples=1000)
SUMS = {"Rsum": "R@", "Nsum": "N@"}
TRAINED = TABLES / "semantic_margin_flickr8k.json"
"""What scripts/train_margins.py tables --json wrote."""
TRAINING = "our network, scripts/train_margins.py"
BEYOND = {
    "2, differences": ("differences", ("data", "loss", "minus")),
    "2, one caption": ("protocol", ("loss",)),
    "2, margins without meaning": ("controls", ("data", "loss", "minus")),
    "2, positive left out": ("own", ("data", "loss")),
    "2, margins": ("margins", ("data", "positive")),
    "5.2, convergence": ("convergence", ("data", "loss")),
    "5.4, larger margins": ("margin size", ("data", "loss", "T")),
    "Figure 3": ("figure 3", ("loss", "value")),
    "Noise": ("noise", ("shuffled", "loss")),
    "Noise, differences": ("noise differences", ("shuffled", "loss", "minus")),
}
"""Tables of our own trainings alone: their names in that file, and the columns that name a row."""


def table_1(data: Path | None) -> Records:
    """Return the correlations with human judgments."""
    published = read_table("semantic_margin_1")
    if data is None or not all((data / file).is_file() for file in (RATINGS, CAPTIONS)):
        note = f"needs {RATINGS} and {CAPTIONS} under --data"
        return beside(
            published, {(line["table"], line["row"], line["column"]): (None, note) for line in published}
        )
    coco = karat.load_benchmark("coco", captions=data / CAPTIONS)
    found = locate(read_ratings(data / RATINGS), coco)
    scores = {"original": found.original.astype(float)}
    best, missing = {}, {}
    for name in ("spice", "cider"):
        try:
            prepared = CAPTION_METRICS[name].prepare(references_of(coco), coco.texts)
        except MissingDataError as error:
            missing[name] = str(error)
            continue
        scores[name] = prepared.at(found.image, found.caption)
        best[name] = best_of_image(prepared, coco.caption_image)[found.image]
    agreed = score_agreement(found.ratings, scores, original=found.original, resample="image", intervals=MADE)
    ours: dict[tuple[str, str, str], tuple[float | None, str]] = {}
    for row, score in ROWS.items():
        for column, group in COLUMNS.items():
            if score in missing:
                ours["1", row, column] = (None, missing[score])
                continue
            one = agreed.row(score, group).pearson
            if np.isnan(one.value):
                ours["1", row, column] = (None, "not defined: every such pair has the same binary relevance")
                continue
            note = f"95% interval over images {ends(one.low, one.high, 3)}"
            if score in best:
                kept = slice(None) if group == ALL else ~found.original
                other = np.corrcoef(found.ratings.rating[kept], (scores[score] / best[score])[kept])[0, 1]
                note += f"; divided by the image's best value {other:.3f}"
            ours["1", row, column] = (one.value, note)
    return beside(published, ours)


def best_of_image(prepared: Prepared, owner: np.ndarray) -> np.ndarray:
    """Return the best φ of every image with one of its own captions, which are among the references."""
    best = np.full(prepared.n_images, np.finfo(float).tiny)
    np.maximum.at(best, owner, prepared.at(owner, np.arange(len(owner))))
    return best


def sums_of(name: str) -> Records:
    """Return a table of trained models: sums of parts for Rsum and Nsum, nothing for the rest."""
    out = []
    for line in read_table(f"semantic_margin_{name}"):
        row = f"{line['data']} {line['model']}"
        for column in list(line)[2:]:
            ours, note = None, "needs the trained model"
            if column in SUMS:
                parts = [float(value) for head, value in line.items() if SUMS[column] in head]
                ours, note = round(sum(parts), 1), "the sum of the printed parts"
                if abs(ours - float(line[column])) > 1:
                    note += ", which the printed sum contradicts"
            out.append(record(name, row, column, number(line[column]), ours, note))
    return out


def trained(part: str) -> Iterator[tuple[dict[str, Any], dict[str, Any], str]]:
    """Yield the rows of one table of our trainings: all cells, the scores among them, and a note."""
    for line in json.loads(TRAINED.read_text(encoding="utf-8"))[part]:
        scores = {column: value for column, value in line.items() if isinstance(value, float | list)}
        yield line, scores, TRAINING + (f", {line['seeds']} seeds" if "seeds" in line else "")


def table_2(name: str) -> Records:
    """Return the published table 2, and ours."""
    own = [
        record(
            name,
            f"Flickr8k-{line['data']} {line['loss']}",
            f"{column[:3].upper()}{column[3:]}" if column[1] == "2" else column,
            None,
            value,
            note,
        )
        for line, scores, note in trained("table 2")
        for column, value in scores.items()
    ]
    return sums_of(name) + own


def table_4_5(name: str) -> Records:
    """Return τ, sampling and triplet: of CVSE, which is not at hand, and of our network."""
    published = read_table("semantic_margin_4_5", name)
    missing = (None, "needs CVSE and the images of Flickr30K and COCO; see the columns of Flickr8k")
    samplings = {line["row"].split()[1] for line in published}
    own = [
        record(
            name,
            f"{line['τ']:g} {line['S']} {line['T']}",
            f"Flickr8k-{line['data']} {column}",
            None,
            value,
            note,
        )
        for line, scores, note in trained("tables 4 and 5")
        if line["S"] in samplings
        for column, value in scores.items()
        if column != "τ"
    ]
    keys = [(line["table"], line["row"], line["column"]) for line in published]
    return beside(published, dict.fromkeys(keys, missing)) + own


def beyond(name: str) -> Records:
    """Return a table of our own trainings that the paper does not print."""
    part, keys = BEYOND[name]
    out = []
    for line, scores, note in trained(part):
        row = " ".join(line[key] for key in keys)
        for column, value in scores.items():
            middle, *interval = value if isinstance(value, list) else [value]
            said = f"95% interval over seeds and images {ends(*interval, 1)}; {note}" if interval else note
            out.append(record(name, row, column, None, middle, said))
    return out


if __name__ == "__main__":
    main(
        {
            "1": table_1,
            "2": lambda data: table_2("2"),
            "3": lambda data: sums_of("3"),
            **{name: (lambda data, name=name: table_4_5(name)) for name in ("4", "5")},
            **{name: (lambda data, name=name: beyond(name)) for name in BEYOND},
        },
        __doc__,
    )
