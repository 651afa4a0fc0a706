"""Living below a path: behind a proxy that cuts the prefix off, or one that leaves it."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class Prefix:
    """Tell what is inside below which path it lies.

    Parameters
    ----------
    app
        What is inside.
    path
        The prefix, such as "/karat"; empty for none.
    """

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app, self.path = app, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if self.path and scope["type"] == "http":
            asked = scope["path"]
            if asked != self.path and not asked.startswith(f"{self.path}/"):
                asked = self.path + asked
            scope = {**scope, "path": asked, "root_path": self.path}
        await self.app(scope, receive, send)
