"""The dual encoder: an image side over features or pixels, a text side over words, one common space."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from karat._util import Registry
from karat.errors import InputError
from karat.training.vocabulary import PADDING, UNKNOWN


@dataclass(frozen=True)
class NetworkOptions:
    """The size of a dual encoder.

    Parameters
    ----------
    text
        The text side: one of `TEXT_SIDES`, or several joined by ``+``, whose outputs are added.
    dimensions
        Of the common space.
    hidden
        The width of the image side's hidden layer; 0: a linear map.
    word_dimensions
        Of the vector of a word.
    dropout, image_dropout, word_dropout
        The share of hidden values, of the image's features and of words that are dropped in training.
    """

    text: str = "bag"
    dimensions: int = 512
    hidden: int = 0
    word_dimensions: int = 300
    dropout: float = 0.5
    image_dropout: float = 0.2
    word_dropout: float = 0.1

    def __post_init__(self) -> None:
        for side in self.text.split("+"):
            TEXT_SIDES[side]
        for name in ("dimensions", "word_dimensions"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}", fix="give 1 or more")
        for name in ("dropout", "image_dropout", "word_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}", fix="give a share from 0 to below 1")


class BagSide(nn.Module):
    """The weighted mean of a caption's words, then a linear map; each word has a weight of its own."""

    def __init__(self, words: int, options: NetworkOptions) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(words))
        self.map = nn.Linear(options.word_dimensions, options.dimensions)
        self.dropout = nn.Dropout(options.dropout)

    def forward(self, numbers: Tensor, vectors: Tensor) -> Tensor:
        """Return one row per caption."""
        weight = self.weight[numbers].masked_fill(numbers == PADDING, 0)
        mean = (weight[:, None] @ vectors).squeeze(1) / weight.abs().sum(1, keepdim=True).clamp(min=1e-3)
        return self.map(self.dropout(mean))


class GRUSide(nn.Module):
    """The highest value of each state of a GRU over a caption's words."""

    def __init__(self, words: int, options: NetworkOptions) -> None:
        super().__init__()
        self.gru = nn.GRU(options.word_dimensions, options.dimensions, batch_first=True)
        self.map = nn.Linear(options.dimensions, options.dimensions)
        self.dropout = nn.Dropout(options.dropout)

    def forward(self, numbers: Tensor, vectors: Tensor) -> Tensor:
        """Return one row per caption."""
        states, _ = self.gru(self.dropout(vectors))
        states = states.masked_fill((numbers == PADDING)[..., None], -1)
        return self.map(self.dropout(states.amax(1)))


class TransformerSide(nn.Module):
    """The mean of the outputs of a small Transformer over a caption's words."""

    def __init__(self, words: int, options: NetworkOptions, layers: int = 2, heads: int = 4) -> None:
        super().__init__()
        width = options.dimensions
        if width % heads:
            raise InputError(f"dimensions is {width}", fix=f"give a multiple of {heads} for a Transformer")
        self.enter = nn.Linear(options.word_dimensions, width)
        layer = nn.TransformerEncoderLayer(
            width, heads, 2 * width, options.dropout, activation="gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)

    def forward(self, numbers: Tensor, vectors: Tensor) -> Tensor:
        """Return one row per caption."""
        padded = numbers == PADDING
        # A caption without words has one to look at: all masked would give NaN.
        padded = padded & ~padded.all(1, keepdim=True)
        length, width = numbers.shape[1], self.norm.normalized_shape[0]
        states = self.enter(vectors) + positions(length, width, vectors)
        states = self.norm(self.layers(states, src_key_padding_mask=padded))
        kept = (~padded)[..., None].to(states.dtype)
        return (states * kept).sum(1) / kept.sum(1)


def positions(length: int, width: int, like: Tensor) -> Tensor:
    """Return the sines and cosines of Vaswani et al. (2017) for the places of words, [length, width]."""
    rate = torch.exp(torch.arange(0, width, 2, device=like.device) * (-math.log(10_000) / width))
    angle = torch.arange(length, device=like.device)[:, None] * rate
    return torch.stack((angle.sin(), angle.cos()), 2).flatten(1)[:, :width].to(like.dtype)


TEXT_SIDES: Registry[Callable[[int, NetworkOptions], nn.Module]] = Registry(
    "text side", group="karat.text_sides"
)
for _name, _side in (("bag", BagSide), ("gru", GRUSide), ("transformer", TransformerSide)):
    TEXT_SIDES.add(_name, _side)


class PixelSide(nn.Module):
    """Four convolutions over pixels, [N, 3, height, width] of 0 to 255."""

    def __init__(self, options: NetworkOptions) -> None:
        super().__init__()
        widths = (3, 32, 64, 128, 256)
        layers: list[nn.Module] = []
        for before, after in pairwise(widths):
            layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.GroupNorm(8, after), nn.GELU()]
        self.layers = nn.Sequential(*layers)
        self.map = nn.Linear(widths[-1], options.dimensions)
        self.dropout = nn.Dropout(options.image_dropout)

    def forward(self, pixels: Tensor) -> Tensor:
        """Return one row per picture."""
        states = self.layers(pixels.to(self.map.weight.dtype) / 127.5 - 1)
        return self.map(self.dropout(states.mean((2, 3))))


class FeatureSide(nn.Module):
    """A linear map of features, or one hidden layer; features are centred and scaled first."""

    def __init__(self, width: int, options: NetworkOptions) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("scale", torch.ones(()))
        self.dropout = nn.Dropout(options.image_dropout)
        if options.hidden:
            self.map: nn.Module = nn.Sequential(
                nn.Linear(width, options.hidden), nn.ReLU(), nn.Dropout(options.dropout),
                nn.Linear(options.hidden, options.dimensions),
            )  # fmt: skip
        else:
            self.map = nn.Linear(width, options.dimensions)

    mean: Tensor
    scale: Tensor

    def learn_scale(self, features: Tensor) -> None:
        """Take the mean of training features, and one scale for all: columns keep their proportions."""
        self.mean.copy_(features.mean(0))
        self.scale.copy_((features - features.mean(0)).square().mean().sqrt().clamp(min=1e-12))

    def forward(self, features: Tensor) -> Tensor:
        """Return one row per image."""
        return self.map(self.dropout((features - self.mean) / self.scale))


class DualEncoder(nn.Module):
    """Two encoders into one space, where cosines compare images with captions.

    Parameters
    ----------
    shape
        The shape of an image's features: (width,), or (3, height, width) for pixels.
    words
        How many numbers of words there are: ``len(vocabulary)``.
    options
        Its size.

    Examples
    --------
    >>> network = DualEncoder((10,), 50, NetworkOptions(dimensions=8, word_dimensions=6)).eval()
    >>> network.images(torch.ones(2, 10)).shape, network.captions(torch.tensor([[4, 2, 0]])).shape
    (torch.Size([2, 8]), torch.Size([1, 8]))
    """

    def __init__(self, shape: tuple[int, ...], words: int, options: NetworkOptions | None = None) -> None:
        super().__init__()
        self.shape, self.words = tuple(map(int, shape)), int(words)
        self.options = options or NetworkOptions()
        if len(self.shape) == 1:
            self.image_side: FeatureSide | PixelSide = FeatureSide(self.shape[0], self.options)
        elif len(self.shape) == 3 and self.shape[0] == 3:
            self.image_side = PixelSide(self.options)
        else:
            raise InputError(
                f"an image's features have the shape {self.shape}",
                fix="give features [images, numbers] or pixels [images, 3, height, width]",
            )
        self.embedding = nn.Embedding(words, self.options.word_dimensions, padding_idx=PADDING)
        nn.init.normal_(self.embedding.weight, std=0.1)
        with torch.no_grad():
            self.embedding.weight[PADDING] = 0
        self.text_sides = nn.ModuleList(
            TEXT_SIDES[side](words, self.options) for side in self.options.text.split("+")
        )

    def images(self, features: Tensor) -> Tensor:
        """Return the vectors of images, of length 1."""
        return functional.normalize(self.image_side(features), dim=1)

    def captions(self, numbers: Tensor) -> Tensor:
        """Return the vectors of captions, given as numbers of words, of length 1."""
        if self.training and self.options.word_dropout:
            dropped = torch.rand(numbers.shape, device=numbers.device) < self.options.word_dropout
            numbers = numbers.masked_fill(dropped & (numbers != PADDING), UNKNOWN)
        vectors = self.embedding(numbers)
        sides = [side(numbers, vectors) for side in self.text_sides]
        return functional.normalize(torch.stack(sides).sum(0) if len(sides) > 1 else sides[0], dim=1)

    def forward(self, features: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vectors of images and of captions."""
        return self.images(features), self.captions(numbers)

    def describe(self) -> dict[str, Any]:
        """Return what makes a network of the same shape: see `from_description`."""
        return {"shape": list(self.shape), "words": self.words, "options": asdict(self.options)}

    @classmethod
    def from_description(cls, description: dict[str, Any]) -> DualEncoder:
        """Return a network with new weights."""
        options = NetworkOptions(**description["options"])
        return cls(tuple(description["shape"]), description["words"], options)
