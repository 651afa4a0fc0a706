"""VALSE (Parcalabescu et al., ACL 2022): an image, its caption and a foil, for each linguistic instrument.

A folder with a json file for each instrument (existence.json, plurals.json, …): an object of objects with
image_file, caption, foil, linguistic_phenomena and mturk, the votes of three annotators. As the authors ask,
an example counts where at least two annotators chose the caption and not the foil, ``mturk.caption >= 2``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from karat._util import NUMBER, TEXT, Param, Record, first_text, read_json, whole
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.examples import ChoiceExample, build_choices
from karat.benchmarks.registry import Source, find_folder, register
from karat.errors import MissingDataError

NAME, HOLDS = "valse", "a json file for each instrument such as existence.json"
VOTES = 2


def is_instrument(path: Path) -> bool:
    """Return whether a file begins like one of VALSE."""
    start = first_text(path)
    return '"foil"' in start and '"caption"' in start and '"image_file"' in start


def read_rows(path: Path, votes: int) -> Iterator[ChoiceExample]:
    """Yield the examples of one instrument that have enough votes."""
    for key, fields in read_json(path).fields.items():
        row = Record(fields, key, path)
        if votes and Record(row.fields.get("mturk"), f"{key}.mturk", path).get("caption", NUMBER) < votes:
            continue
        # One of the authors' scripts reads captions that are lists of one text.
        caption = row.fields.get("caption")
        text = caption[0] if isinstance(caption, list) and caption else row.get("caption", TEXT)
        groups = {"instrument": path.stem}
        if "linguistic_phenomena" in row:
            groups["phenomenon"] = row.get("linguistic_phenomena", TEXT)
        name = f"{path.stem}/{key}"
        yield ChoiceExample(
            name, [row.get("image_file", TEXT)], [text, row.get("foil", TEXT)], [(0, 0)], groups
        )


def load(folder: Path | None = None, votes: int = VOTES, images: Path | None = None) -> Benchmark:
    """Build the benchmark."""
    folder = folder or find_folder(NAME, HOLDS)
    files = [path for path in sorted(folder.glob("*.json")) if is_instrument(path)]
    if not files:
        raise MissingDataError(f"does not hold {HOLDS}", where=folder, fix="give the authors' folder data")
    return build_choices(
        NAME,
        [example for path in files for example in read_rows(path, votes)],
        where=folder,
        about=f"an image, its caption and a foil; at least {votes} of 3 annotators agreed "
        "(Parcalabescu et al. 2022)",
        measures=("Text", "AUROC"),
        shown=("instrument",),
        image_folder=images,
    )


register(
    Source(
        NAME,
        "VALSE: existence.json and other instruments, a caption and a foil for each image",
        load,
        (
            Param("folder", Path, "the folder of the json files", None),
            Param("votes", whole, "annotators who chose the caption; 0 for all examples", VOTES),
            Param("images", Path, "the folder of the images: adds their paths", None),
        ),
        lambda folder: folder.is_dir() and any(map(is_instrument, sorted(folder.glob("*.json"))[:3])),
    )
)
