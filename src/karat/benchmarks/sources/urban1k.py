"""Urban1k (Zhang et al., Long-CLIP, ECCV 2024): ``caption/NAME.txt`` describes ``image/NAME.jpg``.

As in the authors' evaluation, the caption is the first line of the text. Images and captions are called by
their file names, and come in the order in which Python sorts these: 1.jpg, 10.jpg, 100.jpg.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from karat._util import Param, read_lines
from karat.benchmarks.benchmark import Benchmark, build
from karat.benchmarks.image_files import find_images
from karat.benchmarks.registry import Source, register
from karat.errors import InputError, MissingDataError

IMAGE, CAPTION = "image", "caption"


def load(folder: Path) -> Benchmark:
    """Build the benchmark."""
    for part in (IMAGE, CAPTION):
        if not (folder / part).is_dir():
            raise MissingDataError(f"has no folder {part!r}", where=folder, fix="give the unpacked Urban1k")
    images = find_images(folder / IMAGE)
    by_stem = {str(PurePosixPath(name).with_suffix("")): name for name in images}
    captions, owner, texts = [], [], []
    for path in sorted((folder / CAPTION).glob("*.txt")):
        if path.stem not in by_stem:
            raise InputError(
                f"there is no image for it in {folder / IMAGE}", where=path, fix=f"add {path.stem}.jpg"
            )
        lines = read_lines(path)
        if not lines or not lines[0].strip():
            raise InputError("its first line is empty", where=path, fix="write the caption there")
        captions.append(path.name)
        owner.append(by_stem[path.stem])
        texts.append(lines[0].strip())
    return build(
        folder.resolve().name,
        images,
        captions,
        owner,
        texts,
        where=folder,
        about="long captions, one per image, in the form of Urban1k (Zhang et al. 2024)",
        image_paths=[str(folder / IMAGE / name) for name in images],
        image_folder=folder / IMAGE,
    )


register(
    Source(
        "urban1k",
        "Urban1k: image/NAME.jpg with caption/NAME.txt, a long caption each",
        load,
        (Param("folder", Path, "the folder that holds the folders image and caption"),),
        lambda folder: (folder / IMAGE).is_dir() and any((folder / CAPTION).glob("*.txt")),
    )
)
