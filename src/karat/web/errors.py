"""Errors as responses: one sentence each, never a traceback."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from karat._util import plural
from karat.errors import KaratError
from karat.store import LOCKED, StoreError, system_failure
from karat.store.accounts import OWNER
from karat.web.access import NotAllowed, NotSignedIn, current_user
from karat.web.accounts import TooMany
from karat.web.failures import sentence_of
from karat.web.pages import base_of, render
from karat.web.writer import Busy

SENTENCES = {
    401: "Sign in first.",
    403: "Your role does not allow this.",
    404: "There is no page at this address.",
    405: "This method is not allowed here.",
}


def add_handlers(app: FastAPI) -> None:
    """Register how each kind of error is answered."""
    app.add_exception_handler(KaratError, wrong_input)
    app.add_exception_handler(StoreError, store_failed)
    app.add_exception_handler(OSError, system_failed)
    app.add_exception_handler(RequestValidationError, wrong_shape)
    app.add_exception_handler(NotSignedIn, not_signed_in)
    app.add_exception_handler(NotAllowed, lambda request, error: respond(request, 403))
    app.add_exception_handler(TooMany, too_many)
    app.add_exception_handler(Busy, busy)
    app.add_exception_handler(HTTPException, http_error)


def respond(request: Request, status: int, sentence: str = "") -> Response:
    """Return an error as JSON, or as a page if a browser opened an address."""
    sentence = sentence or SENTENCES.get(status, "The request failed.")
    if wants_page(request):
        return render(request, "error.html", status, sentence=sentence, code=status)
    return JSONResponse({"error": sentence}, status)


def wants_page(request: Request) -> bool:
    """Whether the response is shown in a browser, not read by a script."""
    path = request.url.path.removeprefix(base_of(request))
    return request.method == "GET" and not path.startswith(("/api/", "/static/", "/metrics", "/health"))


def wrong_input(request: Request, error: Exception) -> Response:
    """Return karat's own message. Only owners see where the error is: it may be a path on this machine."""
    assert isinstance(error, KaratError)
    user = current_user(request)
    if error.where is not None and (user is None or not user.may(OWNER)):
        error = KaratError(error.what, fix=error.fix)
    return respond(request, 400, str(error))


def wrong_shape(request: Request, error: Exception) -> Response:
    """Return what pydantic found wrong: the name of the field, without its value."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return respond(request, 422, "The body of the request is not valid JSON.")
    # Field names that the client invented are not repeated.
    field = "an unknown field" if first["type"] == "extra_forbidden" else str(first["loc"][-1])[:40]
    message = str(first["msg"])
    return respond(request, 422, f"{field}: {message[:1].lower()}{message[1:]}.")


def not_signed_in(request: Request, error: Exception) -> Response:
    """Redirect to the sign-in page, which leads back."""
    if not wants_page(request):
        return JSONResponse({"error": SENTENCES[401]}, 401)
    base = base_of(request)
    path = request.url.path.removeprefix(base)
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{base}/login?next={quote(path + query, safe='')}", 303)


def too_many(request: Request, error: Exception) -> Response:
    """Refuse a client that failed too often."""
    assert isinstance(error, TooMany)
    wait = plural(error.wait, "second") if error.wait < 60 else plural(-(-error.wait // 60), "minute")
    response = respond(request, 429, f"Too many attempts. Try again in {wait}{error.otherwise}.")
    response.headers["retry-after"] = str(error.wait)
    return response


def busy(request: Request, error: Exception) -> Response:
    """Return that an answer is not known to be saved."""
    assert isinstance(error, Busy)
    return JSONResponse({"error": str(error)}, 503, {"retry-after": str(error.wait)})


def store_failed(request: Request, error: Exception) -> Response:
    """Return that the store cannot be used now: the request may be repeated."""
    assert isinstance(error, StoreError)
    request.app.state.failures.note(error.state)
    if not hasattr(request.state, "user"):
        request.state.user = None  # the page of the error must not ask the store
    response = respond(request, 503, f"{sentence_of(error.state)} Try again in a moment.")
    response.headers["retry-after"] = "2" if error.state == LOCKED else "5"
    return response


def system_failed(request: Request, error: Exception) -> Response:
    """Return that the disk or the descriptors fail; every other error of the system is a bug."""
    assert isinstance(error, OSError)
    failure = system_failure(error)
    if failure is None:
        raise error
    return store_failed(request, failure)


def http_error(request: Request, error: Exception) -> Response:
    """Return an unknown path or method, and errors that routes raise themselves."""
    assert isinstance(error, HTTPException)
    sentence = "" if error.status_code in SENTENCES else str(error.detail)
    response = respond(request, error.status_code, sentence)
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response
