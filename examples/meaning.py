"""Scores by meaning on a world whose truth is known: do they follow it?

Prints NCS and SR of systems of rising strength for three similarities of captions, the correlation of each
similarity with the truth, and how many pairs of six very different systems each measure orders wrongly.
"""

import numpy as np

import karat
from karat.captions import all_pairs
from karat.world import make_world, simulate, simulate_systems

STRENGTHS = (0, 1, 2, 4, 8)
SIMILARITIES = ("cider", "spice", "hodosh-rouge")


def score_table(world, bench) -> list[str]:
    """Return the lines of a table: a row per measure, a column per strength, and one for the ideal run."""
    runs = [simulate(world, strength, seed=1, name=f"{strength}") for strength in STRENGTHS]
    lines = [
        "| measure | " + " | ".join(f"strength {s}" for s in STRENGTHS) + " | ideal |",
        "|---|" + "---|" * (len(STRENGTHS) + 1),
    ]
    for phi in SIMILARITIES:
        names = [f"NCS({phi})@10", f"NCS({phi}, gt=no)@10", f"SR({phi}, m=10)@10"]
        ideal = karat.load_run(all_pairs(bench, phi), name="ideal")
        card = karat.evaluate(runs, bench, names, truth="original")
        # Equally similar items stay in the gallery's order, which is how the m most similar are chosen.
        best = karat.evaluate(ideal, bench, names, truth="original", ties="stable")
        for name in names:
            values = [*(card.value(name, run=run.name) for run in runs), best.value(name)]
            cells = [f"{100 * value:.1f}" for value in values]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def correlation_table(world, bench) -> list[str]:
    """Return the lines of a table: Pearson's correlation of each similarity with the truth."""
    true, share = np.asarray(world.relevance()), np.asarray(world.shares())
    other = np.ones(true.shape, bool)
    other[bench.caption_image, np.arange(bench.captions.size)] = False
    lines = [
        "| similarity | with truth, all pairs | with truth, other pairs | with the true share of a caption |",
        "|---|---|---|---|",
    ]
    for phi in SIMILARITIES:
        table = all_pairs(bench, phi)
        pairs = [(table, true), (table[other], true[other]), (table, share)]
        cells = [f"{np.corrcoef(a.ravel(), b.ravel())[0, 1]:.2f}" for a, b in pairs]
        lines.append(f"| {phi} | " + " | ".join(cells) + " |")
    return lines


def order_table(world, bench) -> list[str]:
    """Return the lines of a table: how many of 15 pairs of systems a measure orders against the truth."""
    runs = simulate_systems(world, seed=7)
    names = ["R@1", *(f"NCS({phi}{gt})@10" for phi in SIMILARITIES for gt in ("", ", gt=no"))]
    card = karat.evaluate(runs, bench, names, truth="original")
    truth = karat.evaluate(runs, bench, ["mAP@R"], truth="complete")
    pairs = [(a.name, b.name) for k, a in enumerate(runs) for b in runs[k + 1 :]]
    lines = ["| measure | pairs in the wrong order |", "|---|---|"]
    for name in names:
        wrong = sum(
            (card.value(name, run=a) > card.value(name, run=b))
            != (truth.value("mAP@R", run=a) > truth.value("mAP@R", run=b))
            for a, b in pairs
        )
        lines.append(f"| {name} | {wrong} of {len(pairs)} |")
    return lines


if __name__ == "__main__":
    world = make_world(300, seed=7)
    bench = world.benchmark()
    tables = [score_table(world, bench), correlation_table(world, bench), order_table(world, bench)]
    print("\n\n".join("\n".join(lines) for lines in tables))
