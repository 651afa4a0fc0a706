"""How often readers of known blindness are found to notice colours, over many worlds."""

from functools import cache

import pytest

import karat
from karat.stats import Intervals
from karat.world import make_world, simulate_reader

WORLDS = 60


@cache
def assessed():
    """Return, per reader, what was found in every world."""
    found = {"seer": [], "colour-blind": []}
    for seed in range(WORLDS):
        world = make_world(images=80, captions=3, seed=seed)
        bench = world.benchmark()
        kinds = [karat.perturb(bench, kind) for kind in ("colour", "article")]
        texts = [None, *([query.new for query in kind.queries] for kind in kinds)]
        for name, blind in (("seer", ()), ("colour-blind", "colour")):
            before, *after = (simulate_reader(world, each, blind=blind, seed=seed) for each in texts)
            found[name].append(
                karat.robustness(
                    before, after, bench, kinds, "MRR", per="caption", intervals=Intervals(resamples=500)
                )
            )
    return found


def noticed(robust):
    return "? Yes: " in robust.effect("colour").answer()


@pytest.mark.statistical
def test_a_seer_notices_colours_and_a_colour_blind_reader_does_not():
    counts = {name: sum(map(noticed, worlds)) for name, worlds in assessed().items()}
    print(f"\nnotices colours in {counts} of {WORLDS} worlds")
    assert counts["seer"] >= 0.95 * WORLDS
    assert counts["colour-blind"] <= 0.05 * WORLDS


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("reader", "kind"), [("seer", "article"), ("colour-blind", "article"), ("colour-blind", "colour")]
)
def test_what_is_read_as_the_same_moves_by_no_more_than_noise(reader, kind):
    held = {"fall": 0, "score change": 0, "MRR": 0}
    for robust in assessed()[reader]:
        effect = robust.effect(kind)
        (measure,) = (m for m in robust.measures if (m.kind, m.queries) == (kind, "all"))
        estimates = (effect.fall, 0.5), (effect.score_change, 0), (measure.difference, 0)
        for name, (estimate, nothing) in zip(held, estimates):
            held[name] += estimate.low <= nothing <= estimate.high
    print(f"\n{reader}, {kind}: intervals that hold nothing, {held} of {WORLDS}")
    # 95% less three standard errors.
    assert min(held.values()) >= 0.865 * WORLDS
