"""A chat endpoint that speaks OpenAI's protocol: one call, tried again where that can help."""

from __future__ import annotations

import os
import random
import time
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from karat.validation import InputError, MissingDataError

HIDDEN = "[key]"
KEY = "KARAT_JUDGE_KEY"
AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 529)
"""Answers of a server after which the same call may succeed."""
MOST_REPLY = 4_000_000
"""Bytes of a reply that are read."""


@dataclass(frozen=True)
class Endpoint:
    """Where a model answers and what it costs.

    Parameters
    ----------
    url
        Up to and without "/chat/completions": "http://127.0.0.1:8000/v1".
    model
        As the server knows it.
    key
        Sent as a bearer token; never stored or printed.
    timeout, tries
        Seconds for one call, and how often it is tried.
    most_wait
        The longest pause between two tries, in seconds, whatever the server asks for.
    parallel
        Calls at the same time.
    price_in, price_out
        Per million tokens.
    temperature, max_tokens
        Of the reply.
    extra
        Further fields of the request, as they are.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    tries: int = 5
    most_wait: float = 60.0
    parallel: int = 4
    price_in: float = 0.0
    price_out: float = 0.0
    temperature: float = 0.0
    max_tokens: int = 300
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise InputError(f"the judge's address is {self.url!r}", fix="begin with http:// or https://")
        if "@" in self.url.split("/")[2]:
            raise InputError("the judge's address holds a name or password", fix=f"put the key into {KEY}")
        if not self.model:
            raise InputError("the judge's model has no name", fix="give it with --model")
        for name, least in (("timeout", 0.001), ("tries", 1), ("parallel", 1), ("max_tokens", 1)):
            if getattr(self, name) < least:
                raise InputError(f"the judge's {name} is {getattr(self, name)}", fix=f"at least {least:g}")


def read_endpoint(path: str | Path | None = None, **given: Any) -> Endpoint:
    """Return an endpoint from a TOML file and from what is given beside it, which wins.

    The key comes from the environment: the variable named by ``key_env`` in the file, or KARAT_JUDGE_KEY.
    A file that holds a key itself is refused, since files are copied and committed.

    Examples
    --------
    >>> read_endpoint(url="http://127.0.0.1:1/v1", model="eyes").model
    'eyes'
    """
    found: dict[str, Any] = {}
    if path is not None:
        try:
            found = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise MissingDataError("there is no such file", where=path) from None
        except (OSError, ValueError) as error:
            raise InputError(f"is no TOML ({error})", where=path) from None
    for name in ("key", "api_key"):
        if name in found:
            raise InputError(
                f"holds a {name}", where=path, fix=f"put it into the environment, as {KEY}, and remove it"
            )
    variable = str(found.pop("key_env", KEY))
    found |= {name: value for name, value in given.items() if value is not None}
    known = {one.name for one in fields(Endpoint)} - {"key"}
    for name in found:
        if name not in known:
            raise InputError(
                f"has an unknown field {name!r}", where=path, fix=f"known: {', '.join(sorted(known))}"
            )
    for name in ("url", "model"):
        if name not in found:
            raise InputError(f"the judge's {name} is not given", where=path, fix=f"give it with --{name}")
    try:
        return Endpoint(**found, key=os.environ.get(variable, ""))
    except TypeError:
        raise InputError("a field of the judge has the wrong kind of value", where=path) from None


@dataclass(frozen=True)
class Reply:
    """What a call gave: the text, or why there is none; `fatal` when no other call will do better."""

    text: str = ""
    error: str = ""
    fatal: bool = False
    tokens_in: int = 0
    tokens_out: int = 0
    raw: str = ""


def call(
    endpoint: Endpoint,
    client: Any,
    messages: list[dict[str, Any]],
    pause: Callable[[float], None] = time.sleep,
) -> Reply:
    """Ask once, and again after a failure that can pass: refused, timed out, too many, a server's error.

    Pauses double from one second, with some luck in them so that parallel calls come apart; a server's
    ``Retry-After`` is heeded up to ``most_wait``.
    """
    import httpx

    body = {
        "model": endpoint.model,
        "messages": messages,
        "temperature": endpoint.temperature,
        "max_tokens": endpoint.max_tokens,
        **endpoint.extra,
    }
    head = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    last = Reply(error="was never asked")
    for attempt in range(endpoint.tries):
        wait = min(2.0**attempt * (0.5 + random.random()), endpoint.most_wait)
        try:
            with client.stream(
                "POST", f"{endpoint.url.rstrip('/')}/chat/completions", json=body, headers=head
            ) as answer:
                text = bounded(answer)
                last = read_answer(answer.status_code, text)
                again = answer.status_code in AGAIN
                wait = asked_wait(answer.headers.get("retry-after"), wait, endpoint.most_wait)
        except httpx.TimeoutException:
            last, again = Reply(error=f"no answer within {endpoint.timeout:g} s"), True
        except httpx.HTTPError as error:
            last, again = Reply(error=f"the connection failed ({type(error).__name__})"), True
        if not again:
            break
        if attempt + 1 < endpoint.tries:
            pause(wait)
    return hide(last, endpoint.key)


def bounded(answer: Any) -> str:
    """Return the body of an answer as text, up to a limit; a longer one is cut."""
    parts, size = [], 0
    for part in answer.iter_bytes():
        parts.append(part)
        size += len(part)
        if size > MOST_REPLY:
            break
    return b"".join(parts)[:MOST_REPLY].decode("utf-8", errors="replace")


def read_answer(status: int, text: str) -> Reply:
    """Return what an answer of the server means.

    >>> read_answer(401, "who are you?").fatal, read_answer(200, "<html>").error
    (True, 'the answer is no JSON')
    """
    import json

    if status != 200:
        # Wrong key, wrong address, wrong model: the next call would fail the same way.
        return Reply(error=f"the server said {status}", fatal=status in (400, 401, 403, 404, 405), raw=text)
    try:
        found = json.loads(text)
        said = found["choices"][0]["message"]["content"]
    except (ValueError, RecursionError):
        return Reply(error="the answer is no JSON", raw=text)
    except (KeyError, IndexError, TypeError):
        return Reply(error="the answer has no choices[0].message.content", raw=text)
    if isinstance(said, list):
        said = "".join(str(part.get("text", "")) for part in said if isinstance(part, dict))
    if not isinstance(said, str):
        return Reply(error="the answer's content is no text", raw=text)
    used = found.get("usage") if isinstance(found.get("usage"), dict) else {}
    return Reply(
        said,
        tokens_in=whole(used.get("prompt_tokens")),
        tokens_out=whole(used.get("completion_tokens")),
        raw=text,
    )


def whole(value: Any) -> int:
    """Return a count that a server gave; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else 0


def asked_wait(header: str | None, wait: float, most: float) -> float:
    """Return how long to wait: what the server asks for in seconds, within bounds, else `wait`.

    >>> asked_wait("3", 1.0, 60), asked_wait("1e9", 1.0, 60), asked_wait("tomorrow", 1.0, 60)
    (3.0, 60, 1.0)
    """
    try:
        asked = float(header or "")
    except ValueError:
        return wait
    return min(max(asked, 0.0), most) if asked == asked else wait


def hide(reply: Reply, key: str) -> Reply:
    """Return a reply in which the key does not stand, whatever the server echoes."""
    from dataclasses import replace

    if not key:
        return reply
    return replace(
        reply, **{name: getattr(reply, name).replace(key, HIDDEN) for name in ("text", "error", "raw")}
    )
