"""Settings: what concerns this machine, from environment variables or from one file of the user's.

The file is never looked for in the working folder or beside data: a scheduler that it names runs code.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from karat._util.checks import not_utf8, split_address
from karat._util.registry import natural
from karat._util.result import Part, Result
from karat._util.tables import Layout
from karat._util.text import MISSING, bytes_of
from karat.errors import InputError, MissingDataError, printable, unknown_name

FILE = "karat.toml"
CONFIG = "KARAT_CONFIG"
PREFIX = "KARAT_"

Entry = dict[str, Any]
"""What is known of a setting: its name, value, source, variable, and help."""


def default_threads() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def user_folder(variable: str, name: str) -> Path:
    """Return karat's folder among the user's, which `variable` of the XDG specification moves."""
    # A relative one would lie in the working folder; the specification ignores it, too.
    if (chosen := Path(os.environ.get(variable) or "")).is_absolute():
        return chosen / "karat"
    with suppress(RuntimeError):  # of a user who is unknown
        if (home := Path.home()).is_absolute():
            return home / name / "karat"
    raise MissingDataError("this user has no home folder", fix=f"set {variable}")


def text(value: Any) -> str:
    """Return text that says something; for `MachineSetting.type`."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(value)
    return value.strip()


def place(value: Any) -> Path:
    """Return the path of a file or folder; for `MachineSetting.type`."""
    return Path(text(value)).expanduser()


def memory_size(value: Any) -> str:
    """Return an amount of memory as it was written; for `MachineSetting.type`."""
    bytes_of(value)
    return str(value)


def address(value: Any) -> str:
    """Return the address of a scheduler; for `MachineSetting.type`."""
    split_address(text(value))
    return text(value)


@dataclass(frozen=True)
class MachineSetting:
    """A setting, declared as data: its checks, the table of all settings and the docs are made from it.

    Parameters
    ----------
    name, help
        What it is called in the file and what it means.
    type, valid
        What turns a text or a value of TOML into the setting's value or raises, and what is said then.
    default
        Returns the value where nothing is set; without one there is none.
    """

    name: str
    help: str
    type: Callable[[Any], Any]
    valid: str
    default: Callable[[], Any] = lambda: None

    @property
    def variable(self) -> str:
        """The environment variable of the same meaning."""
        return PREFIX + self.name.upper()

    def parse(self, value: Any, label: str, file: Path | None = None) -> Any:
        """Return the value, or raise an error that calls it `label`; relative paths start at the file."""
        try:
            parsed = self.type(value)
        except (ValueError, TypeError, RuntimeError):
            raise InputError(f"{label} is {value!r}", where=file, fix=f"give {self.valid}") from None
        return file.parent / parsed if file is not None and isinstance(parsed, Path) else parsed


FOLDER, PEM = "the path of a folder", "the path of a file in PEM format"
SETTINGS = {
    setting.name: setting
    for setting in (
        MachineSetting(
            "threads", "how many threads compute", natural, "a whole number, 1 or more", default_threads,
        ),
        MachineSetting(
            "memory", "how much loading and scoring a run may take at most", memory_size,
            "an amount such as 4GB, 512MiB or a number of bytes",
        ),
        MachineSetting(
            "device", "what encodes and scores: cpu, cuda", text, "auto or a device", lambda: "auto",
        ),
        MachineSetting("checkpoint", "where an interrupted pass over the scores goes on", place, FOLDER),
        MachineSetting(
            "scheduler", "the Dask scheduler whose workers compute", address,
            "tls://host:8786, or tcp://127.0.0.1:8786 on this machine",
        ),
        MachineSetting("tls_ca", "who signed the certificates of the scheduler", place, PEM),
        MachineSetting("tls_cert", "this machine's certificate for it", place, PEM),
        MachineSetting("tls_key", "the key of that certificate", place, PEM),
        MachineSetting(
            "cache", "where what is computed once is kept", place, FOLDER,
            lambda: user_folder("XDG_CACHE_HOME", ".cache"),
        ),
        MachineSetting("data", "the folder with files of benchmarks that you have", place, FOLDER),
        MachineSetting("wordnet", "WordNet's folder; by default looked for", place, FOLDER),
    )
}  # fmt: skip
"""By name, in the order in which they are listed."""

VARIABLES = {
    CONFIG: "the file of settings, or its folder",
    "KARAT_DEBUG": "show where in the code an error was raised",
    "KARAT_JUDGE_KEY": "the key of a machine judge's server",
    "KARAT_METRICS_TOKEN": "the token that may read a server's metrics",
    "KARAT_OWNER_PASSWORD": "the password of a server's owner",
}
"""What is read from the environment alone: secrets belong in no file that settings are kept in."""
SHOWN = (CONFIG, "KARAT_DEBUG")
"""Those that are not secret."""


def config_folder() -> Path:
    """Return where the user's configuration is: beside the file or in the folder that ``KARAT_CONFIG`` names.

    Otherwise ``karat`` in the user's configuration folder.
    """
    return config_file().parent


def config_file() -> Path:
    """Return the file of settings, which need not exist."""
    if not (chosen := os.environ.get(CONFIG)):
        return user_folder("XDG_CONFIG_HOME", ".config") / FILE
    path = Path(chosen).expanduser()
    if not path.is_absolute():
        what = f"{CONFIG} is {chosen!r}, which is another file in every working folder"
        raise InputError(what, fix="give the whole path")
    return path if path.suffix == ".toml" else path / FILE


def file_settings() -> dict[str, Any]:
    """Return what the file of settings says, checked; it is read again only after it has changed."""
    chosen = os.environ.get(CONFIG)
    try:
        path = config_file()
    except MissingDataError:
        return {}
    try:
        status = path.stat()
    except OSError as error:
        if chosen and path.suffix == Path(chosen).suffix:
            raise MissingDataError(
                f"cannot be read ({error.strerror})", where=path, fix=f"{CONFIG} names it: correct that"
            ) from None
        if chosen and isinstance(error, NotADirectoryError):
            fix = f"name a folder, or a file that ends in .toml, in {CONFIG}"
            raise InputError("is a file", where=path.parent, fix=fix) from None
        return {}
    return read_settings(path, status.st_mode, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4)
def read_settings(path: Path, mode: int, *stamp: int) -> dict[str, Any]:
    """Return the settings of a file; mode and stamp are what changes when somebody changes it."""
    import tomllib

    # Who writes the file names the scheduler, and the scheduler executes code here. That a group may write is
    # no reason to refuse: on many systems every user has a group of their own, and every new file allows it.
    if os.name == "posix" and mode & stat.S_IWOTH:
        what = "can be changed by every user of this machine, and a scheduler that it names executes code"
        raise InputError(what, where=path, fix=f"chmod o-w {shlex.quote(str(path))}")
    try:
        given = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        what = f"cannot be read ({error.strerror})"
        fix = "name a file" if path.is_dir() else "change its permissions"
        raise InputError(what, where=path, fix=fix) from None
    except UnicodeDecodeError as error:
        raise not_utf8(path, error) from None
    except tomllib.TOMLDecodeError as error:
        fix = 'write lines such as threads = 4 or memory = "4GB"'
        raise InputError(f"is not TOML ({error})", where=path, fix=fix) from None
    for name in given:
        if PREFIX + name.upper() in VARIABLES:
            fix = f"set {PREFIX}{name.upper()}"
            raise InputError(f"{name!r} is read from the environment alone", where=path, fix=fix)
        if name not in SETTINGS:
            raise unknown_name("setting", name, SETTINGS, where=path)
    return {name: SETTINGS[name].parse(value, name, path) for name, value in given.items()}


def stated(name: str) -> tuple[Any, str]:
    """Return the value of a setting, and where it comes from: a variable, a file, "default" or "unset"."""
    setting = SETTINGS[name]
    chosen = os.environ.get(setting.variable)
    if chosen:
        return setting.parse(chosen, setting.variable), setting.variable
    # An empty variable asks for the default, whatever the file says.
    if chosen is None and name in (values := file_settings()):
        return values[name], str(config_file())
    value = setting.default()
    return value, "unset" if value is None else "default"


def setting_of(name: str, given: Any = None) -> Any:
    """Return what was given in Python, else the variable, else what the file says, else the default.

    >>> setting_of("threads", 2)
    2
    """
    return stated(name)[0] if given is None else given


def ways_to_set(name: str) -> str:
    """Return how a setting is given, for messages.

    >>> ways_to_set("memory")
    'memory= in Python, or KARAT_MEMORY'
    """
    return f"{name}= in Python, or {SETTINGS[name].variable}"


def check_setting(name: str, known: Collection[str]) -> None:
    """Raise where the variable or the file says something that is not known."""
    value, source = stated(name)
    if value in known:
        return
    fix = f"choose one of {', '.join(known)}"
    if source == SETTINGS[name].variable:
        raise InputError(f"{source} is {value!r}", fix=fix)
    raise InputError(f"{name} is {value!r}", where=source, fix=fix)


@dataclass(frozen=True)
class SettingList(Result):
    """Every setting and variable: its value, where it comes from, and what it means.

    Parameters
    ----------
    file
        Where the file of settings is, or would be; None where there is no place for one.
    settings, variables
        The record of each setting, and of each variable that no file can hold.
    notes
        Variables that look like settings and are none.
    """

    file: Path | None
    settings: tuple[Entry, ...]
    variables: tuple[Entry, ...]
    notes: tuple[str, ...] = ()

    def records(self) -> list[Entry]:
        """Return one record per setting or variable."""
        return [*self.settings, *self.variables]

    def parts(self) -> list[Part]:
        """Return where the file is, and both tables."""
        there = "no file" if self.file is None else printable(str(self.file))
        if self.file is not None and not self.file.is_file():
            there += ", which does not exist"
        meaning = {"meaning": "help"}
        return [
            f"Settings come from variables, then from {there}.",
            table_of({"setting": "name", "value": "value", "from": "source"} | meaning, self.settings),
            table_of({"variable": "name", "value": "value"} | meaning, self.variables),
        ]


def table_of(columns: dict[str, str], entries: Sequence[Entry]) -> Layout:
    """Return records as a table of text; `columns` are heads and the keys below them."""
    cells = [
        [MISSING if entry[key] is None else printable(str(entry[key])) for key in columns.values()]
        for entry in entries
    ]
    return Layout(list(columns), cells, labels=len(columns))


def list_settings() -> SettingList:
    """Return every setting with its value and where it comes from; secrets are not shown.

    Examples
    --------
    >>> [record["name"] for record in list_settings().records()][:3]
    ['threads', 'memory', 'device']
    """
    settings, variables = [], []
    for setting in SETTINGS.values():
        value, source = stated(setting.name)
        value = None if value is None else str(value)
        settings.append(entry_of(setting.name, value, source, setting.variable, setting.help))
    for name, meaning in VARIABLES.items():
        value = os.environ.get(name) or None
        source = "unset" if value is None else name
        value = value if value is None or name in SHOWN else "set, not shown"
        variables.append(entry_of(name, value, source, name, meaning))
    known = [entry["variable"] for entry in (*settings, *variables)]
    strange = sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)
    notes = tuple(
        str(unknown_name("setting", name.removeprefix(PREFIX).lower(), SETTINGS, where=name))
        for name in strange
    )
    try:
        file = config_file()
    except MissingDataError:
        file = None
    return SettingList(file, tuple(settings), tuple(variables), notes)


def entry_of(name: str, value: Any, source: str, variable: str, meaning: str) -> Entry:
    """Return the record of a setting or variable."""
    return {"name": name, "value": value, "source": source, "variable": variable, "help": meaning}
