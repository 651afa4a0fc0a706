"""The store: pools, tasks, leases and answers of one project, in SQLite or PostgreSQL.

Answers are append-only: a withdrawal is a new row, and the database refuses changes. Acknowledged answers
survive a crash of the process.
"""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.store.answer_import import AnswerRows as AnswerRows
    from karat.judging.store.answers import Answer as Answer
    from karat.judging.store.assignments import LEASED as LEASED
    from karat.judging.store.assignments import OPEN as OPEN
    from karat.judging.store.assignments import SUBMITTED as SUBMITTED
    from karat.judging.store.assignments import AssignmentTable as AssignmentTable
    from karat.judging.store.assignments import Item as Item
    from karat.judging.store.assignments import Lease as Lease
    from karat.judging.store.assignments import has_ended as has_ended
    from karat.judging.store.backup import back_up as back_up
    from karat.judging.store.backup import restore as restore
    from karat.judging.store.backup import write_project as write_project
    from karat.judging.store.calls import Call as Call
    from karat.judging.store.details import check_details as check_details
    from karat.judging.store.details import read_details as read_details
    from karat.judging.store.failure import DESCRIPTORS as DESCRIPTORS
    from karat.judging.store.failure import DISK_FULL as DISK_FULL
    from karat.judging.store.failure import LOCKED as LOCKED
    from karat.judging.store.failure import LOST as LOST
    from karat.judging.store.failure import READ_ONLY as READ_ONLY
    from karat.judging.store.failure import SENTENCES as SENTENCES
    from karat.judging.store.failure import StoreError as StoreError
    from karat.judging.store.failure import has_descriptors as has_descriptors
    from karat.judging.store.failure import system_failure as system_failure
    from karat.judging.store.goals import BUDGET as BUDGET
    from karat.judging.store.goals import WIDTH as WIDTH
    from karat.judging.store.goals import WINNER as WINNER
    from karat.judging.store.goals import Goal as Goal
    from karat.judging.store.open_file import shared_files as shared_files
    from karat.judging.store.project import Project as Project
    from karat.judging.store.project import create_project as create_project
    from karat.judging.store.project import open_project as open_project
    from karat.judging.store.snapshot import NewAnswers as NewAnswers
    from karat.judging.store.snapshot import Signs as Signs
    from karat.judging.store.snapshot import Snapshot as Snapshot
    from karat.judging.store.texts import ANNOTATOR_KINDS as ANNOTATOR_KINDS
    from karat.judging.store.texts import MAX_WORDS as MAX_WORDS
    from karat.judging.store.texts import check_name as check_name

__all__, __getattr__, __dir__ = exports(__name__, __file__)
