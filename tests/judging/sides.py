"""Small projects of other sides: queries and documents, composed queries and images, one collection."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import karat
from karat.forms import Choice, Form

FORM = Form(
    "relevance",
    "Is it relevant?",
    "Does it answer the query?",
    (Choice("yes", "Yes", "1", 1.0, 1.0), Choice("no", "No", "2", 0.0, 0.0)),
    pairs=8,
)
ITEMS = 24


@dataclass(frozen=True)
class Made:
    """A benchmark of qrels, its settings, and the files of two runs with their lists."""

    benchmark: karat.Benchmark
    settings: dict[str, str]
    files: list[str]
    lists: dict[str, dict[str, list[str]]]


def make(folder: Path, direction: str = "q2d", queries: int = 10) -> Made:
    """Write qrels and two runs; in one collection, every item is a query and no list has its own query."""
    letters = direction.split("2")
    one = letters[0] == letters[1]
    rng = np.random.default_rng(4)
    asked = [f"d{k}" if one else f"q{k}" for k in range(ITEMS if one else queries)]
    lines, seen = [], set()
    for query in asked:
        for k in rng.choice(ITEMS, 5, replace=False):
            pair = frozenset((query, f"d{k}"))
            if len(pair) == 2 and pair not in seen:
                lines.append(f"{query} 0 d{k} {rng.integers(0, 2)}")
            seen.add(pair)
    folder.mkdir(exist_ok=True)
    (folder / "qrels.txt").write_text("\n".join(lines) + "\n")
    (folder / "items.txt").write_text("".join(f"d{k}\n" for k in range(ITEMS)))
    settings = {
        "qrels": str(folder / "qrels.txt"), "items": str(folder / "items.txt"), "direction": direction
    }  # fmt: skip
    lists = {}
    for name in ("a", "b"):
        lists[name] = {
            query: [f"d{k}" for k in rng.permutation(ITEMS) if f"d{k}" != query][:9] for query in asked
        }
        rows = [
            f"{query} Q0 {item} {rank} {1 - rank / 100:.2f} {name}"
            for query, items in lists[name].items()
            for rank, item in enumerate(items, start=1)
        ]
        (folder / f"{name}.run").write_text("\n".join(rows) + "\n")
    benchmark = karat.load_benchmark("trec", **settings)
    return Made(benchmark, settings, [str(folder / f"{name}.run") for name in lists], lists)


def suggested(made: Made, top: int) -> set[frozenset[str]]:
    """Return the pairs that the first items of the lists suggest, without an order."""
    return {
        frozenset((query, item))
        for lists in made.lists.values()
        for query, items in lists.items()
        for item in items[:top]
    }


def ids_of(benchmark: karat.Benchmark, pairs) -> list[frozenset[str]]:
    """Return the ids of pairs, without an order."""
    columns = benchmark.images.values[pairs.image], benchmark.captions.values[pairs.caption]
    return [frozenset(map(str, pair)) for pair in zip(*columns)]
