"""Hodosh, Young and Hockenmaier (JAIR 2013): published tables beside what karat computes.

- Table 7 correlates metrics over 30 systems; karat correlates the scores of tables 11 and 12. The sign of
  the median rank stays as printed: low is good there, so its correlations are negative.
- Table 10(a): kappa of experts and crowd over the 5,822 pairs that the experts judged. A pair that the crowd
  never saw counts as "no"; the one own caption among these counts as "yes". Own captions that the crowd
  did see keep its answer: with "yes" for all 158 the column =1.0 would lie up to 0.045 too high.
- Table 10(b): its numbers are lost from the text at hand but for three in §4.3.2. Those come out when own
  captions count as relevant, as in the rest of the paper, and pairs that the crowd never saw are left out.
- Tables 8 and 9, §4.2.2's shares and §4.3.2's filter: see _hodosh_captions.py for what the paper leaves open.
- §4.3.2 counts relevant pairs from a yes-share of 0.5 on, which gives its 2,031. For images the text
  repeats the captions' 202 and 100; the data have 228 and 124.
- Tables 3 to 6, 11 and 12, figure 3 and the vocabularies: see _hodosh_tables.py, _hodosh_systems.py and
  _hodosh_words.py. The systems are trained from pixels and captions, which takes about half an hour
  on two busy cores, once; what is done is kept in karat's cache folder, or where --cache says.
"""

from functools import partial
from pathlib import Path

import numpy as np
from _hodosh_captions import EXPERT_FROM, filter_432, random_row, shares_422, table_8_9
from _hodosh_store import choose_cache
from _hodosh_tables import ablation, all_models, main_models, of_text, of_words
from _paper import POINTS, Records, beside, main, read_table

import karat
from karat.scores import Leaderboard, Ratings, agree, correlate, read_ratings

FOLDER, EXPERT, CROWD = "flickr8k", "ExpertAnnotations.txt", "CrowdFlowerAnnotations.txt"
SIGNS = {"ρ": "spearman", "τ": "tau"}
CROWD_FROM = {"=1.0": 1.0, "≥ 0.6": 0.6, "≥ 0.3": 0.3}
RELEVANT_FROM = 0.5


def load_leaderboard() -> Leaderboard:
    """Return the 30 systems of tables 11 and 12 by their 16 metrics, in the paper's units."""
    first, second = read_table("hodosh_11"), read_table("hodosh_12")
    metrics = [*list(first[0])[1:], *list(second[0])[1:]]
    values = [[float({**a, **b}[name]) for name in metrics] for a, b in zip(first, second, strict=True)]
    return Leaderboard(tuple(line["model"] for line in first), tuple(metrics), np.array(values))


def table_7(name: str) -> Records:
    """Return correlations of system rankings: S@k against R@k (7a), R-precision against all (7b)."""
    board = load_leaderboard()
    found = {method: correlate(board, method, intervals=POINTS) for method in SIGNS.values()}
    published = read_table("hodosh_7", name)
    ours = {}
    for line in published:
        task, sign = line["column"].split()
        row = line["row"].replace("Median rank", "Median r")
        pair = (f"S{row}", f"R{row}") if name == "7a" else ("R-precision", row)
        one = found[SIGNS[sign]].pair(*(f"{task} {metric}" for metric in pair))
        ours[name, line["row"], line["column"]] = (one.value, "from tables 11 and 12")
    return beside(published, ours)


def judged(data: Path | None) -> tuple[Ratings, Ratings] | None:
    """Return the experts' and the crowd's ratings; None where the data are not there."""
    folder = None if data is None else data / FOLDER
    if folder is None or not all((folder / file).is_file() for file in (EXPERT, CROWD)):
        return None
    return read_ratings(folder / EXPERT), read_ratings(folder / CROWD)


def own(ratings: Ratings) -> np.ndarray:
    """Return which pairs are an image and its own caption."""
    return np.array([caption.startswith(f"{image}#") for image, caption in ratings.pairs()])


def shares(crowd: Ratings, expert: Ratings, every_own: bool) -> Ratings:
    """Return the crowd's shares of yes, and 1 for own captions: those that it did not see, or every one."""
    seen = set(crowd.pairs())
    new = [pair for pair, mine in zip(expert.pairs(), own(expert)) if mine and pair not in seen]
    share = np.where(own(crowd), 1.0, crowd.rating) if every_own else crowd.rating
    pairs = [*crowd.pairs(), *new]
    images, captions = zip(*pairs)
    values = np.concatenate([share, np.ones(len(new))])[:, None]
    return Ratings(images, captions, ("share",), values, crowd.where)


def unanswered(table: str, file: str = "hodosh_10") -> Records:
    """Return the published numbers where the data are not at hand."""
    published = read_table(file, table)
    note = f"needs {FOLDER}/{EXPERT}, {CROWD} and the captions under --data"
    return beside(published, {(table, line["row"], line["column"]): (None, note) for line in published})


def of_captions(table: str, data: Path | None) -> Records:
    """Return what is computed from the captions themselves: tables 2, 8, 9 and the shares of §4.2.2."""
    both = judged(data)
    if both is None or data is None:
        return unanswered(table, "hodosh_8_9" if table in ("8", "9") else "hodosh_captions")
    if table in ("8", "9"):
        return table_8_9(table, data, both[0])
    return random_row(data) if table == "2" else shares_422(data)


def table_10a(data: Path | None) -> Records:
    """Return kappa of experts and crowd at five by three thresholds."""
    both = judged(data)
    if both is None:
        return unanswered("10a")
    expert, crowd = both
    rows, columns = sorted(EXPERT_FROM.values()), sorted(CROWD_FROM.values())
    found = agree(
        expert, shares(crowd, expert, every_own=False), missing="no",
        first_from=rows, second_from=columns, intervals=POINTS,
    ).thresholds  # fmt: skip
    ours = {
        ("10a", row, column): (found.kappa[rows.index(a), columns.index(b)].value, "")
        for row, a in EXPERT_FROM.items()
        for column, b in CROWD_FROM.items()
    }
    return beside(read_table("hodosh_10", "10a"), ours)


def table_10b(data: Path | None) -> Records:
    """Return precision, recall and F1 of the crowd's judgments against the experts', in percent."""
    both = judged(data)
    if both is None:
        return unanswered("10b")
    expert, crowd = both
    rows = sorted(EXPERT_FROM.values())
    readings = [
        agree(
            expert, shares(crowd, expert, every_own=missing == "left_out"), missing=missing,
            first_from=rows, second_from=[RELEVANT_FROM], intervals=POINTS,
        ).thresholds
        for missing in ("left_out", "no")
    ]  # fmt: skip
    ours = {}
    for row, cut in EXPERT_FROM.items():
        for column in ("Precision", "Recall", "F1"):
            value, other = (
                100 * getattr(found, column.lower())[rows.index(cut), 0].item() for found in readings
            )
            note = f"with 10(a)'s reading of unseen pairs {other:.1f}"
            ours["10b", row, column] = (value, note)
    published = read_table("hodosh_10", "10b")
    return beside(published, {
        key: (value, note if number else f"the paper's number is lost from the text at hand; {note}")
        for (key, (value, note)), number in zip(ours.items(), [line["paper"] for line in published])
    })  # fmt: skip


def table_421(data: Path | None) -> Records:
    """Return alpha over the three experts."""
    both = judged(data)
    if both is None:
        return unanswered("4.2.1", "hodosh_text")
    alpha = agree(both[0], intervals=POINTS).raters[0].alpha
    note = f"interval scale; the paper does not say which; ordinal {alpha['ordinal'].value:.3f}, "
    note += f"nominal {alpha['nominal'].value:.3f}"
    key = ("4.2.1", "three experts", "Krippendorff's α")
    return beside(read_table("hodosh_text", "4.2.1"), {key: (alpha["interval"].value, note)})


def table_432(data: Path | None) -> Records:
    """Return how many pairs the crowd added, how many captions fit how many images, and the filter."""
    both = judged(data)
    if both is None or data is None:
        return unanswered("4.3.2", "hodosh_text") + unanswered("4.3.2", "hodosh_captions")
    bench = karat.load_benchmark("flickr8k", folder=data / FOLDER, caption=2)
    pairs = bench.truth("crowd").judgments.pairs()
    good = pairs.grade > 0
    ours = {("4.3.2", "pairs", "added to the original ones"): (float(good.sum() - bench.images.size), "")}
    for row, unit, side in (("captions", "image", pairs.caption), ("images", "caption", pairs.image)):
        times = np.minimum(np.bincount(side[good], minlength=bench.images.size), 4)
        for k, word in enumerate(("one", "two", "three", "four or more"), start=1):
            column = f"{word} {unit}" + ("s" if k > 1 else "")
            slip = "the text repeats the captions' number" if row == "images" and k in (2, 3) else ""
            ours["4.3.2", row, column] = (float((times == k).sum()), slip)
    return beside(read_table("hodosh_text", "4.3.2"), ours) + filter_432(data, *both)


if __name__ == "__main__":
    choose_cache()
    about, _, rest = __doc__.partition("\n")
    main(
        {
            "2": partial(of_captions, "2"), "4.2.2": partial(of_captions, "4.2.2"),
            "8": partial(of_captions, "8"), "9": partial(of_captions, "9"),
            "7a": lambda data: table_7("7a"), "7b": lambda data: table_7("7b"), "10a": table_10a,
            "10b": table_10b, "4.2.1": table_421, "4.3.2": table_432,
            "3.5.3": partial(of_words, "3.5.3"), "3.5.4": partial(of_words, "3.5.4"),
            "Figure 3": partial(of_words, "Figure 3"),
            "3": partial(main_models, "3"), "4": partial(main_models, "4"), "5": partial(main_models, "5"),
            "6": ablation, "4.3.1": partial(of_text, "4.3.1"), "4.3.3": partial(of_text, "4.3.3"),
            "4.3.4": partial(of_text, "4.3.4"),
            "11": partial(all_models, "11"), "12": partial(all_models, "12"),
        },
        f"{about} --cache DIR keeps what takes long.\n{rest}",
        load_leaderboard,
    )  # fmt: skip
