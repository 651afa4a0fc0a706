"""How near karat's scene graphs come to the Java SPICE parser's tuples.

    python scripts/score_scene_graphs.py --data DIR

DIR/spice/spice_parses.tsv holds phrases with the tuples that the tool prints. Even lines (from 0) were used
to write the rules, odd lines were held out; docs/scene-graphs.md says how, and what the two counts are.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable
from pathlib import Path

from karat.captions import scene_graphs

Tuples = set[tuple[str, ...]]
HALVES = {"even, tuned": 0, "odd, held out": 1}


def tuple_scores(data: Path, half: int, convention: str = "java") -> tuple[float, float]:
    """Return the micro F1 of tuples in one half of the phrases: as printed, and as SPICE counts them."""
    lines = (data / "spice" / "spice_parses.tsv").read_text(encoding="utf-8").splitlines()
    phrases, listings = zip(*(line.split("\t") for line in lines[half::2]))
    truth = [{tuple(t.split(" , ")) for t in re.findall(r"\( (.*?) \)", text)} for text in listings]
    found = [set(graph.listed()) for graph in scene_graphs(phrases, convention=convention)]
    return micro_f1(truth, found), micro_f1(map(counted, truth), map(counted, found))


def counted(listed: Tuples) -> Tuples:
    """Return the objects, attributes and relations that a listing names."""
    out: Tuples = set()
    for parts in listed:
        out |= {parts} if len(parts) == 1 else {parts, (parts[0],)}
        if len(parts) == 3 and parts[1] != "is":
            out.add((parts[2],))
    return out


def micro_f1(truth: Iterable[Tuples], found: Iterable[Tuples]) -> float:
    """Return 2 TP / (2 TP + FP + FN) over all phrases together."""
    pairs = list(zip(truth, found, strict=True))
    return 2 * sum(len(a & b) for a, b in pairs) / sum(len(a) + len(b) for a, b in pairs)


def main() -> None:
    """Print the four figures of each half."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, default=os.environ.get("KARAT_DATA"), help="by default KARAT_DATA")
    given = ask.parse_args()
    if given.data is None:
        raise SystemExit("name the folder of real data with --data, or set KARAT_DATA")
    print(f"{'lines':15}{'convention':12}{'as printed':>12}{'as SPICE counts':>17}")
    for name, half in HALVES.items():
        for convention in ("java", "full"):
            printed, as_counted = tuple_scores(Path(given.data), half, convention)
            print(f"{name:15}{convention:12}{printed:12.3f}{as_counted:17.3f}")


if __name__ == "__main__":
    main()
