"""Workers: parts of a computation that the workers of a Dask scheduler compute.

Dask sends functions, arguments and results as pickles, so whoever can connect can execute code on both sides.
karat therefore connects through TLS, with certificates that both sides check, or to this machine alone.
"""

from __future__ import annotations

import logging
import socket
import time
import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from karat._util.checks import split_address
from karat._util.extras import extra, require
from karat._util.parallel import stay_alone
from karat._util.settings import setting_of
from karat._util.text import plural
from karat.errors import InputError

LOG = logging.getLogger("karat.workers")
PATIENCE = 10.0
"""Seconds until a scheduler that does not answer, or has no workers, is given up."""
LOOK = 5.0
"""Seconds after which it is looked whether there are workers left."""
AHEAD = 2
"""Parts per thread of a worker that are sent before their results are taken: what bounds the memory."""
PER_THREAD = 4
"""Parts per thread that work is cut into, so that none waits long for the last one."""
ATTEMPTS = 3
"""How often everything is sent again after all workers that had it were lost."""
SAME = ("python", "karat", "numpy", "numba", "dask", "distributed")
"""What has to have one version everywhere: the results depend on it, or the pickles."""

S = TypeVar("S")
P = TypeVar("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Scheduler:
    """Where a Dask scheduler is, and what makes the connection to it safe.

    Parameters
    ----------
    address
        ``tls://host:8786``, or ``tcp://127.0.0.1:8786`` on this machine.
    tls_ca, tls_cert, tls_key
        Files in PEM format: the authority that signed all certificates, the own certificate and its key. By
        default the settings of these names, else what Dask's configuration names.

    Examples
    --------
    >>> Scheduler("tcp://127.0.0.1:8786").checked()
    'tcp://127.0.0.1:8786'
    >>> Scheduler("tcp://192.0.2.7:8786").checked()
    Traceback (most recent call last):
    ...
    karat.errors.InputError: tcp://192.0.2.7:8786 is another machine, and tcp:// is not encrypted: Dask \
executes what comes over it; use tls:// with tls_ca, tls_cert and tls_key.
    """

    address: str
    tls_ca: str | Path | None = None
    tls_cert: str | Path | None = None
    tls_key: str | Path | None = None

    @property
    def files(self) -> dict[str, str | Path]:
        """The files of TLS that are given or set, by the names that Dask has for them."""
        files = {"tls_ca_file": self.tls_ca, "tls_client_cert": self.tls_cert, "tls_client_key": self.tls_key}
        if split_address(self.address)[0] == "tls":
            # Not for an address on this machine: there they would be a mistake, and settings stay.
            files = {
                name: setting_of(option, path)
                for option, (name, path) in zip(("tls_ca", "tls_cert", "tls_key"), files.items())
            }
        return {name: path for name, path in files.items() if path is not None}

    def checked(self) -> str:
        """Return the address to connect to, or raise where this would not be safe."""
        scheme, host, port = split_address(self.address)
        if scheme == "tcp":
            if self.files:
                raise InputError(f"{self.address} does not use TLS", fix=f"write tls://{host}:{port}")
            return f"tcp://{bracketed(check_loopback(self.address))}:{port}"
        for path in self.files.values():
            if not Path(path).is_file():
                raise InputError("there is no such file", where=path, fix="give a file in PEM format")
        return f"tls://{bracketed(host)}:{port}"

    def security(self) -> Any:
        """Return what Dask takes for TLS; None without."""
        if split_address(self.address)[0] == "tcp":
            return None
        security = extra("distributed").Security(
            require_encryption=True, **{name: str(path) for name, path in self.files.items()}
        )
        needed = {
            "tls_ca": security.tls_ca_file,
            "tls_cert": security.tls_client_cert,
            "tls_key": security.tls_client_key,
        }
        lacking = [option for option, value in needed.items() if value is None]
        if lacking:
            fix = f"give {' and '.join(lacking)}, or distributed.comm.tls in Dask's configuration"
            raise InputError(f"{self.address} needs certificates on both sides", fix=fix)
        try:
            security.get_connection_args("client")
        except OSError as error:
            what = f"the certificates for {self.address} cannot be used ({error})"
            raise InputError(what, fix="give files in PEM format that belong together") from None
        return security


def as_scheduler(scheduler: Scheduler | str) -> Scheduler:
    """Return a scheduler that may be given as its address alone."""
    return scheduler if isinstance(scheduler, Scheduler) else Scheduler(scheduler)


def bracketed(host: str) -> str:
    """Return a host as addresses have it."""
    return f"[{host}]" if ":" in host else host


def check_loopback(address: str) -> str:
    """Return the number of the host of an address without TLS, or raise where it is not this machine.

    What a name means is looked up here, and what is connected to is the number: a name that means something
    else a moment later changes nothing.
    """
    _, host, _ = split_address(address)
    try:
        numbers = {str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "not a name"
        raise InputError(f"{address} is unknown here ({why})", fix="check the name") from None
    if not all(ip_address(number.partition("%")[0]).is_loopback for number in numbers):
        raise InputError(
            f"{address} is another machine, and tcp:// is not encrypted: Dask executes what comes over it",
            fix="use tls:// with tls_ca, tls_cert and tls_key",
        )
    return min(numbers, key=lambda number: ":" in number)


class Workers:
    """The workers of a scheduler, connected; `connected` makes it.

    Attributes
    ----------
    threads
        How many parts are computed at a time.
    notes
        What a reader of a result should know: workers that were lost.
    """

    def __init__(self, client: Any, address: str) -> None:
        self._client, self.address = client, address
        self.notes: list[str] = []
        self.threads = self._check()

    @property
    def parts(self) -> int:
        """How many parts work should have at least."""
        return PER_THREAD * self.threads

    def _check(self) -> int:
        """Return how many threads there are, or raise where the workers cannot be used."""
        end = time.monotonic() + PATIENCE
        while not (infos := known_workers(self._client)):
            if time.monotonic() > end:
                fix = f"start one: dask worker {self.address}"
                raise InputError(f"the scheduler at {self.address} has no workers", fix=fix)
            time.sleep(0.1)
        for address in infos:
            if not address.startswith("tls://"):
                check_loopback(address)
        self._warn_if_open()
        versions = self._client.get_versions(packages=["karat", "numba"])
        check_versions({"the scheduler": versions["scheduler"]}, versions["client"], SAME[-2:])
        check_versions({f"worker {name}": v for name, v in versions["workers"].items()}, versions["client"])
        return sum(info["nthreads"] for info in infos.values())

    def _warn_if_open(self) -> None:
        address = self._client.scheduler_info(n_workers=0)["address"]
        try:
            if not address.startswith("tls://"):
                check_loopback(address)
        except InputError:
            LOG.warning(
                "the scheduler listens at %s without TLS: whoever reaches it there can execute code; start "
                "it with --host 127.0.0.1",
                address,
            )

    def map(self, function: Callable[[S, P], R], shared: S, parts: Iterable[P]) -> Generator[R]:
        """Yield ``function(shared, part)`` of every part, in the order of the parts.

        A few parts per worker are under way at a time, so that results do not pile up. A part whose worker
        is lost is computed by another one. What is under way is cancelled when the iterator is closed.

        Parameters
        ----------
        function
            Of a module that workers can import.
        shared
            Sent to every worker, once.
        parts
            What differs.
        """
        work = Work(self._client, self.address, function, shared)
        source = iter(parts)
        try:
            while True:
                for part in islice(source, max(0, AHEAD * self.threads - len(work.waiting))):
                    work.submit(part)
                if not work.waiting:
                    break
                yield self._next(work)
        finally:
            work.close()
            self.notes += work.notes()

    def _next(self, work: Work) -> Any:
        """Return the next result, or raise where there will be none."""
        from distributed.comm import CommClosedError

        try:
            return self._wait(work)
        except CommClosedError:
            raise self._lost() from None

    def _wait(self, work: Work) -> Any:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        gone: float | None = None
        while True:
            try:
                return work.result(LOOK)
            except TimeoutError:
                gone = (gone or time.monotonic()) if not known_workers(self._client) else None
                if gone is not None and time.monotonic() > gone + PATIENCE:
                    raise all_lost(self.address) from None
            except KilledWorker:
                raise InputError(
                    f"workers of {self.address} died several times at the same part",
                    fix="they have too little memory: give memory=, or start fewer threads per worker",
                ) from None
            except CancelledError:
                if self._client.status != "running" or work.again >= ATTEMPTS:
                    raise self._lost() from None
                work.send_again()

    def _lost(self) -> InputError:
        """Return the error for a scheduler that is gone."""
        fix = "start again; what a checkpoint kept is not computed again"
        return InputError(f"the connection to {self.address} was lost", fix=fix)


def known_workers(client: Any) -> dict[str, Any]:
    """Return what a scheduler knows of its workers, by address."""
    return client.scheduler_info(n_workers=-1)["workers"]


def all_lost(address: str) -> InputError:
    """Return the error for work that nobody is left to do."""
    return InputError(f"all workers of {address} are lost", fix=f"start some: dask worker {address}")


class Work:
    """One call of `Workers.map`: what is under way, and which worker began which part."""

    def __init__(self, client: Any, address: str, function: Callable[..., Any], shared: Any) -> None:
        self.client, self.address, self.function, self.shared = client, address, function, shared
        self.topic = f"karat-{uuid.uuid4().hex}"
        self.waiting: deque[tuple[int, Any, Any]] = deque()
        self.begun: dict[int, list[str]] = {}
        self.number = self.again = 0
        self.client.subscribe_topic(self.topic, self._note)
        self.held = self._scatter()

    def _scatter(self) -> Any:
        try:
            held = self._send()
            self._spread(held)
        except TimeoutError:
            raise all_lost(self.address) from None
        except Exception as error:
            # Dask has no kind of its own for what a worker cannot read.
            fix = "install on the workers what this machine has, and give them memory enough"
            raise InputError(f"the workers cannot take what is computed ({error})", fix=fix) from error
        return held

    def _send(self) -> Any:
        """Send what is shared to one worker; to another where that one is lost meanwhile."""
        for _ in range(ATTEMPTS - 1):
            before = set(known_workers(self.client))
            try:
                return self.client.scatter([self.shared], hash=False)[0]
            except OSError:
                if set(known_workers(self.client)) == before:
                    raise
        return self.client.scatter([self.shared], hash=False)[0]

    def _spread(self, held: Any) -> None:
        """Copy what is shared to all workers: what one alone has is lost with it.

        Dask would wait for ever for a worker that is lost meanwhile. Then the others fetch what they lack.
        """
        before = set(known_workers(self.client))
        failed: list[Exception] = []

        def copy() -> None:
            try:
                self.client.replicate([held])
            except Exception as error:
                failed.append(error)

        copying = Thread(target=copy, daemon=True)
        copying.start()
        while True:
            copying.join(LOOK)
            done = not copying.is_alive()
            if failed:
                # The scheduler may hear of a lost worker a little later than we do.
                time.sleep(1)
            if lost := before - set(known_workers(self.client)):
                LOG.warning("%s was lost while the tables were sent", ", ".join(sorted(lost)))
                return
            if failed:
                raise failed[0]
            if done:
                return

    def _note(self, event: tuple[float, Any]) -> None:
        number, worker = event[1]
        before = self.begun.setdefault(number, [])
        if before:
            LOG.warning("part %d is computed again by %s: %s was lost", number + 1, worker, before[-1])
        before.append(worker)

    def submit(self, part: Any, number: int | None = None) -> None:
        """Send a part."""
        if number is None:
            number, self.number = self.number, self.number + 1
        future = self.client.submit(
            compute_part, self.function, self.held, part, self.topic, number, pure=False
        )
        self.waiting.append((number, part, future))

    def result(self, timeout: float) -> Any:
        """Return the result of the part that was sent first."""
        result = self.waiting[0][2].result(timeout=timeout)
        self.waiting.popleft()
        return result

    def send_again(self) -> None:
        """Send everything again whose result is missing: all workers that had it were lost."""
        self.again += 1
        LOG.warning("all workers with the tables were lost; %s sent again", plural(len(self.waiting), "part"))
        parts, self.waiting = self.waiting, deque()
        self.held = self._scatter()
        for number, part, _ in parts:
            self.submit(part, number)

    def notes(self) -> list[str]:
        """Return which workers were lost, and how much was computed again."""
        # A copy, because events may still come in.
        again = {number: workers for number, workers in list(self.begun.items()) if len(workers) > 1}
        if not again:
            return []
        lost = list(dict.fromkeys(worker for workers in again.values() for worker in workers[:-1]))
        was = "was" if len(again) == 1 else "were"
        who = f"the worker {lost[0]} was" if len(lost) == 1 else f"the workers {', '.join(lost)} were"
        return [f"{plural(len(again), 'part')} {was} computed again: {who} lost"]

    def close(self) -> None:
        """Cancel what is under way."""
        if self.client.status == "running":
            self.client.cancel([future for _, _, future in self.waiting], force=True)
            self.client.unsubscribe_topic(self.topic)
        self.waiting.clear()


def compute_part(function: Callable[..., Any], shared: Any, part: Any, topic: str, number: int) -> Any:
    """Compute one part, on a worker, after saying so."""
    from distributed import get_worker

    # Threads of one worker compute parts at the same time: none may change this for the others.
    stay_alone()
    worker = get_worker()
    worker.log_event(topic, (number, worker.address))
    return function(shared, part)


def check_versions(
    theirs: dict[str, dict[str, Any]], own: dict[str, Any], packages: Iterable[str] = SAME
) -> None:
    """Raise where a scheduler or a worker has another version of something than this machine."""
    for name, versions in theirs.items():
        for package in packages:
            here, there = (side["packages"].get(package) for side in (own, versions))
            if package == "python":
                here, there = (version.split(".")[:2] for version in (here, there))
                here, there = ".".join(here), ".".join(there)
            if here != there:
                has = f"has {package} {there}" if there else f"does not have {package}"
                fix = "install the same versions everywhere"
                raise InputError(f"{name} {has}, and this machine has {here}", fix=fix)


@contextmanager
def connected(scheduler: Scheduler | str | None) -> Iterator[Workers | None]:
    """Connect to the scheduler that is given or set, yield its workers, and disconnect; None without one."""
    scheduler = setting_of("scheduler", scheduler)
    if scheduler is None:
        yield None
        return
    scheduler = as_scheduler(scheduler)
    address = scheduler.checked()
    require("distributed")
    # Before its loggers are made quiet: importing it sets their levels.
    from distributed import Client

    security = scheduler.security()
    with quiet_dask():
        try:
            client = made_client(Client, address, security)
        except (AssertionError, OSError):
            what, fix = f"no scheduler answers at {address}", "start one: dask scheduler --host 127.0.0.1"
            if security is not None:
                what, fix = f"{what} with these certificates", "all have to be signed by the same authority"
            raise InputError(what, fix=fix) from None
        try:
            yield Workers(client, scheduler.address)
        finally:
            client.close(timeout=PATIENCE)


def made_client(client: Callable[..., Any], address: str, security: Any, tries: int = 3) -> Any:
    """Return a client of a scheduler, or raise where it cannot be reached.

    Dask asserts that the scheduler's first answer is one message. A worker that comes or goes in this moment
    adds another, so that connecting again works.
    """
    choices = {"security": security, "timeout": PATIENCE, "set_as_default": False, "name": "karat"}
    for _ in range(tries - 1):
        with suppress(AssertionError):
            return client(address, **choices)
    return client(address, **choices)


@contextmanager
def quiet_dask() -> Iterator[None]:
    """Keep Dask from printing stack traces where a connection is lost: one sentence says what that means."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels):
            logger.setLevel(level)
