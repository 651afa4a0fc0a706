"""Pictures on several threads, each on one: the libraries' own threads would only get in the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from karat.runs.threads import default_threads
from karat.systems.images.extras import extra
from karat.validation import InputError, KaratError

Item = TypeVar("Item")
Found = TypeVar("Found")


@contextmanager
def single_threaded() -> Iterator[None]:
    """Keep numpy's and OpenCV's routines on one thread; results then do not depend on how many there are."""
    # Asked for before the work starts: inside it, an error may be taken for a damaged picture.
    extra("PIL.Image")
    cv2: Any = extra("cv2")
    before = cv2.getNumThreads()
    with extra("threadpoolctl").threadpool_limits(1):
        cv2.setNumThreads(1)
        try:
            yield
        finally:
            cv2.setNumThreads(before)


def each(
    work: Callable[[Item], Found],
    items: Iterable[Item],
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    lenient: bool = False,
) -> Iterator[Found | None]:
    """Yield what `work` returns for each item, in order, and report how many are done.

    If `lenient`, an item that `work` refuses with a sentence yields None; otherwise the error is raised.

    Examples
    --------
    >>> list(each(lambda x: x * x, range(4), threads=2))
    [0, 1, 4, 9]
    """
    if threads is not None and threads < 1:
        raise InputError(f"{threads} threads were asked for", fix="ask for 1 or more")

    def tried(item: Item) -> Found | None:
        try:
            return work(item)
        except KaratError:
            if not lenient:
                raise
            return None

    with single_threaded(), ThreadPoolExecutor(threads or default_threads()) as pool:
        for number, found in enumerate(pool.map(tried, items), 1):
            if progress is not None:
                progress(number)
            yield found
