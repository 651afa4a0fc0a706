"""Disjoint parts of a loop on several threads; the compiled kernels release the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

from karat._util.settings import setting_of
from karat.errors import InputError

Loop = Callable[[Callable[[int, int], object], int, int], list[object]]


def thread_count(number: int | None = None) -> int:
    """Return how many threads are meant: the setting where nothing is said."""
    if number is not None and number < 1:
        raise InputError(f"{number} threads were requested", fix="give 1 or more")
    return setting_of("threads", number)


@contextmanager
def threads(number: int | None = None) -> Iterator[Loop]:
    """Yield a loop that calls ``part(begin, end)`` on disjoint parts of a range.

    >>> with threads(2) as loop:
    ...     loop(lambda begin, end: (begin, end), 0, 10)
    [(0, 5), (5, 10)]
    """
    number = thread_count(number)
    with ThreadPoolExecutor(number) as pool:

        def loop(part: Callable[[int, int], object], begin: int, end: int) -> list[object]:
            step = max(1, -(-(end - begin) // number))
            starts = range(begin, end, step)
            if len(starts) <= 1:
                return [part(b, end) for b in starts]
            return list(pool.map(lambda b: part(b, min(b + step, end)), starts))

        yield loop


@cache
def matrix_libraries() -> Any:
    """Return what controls the threads of the matrix libraries; looking for them takes a while."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def alone() -> Iterator[None]:
    """Let every product be computed by the thread that asks for it."""
    with matrix_libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def stay_alone() -> None:
    """Do so for the rest of this process, which other threads may share."""
    matrix_libraries().limit(limits=1, user_api="blas")
