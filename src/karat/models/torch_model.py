"""A dual encoder of PyTorch as a model: batches, pictures read ahead, memory that does not suffice.

What a library brings (how a picture and a text are prepared, and what computes their vectors) is
`TorchParts`; everything else is the same for all libraries.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from karat._util import check_choice, thread_count
from karat.errors import InputError
from karat.models.encoder import Encoded
from karat.models.local_files import version_of
from karat.models.pixels import open_picture
from karat.runs import Fact

if TYPE_CHECKING:
    import torch

Inputs = dict[str, "torch.Tensor"]
"""What a network takes, by the names of its arguments; the first dimension counts the items."""
BATCH = 64
PRECISIONS = ("float32", "bfloat16", "float16")
DEVICES = ("auto", "cpu", "cuda")
SETTINGS = ("precision", "device", "batch")
"""The settings that every kind of these models takes."""
PICTURE_FACTS: dict[str, Fact] = {
    "image.exif": "applied",
    "image.transparency": "dropped",
    "image.colour": "RGB",
}
"""How files of pictures are read, before a library prepares them."""


@dataclass(frozen=True, eq=False)
class TorchParts:
    """What a library brings.

    Parameters
    ----------
    network
        The network, with its weights.
    picture
        Prepares one picture of Pillow, RGB.
    texts
        Prepares texts, and says which of them were cut.
    embed_images, embed_texts
        Return one vector per item.
    """

    network: torch.nn.Module
    picture: Callable[[Any], Inputs]
    texts: Callable[[list[str]], tuple[Inputs, Sequence[bool]]]
    embed_images: Callable[[Inputs], torch.Tensor]
    embed_texts: Callable[[Inputs], torch.Tensor]


class TorchModel:
    """A model of pictures and texts that is loaded when an item has to be encoded, and not before.

    Parameters
    ----------
    load
        Returns what the library brings.
    precision
        "float32", "bfloat16" or "float16": of the weights and of what is computed.
    device
        "cpu", "cuda", or "auto" for a GPU where there is one.
    batch
        How many items are computed at a time. It is halved where the memory does not suffice, and stays so.
    """

    def __init__(
        self,
        load: Callable[[], TorchParts],
        precision: str = "float32",
        device: str = "auto",
        batch: int = BATCH,
    ) -> None:
        self.load = load
        self.precision = check_choice(precision, PRECISIONS, "precision")
        self.device = find_device(device)
        self.batch = batch

    @cached_property
    def parts(self) -> TorchParts:
        """What the library brings, with the network on its device."""
        import torch

        parts = self.load()
        parts.network.to(self.device, getattr(torch, self.precision)).eval()
        return parts

    def facts(self) -> dict[str, Fact]:
        """Return how the numbers are computed."""
        return {"precision": self.precision, "device": self.device}

    def encode_images(self, paths: Sequence[Any]) -> torch.Tensor:
        """Return one row per picture; the next pictures are read while the network computes."""
        parts, rows = self.parts, []
        with ThreadPoolExecutor(max(2, thread_count())) as pool:
            ready = read_ahead(pool, lambda path: parts.picture(open_picture(path)), paths, 3 * self.batch)
            while batch := list(islice(ready, self.batch)):
                rows.append(self.compute(parts.embed_images, joined(batch)))
        return concatenated(rows)

    def encode_texts(self, texts: Sequence[str]) -> Encoded:
        """Return one row per text, and which texts were cut."""
        parts, rows, cut = self.parts, [], list[bool]()
        begin = 0
        while begin < len(texts):
            batch = list(texts[begin : begin + self.batch])
            inputs, too_long = parts.texts(batch)
            rows.append(self.compute(parts.embed_texts, inputs))
            cut.extend(too_long)
            begin += len(batch)
        return Encoded(concatenated(rows), cut)

    def compute(self, embed: Callable[[Inputs], torch.Tensor], inputs: Inputs) -> torch.Tensor:
        """Return the vectors of a batch as float32 on the CPU; in halves where the memory is too small."""
        import torch

        size = len(next(iter(inputs.values())))
        try:
            with torch.inference_mode():
                return embed(self.moved(inputs)).float().cpu()
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            if size == 1:
                fix = "choose --device cpu, or --precision bfloat16"
                raise InputError(
                    f"the memory of {self.device} does not suffice for one item", fix=fix
                ) from None
        # Outside of the handler, whose error holds on to the tensors of the failed attempt.
        if self.device == "cuda":
            torch.cuda.empty_cache()
        half = -(-size // 2)
        self.batch = min(self.batch, half)
        halves = [{name: table[:half] for name, table in inputs.items()},
                  {name: table[half:] for name, table in inputs.items()}]  # fmt: skip
        return torch.cat([self.compute(embed, part) for part in halves])

    def moved(self, inputs: Inputs) -> Inputs:
        """Return inputs on the device; pixels, not the numbers of words, in the precision."""
        import torch

        dtype = getattr(torch, self.precision)
        return {
            name: table.to(self.device, dtype if table.is_floating_point() else None)
            for name, table in inputs.items()
        }


def find_device(device: str) -> str:
    """Return the kind of device; a build of torch for the CPU alone need not be imported for it."""
    check_choice(device, DEVICES, "device")
    if device == "cpu" or (device == "auto" and "+cpu" in version_of("torch")):
        return "cpu"
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if device == "cuda":
        raise InputError("torch finds no GPU", fix="choose --device cpu")
    return "cpu"


def is_out_of_memory(error: Exception) -> bool:
    """Whether the memory of the device, or of the machine, did not suffice."""
    import torch

    text = str(error)
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in text or "can't allocate" in text


def read_ahead(
    pool: ThreadPoolExecutor, read: Callable[[Any], Inputs], paths: Sequence[Any], ahead: int
) -> Iterator[Inputs]:
    """Yield what is read of each path, in order, while up to `ahead` further ones are being read."""
    rest, waiting = iter(paths), deque[Future[Inputs]]()
    try:
        for path in islice(rest, ahead):
            waiting.append(pool.submit(read, path))
        while waiting:
            ready = waiting.popleft().result()
            for path in islice(rest, 1):
                waiting.append(pool.submit(read, path))
            yield ready
    finally:
        # After an error nobody needs them.
        for future in waiting:
            future.cancel()


def joined(items: Sequence[Mapping[str, torch.Tensor]]) -> Inputs:
    """Return the inputs of several items as one, or raise where they have different sizes."""
    import torch

    for name, table in items[0].items():
        other = next((item[name] for item in items if item[name].shape != table.shape), table)
        if other is not table:
            shapes = " and ".join(" x ".join(map(str, each.shape[1:])) for each in (table, other))
            fix = "switch on resizing and cropping in the model's preprocessor_config.json"
            raise InputError(f"pictures are prepared in different sizes ({shapes})", fix=fix)
    return {name: torch.cat([item[name] for item in items]) for name in items[0]}


def concatenated(rows: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return vectors of batches as one table."""
    import torch

    return torch.cat(list(rows)) if rows else torch.empty(0, 0)


def listed(values: Any) -> str:
    """Return one number, or several, as a fact.

    >>> listed(224), listed((0.5, 0.25))
    ('224', '0.5, 0.25')
    """
    several = values if isinstance(values, list | tuple) else (values,)
    return ", ".join(f"{value:.10g}" if isinstance(value, float) else str(value) for value in several)
