"""AP, nDCG, MRR, P@K, recall, success and R-Precision agree with ir_measures and ranx."""

import warnings

import numpy as np
import pytest

import karat
from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Share, Truth


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(3)
    n_images, n_captions = 60, 150
    # Distinct scores: the packages break ties in ways of their own.
    scores = rng.permutation(n_images * n_captions).reshape(n_images, n_captions).astype(np.float64)
    rating = rng.choice([-1, 0, 1, 2], p=[0.8, 0.05, 0.08, 0.07], size=scores.shape)
    rating[np.arange(n_images), rng.integers(0, n_captions, n_images)] = 2
    image, caption = np.nonzero(rating >= 0)
    judgments = Judgments(
        image,
        caption,
        rating=rating[image, caption],
        sources=[Provenance("test", "0 to 2", Share(top=2))],
    )
    bench = Benchmark(
        "ir",
        Ids([f"i{k}" for k in range(n_images)], kind="image"),
        Ids([f"c{k}" for k in range(n_captions)], kind="caption"),
        {"graded": Truth("graded", judgments, {"i2t": np.arange(n_images)})},
    )
    qrels = {f"i{i}": {} for i in range(n_images)}
    for i, c in zip(image, caption):
        qrels[f"i{i}"][f"c{c}"] = int(rating[i, c])
    run = {f"i{i}": {f"c{c}": float(scores[i, c]) for c in range(n_captions)} for i in range(n_images)}
    return scores, bench, qrels, run


def per_query(case, measure: str) -> dict[str, float]:
    scores, bench, _, _ = case
    column = karat.evaluate(scores, bench, [measure], direction=["i2t"]).column(measure, direction="i2t")
    return dict(zip(bench.images[column.query], column.values))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("AP", "AP"),
        ("nDCG@10", "nDCG@10"),
        ("nDCG", "nDCG"),
        ("MRR", "RR"),
        ("MRR@5", "RR@5"),
        ("P(rel=0.5)@5", "P@5"),
        ("P(rel=0.5)@20", "P@20"),
        ("Recall(rel=0.5)@10", "R@10"),
        ("R(rel=0.5)@3", "Success@3"),
        ("RP(rel=0.5)", "Rprec"),
        ("AP(rel=1)", "AP(rel=2)"),
        ("Judged@10", "Judged@10"),
    ],
)
def test_ir_measures(case, ours: str, theirs: str):
    import ir_measures

    ranked = {
        str(m.query_id): m.value
        for m in ir_measures.iter_calc([ir_measures.parse_measure(theirs)], case[2], case[3])
    }
    mine = per_query(case, ours)
    assert ranked.keys() == mine.keys()
    for query, value in mine.items():
        assert value == pytest.approx(ranked[query], abs=1e-9), query


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("AP", "map"),
        ("nDCG@10", "ndcg@10"),
        ("MRR", "mrr"),
        ("MRR@5", "mrr@5"),
        ("P(rel=0.5)@5", "precision@5"),
        ("Recall(rel=0.5)@10", "recall@10"),
        ("R(rel=0.5)@3", "hit_rate@3"),
        ("RP(rel=0.5)", "r-precision"),
    ],
)
def test_ranx(case, ours: str, theirs: str):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ranx import Qrels, Run, evaluate

        run = Run(case[3])
        evaluate(Qrels(case[2]), run, theirs, return_mean=False)
    for query, value in per_query(case, ours).items():
        assert value == pytest.approx(float(run.scores[theirs][query]), abs=1e-9), query
