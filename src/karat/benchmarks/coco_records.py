"""Records of COCO's json files: images, annotations and boxes, each checked where it is read."""

from __future__ import annotations

from karat._util import ID, LIST, NUMBER, Record, check_once


def by_id(records: list[Record], kind: str) -> dict[int | str, Record]:
    """Return records by their id, which must be unique."""
    ids = [record.get("id", ID) for record in records]
    if records:
        check_once(ids, f"{kind} id", lambda at: records[at].place, records[0].where)
    return dict(zip(ids, records))


def image_of_entry(entry: Record, images: dict[int | str, Record]) -> int | str:
    """Return the id of the image that an annotation belongs to."""
    image = entry.get("image_id", ID)
    if image not in images:
        raise entry.wrong(f"has the image_id {image}, which is not among the images", "fix it")
    return image


def size_of(image: Record, key: str) -> float:
    """Return an image's width or height."""
    size = image.get(key, NUMBER)
    if not 1 <= size < 1e9:
        raise image.wrong(f"has an impossible {key!r}", "give its pixels")
    return size


def box_of(entry: Record) -> list[float]:
    """Return left, top, width and height in pixels."""
    box = entry.get("bbox", LIST)
    good = len(box) == 4 and all(type(side) in (int, float) and abs(side) < 1e9 for side in box)
    if not good or min(box[2:]) < 0:
        raise entry.wrong("has no readable 'bbox'", "give [left, top, width, height] in pixels")
    return box
