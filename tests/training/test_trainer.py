"""The training loop: it learns, resumes exactly, stops early, and says in a sentence what is wrong."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'karat[train]'")

import karat  # noqa: E402
from karat.errors import InputError, KaratError  # noqa: E402
from karat.runs import EmbeddingRun  # noqa: E402
from karat.training import (  # noqa: E402
    TEXT_SIDES,
    DualEncoder,
    InfoNCE,
    Margins,
    NetworkOptions,
    PairData,
    SemanticAdaptiveMargin,
    Trainer,
    TrainingOptions,
    TripletLoss,
    cider_margins,
    recalls,
)
from karat.training.checkpoint import NAME  # noqa: E402
from karat.world import make_world  # noqa: E402
from strangers import SPOILT, UNIX  # noqa: E402

SMALL = NetworkOptions(dimensions=16, word_dimensions=12)
STILL = {"dropout": 0.0, "image_dropout": 0.0, "word_dropout": 0.0}


def pairs(images: int = 8, per_image: int = 2, seed: int = 0, width: int = 12) -> PairData:
    """Return random features, and captions of which each has a word of its own."""
    rng = np.random.default_rng(seed)
    tokens = rng.integers(2, 6, (images * per_image, 4))
    tokens[:, 1] = 6 + np.arange(images * per_image)
    tokens[::3, 3] = 0
    return PairData.of(rng.normal(size=(images, width)), tokens, np.repeat(np.arange(images), per_image))


def trainer(data: PairData, loss=None, network: NetworkOptions = SMALL, seed: int = 0, **options) -> Trainer:
    torch.manual_seed(1)
    made = DualEncoder(tuple(data.features.shape[1:]), 50, network)
    chosen = TrainingOptions(**{"epochs": 6, "batch_size": 8, "seed": seed, **options})
    return Trainer(made, loss or InfoNCE(), data, data, chosen, "cpu")


def weights(network) -> bytes:
    return b"".join(tensor.numpy().tobytes() for tensor in network.state_dict().values())


@pytest.mark.parametrize("text", [*TEXT_SIDES, "bag+gru"])
def test_it_learns_eight_pairs_by_heart(text):
    network = NetworkOptions(text, 16, 32, 12, **STILL)
    made = trainer(pairs(per_image=1), network=network, epochs=80, lr=0.01)
    made.fit()
    assert made.best["RSUM"] == 600


def test_it_learns_from_pixels():
    rng = np.random.default_rng(0)
    flat = pairs(per_image=1)
    pixels = rng.integers(0, 256, (8, 3, 1, 1)).repeat(16, 2).repeat(16, 3).astype(np.uint8)
    data = PairData.of(pixels, flat.tokens, flat.owner)
    made = trainer(data, network=NetworkOptions("bag", 16, 0, 12, **STILL), epochs=80, lr=0.01)
    made.fit()
    assert made.best["RSUM"] > 500


@pytest.mark.parametrize("name", ["infonce", "triplet", "sam"])
def test_an_interrupted_training_ends_with_the_same_bytes(tmp_path, name):
    data = pairs()
    losses = {
        "infonce": lambda: InfoNCE(learn=True),
        "triplet": TripletLoss,
        "sam": lambda: SemanticAdaptiveMargin(
            Margins(torch.rand(8, 16, generator=torch.Generator().manual_seed(3)) * 5), sampling="random"
        ),
    }
    whole = trainer(data, losses[name]())
    expected = weights(whole.fit())

    class Killed(Exception):
        pass

    def kill(record):
        if record["epoch"] == 3:
            raise Killed

    with pytest.raises(Killed):
        trainer(data, losses[name]()).fit(tmp_path, kill)
    torch.rand(7)  # what was drawn elsewhere meanwhile does not matter
    seen = []
    again = trainer(data, losses[name]())
    assert weights(again.fit(tmp_path, seen.append)) == expected
    assert again.history == whole.history == seen


def test_the_seed_decides_the_bytes_and_the_global_state_stays():
    data = pairs()
    torch.manual_seed(5)
    before = torch.get_rng_state()
    made = trainer(data)
    torch.set_rng_state(before)
    first = weights(made.fit())
    assert torch.equal(torch.get_rng_state(), before)
    assert weights(trainer(data).fit()) == first
    assert weights(trainer(data, seed=1).fit()) != first


def test_it_stops_without_a_better_dev_score_and_keeps_the_best_epoch():
    data = pairs()
    made = trainer(data, epochs=50, patience=3, lr=1e-9)
    network = made.fit()
    assert len(made.history) == made.best["epoch"] + 3 < 50
    assert made.scores(made.dev)["RSUM"] == made.best["RSUM"]
    assert not network.training


def test_the_rate_rises_and_falls():
    options = TrainingOptions(lr=2.0, warm_up=0.2)
    rates = [options.rate(step, 50) for step in range(50)]
    assert np.argmax(rates) in (9, 10)
    assert rates[0] == pytest.approx(0.2)
    assert rates[10] == 2.0
    assert 0 < rates[-1] < 0.01


def test_mixed_precision_learns_too():
    made = trainer(pairs(per_image=1), network=NetworkOptions("bag", 16, 0, 12, **STILL), epochs=80, lr=0.01,
                   precision="bfloat16")  # fmt: skip
    made.fit()
    assert made.best["RSUM"] > 550
    assert made.network.embedding.weight.dtype == torch.float32


def test_a_checkpoint_that_is_damaged_or_another_s_is_a_sentence(tmp_path):
    data = pairs()
    trainer(data, epochs=1).fit(tmp_path)
    with pytest.raises(InputError, match=r"belongs to a training with epochs 1, not 2; give"):
        trainer(data, epochs=2).fit(tmp_path)
    with pytest.raises(InputError, match=r"belongs to a training with other data; give"):
        trainer(pairs(seed=1), epochs=1).fit(tmp_path)
    whole = (tmp_path / NAME).read_bytes()
    for damaged in (whole[:-40], whole[: len(whole) // 2], b"", b"\x80\x04pickle"):
        (tmp_path / NAME).write_bytes(damaged)
        with pytest.raises(KaratError, match=r"delete it and start again"):
            trainer(data, epochs=1).fit(tmp_path)


def test_wrong_input_is_a_sentence():
    data = pairs()
    with pytest.raises(InputError, match=r"features of dev images have the shape \(5,\)"):
        Trainer(DualEncoder((12,), 50, SMALL), InfoNCE(), data, pairs(width=5))
    with pytest.raises(InputError, match=r"features have the shape \(4,\)"):
        PairData.of(np.ones(4), np.ones((2, 3)), [0, 1])
    with pytest.raises(InputError, match=r"features have 1 rows, but captions belong to 2 images"):
        PairData.of(np.ones((1, 4)), np.ones((2, 3)), [0, 1])
    with pytest.raises(InputError, match="nan"):
        PairData.of(np.full((2, 4), np.nan), np.ones((2, 3)), [0, 1])
    for wrong in ({"epochs": 0}, {"lr": 0}, {"warm_up": 1}, {"measure": "R@1"}, {"precision": "half"}):
        with pytest.raises(InputError):
            TrainingOptions(**wrong)
    with pytest.raises(InputError, match="the loss is nan"):
        trainer(data, lr=1e30, epochs=3).fit()


def test_scores_are_those_of_evaluate():
    world = make_world(20, captions=3, seed=2).benchmark()
    rng = np.random.default_rng(0)
    images, captions = rng.normal(size=(20, 4)), rng.normal(size=(60, 4))
    ours = recalls(torch.from_numpy(images @ captions.T), torch.from_numpy(np.asarray(world.caption_image)))
    card = karat.evaluate(EmbeddingRun(images, captions, "x"), world, ["R@1", "R@5", "R@10", "RSUM"],
                          truth="original")  # fmt: skip
    theirs = {
        f"{record['direction']} {record['measure']}": 100 * record["value"] for record in card.records()
    }
    for name, value in ours.items():
        assert value == pytest.approx(theirs["both RSUM" if name == "RSUM" else name])
    assert recalls(torch.ones(20, 20), torch.arange(20))["RSUM"] == 0  # equal vectors gain nothing


@pytest.mark.parametrize("own", ["in", "out"])
def test_cider_in_torch_is_the_caption_metric(own):
    texts = [
        ["a dog runs in the park", "the dog is running", "a dog"],
        ["a red bus stops here"],
        ["a dog and a dog and a dog in a red bus", "the park"],
        ["two men", "a red bus stops here now"],
    ]
    flat = [text.split() for group in texts for text in group]
    number = {word: k for k, word in enumerate(sorted({word for text in flat for word in text}), 1)}
    words = np.zeros((len(flat), 12), np.int64)
    for row, text in zip(words, flat):
        row[: len(text)] = [number[word] for word in text]
    owner = np.repeat(np.arange(4), [len(group) for group in texts])
    ours = cider_margins(words, owner, own=own, dtype=torch.float32)
    theirs = Margins.from_captions(texts, own=own, dtype=torch.float32)
    torch.testing.assert_close(ours.table, theirs.table, atol=1e-5, rtol=0)


@UNIX
@pytest.mark.parametrize("spoil", SPOILT)
def test_a_checkpoint_that_others_may_have_written_does_not_go_on(tmp_path, spoil):
    data = pairs()
    trainer(data, epochs=1).fit(tmp_path)
    spoil(tmp_path / NAME)
    with pytest.raises(InputError, match=r"if you trust it, make it yours alone .*; else delete it"):
        trainer(data, epochs=1).fit(tmp_path)
    assert (tmp_path / NAME).lstat()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensors, about: about.update(history="7"), "no usable history"),
        (lambda tensors, about: about.update(history="[]"), "no usable history"),
        (lambda tensors, about: about.update(history='[{"epoch": 1}]'), "no usable history"),
        (lambda tensors, about: about.update(history='[{"epoch": 1, "loss": 1, "RSUM": null}]'), "history"),
        (lambda tensors, about: about.update(history='[{"epoch": 1, "loss": 1, "RSUM": NaN}]'), "history"),
        (lambda tensors, about: about.update(settings="[1]"), "is not a checkpoint"),
        (lambda tensors, about: about.pop("history"), "is not a checkpoint"),
        (lambda tensors, about: about.update(format="karat checkpoint 9"), "has the format"),
        (lambda tensors, about: tensors.update({next(iter(tensors)): torch.zeros(1)}), "has no usable"),
        (lambda tensors, about: [t.fill_(float("nan")) for t in tensors.values()], "has no usable"),
        (lambda tensors, about: [tensors.pop(n) for n in [*tensors] if n.startswith("best.")], "best epoch"),
    ],
)
def test_a_poisoned_checkpoint_is_a_sentence(tmp_path, change, message):
    from safetensors import safe_open
    from safetensors.torch import save_file

    data = pairs()
    trainer(data, epochs=1).fit(tmp_path)
    with safe_open(tmp_path / NAME, framework="pt") as file:
        tensors, about = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
    change(tensors, about)
    save_file(tensors, tmp_path / NAME, about)
    with pytest.raises(KaratError, match=rf"{message}.*; (delete it and start again|give)"):
        trainer(data, epochs=1).fit(tmp_path)
