"""Karpathy's split files ``dataset_coco.json``, ``dataset_flickr8k.json``, ``dataset_flickr30k.json``.

One file holds every split (Karpathy and Fei-Fei, CVPR 2015). Images and captions come in the order of
the file. Images are called by their ``cocoid`` where the file has them, else by their ``imgid``, and by the
name of their file too; captions by their ``sentid``. Everyone trains on COCO's "restval" images too, so
that ``split=train`` takes them in; ``split=restval`` gives them alone.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path, PurePosixPath

from karat._util import ID, LIST, TEXT, Param, Record, check_once, first_text, read_json
from karat.benchmarks.benchmark import Benchmark, build
from karat.benchmarks.image_files import locate_images
from karat.benchmarks.registry import Source, register
from karat.errors import InputError

TAKES_IN = {"train": ("train", "restval")}


def sentences_of(image: Record) -> list[Record]:
    """Return an image's captions, after checking that the ids around them agree."""
    sentences = image.records("sentences")
    ids = [sentence.get("sentid", ID) for sentence in sentences]
    if "sentids" in image and image.get("sentids", LIST) != ids:
        raise image.wrong("lists other 'sentids' than its sentences have", "make them the same")
    for sentence in sentences:
        if "imgid" in sentence and sentence.get("imgid", ID) != image.get("imgid", ID):
            raise sentence.wrong("has the 'imgid' of another image", "move it to its image")
    return sentences


def images_of(file: Path, split: str) -> tuple[list[Record], str]:
    """Return the images of a split, and the key of their ids."""
    listed = read_json(file).records("images")
    splits = Counter(image.get("split", TEXT) for image in listed)
    chosen = [image for image in listed if image.get("split", TEXT) in TAKES_IN.get(split, (split,))]
    if not chosen:
        known = ", ".join(f"{name} ({count:,})" for name, count in sorted(splits.items())) or "none"
        raise InputError(f"has no image of the split {split!r}", where=file, fix=f"its splits are {known}")
    # All or none: cocoid and imgid are different numberings, and may not be mixed.
    return chosen, "cocoid" if "cocoid" in listed[0] else "imgid"


def load(file: Path, split: str = "test", images: Path | None = None) -> Benchmark:
    """Build the benchmark."""
    chosen, key = images_of(file, split)
    names = [image.get(key, ID) for image in chosen]
    check_once(names, f"image {key}", lambda at: chosen[at].place, file)
    sentences = [sentences_of(image) for image in chosen]
    flat = [sentence for group in sentences for sentence in group]
    captions = [sentence.get("sentid", ID) for sentence in flat]
    check_once(captions, "caption sentid", lambda at: flat[at].place, file)
    texts = [sentence.get("raw", TEXT) for sentence in flat]
    named = images is not None or all("filename" in image for image in chosen)
    files = [file_name(image) for image in chosen] if named else None
    return build(
        "karpathy",
        names,
        captions,
        [name for name, group in zip(names, sentences) for _ in group],
        texts,
        where=file,
        about=f"{file.name}, {split} split (Karpathy and Fei-Fei 2015)",
        image_paths=locate_images(images, files or []),
        image_files=files,
        image_folder=images,
    )


def file_name(image: Record) -> str:
    """Return an image's file; COCO's lie in the folder that ``filepath`` names."""
    folder = image.get("filepath", TEXT) if "filepath" in image else ""
    return str(PurePosixPath(folder, image.get("filename", TEXT)))


register(
    Source(
        "karpathy",
        "a split of Karpathy's dataset_coco.json, dataset_flickr8k.json or dataset_flickr30k.json",
        load,
        (
            Param("file", Path, "the file dataset_*.json"),
            Param("split", str, "test, val, train (with restval) or restval", "test"),
            Param("images", Path, "the folder of the images: adds their paths", None),
        ),
        lambda path: any(key in first_text(path) for key in ('"sentences"', '"sentids"')),
        # COCO's test and val, Flickr8k's test and val and Flickr30k's test, Flickr30k's val.
        ((5000, 25010), (1000, 5000), (1014, 5070)),
    )
)
