"""A WordNet of nine synsets, for tests that break it."""

from pathlib import Path

TINY = {
    "noun": [
        "03 n 01 entity 0 {down} | all there is",
        "03 n 02 animal 0 Beast 0 001 @ {0} n 0000 | it moves; \"an animal\"",
        "05 n 01 dog 0 001 @ {1} n 0000 | it barks",
        "05 n 02 Rex 0 king 1 001 @i {2} n 0000 | a name",
    ],
    "verb": ["29 v 01 bark 0 000 01 + 02 00 | what a dog does"],
    "adj": [
        "00 a 01 big 0 002 & {1} a 0000 ! {2} a 0101 | not small",
        "00 s 01 huge(a) 0 001 & {0} a 0000 | very big",
        "00 a 01 small 0 001 ! {0} a 0101 | not big",
    ],
    "adv": ["02 r 01 loudly 0 000 | with much noise"],
}  # fmt: skip
SENSES = {
    "noun": {"animal": [1], "beast": [1], "dog": [2], "entity": [0], "king": [3], "rex": [3]},
    "verb": {"bark": [0]},
    "adj": {"big": [0], "huge": [1], "small": [2]},
    "adv": {"loudly": [0]},
}


def write_tiny(folder: Path) -> Path:
    """Write a WordNet of nine synsets."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, lines in TINY.items():
        licence, blank = "  1 a line of the licence\n", "00000000"
        filled = [line.replace("{down}", "000") for line in lines]
        # Eight digits stand for every offset, so lengths are known before the offsets are.
        sizes = [len(f"{blank} {line.format(*[blank] * 4)}\n") for line in filled]
        offsets = [f"{len(licence) + sum(sizes[:place]):08d}" for place in range(len(filled))]
        text = "".join(f"{own} {line.format(*offsets)}\n" for own, line in zip(offsets, filled))
        (folder / f"data.{part}").write_text(licence + text, encoding="utf-8")
        index = [
            f"{word} {part[0]} {len(rows)} 0 {len(rows)} 0 {' '.join(offsets[row] for row in rows)}  \n"
            for word, rows in SENSES[part].items()
        ]
        (folder / f"index.{part}").write_text(licence + "".join(index), encoding="utf-8")
        (folder / f"{part}.exc").write_text("dogen dog\n" if part == "noun" else "", encoding="utf-8")
    offset = (folder / "data.noun").read_text().splitlines()[3][:8]
    (folder / "index.sense").write_text(f"dog%1:05:00:: {offset} 1 42\n", encoding="utf-8")
    return folder
