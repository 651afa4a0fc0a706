"""Where a page may lead after signing in: somewhere on this server."""

from __future__ import annotations

from urllib.parse import urlsplit


def safe_next(asked: str, otherwise: str) -> str:
    """Return the path that was asked for if it is one of this server, else `otherwise`.

    Browsers read backslashes as slashes and skip tabs and line breaks: whatever is not plain is not followed.

    >>> [safe_next(one, "/") for one in ("/judge?task=3", "//evil.example", "https://evil.example")]
    ['/judge?task=3', '/', '/']
    >>> [safe_next(one, "/") for one in ("/\\\\evil.example", "javascript:alert(1)", "/\\t/evil.example", "")]
    ['/', '/', '/', '/']
    """
    plain = asked.isascii() and asked.isprintable() and " " not in asked and "\\" not in asked
    if not plain or not asked.startswith("/") or asked.startswith("//"):
        return otherwise
    try:
        parts = urlsplit(asked)
    except ValueError:
        return otherwise
    return otherwise if parts.scheme or parts.netloc else asked
