"""What the speed files share: the command line, a side in a process of its own, and the records they write.

A record is ``{"name", "size", "karat_s", "karat_mb", "peer", "peer_s", "peer_mb", "ratio", "what"}``
with ``ratio = peer_s / karat_s``; both sides are measured in the same run on the same machine.
With ``--smoke`` everything runs on sizes that say nothing about speed, in one process and on made data.
"""

import argparse
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

Size = TypeVar("Size")
Side = Mapping[str, float]
"""What a side reports: its seconds, "s", its peak of memory, "mb", and anything else."""
Records = list[dict[str, Any]]

# Scripts import from `tests` by its full name: what is in it has names of its own there.
ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

PARSER = argparse.ArgumentParser(allow_abbrev=False)
"""A script may add options of its own before it calls `main`."""
PARSER.add_argument("--json", type=Path, help="write the records here")
PARSER.add_argument("--smoke", action="store_true", help="run everything on sizes that say nothing of speed")
PARSER.add_argument("--side", help="measure one side only (used internally)")

SMOKE = "--smoke" in sys.argv[1:]
DATA = Path(os.environ["KARAT_DATA"]) if os.environ.get("KARAT_DATA") and not SMOKE else None
"""The folder of real data; None where there is none, and with --smoke."""
SIDES: dict[str, Callable[[], Side]] = {}


def sized(full: Size, smoke: Size) -> Size:
    """Return a size, or the one for --smoke."""
    return smoke if SMOKE else full


def timed(work: Callable[[], Any]) -> float:
    """Return the seconds that one call takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def median_time(work: Callable[[], Any], repeats: int = 5) -> float:
    """Return the median of several calls; of one with --smoke."""
    return statistics.median(timed(work) for _ in range(sized(repeats, 1)))


def peak_mb() -> float:
    """Return the most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_own_process(file: str, side: str) -> dict[str, Any]:
    """Run one side of a speed file in a new process, with the same options, and return what it reports."""
    if SMOKE:
        # Imports would take most of the time.
        return json.loads(json.dumps(SIDES[side]()))
    command = [sys.executable, file, *sys.argv[1:], "--side", side]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stderr}{' '.join(command)} failed")
    return json.loads(done.stdout.splitlines()[-1])


def peer_side(package: str, file: str, side: str, smoke: bool = True) -> dict[str, Any] | None:
    """Run a peer's side; None where its package is not installed, or it is too slow for --smoke."""
    if SMOKE and not smoke:
        left_out(package, "takes too long")
        return None
    if importlib.util.find_spec(package) is None:
        left_out(package, "is not installed")
        return None
    return in_own_process(file, side)


def left_out(name: str, why: str) -> None:
    """Say that something is not measured."""
    print(f"left out: {name}: {why}", flush=True)


def record(
    name: str,
    size: str,
    karat: float | Side,
    what: str,
    *,
    peer: str | None = None,
    theirs: float | Side | None = None,
) -> dict[str, Any]:
    """Return one record of the contract, from seconds or from what a side reports.

    A named peer without `theirs` was left out.
    """
    ours, other = ({"s": side} if isinstance(side, float) else side or {} for side in (karat, theirs))
    if peer is not None and theirs is None:
        what += f"; {peer} is {sized('not installed', 'left out')}"
    return {
        "name": name,
        "size": size,
        "karat_s": ours["s"],
        "karat_mb": ours.get("mb"),
        "peer": peer if other else None,
        "peer_s": other.get("s"),
        "peer_mb": other.get("mb"),
        "ratio": other["s"] / ours["s"] if other else None,
        "what": what,
    }


def show(r: Mapping[str, Any]) -> None:
    """Print a record."""
    line = f"{r['name']:34} {r['size']:>16}  karat {r['karat_s']:8.3f} s"
    if r["karat_mb"] is not None:
        line += f" {r['karat_mb']:7.0f} MB"
    if r["peer"] is not None:
        line += f"  {r['peer']} {r['peer_s']:8.3f} s"
        if r["peer_mb"] is not None:
            line += f" {r['peer_mb']:7.0f} MB"
        line += f"  ratio {r['ratio']:.2f}"
    print(f"{line}\n    {r['what']}", flush=True)


def main(
    measure: Callable[[], Iterable[dict[str, Any]]], sides: Mapping[str, Callable[[], Side]] | None = None
) -> Records:
    """Parse the command line, measure, print the records and write and return them."""
    SIDES.update(sides or {})
    asked = PARSER.parse_args()
    if asked.side:
        print(json.dumps(SIDES[asked.side]()))
        sys.exit()
    records = []
    for one in measure():
        show(one)
        records.append(one)
    if asked.json:
        asked.json.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    return records
