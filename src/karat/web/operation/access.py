"""Who may see the figures: an owner, whoever has the token, and this machine while it serves nobody else."""

from __future__ import annotations

import os

from fastapi import Request

from karat.errors import InputError
from karat.judging.store.accounts import OWNER
from karat.web.security import same
from karat.web.settings import is_loopback
from karat.web.users import NotAllowed, NotSignedIn, current_user

VARIABLE = "KARAT_METRICS_TOKEN"
LEAST = 16
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


def metrics_token() -> str:
    """Return the token that Prometheus sends, from the environment; empty where there is none."""
    token = os.environ.get(VARIABLE, "")
    if token and len(token) < LEAST:
        raise InputError(
            f"has {len(token)} characters", where=VARIABLE, fix=f"use at least {LEAST} random ones"
        )
    return token


def check_may_see(request: Request, token: str) -> None:
    """Raise unless a request may see the figures.

    A proxy on this machine makes everybody look like this machine. So that counts only where the server is
    for nobody else, and the request did not come by way of a proxy that says so.

    Parameters
    ----------
    request
        The one.
    token
        What "Authorization: Bearer …" must hold; empty: no token will do.
    """
    given = request.headers.get("authorization", "")
    if token and given.startswith("Bearer ") and same(given[7:], token):
        return
    forwarded = any(name in request.headers for name in FORWARDED)
    near = request.client is not None and is_loopback(request.client.host)
    if near and not forwarded and not request.app.state.settings.public:
        return
    user = current_user(request)
    if user is None:
        raise NotSignedIn
    if not user.may(OWNER):
        raise NotAllowed
