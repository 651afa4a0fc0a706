"""What it costs to start: import, help, and the first evaluation in a second process."""

import statistics
import subprocess
import sys
from pathlib import Path

from _stopwatch import SMOKE, main, record, timed

TINY = """
import numpy as np, karat
from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth
own = Judgments(range(4), range(4), sources=[Provenance("own")])
truth = Truth("own", own, {"i2t": np.arange(4), "t2i": np.arange(4)})
bench = Benchmark("tiny", Ids(range(4), kind="image"), Ids(range(4), kind="caption"), {"own": truth})
print(karat.evaluate(karat.load_run(np.eye(4, dtype=np.float32)), bench))
"""


def seconds(*command: str) -> float:
    """Return the median time of seven new processes."""

    def run():
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    if SMOKE:
        return timed(run)
    run()
    return statistics.median(timed(run) for _ in range(7))


def measure():
    python = sys.executable
    bare = seconds(python, "-c", "pass")
    numpy = seconds(python, "-c", "import numpy")
    first = seconds(python, "-c", TINY)
    importing = seconds(python, "-c", "import karat")
    asking = seconds(str(Path(python).with_name("karat")), "--help")
    return [
        record(
            "second process, first evaluation", "4x4", first,
            f"whole processes; {first - numpy:.3f} s more than numpy alone; kernels from the disk cache",
            peer="import numpy", theirs=numpy,
        ),
        record("import karat", "-", importing, f"whole processes; bare Python takes {bare:.3f} s",
               peer="import numpy", theirs=numpy),
        record("karat --help", "-", asking, "whole processes", peer="import numpy", theirs=numpy),
    ]  # fmt: skip


if __name__ == "__main__":
    main(measure)
