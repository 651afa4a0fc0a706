"""One call of a chat endpoint, tried again where that can help."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from karat.judging.judges.endpoint import Endpoint

HIDDEN = "[key]"
AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 529)
"""Answers of a server after which the same call may succeed."""
FATAL = (400, 401, 403, 404, 405)
"""Wrong key, wrong address, wrong model: the next call would fail the same way."""
MOST_REPLY = 4_000_000
"""Bytes of a reply that are read."""


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
    if status != 200:
        return Reply(error=f"the server said {status}", fatal=status in FATAL, raw=text)
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
    if not key:
        return reply
    return replace(
        reply, **{name: getattr(reply, name).replace(key, HIDDEN) for name in ("text", "error", "raw")}
    )
