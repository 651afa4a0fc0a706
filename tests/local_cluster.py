"""A Dask scheduler with workers on this machine, for tests and for `speed/cluster.py`."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]


class LocalCluster:
    """The processes of a cluster, each started and ended by its id."""

    def __init__(self, folder, *tls):
        self.folder, self.tls = Path(folder), tls
        self.workers = []
        self.file = self.folder / "scheduler.json"
        self.scheduler = self.start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(self.file)
        )
        while not (self.file.exists() and self.file.stat().st_size):
            assert self.scheduler.poll() is None, self.log("scheduler")
            time.sleep(0.05)
        time.sleep(0.05)
        self.address = json.loads(self.file.read_text())["address"]

    def start(self, kind, *words, name=None):
        """Start a process, whose output goes to a file."""
        path = os.pathsep.join(map(str, (ROOT / "src", ROOT, ROOT / "tests")))
        with (self.folder / f"{name or kind}.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", kind, "--no-dashboard", *words, *self.tls],
                stdout=log, stderr=subprocess.STDOUT, cwd=self.folder, env={**os.environ, "PYTHONPATH": path},
            )  # fmt: skip

    def log(self, name):
        """Return what a process printed."""
        return (self.folder / f"{name}.log").read_text()

    def add_workers(self, number):
        """Start workers of one thread each."""
        words = [
            "--no-nanny",
            "--nthreads",
            "1",
            "--memory-limit",
            "0",
            "--local-directory",
            str(self.folder),
        ]
        for _ in range(number):
            name = f"worker{len(self.workers)}"
            self.workers.append(self.start("worker", self.address, *words, name=name))

    def wait(self, number):
        """Wait until so many workers are there."""
        end = time.monotonic() + 60
        while self.log("scheduler").count("Register worker") < number:
            assert time.monotonic() < end, self.log("scheduler")
            time.sleep(0.05)

    def close(self):
        """End every process, the workers first, which say good-bye to the scheduler."""
        for processes in (self.workers, [self.scheduler]):
            for process in processes:
                process.terminate()
            for process in processes:
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


@contextmanager
def local_cluster(folder, workers, *tls):
    """Yield a cluster with so many workers, and end it."""
    cluster = LocalCluster(folder, *tls)
    try:
        cluster.add_workers(workers)
        cluster.wait(workers)
        yield cluster
    finally:
        cluster.close()
