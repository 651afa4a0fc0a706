"""What a perturbation is: from a caption to the ways in which it may be changed at each of its places."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

import numpy as np

from karat._util import Registry, import_all
from karat.measures import Named
from karat.perturbations.wording import Option, Wording


class Perturbation(Named):
    """Changes words of captions.

    A subclass is one file in ``karat/perturbations/kinds`` that registers itself. It names the places
    that it can change and, for each, the options in order of preference; the rest, such as choosing among
    places, parsing the result again and logging, is done for all in `perturb`.
    """

    keeps_meaning: ClassVar[bool] = False
    """Whether the new query means the same, so that ranks should not change: a control."""
    checked: ClassVar[bool] = True
    """Whether the result is parsed again, and rejected where the tag of a changed word has changed."""

    def fit(self, captions: Sequence[Wording]) -> Self:
        """Return the perturbation for these captions; most do not depend on them."""
        return self

    def needs(self) -> frozenset[str] | None:
        """Return words of which a caption must have one, for a quick search; None where any may do."""
        return None

    @abstractmethod
    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield, for each place that can be changed, the options.

        Parameters
        ----------
        caption
            With words, tags and tree.
        rng
            Draws whatever is random.
        """

    def accepts(self, before: Wording, after: Wording, option: Option, where: dict[int, int]) -> bool:
        """Return whether a result is kept: every changed word has the tag that it had.

        Parameters
        ----------
        before, after
            The caption and the new query, both parsed.
        option
            What was changed.
        where
            For each word that was replaced, the last word of what replaces it in the new query.
        """
        return all(
            before.tagged.pos[each.last] == after.tagged.pos[where[each.last]]
            for each in option
            if not each.repair
        )


PERTURBATIONS: Registry[type[Perturbation]] = Registry(
    "perturbation",
    fill=lambda: import_all("karat.perturbations.kinds"),
    sort=True,
    group="karat.perturbations",
)

register_perturbation = PERTURBATIONS.register


def shuffled(options: Sequence[str], rng: np.random.Generator, most: int = 6) -> list[str]:
    """Return up to `most` of the options in random order.

    >>> sorted(shuffled(["a", "b"], np.random.default_rng(0)))
    ['a', 'b']
    """
    if len(options) < 2:
        return list(options)
    return [options[k] for k in rng.permutation(len(options))[:most].tolist()]
