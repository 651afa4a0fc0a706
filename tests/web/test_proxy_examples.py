"""The examples of docs/web-operation.md, run as written: nginx and Caddy, and the unit of systemd.

Only what belongs to the machine is exchanged: ports, the certificate, and where karat is installed.
"""

import os
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path

import httpx
import pytest
import typer

from karat.cli.serve import app as serve_command
from karat.web.accounts.limits import FREE
from web.process import free_port
from web.servers import PASSWORD, Client

PAGE = Path(__file__).parents[2] / "docs" / "web-operation.md"
NAME = "judge.example.org"


def example(language):
    """Return the block of the page in a language."""
    return re.search(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.S | re.M)[1]


def needs(program):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def exchange(text, *pairs):
    for old, new in pairs:
        assert old in text, f"the example has no {old!r}"
        text = text.replace(old, str(new))
    return text


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    needs("openssl")
    folder = tmp_path_factory.mktemp("certificate")
    command = (
        f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={NAME} "
        f"-addext subjectAltName=DNS:{NAME} -keyout {folder}/key.pem -out {folder}/cert.pem"
    )
    subprocess.run(shlex.split(command), check=True, capture_output=True, timeout=60)
    return folder


def nginx(folder, certificate, http, https, port):
    """Write the files of nginx, and return the commands that check and run it."""
    paths = "/etc/letsencrypt/live/judge.example.org"
    site = exchange(
        example("nginx"), ("listen 80;", f"listen {http};"), ("listen 443 ", f"listen {https} "),
        (f"{paths}/fullchain.pem", certificate / "cert.pem"),
        (f"{paths}/privkey.pem", certificate / "key.pem"),
        ("127.0.0.1:8765", f"127.0.0.1:{port}"),
    )  # fmt: skip
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    # Its workers write into our folder: they must not be another user.
    user = "user root;\n" if os.geteuid() == 0 else ""
    main = f"{user}pid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{site}}}\n"
    (folder / "nginx.conf").write_text(main)
    command = ["nginx", "-c", folder / "nginx.conf", "-e", folder / "error.log"]
    return [*command, "-t"], [*command, "-g", "daemon off;"]


def caddy(folder, certificate, http, https, port):
    """Write the file of Caddy, and return the commands that check and run it."""
    own = f"tls {certificate}/cert.pem {certificate}/key.pem"
    site = exchange(
        example("caddy"), (f"{NAME} {{", f"{NAME} {{\n    {own}"), ("127.0.0.1:8765", f"127.0.0.1:{port}")
    )
    options = f"{{\n    admin off\n    http_port {http}\n    https_port {https}\n}}\n"
    (folder / "Caddyfile").write_text(options + site)
    rest = ["--adapter", "caddyfile", "--config", folder / "Caddyfile"]
    return ["caddy", "validate", *rest], ["caddy", "run", *rest]


@pytest.fixture(params=[nginx, caddy], ids=["nginx", "caddy"])
def proxied(request, serve, tmp_path, certificate, monkeypatch):
    """A server behind a proxy, and a function that makes clients with addresses of their own."""
    needs(request.param.__name__)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    server = serve(url=f"https://{NAME}", proxies=("127.0.0.1",))
    http, https = free_port(), free_port()
    check, run = request.param(tmp_path, certificate, http, https, server.settings.port)
    checked = subprocess.run(check, capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0, checked.stderr
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(run, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        wait_for(https, process, tmp_path / "log")
        trust = ssl.create_default_context(cafile=certificate / "cert.pem")

        def client(address="127.0.0.1", **headers):
            transport = NamedTransport(verify=trust, local_address=address)
            sent = {"Host": NAME, "Origin": server.settings.origin} | headers
            made = Client(
                base_url=f"https://127.0.0.1:{https}", headers=sent, transport=transport, timeout=30
            )
            server.clients.append(made)
            return made

        server.through, server.http = client, http
        yield server
    finally:
        process.terminate()
        process.wait(30)


class NamedTransport(httpx.HTTPTransport):
    """Asks for the certificate of the public name."""

    def handle_request(self, request):
        request.extensions["sni_hostname"] = NAME
        return super().handle_request(request)


def wait_for(port, process, log):
    end = time.monotonic() + 30
    while True:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end, "the proxy does not answer"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)


def test_the_proxies_of_the_page(proxied):
    """One test: a server and a proxy start slowly."""
    plain = httpx.get(f"http://127.0.0.1:{proxied.http}/users", headers={"Host": NAME})
    assert plain.status_code in (301, 308)
    assert plain.headers["location"] == f"https://{NAME}/users"

    proxied.accounts.users.add("ann", "owner", PASSWORD)
    ann = proxied.through("127.0.0.5")
    cookie = ann.get("/login").headers["set-cookie"]
    assert cookie.startswith("__")
    assert "Secure" in cookie
    assert ann.sign_in("ann").status_code == 200
    assert ann.get("/users").headers["strict-transport-security"]
    link = ann.post("/api/users/links", json={"role": "judge"}).json()["link"]
    assert link.startswith(f"https://{NAME}/invitation#")

    # The address is the client's own, whatever the client says.
    for k in range(FREE):
        lying = proxied.through("127.0.0.66", **{"X-Forwarded-For": f"10.0.0.{k}"})
        assert lying.sign_in("ann", "wrong password").status_code == 400
    lying = proxied.through("127.0.0.66", **{"X-Forwarded-For": "127.0.0.5"})
    assert lying.sign_in("ann").status_code == 429
    assert proxied.through("127.0.0.5").sign_in("ann").status_code == 200
    assert proxied.through().get("/metrics").status_code in (401, 403), "a proxy makes nobody local"
    assert proxied.through().get("/health").json()["status"] == "ok"

    # The server refuses large bodies, with its own sentence.
    refused = ann.post("/api/session", content=b"x" * 300_000)
    assert refused.status_code == 413
    assert refused.json() == {"error": "The request is too large: at most 262,144 bytes."}

    # Events arrive while the stream is open.
    publish = proxied.app.state.watch.register("trial", "owner")
    with ann.stream("GET", "/api/dashboard/stream") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        assert next(lines) == "retry: 2000"
        publish({"said": "just now"})
        assert any("just now" in line for line in lines)


def test_the_unit_of_the_page(tmp_path):
    unit = example("ini")
    command = re.search(r"^ExecStart=((?:.*\\\n)*.*)$", unit, re.M)[1].replace("\\\n", " ")
    program, name, *words = shlex.split(command)
    assert (program, name) == ("/opt/karat/bin/karat", "serve")
    known = {option for param in typer.main.get_command(serve_command).params for option in param.opts}
    assert {word for word in words if word.startswith("--")} <= known
    # The server does not create this folder; systemd does.
    published = words[words.index("--published") + 1].removeprefix("/var/lib/")
    assert published in re.search(r"^StateDirectory=(.*)$", unit, re.M)[1].split()
    needs("systemd-analyze")
    karat = tmp_path / "karat"
    karat.write_text("#!/bin/sh\n")
    karat.chmod(0o755)
    file = tmp_path / "karat.service"
    file.write_text(exchange(unit, ("/opt/karat/bin/karat", karat)))
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", file], capture_output=True, text=True, timeout=60
    )
    # It also tells of other units of this machine.
    about = [line for line in checked.stderr.splitlines() if "karat" in line]
    assert (checked.returncode, about) == (0, [])
