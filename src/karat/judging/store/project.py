"""A project: one benchmark, one form, and everything that was asked and answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import TracebackType

from sqlalchemy import RowMapping

from karat.benchmarks import Benchmark, load_benchmark
from karat.errors import InputError
from karat.judging.pools import fingerprint
from karat.judging.store.adjudicating import Adjudicating
from karat.judging.store.calling import Calling
from karat.judging.store.engine import Database
from karat.judging.store.form_data import read_form
from karat.judging.store.holding import Holding
from karat.judging.store.journal import Journal
from karat.judging.store.people import People
from karat.judging.store.planning import Planning
from karat.judging.store.pools import Pools
from karat.judging.store.reading import Reading
from karat.judging.store.recording import Recording


class Project(People, Pools, Planning, Holding, Recording, Reading, Journal, Calling, Adjudicating):
    """A judging project in a database; `create_project` and `open_project` return one.

    It may be used by several threads; other processes open the same place for themselves.

    Parameters
    ----------
    database
        Where it is.
    row
        What the project says about itself.
    benchmark
        Where it is at hand.

    Examples
    --------
    >>> import tempfile
    >>> from karat.judging.forms.form import Choice, Form
    >>> from karat.judging.store import AnswerRows, create_project
    >>> from karat.world import make_world
    >>> choices = (Choice("yes", "Yes", "y", 1, 1), Choice("no", "No", "3", 0, 0))
    >>> form = Form("fit", "Fit", "Does it fit?", choices)
    >>> world = make_world(images=10, captions=2, seed=1).benchmark()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with create_project(f"{folder}/own.db", world, form, source="world", name="own") as project:
    ...         project.record(AnswerRows([-1, -1], [0, 1], [0, 0], ["ann", "ann"], ["yes", "no"]))
    ...         project.answers()
    2
    AnswerTable(2 answers of 1 people)
    """

    def __init__(self, database: Database, row: RowMapping, benchmark: Benchmark | None = None) -> None:
        self._db = database
        self._benchmark = benchmark
        self._fingerprint: str = row["fingerprint"]
        self._images, self._captions = int(row["images"]), int(row["captions"])
        self.name: str = row["name"]
        self.source: str = row["source"]
        self.form = read_form(row["form"])
        settings = json.loads(row["settings"])
        self.settings: Mapping[str, str] = {str(name): str(value) for name, value in settings.items()}

    def __repr__(self) -> str:
        return f"Project({self.name!r} in {self.where})"

    @property
    def where(self) -> str:
        """The file or the address; a password in it is masked."""
        return self._db.place.shown

    def benchmark(self) -> Benchmark:
        """Return the benchmark that the pairs index, loaded once; raise when its ids have changed."""
        if self._benchmark is None:
            found = load_benchmark(self.source, **self.settings)
            if fingerprint(found) != self._fingerprint:
                raise InputError(
                    f"the benchmark {self.source!r} is not the one of this project: its ids differ",
                    where=self.where,
                    fix="restore the benchmark as it was",
                )
            self._benchmark = found
        return self._benchmark

    def close(self) -> None:
        """Give back the connections."""
        self._db.close()

    def __enter__(self) -> Project:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
