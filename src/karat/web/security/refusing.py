"""How a request is refused before any route sees it."""

from __future__ import annotations

import json

from starlette.types import Send


async def refuse(send: Send, status: int, sentence: str) -> None:
    """Send a sentence and end the connection, whatever else the client meant to send."""
    body = json.dumps({"error": sentence}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def header(headers: list[tuple[bytes, bytes]], name: bytes) -> str | None:
    """Return the value of a header; None where it is missing, empty where it stands twice."""
    found = [value for key, value in headers if key == name]
    if not found:
        return None
    return found[0].decode("latin-1") if len(found) == 1 else ""
