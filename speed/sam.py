"""A training step with the semantic adaptive margin against the same step with the plain triplet loss.

The network is that of the experiments on Flickr8k: a linear map of 1,000 features, and a bag of words.
The triplet is karat's own, which has the same GPU kernels; a second peer is the usual few lines of PyTorch.
On a GPU steps are plain, as in anybody's loop, and recorded (CUDA graphs), as ``TrainingOptions(graph=True)``
takes them: medians of 500 by CUDA events. Elsewhere: of 5 plain steps, with the smaller batch alone.
KARAT_SAM_STEPS sets how many. All losses take each step in turns, so that a machine that slows down slows all
of them. Needs numpy and PyTorch alone.
"""

import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import torch
from _stopwatch import main, record, sized
from torch import Tensor, nn

from karat.training import Margins, SemanticAdaptiveMargin, TripletLoss
from karat.training.network import DualEncoder

CUDA = torch.cuda.is_available()
DEVICE = torch.device("cuda" if CUDA else "cpu")
STEPS = sized(int(os.environ.get("KARAT_SAM_STEPS", "500" if CUDA else "5")), 1)
WARM_UP = 50 if CUDA else 1
IMAGES, CAPTIONS = (6_000, 30_000) if CUDA else sized((600, 3_000), (60, 300))
FEATURES, WORDS, LENGTH = sized((1_000, 5_000, 20), (10, 50, 5))
LIMITS = {1_024: "at most 1.10 times", 128: "at most 0.15 ms more"}
SIZES = list(LIMITS) if CUDA else [128]


class UsualTriplet(nn.Module):
    """The triplet loss with the hardest negatives as it is usually written; equal images are not masked."""

    def forward(self, image: Tensor, text: Tensor, **_: Tensor) -> Tensor:
        """Return the loss of a batch."""
        scores = nn.functional.normalize(image, dim=1) @ nn.functional.normalize(text, dim=1).T
        positive = scores.diagonal().view(-1, 1)
        same = torch.eye(len(scores), device=scores.device) > 0.5
        by_image = (0.2 + scores - positive).clamp(min=0).masked_fill(same, 0)
        by_text = (0.2 + scores - positive.T).clamp(min=0).masked_fill(same, 0)
        return by_image.max(1)[0].sum() + by_text.max(0)[0].sum()


def batches(size: int) -> list[tuple[Tensor, ...]]:
    """Return batches of features, tokens, and numbers of images and captions, on the device."""
    made = []
    for _ in range(8):
        images = torch.randint(IMAGES, (size,))
        captions = 5 * images + torch.randint(5, (size,))
        tokens = torch.randint(1, WORDS, (size, LENGTH))
        made.append(
            tuple(part.to(DEVICE) for part in (torch.randn(size, FEATURES), tokens, images, captions))
        )
    return made


def stepper(loss: nn.Module, data: list[tuple[Tensor, ...]], recorded: bool) -> Callable[[int], None]:
    """Return a function that takes one step of training."""
    torch.manual_seed(1)
    network = DualEncoder((FEATURES,), WORDS).to(DEVICE)
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-4, fused=CUDA, capturable=recorded)
    # A recorded step reads its batch from the same place every time.
    here = tuple(part.clone() for part in data[0])

    def take(features: Tensor, tokens: Tensor, images: Tensor, captions: Tensor) -> None:
        optimiser.zero_grad(set_to_none=True)
        loss(*network(features, tokens), images=images, captions=captions).backward()
        optimiser.step()

    if not recorded:
        return lambda number: take(*data[number % len(data)])
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            take(*here)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        take(*here)

    def replay(number: int) -> None:
        for place, part in zip(here, data[number % len(data)]):
            place.copy_(part)
        graph.replay()

    # A recording does not hold the weights that it works on.
    return partial(lambda _, number: replay(number), take)


def times(steps: dict[str, Callable[[int], None]], count: int) -> dict[str, list[float]]:
    """Return the seconds of each step; on a GPU nothing waits in between."""
    marks: dict[str, list[tuple[Any, Any]]] = {name: [] for name in steps}
    for number in range(count):
        for name, step in steps.items():
            begin = mark()
            step(number)
            marks[name].append((begin, mark()))
    if not CUDA:
        return {name: [end - begin for begin, end in own] for name, own in marks.items()}
    torch.cuda.synchronize()
    return {name: [begin.elapsed_time(end) / 1_000 for begin, end in own] for name, own in marks.items()}


def mark() -> Any:
    """Return this moment: on a GPU, that at which it gets there."""
    if not CUDA:
        return time.perf_counter()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def measure() -> list[dict[str, Any]]:
    torch.manual_seed(0)
    table = torch.empty(IMAGES, CAPTIONS).exponential_(2).half()
    margins = Margins(table).to(DEVICE)
    losses = {"triplet": TripletLoss(), "usual triplet": UsualTriplet()} | {
        sampling: SemanticAdaptiveMargin(margins, sampling=sampling).to(DEVICE)
        for sampling in ("nearest", "furthest", "random")
    }
    where = torch.cuda.get_device_name() if CUDA else f"no GPU, {torch.get_num_threads()} threads"
    records = []
    for size, recorded in product(SIZES, (False, True) if CUDA else (False,)):
        data = batches(size)
        steps = {name: stepper(loss, data, recorded) for name, loss in losses.items()}
        times(steps, WARM_UP)
        median = {name: statistics.median(taken) for name, taken in times(steps, STEPS).items()}
        peers = {name: median.pop(name) for name in ("triplet", "usual triplet")}
        records += [
            record(
                f"SAM step, {sampling}{', recorded' if recorded else ''}",
                f"batch {size}",
                own,
                f"forward, backward, AdamW; median of {STEPS} steps: {own * 1e3:.3f} ms and "
                f"{plain * 1e3:.3f} ms, {own / plain:.3f} times, {(own - plain) * 1e3:+.3f} ms (limit: "
                f"{LIMITS[size]}); margins of {IMAGES:,} x {CAPTIONS:,}; {where}",
                peer=peer,
                theirs=plain,
            )
            for sampling, own in median.items()
            for peer, plain in peers.items()
        ]
    return records


if __name__ == "__main__":
    main(measure)
