"""Logs as one line of json each, with nothing in them that a stranger should not read.

Errors are written with their kind and the places in the code, never with their message: that may hold a name,
a caption or a token.
"""

from __future__ import annotations

import json
import logging
import time
import traceback
from contextvars import ContextVar
from typing import Any

REQUEST: ContextVar[str] = ContextVar("karat_request", default="")
"""The number of the request that is being answered, in whichever thread."""
FRAMES = 30


class JsonLines(logging.Formatter):
    """Write a record as one line of json.

    What a caller passes as ``extra={"fields": {...}}`` stands beside the message.

    Examples
    --------
    >>> record = logging.LogRecord("karat.web", logging.INFO, "", 0, "started on %d", (80,), None)
    >>> record.created = 0.0
    >>> JsonLines().format(record)
    '{"at": "1970-01-01T00:00:00.000Z", "level": "info", "logger": "karat.web", "message": "started on 80"}'
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "at": moment(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if number := REQUEST.get():
            line["request"] = number
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])[-FRAMES:]
            line["frames"] = [f"{place(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(line, ensure_ascii=True)


def moment(at: float) -> str:
    """Return a time in UTC, to the millisecond.

    >>> moment(1.5)
    '1970-01-01T00:00:01.500Z'
    """
    whole = int(at)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{int((at - whole) * 1000):03d}Z"


def place(file: str) -> str:
    """Return the end of a file's path: enough to find it, without the folders of this machine.

    >>> place("/home/ann/lib/karat/web/app.py")
    'karat/web/app.py'
    """
    parts = file.replace("\\", "/").split("/")
    start = len(parts) - 1 - parts[::-1].index("karat") if "karat" in parts else max(len(parts) - 2, 0)
    return "/".join(parts[start:])


def log_config(level: str = "INFO") -> dict[str, Any]:
    """Return what uvicorn's `log_config` and `logging.config.dictConfig` take: json lines on standard error.

    Parameters
    ----------
    level
        Of our own logs; uvicorn's are written from warnings on.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonLines}},
        "handlers": {
            "json": {"class": "logging.StreamHandler", "formatter": "json", "stream": "ext://sys.stderr"}
        },
        "loggers": {
            "karat": {"handlers": ["json"], "level": level, "propagate": False},
            "uvicorn": {"handlers": ["json"], "level": "WARNING", "propagate": False},
        },
    }
