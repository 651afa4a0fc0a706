"""Simulated systems of chosen strength and chosen blind spots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from karat._util import check_choice
from karat.errors import InputError
from karat.runs import MatrixRun
from karat.world.draws import Draws
from karat.world.meanings import ASPECTS
from karat.world.relevance import shares
from karat.world.world import World


@dataclass(frozen=True)
class System:
    """What a simulated system is like.

    Parameters
    ----------
    name
        As tables show it.
    strength
        How much what it sees weighs against its noise, which has variance 1: 0 guesses, 4 is good,
        12 hardly errs.
    blind
        What it cannot see, among "colour", "number", "size", "background", "position" and "relation". It
        reads captions as if they did not mention it.
    instance
        What it adds to the score of an image and a caption written for it: a system that has learned which
        details the annotators of a benchmark mention, rather than what is true. Labels that only know
        these pairs reward it.
    uneven
        How much worse it sees some pictures than others: each picture's strength is cut by a share between
        0 and this, at random. The captions of one picture then succeed or fail together.
    """

    name: str
    strength: float
    blind: tuple[str, ...] = ()
    instance: float = 0.0
    uneven: float = 0.0


SYSTEMS = (
    System("seer", strength=5.0),
    System("learner", strength=4.0),
    System("memoriser", strength=3.0, instance=1.0),
    System("colour-blind", strength=5.0, blind=("colour",)),
    System("number-blind", strength=5.0, blind=("number",)),
    System("short-sighted", strength=4.0, blind=("size", "background"), instance=1.0),
)
"""Six systems whose order by the original labels is not their true order."""


def simulate(
    world: World,
    strength: float = 4.0,
    *,
    blind: Iterable[str] | str = (),
    instance: float = 0.0,
    uneven: float = 0.0,
    weak: Sequence[bool] | np.ndarray | None = None,
    weakness: float = 1.0,
    seed: int = 0,
    name: str = "simulated",
) -> MatrixRun:
    """Return the scores that a simulated system gives every image and caption.

    score = (1 − weakness) · [strength · (1 − cut) · (share of the statements that it sees which hold)
    + instance · (the caption was written for the image)] + noise,
    where captions that are not `weak` have no weakness, and the cut of each image is between 0 and `uneven`.

    The noise of a pair depends on the seed alone, so that systems with the same seed differ by nothing but
    their settings: more strength helps, and a blind spot changes only captions that mention it.

    Parameters
    ----------
    world
        What `make_world` returned.
    strength, blind, instance, uneven, name
        See `System`.
    weak, weakness
        A planted weakness: which captions it reads badly, as booleans, such as
        ``world.meanings.states(noun="dog", colour="red")``, and which share of what it sees it loses on them.
    seed
        Of the noise; give each system its own to make them err independently.

    Examples
    --------
    >>> import karat
    >>> from karat.world import make_world
    >>> world = make_world(images=60, captions=2, seed=4)
    >>> runs = [simulate(world, strength=s, name=f"strength {s}") for s in (1, 3, 6)]
    >>> card = karat.evaluate(runs, world.benchmark(), ["mAP@R"], truth="complete", direction="t2i")
    >>> [round(column.value, 2) for column in card]
    [0.16, 0.73, 0.95]
    """
    aspects = [
        check_choice(aspect, ASPECTS, "blind") for aspect in ([blind] if isinstance(blind, str) else blind)
    ]
    for value, what in ((strength, "strength"), (instance, "instance")):
        if not np.isfinite(value) or value < 0:
            raise InputError(f"{what} is {value}", fix="give a number of 0 or more")
    if not 0 <= uneven <= 1:
        raise InputError(f"uneven is {uneven}", fix="give a share from 0 to 1")
    lost = check_weakness(weak, weakness, len(world.texts))
    scores = shares(world.scenes, world.meanings.without(aspects))
    scores *= np.float32(strength)
    if uneven:
        cut = uneven * Draws(seed, 4).uniforms(len(scores))
        scores *= (1 - cut).astype(np.float32)[:, None]
    scores[world.caption_image, np.arange(len(world.texts))] += np.float32(instance)
    if lost is not None:
        scores *= (1 - lost).astype(np.float32)
    scores += Draws(seed, 3).noise(scores.size).reshape(scores.shape)
    return MatrixRun(scores, name)


def check_weakness(
    weak: Sequence[bool] | np.ndarray | None, weakness: float, captions: int
) -> np.ndarray | None:
    """Return the share that is lost on each caption, or raise; None where there is no weakness."""
    if not 0 <= weakness <= 1:
        raise InputError(f"weakness is {weakness}", fix="give a share from 0 to 1")
    if weak is None:
        return None
    rows = np.asarray(weak)
    if rows.shape != (captions,) or rows.dtype != bool:
        raise InputError(
            f"weak has shape {rows.shape} and type {rows.dtype}",
            fix=f"give {captions:,} booleans, one per caption",
        )
    return weakness * rows


def simulate_systems(world: World, seed: int = 0, systems: Iterable[System] = SYSTEMS) -> list[MatrixRun]:
    """Return a run of each of several systems, each with its own noise."""
    return [
        simulate(
            world,
            system.strength,
            blind=system.blind,
            instance=system.instance,
            uneven=system.uneven,
            name=system.name,
            seed=1000 * seed + number,
        )
        for number, system in enumerate(systems)
    ]
