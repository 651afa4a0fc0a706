"""A reporter that remembers what it was told."""

from collections.abc import Callable

from karat._util import Stage


class Told:
    """Remembers each number of each stage once; `hear` is called with the stages whose numbers changed."""

    every = 0.0

    def __init__(self, hear: Callable[[Stage], object] | None = None):
        self.hear = hear
        self.last: dict[Stage, int] = {}
        self.heard: list[tuple[str, int, int | None]] = []
        self.said: list[str] = []
        self.open = 0
        """How many stages are under way."""

    def show(self, stages):
        self.open = len(stages) - 1
        if stages[-1].said and stages[-1].said not in self.said[-1:]:
            self.said.append(stages[-1].said)
        for stage in stages[1:]:
            if self.last.get(stage) != stage.done:
                self.last[stage] = stage.done
                self.heard.append((stage.what, stage.done, stage.total))
                if self.hear is not None:
                    self.hear(stage)

    def numbers(self, what: str) -> list[tuple[int, int | None]]:
        """Return what was told of the stages of this name: how many were done, and of how many."""
        return [(done, total) for name, done, total in self.heard if name == what]

    @property
    def reached(self) -> dict[str, int]:
        """The totals that were reached, by the names of stages."""
        return {name: total for name, done, total in self.heard if total and done == total}
