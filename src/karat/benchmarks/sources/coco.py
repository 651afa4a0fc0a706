"""COCO's Karpathy test split, its captions and boxes, and four truths: coco-5k, coco-1k, CxC, ECCV Caption.

The ids and positives are read from the data files inside the PyPI package ``eccv_caption`` (Chun
et al., ECCV 2022; MIT). Its files list directed positives; all three truths were checked to be
consistent as undirected pairs. Two of ECCV Caption's positive captions (467259 and 144675) are not
among the 25,000 of the test split: they are kept as off-gallery ids and counted among the
positives, as the package itself does.
"""

from __future__ import annotations

import importlib.util
import json
from functools import partial
from pathlib import Path

import numpy as np

from karat._util import Arrays, Param, cached, missing, read_table, read_text
from karat.benchmarks.benchmark import RECALLS, Benchmark
from karat.benchmarks.ids import Ids
from karat.benchmarks.judgments import Judgments, Provenance, Share
from karat.benchmarks.objects import Objects
from karat.benchmarks.plausible_match import PlausibleMatch
from karat.benchmarks.registry import Source, find_file, register
from karat.benchmarks.sides import DIRECTIONS
from karat.benchmarks.sources.cxc import RATERS, RELEVANT_FROM, read_pairs
from karat.benchmarks.truth import Fold, Truth
from karat.errors import InputError

PACKAGE = "eccv_caption"
IDS = "coco_test_ids.npy"
TRUTHS = ("original", "cxc", "eccv")
SIDES = ("image_to_caption", "caption_to_image")
FOLDS = 5
ZETAS = (0, 1, 2)
CAPTIONS, BOXES = "coco_karpathy_test_captions.tsv", "coco_karpathy_test_boxes.json"
"""The files that the settings captions and boxes name; in the folder ``KARAT_DATA`` they lie below coco."""
COLUMNS = ("caption_id", "image_id", "caption_tokenised", "caption_raw")


def data_folder() -> Path:
    """Return the package's data folder; the package is located, not imported."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise missing(PACKAGE, ", whose data files hold COCO's truths,")
    return Path(spec.submodule_search_locations[0]) / "data"


def parse(folder: Path) -> Arrays:
    """Read the package's seven files into ids, and pairs and queries as indices into them."""
    captions = np.load(folder / IDS, allow_pickle=False)
    listed = {
        (truth, side): {
            int(query): [int(item) for item in items]
            for query, items in json.loads((folder / f"{truth}_{side}.json").read_text()).items()
        }
        for truth in TRUTHS
        for side in SIDES
    }
    image_of = {caption: images[0] for caption, images in listed["original", "caption_to_image"].items()}
    image_ids = Ids(dict.fromkeys(image_of[caption] for caption in captions.tolist()), kind="image")
    mentioned = {c for items in listed["eccv", "image_to_caption"].values() for c in items}
    extra = sorted(mentioned - set(captions.tolist()))
    caption_ids = Ids(captions, extra, kind="caption")
    arrays: Arrays = {"images": image_ids.gallery, "captions": captions, "extra": np.array(extra, np.int64)}
    arrays["caption_image"] = image_ids.index([image_of[caption] for caption in captions.tolist()])
    for truth in TRUTHS:
        forward, backward = (listed[truth, side] for side in SIDES)
        pairs = {(image, caption) for image, items in forward.items() for caption in items}
        pairs |= {(image, caption) for caption, items in backward.items() for image in items}
        image, caption = np.array(sorted(pairs)).T
        arrays[f"{truth}_image"] = image_ids.index(image).astype(np.int32)
        arrays[f"{truth}_caption"] = caption_ids.index(caption).astype(np.int32)
        arrays[f"{truth}_i2t"] = np.sort(image_ids.index(list(forward))).astype(np.int32)
        arrays[f"{truth}_t2i"] = np.sort(caption_ids.index(list(backward))).astype(np.int32)
    return arrays


def load(
    cxc_ratings: Path | None = None, captions: Path | None = None, boxes: Path | None = None
) -> Benchmark:
    """Build the benchmark."""
    folder = data_folder()
    parsed = cached("coco", [folder / IDS, *(folder / f"{t}_{s}.json" for t in TRUTHS for s in SIDES)],
                    lambda: parse(folder))  # fmt: skip
    files = [f"COCO_val2014_{image:012d}.jpg" for image in parsed["images"].tolist()]
    image_ids = Ids(parsed["images"], kind="image", files=files)
    caption_ids = Ids(parsed["captions"], extra=parsed["extra"], kind="caption")
    caption_image = parsed["caption_image"]

    def truth(
        name: str, files: str, about: str, judgments: Judgments | None = None, folds: list[Fold] | None = None
    ) -> Truth:
        listed = Judgments(parsed[f"{files}_image"], parsed[f"{files}_caption"], sources=[Provenance(files)])
        queries = {d: parsed[f"{files}_{d}"] for d in DIRECTIONS}
        return Truth(
            name, listed if judgments is None else judgments, queries, folds=folds or (), about=about
        )

    truths = [
        truth("coco-5k", "original", "each caption belongs to the image it was written for"),
        truth(
            "coco-1k",
            "original",
            "the same in five folds of 1,000 images, averaged",
            folds=list(thousands(caption_image)),
        ),
    ]
    about_cxc = "Crisscrossed Captions, rating 3 or more of 5 (Parekh et al. 2021)"
    if cxc_ratings is None:
        truths.append(truth("cxc", "cxc", about_cxc))
    else:
        image, caption, rating = read_pairs(cxc_ratings)
        image, caption = image_ids.index(image, cxc_ratings), caption_ids.index(caption, cxc_ratings)
        binary = Judgments(image, caption, rating=rating, sources=[RATERS])
        graded = binary.remap("cxc", Share(top=5, least=RELEVANT_FROM))
        truths.append(truth("cxc", "cxc", about_cxc, binary))
        truths.append(truth("cxc-graded", "cxc", "the same with grade rating / 5", graded))
    truths.append(truth("eccv", "eccv", "ECCV Caption, human and machine verified (Chun et al. 2022)"))

    objects = None if boxes is None else read_boxes(boxes, image_ids)

    def plausible(zeta: int) -> Truth:
        boxed = objects or read_boxes(find_file("coco", "boxes", BOXES), image_ids)
        return Truth(
            f"pm(z={zeta})",
            None,
            {"i2t": np.arange(image_ids.size), "t2i": np.arange(caption_ids.size)},
            rule=PlausibleMatch(boxed.class_vectors(image_ids.size), caption_image, zeta),
            about=f"Plausible Match: at most {zeta} object classes differ (Chun et al. 2021)",
        )

    if objects is not None:
        truths += [plausible(zeta) for zeta in ZETAS]

    return Benchmark(
        "coco",
        image_ids,
        caption_ids,
        {t.name: t for t in truths},
        caption_image=caption_image,
        texts=None if captions is None else read_captions(captions, caption_ids),
        objects=objects,
        find_texts=lambda: read_captions(find_file("coco", "captions", CAPTIONS), caption_ids),
        find_objects=lambda: read_boxes(find_file("coco", "boxes", BOXES), image_ids),
        find_truths={f"pm(z={zeta})": partial(plausible, zeta) for zeta in ZETAS},
        defaults={
            "coco-5k": RECALLS,
            "coco-1k": RECALLS,
            "cxc": RECALLS,
            "cxc-graded": (),
            "eccv": ("R@1", "RP", "mAP@R"),
            "pm(z=0)": (),
            "pm(z=1)": (),
            "pm(z=2)": ("RP(cut=50)",),
        },
        about="COCO Caption, Karpathy test split (Lin et al. 2014; Karpathy and Fei-Fei 2015)",
    )


def thousands(caption_image: np.ndarray) -> list[Fold]:
    """Return five folds: consecutive fifths of the captions and the images they were written for."""
    folds = []
    for number, captions in enumerate(np.array_split(np.arange(len(caption_image)), FOLDS)):
        folds.append(Fold(str(number + 1), np.unique(caption_image[captions]), captions))
    return folds


def read_captions(path: Path, captions: Ids) -> list[str]:
    """Return the raw captions in the order of `captions`.

    The file is a tsv with the columns caption_id, image_id, caption_tokenised and caption_raw.
    """
    ids, _, _, texts = read_table(Path(path), COLUMNS)
    row = captions.arrangement(ids, path)
    return [texts[k] for k in row.tolist()]


def read_boxes(path: Path, images: Ids) -> Objects:
    """Return the objects of every image.

    The file is ``{"categories": [names], "images": {image id: [[category, x, y, width, height], …]}}``
    with centres and sizes as shares of the image.
    """
    try:
        content = json.loads(read_text(Path(path)))
        names = [str(name) for name in content["categories"]]
        rows = [(image, *box) for image, boxes in content["images"].items() for box in boxes]
        table = np.array([row[1:] for row in rows], dtype=np.float64).reshape(len(rows), 5)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"is not a file of boxes ({type(error).__name__}: {error})",
            where=path,
            fix='give {"categories": […], "images": {id: [[category, x, y, width, height], …]}}',
        ) from None
    image = images.index([row[0] for row in rows], path)
    centre, size = table[:, 1:3], table[:, 3:5]
    return Objects(tuple(names), image, table[:, 0], np.hstack([centre - size / 2, size]))


register(
    Source(
        "coco",
        "COCO Caption, Karpathy test split, with the truths coco-5k, coco-1k, cxc and eccv",
        load,
        (
            Param("cxc_ratings", Path, "sits_test.csv of Crisscrossed Captions: adds judged negatives", None),
            Param(
                "captions",
                Path,
                f"{CAPTIONS}: adds the captions themselves",
                None,
            ),
            Param("boxes", Path, f"{BOXES}: adds objects and Plausible Match", None),
        ),
        sizes=((5000, 25000),),
    )
)
