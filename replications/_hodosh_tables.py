"""Hodosh's tables 3 to 6, 11 and 12 from systems that are trained here, with tests of their differences.

What differs from the paper: images have 256 px on their longest side; colour, texture and SIFT words are ours
(another filter bank, found in training images and not in PASCAL's); words are mended and lemmatised by other
programs; there is no British National Corpus. See _hodosh_systems.py for what the paper leaves open.
"""

from functools import cache
from pathlib import Path

from _hodosh_contrasts import (
    ADDED,
    DISTRIBUTIONS,
    NAMES,
    contrast_records,
    full,
    in_text,
    published,
    starred,
    superscripted,
    trigram,
)
from _hodosh_inputs import Flickr8k, needed
from _hodosh_scores import DIFFERS, Scores
from _hodosh_systems import Lab
from _hodosh_words import Learned, authors_words, missing_words, neighbours, vocabularies
from _paper import Records, number, read_table, record

JUDGED = "not in the paper: the share of the first ten that were judged at all"
LOST = "the paper's number is lost from the text at hand; its table 12 has it"


@cache
def flickr(data: Path) -> Flickr8k:
    """Return the data, read once."""
    return Flickr8k(data / "flickr8k")


@cache
def scores(data: Path) -> Scores:
    """Return the scores of systems, each computed when it is first asked for."""
    return Scores(Lab(flickr(data)))


def ready(data: Path | None) -> tuple[Scores | None, str]:
    """Return the scores, or why there are none."""
    missing = needed(data)
    return (scores(data), "") if data is not None and missing is None else (None, missing or "")


def value(found: Scores | None, missing: str, row: str, column: str) -> tuple[float | None, str]:
    """Return one of our scores by the names of tables 11 and 12, and a note."""
    return (None, missing) if found is None else found.value(row, column)


def all_models(table: str, data: Path | None) -> Records:
    """Return table 11 or 12: every system, and with the crowd's judgments how much they cover."""
    found, missing = ready(data)
    out = []
    for line in read_table(f"hodosh_{table}"):
        row = line["model"]
        out += [
            record(table, row, column, number(cell), *value(found, missing, row, column))
            for column, cell in line.items()
            if column != "model"
        ]
        if table == "12":
            out += judged(table, row, row, found, missing)
    return out


def judged(table: str, shown: str, row: str, found: Scores | None, missing: str) -> Records:
    """Return how many of a system's first ten results were judged, both tasks, in percent."""
    return [
        record(table, shown, column, None, share, JUDGED if note == DIFFERS else f"{JUDGED}; {note}")
        for column in ("Annotation Judged@10", "Search Judged@10")
        for share, note in [value(found, missing, row, column)]
    ]


def main_models(table: str, data: Path | None) -> Records:
    """Return table 3, 4 or 5: the systems of the paper's main part, and what it stars there."""
    found, missing = ready(data)
    out = []
    lines = read_table("hodosh_3_to_6", table)
    for line in lines:
        row, column = NAMES.get(line["row"], line["row"]), full(table, line["column"])
        if line["column"] == "Total":
            parts = [value(found, missing, row, f"{task} R-precision") for task in ("Annotation", "Search")]
            total = None if parts[0][0] is None or parts[1][0] is None else (parts[0][0] + parts[1][0]) / 2
            ours = total, parts[0][1]
        else:
            ours = value(found, missing, row, column)
        out.append(record(table, line["row"], line["column"], number(line["paper"]), *ours))
    if table == "5":
        rows = dict.fromkeys(line["row"] for line in lines)
        out += [one for row in rows for one in judged(table, row, NAMES.get(row, row), found, missing)]
    return out + contrast_records(starred(table), found, missing)


def ablation(data: Path | None) -> Records:
    """Return table 6: what idf weights, alignments and distributions add, by R-precision."""
    found, missing = ready(data)
    printed, out = published(), []
    for line in read_table("hodosh_3_to_6", "6"):
        row = trigram(DISTRIBUTIONS[line["row"]], ADDED[line["column"].split()[0]])
        column = full("6", line["column"])
        ours, note = value(found, missing, row, column)
        paper = number(line["paper"])
        if paper is None:
            paper, note = printed[row, column], f"{LOST}; {note}"
        out.append(record("6", line["row"], line["column"], paper, ours, note))
    return out + contrast_records(superscripted(), found, missing)


def of_text(table: str, data: Path | None) -> Records:
    """Return what a section's text finds significant."""
    found, missing = ready(data)
    return contrast_records(in_text(table), found, missing)


@cache
def learned(data: Path) -> tuple[Learned, Learned]:
    """Return lexical similarities of our words and of the authors'."""
    words, tags = flickr(data).words
    return Learned(words["train"], tags), Learned(*authors_words(flickr(data)))


def of_words(table: str, data: Path | None) -> Records:
    """Return figure 3, or the vocabularies of a section."""
    missing = missing_words(data)
    ours, authors = (None, None) if missing or data is None else learned(data)
    if table == "Figure 3":
        return neighbours(ours, authors, missing or "")
    return vocabularies(table, ours, authors, missing or "")
