"""WebDataset shards as CLIP_benchmark has them (``wds_flickr30k``): tar files of images with their captions.

A sample is the files of one key: ``KEY.jpg`` (or another picture) with ``KEY.txt``, which holds one caption
per line, or with ``KEY.json``, which holds "caption" or "captions". Only the captions are read and nothing
is unpacked, so that such a benchmark has no paths of images. An image is called by its key, its captions
``KEY#0``, ``KEY#1``, ….
"""

from __future__ import annotations

import json
import os
import re
import tarfile
from pathlib import Path, PurePosixPath

from karat._util import Param, parsing, plural, read_text
from karat.benchmarks.benchmark import Benchmark, build_numbered
from karat.benchmarks.image_files import IMAGES, leads_out
from karat.benchmarks.registry import Source, register
from karat.errors import InputError, MissingDataError

COUNT = "nshards.txt"
DAMAGED = ("is not a complete tar file", "download it again")
LONGEST = 1 << 20
"""Bytes of the captions of one image; what is longer is not captions."""
Texts = dict[str, list[str]]


def load(folder: Path, split: str = "test") -> Benchmark:
    """Build the benchmark."""
    texts: Texts = {}
    images: dict[str, Path] = {}
    shards = find_shards(folder, split)
    for shard in shards:
        read_shard(shard, texts, images)
    if not texts:
        raise InputError(
            "has no captions", where=folder, fix="give shards for retrieval: KEY.jpg with KEY.txt or KEY.json"
        )
    lonely = next((key for key in texts if key not in images), None)
    if lonely is not None:
        raise InputError(f"has captions of {lonely!r} and no such image", where=folder, fix="add the image")
    return build_numbered(
        folder.resolve().name,
        {key: texts.get(key, []) for key in images},
        where=folder,
        about=f"WebDataset shards of the folder {shards[0].parent}",
    )


def find_shards(folder: Path, split: str) -> list[Path]:
    """Return the shards in ``folder/split`` or in the folder itself, by number; none may be missing."""
    home = folder / split if (folder / split).is_dir() else folder
    shards = sorted(home.glob("*.tar"), key=shard_number)
    if not shards:
        others = sorted({path.parent.name for path in folder.glob("*/*.tar")})
        fix = f"its splits are {', '.join(others)}" if others else "give the folder of *.tar"
        raise MissingDataError("has no shards", where=home, fix=fix)
    if (home / COUNT).is_file():
        said = read_text(home / COUNT).strip()
        if said != str(len(shards)):
            what = f"says {said[:20]!r}, and there are {plural(len(shards), 'shard')}"
            raise InputError(what, where=home / COUNT, fix="give all shards")
    return shards


def shard_number(path: Path) -> tuple[int, str]:
    """Return what shards are sorted by: 2.tar comes before 10.tar."""
    numbers = re.findall(r"[0-9]{1,18}", path.stem)
    return (int(numbers[-1]) if numbers else -1, path.name)


def read_shard(path: Path, texts: Texts, images: dict[str, Path]) -> None:
    """Add the captions and the images of a shard."""
    with parsing(path, *DAMAGED), path.open("rb") as handle:
        # tarfile takes a shard that ends between two files for a whole one.
        handle.seek(-tarfile.BLOCKSIZE, os.SEEK_END)
        if handle.read().strip(b"\0"):
            raise InputError(DAMAGED[0], where=path, fix=DAMAGED[1])
    # Not compressed: a shard cannot become larger than it is.
    with parsing(path, *DAMAGED), tarfile.open(path, "r:") as shard:
        for member in shard:
            # The list of members, which tarfile keeps for itself, would only grow.
            shard.members = []  # type: ignore[attr-defined]
            name = PurePosixPath(member.name)
            stem, _, suffix = name.name.partition(".")
            if not member.isfile() or not stem:
                continue
            key, suffix = str(name.with_name(stem)), suffix.lower()
            if leads_out(key):
                raise InputError(f"holds {member.name!r}, which leads out of it", where=path, fix="rename it")
            if f".{suffix}" in IMAGES:
                if images.setdefault(key, path) != path:
                    what = f"repeats the key {key!r} of {images[key].name}"
                    raise InputError(what, where=path, fix="give each sample a key of its own")
            elif suffix in READERS and (suffix == "txt" or key not in texts):
                if member.size > LONGEST:
                    what = f"{member.name} has {member.size:,} bytes, too many for captions"
                    raise InputError(what, where=path, fix="keep captions in KEY.txt, one per line")
                content = shard.extractfile(member)
                try:
                    texts[key] = READERS[suffix](content.read().decode("utf-8-sig") if content else "")
                except (ValueError, RecursionError):
                    what = f"{member.name} holds no captions in UTF-8"
                    fix = 'write one caption per line, or {"caption": "…"} as json'
                    raise InputError(what, where=path, fix=fix) from None


def lines_of(text: str) -> list[str]:
    """Return the captions of a text, one per line."""
    return [line.strip() for line in text.split("\n") if line.strip()]


def captions_of(text: str) -> list[str]:
    """Return the captions that a sample's json has, none where it is about something else."""
    record = json.loads(text)
    texts = (record.get("captions") or record.get("caption")) if isinstance(record, dict) else None
    texts = [texts] if isinstance(texts, str) else texts or []
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(texts)
    return texts


READERS = {"txt": lines_of, "json": captions_of}


def recognise(folder: Path) -> bool:
    """Return whether a folder holds numbered shards, or splits that say how many they have."""
    homes = [folder, *(path.parent for path in folder.glob(f"*/{COUNT}"))]
    return any((home / COUNT).is_file() or (home / "0.tar").is_file() for home in homes)


register(
    Source(
        "webdataset",
        "WebDataset shards (CLIP_benchmark's wds_*): tar files of KEY.jpg with KEY.txt or KEY.json",
        load,
        (
            Param("folder", Path, "the folder of the shards, or of splits with shards"),
            Param("split", str, "the split, where the folder has several", "test"),
        ),
        recognise,
    )
)
