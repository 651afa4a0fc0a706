"""Captions as evidence: how well a caption fits an image by the captions that the image has."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.captions.caption_scores import CandidateScores as CandidateScores
    from karat.captions.caption_scores import PairScores as PairScores
    from karat.captions.caption_scores import score_candidates as score
    from karat.captions.caption_scores import score_pairs as pairs
    from karat.captions.filter_audit import FilterAudit as FilterAudit
    from karat.captions.filter_audit import audit_filter as filter
    from karat.captions.frequencies import DocumentFrequencies as DocumentFrequencies
    from karat.captions.graphs.extraction import scene_graph as scene_graph
    from karat.captions.graphs.extraction import scene_graphs as scene_graphs
    from karat.captions.graphs.graph import SceneGraph as SceneGraph
    from karat.captions.graphs.parsed_captions import ParsedCaptions as ParsedCaptions
    from karat.captions.graphs.parsed_captions import parse_captions as parse
    from karat.captions.machine_truths import machine_truth as machine_truth
    from karat.captions.metric import CAPTION_METRICS as CAPTION_METRICS
    from karat.captions.metric import CaptionMetric as CaptionMetric
    from karat.captions.metric import Prepared as Prepared
    from karat.captions.metric import References as References
    from karat.captions.metric import register as register
    from karat.captions.metrics.bleu import corpus_bleu as corpus_bleu
    from karat.captions.pair_filter import caption_filter as caption_filter
    from karat.captions.perturbed_queries import REPAIR as REPAIR
    from karat.captions.perturbed_queries import PerturbedQuery as PerturbedQuery
    from karat.captions.perturbed_queries import WordChange as WordChange
    from karat.captions.perturbed_queries import apply_changes as apply_changes
    from karat.captions.perturbed_queries import check_queries as check_queries
    from karat.captions.perturbed_queries import read_queries as read_queries
    from karat.captions.perturbed_queries import write_queries as write_queries
    from karat.captions.porter import stem as stem
    from karat.captions.score_sources import agree_with_scores as agree
    from karat.captions.similarity import Queries as Queries
    from karat.captions.similarity import all_pairs as all_pairs
    from karat.captions.similarity import asked_texts as asked_texts
    from karat.captions.similarity import own_references as own_references
    from karat.captions.similarity import pair_scores as pair_scores
    from karat.captions.similarity import references_of as references_of
    from karat.captions.similarity_table import FrequencyFile as FrequencyFile
    from karat.captions.similarity_table import SimilarityTable as SimilarityTable
    from karat.captions.similarity_table import count_frequencies as corpus
    from karat.captions.similarity_table import score_table as table
    from karat.captions.system_words import PARTS as PARTS
    from karat.captions.system_words import SystemWords as SystemWords
    from karat.captions.tokens import STOP_WORDS as STOP_WORDS
    from karat.captions.tokens import tokenise as tokenise
    from karat.captions.tokens import word_spans as word_spans
    from karat.scores import semantic_recall_curve as curve

__all__, __getattr__, __dir__ = exports(__name__, __file__)
