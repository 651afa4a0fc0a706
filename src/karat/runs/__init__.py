"""Runs: what a model returned, as scores, embeddings or ranked lists."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.runs.choice_run import ChoiceRun as ChoiceRun
    from karat.runs.choice_run import load_choices as load_choices
    from karat.runs.compute import Compute as Compute
    from karat.runs.conversion import CONTENT_KINDS as CONTENT_KINDS
    from karat.runs.conversion import check_kind as check_kind
    from karat.runs.conversion import convert as convert
    from karat.runs.conversion import writer_of as writer_of
    from karat.runs.detections import Detections as Detections
    from karat.runs.detections import load_detections as load_detections
    from karat.runs.device import DEVICES as DEVICES
    from karat.runs.device import Device as Device
    from karat.runs.embeddings import EmbeddingRun as EmbeddingRun
    from karat.runs.files import READERS as READERS
    from karat.runs.files import RUN_MAKERS as RUN_MAKERS
    from karat.runs.files import RunMaker as RunMaker
    from karat.runs.files import as_content as as_content
    from karat.runs.files import fewest_runs as fewest_runs
    from karat.runs.files import group_sources as group_sources
    from karat.runs.files import is_model as is_model
    from karat.runs.files import load_run as load_run
    from karat.runs.files import load_runs as load_runs
    from karat.runs.files import notes_on_loading as notes_on_loading
    from karat.runs.files import read_run as read_run
    from karat.runs.fingerprint import ENCODED as ENCODED
    from karat.runs.fingerprint import Fact as Fact
    from karat.runs.fingerprint import FactDifference as FactDifference
    from karat.runs.fingerprint import Fingerprint as Fingerprint
    from karat.runs.fingerprint import made_with_of_runs as made_with_of_runs
    from karat.runs.fingerprint import merge_fingerprints as merge_fingerprints
    from karat.runs.fingerprint import note_on_steps as note_on_steps
    from karat.runs.fingerprint import notes_on_making as notes_on_making
    from karat.runs.fingerprint import of_model as of_model
    from karat.runs.fingerprint import read_made_with_of_runs as read_made_with_of_runs
    from karat.runs.fingerprint import show_fact as show_fact
    from karat.runs.fingerprint import split_facts as split_facts
    from karat.runs.formats.content import WRITERS as WRITERS
    from karat.runs.formats.npz import check_npz as check_npz
    from karat.runs.formats.shards import ShardFolder as ShardFolder
    from karat.runs.formats.shards import check_target as check_target
    from karat.runs.id_files import ID_FORMS as ID_FORMS
    from karat.runs.id_files import Order as Order
    from karat.runs.id_files import read_ids as read_ids
    from karat.runs.id_files import write_ids as write_ids
    from karat.runs.loading import Loading as Loading
    from karat.runs.matrix import MatrixRun as MatrixRun
    from karat.runs.memory import least_memory as least_memory
    from karat.runs.normalisation import NORMALISATIONS as NORMALISATIONS
    from karat.runs.normalisation import ScoreNormalisation as ScoreNormalisation
    from karat.runs.normalisation import check_normalisation as check_normalisation
    from karat.runs.normalisation import load_tables as load_tables
    from karat.runs.normalisation import normalise as normalise
    from karat.runs.normalisation import normalised_scores as normalised_scores
    from karat.runs.preflight import VectorCheck as VectorCheck
    from karat.runs.preflight import check_vectors as check_vectors
    from karat.runs.rankings import Lists as Lists
    from karat.runs.rankings import RankingsRun as RankingsRun
    from karat.runs.run import FirstResults as FirstResults
    from karat.runs.run import PassOptions as PassOptions
    from karat.runs.run import Run as Run
    from karat.runs.run import Scanned as Scanned
    from karat.runs.run import Top as Top
    from karat.runs.run import TopRequest as TopRequest
    from karat.runs.run import pairs_to_place as pairs_to_place
    from karat.runs.run import with_whole_ties as with_whole_ties
    from karat.runs.table import SIMILARITIES as SIMILARITIES
    from karat.runs.table import TableRun as TableRun
    from karat.runs.vectors import ArrayVectors as ArrayVectors
    from karat.runs.vectors import Shards as Shards
    from karat.runs.vectors import Vectors as Vectors

__all__, __getattr__, __dir__ = exports(__name__, __file__)
