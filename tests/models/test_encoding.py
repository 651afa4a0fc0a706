"""Benchmarks encoded by models of texts alone: an image is its captions, without the one that asks."""

import json

import numpy as np
import pytest

import karat
from karat.captions import all_pairs, asked_texts
from karat.errors import InputError
from karat.models import Encoder, TextMetric, load_summariser
from karat.runs import EmbeddingRun, MatrixRun
from karat.world import make_world

VOCABULARY = ("a", "two", "dog", "cat", "red", "blue", "left", "small", "of", "is", "and")


def words(texts):
    return [[text.split().count(word) + 0.01 for word in VOCABULARY] for text in texts]


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


@pytest.fixture(scope="module")
def bench():
    return make_world(8, captions=3, seed=2).benchmark()


def by_hand(bench, image, text, without=None):
    """The cosine of a text with the mean of an image's captions, except one."""
    own = [
        k
        for k in range(bench.captions.size)
        if bench.caption_image[k] == image and (without is None or k != without)
    ]
    mean = unit(np.array(words([bench.texts[k] for k in own]))).mean(axis=0)
    return float(unit(mean) @ unit(np.array(words([text])))[0])


def test_a_caption_never_meets_itself(bench):
    run = karat.encode(words, bench)
    assert isinstance(run, MatrixRun)
    expected = [
        [by_hand(bench, image, text, k) for k, text in enumerate(bench.texts)]
        for image in range(bench.images.size)
    ]
    np.testing.assert_allclose(run.scores, expected, atol=1e-6)
    assert karat.evaluate(run, bench)


def test_changed_queries_leave_the_original_out(bench):
    ids = bench.captions.gallery
    queries = {str(ids[5]): "a blue cat", str(ids[0]): "two red dogs"}
    run = karat.encode(words, bench, queries=queries)
    assert run.ids["captions"].tolist() == [ids[5], ids[0]]
    expected = [
        [by_hand(bench, image, text, k) for k, text in zip((5, 0), queries.values())]
        for image in range(bench.images.size)
    ]
    np.testing.assert_allclose(run.scores, expected, atol=1e-6)


@pytest.mark.parametrize("metric", ["bow", "cider", "rouge-l", TextMetric(words)])
def test_unchanged_queries_are_the_captions(bench, metric):
    table = all_pairs(bench, metric, leave_out=True)
    some = [4, 1, 17]
    queries = {str(bench.captions.gallery[k]): bench.texts[k] for k in some}
    np.testing.assert_array_equal(all_pairs(bench, metric, leave_out=True, queries=queries), table[:, some])


def test_a_model_of_pictures_encodes_changed_captions(bench):
    both = Encoder("both", images=lambda paths: np.eye(8), texts=lambda texts: np.eye(8)[[3] * len(texts)])
    pictures = [f"{k}.png" for k in range(8)]
    run = karat.encode(both, karat.benchmarks.benchmark.replace(bench, image_paths=pictures), queries={
        str(bench.captions.gallery[2]): "a dog"
    })  # fmt: skip
    assert isinstance(run, EmbeddingRun)
    assert run.captions.shape == (1, 8)
    assert run.ids["captions"].tolist() == [bench.captions.gallery[2]]
    with pytest.raises(InputError, match="sees pictures, not captions"):
        karat.encode(both, bench, summarise="extractive")


def test_unknown_captions_and_no_queries_are_refused(bench):
    with pytest.raises(InputError, match="has no caption 'nobody'"):
        asked_texts(bench, {"nobody": "a dog"})
    with pytest.raises(InputError, match="there are no queries"):
        asked_texts(bench, {})


def test_an_image_without_other_captions_has_no_score():
    tiny = karat.benchmarks.build(
        "tiny", ["x", "y"], ["1", "2", "3"], ["x", "y", "y"], ["a dog", "a cat", "red cat"],
        where="tiny", about="",
    )  # fmt: skip
    scores = karat.encode(words, tiny).scores
    assert scores[0, 0] == 0
    assert (scores[1] > 0).all()


def test_extractive_summary_is_the_caption_nearest_to_all(bench):
    run = karat.encode(words, bench, summarise="extractive")
    vectors = unit(np.array(words(bench.texts)))
    for image in range(bench.images.size):
        for caption in range(bench.captions.size):
            own = [k for k in np.flatnonzero(bench.caption_image == image) if k != caption]
            near = np.array([vectors[k] @ vectors[own].sum(axis=0) for k in own])
            summary = own[np.flatnonzero(near >= near.max() - 1e-6)[0]]
            assert run.scores[image, caption] == pytest.approx(vectors[summary] @ vectors[caption], abs=1e-5)


def test_any_object_summarises(bench):
    class First:
        def summarise(self, groups):
            return [group[0] for group in groups]

    joined = load_summariser("joined", Encoder("words", texts=words))
    assert TextMetric(words, joined).pair(["a dog", "a cat"], "a dog a cat") == pytest.approx(1)
    first = TextMetric(words, First())
    assert first.pair(["a dog", "a cat"], "a dog") == pytest.approx(1)
    with pytest.raises(InputError, match="unknown summariser 'extractiv'; did you mean extractive"):
        karat.encode(words, bench, summarise="extractiv")
    for name in ("extractive", "joined"):
        with pytest.raises(InputError, match=f"write {name} alone"):
            load_summariser(f"{name}:2", Encoder("words", texts=words))


def test_a_t5_folder_summarises(tmp_path):
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    vocabulary = {word: k for k, word in enumerate(["<pad>", "</s>", "<unk>", "summarize:", *VOCABULARY])}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(tmp_path)
    shape = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2}
    config = transformers.T5Config(vocab_size=len(vocabulary), decoder_start_token_id=0, **shape)
    transformers.T5ForConditionalGeneration(config).save_pretrained(tmp_path)
    summariser = load_summariser(f"transformers:{tmp_path}", Encoder("words", texts=words))
    groups = [["a dog", "two dog"], ["a red cat"], ["a dog", "two dog"]]
    made = summariser.summarise(groups)
    assert len(made) == 3
    assert made[0] == made[2]
    assert made == summariser.summarise(groups)
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        load_summariser(f"transformers:{tmp_path / 'nowhere'}", Encoder("words", texts=words))
    other = json.loads((tmp_path / "config.json").read_text()) | {"model_type": "encoder-decoder"}
    own = (tmp_path / "config.json").read_text()
    (tmp_path / "config.json").write_text(json.dumps(other))
    with pytest.raises(InputError, match="describes a network of"):
        load_summariser(f"transformers:{tmp_path}", Encoder("words", texts=words))
    (tmp_path / "config.json").write_text(own)
    (tmp_path / "generation_config.json").write_text('{"decoder_start_token_id": "x"}')
    with pytest.raises(InputError, match=r"cannot (be loaded|summarise) \("):
        load_summariser(f"transformers:{tmp_path}", Encoder("words", texts=words)).summarise(groups)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="cannot be loaded"):
        load_summariser(f"transformers:{tmp_path}", Encoder("words", texts=words))


def test_evaluate_takes_models_among_runs_and_names(bench, tmp_path):
    class Mine:
        def encode_texts(self, texts):
            return words(texts)

    np.save(tmp_path / "noise.npy", np.random.default_rng(0).random((8, 24)))
    files = [str(tmp_path / "noise.npy"), Mine(), karat.load_model(words)]
    assert karat.evaluate(files, bench, "R@1").runs == ["noise", "Mine", "words"]
    card = karat.evaluate({"a": Mine(), "b": files[0]}, bench, "R@1")
    assert card.runs == ["a", "b"]
    expected = karat.evaluate(karat.encode(words, bench), bench, "R@1")
    assert card.value("R@1", truth="original", run="a") == expected.value("R@1", truth="original")
    assert karat.evaluate(
        [files[1], files[0]], bench, "R@1", loading=karat.Loading(name=["x", "y"])
    ).runs == ["x", "y"]


def test_models_answer_choices_too(tmp_path):
    from karat.benchmarks import ChoiceExample, build_choices

    pair = ChoiceExample("0", ["a.jpg", "b.jpg"], ["red cat", "blue dog"], [(0, 0), (1, 1)])
    cups = build_choices("cups", [pair], where="cups.json", about="", image_folder=tmp_path)

    class Mine:
        def encode_images(self, paths):
            return words(["red cat" if path.endswith("a.jpg") else "blue dog" for path in paths])

        def encode_texts(self, texts):
            return words(texts)

    card = karat.evaluate(Mine(), cups, text_only="none")
    assert card.runs == ["Mine"]
    assert {column.value for column in card} == {1.0}


def test_a_model_at_chance_level_is_not_told_that_its_ids_are_in_another_order():
    def noise(texts):
        return np.random.default_rng(len(texts)).normal(size=(len(texts), 8))

    bench = make_world(60, seed=1).benchmark()
    notes = karat.evaluate(karat.encode(noise, bench), bench, "R@1", truth="original").notes
    chance = next(note for note in notes if "is at chance level" in note)
    assert "its weights may not be trained" in chance
    assert "the ids in" not in chance
