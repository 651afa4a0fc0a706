"""SugarCrepe (Hsieh et al., NeurIPS 2023) and SugarCrepe++ (Dumpala et al., NeurIPS 2024).

A folder with a json file for each kind of change: add_att, add_obj, replace_att, replace_obj, replace_rel,
swap_att and swap_obj. SugarCrepe's file is an object of objects, ``{"0": {"filename", "caption",
"negative_caption"}}``; SugarCrepe++'s a list of such objects, with a second caption of the same meaning,
``caption2``. Both forms are read for both. Images are COCO 2017 validation images.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from karat._util import TEXT, Param, Record, first_text, read_json_value
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.examples import ChoiceExample, build_choices
from karat.benchmarks.registry import Source, find_folder, register
from karat.errors import InputError, MissingDataError

KINDS = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
HOLDS = "a json file for each kind such as swap_att.json"
POSITIVE = {"sugarcrepe": ("caption",), "sugarcrepe++": ("caption", "caption2")}
"""The keys of the captions that belong to the image."""


def read_rows(path: Path) -> Iterator[tuple[str, Record]]:
    """Yield the examples of one file with their keys."""
    rows = read_json_value(path)
    if not isinstance(rows, list | dict):
        raise InputError("is not a json object or list of examples", where=path, fix="give the authors' file")
    for key, row in rows.items() if isinstance(rows, dict) else enumerate(rows):
        yield str(key), Record(row, f"example {key}", path)


def load(name: str, folder: Path | None = None, images: Path | None = None) -> Benchmark:
    """Build the benchmark of one of both names."""
    folder = folder or find_folder(name, HOLDS)
    files = [path for kind in KINDS if (path := folder / f"{kind}.json").is_file()]
    if not files:
        raise MissingDataError(f"holds none of {', '.join(KINDS)}.json", where=folder, fix="give the folder")
    positive = POSITIVE[name]
    examples = [
        ChoiceExample(
            f"{path.stem}/{key}",
            [row.get("filename", TEXT)],
            [row.get(caption, TEXT) for caption in (*positive, "negative_caption")],
            [(0, k) for k in range(len(positive))],
            {"kind": path.stem},
        )
        for path in files
        for key, row in read_rows(path)
    ]
    plus = len(positive) > 1
    return build_choices(
        name,
        examples,
        where=folder,
        about="an image, two captions that fit and one that does not (Dumpala et al. 2024)"
        if plus
        else "an image, a caption and one that does not fit (Hsieh et al. 2023)",
        measures=("Text", "TOT") if plus else (),
        shown=("kind",),
        image_folder=images,
    )


def recognise(folder: Path, plus: bool) -> bool:
    """Return whether a folder holds the files of one of both."""
    start = next((first_text(path) for kind in KINDS if (path := folder / f"{kind}.json").is_file()), "")
    return '"negative_caption"' in start and ('"caption2"' in start) == plus


SETTINGS = (
    Param("folder", Path, "the folder of the json files", None),
    Param("images", Path, "the folder of COCO's val2017 images: adds their paths", None),
)
register(
    Source(
        "sugarcrepe",
        "SugarCrepe: swap_att.json and others, a caption and a negative caption for each image",
        partial(load, "sugarcrepe"),
        SETTINGS,
        lambda folder: recognise(folder, plus=False),
    )
)
register(
    Source(
        "sugarcrepe++",
        "SugarCrepe++: swap_att.json and others, two captions that fit and one that does not; ITT and TOT",
        partial(load, "sugarcrepe++"),
        SETTINGS,
        lambda folder: recognise(folder, plus=True),
    )
)
