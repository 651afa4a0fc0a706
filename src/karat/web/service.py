"""A running server: of a project, on this machine or for others, until it is stopped."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from getpass import getpass
from pathlib import Path
from tempfile import TemporaryDirectory

from karat._util import check_choice, passing_key, plural
from karat.errors import InputError, printable
from karat.store import Project
from karat.store.accounts import MIN_PASSWORD, OWNER, Accounts, fold
from karat.web.accounts import settle_foreign
from karat.web.app import close_app, create_app
from karat.web.demo import make_demo
from karat.web.judging import not_shown
from karat.web.operation import log_config
from karat.web.server import (
    check_open,
    listen,
    make_server,
    mode_note,
    owner_link,
    raise_descriptor_limit,
    until_stopped,
)
from karat.web.settings import Settings

TURN = 0.0005
"""How many seconds a thread may keep the interpreter while others wait: a tenth of Python's default."""
PASSWORD = "KARAT_OWNER_PASSWORD"
"""The environment variable of a new owner's password."""


def print_notes(notes: Iterable[str]) -> None:
    """Print what the operator should know on standard error."""
    for note in notes:
        print(f"note: {printable(note, lines=True)}", file=sys.stderr)


def serve(
    project: str | Path = "",
    run: Iterable[str | Path] | str | Path = (),
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    public_url: str = "",
    prefix: str = "",
    proxy: Iterable[str] = (),
    owner: str = "",
    password_file: str | Path | None = None,
    disable: Iterable[str] = (),
    confirm: bool = False,
    published: str | Path = "",
    lease: float = 30.0,
    log_level: str = "",
    demo: bool = False,
    tell: Callable[[Iterable[str]], object] = print_notes,
) -> None:
    """Serve the judging page and the dashboard of a project, until it is stopped by Ctrl+C.

    By default only this machine can reach it, and the owner signs in by a link that is printed and works
    once. For others it starts only if the project has an owner with a password.

    Parameters
    ----------
    project
        The project's file or address.
    run
        Files of runs, among which the owner can choose those of the goal.
    host, port
        Where it listens; port 0 takes a free one.
    public_url, prefix
        The address that users type, and the path of all pages if that has none.
    proxy
        Addresses of reverse proxies whose X-Forwarded-For and -Proto are trusted.
    owner, password_file
        The name of an owner to create first, and the file with the password in its first line. Otherwise it
        comes from the environment (KARAT_OWNER_PASSWORD), the terminal, or standard input.
    disable
        Names of accounts to disable first, with their links.
    confirm
        Whether accounts and open links that were not made on this machine get their rights: the project is
        your own, moved, restored, or of an older version. Otherwise the terminal asks, where there is one.
    published
        The folder for published benchmarks; without it, download them before the server stops.
    lease
        How many minutes a task stays leased to an annotator.
    log_level
        Of the log, which is lines of JSON: debug, info, warning or error.
    demo
        Make a small world and serve it.
    tell
        Takes sentences that the operator should know; by default they are printed on standard error.
    """
    if demo == bool(project):
        raise InputError("give either a project or --demo", fix="run karat serve project.db")
    if password_file is not None and not owner:
        raise InputError("--password-file is the password of a new owner", fix="pass --owner NAME too")
    names = [disable] if isinstance(disable, str) else list(disable)
    proxies = (proxy,) if isinstance(proxy, str) else tuple(proxy)
    with until_stopped(), ExitStack() as stack:
        place = demo_project(stack) if demo else str(project)
        files = [run] if isinstance(run, str | Path) else list(run)
        runs = files or (sorted(Path(place).parent.glob("runs/*.npy")) if demo else [])
        listening = stack.enter_context(listen(host, port))
        settings = Settings(
            place, host, listening.getsockname()[1], public_url, prefix, proxies, lease_seconds=60 * lease,
            published=str(published), demo=demo, runs=tuple(map(str, runs)),
        )  # fmt: skip
        web = create_app(settings)
        stack.callback(close_app, web)
        accounts, notes = web.state.accounts, list(web.state.project.notes)
        if owner:
            file = None if password_file is None else Path(password_file)
            notes += add_owner(accounts, owner, file)
        notes += [disable_account(accounts, name) for name in names]
        notes += settle_foreign(accounts, confirm, ask=sys.stdin.isatty() and sys.stderr.isatty())
        check_open(accounts, settings)
        # Load it now: the first request must not wait for it, and a missing one must be reported here.
        notes += not_shown(web.state.project)
        web.state.goal.runs.names()
        notes += web.state.pictures.notes() + ([] if demo else what_is_read(web.state.project, settings))
        notes += [mode_note(web.state.project)]
        tell([note for note in notes if note])
        announce(web.state.project.where, settings, owner_link(accounts, settings))
        raise_descriptor_limit()
        # Threads that return from the database run sooner: a lease is a dozen short queries.
        sys.setswitchinterval(TURN)
        make_server(web, settings, log_config(level_of(log_level, settings))).run([listening])


def what_is_read(project: Project, settings: Settings) -> list[str]:
    """Return what the server reads besides the project, a sentence each."""
    benchmark = project.benchmark()
    paths = [project.source, *(f"{name}={value}" for name, value in project.settings.items())]
    read = [f"reads the benchmark from {', '.join(paths)}"]
    if benchmark.image_paths:
        read.append(f"reads images below {os.path.realpath(benchmark.image_root or '')}")
    return [*read, *([f"reads the runs {', '.join(settings.runs)}"] if settings.runs else [])]


def level_of(level: str, settings: Settings) -> str:
    """Return the level of the log; by default warnings, and every request if others can reach the server."""
    default = "info" if settings.public else "warning"
    return check_choice(level or default, ("debug", "info", "warning", "error"), "--log-level").upper()


def demo_project(stack: ExitStack) -> str:
    """Make the demonstration in a temporary folder, and return its project; nothing is left of it."""
    stack.enter_context(passing_key())
    folder = stack.enter_context(TemporaryDirectory(prefix="karat-demo-"))
    return str(make_demo(Path(folder)))


def add_owner(accounts: Accounts, name: str, password_file: Path | None) -> list[str]:
    """Create an owner, or take one who exists; return what to tell the operator.

    One who came with the project gets a new password: whoever made the account may know the old one.

    A password is never an option of the command: every user of this machine could see it.
    """
    prompt = f"Password for {name}, at least {MIN_PASSWORD} characters"
    account = next((one for one in accounts.users.read() if fold(one.name) == fold(name)), None)
    if account is None:
        accounts.users.add(name, OWNER, read_password(prompt, password_file))
        return []
    if account.role != OWNER or not account.active:
        problem = f"is a {account.role}" if account.role != OWNER else "is disabled"
        raise InputError(f"{account.name!r} {problem}", where="--owner", fix="choose another name")
    if account.has_password and account.confirmed:
        return [f"the owner {account.name} already exists; the password is unchanged"]
    accounts.users.set_password(account.id, read_password(prompt, password_file), confirm=True)
    if not account.confirmed:
        return [f"the owner {account.name} came with the project and has the password that you gave now"]
    return [f"the owner {account.name} already existed and has a password now"]


def disable_account(accounts: Accounts, name: str) -> str:
    """Disable an account, end its sessions and revoke its links; return what to tell the operator."""
    number = accounts.users.number_of(name)
    if number is None:
        raise InputError(f"there is no account {name!r}", where="--disable", fix="check the name")
    accounts.users.set_active(number, False)
    links = accounts.invitations.revoke_of(number)
    return f"the account {name} is disabled" + (f", {plural(links, 'link')} revoked" if links else "")


def read_password(prompt: str, path: Path | None) -> str:
    """Return a new password: from a file, the environment, the terminal or standard input, in this order."""
    if path is not None:
        return password_in(path)
    if password := os.environ.pop(PASSWORD, ""):
        return password
    return ask_password(prompt)


def password_in(path: Path) -> str:
    """Return the first line of a file that only its owner and group can read."""
    try:
        with path.open(encoding="utf-8") as handle:
            mode = os.fstat(handle.fileno()).st_mode
            if mode & stat.S_IROTH and stat.S_ISREG(mode):
                raise InputError(
                    "every user of this machine can read this password", where=path, fix=f"chmod 600 {path}"
                )
            password = handle.readline(1000).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise InputError(f"cannot be read ({reason})", where=path, fix="check --password-file") from None
    if not password:
        raise InputError("the first line is empty", where=path, fix="write the password into it")
    return password


def ask_password(prompt: str) -> str:
    """Return a password that is typed twice; without a terminal, read the first line of standard input."""
    if sys.stdin.isatty():
        while (password := getpass(f"{prompt}: ")) != getpass("Repeat for confirmation: "):
            print("The two do not match.", file=sys.stderr)
        return password
    print("note: there is no terminal, so the password is read from standard input", file=sys.stderr)
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise InputError(
            "the password is empty",
            fix=f"pass --password-file, set {PASSWORD}, or pass the password on standard input",
        )
    return password


def announce(place: str, settings: Settings, link: str | None) -> None:
    """Print the address of the pages, and the owner's link."""
    print(printable(f"{place}: {settings.address}"), flush=True)
    if link is not None:
        print(f"owner's link (works once): {link}", flush=True)
    print("stop with Ctrl+C", flush=True)
