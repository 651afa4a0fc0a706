"""COLA's multi-object setting (Ray et al., NeurIPS 2023): two images whose attributes change places.

``COLA_multiobjects_matching_benchmark.json`` is a list of lists: a link to image 1, caption 1, a link to
image 2, caption 2. Images are called by the last part of their link. The authors report the share of examples
whose captions both find their image, which is the image score.
"""

from __future__ import annotations

from pathlib import Path

from karat._util import Param, first_text, read_json_list
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.examples import ChoiceExample, build_choices
from karat.benchmarks.registry import Source, find_file, register
from karat.errors import InputError

NAME, FILE = "cola", "COLA_multiobjects_matching_benchmark.json"


def load(file: Path | None = None, images: Path | None = None) -> Benchmark:
    """Build the benchmark."""
    file = file or find_file(NAME, "file", FILE)
    examples = []
    for number, row in enumerate(read_json_list(file)):
        if not (isinstance(row, list) and len(row) == 4 and all(isinstance(cell, str) for cell in row)):
            raise InputError(
                f"entry {number} is not [image 1, caption 1, image 2, caption 2]",
                where=file,
                fix=f"give {FILE}",
            )
        names = [link.rstrip("/").rsplit("/", 1)[-1] for link in row[::2]]
        examples.append(ChoiceExample(str(number), names, row[1::2], [(0, 0), (1, 1)]))
    return build_choices(
        NAME,
        examples,
        where=file,
        about="two images, two captions with attributes that changed places (Ray et al. 2023)",
        image_folder=images,
    )


register(
    Source(
        NAME,
        "COLA, multi-object setting: lists of image 1, caption 1, image 2, caption 2; image score",
        load,
        (
            Param("file", Path, f"the authors' {FILE}", None),
            Param("images", Path, "the folder of the images: adds their paths", None),
        ),
        lambda path: path.is_file() and first_text(path).lstrip().startswith("[["),
    )
)
