"""A project of the world, a server for it, and clients that have signed in."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import uvicorn
from fastapi import FastAPI

from karat.forms import load_form
from karat.judging import make_pool, make_tasks
from karat.judging.pools import GoldChoice
from karat.store import Project, create_project
from karat.web.app import create_app
from karat.web.security.cookies import Cookies
from karat.web.server import listen, make_server
from karat.web.settings import Settings
from karat.world import make_world, save_world, simulate_systems

PASSWORD = "a long pass phrase"


def make_project(folder: Path, form: str = "pair", images: int = 30, pictures: bool = True, **tasks) -> Path:
    """Write a world, pool its systems, pack tasks, and return the project's file."""
    folder.mkdir(parents=True, exist_ok=True)
    world = make_world(images=images, captions=2, seed=1)
    save_world(world, folder / "world", pictures=pictures)
    chosen = load_form(form)
    pool = make_pool(
        simulate_systems(world, seed=1), world.benchmark(), top=2, form=chosen, gold=GoldChoice(depth=5)
    )
    place = folder / "project.db"
    with create_project(
        place, world.benchmark(), chosen, source=str(folder / "world"), name="try"
    ) as project:
        project.pools.add(pool)
        project.pools.add_tasks(make_tasks(pool, chosen, **tasks))
    return place


class Client(httpx.Client):
    """A client that speaks like one of our pages: same origin, and the page's token with every change."""

    def open(self, path: str) -> httpx.Response:
        """Get a page and remember its token."""
        response = self.get(path)
        found = re.search(r'<meta name="csrf" content="([0-9a-f]+)">', response.text)
        if found:
            self.headers["X-CSRF-Token"] = found[1]
        return response

    def sign_in(self, name: str, password: str = PASSWORD, **more) -> httpx.Response:
        """Sign in and, if that worked, take up the new session's token."""
        self.open("/login")
        response = self.post("/api/session", json={"name": name, "password": password, **more})
        if response.is_success:
            self.open("/account")
        return response


@dataclass
class Served:
    """A project that a server serves, which may be in another process, and its clients."""

    settings: Settings
    project: Project
    clients: list[Client] = field(default_factory=list)
    host: str = "127.0.0.1"

    @property
    def address(self) -> str:
        return f"http://{self.host}:{self.settings.port}{self.settings.path}"

    @property
    def accounts(self):
        return self.project.accounts

    @property
    def cookies(self) -> Cookies:
        settings = self.settings
        return Cookies(self.project.where, settings.path, settings.secure, settings.session_seconds)

    def visitor(self, **headers: str) -> Client:
        """A client that has not signed in."""
        origin = self.settings.origin
        made = Client(base_url=self.address, headers={"Origin": origin} | headers, timeout=30)
        self.clients.append(made)
        return made

    def client(self, role: str = "judge", name: str | None = None) -> Client:
        """A client of a role that has signed in; an account is created unless there is one of that name."""
        name = name or f"{role}-1"
        if name not in {one.name for one in self.accounts.users.read()}:
            self.accounts.users.add(name, role, PASSWORD)
        made = self.visitor()
        assert made.sign_in(name).status_code == 200
        return made

    def close_clients(self) -> None:
        for client in self.clients:
            client.close()


@dataclass(kw_only=True)
class Server(Served):
    """A server in a thread, on a free port."""

    app: FastAPI
    uvicorn: uvicorn.Server
    thread: threading.Thread

    def stop(self) -> None:
        self.close_clients()
        self.uvicorn.should_exit = True
        self.thread.join(30)
        assert not self.thread.is_alive()


def start(place: Path | str, **settings) -> Server:
    """Start a server for a project and wait until it answers."""
    listening = listen("127.0.0.1", 0)
    made = Settings(str(place), port=listening.getsockname()[1], **settings)
    app = create_app(made)
    server = make_server(app, made)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    end = time.monotonic() + 30
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        assert time.monotonic() < end, "the server does not answer"
        time.sleep(0.01)
    return Server(made, app.state.project, app=app, uvicorn=server, thread=thread)
