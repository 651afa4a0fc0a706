"""Loading runs: arrays without copying them, and files grouped into runs whatever their format."""

import gzip
import os
from functools import partial

import numpy as np
import polars as pl
import pytest

import karat
from karat._util import bytes_text
from karat.errors import KaratError
from karat.runs import EmbeddingRun, Loading, MatrixRun, RankingsRun, files, group_sources, load_runs
from karat.runs.memory import BASE_BYTES, list_bytes
from karat.stats import Intervals
from karat.world import make_world

from worlds import build


def test_paths_of_a_run_may_be_a_list(rng, tmp_path):
    paths = [tmp_path / "images.npy", str(tmp_path / "captions.npy")]
    for path in paths:
        np.save(path, rng.random((4, 3)))
    plain = karat.load_run(*paths)
    for given in (paths, tuple(paths)):
        run = karat.load_run(given)
        assert (run.name, run.shape) == (plain.name, plain.shape)
        np.testing.assert_array_equal(run.images, plain.images)
    assert karat.load_run([[0.5, 0.1], [0.2, 0.3]]).shape == (2, 2)


def test_runs_are_named_in_a_dictionary(rng, tmp_path):
    bench = make_world(images=6, captions=2, seed=1).benchmark()
    size = bench.images.size, bench.captions.size
    tables = {name: rng.random(size) for name in "abc"}
    np.save(tmp_path / "b.npy", tables["b"])
    vectors = [rng.random((count, 4)) for count in size]
    for kind, table in zip(("images", "captions"), vectors):
        np.save(tmp_path / f"{kind}.npy", table)
    named = {
        "first": karat.load_run(tables["a"], name="another"),
        "second": tables["b"],
        "third": str(tmp_path / "b.npy"),
        "fourth": tuple(vectors),
        "fifth": (str(tmp_path / "images.npy"), str(tmp_path / "captions.npy")),
        "sixth": {"i2t": {bench.images[0]: [bench.captions[0]]}},
    }
    runs = load_runs(named, bench)
    assert [run.name for run in runs] == list(named)
    assert [type(run) for run in runs] == [MatrixRun] * 3 + [EmbeddingRun] * 2 + [RankingsRun]
    card = karat.evaluate(named, bench, "R@1", truth="original", direction="i2t")
    assert card.runs == list(named)
    assert card.value("R@1", direction="i2t", run="second") == card.value("R@1", direction="i2t", run="third")
    two = {"a": tables["a"], "b": tables["b"]}
    said = karat.compare(two, bench, "R@1", truth="original", samples=99, intervals=Intervals(resamples=20))
    assert said.card.runs == ["a", "b"]


def test_ranked_lists_are_not_taken_for_names():
    bench = make_world(images=6, captions=2, seed=1).benchmark()
    lists = {image: [bench.captions[0], bench.captions[1]] for image in bench.images.values.tolist()}
    for listed in (lists, {image: tuple(own) for image, own in lists.items()}, {"i2t": lists}):
        (run,) = load_runs(listed, bench)
        assert run.directions == ("i2t",)
    with pytest.raises(karat.KaratError, match=r"'a', which is not a direction.*or runs by name"):
        load_runs({"a": ["images.npy", "captions.npy"]}, bench)
    with pytest.raises(karat.KaratError, match="the runs have names already"):
        load_runs({"a": np.ones((2, 2))}, bench, loading=Loading(name=["b"]))


def test_arrays_and_tensors_are_not_copied(rng):
    class Tensor:
        """As torch has it, which is not needed here."""

        def __init__(self, array):
            self.array = array

        def detach(self):
            return self

        def cpu(self):
            return self

        def numpy(self):
            if self.array is None:
                raise TypeError("Got unsupported ScalarType BFloat16")
            return self.array

    table, other = (rng.standard_normal((n, 8), dtype=np.float32) for n in (4, 9))
    for kind in (np.asarray, Tensor):
        assert np.shares_memory(karat.load_run(kind(table)).scores, table)
        assert np.shares_memory(karat.load_run(kind(table), transpose=True).scores, table)
        run = karat.load_run(kind(table), kind(other))
        assert np.shares_memory(run.images, table)
        assert np.shares_memory(run.captions, other)
    with pytest.raises(karat.KaratError, match=r"BFloat16.*pass tensor.float\(\)"):
        karat.load_run(Tensor(None))


def small():
    return build(
        [[1.0 if c // 2 == i else None for c in range(6)] for i in range(3)], 6, np.zeros((3, 6)), False
    )


def test_a_trec_run_finds_its_direction(tmp_path):
    bench = small().benchmark
    (tmp_path / "run.trec").write_text("img0 Q0 101 1 0.5 t\nimg0 Q0 100 2 0.4 t\n")
    run = karat.load_run(tmp_path / "run.trec", bench)
    assert isinstance(run, RankingsRun)
    assert run.directions == ("i2t",)
    assert run.top("i2t", 5, queries=np.array([0])).item.tolist() == [1, 0]


def test_sources_are_grouped_whatever_their_format(tmp_path, rng):
    bench = small().benchmark
    images, captions, scores = rng.random((3, 4)), rng.random((6, 4)), rng.random((3, 6))
    pl.DataFrame({"id": ["img2", "img0", "img1"], "embedding": images[[2, 0, 1]].tolist()}).write_parquet(
        tmp_path / "img.parquet"
    )
    np.savez(tmp_path / "txt.npz", captions)
    np.savetxt(tmp_path / "scores.csv", scores, delimiter=",")
    (tmp_path / "lists.tsv").write_text("query\titem\tscore\nimg0\t100\t1\n")
    np.savez_compressed(tmp_path / "both.npz", images=images, captions=captions)
    files = [tmp_path / n for n in ("txt.npz", "img.parquet", "scores.csv", "lists.tsv", "both.npz")]
    groups = group_sources(files, bench)
    assert groups == [(files[1], files[0]), (files[2],), (files[3],), (files[4],)]
    runs = [karat.load_run(*group, benchmark=bench) for group in groups]
    assert [type(run) for run in runs] == [EmbeddingRun, MatrixRun, RankingsRun, EmbeddingRun]
    for direction in ("i2t", "t2i"):
        assert runs[0].top(direction, 6).item.tolist() == runs[3].top(direction, 6).item.tolist()


@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors", "parquet", "csv", "json", "trec", "tar"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, suffix):
    path = tmp_path / f"run.{suffix}"
    os.mkfifo(path)
    bench = make_world(images=6, captions=2, seed=1).benchmark()
    message = rf"run\.{suffix}: is not a plain file but a pipe, a socket or a device; save what comes from it"
    with pytest.raises(KaratError, match=message):
        karat.load_run(path)
    with pytest.raises(KaratError, match=message):
        load_runs([path], bench)


LISTED = {"i2t": {f"image-{k}": [f"caption-{k}-{c}" for c in range(40)] for k in range(60)}}


@pytest.mark.parametrize("kind", [".trec", ".run", ".trec.gz", ".csv", ".tsv", ".json", ".parquet"])
def test_ranked_lists_that_do_not_fit_are_refused_before_they_are_read(tmp_path, monkeypatch, kind):
    plain = tmp_path / f"lists{kind.removesuffix('.gz')}"
    karat.convert(LISTED, target=plain)
    path = plain if kind != ".trec.gz" else tmp_path / "lists.trec.gz"
    if path != plain:
        path.write_bytes(gzip.compress(plain.read_bytes()))
    needed = BASE_BYTES + list_bytes(path)
    assert BASE_BYTES + 2400 * 100 < needed < BASE_BYTES + 2400 * 500
    with monkeypatch.context() as patch:
        # Nothing is read.
        patch.setattr(files, "read", None)
        monkeypatch.setenv("KARAT_MEMORY", str(needed - 1))
        message = f"ranked lists of lists do not fit into .*; give {bytes_text(needed)} or more"
        for load in (karat.load_run, partial(karat.convert, target=tmp_path / "other.json")):
            with pytest.raises(karat.KaratError, match=message):
                load(path)
        with pytest.raises(karat.KaratError, match="ranked lists of 2 runs do not fit"):
            load_runs([path, path], build([[1.0]], 1, np.eye(1), halves=False).benchmark)
    monkeypatch.setenv("KARAT_MEMORY", str(needed))
    karat.convert(path, target=tmp_path / "other.json", direction=None)
    lists = files.read(tmp_path / "other.json").lists
    assert lists.get("i2t", lists) == LISTED["i2t"]


def test_tables_are_no_ranked_lists_for_the_bound(tmp_path):
    for kind in (".npy", ".csv", ".parquet", ".npz"):
        karat.convert(np.eye(3), target=tmp_path / f"scores{kind}")
        assert list_bytes(tmp_path / f"scores{kind}") == 0
    assert list_bytes(tmp_path / "missing.trec") == list_bytes(tmp_path) == 0
