"""`karat serve` in a process of its own, which can be killed and started again on the same port."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

SERVE = "from karat.cli.serve import app; app()"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class ServerProcess:
    """A server of a project; what it writes on standard error is kept in a file."""

    def __init__(
        self, where: str, port: int | None = None, program: str = SERVE, options: Sequence[str] = ()
    ) -> None:
        self.where, self.port, self.program = where, port or free_port(), program
        self.options = [str(option) for option in options]
        self.log = Path(tempfile.mkstemp(prefix="karat-serve-", suffix=".log")[1])
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        command = [sys.executable, "-c", self.program, self.where, "--port", str(self.port), *self.options]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def is_up(self) -> bool:
        """Whether it takes connections and answers."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as line:
                line.sendall(
                    b"GET /health HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n" % self.port
                )
                return line.recv(12).startswith(b"HTTP/1.1 200")
        except OSError:
            return False

    def wait(self, seconds: float = 120) -> None:
        end = time.monotonic() + seconds
        while not self.is_up():
            assert self.process.poll() is None, self.said()[-3000:]
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.05)

    def kill(self) -> None:
        """Let it die at once, in the middle of whatever it does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def stop(self) -> int:
        """Ask it to end in order, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def cpu_seconds(self) -> float:
        """Processor time of the process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self) -> ServerProcess:
        self.start()
        self.wait()
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.kill()
        self.log.unlink(missing_ok=True)
