"""Systems that need no pretrained model: nearest neighbours, KCCA, their kernels, and fusion of any runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.exports import lazily

if TYPE_CHECKING:
    from karat.systems.centring import KernelCentrer as KernelCentrer
    from karat.systems.centring import scale_diagonal as scale_diagonal
    from karat.systems.fusion import fuse as fuse
    from karat.systems.fusion_methods import FUSIONS as FUSIONS
    from karat.systems.kcca import KCCA as KCCA
    from karat.systems.kcca_path import KCCAPath as KCCAPath
    from karat.systems.low_rank import IncompleteCholesky as IncompleteCholesky
    from karat.systems.model import ImageTextModel as ImageTextModel
    from karat.systems.nearest import NearestNeighbour as NearestNeighbour
    from karat.systems.nearest_words import WordF1 as WordF1
    from karat.systems.selection import Setting as Setting
    from karat.systems.selection import best_settings as best_settings
    from karat.systems.selection import dev_scores as dev_scores

# Loaded when first asked for: most programs need one of them.
_HOME = {
    "FUSIONS": "karat.systems.fusion_methods",
    "ImageTextModel": "karat.systems.model",
    "IncompleteCholesky": "karat.systems.low_rank",
    "KCCA": "karat.systems.kcca",
    "KCCAPath": "karat.systems.kcca_path",
    "KernelCentrer": "karat.systems.centring",
    "NearestNeighbour": "karat.systems.nearest",
    "Setting": "karat.systems.selection",
    "WordF1": "karat.systems.nearest_words",
    "best_settings": "karat.systems.selection",
    "dev_scores": "karat.systems.selection",
    "fuse": "karat.systems.fusion",
    "scale_diagonal": "karat.systems.centring",
}

__all__ = [*_HOME]


__getattr__ = lazily(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
