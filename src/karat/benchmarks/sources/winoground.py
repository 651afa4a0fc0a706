"""Winoground (Thrush et al., CVPR 2022): two images and two captions of the same words in another order.

``examples.jsonl`` has one object per line: id, image_0, image_1, caption_0, caption_1, tag, secondary_tag,
num_main_preds and collapsed_tag. Caption 0 belongs to image 0, caption 1 to image 1. The images are named
without their extension (ex_0_img_0), as in the zip file of the authors, where they are png files.
"""

from __future__ import annotations

from pathlib import Path

from karat._util import ID, TEXT, Param, first_text, read_json_lines
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.examples import ChoiceExample, build_choices
from karat.benchmarks.registry import Source, find_file, register

NAME, FILE = "winoground", "examples.jsonl"
GROUPS = ("collapsed_tag", "num_main_preds", "secondary_tag", "tag")


def load(file: Path | None = None, images: Path | None = None) -> Benchmark:
    """Build the benchmark."""
    file = file or find_file(NAME, "file", FILE)
    examples = [
        ChoiceExample(
            str(row.get("id", ID)),
            [f"{row.get(f'image_{k}', TEXT)}{'.png' if images else ''}" for k in range(2)],
            [row.get(f"caption_{k}", TEXT) for k in range(2)],
            [(0, 0), (1, 1)],
            {key: str(row.get(key, ID)) for key in GROUPS if key in row},
        )
        for row in read_json_lines(file)
    ]
    return build_choices(
        NAME,
        examples,
        where=file,
        about="two images, two captions of the same words (Thrush et al. 2022)",
        shown=("collapsed_tag", "num_main_preds"),
        image_folder=images,
    )


def recognise(path: Path) -> bool:
    """Return whether a file begins like Winoground's."""
    start = first_text(path) if path.is_file() else ""
    return '"caption_0"' in start and '"image_1"' in start


register(
    Source(
        NAME,
        "Winoground: examples.jsonl, two images and two captions each; text, image and group score",
        load,
        (
            Param("file", Path, "the authors' examples.jsonl", None),
            Param("images", Path, "the folder of the png images: adds their paths", None),
        ),
        recognise,
    )
)
