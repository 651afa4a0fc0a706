"""Random scenes of instances and detections in COCO's form, and pycocotools' own evaluation of them."""

import contextlib
import io
import json

import numpy as np
from pycocotools import mask as tool
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

SIZE = 24


def runs_of(picture):
    """Return a mask as run lengths in text."""
    made = tool.encode(np.asfortranarray(picture.astype(np.uint8)))
    return {"size": list(made["size"]), "counts": made["counts"].decode()}


def blob(rng, around=None):
    """Return a random mask: a filled ellipse, or one near another mask."""
    y, x = np.mgrid[:SIZE, :SIZE]
    if around is None:
        cy, cx, ry, rx = *rng.uniform(4, 20, 2), *rng.uniform(2.5, 8, 2)
    else:
        ys, xs = np.nonzero(around)
        cy, cx = ys.mean() + rng.normal(scale=1), xs.mean() + rng.normal(scale=1)
        ry, rx = (np.ptp(ys) + 1) / 2 * rng.uniform(0.7, 1.3), (np.ptp(xs) + 1) / 2 * rng.uniform(0.7, 1.3)
    picture = ((y - cy) / ry) ** 2 + ((x - cx) / rx) ** 2 <= 1
    picture[int(np.clip(cy, 0, SIZE - 1)), int(np.clip(cx, 0, SIZE - 1))] = True
    return picture


def scene(seed, images=4, most=5, crowds=True, wild=True):
    """Return annotations and detections as COCO's files hold them; the last image is empty.

    `wild` adds ties of scores, duplicates, detections of nothing, and overlapping instances.
    """
    rng = np.random.default_rng(seed)
    annotations, detections = [], []
    for image in range(images - 1):
        pictures = []
        for _ in range(rng.integers(1, most + 1)):
            near = pictures[-1] if wild and pictures and rng.random() < 0.4 else None
            picture = blob(rng, near)
            pictures.append(picture)
            category = int(rng.integers(1, 4))
            made = runs_of(picture)
            annotations.append(
                {
                    "id": len(annotations) + 10,
                    "image_id": image + 1,
                    "category_id": category,
                    "iscrowd": int(crowds and rng.random() < 0.15),
                    "segmentation": made,
                    "bbox": tool.toBbox(made).tolist(),
                    "area": float(picture.sum()),
                }
            )
            for _ in range(rng.integers(0, 3 if wild else 2)):
                seen = blob(rng, picture)
                score = float(np.round(rng.random(), 1) if wild else rng.random())
                detections.append((image + 1, category, seen, score))
    if wild:
        for _ in range(3):
            detections.append((int(rng.integers(1, images + 1)), int(rng.integers(1, 4)), blob(rng), 0.5))
    content = {
        "images": [
            {"id": n + 1, "height": SIZE, "width": SIZE, "file_name": f"{n}.jpg"} for n in range(images)
        ],
        "categories": [{"id": n, "name": f"c{n}"} for n in (1, 2, 3)],
        "annotations": annotations,
    }
    results = [
        {"image_id": image, "category_id": category, "score": score, "segmentation": runs_of(picture)}
        for image, category, picture, score in detections
    ]
    return content, results


def write(folder, content, results, name="scene"):
    """Write both files and return their paths."""
    paths = folder / f"{name}_instances.json", folder / f"{name}_detections.json"
    for path, data in zip(paths, (content, results)):
        path.write_text(json.dumps(data), encoding="utf-8")
    return paths


def evaluated(content, results, boxes=(), kind="segm"):
    """Return pycocotools' AP [categories, thresholds], −1 without instances; fill the annotations `boxes`."""
    content = json.loads(json.dumps(content))
    for one in content["annotations"]:
        if one["id"] in boxes and not one["iscrowd"]:
            one["segmentation"] = tool.frPyObjects(np.array([one["bbox"]]), SIZE, SIZE)[0]
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = content
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(json.loads(json.dumps(results))), kind)
        evaluation.evaluate()
        evaluation.accumulate()
    return evaluation.eval["precision"][:, :, :, 0, 2].mean(axis=1).T
