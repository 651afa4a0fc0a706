"""Hodosh's numbers that compare captions: tables 8 and 9, §4.2.2's shares, §4.3.2's filter and its audit.

- The judged caption of a test image is its caption number 2; the others are references only.
- R_1(other): the paper takes one of the four other captions and does not say which. Ours is the mean of
  kappa over the four choices; the note gives the lowest and the highest.
- §4.2.2 says that 39.4% of all pairs have a non-zero BLEU-1. Almost all pairs share an "a": the number only
  comes out after ROUGE's preprocessing, against five references.
- §4.3.2: no share of words lies between 0.330 and 0.333 (that takes a caption of a hundred words), so the two
  filters can only differ in what they do with exactly one third. The second drops it.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np
from _paper import POINTS, Records, beside, read_table

import karat
from karat._util.text import ends
from karat.benchmarks import Benchmark
from karat.captions.filter_audit import ThresholdAudit, audit_filter
from karat.captions.metric import CAPTION_METRICS
from karat.captions.metrics.hodosh import HodoshBleu
from karat.captions.similarity import references_of
from karat.captions.tokens import hodosh_rouge_tokens
from karat.scores import Ratings, locate
from karat.stats import Intervals, kappa_over_thresholds
from karat.stats.estimate import Estimate

JUDGED = 2
"""The number of the caption that was judged."""
EXPERT_FROM = {"=4.0": 4.0, "≥ 3.6": 11 / 3, "≥ 3.3": 10 / 3, "≥ 3.0": 3.0, "≥ 2.6": 8 / 3}
METRICS = {"BLEU": "hodosh-bleu", "ROUGE": "hodosh-rouge"}
REFERENCES = {
    "R_5": [[0, 1, 2, 3, 4]],
    "R_1(gold)": [[JUDGED]],
    "R_4": [[0, 1, 3, 4]],
    "R_1(other)": [[0], [1], [3], [4]],
}
"""The numbers of the captions that are references; where the paper leaves a choice, each choice."""
MADE = Intervals(resamples=2000)


def load(data: Path) -> Benchmark:
    """Return the test split with all five captions of every image."""
    return karat.load_benchmark("flickr8k", folder=data / "flickr8k")


def table_8_9(name: str, data: Path, expert: Ratings) -> Records:
    """Return kappa of the experts' scores with BLEU and ROUGE against several sets of references."""
    bench = load(data)
    all_five, found = references_of(bench), locate(expert, bench)
    texts = [own[JUDGED] for own in all_five]
    published = read_table("hodosh_8_9", name)
    rows = sorted(EXPERT_FROM.values())
    kappas: dict[tuple[str, str], tuple[list[float], np.ndarray]] = {}
    ours = {}
    for line in published:
        which, row = line["row"].split(": ")
        metric, cut = line["column"].split(" ≥ ")
        if (which, metric) not in kappas:
            columns = sorted(
                {float(one["column"].split()[-1]) for one in published
                 if one["row"].startswith(f"{which}:") and one["column"].startswith(metric)}
            )  # fmt: skip
            tables = []
            for chosen in REFERENCES[which]:
                references = [[own[k] for k in chosen] for own in all_five]
                prepared = CAPTION_METRICS[METRICS[metric]].prepare(references, texts)
                # Every image has one judged caption, the candidates are in the images' order.
                scores = prepared.at(found.image, bench.caption_image[found.caption])
                table = kappa_over_thresholds(found.ratings.rating, scores, rows, columns, intervals=POINTS)
                tables.append([[one.value for one in line] for line in table.kappa])
            kappas[which, metric] = columns, np.array(tables)
        columns, values = kappas[which, metric]
        each = values[:, rows.index(EXPERT_FROM[row]), columns.index(float(cut))]
        note = "" if len(each) == 1 else f"mean over four choices, {each.min():.2f} to {each.max():.2f}"
        ours[name, line["row"], line["column"]] = (float(each.mean()), note)
    return beside(published, ours)


def random_row(data: Path) -> Records:
    """Return the average scores of a random caption: the mean over all pairs."""
    references = references_of(load(data))
    texts = [own[JUDGED] for own in references]
    note = "expected value: the mean over all 1,000 by 1,000 pairs"
    ours = {}
    for column, metric in METRICS.items():
        prepared = CAPTION_METRICS[metric].prepare(references, texts)
        ours["2", "Random", column] = (float(prepared.block(0, len(references)).mean(dtype=np.float64)), note)
    return beside(read_table("hodosh_captions", "2"), ours)


def word_pairs(text: str) -> list[str]:
    """Return every two neighbouring words, after ROUGE's preprocessing."""
    return [" ".join(two) for two in pairwise(hodosh_rouge_tokens(text))]


def shares_422(data: Path) -> Records:
    """Return how many of all pairs have any word, or two words in a row, in common."""
    references = references_of(load(data))
    texts = [own[JUDGED] for own in references]
    ours = {}
    for n, tokens in ((1, hodosh_rouge_tokens), (2, word_pairs)):
        block = HodoshBleu(tokens).prepare(references, texts).block(0, len(references))
        share = 100 * float((block > 0).mean())
        ours["4.2.2", "all pairs", f"non-zero BLEU-{n} (%)"] = (share, "after ROUGE's preprocessing")
    return beside(read_table("hodosh_captions", "4.2.2"), ours)


def filter_432(data: Path, expert: Ratings, crowd: Ratings) -> Records:
    """Return what the filters drop and lose, and what the crowd says of the dropped pairs."""
    bench = load(data)
    options = {"rated_captions": True, "relevant_from": [8 / 3, 3.0], "intervals": MADE}
    third = 1 / 3 + 1e-4
    pre = audit_filter(bench, [expert, crowd], from_=[0.25, 0.26], metric="bleu-pre", **options)
    plain = audit_filter(bench, [expert], from_=[0.33, third], metric="hodosh-bleu", **options)
    ours: dict[tuple[str, str, str], tuple[float | None, str]] = {}
    for row, audit, note in (
        ("BLEU_pre ≥ 0.25", pre.at(0.25), ""),
        ("BLEU_pre ≥ 0.26", pre.at(0.26), ""),
        ("BLEU ≥ 0.330", plain.at(0.33), "keeps one third"),
        ("BLEU ≥ 0.333", plain.at(third), "drops one third: nothing else lies between the two thresholds"),
    ):
        ours |= filter_row(row, audit, note)
    return beside(read_table("hodosh_captions", "4.3.2"), ours)


def filter_row(
    row: str, audit: ThresholdAudit, note: str
) -> dict[tuple[str, str, str], tuple[float | None, str]]:
    """Return the numbers of one filter, each with its interval."""
    judged = audit.judged[-1]
    shares = {
        "filtered out (%)": audit.dropped,
        "expert ≥ 2 2/3 eliminated (%)": audit.lost[0].share,
        "expert ≥ 3 eliminated (%)": audit.lost[1].share,
        "all judges said no (%)": judged.all_no,
        "the majority said no (%)": judged.most_no,
    }
    found: dict[tuple[str, str, str], tuple[float | None, str]] = {
        ("4.3.2", row, column): (100 * one.value, "; ".join(filter(None, [note, interval(one)])))
        for column, one in shares.items()
    }
    found["4.3.2", row, "filtered-out pairs that the crowd judged"] = (float(judged.all_no.n), note)
    return found


def interval(one: Estimate) -> str:
    """Return an interval in percent."""
    return f"{100 * one.level:g}% interval over images {ends(100 * one.low, 100 * one.high, 1)}"
