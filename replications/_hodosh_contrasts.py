"""Differences that Hodosh finds significant, beside ours: sign and p-value of each."""

from collections.abc import Iterable
from typing import NamedTuple

from _hodosh_scores import STAND_IN, TRI5SEM, Scores
from _hodosh_systems import NO_BNC
from _paper import Records, read_table, record

from karat.stats.multiplicity import stars

LEVELS = (0.1, 0.05, 0.01)
"""Of one, two and three stars."""
NAMES = {"NN": "NN5_{F1}^{idf}", "TRI5SEM": TRI5SEM}
"""Systems that tables 3 to 5 call otherwise than tables 11 and 12 do."""
DISTRIBUTIONS = {"TRI5": "", "+ D_{BNC}": "D_{BNC}", "+ D_{ic}": "D_{ic}", "+ D_{BNC+ic}": "D_{BNC+ic}"}
"""The rows of table 6."""
ADDED = {"TRI5": "", "+IDF": "i", "+Align": "a", "+Align&IDF": "ia"}
"""The columns of table 6, and which features they have."""
TASKS = {"Ann.": "Annotation", "Search": "Search"}


class Contrast(NamedTuple):
    """A difference that the paper tests: of which systems, where, and at what level it is significant."""

    table: str
    first: str
    second: str
    column: str
    level: float
    shown: str


def published() -> dict[tuple[str, str], float]:
    """Return the numbers of tables 11 and 12 by row and column."""
    return {
        (line["model"], column): float(value)
        for table in ("hodosh_11", "hodosh_12")
        for line in read_table(table)
        for column, value in line.items()
        if column != "model"
    }


def starred(table: str) -> list[Contrast]:
    """Return what tables 3, 4 and 5 star: differences to TRI5SEM."""
    return [
        Contrast(
            table, NAMES.get(line["row"], line["row"]), TRI5SEM, full(table, line["column"]),
            LEVELS[len(line["stars"]) - 1], line["stars"],
        )
        for line in read_table("hodosh_3_to_6", table)
        if line["stars"]
    ]  # fmt: skip


def full(table: str, column: str) -> str:
    """Return a column's name in tables 11 and 12.

    >>> full("5", "Search"), full("3", "Search R@1"), full("6", "+IDF Ann.")
    ('Search R-precision', 'Search R@1', 'Annotation R-precision')
    """
    return f"{TASKS.get(column.split()[-1], column)} R-precision" if table in ("5", "6") else column


def trigram(distribution: str, added: str) -> str:
    """Return the name of a trigram system in tables 11 and 12.

    >>> trigram("D_{ic}", "ia"), trigram("", "a"), trigram("D_{ic}", ""), trigram("", "")
    ('TRI5^{√idf}_{A,D_{ic}}', 'TRI5_A', 'TRI5_{D_{ic}}', 'TRI5')
    """
    name = "TRI5" + "^{√idf}" * ("i" in added)
    inside = ",".join(filter(None, ["A" * ("a" in added), distribution]))
    return name if not inside else f"{name}_A" if inside == "A" else f"{name}_{{{inside}}}"


def superscripted() -> list[Contrast]:
    """Return what table 6 marks: by i, a and d, differences to the system without that feature."""
    found = []
    for line in read_table("hodosh_3_to_6", "6"):
        if marks := line["stars"]:
            distribution, added = DISTRIBUTIONS[line["row"]], ADDED[line["column"].split()[0]]
            without = trigram("" if marks[0] == "d" else distribution, added.replace(marks[0], ""))
            column = full("6", line["column"])
            level = LEVELS[len(marks) - 1]
            found.append(Contrast("6", trigram(distribution, added), without, column, level, marks))
    return found


def in_text(table: str) -> list[Contrast]:
    """Return what the text of a section finds significant."""
    found = []
    for line in read_table("hodosh_contrasts", table):
        first, second = line["row"].split(" − ")
        level = line["level"]
        found.append(Contrast(table, first, second, line["column"], float(level), f"p ≤ {level}"))
    return found


def contrast_records(contrasts: Iterable[Contrast], scores: Scores | None, missing: str = "") -> Records:
    """Return each difference of the paper beside ours, and how many of those at 1% have our sign.

    Parameters
    ----------
    contrasts
        Of one table.
    scores
        Ours; None where the data are not at hand.
    missing
        Why not.
    """
    numbers, out, table = published(), [], ""
    same, of = 0, 0
    for table, first, second, column, level, shown in contrasts:
        paper = round(numbers[first, column] - numbers[second, column], 1)
        found = None if scores is None else scores.tested(first, second, column)
        ours, note = None, missing or NO_BNC
        if found is not None:
            ours = found.difference
            agrees = ours * paper > 0
            said = "same sign" if agrees else "no difference" if ours == 0 else "OTHER SIGN"
            note = (
                f"paper {shown}; {said}, ours {stars(found.p) or 'no star'}, p = {found.p:.2g} ({found.test})"
            )
            note += f"; {STAND_IN}" * (TRI5SEM in (first, second))
            if level <= 0.01:
                same, of = same + agrees, of + 1
        out.append(record(table, f"{first} − {second}", column, paper, ours, note))
    if scores is not None and of:
        note = "those that can be computed here"
        out.append(record(table, "differences at 1%", "of the same sign", float(of), float(same), note))
    return out
