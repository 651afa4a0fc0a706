"""A chat endpoint that speaks OpenAI's protocol: its settings, and calls, retried where that helps."""

from __future__ import annotations

import json
import os
import random
import time
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from karat._util import read_text
from karat.errors import InputError

KEY = "KARAT_JUDGE_KEY"
HIDDEN = "[key]"
RETRIED = (408, 409, 425, 429, 500, 502, 503, 504, 529)
"""Status codes after which the same call may succeed."""
FATAL = (400, 401, 403, 404, 405)
"""Wrong key, wrong address, wrong model: the next call would fail the same way."""
CONNECT = 10.0
"""After so many seconds without a connection nothing listens at an address."""
MAX_BODY = 4_000_000
"""How many bytes of a response are read."""


@dataclass(frozen=True)
class Endpoint:
    """Where a model answers and what it costs.

    Parameters
    ----------
    url
        Up to and without "/chat/completions": "http://127.0.0.1:8000/v1".
    model
        Its name on the server.
    key
        Sent as a bearer token; never stored or printed.
    timeout, tries
        Seconds for one call, and how often it is tried.
    max_wait
        The longest pause between two tries, in seconds, whatever the server asks for.
    parallel
        Calls at the same time.
    price_in, price_out
        Per million tokens.
    temperature, max_tokens
        Of the reply.
    extra
        Further fields of the request, sent as they are.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    tries: int = 5
    max_wait: float = 60.0
    parallel: int = 4
    price_in: float = 0.0
    price_out: float = 0.0
    temperature: float = 0.0
    max_tokens: int = 300
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise InputError(
                f"the machine judge's address is {self.url!r}", fix="begin with http:// or https://"
            )
        if "@" in self.url.split("/")[2]:
            raise InputError(
                "the machine judge's address contains a user name or password", fix=f"put the key into {KEY}"
            )
        if not self.model:
            raise InputError("the machine judge's model has no name", fix="give it with --model")
        for name, least in (("timeout", 0.001), ("tries", 1), ("parallel", 1), ("max_tokens", 1)):
            if getattr(self, name) < least:
                raise InputError(
                    f"the machine judge's {name} is {getattr(self, name)}", fix=f"give at least {least:g}"
                )


def read_endpoint(path: str | Path | None = None, **given: Any) -> Endpoint:
    """Return an endpoint from a TOML file and from keywords, which override the file.

    The key comes from the environment: the variable named by ``key_env`` in the file, or KARAT_JUDGE_KEY.
    A file that contains a key is refused, since files are copied and committed.

    Examples
    --------
    >>> read_endpoint(url="http://127.0.0.1:1/v1", model="eyes").model
    'eyes'
    """
    settings: dict[str, Any] = {}
    if path is not None:
        try:
            settings = tomllib.loads(read_text(Path(path)))
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"is not TOML ({error})", where=path) from None
    for name in ("key", "api_key"):
        if name in settings:
            raise InputError(
                f"contains a {name}", where=path, fix=f"put it into the environment, as {KEY}, and remove it"
            )
    variable = str(settings.pop("key_env", KEY))
    settings |= {name: value for name, value in given.items() if value is not None}
    known = {setting.name for setting in fields(Endpoint)} - {"key"}
    for name in settings:
        if name not in known:
            raise InputError(
                f"has an unknown field {name!r}", where=path, fix=f"known: {', '.join(sorted(known))}"
            )
    for name in ("url", "model"):
        if name not in settings:
            raise InputError(
                f"the machine judge's {name} is not given", where=path, fix=f"give it with --{name}"
            )
    try:
        return Endpoint(**settings, key=os.environ.get(variable, ""))
    except TypeError:
        raise InputError("a field of the machine judge has a value of the wrong type", where=path) from None


@dataclass(frozen=True)
class Response:
    """What a call returned: the text, or why there is none; `fatal` when every other call would fail too, and
    `unreached` when nothing listens at the address."""

    text: str = ""
    error: str = ""
    fatal: bool = False
    unreached: bool = False
    tokens_in: int = 0
    tokens_out: int = 0
    raw: str = ""


def call(
    endpoint: Endpoint,
    client: Any,
    messages: list[dict[str, Any]],
    pause: Callable[[float], None] = time.sleep,
    *,
    reached: bool = True,
) -> Response:
    """Call once, and again after a temporary failure: refused, timed out, too many calls, a server error.

    Pauses double from one second, with some randomness so that parallel calls spread; a server's
    ``Retry-After`` is respected up to ``max_wait``. An address that nothing has `reached` yet is tried twice.
    """
    import httpx

    body = {
        "model": endpoint.model,
        "messages": messages,
        "temperature": endpoint.temperature,
        "max_tokens": endpoint.max_tokens,
        **endpoint.extra,
    }
    url = f"{endpoint.url.rstrip('/')}/chat/completions"
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    response = Response(error="was not called")
    for attempt in range(endpoint.tries):
        wait = min(2.0**attempt * (0.5 + random.random()), endpoint.max_wait)
        try:
            with client.stream("POST", url, json=body, headers=headers) as stream:
                response = parse_body(stream.status_code, read_body(stream))
                retry = stream.status_code in RETRIED
                wait = requested_wait(stream.headers.get("retry-after"), wait, endpoint.max_wait)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            failed = f"the connection failed ({type(error).__name__})"
            response, retry = Response(error=failed, unreached=True), reached or not attempt
        except httpx.TimeoutException:
            response, retry = Response(error=f"no answer within {endpoint.timeout:g} s"), True
        except httpx.HTTPError as error:
            response, retry = Response(error=f"the connection failed ({type(error).__name__})"), True
        if not retry:
            break
        if attempt + 1 < endpoint.tries:
            pause(wait)
    return hide(response, endpoint.key)


def read_body(stream: Any) -> str:
    """Return the body of a response as text, up to a limit; a longer one is cut."""
    parts, size = [], 0
    for part in stream.iter_bytes():
        parts.append(part)
        size += len(part)
        if size > MAX_BODY:
            break
    return b"".join(parts)[:MAX_BODY].decode("utf-8", errors="replace")


def parse_body(status: int, body: str) -> Response:
    """Return the text of a response, or its error.

    >>> parse_body(401, "who are you?").fatal, parse_body(200, "<html>").error
    (True, 'the response is not JSON')
    """
    if status != 200:
        return Response(error=f"the server returned {status}", fatal=status in FATAL, raw=body)
    try:
        data = json.loads(body)
        content = data["choices"][0]["message"]["content"]
    except (ValueError, RecursionError):
        return Response(error="the response is not JSON", raw=body)
    except (KeyError, IndexError, TypeError):
        return Response(error="the response has no choices[0].message.content", raw=body)
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if not isinstance(content, str):
        return Response(error="the content of the response is not text", raw=body)
    usage = data.get("usage") if isinstance(data.get("usage"), dict) else {}
    return Response(
        content,
        tokens_in=count(usage.get("prompt_tokens")),
        tokens_out=count(usage.get("completion_tokens")),
        raw=body,
    )


def count(value: Any) -> int:
    """Return a count that a server returned; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else 0


def requested_wait(header: str | None, wait: float, longest: float) -> float:
    """Return how long to wait: the seconds that the server asks for, within bounds, else `wait`.

    >>> requested_wait("3", 1.0, 60), requested_wait("1e9", 1.0, 60), requested_wait("tomorrow", 1.0, 60)
    (3.0, 60, 1.0)
    """
    try:
        seconds = float(header or "")
    except ValueError:
        return wait
    return min(max(seconds, 0.0), longest) if seconds == seconds else wait


def hide(response: Response, key: str) -> Response:
    """Return a response without the key, whatever the server echoes."""
    if not key:
        return response
    return replace(
        response, **{name: getattr(response, name).replace(key, HIDDEN) for name in ("text", "error", "raw")}
    )
