"""BLEU, ROUGE-L and CIDEr equal pycocoevalcap on the same tokens; the others equal their formulas."""

from collections import Counter
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.captions.metric import CAPTION_METRICS
from karat.captions.metrics.bleu import Bleu1, Bleu2, Bleu3, Bleu4, corpus_bleu
from karat.captions.metrics.cider import Cider
from karat.captions.metrics.hodosh import BleuPre, HodoshBleu, HodoshRouge
from karat.captions.metrics.plain_cider import PlainCider
from karat.captions.metrics.rouge_l import RougeL
from karat.captions.tokens import tokenise
from karat.errors import InputError

KNOWN = [
    "bleu-1",
    "bleu-2",
    "bleu-3",
    "bleu-4",
    "bleu-pre",
    "cider",
    "hodosh-bleu",
    "hodosh-rouge",
    "plain-cider",
    "rouge-l",
    "spice",
]
NAMES = sorted(CAPTION_METRICS)
# Few words, so that captions share n-grams and repeat them.
CAPTION = st.lists(st.sampled_from("abcde"), min_size=1, max_size=14).map(" ".join)
IMAGES = st.lists(st.tuples(CAPTION, st.lists(CAPTION, min_size=1, max_size=4)), min_size=1, max_size=5)
compiled = settings(deadline=None)  # the first call compiles
LONG = st.lists(st.sampled_from("abcdefgh"), min_size=50, max_size=200).map(" ".join)


def theirs(metric, images) -> np.ndarray:
    references = {k: list(group) for k, (_, group) in enumerate(images)}
    candidates = {k: [caption] for k, (caption, _) in enumerate(images)}
    if metric == "cider":
        scorer = pytest.importorskip("pycocoevalcap.cider.cider").Cider()
    elif metric == "rouge-l":
        scorer = pytest.importorskip("pycocoevalcap.rouge.rouge").Rouge()
    else:
        scorer = pytest.importorskip("pycocoevalcap.bleu.bleu").Bleu()
        return np.array(scorer.compute_score(references, candidates, verbose=0)[1])
    return np.array(scorer.compute_score(references, candidates)[1])


def ours(metric, images) -> np.ndarray:
    candidates, references = zip(*images)
    return metric.scores(references, candidates)


@compiled
@given(IMAGES)
def test_cider_equals_pycocoevalcap(images):
    np.testing.assert_allclose(
        ours(Cider(tokens=str.split), images), theirs("cider", images), rtol=0, atol=1e-9
    )


@compiled
@given(IMAGES)
def test_bleu_equals_pycocoevalcap(images):
    found = [ours(bleu(tokens=str.split), images) for bleu in (Bleu1, Bleu2, Bleu3, Bleu4)]
    np.testing.assert_allclose(found, theirs("bleu", images), rtol=0, atol=1e-9)


@compiled
@given(IMAGES)
def test_corpus_bleu_equals_pycocoevalcap(images):
    candidates, references = zip(*images)
    scorer = pytest.importorskip("pycocoevalcap.bleu.bleu").Bleu()
    expected, _ = scorer.compute_score(
        dict(enumerate(references)), {k: [c] for k, c in enumerate(candidates)}, verbose=0
    )
    np.testing.assert_allclose(
        corpus_bleu(references, candidates, tokens=str.split), expected, rtol=0, atol=1e-9
    )


@compiled
@given(IMAGES)
def test_rouge_l_equals_pycocoevalcap(images):
    found = ours(RougeL(tokens=str.split), images)
    np.testing.assert_allclose(found, theirs("rouge-l", images), rtol=0, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(LONG | CAPTION, st.lists(LONG | CAPTION, min_size=1, max_size=2)), min_size=1, max_size=2
    )
)
def test_rouge_l_of_captions_beyond_64_words(images):
    found = ours(RougeL(tokens=str.split), images)
    np.testing.assert_allclose(found, theirs("rouge-l", images), rtol=0, atol=1e-9)


@pytest.mark.parametrize("shift", [0, 1])
def test_500_images_of_coco_equal_pycocoevalcap(data, shift):
    path = data / "coco" / "coco_karpathy_test_captions.tsv"
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    groups: dict[str, list[str]] = {}
    for row in rows:
        groups.setdefault(row[1], []).append(row[3])
    references = list(groups.values())[:500]
    candidates = [references[(k + shift) % 500][0] for k in range(500)]
    split = [
        (" ".join(tokenise(c)), [" ".join(tokenise(r)) for r in group])
        for c, group in zip(candidates, references)
    ]
    for metric, name in [(Cider(), "cider"), (RougeL(), "rouge-l")]:
        found = metric.scores(references, candidates)
        np.testing.assert_allclose(found, theirs(name, split), rtol=0, atol=1e-9)
    found = [bleu().scores(references, candidates) for bleu in (Bleu1, Bleu2, Bleu3, Bleu4)]
    np.testing.assert_allclose(found, theirs("bleu", split), rtol=0, atol=1e-9)


def counts(text: str) -> Counter:
    return Counter(text.split())


@compiled
@given(IMAGES)
def test_hodosh_bleu_and_rouge_are_equation_28(images):
    bleu, rouge = [], []
    for caption, group in images:
        s, refs = counts(caption), [counts(r) for r in group]
        bleu.append(sum(min(n, max(r[w] for r in refs)) for w, n in s.items()) / sum(s.values()))
        rouge.append(
            sum(min(s[w], n) for r in refs for w, n in r.items()) / sum(n for r in refs for n in r.values())
        )
    for metric in (HodoshBleu, BleuPre):
        np.testing.assert_allclose(ours(metric(tokens=str.split), images), bleu, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours(HodoshRouge(tokens=str.split), images), rouge, rtol=0, atol=1e-12)


def grams(text: str, n: int) -> Counter:
    words = text.split()
    return Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1))


def cosine(a: Counter, b: Counter, idf) -> float:
    norm = sqrt(sum((c * idf(g)) ** 2 for g, c in a.items()) * sum((c * idf(g)) ** 2 for g, c in b.items()))
    return sum(c * b[g] * idf(g) ** 2 for g, c in a.items()) / norm if norm > 0 else 0.0


@compiled
@given(IMAGES)
def test_plain_cider_is_the_mean_cosine(images):
    expected = np.zeros(len(images))
    for n in range(1, 5):
        seen = Counter(g for _, group in images for g in {g for r in group for g in grams(r, n)})

        def idf(gram, seen=seen):
            return log(len(images)) - log(max(1, seen[gram]))

        for k, (caption, group) in enumerate(images):
            expected[k] += np.mean([cosine(grams(caption, n), grams(r, n), idf) for r in group]) / 4
    np.testing.assert_allclose(ours(PlainCider(tokens=str.split), images), expected, rtol=0, atol=1e-9)


def test_registered_names_have_what_the_docs_print():
    assert {*NAMES} >= {*KNOWN}
    for name in NAMES:
        metric = CAPTION_METRICS[name]
        assert metric.formula
        assert metric.source
        assert metric.highest > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_caption_equal_to_all_references_is_the_highest(name):
    metric = CAPTION_METRICS[name]
    references = [["two brown dogs run fast"] * 3, ["red buses stop near houses"], ["a cat"]]
    assert metric.scores(references, ["Two brown dogs run fast.", "a", "a"])[0] == pytest.approx(
        metric.highest
    )


ODD = ["", "...", "🐕 🐕", "a dog " * 5_000, "犬が走る", "\x00\ud800"]


@pytest.mark.parametrize("name", NAMES)
def test_odd_captions_have_a_decided_outcome(name):
    metric = CAPTION_METRICS[name]
    references = [[text, "a brown dog runs fast"] for text in ODD] + [[], ["", "…"]]
    candidates = [*ODD, "a brown dog runs fast"]
    table = metric.matrix(references, candidates)
    assert table.shape == (8, 7)
    assert np.isfinite(table).all()
    assert table.min() >= 0
    assert table.max() <= metric.highest * (1 + 1e-6)
    # Captions without words, and images whose captions have none or that have no captions.
    assert (table[:, [0, 1, 5]] == 0).all()
    assert (table[6] == 0).all()
    # BLEU's smoothing leaves a trace of order 1e-11 where no reference has words, as in pycocoevalcap.
    assert (table[7] < 1e-9).all()
    # A dog is found in the caption that says nothing else; characters and emoji are words of their own.
    assert (table[2, 2] > 0) == (name not in ("hodosh-bleu", "hodosh-rouge", "bleu-pre", "spice"))
    assert (table[4, 4] > 0) == (name != "spice")
    # The same pair alone and in a list; a single image has no document frequencies.
    each = np.arange(7)
    np.testing.assert_allclose(
        metric.prepare(references, candidates).at(each, each), np.diag(table), atol=1e-5
    )
    if not hasattr(metric, "frequencies"):
        assert [metric.pair(references[k], candidates[k]) for k in each] == pytest.approx(
            np.diag(table), abs=1e-5
        )


@pytest.mark.parametrize("name", NAMES)
def test_nothing_gives_an_empty_table(name):
    metric = CAPTION_METRICS[name]
    assert metric.matrix([], []).shape == (0, 0)
    assert metric.matrix([["a dog"]], []).shape == (1, 0)
    assert metric.matrix([], ["a dog"]).shape == (0, 1)
    assert metric.scores([], []).shape == (0,)


def test_one_image_alone_has_no_cider():
    """Its idf is log 1 = 0; a fixed corpus mends that."""
    assert Cider().pair(["a dog runs fast"], "a dog runs fast") == 0
    assert PlainCider().pair(["a dog runs fast"], "a dog runs fast") == 0


def test_numbers_of_images_and_candidates_must_agree():
    for score in (Cider().scores, corpus_bleu):
        with pytest.raises(InputError, match="2 images and 1 candidate"):
            score([["a"], ["b"]], ["a"])


def test_parameters_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="sigma is 0"):
        Cider(sigma=0)
    with pytest.raises(InputError, match="orders is 0"):
        corpus_bleu([["a"]], ["a"], orders=0)


@pytest.mark.parametrize(
    ("references", "candidates", "says"),
    [
        (["a dog"], ["a dog"], "list of captions for each image"),
        ([["a dog"]], "a dog", "one text"),
        ([["a dog", None]], ["a dog"], "None is not text"),
        ([["a dog"]], [7], "7 is not text"),
    ],
)
def test_what_is_no_caption_is_refused(references, candidates, says):
    with pytest.raises(InputError, match=says):
        Cider().matrix(references, candidates)
