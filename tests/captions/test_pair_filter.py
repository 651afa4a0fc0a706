"""The filter by captions and its audit, against plain loops."""

import json
from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.benchmarks import Benchmark, build
from karat.captions import pair_filter as filtering
from karat.captions.filter_audit import audit_filter
from karat.captions.metric import CAPTION_METRICS
from karat.captions.pair_filter import caption_filter
from karat.captions.similarity import own_references, pair_scores, references_of
from karat.scores import Ratings
from karat.stats import Intervals

WORDS = ["dog", "cat", "man", "woman", "red", "blue", "runs", "sits", "bench", "beach", "ball"]
FEW = Intervals(resamples=100)


@pytest.fixture
def bench(rng) -> Benchmark:
    """Eight images, three captions each, in an order that mixes the images."""
    whose = rng.permutation(np.repeat(np.arange(8), 3))
    texts = [" ".join(["a", *rng.choice(WORDS, rng.integers(1, 6))]) for _ in whose]
    images, captions = [f"i{k}" for k in range(8)], [f"c{k}" for k in range(24)]
    return build("made", images, captions, [f"i{k}" for k in whose], texts, where="made", about="")


@pytest.fixture
def phi(bench):
    """φ of all pairs, one call per pair."""
    metric = CAPTION_METRICS["bleu-pre"]
    return np.array([[metric.pair(own, text) for text in bench.texts] for own in references_of(bench)])


def test_scores_of_pairs_and_leaving_out(bench, phi, rng):
    image, caption = rng.integers(0, 8, 50), rng.integers(0, 24, 50)
    assert pair_scores(bench, "bleu-pre", image, caption) == pytest.approx(phi[image, caption])
    left = pair_scores(bench, "bleu-pre", image, caption, leave_out=True)
    metric = CAPTION_METRICS["bleu-pre"]
    for i, c, value in zip(image, caption, left):
        others = [bench.texts[k] for k in np.flatnonzero(bench.caption_image == i) if k != c]
        assert value == pytest.approx(metric.pair(others, bench.texts[c]))


def test_numbers_among_the_references(bench):
    references = references_of(bench)
    owner, number = own_references(bench, np.arange(24))
    assert [references[i][k] for i, k in zip(owner, number)] == list(bench.texts)


@pytest.mark.parametrize("threshold", [0.25, 1 / 3, 0.5])
def test_what_is_kept(bench, phi, threshold, monkeypatch):
    monkeypatch.setattr(filtering, "BLOCK_CELLS", 60)  # two images at a time
    found = caption_filter(bench, threshold)
    wanted = phi >= threshold - 1e-6
    assert 0 < wanted.mean() < 1
    assert (found.kept() == wanted).all()
    image, caption = np.indices(phi.shape).reshape(2, -1)
    assert (found.keeps(image, caption) == wanted.ravel()).all()
    assert (found.counts([threshold, 2.0]) == [wanted.sum(axis=1), np.zeros(8)]).all()


def test_only_some_captions(bench, phi):
    chosen = np.array([3, 17, 4])
    found = caption_filter(bench, 0.5, captions=chosen)
    assert (found.kept() == (phi[:, [3, 4, 17]] >= 0.5)).all()
    assert found.keeps([1, 2], [17, 3]).tolist() == (phi[[1, 2], [17, 3]] >= 0.5).tolist()
    with pytest.raises(karat.KaratError, match="caption c5 is not among those that the filter reads"):
        found.keeps([0], [5])


@pytest.fixture
def people(bench, rng):
    """Three people say yes or no to every second pair."""
    image, caption = np.indices((8, 24)).reshape(2, -1)[:, ::2]
    values = rng.integers(0, 2, (len(image), 3)).astype(float)
    values[0] = np.nan
    return Ratings(bench.images[image], bench.captions[caption], ("a", "b", "c"), values, "people.csv")


def test_the_audit_counts_what_is_lost(bench, phi, people):
    found = audit_filter(bench, [people], from_=[0.25, 0.5], relevant_from=[0.5, 1.0], intervals=FEW)
    image, caption = bench.images.find(people.image), bench.captions.find(people.caption)
    for threshold in (0.25, 0.5):
        one = found.at(threshold)
        dropped = phi[image, caption] < threshold - 1e-6
        assert one.dropped.value == pytest.approx((phi < threshold - 1e-6).mean())
        for lost, cut in zip(one.lost, (0.5, 1.0)):
            good = people.rating >= cut
            assert lost.share.n == good.sum()
            assert lost.share.value == pytest.approx(dropped[good].mean())
            assert lost.share.low <= lost.share.value <= lost.share.high
            other = good & (bench.caption_image[caption] != image)
            assert lost.not_original.n == other.sum() < good.sum()
            assert lost.not_original.value == pytest.approx(dropped[other].mean())
        (judged,) = one.judged
        yes = people.values[dropped & ~np.isnan(people.rating)].sum(axis=1)
        assert judged.all_no.n == len(yes)
        assert judged.all_no.value == pytest.approx((yes == 0).mean())
        assert judged.most_no.value == pytest.approx((yes <= 1).mean())


def test_an_even_split_is_no_majority(bench):
    pair = Ratings(["i0"] * 2, ["c0", "c1"], ("a", "b"), np.array([[0.0, 1], [0, 0]]), "two.csv")
    (judged,) = audit_filter(bench, [pair], from_=[2.0], intervals=FEW).at(2.0).judged
    assert (judged.all_no.value, judged.most_no.value) == (0.5, 0.5)


def test_a_mean_is_one_answer(bench):
    mean = Ratings(["i0"] * 2, ["c0", "c1"], ("mean",), np.array([[0.2], [5.0]]), "mean.csv")
    found = audit_filter(bench, [mean], from_=[2.0], intervals=FEW)
    assert found.at(2.0).judged[0].all_no.value == 0.5
    assert "it rates 50.0% (" in str(found)
    assert "below the middle of its scale" in str(found)


def test_cuts_outside_a_scale_are_replaced_by_its_middle(bench, people):
    other = replace(people, values=4 * people.values, where="wide")
    lost = audit_filter(bench, [people, other], relevant_from=[3.0], intervals=FEW).at(0.25).lost
    assert [one.rated_from for one in lost] == [0.5, 3.0]
    with pytest.raises(karat.KaratError, match="3 is outside the scale of every table"):
        audit_filter(bench, [people], relevant_from=[3.0], intervals=FEW)


def test_rated_captions_only(bench, people):
    some = people.take(np.isin(people.caption, ["c0", "c2", "c4"]))
    found = audit_filter(bench, [some], rated_captions=True, intervals=FEW)
    assert (found.images, found.captions) == (8, 3)


def test_sentences_and_records(bench, people):
    found = audit_filter(bench, [people], from_=[0.25, 0.5], intervals=FEW)
    text = str(found)
    assert text.startswith("made: 8 images by 24 captions, 192 pairs\n\nbleu-pre ≥ 0.25 drops ")
    assert "that people rates 0.5 or more" in text
    assert text.endswith("resamples of images.")
    assert max(map(len, text.splitlines())) <= 80
    records = json.loads(found.to_json())
    assert {record["from"] for record in records} == {0.25, 0.5}
    assert len(records) == 2 * 5
    with pytest.raises(karat.KaratError, match=r"there is no audit at 0\.3; known: 0\.25, 0\.5"):
        found.at(0.3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "blue-pre"}, "did you mean bleu-pre"),
        ({"threshold": np.nan}, "the threshold is nan"),
        ({"captions": [99]}, "one outside it"),
    ],
)
def test_mistakes(bench, options, message):
    with pytest.raises(karat.KaratError, match=message):
        caption_filter(bench, **options)


def test_a_benchmark_without_captions(coco, people, monkeypatch):
    monkeypatch.delenv("KARAT_DATA", raising=False)
    with pytest.raises(karat.KaratError, match="coco comes without captions; name the file: --set captions="):
        caption_filter(coco)
    with pytest.raises(karat.KaratError, match="there is nothing to audit"):
        audit_filter(coco, [])


def test_an_image_without_captions_keeps_nothing(bench):
    lonely = build("lonely", ["x", "y"], ["1"], ["x"], ["a dog"], where="lonely", about="")
    assert caption_filter(lonely).kept().tolist() == [[True], [False]]
