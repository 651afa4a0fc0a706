"""M-BEIR (Wei et al., UniIR, ECCV 2024): queries and candidates as json lines, qrels as text.

One task is one benchmark of one direction: in ``mscoco_task0`` captions ask for images, in ``mscoco_task3``
images ask for captions. Queries are called by their ``qid``, candidates by their ``did``. Tasks that mix
image and text in one query or candidate are not between images and captions, and are refused.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from karat._util import ID, TEXT, Param, Record, check_once, read_json_lines
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.image_files import locate_images
from karat.benchmarks.registry import Source, register
from karat.benchmarks.sides import in_order
from karat.benchmarks.sources.trec import from_judged, read_judged
from karat.errors import InputError, MissingDataError

QUERY, CANDIDATE = "query_", ""
"""What the keys of queries and of candidates begin with: query_modality, modality."""


def load(
    folder: Path, task: str = "mscoco_task0", split: str = "test", images: Path | None = None
) -> Benchmark:
    """Build the benchmark."""
    names = (f"mbeir_{task}_{split}", f"mbeir_{task}")
    query_file = find(folder, "query", f"{split}/{names[0]}.jsonl")
    pool_file = find(folder, "cand_pool", *(f"local/{name}_cand_pool.jsonl" for name in names))
    qrels = find(folder, "qrels", f"{split}/{names[0]}_qrels.txt")
    queries, candidates = read_json_lines(query_file), read_json_lines(pool_file)
    side = "i2t" if modality(queries, QUERY, query_file) == "image" else "t2i"
    wanted = "text" if side == "i2t" else "image"
    if (kind := modality(candidates, CANDIDATE, pool_file)) != wanted:
        raise InputError(
            f"its candidates are {kind}, as its queries", where=pool_file, fix="choose another task"
        )
    asks = ids_of(queries, "qid", query_file)
    items = ids_of(candidates, "did", pool_file)
    about = f"M-BEIR, {task} {split} (Wei et al. 2024)"
    bench = from_judged(read_judged(qrels, 5), qrels, asks, items, side, f"mbeir-{task}", about)
    sides = ((queries, QUERY), (candidates, CANDIDATE))
    (pictures, picture), (captions, caption) = in_order(side, *sides)
    paths = [record.get(f"{picture}img_path", TEXT) for record in pictures] if images else []
    return replace(
        bench,
        about=about,
        texts=[record.get(f"{caption}txt", TEXT) for record in captions],
        image_paths=locate_images(images, paths),
        image_folder=None if images is None else str(images),
    )


def find(folder: Path, part: str, *names: str) -> Path:
    """Return the first of these files that is there, in a part of M-BEIR."""
    for name in names:
        if (folder / part / name).is_file():
            return folder / part / name
    there = sorted(path.name for path in (folder / part / names[0]).parent.glob("mbeir_*"))
    fix = (
        f"it has {', '.join(there[:5])}" if there else "give the folder that holds query, cand_pool and qrels"
    )
    raise MissingDataError(f"there is no {part}/{names[0]}", where=folder, fix=fix)


def modality(records: list[Record], prefix: str, path: Path) -> str:
    """Return whether all records are "image" or all are "text"."""
    if not records:
        raise InputError("is empty", where=path, fix="give the complete file")
    kinds = [record.get(f"{prefix}modality", TEXT) for record in records]
    odd = next(
        (at for at, kind in enumerate(kinds) if kind not in ("image", "text") or kind != kinds[0]), None
    )
    if odd is not None:
        what = f"has the {prefix}modality {kinds[odd]!r}"
        raise records[odd].wrong(what, "choose a task between images and texts, such as mscoco_task0")
    return kinds[0]


def ids_of(records: list[Record], key: str, path: Path) -> list[str]:
    """Return the ids of queries or candidates, which must be unique."""
    ids = [str(record.get(key, ID)) for record in records]
    check_once(ids, key, lambda at: records[at].place, path)
    return ids


register(
    Source(
        "mbeir",
        "a task of M-BEIR between images and captions: query, candidate pool and qrels",
        load,
        (
            Param("folder", Path, "the folder that holds query, cand_pool and qrels"),
            Param("task", str, "mscoco_task0 (captions ask), mscoco_task3 (images ask), …", "mscoco_task0"),
            Param("split", str, "test or val", "test"),
            Param("images", Path, "the folder that holds mbeir_images: adds the paths of images", None),
        ),
        lambda folder: (folder / "cand_pool").is_dir() and (folder / "query").is_dir(),
    )
)
