"""What `karat train` makes: a dual encoder, its vocabulary and what reads pictures for it, as a folder."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import TEXT_FORMATS, Result, extra, fill_folder, parsing, read_head, require, write_file
from karat.baselines.images import ImageFeatures
from karat.errors import InputError, MissingDataError
from karat.models import MODEL_FORMATS, MODEL_HEAD, decode_image
from karat.training.image_input import CountProjection
from karat.training.vocabulary import CaptionVocabulary, split_words

if TYPE_CHECKING:
    from karat.training.network import DualEncoder

FORMAT, VERSION = "karat-trained-model", 1
MOST_WORDS, MOST_PIXELS = 1 << 12, 1 << 10
"""How many words of a caption, and pixels of a side of a picture, a model reads at most."""
WEIGHTS, PROJECTION = "weights.safetensors", "projection.safetensors"
INPUTS = ("counts", "pixels", "features")
AGAIN = "write it again with karat train"


@dataclass(frozen=True)
class TrainingSummary(Result):
    """How a training went.

    Parameters
    ----------
    history
        One record per epoch: its number, the mean loss, the dev scores in percent.
    measure
        The dev score by which an epoch was kept.
    encodes
        Whether the model encodes pictures: not one that was trained on features of a file.
    folder
        Where the model was written.
    notes
        What a reader should know.
    """

    history: tuple[dict[str, float], ...] = field(repr=False)
    measure: str
    encodes: bool = True
    folder: Path | None = None
    notes: tuple[str, ...] = ()
    formats = TEXT_FORMATS

    def records(self) -> list[dict[str, Any]]:
        """Return one record per epoch."""
        return [dict(record) for record in self.history]

    def parts(self) -> list[str]:
        """Return which epoch was kept, where the model is, and what to do next."""
        best = max(self.history, key=lambda record: record[self.measure])
        lines = [f"kept epoch {best['epoch']:.0f}: dev {self.measure} {best[self.measure]:.1f}"]
        if self.folder is not None:
            lines.append(f"wrote {self.folder}")
            if self.encodes:
                place = shlex.quote(str(self.folder))
                lines.append(f"try: karat encode {place} -b BENCHMARK -o run.npz")
        return ["\n".join(lines)]


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A trained dual encoder: pictures and captions in, vectors of length 1 out.

    Parameters
    ----------
    network
        The encoder, in evaluation mode.
    vocabulary
        Its words.
    image_input
        What the image side reads: "counts" of visual words, "pixels", or "features" of a file.
    image_features, projection
        For "counts", what counts visual words, and the components that are taken of them.
    history
        One record per epoch: its number, the mean loss, the dev scores in percent.
    notes
        What you should know about the training.
    measure, folder
        The dev score by which an epoch was kept, and where `karat.train` wrote the model.
    """

    network: DualEncoder
    vocabulary: CaptionVocabulary
    image_input: str
    image_features: ImageFeatures | None = None
    projection: CountProjection | None = None
    history: list[dict[str, float]] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    measure: str = "RSUM"
    folder: Path | None = None

    def summary(self) -> TrainingSummary:
        """Return how the dev score went, and which epoch was kept."""
        return TrainingSummary(
            tuple(self.history), self.measure, self.image_input != "features", self.folder, self.notes
        )

    def encode_images(self, images: Sequence[Any]) -> np.ndarray:
        """Return the vectors of pictures, given as files."""
        if self.image_input == "counts":
            assert self.image_features is not None
            assert self.projection is not None
            return self.encode_features(self.projection.transform(self.image_features.transform(images)))
        if self.image_input == "pixels":
            return self.encode_features(read_pixels(images, self.network.shape[-1]))
        raise InputError(
            "the model was trained on features of a file, which it cannot make from pictures",
            fix="call its encode_features with the features of the same kind",
        )

    def encode_features(self, features: np.ndarray) -> np.ndarray:
        """Return the vectors of images, given as what the network reads."""
        import torch

        table = torch.as_tensor(np.asarray(features))
        if tuple(table.shape[1:]) != self.network.shape:
            raise InputError(
                f"features have the shape {tuple(table.shape)}",
                fix=f"give one row of the shape {self.network.shape} per image",
            )
        with torch.inference_mode():
            parts = [self.network.images(part if part.dtype == torch.uint8 else part.float())
                     for part in table.split(1024)]  # fmt: skip
        return (
            torch.cat(parts).numpy() if parts else np.empty((0, self.network.options.dimensions), np.float32)
        )

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of captions; one without a known word is zero, and so equally far from all."""
        import torch

        numbers = torch.from_numpy(self.vocabulary.numbers(list(texts)))
        with torch.inference_mode():
            parts = [self.network.captions(part) for part in numbers.split(1024)]
        rows = torch.cat(parts) if parts else torch.empty(0, self.network.options.dimensions)
        return rows.masked_fill((numbers < 2).all(1, keepdim=True), 0).numpy()

    def unknown_words(self, text: str) -> list[str]:
        """Return the words of a text that the vocabulary lacks."""
        return [word for word in split_words(text) if word not in self.vocabulary]

    @property
    def fingerprint(self) -> str:
        """A digest of the weights, the words and what reads pictures: vectors are kept in the cache by it."""
        digest = hashlib.sha256("\n".join(self.vocabulary.words).encode())
        digest.update(f"{self.image_input} {self.vocabulary.length}".encode())
        if self.image_features is not None and self.projection is not None:
            digest.update(repr(self.image_features.get_params()).encode())
            learned = [
                *self.image_features.vocabularies_.values(),
                self.projection.mean_,
                self.projection.axes_,
            ]
            for table in learned:
                digest.update(np.ascontiguousarray(table).tobytes())
        for name, tensor in self.network.state_dict().items():
            digest.update(name.encode() + tensor.cpu().contiguous().numpy().tobytes())
        return f"{FORMAT}-{VERSION}-{digest.hexdigest()[:32]}"

    def save(self, folder: str | Path) -> None:
        """Write everything into a folder, as json and safetensors; all of it, or nothing."""
        fill_folder(Path(folder), self._write, last=[MODEL_HEAD])

    def _write(self, folder: Path) -> None:
        from safetensors.torch import save_file

        weights = {name: tensor.cpu().contiguous() for name, tensor in self.network.state_dict().items()}
        write_file(folder / WEIGHTS, lambda path: save_file(weights, path))
        if self.image_features is not None and self.projection is not None:
            from safetensors.numpy import save_file as save_arrays

            self.image_features.save(folder)
            arrays = {"mean": self.projection.mean_, "axes": self.projection.axes_}
            write_file(folder / PROJECTION, lambda path: save_arrays(arrays, path))
        head = {
            "format": FORMAT,
            "version": VERSION,
            "image_input": self.image_input,
            "network": self.network.describe(),
            "length": self.vocabulary.length,
            "words": list(self.vocabulary.words),
            "history": self.history,
            "notes": list(self.notes),
        }
        text = json.dumps(head, indent=1, ensure_ascii=False) + "\n"
        write_file(folder / MODEL_HEAD, lambda path: path.write_text(text, encoding="utf-8"))

    @classmethod
    def load(cls, folder: str | Path) -> TrainedModel:
        """Return what `save` wrote, after checking it; nothing in it is executed."""
        torch: Any = extra("torch")
        from safetensors.torch import load_file

        from karat.training.network import DualEncoder

        folder = Path(folder)
        for name in (MODEL_HEAD, WEIGHTS):
            if not (folder / name).is_file():
                raise MissingDataError(
                    f"there is no {name}", where=folder, fix="give a folder that karat train wrote"
                )
        with parsing(folder / MODEL_HEAD, "is not a description of a trained model", AGAIN):
            head = read_head(folder / MODEL_HEAD, FORMAT, VERSION)
            kind = INPUTS[INPUTS.index(head["image_input"])]
            if not all(isinstance(word, str) for word in head["words"]):
                raise ValueError(head["words"])
            vocabulary = CaptionVocabulary(head["words"], head["length"])
            # Neither shows in the weights, and both take memory.
            side = max(head["network"]["shape"]) if kind == "pixels" else 1
            for name, size, most in (("length", vocabulary.length, MOST_WORDS), ("side", side, MOST_PIXELS)):
                if size > most:
                    what = f"has the {name} {size:,}; the most is {most:,}"
                    raise InputError(what, where=folder / MODEL_HEAD, fix=AGAIN)
            # Without memory: only the weights show how large the network is.
            with torch.device("meta"):
                described = DualEncoder.from_description(head["network"])
            history, notes = list(head["history"]), tuple(map(str, head["notes"]))
        with parsing(folder / WEIGHTS, "does not contain the weights of the model", AGAIN):
            try:
                weights = load_file(folder / WEIGHTS)
                described.load_state_dict(weights, assign=True)
                network = DualEncoder.from_description(head["network"])
                network.load_state_dict(weights)
            except RuntimeError as error:
                raise ValueError(error) from None
        features = projection = None
        if kind == "counts":
            require("PIL", "cv2", "sklearn", "threadpoolctl", extra_name="models")
            features, projection = ImageFeatures.load(folder), load_projection(folder / PROJECTION)
            projection.levels_ = features.levels
            if projection.axes_.shape != (features.n_features_out_, *network.shape):
                raise InputError("its parts do not belong together", where=folder / PROJECTION, fix=AGAIN)
        return cls(network.eval(), vocabulary, kind, features, projection, history, notes)


def load_projection(path: Path) -> CountProjection:
    """Return the components of a file."""
    from safetensors.numpy import load_file

    if not path.is_file():
        raise MissingDataError(f"there is no {path.name}", where=path.parent, fix=AGAIN)
    projection = CountProjection()
    with parsing(path, "does not contain components of counts", AGAIN):
        arrays = load_file(path)
        projection.mean_, projection.axes_ = arrays["mean"], arrays["axes"]
    return projection


def read_pixels(images: Sequence[Any], side: int) -> np.ndarray:
    """Return pictures as squares of pixels, uint8 [N, 3, side, side]."""
    cv2: Any = extra("cv2")
    table = np.empty((len(images), 3, side, side), np.uint8)
    for row, source in zip(table, images):
        picture = decode_image(source, side=2 * side)
        row[:] = cv2.resize(picture, (side, side), interpolation=cv2.INTER_AREA).transpose(2, 0, 1)
    return table


MODEL_FORMATS.add(FORMAT, TrainedModel.load)
