"""Near-duplicate pictures: reading and comparing them, against ImageHash where it is installed."""

import tempfile
from itertools import combinations
from pathlib import Path
from typing import Any

from _stopwatch import in_own_process, main, peer_side, record, sized, timed

IMAGES = sized(500, 10)


def draw(folder: Path) -> list[Path]:
    """Draw pictures, and return their files."""
    from karat.world import make_world

    make_world(IMAGES, captions=1, seed=2).save(folder / "world")
    return sorted((folder / "world").rglob("*.png"))


def karat() -> dict[str, float]:
    from karat.duplicates import PicturePrints, picture_duplicates
    from karat.duplicates.pictures import read_prints

    with tempfile.TemporaryDirectory() as folder:
        paths = draw(Path(folder))
        return {"s": timed(lambda: picture_duplicates(PicturePrints(**read_prints(paths))))}


def imagehash() -> dict[str, float]:
    import imagehash as peer
    from PIL import Image

    def compare(paths: list[Path]) -> None:
        hashes = [peer.phash(Image.open(path)) for path in paths]
        [pair for pair in combinations(hashes, 2) if pair[0] - pair[1] <= 6]

    with tempfile.TemporaryDirectory() as folder:
        paths = draw(Path(folder))
        return {"s": timed(lambda: compare(paths))}


def measure() -> list[dict[str, Any]]:
    return [
        record(
            "near-duplicate pictures",
            f"{IMAGES} pictures",
            in_own_process(__file__, "karat"),
            "karat: files read on all cores, outlines, all pairs by cosine; ImageHash: pHash of 64 bits, one "
            "core, all pairs by its own difference",
            peer="ImageHash",
            theirs=peer_side("imagehash", __file__, "imagehash"),
        )
    ]


if __name__ == "__main__":
    main(measure, {"karat": karat, "imagehash": imagehash})
