"""The state of a training between two epochs, as one safetensors file; nothing in it is executed.

Random numbers need no state: every epoch draws its order, its dropout and its negatives from a seed that the
training's seed and the number of the epoch decide.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from karat._util import check_own_work, fill_folder, parsing, write_file
from karat.errors import InputError

FORMAT = "karat checkpoint 1"
NAME = "checkpoint.safetensors"
FIX = "delete it and start again, or give another folder"
LONGEST = 24
"""Values of settings up to this length are shown in messages."""


@dataclass
class TrainingState:
    """What changes from epoch to epoch.

    Parameters
    ----------
    network, loss, optimizer
        Their values are part of the state.
    best
        The weights of the best epoch so far.
    history
        One record per epoch.
    """

    network: nn.Module
    loss: nn.Module
    optimizer: Optimizer
    best: dict[str, Tensor] = field(default_factory=dict)
    history: list[dict[str, float]] = field(default_factory=list)

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """Yield the tensors that training changes, by name; the best weights are not among them."""
        for part, module in (("network", self.network), ("loss", self.loss)):
            for name, tensor in module.state_dict(keep_vars=True).items():
                yield f"{part}.{name}", tensor.detach()
        parameters = [one for group in self.optimizer.param_groups for one in group["params"]]
        for number, parameter in enumerate(parameters):
            for name, tensor in self.optimizer.state[parameter].items():
                yield f"optimizer.{number}.{name}", tensor

    def save(self, folder: Path, settings: dict[str, Any]) -> None:
        """Write the state and the settings of the training into a folder, replacing the one before."""
        from safetensors.torch import save_file

        tensors = {name: tensor.cpu().contiguous().clone() for name, tensor in self.tensors()}
        tensors |= {f"best.{name}": tensor.cpu().contiguous() for name, tensor in self.best.items()}
        about = {
            "format": FORMAT,
            "settings": json.dumps(settings, sort_keys=True),
            "history": json.dumps(self.history),
        }

        def write(draft: Path) -> None:
            # By itself, safetensors would write a file that only the user can read.
            write_file(draft / NAME, lambda path: save_file(tensors, path, about))

        fill_folder(folder, write)

    def load(self, folder: Path, settings: dict[str, Any]) -> None:
        """Take the state of a folder, after checking that it belongs to the same training."""
        path = folder / NAME
        tensors, about = read(path)
        with parsing(path, "is not a checkpoint", FIX):
            before, history = dict(json.loads(about["settings"])), json.loads(about["history"])
        check_same(path, before, settings)
        check_history(path, history, settings["options"])
        for name, tensor in self.tensors():
            stored = tensors.pop(name, None)
            if stored is None or stored.shape != tensor.shape or not stored.isfinite().all():
                raise InputError(f"has no usable {name}", where=path, fix=FIX)
            tensor.copy_(stored)
        self.best = {
            name.removeprefix("best."): tensor for name, tensor in tensors.items() if name.startswith("best.")
        }
        own = {name: tensor.shape for name, tensor in self.network.state_dict().items()}
        if {name: tensor.shape for name, tensor in self.best.items()} != own:
            raise InputError("has no usable weights of the best epoch", where=path, fix=FIX)
        self.history = history


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors and the texts of a checkpoint."""
    from safetensors import safe_open

    check_own_work(path)
    with parsing(path, "is not a complete checkpoint", FIX), safe_open(path, framework="pt") as file:
        about = check_format(file.metadata(), path)
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    return tensors, about


def check_format(about: dict[str, str] | None, path: Path) -> dict[str, str]:
    """Return the texts of a file that is a checkpoint, or raise."""
    about = about or {}
    if about.get("format") != FORMAT:
        raise InputError(f"has the format {about.get('format')!r}", where=path, fix=FIX)
    return about


def check_checkpoint(folder: Path, settings: Mapping[str, Any]) -> None:
    """Raise where a folder holds the checkpoint of a training with others than these settings.

    Only the head of the file is read: it is called before pictures are.
    """
    from safetensors import safe_open

    path = folder / NAME
    if not path.exists():
        return
    check_own_work(path)
    with parsing(path, "is not a complete checkpoint", FIX), safe_open(path, framework="pt") as file:
        before = json.loads(check_format(file.metadata(), path)["settings"])
    if not isinstance(before, dict):
        raise InputError("is not a checkpoint", where=path, fix=FIX)
    check_same(path, before, settings)


def check_history(path: Path, history: Any, options: Mapping[str, Any]) -> None:
    """Raise unless there is a record of finite numbers for each epoch, beginning with the first."""
    names = {"epoch", "loss", options["measure"]}
    with parsing(path, "has no usable history", FIX):
        epochs = [record["epoch"] for record in history if names <= record.keys()]
        values = [float(value) for record in history for value in record.values()]
        if not epochs or epochs != [*range(1, len(history) + 1)] or len(epochs) > options["epochs"]:
            raise ValueError("not one record for each epoch")
        if not all(map(math.isfinite, values)):
            raise ValueError("a value is not a number")


def check_same(path: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise where a setting of now is not that of the checkpoint.

    >>> check_same(Path("a"), {"options": {"epochs": 5, "lr": 0.1}}, {"options": {"epochs": 5}})
    """
    before, now = flat(before), flat(json.loads(json.dumps(now)))
    changed = [key for key in sorted(now) if before.get(key) != now[key]]
    if changed:
        told = [difference(key.rpartition(".")[2], before.get(key), now[key]) for key in changed]
        raise InputError(
            f"belongs to a training with {' and '.join(told)}",
            where=path,
            fix="give the same data and options, or another folder",
        )


def difference(name: str, before: Any, now: Any) -> str:
    """Return how a setting differs; of digests and descriptions only that it does.

    >>> difference("epochs", 5, 6), difference("data", "af" * 16, "b0" * 16)
    ('epochs 5, not 6', 'other data')
    """
    shown = [str(value) for value in (before, now)]
    if isinstance(before, list) or max(map(len, shown)) > LONGEST:
        return f"other {name}"
    return f"{name} {shown[0]}, not {shown[1]}"


def flat(settings: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return settings within settings by their path.

    >>> flat({"options": {"epochs": 5}, "loss": "sam"})
    {'options.epochs': 5, 'loss': 'sam'}
    """
    found: dict[str, Any] = {}
    for key, value in settings.items():
        found |= flat(value, f"{above}{key}.") if isinstance(value, Mapping) else {above + key: value}
    return found


def fill_state(optimizer: Optimizer) -> None:
    """Give an AdamW optimiser the state that its first step would make, so that it can be copied into."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            on_device = group.get("fused") or group.get("capturable")
            device = parameter.device if on_device else "cpu"
            optimizer.state[parameter] = {
                "step": torch.zeros((), device=device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
