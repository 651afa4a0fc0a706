"""The store: pools, tasks, leases and answers of one project, in SQLite or PostgreSQL.

Answers are append-only: an undo is a new row, and the database itself refuses changes. What was
acknowledged survives the death of the process.
"""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.store.answering import items_of as items_of
    from karat.judging.store.backup import back_up as back_up
    from karat.judging.store.batch_rows import AnswerEntry as AnswerEntry
    from karat.judging.store.bulk import read_columns as read_columns
    from karat.judging.store.details import check_details as check_details
    from karat.judging.store.details import read_details as read_details
    from karat.judging.store.engine import Database as Database
    from karat.judging.store.opening import create_project as create_project
    from karat.judging.store.opening import open_project as open_project
    from karat.judging.store.people import add_workers as add_workers
    from karat.judging.store.people import all_workers as all_workers
    from karat.judging.store.project import Project as Project
    from karat.judging.store.rows import LEASED as LEASED
    from karat.judging.store.rows import OPEN as OPEN
    from karat.judging.store.rows import SUBMITTED as SUBMITTED
    from karat.judging.store.rows import AnswerRows as AnswerRows
    from karat.judging.store.rows import Item as Item
    from karat.judging.store.rows import Lease as Lease
    from karat.judging.store.rows import SlotTable as SlotTable
    from karat.judging.store.schema import ANSWER as ANSWER
    from karat.judging.store.schema import PROJECT as PROJECT
    from karat.judging.store.schema import SLOT as SLOT
    from karat.judging.store.schema import WORKER as WORKER
    from karat.judging.store.texts import MOST_WORDS as MOST_WORDS
    from karat.judging.store.texts import WORKER_KINDS as WORKER_KINDS
    from karat.judging.store.texts import check_name as check_name
    from karat.judging.store.texts import to_json as to_json

__all__, __getattr__, __dir__ = exports(__name__, __file__)
