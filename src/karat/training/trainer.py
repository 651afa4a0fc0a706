"""The training loop: AdamW, warm-up, cosine schedule, early stopping on a dev measure, exact resumption."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from karat._util import check_choice, keeping, plural, stage, track
from karat.errors import InputError
from karat.training.checkpoint import NAME, TrainingState, fill_state
from karat.training.network import DualEncoder, FeatureSide
from karat.training.pairs import PairData
from karat.training.retrieval_scores import RECALLS, recalls

PRECISIONS = ("auto", "float32", "bfloat16")
MEASURES = ("RSUM", *RECALLS)
BLOCK = 4096
"""How many images or captions are encoded at a time."""

EachEpoch = Callable[[dict[str, float]], object]
"""Called with the record of every epoch: its number, loss and dev scores."""


@dataclass(frozen=True)
class TrainingOptions:
    """How a network is trained.

    Parameters
    ----------
    epochs
        How often every caption is seen; the schedule ends there.
    batch_size
        How many pairs a step has; at most all.
    lr, weight_decay
        AdamW's highest learning rate and its weight decay, which matrices have.
    warm_up
        The share of the steps in which the learning rate rises to `lr`; then it falls to 0 as a half cosine.
    clip
        The highest norm of a step's gradient.
    patience
        Stop after this many epochs without a better dev score; by default never. The best epoch's weights
        are kept in any case.
    measure
        The dev score: RSUM, or one of its parts such as "t2i R@10".
    precision
        "bfloat16" for the network (losses stay in single precision), "float32", or "auto": the first on
        a GPU.
    seed
        The same seed, data and options give the same weights, byte for byte on a CPU.
    graph
        On a GPU, record a step once and replay it, which saves the time of starting its many small parts.
    """

    epochs: int = 30
    batch_size: int = 128
    lr: float = 1e-3
    weight_decay: float = 0.01
    warm_up: float = 0.05
    clip: float = 2.0
    patience: int | None = None
    measure: str = "RSUM"
    precision: str = "auto"
    seed: int = 0
    graph: bool = False

    def __post_init__(self) -> None:
        for name, low in (("epochs", 1), ("batch_size", 2), ("patience", 1)):
            value = getattr(self, name)
            if value is not None and value < low:
                raise InputError(f"{name} is {value}", fix=f"give {low} or more")
        for name in ("lr", "clip"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(f"{name} is {getattr(self, name)}", fix="give a number above 0")
        if not 0 <= self.warm_up < 1:
            raise InputError(f"warm_up is {self.warm_up}", fix="give a share from 0 to below 1")
        check_choice(self.precision, PRECISIONS, "precision")
        if self.measure not in MEASURES:
            raise InputError(f"measure is {self.measure!r}", fix=f"choose one of {', '.join(MEASURES)}")

    def rate(self, step: int, steps: int) -> float:
        """Return the learning rate of a step, counted from 0.

        >>> options = TrainingOptions(lr=1.0, warm_up=0.1)
        >>> [round(options.rate(step, 100), 3) for step in (0, 9, 10, 55, 99)]
        [0.1, 1.0, 1.0, 0.5, 0.0]
        """
        rise = round(self.warm_up * steps)
        if step < rise:
            return self.lr * (step + 1) / rise
        return self.lr * (1 + math.cos(math.pi * (step - rise) / max(steps - rise, 1))) / 2


class Trainer:
    """Trains a dual encoder on pairs, and keeps the weights of the epoch with the best dev score.

    Parameters
    ----------
    network
        What is trained, in place.
    loss
        One of `karat.training.LOSSES`, or any module with its signature.
    train, dev
        The pairs to learn from, and those that dev scores are measured on.
    options
        How to train.
    device
        "cpu", "cuda", or by default a GPU where there is one.

    Attributes
    ----------
    history
        One record per epoch: its number, the mean loss, the dev scores in percent.
    """

    def __init__(
        self,
        network: DualEncoder,
        loss: nn.Module,
        train: PairData,
        dev: PairData,
        options: TrainingOptions | None = None,
        device: str | torch.device | None = None,
    ) -> None:
        self.options = options or TrainingOptions()
        self.device = check_device(device)
        check_shapes(network, train, dev)
        self.fingerprint = fingerprint(train, dev)
        self.network, self.loss = network.to(self.device), loss.to(self.device)
        self.train, self.dev = train.to(self.device), dev.to(self.device)
        self.batch_size = min(self.options.batch_size, train.n_captions)
        self.steps_per_epoch = train.n_captions // self.batch_size
        on_gpu = self.device.type == "cuda"
        self.graph = self.options.graph and on_gpu
        self.half = self.options.precision == "bfloat16" or (self.options.precision == "auto" and on_gpu)
        if isinstance(network.image_side, FeatureSide):
            network.image_side.learn_scale(self.train.features)
        self.parameters = [p for part in (network, loss) for p in part.parameters() if p.requires_grad]
        self.optimizer = self._optimizer()
        self.state = TrainingState(self.network, self.loss, self.optimizer)
        self._losses = torch.zeros((), device=self.device)

    def _optimizer(self) -> torch.optim.AdamW:
        """Return AdamW with its state: matrices decay, other weights do not."""
        rate = torch.tensor(self.options.lr, device=self.device) if self.graph else self.options.lr
        groups = [
            {"params": [p for p in self.parameters if p.ndim > 1], "weight_decay": self.options.weight_decay},
            {"params": [p for p in self.parameters if p.ndim <= 1], "weight_decay": 0.0},
        ]
        optimizer = torch.optim.AdamW(
            [group for group in groups if group["params"]],
            lr=rate,
            fused=self.device.type == "cuda",
            capturable=self.graph,
        )
        fill_state(optimizer)
        return optimizer

    @property
    def history(self) -> list[dict[str, float]]:
        """One record per epoch."""
        return self.state.history

    @property
    def best(self) -> dict[str, float]:
        """The record of the best epoch; of equal ones the first."""
        return max(self.history, key=lambda record: record[self.options.measure])

    def fit(
        self,
        folder: str | Path | None = None,
        each_epoch: EachEpoch | None = None,
        chosen: Mapping[str, Any] | None = None,
    ) -> DualEncoder:
        """Train, and return the network with the weights of the best epoch.

        Parameters
        ----------
        folder
            Where a checkpoint is written after every epoch. One that is there already is continued, and gives
            the same weights as if nothing had happened.
        each_epoch
            Called with the record of every epoch.
        chosen
            How the pairs, the network and the loss were made: a checkpoint keeps it, and is not continued
            with other choices.
        """
        place, kept = None if folder is None else Path(folder), 0
        tell = each_epoch or (lambda _: None)
        settings = {
            "data": self.fingerprint,
            "network": self.network.describe(),
            "loss": repr(self.loss),
            "options": asdict(self.options),
            "chosen": dict(chosen or {}),
        }
        if place is not None and (place / NAME).exists():
            self.state.load(place, settings)
            kept = len(self.history)
            for record in self.history:
                tell(record)
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices):
            step = self._recorded() if self.graph else self._step
            with (
                keeping(lambda: f"{plural(kept, 'epoch')} kept in {place}" if kept else ""),
                stage("epochs", self.options.epochs, len(self.history)) as epochs,
            ):
                while len(self.history) < self.options.epochs and not self._stale():
                    record = self._epoch(len(self.history), step)
                    self._keep(record)
                    if place is not None:
                        self.state.save(place, settings)
                        kept = len(self.history)
                    tell(record)
                    epochs.advance()
        self.network.load_state_dict(self.state.best)
        return self.network.eval()

    def _keep(self, record: dict[str, float]) -> None:
        """Add the record of an epoch, and keep its weights where it is the best."""
        self.history.append(record)
        if self.best is record:
            self.state.best = {k: v.detach().clone() for k, v in self.network.state_dict().items()}

    def _stale(self) -> bool:
        if self.options.patience is None or not self.history:
            return False
        return len(self.history) - self.best["epoch"] >= self.options.patience

    def _epoch(self, number: int, step: Callable[[Tensor], None]) -> dict[str, float]:
        seeds = np.random.SeedSequence([self.options.seed, number]).generate_state(2, np.uint32)
        torch.manual_seed(int(seeds[0]))
        order = torch.from_numpy(np.random.default_rng(seeds[1]).permutation(self.train.n_captions))
        order = order.to(self.device)
        self.network.train()
        self._losses.zero_()
        total = self.options.epochs * self.steps_per_epoch
        for k in track(range(self.steps_per_epoch), "steps"):
            rate = self.options.rate(number * self.steps_per_epoch + k, total)
            for group in self.optimizer.param_groups:
                if self.graph:
                    group["lr"].fill_(rate)
                else:
                    group["lr"] = rate
            step(order[k * self.batch_size : (k + 1) * self.batch_size])
        loss = float(self._losses) / self.steps_per_epoch
        if not math.isfinite(loss):
            raise InputError(
                f"the loss is {loss} in epoch {number + 1}", fix="lower lr, or check the features"
            )
        return {"epoch": number + 1, "loss": loss, **self.scores(self.dev)}

    def _step(self, captions: Tensor) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        images = self.train.owner[captions]
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half, cache_enabled=False):
            first, second = self.network(self.train.features[images], self.train.tokens[captions])
        value = self.loss(first.float(), second.float(), images=images, captions=captions)
        value.backward()
        nn.utils.clip_grad_norm_(self.parameters, self.options.clip)
        self.optimizer.step()
        self._losses += value.detach()

    def _recorded(self) -> Callable[[Tensor], None]:
        """Return a step that replays a recording; weights and the optimiser's state stay as they are."""
        batch = torch.arange(self.batch_size, device=self.device)
        before = [(tensor, tensor.clone()) for _, tensor in self.state.tensors()]
        self.network.train()
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self._step(batch)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._step(batch)
        with torch.no_grad():
            for tensor, value in before:
                tensor.copy_(value)

        def replay(captions: Tensor) -> None:
            batch.copy_(captions)
            graph.replay()

        return replay

    def vectors(self, data: PairData) -> tuple[Tensor, Tensor]:
        """Return the vectors of images and captions, in single precision and without dropout."""
        self.network.eval()
        with torch.inference_mode():
            images = [self.network.images(part) for part in data.features.split(BLOCK)]
            captions = [self.network.captions(part) for part in data.tokens.split(BLOCK)]
        return torch.cat(images), torch.cat(captions)

    def scores(self, data: PairData) -> dict[str, float]:
        """Return R@K of both directions and RSUM, in percent."""
        images, captions = self.vectors(data)
        return recalls(images @ captions.T, data.owner)


def check_shapes(network: DualEncoder, train: PairData, dev: PairData) -> None:
    """Raise where features do not have the shape that a network was made for."""
    for what, data in (("training", train), ("dev", dev)):
        shape = tuple(data.features.shape[1:])
        if shape != network.shape:
            raise InputError(
                f"the features of {what} images have the shape {shape}",
                fix=f"the network was made for {network.shape}",
            )


def check_device(device: str | torch.device | None) -> torch.device:
    """Return a device that is there, by default a GPU where there is one, or raise."""
    try:
        found = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise InputError(f"there is no device {str(device)!r}", fix="give cpu, or cuda for a GPU") from None
    return found


def fingerprint(*parts: PairData) -> str:
    """Return a digest of pairs, so that a checkpoint is not continued with others."""
    digest = hashlib.sha256()
    for data in parts:
        for tensor in (data.features, data.tokens, data.owner):
            digest.update(str(tuple(tensor.shape)).encode())
            digest.update(tensor.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:32]
