"""Two processes with half a batch each train like one process with the whole batch."""

import json
import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'karat[train]'")

# What is not installed on a machine that only trains is made impossible to import.
WORK = """
import json, os, sys
sys.modules.update(dict.fromkeys(["numba", "polars", "scipy", "rich", "typer", "jinja2", "plotly"]))
import torch
from torch import distributed as dist
from torch.nn.parallel import DistributedDataParallel
from karat.training import LOSSES, Margins

rank, folder, settings = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
margins = Margins.load(f"{folder}/margins.safetensors")
random = torch.Generator().manual_seed(0)
pictures, texts = torch.randn(2, 8, 6, dtype=torch.float64, generator=random)
images = torch.tensor([0, 3, 1, 3, 2, 4, 4, 0])
captions = 2 * images + torch.tensor([0, 0, 1, 1, 0, 0, 1, 1])


def results(rank, world):
    own, found = slice(rank * 8 // world, (rank + 1) * 8 // world), []
    for name, options in settings:
        torch.manual_seed(1)
        if options.get("sampling") == "random":
            options = {**options, "generator": torch.Generator().manual_seed(5)}
        kind = LOSSES[name]
        loss = kind(margins, **options) if kind.needs_margins else kind(**options)
        model = torch.nn.Linear(6, 3).double()
        trained = DistributedDataParallel(model) if world > 1 else model
        both = trained(torch.cat((pictures[own], texts[own]))).chunk(2)
        value = loss(*both, images=images[own], captions=captions[own])
        value.backward()
        found.append([value.item(), *model.weight.grad.flatten().tolist()])
    return found

one = results(0, 1) if rank == 1 else None
dist.init_process_group("gloo", f"file://{folder}/meeting", rank=rank, world_size=2)
print(json.dumps([one, results(rank, 2)]), flush=True)
dist.barrier()
# Not the usual end: threads of gloo may abort a process whose peer is gone before it.
os._exit(0)
"""
SETTINGS = [
    ("triplet", {}), ("triplet", {"negatives": "sum", "reduction": "mean"}), ("infonce", {}),
    ("infonce-multi", {}), ("ladder", {}), ("sam", {}), ("sam", {"sampling": "random", "tau": 2.0}),
]  # fmt: skip


def test_two_processes_train_like_one(tmp_path):
    from karat.training import Margins

    table = torch.rand(5, 10, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    Margins(10 * table).save(tmp_path / "margins.safetensors")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WORK, str(rank), str(tmp_path), json.dumps(SETTINGS)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
        )
        for rank in range(2)
    ]
    outputs = [process.communicate(timeout=240) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    one, two = json.loads(outputs[1][0])
    assert json.loads(outputs[0][0])[1] == two
    assert len(one) == len(two) == len(SETTINGS)
    for setting, values, halves in zip(SETTINGS, one, two):
        assert any(values), setting
        assert halves == pytest.approx(values, rel=1e-9, abs=1e-12), setting
