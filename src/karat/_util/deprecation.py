"""Names of the previous version, which keep working for one version with a warning."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


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


def renamed_attributes(**renamed: str) -> Callable[[C], C]:
    """Let a class have attributes under their old names too: ``old="new"``.

    >>> @renamed_attributes(worker="annotator")
    ... class Answer:
    ...     annotator = "ann"
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     Answer().worker, str(caught[0].message)
    ('ann', 'Answer.worker is called annotator now')
    """

    def decorate(cls: C) -> C:
        for old, new in renamed.items():
            setattr(cls, old, renamed_property(cls.__name__, old, new))
        return cls

    return decorate


def renamed_property(owner: str, old: str, new: str) -> property:
    """Return a property that reads an attribute by its new name and warns."""

    def read(self: Any) -> Any:
        warnings.warn(f"{owner}.{old} is called {new} now", DeprecationWarning, stacklevel=2)
        return getattr(self, new)

    return property(read)
