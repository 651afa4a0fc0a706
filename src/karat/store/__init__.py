"""The store: pools, tasks, leases and answers of one project, in SQLite or PostgreSQL.

Answers are append-only: a withdrawal is a new row, and the database refuses changes. Acknowledged answers
survive a crash of the process.
"""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.store.answers import Answer as Answer
    from karat.store.assignments import LEASED as LEASED
    from karat.store.assignments import OPEN as OPEN
    from karat.store.assignments import SUBMITTED as SUBMITTED
    from karat.store.assignments import AssignmentTable as AssignmentTable
    from karat.store.assignments import Item as Item
    from karat.store.assignments import Lease as Lease
    from karat.store.assignments import has_ended as has_ended
    from karat.store.backup import back_up as back_up
    from karat.store.backup import restore as restore
    from karat.store.backup import write_project as write_project
    from karat.store.calls import Call as Call
    from karat.store.copies import best_copy as best_copy
    from karat.store.failure import DAMAGED as DAMAGED
    from karat.store.failure import DESCRIPTORS as DESCRIPTORS
    from karat.store.failure import DISK_FULL as DISK_FULL
    from karat.store.failure import LOCKED as LOCKED
    from karat.store.failure import LOST as LOST
    from karat.store.failure import READ_ONLY as READ_ONLY
    from karat.store.failure import SENTENCES as SENTENCES
    from karat.store.failure import StoreError as StoreError
    from karat.store.failure import has_descriptors as has_descriptors
    from karat.store.failure import system_failure as system_failure
    from karat.store.goals import BUDGET as BUDGET
    from karat.store.goals import WIDTH as WIDTH
    from karat.store.goals import WINNER as WINNER
    from karat.store.goals import Goal as Goal
    from karat.store.open_file import OpenFile as OpenFile
    from karat.store.open_file import shared_files as shared_files
    from karat.store.project import Project as Project
    from karat.store.project import create_project as create_project
    from karat.store.project import open_project as open_project
    from karat.store.snapshot import NewAnswers as NewAnswers
    from karat.store.snapshot import Signs as Signs
    from karat.store.snapshot import Snapshot as Snapshot
    from karat.store.stored_paths import paths_of as paths_of


__all__, __getattr__, __dir__ = exports(__name__, __file__)
