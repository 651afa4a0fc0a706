"""The meter of a training loop against torchmetrics' retrieval metrics, on the same tensors.

torchmetrics is not among karat's requirements: ``pip install torchmetrics``. Without it the peer's columns
stay empty. KARAT_METER_IMAGES sets the number of images of the first record, 1,000 by default.
"""

import os

import numpy as np
import torch
from _made import own_captions
from _stopwatch import in_own_process, main, median_time, peak_mb, peer_side, record, sized, timed

import karat

IMAGES = sized(int(os.environ.get("KARAT_METER_IMAGES", "1000")), 20)
ALL = sized(5_000, 40)
PER_IMAGE, WIDTH, BATCH = 5, 512, sized(256, 32)
DEPTHS = (1, 5, 10)


def vectors(images: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return unit vectors of a model that finds about half."""
    random = torch.Generator().manual_seed(1)
    pictures = torch.randn(images, WIDTH, generator=random)
    texts = pictures.repeat_interleave(PER_IMAGE, 0)
    texts = texts + 8 * torch.randn(texts.shape, generator=random)
    return tuple(torch.nn.functional.normalize(table) for table in (pictures, texts))


def validate(meter: karat.Meter, pictures: torch.Tensor, texts: torch.Tensor) -> dict[str, float]:
    """Do what a validation loop does."""
    meter.reset()
    for side, table in (("images", pictures), ("texts", texts)):
        for begin, part in enumerate(table.split(BATCH)):
            meter.update(**{side: part}, ids=range(begin * BATCH, begin * BATCH + len(part)))
    return meter.compute()


def ours(images: int) -> dict[str, float]:
    tables, meter = vectors(images), karat.Meter(own_captions(np.repeat(np.arange(images), PER_IMAGE)))
    values = validate(meter, *tables)
    return {"s": median_time(lambda: validate(meter, *tables)), "mb": peak_mb(), **values}


def theirs() -> dict[str, float]:
    from torchmetrics import MetricCollection
    from torchmetrics.retrieval import RetrievalHitRate

    pictures, texts = vectors(IMAGES)
    owner = torch.arange(IMAGES).repeat_interleave(PER_IMAGE)
    values = {}

    def work() -> None:
        for direction in ("i2t", "t2i"):
            scores = pictures @ texts.T
            right = owner == torch.arange(IMAGES)[:, None]
            if direction == "t2i":
                scores, right = scores.T, right.T
            query = torch.arange(len(scores))[:, None].expand(scores.shape)
            metrics = {f"{direction}/R@{k}": RetrievalHitRate(top_k=k) for k in DEPTHS}
            # The three share what they collect.
            collection = MetricCollection(metrics, compute_groups=[list(metrics)])
            for rows, relevant, queries in zip(*(table.split(BATCH) for table in (scores, right, query))):
                collection.update(rows.reshape(-1), relevant.reshape(-1), indexes=queries.reshape(-1))
            values.update({name: float(value) for name, value in collection.compute().items()})

    return {"s": timed(work), "mb": peak_mb(), **values}


def measure() -> list[dict]:
    karat_side, whole = in_own_process(__file__, "karat"), in_own_process(__file__, "whole")
    peer = peer_side("torchmetrics", __file__, "peer")
    what = (
        f"a validation loop with {WIDTH} dimensions: batches of {BATCH} vectors by id, then R@1, R@5, R@10, "
        "MedR and RSUM of both directions; the peer gets all products by query, and gives the six recalls"
    )
    if peer:
        names = [f"{direction}/R@{k}" for direction in ("i2t", "t2i") for k in DEPTHS]
        apart = max(abs(peer[name] - karat_side[name]) for name in names)
        what += f"; the six recalls differ by {apart:.1g} at most"
    more = "the same loop; the peer would keep 125 million scores with their labels and queries"
    name, size = "torchmetrics RetrievalHitRate", f"{IMAGES} x {PER_IMAGE * IMAGES}"
    return [
        record("meter", size, karat_side, what, peer=name, theirs=peer),
        record("meter, as many as COCO", f"{ALL} x {PER_IMAGE * ALL}", whole, more),
    ]


if __name__ == "__main__":
    main(measure, {"karat": lambda: ours(IMAGES), "whole": lambda: ours(ALL), "peer": theirs})
