"""Whole images: all candidates of a random image, then those of the next."""

from __future__ import annotations

import numpy as np

from karat.estimation.candidates import Candidates
from karat.estimation.strategies.whole_queries import WholeQueries
from karat.estimation.strategy import register_strategy


@register_strategy
class WholeImages(WholeQueries):
    """Takes random images whole, as `whole-queries` takes queries; with image queries the two are the same.

    An annotator then looks at one image and answers about all captions that it is a candidate for.
    """

    name = "whole-images"
    source = "Nguyen et al. 2018, figure 7: a vetted subset of images"

    def group(self, candidates: Candidates) -> np.ndarray:
        """Return the image of each candidate."""
        return candidates.pairs[0]
