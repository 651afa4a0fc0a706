"""Errors as answers: one sentence each, never a trace."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from karat.errors import KaratError
from karat.judging.store.accounts import OWNER
from karat.web.accounts import TooMany
from karat.web.pages import base_of, render
from karat.web.users import NotAllowed, NotSignedIn, current_user
from karat.web.writer import Busy

SENTENCES = {
    401: "Sign in first.",
    403: "You may not do this.",
    404: "There is nothing here.",
    405: "This cannot be done here.",
}


def add_handlers(app: FastAPI) -> None:
    """Say how each kind of error is answered."""
    app.add_exception_handler(KaratError, wrong_input)
    app.add_exception_handler(RequestValidationError, wrong_shape)
    app.add_exception_handler(NotSignedIn, not_signed_in)
    app.add_exception_handler(NotAllowed, lambda request, error: answer(request, 403))
    app.add_exception_handler(TooMany, too_many)
    app.add_exception_handler(Busy, busy)
    app.add_exception_handler(HTTPException, http_error)


def answer(request: Request, status: int, sentence: str = "") -> Response:
    """Return an error as json, or as a page to somebody who follows links."""
    sentence = sentence or SENTENCES.get(status, "This did not work.")
    if wants_page(request):
        return render(request, "error.html", status, sentence=sentence)
    return JSONResponse({"error": sentence}, status)


def wants_page(request: Request) -> bool:
    """Whether a person looks at the answer, and not a script."""
    path = request.url.path.removeprefix(base_of(request))
    return request.method == "GET" and not path.startswith(("/api/", "/static/", "/metrics", "/health"))


def wrong_input(request: Request, error: Exception) -> Response:
    """Answer what karat itself found wrong; where, only to owners: it may be a path on this machine."""
    assert isinstance(error, KaratError)
    user = current_user(request)
    if error.where is not None and (user is None or not user.may(OWNER)):
        error = KaratError(error.what, fix=error.fix)
    return answer(request, 400, str(error))


def wrong_shape(request: Request, error: Exception) -> Response:
    """Answer what pydantic found wrong, by the field's name and without its value."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    # Names that the client made up are not repeated.
    field = "a field" if first["type"] == "extra_forbidden" else str(first["loc"][-1])[:40]
    message = "this is not json" if first["type"] == "json_invalid" else str(first["msg"])
    return answer(request, 422, f"{field}: {message.lower()}.")


def not_signed_in(request: Request, error: Exception) -> Response:
    """Lead to the sign-in page and back."""
    if not wants_page(request):
        return JSONResponse({"error": SENTENCES[401]}, 401)
    base = base_of(request)
    path = request.url.path.removeprefix(base)
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{base}/login?next={quote(path + query, safe='')}", 303)


def too_many(request: Request, error: Exception) -> Response:
    """Answer somebody who tries too often."""
    assert isinstance(error, TooMany)
    minutes = -(-error.wait // 60)
    response = answer(request, 429, f"Too many tries: wait {minutes} minutes.")
    response.headers["retry-after"] = str(error.wait)
    return response


def busy(request: Request, error: Exception) -> Response:
    """Answer that an answer is not known to be saved."""
    assert isinstance(error, Busy)
    return JSONResponse({"error": str(error)}, 503, {"retry-after": str(error.wait)})


def http_error(request: Request, error: Exception) -> Response:
    """Answer a path or a method that there is not, and what routes refuse by themselves."""
    assert isinstance(error, HTTPException)
    sentence = "" if error.status_code in SENTENCES else str(error.detail)
    response = answer(request, error.status_code, sentence)
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response
