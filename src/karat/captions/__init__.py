"""Captions as evidence: how well a caption fits an image by the captions that the image has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.exports import lazily

if TYPE_CHECKING:
    from karat.captions.filter import caption_filter as caption_filter
    from karat.captions.filter_audit import audit_filter as audit_filter
    from karat.captions.frequencies import DocumentFrequencies as DocumentFrequencies
    from karat.captions.graphs import SceneGraph as SceneGraph
    from karat.captions.graphs import scene_graph as scene_graph
    from karat.captions.graphs import scene_graphs as scene_graphs
    from karat.captions.machine_labels import machine_truth as machine_truth
    from karat.captions.machine_labels import with_machine_truths as with_machine_truths
    from karat.captions.metric import CAPTION_METRICS as CAPTION_METRICS
    from karat.captions.metric import CaptionMetric as CaptionMetric
    from karat.captions.metrics.bleu import corpus_bleu as corpus_bleu
    from karat.captions.porter import stem as stem
    from karat.captions.references import pair_scores as pair_scores
    from karat.captions.similarity import all_pairs as all_pairs
    from karat.captions.stop_words import STOP_WORDS as STOP_WORDS
    from karat.captions.system_words import SystemWords as SystemWords
    from karat.captions.tokens import tokenise as tokenise

# Loaded when first asked for: most programs need one of them.
_HOME = {
    "CAPTION_METRICS": "karat.captions.metric",
    "STOP_WORDS": "karat.captions.stop_words",
    "CaptionMetric": "karat.captions.metric",
    "DocumentFrequencies": "karat.captions.frequencies",
    "SceneGraph": "karat.captions.graphs",
    "SystemWords": "karat.captions.system_words",
    "all_pairs": "karat.captions.similarity",
    "audit_filter": "karat.captions.filter_audit",
    "caption_filter": "karat.captions.filter",
    "corpus_bleu": "karat.captions.metrics.bleu",
    "machine_truth": "karat.captions.machine_labels",
    "pair_scores": "karat.captions.references",
    "scene_graph": "karat.captions.graphs",
    "scene_graphs": "karat.captions.graphs",
    "stem": "karat.captions.porter",
    "tokenise": "karat.captions.tokens",
    "with_machine_truths": "karat.captions.machine_labels",
}

__all__ = [*_HOME]


__getattr__ = lazily(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
