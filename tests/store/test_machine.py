"""Leases, answers and withdrawals in any order, against a model in a few dictionaries."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from karat.errors import InputError
from karat.store import create_project

from .small import FORM, plan_of
from made import make_benchmark

GOLD = (9, 9)
TASKS = [[(0, 0), GOLD], [(1, 1), GOLD], [(2, 2), (3, 3)], [(3, 3), (4, 4)]]
NAMES = st.sampled_from(["ann", "bob", "eve"])
SPAN = 10.0


class Store(RuleBasedStateMachine):
    """The model: who holds each assignment until when, what was answered in it, and by whom."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.project = create_project(self.folder / "p.db", make_benchmark(), FORM, source="made")
        self.project.pools.add_tasks(plan_of(*TASKS, overlap=2))
        self.task = [number // 2 for number in range(2 * len(TASKS))]
        self.now = 0.0
        self.holder: dict[int, str] = {}
        self.token: dict[str, tuple[int, str, float]] = {}
        self.until: dict[int, float] = {}
        self.done: set[int] = set()
        self.code: dict[tuple[int, str, int], str | None] = {}
        self.rows = 0
        self.returned: set[str] = set()

    def teardown(self) -> None:
        self.project.close()
        shutil.rmtree(self.folder)

    def held(self, name: str) -> int | None:
        return next((s for s, who in self.holder.items() if who == name and s not in self.done), None)

    def fits(self, name: str, assignment: int) -> bool:
        task = self.task[assignment]
        if any(self.task[s] == task and who == name for s, who in self.holder.items()):
            return False
        seen = {TASKS[self.task[s]][i % 2] for s, who, i in self.code if who == name and self.task[s] != task}
        return not seen & set(TASKS[task])

    def free(self, name: str) -> set[int]:
        return {s for s in range(len(self.task)) if s not in self.holder and self.fits(name, s)}

    def expired(self, name: str) -> set[int]:
        late = {s for s, t in self.until.items() if t < self.now and s in self.holder and s not in self.done}
        return {s for s in late if self.holder[s] != name and self.fits(name, s)}

    @rule(seconds=st.sampled_from([1.0, 6.0, 20.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(name=NAMES)
    def lease(self, name: str) -> None:
        held, free, late = self.held(name), self.free(name), self.expired(name)
        lease = self.project.queue.lease(name, SPAN, now=self.now)
        if held is not None:
            assert lease.assignment == held
            if self.until[held] <= self.now:
                self.until[held] = self.now + SPAN
        elif not free and not late:
            assert lease is None
            return
        else:
            # After returning a task, an annotator is not offered its other assignments until its turn.
            assert lease is None or lease.assignment in (free or late)
            if lease is None:
                assert name in self.returned
                return
            self.holder[lease.assignment], self.until[lease.assignment] = name, self.now + SPAN
        assert lease.expires == self.until[lease.assignment]
        self.token[lease.token] = (lease.assignment, name, 0)
        assert {i.id: i.code for i in lease.items} == {
            i: self.code.get((lease.assignment, name, i)) for i in self.items(lease.assignment)
        }

    def items(self, assignment: int) -> list[int]:
        return [2 * self.task[assignment], 2 * self.task[assignment] + 1]

    def live(self, token: str) -> bool:
        assignment, name, _ = self.token[token]
        return self.holder.get(assignment) == name and token in self.current

    @property
    def current(self) -> set[str]:
        """The newest token of each assignment."""
        return set({assignment: token for token, (assignment, _, _) in self.token.items()}.values())

    @precondition(lambda self: self.token)
    @rule(data=st.data(), which=st.integers(0, 1), code=st.sampled_from(["yes", "partly", None]))
    def answer(self, data: st.DataObject, which: int, code: str | None) -> None:
        token = data.draw(st.sampled_from(sorted(self.token, key=list(self.token).index)))
        assignment, name, _ = self.token[token]
        item = self.items(assignment)[which]
        give = (
            self.project.answers.withdraw
            if code is None
            else lambda *a, **k: self.project.answers.give(*a, code, **k)
        )
        if not self.live(token) or assignment in self.done:
            with pytest.raises(InputError):
                give(token, item, now=self.now)
            return
        give(token, item, now=self.now)
        self.rows += 1
        self.code[assignment, name, item] = code
        if self.until[assignment] <= self.now:
            self.until[assignment] = self.now + SPAN

    @precondition(lambda self: self.token)
    @rule(data=st.data(), back=st.booleans())
    def end(self, data: st.DataObject, back: bool) -> None:
        token = data.draw(st.sampled_from(sorted(self.token, key=list(self.token).index)))
        assignment, name, _ = self.token[token]
        whole = all(self.code.get((assignment, name, item)) for item in self.items(assignment))
        fine = self.live(token) and (
            assignment not in self.done if back else whole or assignment in self.done
        )
        try:
            self.project.queue.release(token) if back else self.project.queue.submit(token)
        except InputError:
            assert not fine
            return
        assert fine
        if back:
            del self.holder[assignment], self.token[token]
            self.returned = self.returned | {name}
        else:
            self.done.add(assignment)

    @invariant()
    def answers_in_effect(self) -> None:
        table = self.project.answers.read()
        found = sorted(
            zip(
                table.assignment.tolist(),
                [table.annotators[w] for w in table.annotator],
                table.rating.tolist(),
            )
        )
        rating = {"yes": 3.0, "partly": 2.0}
        wanted = [(s, w, rating[c]) for (s, w, _), c in self.code.items() if c and self.holder.get(s) == w]
        assert found == sorted(wanted)
        assert sum(1 for _ in self.project.answers.history()) == self.rows
        # Nobody has two answers in effect for a pair.
        pairs = list(zip(table.annotator.tolist(), table.image.tolist(), table.caption.tolist(), strict=True))
        assert len(set(pairs)) == len(pairs)


Store.TestCase.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
TestStore = Store.TestCase
