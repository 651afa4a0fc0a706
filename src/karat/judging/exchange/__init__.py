"""Tasks go out and answers come in as files of other tools: csv, jsonl, Mechanical Turk, Label Studio.

A format is one file here that registers itself with `FORMATS`.
"""

from karat.exports import lazily

HOME = {
    "FORMATS": "karat.judging.exchange.formats",
    "Format": "karat.judging.exchange.formats",
    "Imported": "karat.judging.exchange.importing",
    "export_answers": "karat.judging.exchange.exporting",
    "export_tasks": "karat.judging.exchange.exporting",
    "import_answers": "karat.judging.exchange.importing",
}
__all__ = sorted(HOME)
__getattr__ = lazily(__name__, HOME)
