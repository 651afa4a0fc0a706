"""Headers on every response; the last place where an error is caught."""

from __future__ import annotations

import logging
import secrets

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.web.security.refusing import refuse

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
ALWAYS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # An invitation must not travel to other sites; our own need it to prove where they come from.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
LOG = logging.getLogger("karat.web")


class Headers:
    """Set headers on every response, and answer 500 when something inside failed.

    Parameters
    ----------
    app
        What is inside.
    secure
        Whether people come by https; browsers then never try plain http again.
    """

    def __init__(self, app: ASGIApp, secure: bool = False) -> None:
        self.app = app
        values = ALWAYS | ({"strict-transport-security": "max-age=31536000"} if secure else {})
        self.always = [(key.encode(), value.encode()) for key, value in values.items()]
        self.names = {key for key, _ in self.always}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def marked(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": self.complete(list(message.get("headers", [])))}
            await send(message)

        try:
            await self.app(scope, receive, marked)
        except Exception:
            number = secrets.token_hex(4)
            # The route's own text, never the query or the body: they may hold names.
            LOG.exception("error %s in %s", number, scope.get("method"))
            if started:
                raise
            await refuse(marked, 500, f"Something went wrong; the server's log has it as {number}.")

    def complete(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Return the headers with ours; nothing inside can weaken them."""
        kept = [(key, value) for key, value in headers if key.lower() not in self.names and key != b"server"]
        if not any(key.lower() == b"cache-control" for key, _ in kept):
            kept.append((b"cache-control", b"no-store"))
        return kept + self.always
