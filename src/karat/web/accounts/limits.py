"""How often somebody may try: failures are counted by account and by address, in memory."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque

SPAN = 900.0
MOST_KEYS = 20_000


class TooMany(Exception):
    """Too many tries: 429.

    Parameters
    ----------
    wait
        How many seconds to wait.
    """

    def __init__(self, wait: float) -> None:
        super().__init__(wait)
        self.wait = max(1, int(wait) + 1)


class Limit:
    """At most so many failures within a quarter of an hour for each key.

    Parameters
    ----------
    most
        How many.
    span
        Of how many seconds.

    Examples
    --------
    >>> limit = Limit(2)
    >>> limit.count("ann", now=0), limit.count("ann", now=1)
    (None, None)
    >>> limit.wait("ann", now=2), limit.wait("bob", now=2), limit.wait("ann", now=901)
    (898.0, 0.0, 0.0)
    """

    def __init__(self, most: int, span: float = SPAN) -> None:
        self.most, self.span = most, span
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, key: str, now: float | None = None) -> float:
        """Return for how many seconds nothing may be tried; 0 where it may."""
        now = time.monotonic() if now is None else now
        with self._lock:
            times = self._times.get(key)
            if times is None:
                return 0.0
            while times and now - times[0] >= self.span:
                times.popleft()
            return self.span - (now - times[0]) if len(times) >= self.most else 0.0

    def count(self, key: str, now: float | None = None) -> None:
        """Count a try."""
        now = time.monotonic() if now is None else now
        with self._lock:
            self._times.setdefault(key, deque(maxlen=self.most)).append(now)
            self._times.move_to_end(key)
            if len(self._times) > MOST_KEYS:
                self._times.popitem(last=False)

    def forget(self, key: str) -> None:
        """Forget the failures of a key."""
        with self._lock:
            self._times.pop(key, None)

    def take_back(self, key: str) -> None:
        """Take the last try of a key back: it was no failure."""
        with self._lock:
            if self._times.get(key):
                self._times[key].pop()
