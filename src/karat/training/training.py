"""Training from a benchmark: captions and pictures in, a trained model out.

What can be wrong is checked before captions and pictures are read: the choices, the files of features by
their heads, and whether a checkpoint in the folder belongs to the same training.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_choice, check_folder, parsing, require, say, yes_or_no
from karat.baselines import ImageTextModel
from karat.baselines.images import ImageFeatures
from karat.benchmarks import Benchmark, as_benchmark
from karat.captions import CAPTION_METRICS, references_of
from karat.errors import InputError, MissingDataError, unknown_name
from karat.runs import Compute
from karat.training.checkpoint import NAME, check_checkpoint
from karat.training.image_input import CountProjection
from karat.training.loss import LOSSES, PairLoss
from karat.training.margins import Margins
from karat.training.network import DualEncoder, NetworkOptions
from karat.training.pairs import PairData, check_features
from karat.training.trained_model import TrainedModel, read_pixels
from karat.training.trainer import EachEpoch, Trainer, TrainingOptions, check_device
from karat.training.vocabulary import CaptionVocabulary

READERS = ("counts", "pixels")
PIXEL_SIDE = 64
DEV_SHARE = 0.1
FEW_PIXELS = "a network that sees pixels alone learns little from fewer than tens of thousands of pictures"


def train(
    benchmark: Benchmark | str | Path,
    *,
    dev: Benchmark | str | Path | None = None,
    features: str | Path | np.ndarray | None = None,
    dev_features: str | Path | np.ndarray | None = None,
    image_input: str = "counts",
    loss: str = "sam",
    loss_set: Mapping[str, Any] | None = None,
    metric: str = "cider",
    network: NetworkOptions | None = None,
    options: TrainingOptions | None = None,
    output: str | Path | None = None,
    setting: Mapping[str, Any] | None = None,
    compute: Compute | None = None,
    each_epoch: EachEpoch | None = None,
) -> TrainedModel:
    """Return a dual encoder trained on the pictures and captions of a benchmark.

    Parameters
    ----------
    benchmark
        One with captions, its name or its folder. Images without a caption are left out.
    dev
        The benchmark that dev scores are measured on. By default a tenth of the images, drawn by the seed, is
        left out of training for it.
    features, dev_features
        Features [images, numbers] or pixels [images, 3, height, width] of both benchmarks' images, in their
        order: npy files or arrays. By default they are made from the pictures.
    image_input
        What is made from pictures: "counts" (visual words of `karat.baselines.images.ImageFeatures`) or
        "pixels".
    loss, loss_set
        A name of `karat.training.LOSSES` and its options, such as ``{"tau": 5, "sampling": "furthest"}``;
        values may be text. Where a loss has a reduction, the default here is "mean". For losses with margins
        also ``own``: whether a caption is among its own references, "in" (the default) or "out".
    metric
        φ of losses with margins; see `Margins.from_captions`.
    network, options
        The network's size and how it is trained.
    output
        The folder where the checkpoint of every epoch goes, and in the end the model; a checkpoint
        there is continued.
    setting
        Settings of benchmarks that are given by name, as `karat.load_benchmark` takes them.
    compute
        The device that trains, by default a GPU where there is one; and the threads that compute margins.
    each_epoch
        Called with the record of every epoch.

    Examples
    --------
    >>> from karat.training import train
    >>> model = train("my-photos", loss_set={"tau": 5}, output="model")  # doctest: +SKIP
    """
    require("torch", "safetensors", extra_name="train")
    if output is not None:
        check_folder(Path(output))
    compute = compute or Compute()
    network, options = network or NetworkOptions(), options or TrainingOptions()
    chosen_loss = LossChoice.of(loss, loss_set or {}, metric)
    check_inputs(dev, features, dev_features, image_input)
    make_network((1,), 2, network, options.seed)  # raises for a size that a part of it does not take
    device = check_device(compute.named_device)
    choices = {"image_input": image_input if features is None else "features", **chosen_loss.settings()}
    check_folder_settings(output, {"chosen": choices, "network": {"options": asdict(network)}}, options)

    train, held_out, notes = split_images(benchmark, dev, setting, (features, dev_features), options.seed)
    choices["captions"] = digest_of([*train.texts, "", *held_out.texts])
    check_folder_settings(output, {"chosen": choices}, options)
    vocabulary = CaptionVocabulary.of(train.texts)
    if not vocabulary.words:
        raise InputError(
            "no word occurs in two captions", where=train.benchmark.name, fix="give more captions"
        )
    reading = read_images(train, held_out, image_input)
    data, dev_data = (part.pairs(table, vocabulary) for part, table in zip((train, held_out), reading.tables))
    trainer = Trainer(
        make_network(tuple(data.features.shape[1:]), len(vocabulary), network, options.seed),
        chosen_loss.make(train.captions, compute),
        data,
        dev_data,
        options,
        device,
    )
    say(f"training on {trainer.device}")
    trained = trainer.fit(output, each_epoch, choices)
    if reading.image_input == "pixels":
        notes.append(FEW_PIXELS)
    if len(trainer.history) < options.epochs:
        notes.append(
            f"stopped after epoch {len(trainer.history)}: {options.patience} without a better dev score"
        )
    model = TrainedModel(
        trained.cpu(), vocabulary, reading.image_input, reading.features, reading.projection, trainer.history,
        tuple(notes), options.measure, None if output is None else Path(output),
    )  # fmt: skip
    if model.folder is not None:
        replace_checkpoint(model.folder, model)
    return model


@dataclass(frozen=True)
class LossChoice:
    """A loss before its margins are computed: its name, its options, and φ of the margins."""

    name: str
    options: Mapping[str, Any]
    metric: str
    own: str

    @classmethod
    def of(cls, name: str, given: Mapping[str, Any], metric: str) -> LossChoice:
        """Return a choice with all options that differ from the loss's own, or raise where one is wrong."""
        import torch

        loss = LOSSES[name]
        signature = inspect.signature(loss.__init__).parameters
        known = {key: param.default for key, param in signature.items() if key not in UNASKED}
        if loss.needs_margins:
            known["own"] = "in"
        for key in given:
            if key not in known:
                raise unknown_name("option", key, known, owner=f"the loss {name}")
        options = {key: as_default(key, value, known[key]) for key, value in given.items()}
        own = options.pop("own", "in")
        if "reduction" in known:
            options = {"reduction": "mean", **options}
        loss(*[Margins(torch.zeros(1, 1), own=own)] if loss.needs_margins else [], **options)
        found = CAPTION_METRICS[metric]
        if loss.needs_margins:
            found.check_installed()
        return cls(name, options, metric, own)

    def settings(self) -> dict[str, Any]:
        """Return what a checkpoint keeps of it."""
        margins = {"metric": self.metric, "own": self.own} if LOSSES[self.name].needs_margins else {}
        return {"loss": self.name, **self.options, **margins}

    def make(self, captions: list[list[str]], compute: Compute) -> PairLoss:
        """Return the loss for training images with these captions."""
        if not LOSSES[self.name].needs_margins:
            return LOSSES[self.name](**self.options)
        say(f"{self.metric} of every image with every caption")
        margins = Margins.from_captions(captions, self.metric, own=self.own, threads=compute.threads)
        return LOSSES[self.name](**{"margins": margins, **self.options})


def as_default(name: str, value: Any, default: Any) -> Any:
    """Return an option that is given as text with the type of its default; anything else as it is.

    >>> as_default("tau", "3", 5.0), as_default("learn", "no", True), as_default("alphas", "1,2", (1.0,))
    (3.0, False, (1.0, 2.0))
    """
    if not isinstance(value, str) or isinstance(default, str):
        return value
    try:
        if isinstance(default, bool):
            return yes_or_no(value)
        if isinstance(default, tuple):
            return tuple(float(part) for part in value.split(","))
        return float(value)
    except (ValueError, KeyError):
        kind = "yes or no" if isinstance(default, bool) else "a number"
        raise InputError(f"{name} is {value!r}", fix=f"give {kind}") from None


UNASKED = ("self", "margins", "options", "generator")


def check_inputs(
    dev: Any, features: str | Path | np.ndarray | None, dev_features: Any, image_input: str
) -> None:
    """Raise where benchmarks and features do not go together."""
    check_choice(image_input, READERS, "image_input")
    if features is None and dev_features is not None:
        raise InputError("dev_features were given without features", fix="give both, or neither")
    if dev is None and dev_features is not None:
        raise InputError("dev_features were given without dev", fix="name the dev benchmark too")
    if dev is not None and features is not None and dev_features is None:
        raise InputError("features were given without dev_features", fix="give both, or neither")
    if features is not None and image_input == "pixels":
        raise InputError(
            "features were given, and pixels of the pictures", fix="leave out one; features may be pixels"
        )


def check_folder_settings(
    folder: str | Path | None, settings: Mapping[str, Any], options: TrainingOptions
) -> None:
    """Raise where the folder holds the checkpoint of a training with other settings."""
    if folder is not None:
        check_checkpoint(Path(folder), {**settings, "options": asdict(options)})


def replace_checkpoint(folder: Path, model: TrainedModel) -> None:
    """Write the model into the folder, and remove the checkpoint."""
    model.save(folder)
    (folder / NAME).unlink(missing_ok=True)


def digest_of(texts: list[str]) -> str:
    """Return a digest of captions, by which a checkpoint knows them."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32]


@dataclass(frozen=True, eq=False)
class CaptionedImages:
    """Images of a benchmark and their captions: what is trained on, or what dev scores are measured on.

    Parameters
    ----------
    benchmark
        Where they are from.
    images
        Their numbers there.
    captions
        Per image, its captions.
    features
        A row for every image of the benchmark; None where pictures are read.
    where
        The file of the features.
    """

    benchmark: Benchmark
    images: np.ndarray
    captions: list[list[str]]
    features: np.ndarray | None = None
    where: Path | None = None

    @classmethod
    def of(cls, benchmark: Benchmark, features: str | Path | np.ndarray | None) -> CaptionedImages:
        """Return the images that have captions, the features not read yet."""
        benchmark.check_image_text()
        table = None if features is None else open_features(features, benchmark.images.size)
        captions = references_of(benchmark)
        images = np.array([k for k, texts in enumerate(captions) if texts], np.int64)
        where = None if features is None or isinstance(features, np.ndarray) else Path(features)
        return cls(benchmark, images, [captions[k] for k in images], table, where)

    def take(self, rows: np.ndarray) -> CaptionedImages:
        """Return some of them."""
        return replace(self, images=self.images[rows], captions=[self.captions[k] for k in rows])

    @property
    def texts(self) -> list[str]:
        """All captions, image by image."""
        return [text for own in self.captions for text in own]

    @property
    def pictures(self) -> list[str]:
        """The files of their pictures."""
        files = self.benchmark.needed_image_paths
        return [files[k] for k in self.images]

    def pairs(self, table: np.ndarray, vocabulary: CaptionVocabulary) -> PairData:
        """Return what the network sees, given a row per image."""
        owner = np.repeat(np.arange(len(self.images)), [len(own) for own in self.captions])
        return PairData.of(table, vocabulary.numbers(self.texts), owner, where=self.where)


def split_images(
    benchmark: Benchmark | str | Path,
    dev: Benchmark | str | Path | None,
    setting: Mapping[str, Any] | None,
    features: tuple[Any, Any],
    seed: int,
) -> tuple[CaptionedImages, CaptionedImages, list[str]]:
    """Return what to train on, what dev scores are measured on, and notes on images that are left out."""
    everything = CaptionedImages.of(as_benchmark(benchmark, setting), features[0])
    notes, used = [], len(everything.images)
    if missing := everything.benchmark.images.size - used:
        notes.append(f"{missing:,} images without a caption were left out")
    if dev is None:
        order = np.random.default_rng([seed, 2]).permutation(used)
        drawn = np.sort(order[: max(1, round(DEV_SHARE * used))])
        train, held_out = everything.take(np.setdiff1d(np.arange(used), drawn)), everything.take(drawn)
        notes.append(f"dev scores are of {len(drawn):,} images that were left out of training")
    else:
        train, held_out = everything, CaptionedImages.of(as_benchmark(dev, setting), features[1])
    if len(train.images) < 2 or not len(held_out.images):
        raise InputError(
            "there are too few images with captions",
            where=train.benchmark.name,
            fix="give at least two to train with, and one for dev scores",
        )
    return train, held_out, notes


@dataclass(frozen=True, eq=False)
class ImageReading:
    """What the network sees of training and dev images, and what made it from pictures.

    Parameters
    ----------
    image_input
        "features", "pixels" or "counts".
    tables
        A row per image, of both.
    features, projection
        For "counts", what counts visual words, and the components that are taken of them.
    """

    image_input: str
    tables: list[np.ndarray]
    features: ImageFeatures | None = None
    projection: CountProjection | None = None


def read_images(train: CaptionedImages, held_out: CaptionedImages, image_input: str) -> ImageReading:
    """Return the features of both, or read their pictures: as pixels, or as counts of visual words."""
    parts = train, held_out
    if train.features is not None:
        return ImageReading("features", [np.asarray(part.features[part.images]) for part in parts])  # type: ignore[index]
    ImageTextModel.check_installed()
    pictures = [part.pictures for part in parts]
    if image_input == "pixels":
        return ImageReading("pixels", [read_pixels(files, PIXEL_SIDE) for files in pictures])
    features = ImageFeatures().fit(pictures[0])
    counts = [features.transform(files) for files in pictures]
    projection = CountProjection().fit(counts[0], features.levels)
    return ImageReading("counts", [projection.transform(rows) for rows in counts], features, projection)


def make_network(
    shape: tuple[int, ...], words: int, network: NetworkOptions | None, seed: int
) -> DualEncoder:
    """Return a network with new weights that `seed` decides; PyTorch's random state is left alone."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return DualEncoder(shape, words, network)


def open_features(table: str | Path | np.ndarray, images: int) -> np.ndarray:
    """Return features with one row per image, those of an npy file mapped into memory, or raise."""
    where = None
    if isinstance(table, np.ndarray):
        rows = table
    else:
        where = Path(table)
        if not where.is_file():
            raise MissingDataError("there is no such file", where=where, fix="give a npy file of features")
        with parsing(where, "is not a table of features", "write it with np.save"):
            rows = np.load(where, mmap_mode="r", allow_pickle=False)
    check_features(rows.shape, where)
    if len(rows) != images:
        raise InputError(
            f"{'features' if where is None else 'the file'} has {len(rows):,} rows",
            where=where,
            fix=f"give one row for each of {images:,} images, in the order of the benchmark",
        )
    return rows
