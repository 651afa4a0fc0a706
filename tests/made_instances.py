"""A few pictures with ellipses, their instances in COCO's form, and detections of them."""

import json
from pathlib import Path

import numpy as np

WIDTH, HEIGHT = 160, 120
NAMES = ("cat", "dog")


def ellipse(x: float, y: float, rx: float, ry: float) -> np.ndarray:
    """Return the pixels of an ellipse."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    return ((columns - x) / rx) ** 2 + ((rows - y) / ry) ** 2 <= 1


def runs_of(mask: np.ndarray) -> list[int]:
    """Return a mask as run lengths, column by column, background first."""
    flat = np.r_[False, mask.T.ravel(), False]
    edges = np.flatnonzero(flat[1:] != flat[:-1])
    return np.diff(np.r_[0, edges, mask.size]).tolist()


def write_instances(folder: Path, images: int = 6, seed: int = 1) -> tuple[Path, Path, Path]:
    """Write pictures, instances (ids from 100) and detections; every picture shows one kind of object.

    The mask of every third instance is shifted: it does not fit, and its box does.
    """
    from PIL import Image

    rng = np.random.default_rng(seed)
    pictures = folder / "pictures"
    pictures.mkdir(parents=True)
    annotations, detections = [], []
    for image in range(images):
        pixels = np.full((HEIGHT, WIDTH, 3), 200, np.uint8)
        for x in (45, 115):
            number = len(annotations)
            y, rx, ry = rng.uniform(50, 70), rng.uniform(18, 26), rng.uniform(22, 38)
            seen = ellipse(x, y, rx, ry)
            pixels[seen] = (90, 60, 40) if image % 2 else (60, 70, 110)
            mask = ellipse(x + 14, y, rx, ry) if number % 3 == 2 else seen
            ys, xs = np.nonzero(seen)
            box = [int(xs.min()), int(ys.min()), int(np.ptp(xs)) + 1, int(np.ptp(ys)) + 1]
            kind = {"image_id": image + 1, "category_id": image % 2 + 1}
            shape = {"size": [HEIGHT, WIDTH], "counts": runs_of(mask)}
            annotations.append({**kind, "id": 100 + number, "iscrowd": 0, "bbox": box, "segmentation": shape})
            found = ellipse(x + rng.normal(0, 3), y + rng.normal(0, 3), rx * rng.uniform(0.7, 1.3), ry)
            shape = {"size": [HEIGHT, WIDTH], "counts": runs_of(found)}
            detections.append({**kind, "score": float(rng.random()), "segmentation": shape})
        Image.fromarray(pixels).save(pictures / f"{image + 1}.png")
    content = {
        "images": [
            {"id": n + 1, "width": WIDTH, "height": HEIGHT, "file_name": f"{n + 1}.png"}
            for n in range(images)
        ],
        "categories": [{"id": n + 1, "name": name} for n, name in enumerate(NAMES)],
        "annotations": annotations,
    }
    paths = folder / "instances.json", folder / "detections.json"
    for path, data in zip(paths, (content, detections)):
        path.write_text(json.dumps(data), encoding="utf-8")
    return *paths, pictures
