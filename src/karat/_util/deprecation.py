"""Names of the previous version, which keep working for one version with a warning."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def renamed_keywords(**renamed: str) -> Callable[[F], F]:
    """Let a function take keywords under their old names too: ``old="new"``.

    >>> @renamed_keywords(pool="aggregate")
    ... def score(values, aggregate=sum):
    ...     return aggregate(values)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     score([1, 2], pool=max), str(caught[0].message)
    (2, 'score(pool=…) is called aggregate= now')
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **keywords: Any) -> Any:
            for old in renamed.keys() & keywords.keys():
                message = f"{function.__name__}({old}=…) is called {renamed[old]}= now"
                warnings.warn(message, DeprecationWarning, stacklevel=2)
                keywords[renamed[old]] = keywords.pop(old)
            return function(*args, **keywords)

        return call  # type: ignore[return-value]

    return decorate
