"""Scorecards of choices: chance, groups, controls, comparisons."""

import json

import numpy as np
import pytest
from scipy import stats

import karat
from karat.scores.text_only import control_of
from karat.world import make_world
from tests import choice_files


@pytest.fixture
def winoground(tmp_path):
    return karat.load_benchmark(choice_files.winoground(tmp_path, count=60))


@pytest.fixture
def sugarcrepe(tmp_path):
    return karat.load_benchmark(choice_files.sugarcrepe(tmp_path / "data", count=60))


def table(shape, strength, seed=0):
    scores = np.random.default_rng(seed).normal(size=shape)
    diagonal = np.arange(min(shape[1:]))
    scores[:, diagonal, diagonal] += strength
    return scores


def test_scores_of_winoground(winoground):
    scores = table((60, 2, 2), 1)
    card = karat.evaluate(
        scores, winoground, loading=karat.Loading(name="mine"), intervals=True, resamples=200
    )
    c0_i0, c1_i0, c0_i1, c1_i1 = scores.reshape(60, 4).T
    text = (c0_i0 > c1_i0) & (c1_i1 > c0_i1)
    column = card.column("Text", truth="all", direction="i2t")
    assert column.value == pytest.approx(text.mean())
    assert column.chance == 0.25
    assert column.p_chance == pytest.approx(stats.binom.sf(text.sum() - 1, 60, 0.25))
    assert column.low < column.value < column.high
    members = np.arange(60) % 3 == 0
    assert card.value("Text", truth="collapsed_tag=Object", direction="i2t") == pytest.approx(
        text[members].mean()
    )
    record = json.loads(card.to_json())[0]
    assert record == {
        "run": "mine", "truth": "all", "direction": "i2t", "measure": "Text", "value": column.value,
        "low": column.low, "high": column.high, "lower_bound": None, "upper_bound": None, "n": 60,
        "chance": 0.25, "p_chance": column.p_chance,
    }  # fmt: skip
    rows = card.per_query().filter(measure="Group", truth="all")
    assert rows["query"].to_list() == [str(n) for n in range(60)]
    shown = str(card)
    assert "resamples of examples" in shown
    assert " 16.67 " in shown
    # No control by default: what ignores the image cannot win.
    assert card.runs == ["mine"]


def test_groups_and_measures_by_choice(winoground):
    scores = table((60, 2, 2), 1)
    card = karat.evaluate(scores, winoground, "Group", truth=["tag", "secondary_tag"])
    assert [(c.truth, c.n) for c in card] == [("tag=Noun", 60), ("secondary_tag=Series", 15)]
    assert [str(c.measure) for c in karat.evaluate(scores, winoground, direction="t2i", truth="all")] == [
        "Image"
    ]
    with pytest.raises(karat.KaratError, match=r"R@1 ranks a gallery.*choose from .*Group"):
        karat.evaluate(scores, winoground, "R@1")
    with pytest.raises(karat.KaratError, match="unknown truth 'tag=Verb'"):
        karat.evaluate(scores, winoground, truth="tag=Verb")
    with pytest.raises(karat.KaratError, match="where unjudged does not apply"):
        karat.evaluate(scores, winoground, unjudged="bounds")
    with pytest.raises(karat.KaratError, match="ties"):
        karat.evaluate(scores, winoground, ties="trec_eval")
    with pytest.raises(karat.KaratError, match="has no gallery to rank"):
        karat.inspect(scores, winoground)


def test_measures_of_choices_need_choices():
    bench = make_world(5, seed=1).benchmark()
    with pytest.raises(karat.KaratError, match="Text is a measure of choices"):
        karat.evaluate(np.zeros((bench.images.size, bench.captions.size)), bench, "Text")
    with pytest.raises(karat.KaratError, match="only benchmarks of choices have a text-only control"):
        karat.evaluate(np.zeros((bench.images.size, bench.captions.size)), bench, text_only="length")


def test_a_run_of_noise_is_marked(winoground):
    card = karat.evaluate(table((60, 2, 2), 0), winoground, truth="all")
    assert str(card).count("°") == 4
    card = karat.evaluate(np.zeros((60, 2, 2)), winoground, truth="all")
    assert card.value("Text", direction="i2t") == 0
    assert "in 60 examples of 60 equal scores decide Text, and ties are pessimistic" in card.notes[0]
    card = karat.evaluate(np.zeros((60, 2, 2)), winoground, truth="all", ties="expected")
    assert card.value("Group", direction="both") == pytest.approx(1 / 6)


def test_examples_that_share_an_image_are_drawn_together(sugarcrepe):
    scores = table((120, 1, 2), 1)
    card = karat.evaluate(scores[:, 0], sugarcrepe, intervals=True, resamples=200)
    column = card.column("Text", truth="all", direction="i2t", run="run")
    assert (column.n, column.effective) == (120, 30)
    assert "resamples of images with their examples" in str(card)


def test_the_control_finds_what_captions_give_away(sugarcrepe, tmp_path):
    scores = table((120, 1, 2), 1)[:, 0]
    card = karat.evaluate(scores, sugarcrepe)
    # The negative caption of replace_att has a word more, those of swap_obj have as many.
    for truth, expected in (("kind=replace_att", 1.0), ("kind=swap_obj", 0.5), ("all", 0.75)):
        assert card.value("Text", truth=truth, direction="i2t", run="length (text only)") == expected
    assert (
        "which sees no image, is above chance: Text 75.00 on all (chance 50.00), Text 100.00 on kind"
        in card.notes[0]
    )
    assert karat.evaluate(scores, sugarcrepe, text_only="none").runs == ["run"]
    own = np.random.default_rng(3).normal(size=(120, 2))
    np.save(tmp_path / "plausible.npy", own)
    card = karat.evaluate(scores, sugarcrepe, text_only=tmp_path / "plausible.npy", truth="all")
    run = "plausible (text only)"
    assert card.value("Text", direction="i2t", run=run) == (own[:, 0] > own[:, 1]).mean()
    (tmp_path / "captions.txt").write_text("a cup on a mat\na dog on a box\na lamp on a mat\n")
    card = karat.evaluate(scores, sugarcrepe, text_only=f"ngram:{tmp_path}/captions.txt", truth="kind")
    assert card.value("Text", truth="kind=replace_att", direction="i2t", run="ngram (text only)") == 1
    with pytest.raises(karat.KaratError, match=r"no text-only control of this name; give .*length.*none"):
        karat.evaluate(scores, sugarcrepe, text_only="lenght")
    with pytest.raises(karat.KaratError, match="length takes no"):
        karat.evaluate(scores, sugarcrepe, text_only="length:3")


def test_a_control_cannot_win_where_both_captions_are_right_once(winoground):
    control = control_of(np.random.default_rng(0).normal(size=(60, 2)), winoground)
    card = karat.evaluate(control.scores, winoground, truth="all")
    assert card.value("Text", direction="i2t") == 0


def test_macro(tmp_path):
    bench = karat.load_benchmark(choice_files.aro(tmp_path, {"on": 30, "below": 6, "near": 4}))
    scores = table((40, 1, 2), 1)[:, 0]
    right = scores[:, 0] > scores[:, 1]
    card = karat.evaluate(scores, bench, intervals=True, resamples=200, text_only="none")
    by_relation = [right[:30].mean(), right[30:36].mean(), right[36:].mean()]
    column = card.column("Macro", direction="i2t")
    assert column.value == pytest.approx(np.mean(by_relation))
    assert column.chance == 0.5
    assert column.low < column.value < column.high
    (tmp_path / "out.txt").write_text("near\n")
    bench = karat.load_benchmark(tmp_path / "visual_genome_relation.json", leave_out=tmp_path / "out.txt")
    card = karat.evaluate(scores, bench, text_only="none")
    assert card.value("Macro", direction="i2t") == pytest.approx(np.mean(by_relation[:2]))
    assert "Macro: 2 of 3 groups by relation count" in card.notes[0]


def test_valse_and_what_needs_embeddings(tmp_path):
    bench = karat.load_benchmark(choice_files.valse(tmp_path / "data", count=12))
    scores = table((16, 1, 2), 2)[:, 0]
    card = karat.evaluate(scores, bench, ["AUROC", "p_c", "acc"], truth="all", text_only="length")
    assert [c.run for c in card if c.run != "run"] == ["length (text only)"]
    assert card.column("p_c", direction="i2t", run="run").chance is None
    bench = karat.load_benchmark(choice_files.sugarcrepe(tmp_path / "plus", plus=True))
    card = karat.evaluate(np.zeros((12, 3)), bench)
    assert any(note.startswith("run: TOT has no value: it compares captions") for note in card.notes)
    rng = np.random.default_rng(0)
    card = karat.evaluate((rng.normal(size=(3, 4)), rng.normal(size=(36, 4))), bench, truth="all")
    assert card.column("TOT", direction="t2t", run="run").n == 12


def test_comparison(winoground):
    runs = {"weak": table((60, 2, 2), 0.5), "good": table((60, 2, 2), 2, seed=1)}
    comparison = karat.compare(runs, winoground, truth="all", test="mcnemar")
    values = [c.values for c in comparison.card if str(c.measure) == "Group"]
    only = [int(((a == 1) & (b == 0)).sum()) for a, b in (values, values[::-1])]
    # Mid-p McNemar: twice the lower tail of a fair coin, less the probability of what was seen.
    least, discordant = min(only), sum(only)
    expected = 2 * stats.binom.cdf(least, discordant, 0.5) - stats.binom.pmf(least, discordant, 0.5)
    difference = comparison.difference("good", "weak", "Group", truth="all", direction="both")
    assert difference.p == pytest.approx(expected)
    # Every measure is shown, not what combines both directions alone.
    assert [line in str(comparison) for line in ("Text ", "Image ", "Group ")] == [True] * 3
    together = karat.compare(runs, winoground, truth="all", samples=99, correction="all")
    assert together.card.runs == ["weak", "good"]
    p = sorted(d.p for d in together.differences)
    assert max(d.corrected for d in together.differences) >= 3 * p[0]
