"""Every command of README and docs, and what it does: exit code, records, numbers of its tables, files.

``python tests/net/commands.py --record [PAGE …]`` runs them and writes ``tests/net/commands/PAGE.json``;
``--check [PAGE …]`` runs them again and prints what differs. A test does the same. So whoever changes what
other programs read sees it, and whoever means it records it again and names it in CHANGELOG.md. Sentences and
notes are not compared: how a thing is said may change.

Commands come from the pages themselves. ``commands.toml`` has those that cannot be run as they stand, and
others that no page has: help, typical mistakes, and further options, which have no record: they must end well
and print what their records say. Commands that need real data are skipped
without ``KARAT_DATA``.
"""

from __future__ import annotations

import argparse
import atexit
import base64
import glob
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import itertools

from net import folders
from net.contents import printed_rows, read, rows, summary, unrecorded, unworded
from net.differences import differences
from net.forks import ROOT, Forks, environment

HERE = Path(__file__).resolve().parent
RECORDS = HERE / "commands"
SETTINGS = r"(?:KARAT_[A-Z]+=\S+ )*"
"""What may stand before a command: settings for it alone."""
AGAIN = (
    "a deliberate change is recorded again with `python tests/net/commands.py --record {page}` "
    "and named in CHANGELOG.md"
)
APART: list[bool] = []
"""Not empty when every command is to have a process of its own."""
FORKS = Forks()
ONE = Forks(one=True)
atexit.register(FORKS.close)
atexit.register(ONE.close)


@dataclass
class Command:
    """A command as it is written, where, and how it is run here."""

    text: str
    page: str
    run: list[str] = field(default_factory=list)
    not_run: str = ""
    only_help: bool = False
    recorded: bool = True

    @property
    def forks(self) -> Forks:
        """Which process it runs in: README's commands have one each, the others share one, for speed."""
        return FORKS if APART or self.page == "README" else ONE

    @property
    def folder(self) -> str:
        """Which of the prepared folders it runs in."""
        return "coco" if self.text in table()["coco"] else "small"

    @property
    def needs_data(self) -> bool:
        """Whether one of its words names a file of the real data."""
        words = [part for step in self.run for word in shlex.split(step) for part in word.split("=")]
        return any(word.rstrip("/") in folders.DATA for word in words)


@cache
def table() -> dict[str, Any]:
    """Return what commands.toml says."""
    return tomllib.loads((HERE / "commands.toml").read_text(encoding="utf-8"))


def pages() -> dict[str, str]:
    """Return the text of every page, by a short name."""
    found = {"README": (ROOT / "README.md").read_text(encoding="utf-8")}
    # Not the reference below it, which is made from docstrings.
    for path in sorted((ROOT / "docs").glob("*.md")):
        found["-".join(path.relative_to(ROOT / "docs").with_suffix("").parts)] = path.read_text(
            encoding="utf-8"
        )
    return found


def written(text: str) -> list[str]:
    """Return the commands of a page: lines of fenced blocks, and whole commands between backticks.

    >>> written("Use `karat measures`:\\n```\\n$ karat rules 'a # b' \\\\\\n  --json x.json  # all\\n```\\n")
    ["karat rules 'a # b' --json x.json", 'karat measures']
    """
    fence = re.compile(r"^```[^\n]*\n(.*?)^```", re.S | re.M)
    found = []
    for block in fence.findall(text):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            if match := re.match(rf"\s*(?:\$ )?({SETTINGS}karat .*)", line):
                found.append(uncommented(match[1]))
    for inline in re.findall(r"`(karat\s[^`]*)`", fence.sub("", text)):
        found.append(" ".join(inline.split()))
    # The line that a mistake ends in begins with the program's name and a colon; it is no command.
    return [one for one in found if not one.startswith("karat: ")]


def uncommented(line: str) -> str:
    """Return a line without a comment at its end; a # between quotes is none."""
    quote = ""
    for place, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "#" and line[place - 1].isspace():
            line = line[:place]
            break
    return re.sub(r"\s+", " ", line).strip()


@cache
def documented() -> dict[str, str]:
    """Return every command of the pages with the first page that has it; mere mentions are left out."""
    found: dict[str, str] = {}
    for name, text in pages().items():
        for command in written(text):
            if command not in table()["mentions"]:
                found.setdefault(command, name)
    return found


@cache
def commands() -> dict[str, list[Command]]:
    """Return all commands by the page or group that they are recorded in."""
    found: dict[str, list[Command]] = {}
    instead, not_run = table()["instead"], table()["not_run"]
    for text, name in documented().items():
        steps = instead.get(text, text)
        steps = [steps] if isinstance(steps, str) else steps
        only_help = text.endswith("--help")
        found.setdefault(name, []).append(Command(text, name, steps, not_run.get(text, ""), only_help))
    for name, also in table()["also"].items():
        for steps in also:
            steps = [steps] if isinstance(steps, str) else steps
            found.setdefault(name, []).append(Command(" && ".join(steps), name, steps))
    for name, options in table()["options"].items():
        for steps in options:
            steps = [steps] if isinstance(steps, str) else steps
            one = Command(" && ".join(steps), f"options-{name}", steps, recorded=False)
            found.setdefault(one.page, []).append(one)
    found["help"] = [
        Command(f"{one} --help", "help", [f"{one} --help"], only_help=True) for one in table()["help"]
    ]
    return found


class Endpoint:
    """A chat endpoint on this machine that knows what is true in the small world, and errs now and then."""

    def __init__(self, folder: Path) -> None:
        world = folders.World(folder / "my")
        images = {hashlib.sha256(Path(path).read_bytes()).digest(): k for k, path in enumerate(world.paths)}

        class Answer(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                parts = {part["type"]: part for part in asked["messages"][-1]["content"]}
                caption = re.search(r"<<<DESCRIPTION\n(.*)\nDESCRIPTION>>>", parts["text"]["text"], re.S)
                address = parts["image_url"]["image_url"]["url"]
                picture = hashlib.sha256(base64.b64decode(address.partition(",")[2])).digest()
                column = world.column[caption[1]]
                fits = world.true[images[picture], column] != ((images[picture] + column) % 17 == 0)
                text = json.dumps({"answer": "yes" if fits else "no", "why": "looked"})
                usage = {"prompt_tokens": 700, "completion_tokens": 20}
                reply = json.dumps({"choices": [{"message": {"content": text}}], "usage": usage}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop it."""
        self.server.shutdown()
        self.server.server_close()


class Runner:
    """Runs commands, each in a folder of its own, and returns what they did."""

    def __init__(self, shared: Path) -> None:
        self.shared = shared.resolve()
        self.shared.mkdir(parents=True, exist_ok=True)
        # The user who makes the folders is the one who works in them.
        self.env = environment(self.shared, KARAT_CONFIG=str(self.shared / "config"))
        self.endpoints: dict[str, Endpoint] = {}
        self.times: dict[str, float] = {}

    def close(self) -> None:
        """End the processes that it started."""
        for one in (FORKS, ONE, *self.endpoints.values()):
            one.close()
        self.endpoints.clear()

    def karat(self, folder: Path, *words: str) -> str:
        """Run a command that makes part of a prepared folder."""
        with tempfile.TemporaryDirectory(dir=self.shared) as streams:
            code = ONE.run(list(words), folder, self.env, Path(streams))
            said = [(Path(streams) / name).read_text(encoding="utf-8") for name in ("stdout", "stderr")]
            assert code == 0, f"karat {shlex.join(words)} ended with {code}:\n{said[0]}\n{said[1]}"
        return said[0]

    def run(self, command: Command) -> dict[str, Any]:
        """Run a command and return its record."""
        before = command.forks.cpu
        found = self.result(command)
        self.times[command.text] = command.forks.cpu - before
        return found

    def result(self, command: Command) -> dict[str, Any]:
        """Return the record of a command."""
        found: dict[str, Any] = {"command": command.text}
        if command.not_run:
            return found | {"not run": command.not_run}
        if [command.text] != command.run and not command.only_help and " && " not in command.text:
            found["run instead"] = command.run
        if command.needs_data:
            found["needs"] = "real data"
            if folders.data_folder() is None:
                return found | {
                    "skipped": "needs real data: set KARAT_DATA to a folder laid out like the data folder"
                }
        if command.only_help:
            with tempfile.TemporaryDirectory(dir=self.shared) as place:
                return found | self.help(command, Path(place))
        prepared = folders.prepared(self.shared, command.folder, self.karat)
        with tempfile.TemporaryDirectory(dir=self.shared, ignore_cleanup_errors=True) as place:
            folder = Path(place) / "folder"
            folder.mkdir()
            folders.copied(prepared, folder)
            self.arrange(command, folder)
            before = listed(folder)
            shown: list[Any] = []
            found["steps"] = [
                self.step(step, Path(place), folder, command.forks, shown) for step in command.run
            ]
            found["files"] = self.files(command, folder, before, shown)
        return found

    def arrange(self, command: Command, folder: Path) -> None:
        """Put the project into the state that a command asks for, and take away what it will write."""
        for start, source in table()["project"].items():
            if command.text.startswith(start):
                shutil.copy2(folder / source, folder / "project.db")
        # As karat makes them: `karat serve` says who else can read a project.
        for path in folder.glob("*.db"):
            path.chmod(0o600)
        words = shlex.split(command.run[0])
        for option, value in itertools.pairwise(words):
            if option in ("-o", "--output") and not command.text.startswith(tuple(table()["keeps"])):
                target = folder / value
                shutil.rmtree(target, ignore_errors=True) if target.is_dir() else target.unlink(
                    missing_ok=True
                )

    def clean(self, place: Path, endpoint: str = "") -> Any:
        """Return a function that takes out of a text what differs from run to run."""
        marks = [(str(place / "folder"), "FOLDER"), (str(place), "FOLDER"), (str(self.shared), "SHARED")]
        if endpoint:
            marks.insert(0, (endpoint, "http://ENDPOINT/v1"))
        if data := folders.data_folder():
            marks.append((str(data), "DATA"))
        patterns = [(re.compile(one), by) for one, by in table()["clean"].items()]

        def cleaned(text: str) -> str:
            for old, new in marks:
                text = text.replace(old, new)
            for pattern, by in patterns:
                text = pattern.sub(by, text)
            return text

        return cleaned

    def step(self, step: str, place: Path, folder: Path, forks: Forks, shown: list[Any]) -> dict[str, Any]:
        """Run one command line; the records of what it shows are added to ``shown``."""
        endpoint = ""
        if "{endpoint}" in step:
            if "one" not in self.endpoints:
                self.endpoints["one"] = Endpoint(self.shared / "small")
            endpoint = self.endpoints["one"].url
        words = []
        typed = shlex.split(step.replace("{endpoint}", endpoint))
        settings = dict(
            word.split("=", 1) for word in itertools.takewhile(lambda word: word != "karat", typed)
        )
        for word in typed[len(settings) + 1 :]:
            spread = sorted(glob.glob(word, root_dir=folder)) if "*" in word else []
            words += spread or [word]
        env = self.env | {"KARAT_CONFIG": str(place / "config")} | settings
        if (key := self.shared / "config" / "seal.key").exists() and not (place / "config").exists():
            (place / "config").mkdir()
            shutil.copy2(key, place / "config")
        clean = self.clean(place, endpoint)
        if words[0] == "serve":
            return self.serve(words, place, folder, env)
        streams = place / "streams"
        streams.mkdir(exist_ok=True)
        code = forks.run(words, folder, env, streams)
        out, err = (
            clean((streams / name).read_text(encoding="utf-8")).splitlines() for name in ("stdout", "stderr")
        )
        records = [json.loads(line) for line in (streams / "records").read_text("utf-8").splitlines()]
        shown += records
        found: dict[str, Any] = {"code": code}
        if code:
            # An error may be put otherwise; what it is about it has to name.
            parts = {part for one in table()["help"] for part in one.split()}
            named = [word for word in words if len(word) > 2 and word not in parts]
            found["names"] = [word for word in named if word in " ".join(err[-1:])]
        if records:
            found["records"] = [summary(unworded(one)) for one in records]
        if printed := printed_rows(out):
            found["rows"] = rows(printed)
            found["decimals that no record has"] = unrecorded(printed, records)
        if wrong := broken_rules(words, code, out, err):
            found["wrong"] = wrong
        return found

    def serve(self, words: list[str], place: Path, folder: Path, env: dict[str, str]) -> dict[str, Any]:
        """Start the server on a free port, look at two pages, and stop it as a system would."""
        errors = place / "errors"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        with open(errors, "w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "karat", *words, "--port", port],
                cwd=folder, env=env, text=True, start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip
        # A server that says nothing must not keep everybody waiting.
        watch = threading.Timer(90, process.kill)
        watch.start()
        try:
            assert process.stdin
            assert process.stdout
            # The owner's password, twice, where it is asked for.
            process.stdin.write("correct horse battery\n" * 2)
            process.stdin.close()
            seen = {}
            while line := process.stdout.readline():
                if "://" in line:
                    address = f"http://127.0.0.1:{port}"
                    seen = {path: visited(address + path) for path in ("/", "/health")}
                    break
            process.send_signal(signal.SIGTERM)
            process.stdout.read()
            code = process.wait(timeout=60)
        finally:
            watch.cancel()
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdout.close()
        wrong = broken_rules(words, code, [], errors.read_text().splitlines())
        return {"code": code, "pages": seen} | ({"wrong": wrong} if wrong else {})

    def help(self, command: Command, place: Path) -> dict[str, Any]:
        """Return the names of a command's options, and of its commands; wording may change, these may not."""
        env = self.env | {"COLUMNS": "240"}
        code = command.forks.run(shlex.split(command.text)[1:], place, env, place)
        options, inner = [], []
        for line in (place / "stdout").read_text(encoding="utf-8").splitlines():
            inside = line.strip("│ ").lstrip("* ")
            if re.match(r"--?\w", inside):
                options += re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", re.split(r"\s<|\s[A-Z]+\s", inside)[0])
            elif line.startswith("│ ") and (name := re.match(r"│ ([a-z]+)\s{2}", line)):
                inner.append(name[1])
        return {"code": code, "options": sorted(set(options)), "commands": inner}

    def files(
        self, command: Command, folder: Path, before: dict[str, Any], shown: list[Any]
    ) -> dict[str, Any]:
        """Return what is new or changed in a folder; of a file with records that were ``shown`` only that."""
        after = listed(folder)
        clean = self.clean(folder.parent)
        turned = command.text.startswith(tuple(table()["turned"]))
        found: dict[str, Any] = dict.fromkeys(sorted(before.keys() - after.keys()), "is gone")
        pictures: dict[str, list[Path]] = {}
        for name in sorted(after):
            if after[name] == before.get(name):
                continue
            path = folder / name
            if path.suffix == ".png":
                pictures.setdefault(str(Path(name).parent), []).append(path)
            elif path.suffix == ".json" and json.loads(path.read_text(encoding="utf-8")) in shown:
                found[name] = "its records"
            else:
                # A folder full of tables would fill pages; of each a line per column suffices.
                found[name] = read(path, clean, turned, terse="/" in name)
        for name, paths in pictures.items():
            whole = hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]
            found[f"{name}/*.png"] = {"n": len(paths), "hash": whole}
        return found


def listed(folder: Path) -> dict[str, Any]:
    """Return a mark of each file that changes when the file does."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and not path.name.endswith(("-wal", "-shm")):
            state = path.stat()
            found[path.relative_to(folder).as_posix()] = (state.st_mtime_ns, state.st_size, state.st_ino)
    return found


def broken_rules(words: list[str], code: int, out: list[str], err: list[str]) -> list[str]:
    """Return which rules of every command a run of one broke, whatever was recorded."""
    found = []
    crashed = [line for line in err if line.startswith("Traceback ")]
    if "--debug" not in words:
        if crashed or code not in (0, 2):
            found.append(f"it crashed with {code}: {err[-1:]}")
        # `karat inspect` shows what is wrong.
        lines = [line for line in err if not line.startswith("note: ")]
        if code == 2 and not crashed and len(lines) != 1 and (lines or not out):
            found.append(f"an error is one line: {lines}")
    return found


def visited(address: str) -> dict[str, Any]:
    """Return what a page of the server says."""
    for wait in (0.05, 0.2, 0.5, 1, 2, 5, 0):
        try:
            with urllib.request.urlopen(address, timeout=20) as reply:
                status, kind, text = reply.status, reply.headers["Content-Type"], reply.read().decode()
        except urllib.error.HTTPError as error:
            status, kind, text = error.code, error.headers["Content-Type"], error.read().decode()
        except (urllib.error.URLError, OSError):
            # It says where it listens just before it does.
            if not wait:
                raise
            time.sleep(wait)
            continue
        break
    found = {"status": status, "kind": kind}
    return found | {"content": json.loads(text)} if "json" in (kind or "") else found


def dumped(value: Any, indent: int = 0, width: int = 200) -> str:
    """Return json with a line for each entry; short entries and lists of plain values are on one line."""
    whole = json.dumps(value, ensure_ascii=False)
    flat = isinstance(value, list) and not any(isinstance(one, dict | list) for one in value)
    if len(whole) + indent <= width or flat or not isinstance(value, dict | list) or not value:
        return whole
    blank, inner = "\n" + " " * indent, "\n" + " " * (indent + 1)
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(key, ensure_ascii=False)}: {dumped(one, indent + 1, width)}"
            for key, one in value.items()
        ]
        return "{" + inner + f",{inner}".join(parts) + blank + "}"
    return "[" + inner + f",{inner}".join(dumped(one, indent + 1, width) for one in value) + blank + "]"


def recorded(name: str) -> list[dict[str, Any]]:
    """Return the record of a page."""
    path = RECORDS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def compared(command: Command, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return what differs between a record and a run of the same command."""
    if command.only_help:
        gone = [one for kind in ("options", "commands") for one in old[kind] if one not in new[kind]]
        found = [f"{one} is gone from the help" for one in gone]
        return found + differences(old["code"], new["code"], where="code")
    named = [
        f"its error no longer names {name}"
        for was, now in zip(old.get("steps", ()), new.get("steps", ()))
        for name in was.pop("names", ())
        if name not in now.get("names", ())
    ]
    for now in new.get("steps", ()):
        now.pop("names", None)
    return named + differences(old, new)


def unsound(command: Command, new: dict[str, Any]) -> list[str]:
    """Return what is wrong with a run, whatever was recorded."""
    found = []
    for step in new.get("steps", ()):
        found += step.pop("wrong", ())
        if not command.recorded:
            found += [f"ended with {step['code']}"] if step["code"] else []
            missing, _, printed = step.get("decimals that no record has", "0 of 0").partition(" of ")
            if 5 * int(missing) > int(printed):
                found.append(f"{missing} of {printed} decimals in its tables are not in its records")
            if not (step.get("records") or step.get("pages") or new["files"]):
                found.append("it shows and writes nothing")
    return found


def check(name: str, runner: Runner) -> tuple[list[str], list[str]]:
    """Run the commands of a page; return lines that say what differs, and the commands that were skipped."""
    records = {one["command"]: one for one in recorded(name)}
    found, skipped = [], []
    for command in commands().get(name, []):
        old = records.pop(command.text, None)
        if old is None and command.recorded:
            found.append(f"{command.text}\n  is not recorded")
            continue
        new = runner.run(command)
        if "skipped" in new:
            skipped.append(f"{command.text}: {new['skipped']}")
            continue
        lines = unsound(command, new)
        if old is not None:
            lines += compared(command, old, new)
        if lines:
            found.append("\n  ".join([command.text, *lines]))
    found += [f"{text}\n  is recorded, but no page has it" for text in records]
    return found, skipped


def record(name: str, runner: Runner) -> None:
    """Run the commands of a page and write what they did; what was skipped keeps its older record."""
    older = {one["command"]: one for one in recorded(name)}
    found = []
    for command in commands()[name]:
        if not command.recorded:
            continue
        new = runner.run(command)
        assert not (lines := unsound(command, new)), f"{command.text}: {lines}"
        found.append(older.get(command.text, new) if "skipped" in new else new)
    if not found:
        return
    RECORDS.mkdir(exist_ok=True)
    (RECORDS / f"{name}.json").write_text(dumped(found) + "\n", encoding="utf-8")


def main() -> int:
    """Record or check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--record", nargs="*", metavar="PAGE", help="run, and write down what happens; all by default"
    )
    what.add_argument(
        "--check", nargs="*", metavar="PAGE", help="run, and print what differs; all by default"
    )
    what.add_argument("--list", action="store_true", help="print the commands of each page")
    parser.add_argument(
        "--apart", action="store_true", help="give every command a process of its own; slower"
    )
    parser.add_argument("--times", action="store_true", help="print the CPU seconds of each command")
    parser.add_argument("--folder", type=Path, help="keep the prepared folders here, for another call")
    asked = parser.parse_args()
    if asked.apart:
        APART.append(True)
    if asked.list:
        for name, some in commands().items():
            print(name, *(f"  {one.text}" for one in some), sep="\n")
        return 0
    names = asked.record or asked.check or list(commands())
    if unknown := [name for name in names if name not in commands()]:
        parser.error(f"no page or group {unknown[0]!r}; there are {', '.join(commands())}")
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        runner = Runner(asked.folder or Path(place))
        # What is loaded in this process leaves the user's cache alone, too.
        os.environ["KARAT_CACHE"] = runner.env["KARAT_CACHE"]
        for name in names:
            if asked.record is not None:
                record(name, runner)
                print(f"{name}: {len(commands()[name])} commands recorded", flush=True)
                continue
            found, skipped = check(name, runner)
            state = "differs" if found else "the same"
            print(
                f"{name}: {len(commands()[name])} commands, {state}, {len(skipped)} skipped",
                *skipped,
                sep="\n  ",
            )
            print(*found, sep="\n", flush=True)
            if found:
                bad = 1
                print(AGAIN.format(page=name))
        runner.close()
        if asked.times:
            print(*(f"{seconds:6.2f} {text}" for text, seconds in runner.times.items()), sep="\n")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime + sum(os.times()[:2]):.0f} s of CPU time")
    return bad


if __name__ == "__main__":
    sys.exit(main())
