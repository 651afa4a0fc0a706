"""Crossmodal-3600 (Thapliyal et al., EMNLP 2022): 3,600 images with captions in 36 languages.

A line of ``captions.jsonl`` is an image: ``{"image/key": "…", "en": {"caption": ["…", "…"]}, …}``. All
languages share the images, so that an image without a caption in one of them is still ranked there. An image
is called by its key, its captions ``KEY#0``, ``KEY#1``, …, in every language.
"""

from __future__ import annotations

from pathlib import Path

from karat._util import LIST, TEXT, Param, Record, check_once, first_text, read_json_lines, whole
from karat.benchmarks.benchmark import Benchmark, build_numbered
from karat.benchmarks.image_files import locate_images
from karat.benchmarks.registry import Source, register
from karat.errors import InputError

FILE, KEY = "captions.jsonl", "image/key"


def load(
    folder: Path, language: str = "en", caption: int | None = None, images: Path | None = None
) -> Benchmark:
    """Build the benchmark."""
    path = folder if folder.is_file() else folder / FILE
    records = read_json_lines(path)
    keys = [record.get(KEY, TEXT) for record in records]
    check_once(keys, KEY, lambda at: records[at].place, path)
    if not any(language in record for record in records):
        languages = {key for record in records for key in record.fields if "/" not in key}
        fix = f"it has {', '.join(sorted(languages)) or 'none'}"
        raise InputError(f"has no caption in {language!r}", where=path, fix=fix)
    texts = [texts_of(record, language) for record in records]
    if caption is not None:
        texts = [listed[caption : caption + 1] for listed in texts]
    # Where the archive of the images was unpacked beside the captions.
    images = images or (folder / "images" if (folder / "images").is_dir() else None)
    return build_numbered(
        "xm3600",
        dict(zip(keys, texts)),
        where=path,
        about=f"Crossmodal-3600 in {language} (Thapliyal et al. 2022)",
        image_paths=locate_images(images, [f"{key}.jpg" for key in keys]),
        image_folder=images,
    )


def texts_of(record: Record, language: str) -> list[str]:
    """Return the captions that an image has in a language."""
    if language not in record:
        return []
    listed = Record(record.fields[language], f"{record.place}, {language}", record.where)
    texts = listed.get("caption", LIST)
    if not all(isinstance(text, str) for text in texts):
        raise listed.wrong("has a caption that is not text", "write text")
    return texts


def recognise(folder: Path) -> bool:
    """Return whether a folder has the captions of XM3600 instead of those of a plain folder."""
    return (folder / FILE).is_file() and f'"{KEY}"' in first_text(folder / FILE)


register(
    Source(
        "xm3600",
        "Crossmodal-3600: captions.jsonl with the captions of one language",
        load,
        (
            Param("folder", Path, f"the folder of {FILE}, or the file"),
            Param("language", str, "en, de, zh, … as in the file", "en"),
            Param(
                "caption", whole, "only this caption of each image, 0 for the first; all when left out", None
            ),
            Param("images", Path, "the folder of the images: adds their paths", None),
        ),
        recognise,
    )
)
