"""The state of a training between two epochs, as one safetensors file; nothing in it is executed.

Random numbers need no state: every epoch draws its order, its dropout and its negatives from a seed that the
training's seed and the number of the epoch decide.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from karat._util import fill_folder, parsing, write_file
from karat.errors import InputError

FORMAT = "karat checkpoint 1"
NAME = "checkpoint.safetensors"
FIX = "delete it and start again, or give another folder"


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
            before, history = json.loads(about["settings"]), json.loads(about["history"])
        now = json.loads(json.dumps(settings))
        changed = sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
        if changed:
            raise InputError(
                f"belongs to a training with another {' and '.join(changed)}",
                where=path,
                fix="give the same data and options, or another folder",
            )
        for name, tensor in self.tensors():
            stored = tensors.pop(name, None)
            if stored is None or stored.shape != tensor.shape:
                raise InputError(f"has no usable {name}", where=path, fix=FIX)
            tensor.copy_(stored)
        self.best = {
            name.removeprefix("best."): tensor for name, tensor in tensors.items() if name.startswith("best.")
        }
        self.history = history


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors and the texts of a checkpoint."""
    from safetensors import safe_open

    with parsing(path, "is not a complete checkpoint", FIX), safe_open(path, framework="pt") as file:
        about = file.metadata() or {}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if about.get("format") != FORMAT:
        raise InputError(f"has the format {about.get('format')!r}", where=path, fix=FIX)
    return tensors, about


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
