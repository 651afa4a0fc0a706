"""A batch of vetting out of a million candidates, and a simulation of figure 5, against plain numpy."""

import sys
from functools import partial

import numpy as np
from _stopwatch import DATA, ROOT, in_own_process, left_out, main, peak_mb, record, sized, timed

QUERIES, LIST, BATCH, VETTED = sized((1000, 1000, 1000, 20_000), (20, 30, 10, 200))
ESTIMATOR = "mixed"
MEASURES = ("P@10", f"P@{LIST}", "AP", "RP")
PART = sized(20, 2)
"""How many queries numpy is measured on for AP and RP."""
DRAWS, NODES = sized((256, 100), (16, 10))


def vetted_pairs(queries: int, vetted: int):
    """Candidates with their true labels, of which some are vetted: every query ranks `LIST` images."""
    import karat
    from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth
    from karat.estimation import VettedLabels, make_candidates

    rng = np.random.default_rng(5)
    scores = rng.standard_normal((LIST, queries), dtype=np.float32)
    chance = 1 / (1 + np.exp(4.5 - 1.5 * scores - rng.normal(0, 0.7, queries)))
    relevant = rng.random(scores.shape) < chance
    noisy = np.where(relevant, rng.random(scores.shape) < 0.4, rng.random(scores.shape) < 0.02)
    own = Judgments(*np.nonzero(noisy), sources=[Provenance("noisy")])
    truth = Truth("noisy", own, {"t2i": np.arange(queries)})
    ids = Ids(range(LIST), kind="image"), Ids(range(queries), kind="caption")
    bench = Benchmark("million", *ids, {"noisy": truth})
    candidates = make_candidates(
        [karat.load_run(scores, name="run")], bench, "noisy", direction="t2i", depth=LIST
    )
    image, caption = candidates.pairs
    right = relevant[image, caption]
    return (
        candidates,
        right,
        lambda matter: VettedLabels(
            candidates, rows := rng.permutation(np.flatnonzero(matter))[:vetted], right[rows]
        ),
    )


def vetted_of(measure: str) -> int:
    """How many pairs are vetted: P@10 looks at 10,000 candidates only."""
    return VETTED // 4 if measure == "P@10" else VETTED


def ours(measure: str) -> dict[str, float]:
    """Choose a batch, add its labels, refit, and estimate every query."""
    from karat.estimation import ESTIMATORS, STRATEGIES
    from karat.estimation.vetting import values_per_query
    from karat.measures import parse_measure

    named, estimator, strategy = parse_measure(measure), ESTIMATORS[ESTIMATOR](), STRATEGIES["meec"]()

    def prepare(queries: int, vetted: int, batch: int):
        candidates, right, begin = vetted_pairs(queries, vetted)
        matter = candidates.matter(named)
        labels, rng = begin(matter), np.random.default_rng(1)
        probability = labels.filled(estimator.probabilities(labels, named, rng))

        def step() -> None:
            open_rows = np.flatnonzero(matter & ~labels.vetted)
            rows = strategy.choose(labels, probability, named, open_rows, batch, rng)
            more = labels.add(rows, right[rows])
            fitted = more.filled(estimator.probabilities(more, named, rng))
            values_per_query(candidates, fitted, named, DRAWS)

        return step

    prepare(10, 100, 10)()
    return {"s": timed(prepare(QUERIES, vetted_of(measure), BATCH)), "mb": peak_mb()}


def theirs(measure: str) -> dict[str, float]:
    """The same with scikit-learn's logistic regression and plain numpy, query by query for AP and RP."""
    from sklearn.linear_model import LogisticRegression

    candidates, _, begin = vetted_pairs(QUERIES, vetted_of(measure))
    places = candidates.places["run"]
    cut = int(measure.partition("@")[2] or LIST)
    labels = begin(places < cut)
    features = np.column_stack([candidates.scores["run"], np.log1p(places), candidates.noisy])
    order = np.lexsort((places, candidates.query)).reshape(QUERIES, LIST)

    def refit() -> np.ndarray:
        model = LogisticRegression(C=10).fit(features[labels.rows], labels.relevant)
        return labels.filled(model.predict_proba(features)[:, 1])

    p = refit()
    if measure.startswith("P"):

        def step() -> None:
            change = np.where(labels.vetted | (places >= cut), -1, 2 * p * (1 - p) / cut)
            np.argpartition(-change, BATCH)[:BATCH]
            refit()[order][:, :cut].mean(axis=1)

        return {"s": timed(step), "mb": peak_mb()}
    difference = {"AP": ap_differences, "RP": rp_differences}[measure]
    # The change of every candidate, and then the value of every query, which is cheaper: not counted.
    some = timed(lambda: [difference(row) for row in p[order][:PART]])
    return {"s": timed(refit) + some * QUERIES / PART, "mb": peak_mb()}


def ap_differences(p: np.ndarray) -> np.ndarray:
    """Return E[AP | z = 1] − E[AP | z = 0] of each item, by the integral over t, for one query."""
    node, weight = np.polynomial.legendre.leggauss(NODES)
    t = (node[:, None] + 1) / 2
    rank = np.arange(1, len(p) + 1)
    f = 1 - p + p * t
    a = p * t / f
    before = np.cumsum(a, axis=1) - a
    after = np.cumsum((a / rank)[:, ::-1], axis=1)[:, ::-1] - a / rank
    g = (1 + before) / rank + after
    total = (a / rank * (1 + before)).sum(axis=1, keepdims=True)
    product = np.exp(np.log(f).sum(axis=1, keepdims=True))
    inside = product / (t * f) * (t * (total + (1 - a) * g) - (total - a * g))
    return weight / 2 @ inside


def rp_differences(p: np.ndarray) -> np.ndarray:
    """Return the mean difference of R-precision with each item's label 1 and 0, over draws, for one query."""
    label = (np.random.default_rng(1).random((DRAWS, len(p))) < p).astype(np.int64)
    found = np.concatenate([np.zeros((DRAWS, 1), np.int64), np.cumsum(label, axis=1)], axis=1)
    others = label.sum(axis=1, keepdims=True) - label
    draw, place = np.arange(DRAWS)[:, None], np.arange(len(p))
    yes = found[draw, others + 1] + (1 - label) * (place < others + 1)
    no = found[draw, others] - label * (place < others)
    return (yes / (others + 1) - no / np.maximum(others, 1)).mean(axis=0)


def nuswide() -> dict[str, float]:
    """The five curves of figure 5 on NUS-WIDE, 50 repetitions."""
    from karat.estimation import METHODS, Method, simulate_candidates

    sys.path.insert(0, str(ROOT / "replications"))
    from _active_nuswide import MEASURE, SYSTEMS, top_lists

    candidates, relevant = top_lists(DATA, tuple(SYSTEMS)[:1], None)
    methods = [Method.parse(name) for name in METHODS]
    simulate_candidates(candidates, relevant, MEASURE, methods, times=1, budget=0.1)
    return {
        "s": timed(lambda: simulate_candidates(candidates, relevant, MEASURE, methods, times=50)),
        "mb": peak_mb(),
    }


SIDES = {f"karat {measure}": partial(ours, measure) for measure in MEASURES}
SIDES |= {f"numpy {measure}": partial(theirs, measure) for measure in MEASURES}
SIDES["nuswide"] = nuswide


def measure() -> list[dict]:
    records = []
    for name in MEASURES:
        mine, peer = (in_own_process(__file__, f"{side} {name}") for side in ("karat", "numpy"))
        how = {"AP": f" by {NODES} nodes", "RP": f" by {DRAWS} draws"}.get(name, "")
        part = f"{how}, on {PART} queries and multiplied, without the estimates" if how else ""
        records.append(
            record(
                f"batch of vetting, {name}",
                f"{QUERIES}x{LIST}",
                mine,
                f"MEEC chooses {BATCH:,} of a million candidates with {vetted_of(name):,} vetted, "
                f"{ESTIMATOR} learns from them, all queries are estimated; numpy: the same{part}, "
                "and scikit-learn's logistic regression with one intercept; candidates made beforehand",
                peer="numpy",
                theirs=peer,
            )
        )
    if DATA is None:
        left_out("figure 5 on NUS-WIDE", "needs KARAT_DATA, and takes some time")
    else:
        what = "five methods, 50 repetitions, 20 batches each, P@48 of 71 tags; systems made beforehand"
        found = in_own_process(__file__, "nuswide")
        records.append(record("figure 5 on NUS-WIDE", "50 repetitions", found, what))
    return records


if __name__ == "__main__":
    main(measure, SIDES)
