"""The objects of COCO's ``instances_*.json`` as captions, so that annotators can vet their masks.

The caption of an instance is the name of its category; the pair of an instance with its image is relevant if
its mask fits. Nothing is known about this at first.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from karat._util import Param
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.ids import Ids
from karat.benchmarks.image_files import locate_images
from karat.benchmarks.instances import Instances, load_instances, read_approvals
from karat.benchmarks.judgments import Judgments, Provenance, Share
from karat.benchmarks.registry import Source, register
from karat.benchmarks.sides import KINDS, Direction, Side
from karat.benchmarks.truth import Truth
from karat.errors import InputError

APPROVED = "approved"
"""The truth with what is known beforehand about masks."""


def load(
    file: Path, images: Path | None = None, approved: Path | None = None, digest: str | None = None
) -> Benchmark:
    """Build the benchmark; raise where the masks are not those of the digest."""
    instances = load_instances(file)
    if digest is not None and digest != instances.digest:
        raise InputError(
            "has changed since annotators saw its masks", where=file, fix="restore the file, or pool it again"
        )
    if images is not None and not instances.files:
        raise InputError("has images without a file_name", where=file, fix="name the file of every image")
    known = {} if approved is None else read_approvals(approved, instances)
    instances.with_answers(known)
    return Benchmark(
        instances.name,
        Ids(list(instances.images), kind="image", files=instances.files or None),
        Ids(instances.id, kind="caption"),
        {APPROVED: truth_of(instances, known)},
        about=f"instances of {file.name}, for masks to be vetted",
        texts=[instances.names[category] for category in instances.category],
        image_paths=locate_images(images, instances.files),
        image_folder=None if images is None else str(images),
        instances=instances,
        sides=(KINDS["i"], Side("text", "object", "objects")),
    )


def truth_of(instances: Instances, known: dict[int | str, bool]) -> Truth:
    """Return the truth that lists the masks whose answer is known."""
    rows = np.array([at for at, key in enumerate(instances.id.tolist()) if key in known], np.int64)
    grade = np.array([known[key] for key in instances.id[rows].tolist()], np.float64)
    judgments = Judgments(
        instances.image[rows], rows, rating=grade, source=np.zeros(len(rows), np.int64),
        sources=[Provenance(APPROVED, "0 to 1", Share(top=1))],
    )  # fmt: skip
    queries: dict[Direction, np.ndarray] = {
        "i2t": np.arange(len(instances.images)),
        "t2i": np.arange(len(instances)),
    }
    return Truth(APPROVED, judgments, queries, about="masks whose answer is known")


register(
    Source(
        "instances",
        "objects of COCO's instances_*.json, whose masks annotators approve or reject",
        load,
        (
            Param("file", Path, "the file instances_*.json"),
            Param("images", Path, "the folder of the images: adds their paths", None),
            Param("approved", Path, "a csv file of known answers: annotation, approved (1 or 0)", None),
            Param("digest", str, "of the masks, which must not have changed", None),
        ),
    )
)
