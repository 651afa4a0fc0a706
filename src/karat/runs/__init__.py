"""Runs: what a model returned, as scores, embeddings or ranked lists."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.runs.choice_run import ChoiceRun as ChoiceRun
    from karat.runs.choice_run import load_choices as load_choices
    from karat.runs.conversion import CONTENT_KINDS as CONTENT_KINDS
    from karat.runs.conversion import convert as convert
    from karat.runs.conversion import writer_of as writer_of
    from karat.runs.detections import Detections as Detections
    from karat.runs.detections import load_detections as load_detections
    from karat.runs.embeddings import SIMILARITIES as SIMILARITIES
    from karat.runs.embeddings import EmbeddingRun as EmbeddingRun
    from karat.runs.files import READERS as READERS
    from karat.runs.files import group_sources as group_sources
    from karat.runs.files import load_run as load_run
    from karat.runs.files import load_runs as load_runs
    from karat.runs.files import notes_on_loading as notes_on_loading
    from karat.runs.files import read_run as read_run
    from karat.runs.formats.content import WRITERS as WRITERS
    from karat.runs.id_files import ID_FORMS as ID_FORMS
    from karat.runs.id_files import Order as Order
    from karat.runs.id_files import read_ids as read_ids
    from karat.runs.id_files import write_ids as write_ids
    from karat.runs.matrix import MatrixRun as MatrixRun
    from karat.runs.rankings import Lists as Lists
    from karat.runs.rankings import RankingsRun as RankingsRun
    from karat.runs.run import FirstResults as FirstResults
    from karat.runs.run import Run as Run
    from karat.runs.run import Top as Top
    from karat.runs.run import pairs_to_place as pairs_to_place
    from karat.runs.table import TableRun as TableRun

__all__, __getattr__, __dir__ = exports(
    __name__, __file__, {"Question": "pairs_to_place", "PlaceRequest": "pairs_to_place"}
)
