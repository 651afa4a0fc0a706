"""The meter in a training loop: the numbers of `karat.evaluate`, whatever the batches are."""

import gc
import json
import os
import re
import subprocess
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import karat
from karat.errors import InputError
from karat.world import make_world

from made import make_benchmark

FAST = ["i2t/R@1", "t2i/R@1", "i2t/R@5", "t2i/R@5", "i2t/R@10", "t2i/R@10", "i2t/MedR", "t2i/MedR", "RSUM"]


@pytest.fixture(scope="module")
def bench():
    return make_benchmark(40)


def vectors_of(bench, noise=1.5, seed=0):
    """Vectors of a model that knows a little, in steps, so that some products are equal."""
    rng = np.random.default_rng(seed)
    images = rng.normal(size=(bench.images.size, 8))
    texts = images[bench.caption_image] + noise * rng.normal(size=(bench.captions.size, 8))
    return tuple(np.round(table).astype(np.float32) for table in (images, texts))


def fill(meter, bench, images, texts, batch=7):
    for side, table, ids in (("images", images, bench.images), ("texts", texts, bench.captions)):
        for begin in range(0, len(table), batch):
            part = slice(begin, begin + batch)
            meter.update(**{side: table[part]}, ids=ids.gallery[part].tolist())


def by_hand(images, texts, owner):
    """R@1 and MedR of both directions, straight from their definitions, ties against the model."""
    scores = images.astype(float) @ texts.astype(float).T
    right = owner == np.arange(len(images))[:, None]
    ranks = []
    for table, relevant in ((scores, right), (scores.T, right.T)):
        best = np.where(relevant, table, -np.inf).max(axis=1)
        ranks.append(1 + ((table >= best[:, None]) & ~relevant).sum(axis=1))
    return {
        f"{direction}/{name}": value
        for direction, places in zip(("i2t", "t2i"), ranks)
        for name, value in (("R@1", (places == 1).mean()), ("MedR", np.median(places)))
    }


@pytest.mark.filterwarnings("ignore:model. the embeddings are not of length 1")
class TestNumbers:
    @pytest.mark.parametrize("similarity", ["dot", "cosine"])
    def test_of_batches_are_those_of_evaluate(self, similarity):
        bench = make_world(30, seed=2).benchmark()
        images, texts = vectors_of(bench)
        meter = karat.Meter(bench, similarity=similarity, prefix="val/")
        fill(meter, bench, images, texts)
        values = {name.removeprefix("val/"): value for name, value in meter.compute().items()}
        assert list(values) == [*FAST, "complete/i2t/mAP@R", "complete/t2i/mAP@R"]
        card = karat.evaluate(
            (images, texts),
            bench,
            ["R@1", "R@5", "R@10", "MedR", "mAP@R", "RSUM"],
            loading=karat.Loading(similarity=similarity),
        )
        for name, value in values.items():
            truth = "complete" if name.startswith("complete/") else "original"
            direction, measure = ["both", *name.split("/")][-2:]
            assert value == card.value(measure, truth=truth, direction=direction), name

    def test_are_those_of_the_definition(self, bench):
        images, texts = vectors_of(bench)
        meter = karat.Meter(bench, ["R@1", "MedR"], truth="own")
        fill(meter, bench, images, texts)
        assert meter.compute() == by_hand(images, texts, bench.caption_image)

    def test_do_not_depend_on_order_duplicates_or_batches(self, bench):
        images, texts = vectors_of(bench)
        values = []
        for batch in (3, 1000):
            meter = karat.Meter(bench)
            rows = np.random.default_rng(batch).permutation(len(texts))
            for begin in range(0, len(rows), batch):
                # Pairs, as training data are: every image comes as often as it has captions.
                part = rows[begin : begin + batch]
                owner = bench.caption_image[part]
                meter.update(
                    images=images[owner],
                    texts=texts[part],
                    ids={"images": bench.images[owner], "captions": bench.captions[part]},
                )
            values.append(meter.compute())
        meter = karat.Meter(bench)
        meter.update(images=images, texts=texts)
        assert values == [meter.compute()] * 2

    def test_of_a_collapsed_model_are_zero(self, bench):
        meter = karat.Meter(bench, "R@10", truth="own")
        meter.update(images=np.ones((40, 4)), texts=np.ones((120, 4)))
        assert meter.compute() == {"i2t/R@10": 0.0, "t2i/R@10": 0.0}

    def test_of_coco_are_few(self, coco):
        measures = karat.Meter(coco).options.measures
        assert {truth: list(map(str, named)) for truth, named in measures.items()} == {
            "coco-5k": ["R@1", "R@5", "R@10", "MedR", "RSUM"],
            "cxc": ["mAP@R"],
            "eccv": ["mAP@R"],
        }

    def test_of_chosen_truths_and_one_direction(self, bench):
        meter = karat.Meter(bench, truth=["halves", "own"], direction="t2i")
        meter.update(images=np.eye(40), texts=np.eye(40)[bench.caption_image])
        names = ["R@1", "R@5", "R@10", "MedR"]
        assert list(meter.compute()) == [f"t2i/{n}" for n in names] + [f"own/t2i/{n}" for n in names]


class TestScorecard:
    def test_has_values_per_query_and_notes(self, bench):
        meter = karat.Meter(bench, "R@1", truth="own", name="epoch 3")
        with pytest.raises(InputError, match="computed nothing yet; call compute"):
            _ = meter.scorecard
        meter.update(images=2 * np.eye(40), texts=2 * np.eye(40)[bench.caption_image])
        with pytest.warns(UserWarning, match="not of length 1"):
            meter.compute()
        assert meter.scorecard.runs == ["epoch 3"]
        assert len(meter.scorecard.column("R@1", direction="t2i").values) == 120
        assert "not of length 1" in meter.scorecard.notes[0]
        meter.reset()
        with pytest.raises(InputError, match="computed nothing yet"):
            _ = meter.scorecard


class TestPartial:
    def test_raises_by_default_and_names_what_is_missing(self, bench):
        meter = karat.Meter(bench)
        meter.update(images=np.eye(40)[:38], ids=bench.images.gallery[:38])
        meter.update(texts=np.eye(40)[:5], ids=bench.captions.gallery[:5])
        with pytest.raises(InputError, match=r"38 of 40 images, 5 of 120 captions were given; the first that "
                           r"was not is image id 38; .*partial=True"):  # fmt: skip
            meter.compute()
        for side in ("images", "texts"):
            one = karat.Meter(bench)
            one.update(
                **{side: np.eye(40)[:3]}, ids=(bench.images if side == "images" else bench.captions)[:3]
            )
            with pytest.raises(InputError, match=r"0 of"):
                one.compute(partial=True)

    def test_is_what_a_benchmark_of_those_rows_gives(self, bench):
        images, texts = vectors_of(bench)
        seen_images, seen_texts = np.arange(4, 30), np.arange(6, 75)
        meter = karat.Meter(bench, ["R@1", "MedR", "RSUM"], truth="own", prefix="val/", similarity="cosine")
        meter.update(images=images[4:30], ids=bench.images[seen_images])
        meter.update(texts=texts[6:75], ids=bench.captions[seen_texts])
        values = meter.compute(partial=True)
        assert all(name.startswith("val/partial/") for name in values)
        assert meter.scorecard.notes[0].startswith("partial: 26 of 40 images, 69 of 120 captions were given")
        # Queries with something relevant in the gallery, by the definitions.
        tables = [t / np.linalg.norm(t, axis=1, keepdims=True) for t in (images[4:30], texts[6:75])]
        owner = bench.caption_image[seen_texts] - 4
        scores = tables[0].astype(float) @ tables[1].astype(float).T
        right = owner == np.arange(26)[:, None]
        for direction, table, relevant in (("i2t", scores, right), ("t2i", scores.T, right.T)):
            table, relevant = (part[relevant.any(axis=1)] for part in (table, relevant))
            first = np.where(relevant, table, -np.inf).max(axis=1)
            places = ((table > first[:, None] - 1e-9) & ~relevant).sum(axis=1)
            assert values[f"val/partial/{direction}/R@1"] == (places == 0).mean()
            assert values[f"val/partial/{direction}/MedR"] == 1 + np.median(places)

    def test_of_everything_is_not_partial(self, bench):
        meter = karat.Meter(bench, "R@1", truth="halves")
        meter.update(images=np.eye(40), ids=bench.images.gallery)
        meter.update(texts=np.eye(40)[bench.caption_image[:60]], ids=bench.captions.gallery[:60])
        assert list(meter.compute(partial=True)) == ["partial/i2t/R@1", "partial/t2i/R@1"]
        meter.update(texts=np.eye(40)[bench.caption_image[60:]], ids=bench.captions.gallery[60:])
        assert meter.compute(partial=True) == {"i2t/R@1": 1.0, "t2i/R@1": 1.0}


class TestInput:
    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({}, "no vectors; give images=, texts= or both"),
            ({"images": np.eye(3)}, "3 images without ids, and made has 40"),
            ({"images": np.eye(3), "ids": [0, 1]}, r"ids have the shape \(2,\), and their vectors \(3,\)"),
            ({"images": np.eye(3), "ids": [0, 1, 99]}, "image id 99 is not in the benchmark"),
            ({"texts": np.eye(3), "ids": ["1000", "1001", "dog"]}, "caption id dog is not in the benchmark"),
            ({"images": np.eye(3), "texts": np.eye(3), "ids": [0, 1, 2]}, 'give ids={"images": …, "te'),
            ({"images": np.eye(1), "ids": {"images": [0], "texts": [1000]}}, "'texts', without vectors"),
            ({"images": np.ones(3), "ids": [0]}, r"have the shape \(3,\)"),
            ({"images": np.array([["a"]]), "ids": [0]}, "hold <U1; give a table of floats"),
            ({"images": np.eye(1), "texts": np.eye(2), "ids": {"images": [0], "texts": [1000, 1001]}},
             "texts have 2 dimensions, those given before 1"),
        ],
    )  # fmt: skip
    def test_that_does_not_fit_is_named(self, bench, given, message):
        with pytest.raises(InputError, match=message):
            karat.Meter(bench).update(**given)

    def test_positions(self, bench):
        meter = karat.Meter(bench, "R@1", truth="own", positions=True)
        meter.update(images=np.eye(40), ids=range(40))
        with pytest.raises(InputError, match=r"caption position 120 is not one of the 120 .* from 0 to 119"):
            meter.update(texts=np.eye(40)[:1], ids=[120])
        with pytest.raises(InputError, match="caption position dog"):
            meter.update(texts=np.eye(40)[:1], ids=["dog"])
        meter.update(texts=np.eye(40)[bench.caption_image], ids=np.arange(120))
        assert meter.compute() == {"i2t/R@1": 1.0, "t2i/R@1": 1.0}

    def test_the_same_item_twice_must_have_the_same_vector(self, bench):
        meter = karat.Meter(bench)
        meter.update(images=np.eye(40), texts=np.eye(40)[bench.caption_image])
        meter.update(images=1.01 * np.eye(40)[[3, 3]], ids=[3, 3])
        meter.compute()
        meter.reset()
        meter.update(images=np.eye(40), texts=np.eye(40)[bench.caption_image])
        meter.update(images=np.eye(40)[[4, 7]], ids=[4, 5])
        with pytest.raises(
            InputError, match=r"image id 5 was given twice, .* 141% of their length; .*reset\(\)"
        ):
            meter.compute()

    def test_a_forgotten_reset_raises(self, bench):
        meter = karat.Meter(bench)
        meter.update(images=np.eye(40), texts=np.eye(40)[bench.caption_image])
        meter.compute()
        # The vectors are given back, the scores stay.
        assert not meter._rows.batches
        assert meter.compute()["RSUM"] == 6
        assert repr(meter) == "Meter(made: 40 of 40 images, 120 of 120 captions)"
        with pytest.raises(InputError, match=r"has all of made and computed its scores; call reset\(\)"):
            meter.update(images=np.eye(40), ids=range(40))

    def test_nan_is_named(self, bench):
        images = np.eye(40)
        images[[7, 9], 2] = np.nan
        meter = karat.Meter(bench)
        meter.update(images=images, texts=np.eye(40)[bench.caption_image])
        with pytest.raises(InputError, match="vector of image id 7 holds NaN or infinity; "):
            meter.compute()

    def test_options_are_checked_before_training(self, bench):
        with pytest.raises(InputError, match="similarity is 'euclid'"):
            karat.Meter(bench, similarity="euclid")
        with pytest.raises(KeyError, match="no truth 'eccv'"):
            karat.Meter(bench, truth="eccv")

    def test_without_torch(self, bench):
        code = "import sys; sys.modules['torch'] = None; from karat.scores.meter import Processes; "
        code += "print(Processes(True).count)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
        assert done.stdout == "1\n", done.stderr


class TestTensors:
    @pytest.fixture
    def torch(self):
        return pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'karat[train]'")

    @pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])
    def test_of_every_type_give_the_numbers_of_their_values(self, torch, bench, kind):
        images, texts = (torch.from_numpy(t / 3).to(getattr(torch, kind)) for t in vectors_of(bench))
        meter = karat.Meter(bench, similarity="cosine")
        meter.update(images=images.requires_grad_(), ids=torch.arange(40))
        # Captions by image, as where a dataset returns an image with all of its captions.
        meter.update(texts=texts.reshape(40, 3, 8), ids=torch.arange(1000, 1120).reshape(40, 3))
        exact = torch.float64 if kind == "float64" else torch.float32
        tables = tuple(t.detach().to(exact).numpy() for t in (images, texts))
        card = karat.evaluate(tables, bench, "RSUM", truth="own", loading=karat.Loading(similarity="cosine"))
        assert meter.compute()["RSUM"] == card.value("RSUM", direction="both")

    def test_of_a_device_come_in_one_transfer(self, torch, bench):
        transfers = []

        class Distant(torch.Tensor):
            """It says that it is on a GPU."""

            device = torch.device("cuda")

            def cpu(self):
                transfers.append((len(self), self.dtype))
                return self.as_subclass(torch.Tensor)

        images, texts = (torch.from_numpy(t).bfloat16() for t in vectors_of(bench))
        values = []
        for kind in (torch.Tensor, Distant):
            meter = karat.Meter(bench, similarity="cosine")
            for part in torch.arange(120).split(50):
                meter.update(texts=texts[part].as_subclass(kind), ids=1000 + part)
            meter.update(images=images.as_subclass(kind))
            values.append(meter.compute())
        assert transfers == [(160, torch.bfloat16)]
        assert values[0] == values[1]

    def test_are_kept_without_gradients_or_copies(self, torch, bench):
        meter = karat.Meter(bench)
        weight = torch.eye(40, requires_grad=True)
        graph = torch.nn.functional.normalize(weight @ weight)
        node = weakref.ref(graph)
        meter.update(images=graph, ids=range(40))
        (batch,) = meter._rows.batches
        assert batch.vectors.data_ptr() == graph.data_ptr()
        assert not batch.vectors.requires_grad
        del graph
        gc.collect()
        assert node() is None
        # A view of something large does not keep it alive.
        whole = torch.zeros(40, 50, 40)
        meter.update(images=whole[:, 0], ids=range(40))
        assert meter._rows.batches[1].vectors.untyped_storage().nbytes() == 4 * 40 * 40

    def test_written_into_later_raise(self, torch, bench):
        meter = karat.Meter(bench)
        buffer = torch.eye(40)
        meter.update(images=buffer, ids=range(40))
        buffer += 1
        with pytest.raises(InputError, match=r"written into after update\(\) got it; .*clone"):
            meter.compute()
        meter.reset()
        with torch.inference_mode():
            meter.update(images=torch.eye(40), texts=torch.eye(40)[torch.from_numpy(bench.caption_image)])
        assert meter.compute()["RSUM"] == 6

    def test_ids_as_collated_lists_are_explained(self, torch, bench):
        meter = karat.Meter(bench)
        meter.update(images=torch.eye(40)[:2], ids=[torch.tensor(3), torch.tensor(4)])
        with pytest.raises(InputError, match=r"list of tensors.*torch.stack\(ids, 1\)"):
            meter.update(texts=torch.zeros(2, 3, 40), ids=[torch.arange(2)] * 3)


class TestPage:
    """docs/training-loop.md."""

    @pytest.fixture
    def blocks(self):
        page = Path(__file__).parents[2] / "docs" / "training-loop.md"
        return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)

    def test_the_loop_runs(self, blocks, capsys):
        pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'karat[train]'")
        exec(blocks[0], {})
        epochs = capsys.readouterr().out.splitlines()[:3]
        sums = [float(line.rsplit(" ", 1)[1].rstrip("}")) for line in epochs]
        assert sums == sorted(sums)
        assert sums[0] > 3

    def test_functions_of_the_trainer(self, blocks, bench):
        """What the Trainer of transformers does with them, without it: pairs in, labels beside them."""
        code = blocks[2]
        names = {"bench": bench, "karat": karat}
        exec(code[code.index("meter =") : code.index("arguments =")], names)
        images, texts = vectors_of(bench)
        pairs = np.random.default_rng(0).permutation(120)
        owner = bench.caption_image[pairs]
        outputs = names["keep_embeddings"]((None, None, texts[pairs], images[owner], None), None)
        evaluation = SimpleNamespace(predictions=outputs, label_ids=(owner, pairs))
        card = karat.evaluate(
            (images, texts), bench, "RSUM", truth="own", loading=karat.Loading(similarity="cosine")
        )
        for _ in range(2):
            assert names["compute_metrics"](evaluation)["RSUM"] == card.value("RSUM", direction="both")


WORK = """
import json, os, sys
import numpy as np, torch
from torch import distributed as dist
from torch.utils.data import DistributedSampler
import karat
from made import make_benchmark

rank, folder = int(sys.argv[1]), sys.argv[2]
torch.set_num_threads(1)
dist.init_process_group("gloo", f"file://{folder}/meeting", rank=rank, world_size=2)
# 41 images and 123 captions: the sampler pads both.
bench = make_benchmark(41)
images, texts = (torch.from_numpy(t) for t in np.load(f"{folder}/vectors.npz").values())
results = []


def attempt(fill, **options):
    meter = karat.Meter(bench, positions=True, similarity="cosine", **options)
    try:
        fill(meter)
        results.append([meter.compute(), float(meter.scorecard.value("R@1", truth="own", direction="t2i"))])
    except karat.KaratError as error:
        results.append(str(error))


def padded(meter):
    for side, table in (("images", images), ("texts", texts)):
        rows = list(DistributedSampler(table, shuffle=True, seed=3))
        given = table[rows]
        # The last row of the second process is the padding: the same only up to rounding.
        given[-1] *= 1.01 if rank == 1 else 1
        for begin in range(0, len(rows), 8):
            meter.update(**{side: given[begin : begin + 8]}, ids=rows[begin : begin + 8])


def uneven(meter):
    if rank == 1:
        meter.update(images=images, texts=texts)


def exact(meter):
    meter.update(images=images[rank::2], ids=range(rank, 41, 2))
    meter.update(texts=texts[5 * rank :], ids=range(5 * rank, 123))


def nothing(meter):
    pass


def missing(meter):
    meter.update(images=images[:20], ids=range(20))


def different(meter):
    meter.update(images=images if rank == 0 else images.flip(0), texts=texts)


def failing(meter):
    exact(meter)
    if rank == 1:
        meter.update(images=images.flip(0))


def widths(meter):
    meter.update(images=images[:, : 7 + rank], ids=range(41))


def alone(meter):
    if rank == 0:
        exact(meter)
        meter.update(images=images)
        meter.update(texts=texts)


for fill in (uneven, exact, padded, missing, different, failing, widths, nothing):
    attempt(fill)
if rank == 0:
    attempt(alone, distributed=False)
print(json.dumps(results), flush=True)
dist.barrier()
# Not the usual end: threads of gloo may abort a process whose peer is gone before it.
os._exit(0)
"""


def test_two_processes_give_the_numbers_of_one(tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'karat[train]'")
    bench = make_benchmark(41)
    tables = vectors_of(bench)
    np.savez(tmp_path / "vectors.npz", *tables)
    here = os.path.dirname(os.path.dirname(__file__))
    paths = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WORK, str(rank), str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "PYTHONPATH": paths},
        )
        for rank in range(2)
    ]
    outputs = [process.communicate(timeout=240) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    first, second = (json.loads(output) for output, _ in outputs)

    meter = karat.Meter(bench, similarity="cosine")
    meter.update(images=tables[0], texts=tables[1])
    card = karat.evaluate(tables, bench, "R@1", truth="own", loading=karat.Loading(similarity="cosine"))
    one = [meter.compute(), card.value("R@1", direction="t2i")]
    assert first[:3] == second[:3] == [one, one, one]
    # Where it cannot work, every process says so and none waits.
    assert first[3] == second[3]
    assert first[3].startswith("of made, 20 of 41 images, 0 of 123 captions were given")
    assert first[4] == "another process could not go on; see its message."
    assert second[4].startswith("image id 0 was given twice, with vectors that differ by")
    assert first[5] == first[4]
    assert second[5].startswith("image id 1 was given twice")
    assert first[6] == second[6]
    assert first[6].startswith("processes gave vectors of 7 and of 8 dimensions")
    assert first[7] == second[7]
    assert first[7].startswith("of made, 0 of 41 images, 0 of 123 captions were given")
    # One process alone.
    assert first[8:] == [one]


def test_lists_of_tensors_and_unsigned_positions(bench):
    torch = pytest.importorskip("torch")
    images, texts = (torch.tensor(table, requires_grad=True) for table in vectors_of(bench))
    meter = karat.Meter(bench, positions=True, similarity="cosine")
    meter.update(images=list(images), ids=np.arange(len(images), dtype=np.uint64))
    meter.update(texts=list(texts.bfloat16()), ids=np.arange(len(texts), dtype=np.uint8))
    expected = karat.Meter(bench, similarity="cosine")
    # Rounded values, which bfloat16 keeps.
    expected.update(images=images.detach().numpy(), texts=texts.detach().numpy())
    assert meter.compute() == expected.compute()


def test_one_number_and_ragged_rows_are_refused(bench):
    meter = karat.Meter(bench, positions=True)
    with pytest.raises(InputError, match="image ids are 0; give a list with one id per vector"):
        meter.update(images=np.ones((1, 8)), ids=0)
    with pytest.raises(InputError, match="vectors of images have different lengths"):
        meter.update(images=[[1.0], [1.0, 2.0]], ids=[0, 1])
