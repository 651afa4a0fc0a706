"""Training from a benchmark: captions and pictures in, a trained model out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_choice, parsing
from karat.benchmarks import Benchmark, as_benchmark
from karat.captions import references_of
from karat.errors import InputError, MissingDataError
from karat.models import ImageTextModel, pictures_of
from karat.models.images import ImageFeatures
from karat.train.checkpoint import NAME
from karat.train.image_input import CountProjection
from karat.train.loss import LOSSES
from karat.train.margins import Margins
from karat.train.network import DualEncoder, NetworkOptions
from karat.train.pairs import PairData
from karat.train.trained_model import TrainedModel, read_pixels
from karat.train.trainer import Progress, Trainer, TrainingOptions, check_device
from karat.train.vocabulary import CaptionVocabulary

Says = Callable[[str], object]
READERS = ("counts", "pixels")
PIXEL_SIDE = 64
DEV_SHARE = 0.1


def train_model(
    benchmark: Benchmark | str | Path,
    *,
    dev: Benchmark | str | Path | None = None,
    features: str | Path | np.ndarray | None = None,
    dev_features: str | Path | np.ndarray | None = None,
    image_input: str = "counts",
    loss: str = "sam",
    loss_options: Mapping[str, Any] | None = None,
    metric: str = "cider",
    own: str = "in",
    network: NetworkOptions | None = None,
    options: TrainingOptions | None = None,
    folder: str | Path | None = None,
    device: str | None = None,
    setting: Mapping[str, Any] | None = None,
    says: Says | None = None,
    progress: Progress | None = None,
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
        What is made from pictures: "counts" (visual words, `karat.models.images.ImageFeatures`) or "pixels".
    loss, loss_options
        A name of `karat.train.LOSSES` and its options, such as ``{"tau": 5, "sampling": "furthest"}``. Where
        a loss has a reduction, the default here is "mean".
    metric, own
        φ of losses with margins; see `Margins.from_captions`.
    network, options
        The network's size and how it is trained.
    folder
        Where the checkpoint of every epoch goes, and in the end the model; a checkpoint there is continued.
    device
        "cpu" or "cuda"; by default a GPU where there is one.
    setting
        Settings of benchmarks that are given by name, as `karat.load_benchmark` takes them.
    says, progress
        Called with a sentence before each part of the work, and with the record of every epoch.

    Examples
    --------
    >>> from karat.train import train_model
    >>> model = train_model("my-photos", loss_options={"tau": 5}, folder="model")  # doctest: +SKIP
    """
    say = says or (lambda _: None)
    options = options or TrainingOptions()
    arguments = check_loss_options(loss, loss_options or {}, own)
    check_choice(image_input, READERS, "image_input")
    check_device(device)
    if features is None and dev_features is not None:
        raise InputError("dev_features were given without features", fix="give both, or neither")
    if dev is None and dev_features is not None:
        raise InputError("dev_features were given without dev", fix="name the dev benchmark too")
    train_bench = as_benchmark(benchmark, setting)
    dev_bench = None if dev is None else as_benchmark(dev, setting)
    captions = references_of(train_bench)
    used = np.array([k for k, texts in enumerate(captions) if texts], np.int64)
    notes = []
    if len(used) < len(captions):
        notes.append(f"{len(captions) - len(used):,} images without a caption were left out")
    if dev_bench is None:
        order = np.random.default_rng([options.seed, 2]).permutation(len(used))
        held_out = used[np.sort(order[: max(1, round(DEV_SHARE * len(used)))])]
        used = np.setdiff1d(used, held_out)
        notes.append(f"dev scores are of {len(held_out):,} images that were left out of training")
        sides = [(train_bench, used, captions), (train_bench, held_out, captions)]
        tables = [features, features]
    else:
        dev_captions = references_of(dev_bench)
        dev_used = np.array([k for k, texts in enumerate(dev_captions) if texts], np.int64)
        sides = [(train_bench, used, captions), (dev_bench, dev_used, dev_captions)]
        tables = [features, dev_features]
        if features is not None and dev_features is None:
            raise InputError("features were given without dev_features", fix="give both, or neither")
    if len(used) < 2 or not len(sides[1][1]):
        raise InputError(
            "there are too few images with captions",
            where=train_bench.name,
            fix="give at least two to train with, and one for dev scores",
        )
    texts = [[text for k in rows for text in own_texts[k]] for _, rows, own_texts in sides]
    vocabulary = CaptionVocabulary.of(texts[0])
    if not vocabulary.words:
        raise InputError("no word occurs in two captions", where=train_bench.name, fix="give more captions")
    reader, projection, read = None, None, []
    if features is not None:
        image_input = "features"
        read = [
            read_features(table, bench.images.size)[rows]
            for table, (bench, rows, _) in zip(tables, sides)
        ]  # fmt: skip
    else:
        ImageTextModel.check_installed()
        pictures = [[pictures_of(bench)[k] for k in rows] for bench, rows, _ in sides]
        say(f"reading {sum(map(len, pictures)):,} pictures")
        if image_input == "pixels":
            read = [read_pixels(part, PIXEL_SIDE) for part in pictures]
            notes.append(
                "a network that sees pixels alone learns little from fewer than tens of thousands of pictures"
            )
        else:
            reader = ImageFeatures().fit(pictures[0])
            counts = [reader.transform(part) for part in pictures]
            projection = CountProjection().fit(counts[0], reader.levels)
            read = [projection.transform(part) for part in counts]
    data = [
        PairData.of(
            table,
            vocabulary.numbers(own_texts),
            np.repeat(np.arange(len(rows)), [len(every[k]) for k in rows]),
            where=path if isinstance(path, str | Path) else None,
        )
        for table, own_texts, path, (_, rows, every) in zip(read, texts, tables, sides)
    ]
    if LOSSES[loss].needs_margins:
        say(f"{metric} of every image with every caption")
        arguments = {
            "margins": Margins.from_captions([captions[k] for k in used], metric, own=own),
            **arguments,
        }
    encoder = make_network(tuple(data[0].features.shape[1:]), len(vocabulary), network, options.seed)
    trainer = Trainer(encoder, LOSSES[loss](**arguments), data[0], data[1], options, device)
    say(f"training on {trainer.device}")
    trained = trainer.fit(folder, progress)
    if len(trainer.history) < options.epochs:
        notes.append(
            f"stopped after epoch {len(trainer.history)}: {options.patience} without a better dev score"
        )
    model = TrainedModel(
        trained.cpu(), vocabulary, image_input, reader, projection, trainer.history, tuple(notes)
    )
    if folder is not None:
        model.save(folder)
        (Path(folder) / NAME).unlink(missing_ok=True)
    return model


def make_network(
    shape: tuple[int, ...], words: int, network: NetworkOptions | None, seed: int
) -> DualEncoder:
    """Return a network with new weights that `seed` decides; PyTorch's random state is left alone."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return DualEncoder(shape, words, network)


def read_features(table: str | Path | np.ndarray | None, images: int) -> np.ndarray:
    """Return features, from a npy file or as they are, with one row per image, or raise."""
    where = None
    if isinstance(table, np.ndarray):
        rows = table
    else:
        where = Path(str(table))
        if not where.is_file():
            raise MissingDataError("there is no such file", where=where, fix="give a npy file of features")
        with parsing(where, "is not a table of features", "write it with np.save"):
            rows = np.load(where, allow_pickle=False)
    if len(rows) != images:
        raise InputError(
            f"{'features' if where is None else 'the file'} has {len(rows):,} rows",
            where=where,
            fix=f"give one row for each of {images:,} images, in the order of the benchmark",
        )
    return rows


def check_loss_options(loss: str, given: Mapping[str, Any], own: str) -> dict[str, Any]:
    """Return the options of a loss, or raise where a name or a value is wrong, before any work is done."""
    import torch

    known = [name for name in inspect.signature(LOSSES[loss].__init__).parameters if name not in UNASKED]
    strange: Sequence[str] = [name for name in given if name not in known]
    if strange:
        raise InputError(f"the loss {loss} has no {strange[0]}", fix=f"it has {', '.join(known)}")
    options = {"reduction": "mean", **given} if "reduction" in known else dict(given)
    LOSSES[loss](*[Margins(torch.zeros(1, 1), own=own)] if LOSSES[loss].needs_margins else [], **options)
    return options


UNASKED = ("self", "margins", "options", "generator")
