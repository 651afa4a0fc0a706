"""Exchange with other tools: tasks are exported and answers imported as files.

The formats are csv, jsonl, Amazon Mechanical Turk and Label Studio. A format is one file of this package that
registers itself with `FORMATS`.
"""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.exchange.answer_import import Imported as Imported
    from karat.judging.exchange.answer_import import import_answers as import_answers
    from karat.judging.exchange.approvals import export_approvals as export_approvals
    from karat.judging.exchange.export import Exported as Exported
    from karat.judging.exchange.export import export_answers as export_answers
    from karat.judging.exchange.export import export_tasks as export_tasks
    from karat.judging.exchange.formats import FORMATS as FORMATS
    from karat.judging.exchange.formats import Format as Format

__all__, __getattr__, __dir__ = exports(__name__, __file__)
