"""A folder in karat's own format, as `save_benchmark` writes it."""

from __future__ import annotations

from pathlib import Path

from karat._util import Param
from karat.benchmarks.karat_format import HEAD, read_benchmark
from karat.benchmarks.registry import Source, register

register(
    Source(
        "saved",
        "a folder in karat's own format, as save_benchmark writes it",
        read_benchmark,
        (Param("folder", Path, "the folder"),),
        lambda folder: (folder / HEAD).is_file(),
    )
)
