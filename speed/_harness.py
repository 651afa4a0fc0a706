"""What the speed files share: measuring a side in its own process, and the records they write.

A record is ``{"name", "size", "karat_s", "karat_mb", "peer", "peer_s", "peer_mb", "ratio", "what"}``
with ``ratio = peer_s / karat_s``; both sides are measured in the same run on the same machine.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def timed(work: Callable[[], Any]) -> float:
    """Return the seconds that one call takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def median_time(work: Callable[[], Any], repeats: int = 5) -> float:
    """Return the median of several calls."""
    return statistics.median(timed(work) for _ in range(repeats))


def peak_mb() -> float:
    """Return the most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_own_process(file: str, side: str) -> dict[str, float]:
    """Run one side of a speed file in a new process and return what it reports."""
    done = subprocess.run(
        [sys.executable, file, "--side", side], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    return json.loads(done.stdout.splitlines()[-1])


def record(
    name: str,
    size: str,
    karat_s: float,
    what: str,
    *,
    karat_mb: float | None = None,
    peer: str | None = None,
    peer_s: float | None = None,
    peer_mb: float | None = None,
) -> dict[str, Any]:
    """Return one record of the contract."""
    return {
        "name": name,
        "size": size,
        "karat_s": karat_s,
        "karat_mb": karat_mb,
        "peer": peer,
        "peer_s": peer_s,
        "peer_mb": peer_mb,
        "ratio": None if peer_s is None else peer_s / karat_s,
        "what": what,
    }


def main(
    measure: Callable[[], list[dict[str, Any]]], sides: dict[str, Callable[[], dict[str, float]]]
) -> None:
    """Parse the command line, measure, print and write the records."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path, help="write the records here")
    parser.add_argument("--side", choices=sorted(sides), help="measure one side only (used internally)")
    asked = parser.parse_args()
    if asked.side:
        print(json.dumps(sides[asked.side]()))
        return
    records = measure()
    for r in records:
        line = f"{r['name']:34} {r['size']:>16}  karat {r['karat_s']:8.3f} s"
        if r["karat_mb"] is not None:
            line += f" {r['karat_mb']:7.0f} MB"
        if r["peer"] is not None:
            line += f"  {r['peer']} {r['peer_s']:8.3f} s"
            if r["peer_mb"] is not None:
                line += f" {r['peer_mb']:7.0f} MB"
            line += f"  ratio {r['ratio']:.2f}"
        print(line)
        print(f"    {r['what']}")
    if asked.json:
        asked.json.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
