"""Changes come from our own pages only: the page's token, and the browser's word where it comes from."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from karat.web.security.cookies import Cookies
from karat.web.security.csrf import csrf_of, same
from karat.web.security.refusing import header, refuse
from karat.web.settings import Settings

SAFE = ("GET", "HEAD", "OPTIONS")


class Origins:
    """Refuse changes that do not come from our own pages.

    Parameters
    ----------
    app
        What is inside.
    settings
        They say which origin is ours, beside the request's own host.
    cookies
        Which hold the token that the page's is made from.
    """

    def __init__(self, app: ASGIApp, settings: Settings, cookies: Cookies) -> None:
        self.app, self.cookies = app, cookies
        self.ours = settings.origin if settings.url else ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and scope["method"] not in SAFE:
            wrong = self.wrong(scope)
            if wrong:
                await refuse(send, 403, wrong)
                return
        await self.app(scope, receive, send)

    def wrong(self, scope: Scope) -> str:
        """Return what is wrong with a change; empty when nothing is."""
        headers = scope["headers"]
        origin, site = header(headers, b"origin"), header(headers, b"sec-fetch-site")
        if site not in (None, "same-origin") or (origin is None and site is None):
            return "This request does not come from a page of this server."
        own = f"{scope.get('scheme', 'http')}://{header(headers, b'host') or ''}".lower()
        if origin is not None and origin.lower() not in (own, self.ours or own):
            return "This request comes from another site."
        token, fresh = self.cookies.guarded_by(header(headers, b"cookie") or "")
        if fresh or not same(header(headers, b"x-csrf-token") or "", csrf_of(token)):
            return "This page is too old or signed in as somebody else: reload it."
        return ""
