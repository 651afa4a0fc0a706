"""Where damaged files are loaded: child processes that are watched for time, memory and what they do.

A child loads one thing after another and says after each what came of it: loaded, refused in a sentence, or a
finding. The parent ends a child that does not answer, or dies with it, counts that as a finding, and goes on
behind it. A finding is also: more than 1 GiB above what the child has after its imports and the loading of
valid files; a process or a network connection that is begun; a pickle that is read; code from elsewhere than
the installed packages that is run; and a file outside of the folder of the run that is written.
"""

import collections
import multiprocessing
import multiprocessing.connection
import os
import re
import resource
import signal
import sys
import sysconfig
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LIMIT = 10.0
"""Seconds that a loading may take."""
PATIENCE = 25.0
"""After how many the child is ended, which cannot say more then."""
SPARE = 1 << 30
"""Bytes above the child's own."""
ROOM = 4 << 30
"""Bytes of addresses above the child's own: what asks for more gets an error, which is a finding too."""
SHARE = 2000
"""After how many loadings a child is replaced."""
CANARY = "karat_canary"
"""Part of the names of everything that code from a file would make, and of that code."""
DOING = {
    "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn",
    "subprocess.Popen", "socket.connect", "socket.getaddrinfo", "socket.bind", "pickle.find_class",
    "webbrowser.open",
}  # fmt: skip
"""Events of Python's audit that no loading has a reason for."""
CHANGING = {
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.symlink",
    "os.link",
    "os.chmod",
    "os.truncate",
}
STARVED = re.compile(
    r"memory does not suffice|can't allocate|cannot allocate|unable to allocate|memory of cpu|"
    r"too large for this machine's memory",
    re.IGNORECASE,
)
"""How a sentence about a refused request for memory reads."""


@dataclass
class Outcome:
    """What came of one loading."""

    number: int
    name: str
    kind: str
    text: str = ""
    seconds: float = 0.0
    bytes: int = 0
    did: list[str] = field(default_factory=list)


class Witness:
    """What Python's audit says of a process, as far as it is strange."""

    def __init__(self, scratch: Path, secrets: tuple[str, ...] = ()) -> None:
        self.scratch, self.secrets, self.seen = str(scratch.resolve()), secrets, list[str]()
        paths = sysconfig.get_paths()
        home = Path(__file__).resolve().parents[1]
        self.code = tuple({paths["stdlib"], paths["purelib"], paths["platlib"], sys.base_prefix, str(home)})
        self.active = False

    def start(self) -> None:
        """Listen from now on, which cannot be ended."""
        sys.addaudithook(self)
        self.active = True

    def __call__(self, event: str, values: tuple) -> None:
        """Note what is strange; never raises, since that would change what is watched."""
        if not self.active:
            return
        if event == "pickle.find_class" and is_of_numba():
            return
        if event in DOING:
            self.seen.append(f"{event} {str(values)[:200]}")
        elif event == "open":
            path, _, flags = values
            if isinstance(path, str | bytes):
                name = os.fsdecode(path)
                if name in self.secrets:
                    self.seen.append(f"read {name}")
                if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                    self.outside(event, name)
        elif event in CHANGING:
            for value in values[:2]:
                if isinstance(value, str | bytes | os.PathLike):
                    self.outside(event, os.fsdecode(value))
        elif event == "exec":
            name = getattr(values[0], "co_filename", "")
            if not name.startswith(("<", *self.code)) or name.startswith(self.scratch):
                self.seen.append(f"exec {name}")
        elif event == "compile" and CANARY in str(values[0]):
            self.seen.append(f"compile {str(values[0])[:200]}")
        elif event == "ctypes.dlopen" and str(values[0]).startswith(self.scratch):
            self.seen.append(f"ctypes.dlopen {values[0]}")

    def outside(self, event: str, name: str) -> None:
        """Note a file that is changed, unless it is one of the run."""
        path = os.path.abspath(name)
        if not path.startswith((self.scratch, "/dev/null", "/proc/self")) and "__pycache__" not in path:
            self.seen.append(f"{event} {path}")

    def taken(self) -> list[str]:
        """Return what was seen since the last time."""
        seen, self.seen = self.seen, []
        return seen


def is_of_numba() -> bool:
    """Whether numba reads the index of its own cache, which is the user's and no file of a model."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.endswith("numba/core/caching.py"):
            return True
        frame = frame.f_back
    return False


def resident(name: str = "VmRSS") -> int:
    """Return bytes of memory of this process: now, or as VmHWM the most since `forget_peak`."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) << 10
    raise KeyError(name)


def forget_peak() -> None:
    """Begin VmHWM anew."""
    Path("/proc/self/clear_refs").write_text("5")


def attempt(number: int, name: str, load: Callable[[], object], refusals: type[Exception]) -> Outcome:
    """Return what comes of a loading, without its memory."""
    begun = time.perf_counter()
    kind, text = "loaded", ""
    try:
        load()
    except refusals as error:
        kind, text = "refused", str(error)
        if STARVED.search(text):
            kind = "memory"
    except KeyboardInterrupt:
        raise
    except BaseException:
        kind, text = "crash", traceback.format_exc(limit=-4)
    seconds = time.perf_counter() - begun
    return Outcome(number, name, "slow" if seconds > LIMIT else kind, text, seconds)


def child(
    prepare: Callable[[Path, int], Any],
    scratch: Path,
    seed: int,
    numbers: range,
    pipe: Any,
    refusals: type[Exception],
) -> None:
    """Load one thing after another; before each its number is said, and after it what came of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    sys.dont_write_bytecode = True
    # Panics of Rust, and messages of libraries, are theirs.
    os.environ |= {"RUST_BACKTRACE": "0", "OMP_NUM_THREADS": "1", "TMPDIR": str(scratch)}
    with open(scratch / "said", "a") as said:
        os.dup2(said.fileno(), 2)
        os.dup2(said.fileno(), 1)
    os.environ["HF_HOME"] = str(scratch / "huggingface")
    make = prepare(scratch, seed)
    witness = Witness(scratch, (str(scratch / "secret.json"),))
    witness.start()
    own = resident()
    asked = resident("VmSize") + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (asked, asked))
    for number in numbers:
        try:
            name, load = make(number)
        except Exception as error:
            raise RuntimeError(f"number {number} of seed {seed} could not be made: {error!r}") from error
        pipe.send((number, name))
        witness.taken()
        forget_peak()
        outcome = attempt(number, name, load, refusals)
        outcome.did = witness.taken()
        outcome.bytes = resident("VmHWM") - own
        outcome.did += [f"made {path}" for at in ("", "*/") for path in scratch.glob(f"{at}{CANARY}[!.]*")]
        outcome.did += [f"made {path}" for path in scratch.glob(CANARY)]
        if outcome.did:
            outcome.kind = "executed"
        elif outcome.bytes > SPARE:
            outcome.kind = "memory"
        pipe.send(outcome)
        if resident() > own + SPARE // 2:
            # What earlier loadings left is not this one's; a new child goes on.
            break
    pipe.send(None)


def run_share(
    prepare: Callable[[Path, int], Any], scratch: Path, seed: int, numbers: range, refusals: type[Exception]
) -> Iterator[Outcome]:
    """Yield the outcomes of some numbers, in as many children as that takes."""
    context = multiprocessing.get_context("spawn")
    while numbers:
        here, there = context.Pipe(duplex=False)
        process = context.Process(
            target=child, args=(prepare, scratch, seed, numbers[:SHARE], there, refusals), daemon=True
        )
        process.start()
        there.close()
        now: tuple[int, str] | None = None
        begun = time.perf_counter()
        done = numbers[:0]
        try:
            while True:
                # The first answer comes after the imports.
                if not here.poll(PATIENCE if now else 300):
                    process.kill()
                    assert now is not None, "a child did not begin"
                    yield Outcome(*now, "hang", "", time.perf_counter() - begun)
                    done = numbers[: numbers.index(now[0]) + 1]
                    break
                answer = here.recv()
                if answer is None:
                    break
                if isinstance(answer, Outcome):
                    done = numbers[: numbers.index(answer.number) + 1]
                    yield answer
                    now = (answer.number, answer.name)
                else:
                    now, begun = answer, time.perf_counter()
        except EOFError:
            process.join()
            if now is None:
                raise RuntimeError(
                    f"a child ended before it began; {(scratch / 'said').read_text()[-1500:]}"
                ) from None
            last = (scratch / "said").read_text(errors="replace")[-1500:]
            yield Outcome(*now, "died", f"{last}\nexit code {process.exitcode}", time.perf_counter() - begun)
            done = numbers[: numbers.index(now[0]) + 1]
        process.join(5)
        numbers = numbers[len(done) :]


class Counts:
    """What came of all loadings, and the findings."""

    def __init__(self) -> None:
        self.kinds: collections.Counter[str] = collections.Counter()
        self.sentences: collections.Counter[str] = collections.Counter()
        self.by_name: dict[str, collections.Counter[str]] = {}
        self.findings: list[Outcome] = []
        self.slowest = self.largest = Outcome(0, "", "")

    def add(self, outcome: Outcome) -> None:
        """Count one."""
        self.kinds[outcome.kind] += 1
        self.by_name.setdefault(outcome.name.split(" ")[0], collections.Counter())[outcome.kind] += 1
        if outcome.kind == "refused":
            self.sentences[kind_of_sentence(outcome.text)] += 1
        elif outcome.kind != "loaded":
            self.findings.append(outcome)
        self.slowest = max(self.slowest, outcome, key=lambda one: one.seconds)
        self.largest = max(self.largest, outcome, key=lambda one: one.bytes)

    def __str__(self) -> str:
        total = sum(self.kinds.values())
        lines = [f"{total:,} tried: " + ", ".join(f"{n:,} {kind}" for kind, n in self.kinds.most_common())]
        lines += [f"slowest {self.slowest.seconds:.1f} s ({self.slowest.name}, number {self.slowest.number})"]
        lines += [f"most memory {self.largest.bytes / 2**20:.0f} MiB above the start ({self.largest.name})"]
        lines += [f"executed: {self.kinds['executed']}"]
        for name, kinds in sorted(self.by_name.items()):
            lines.append(f"  {name}: " + ", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common()))
        return "\n".join(lines)


def kind_of_sentence(text: str) -> str:
    """Return a sentence without what differs: where, names in quotation marks, numbers, parentheses."""
    text = re.sub(r"^(/[^:]*|\S+): ", "", text)
    text = re.sub(r"\(.*\)", "(…)", text, flags=re.DOTALL)
    text = re.sub(r"(['\"]).*?\1", "'…'", text)
    return re.sub(r"-?[0-9][0-9.,e+]*", "0", text).partition(";")[0][:100]


def run_all(
    prepare: Callable[[Path, int], Any],
    scratch: Path,
    seed: int,
    numbers: range,
    processes: int,
    refusals: type[Exception],
    sentences: int = 25,
) -> int:
    """Print what comes of all numbers, findings first; return how many there are."""
    import threading

    begun, counts, lock = time.perf_counter(), Counts(), threading.Lock()

    def share(part: int) -> None:
        own = scratch / str(part)
        own.mkdir()
        (own / "secret.json").write_text('{"secret": true}')
        for outcome in run_share(prepare, own, seed, numbers[part::processes], refusals):
            with lock:
                counts.add(outcome)
                if outcome.kind not in ("loaded", "refused") and len(counts.findings) <= 200:
                    print(f"{outcome.kind}: {outcome.name}, seed {seed}, number {outcome.number}, "
                          f"{outcome.seconds:.1f} s, {outcome.bytes >> 20} MiB", flush=True)  # fmt: skip
                    print("   ", "\n    ".join([*outcome.text.splitlines()[-9:], *outcome.did]), flush=True)
                total = sum(counts.kinds.values())
                if total % 1000 == 0:
                    print(f"… {total:,} in {time.perf_counter() - begun:.0f} s", flush=True)

    threads = [threading.Thread(target=share, args=(part,)) for part in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"seed {seed}, {time.perf_counter() - begun:.0f} s")
    print(counts)
    for text, number in counts.sentences.most_common(sentences):
        print(f"  {number:6,} × {text}")
    return len(counts.findings)
