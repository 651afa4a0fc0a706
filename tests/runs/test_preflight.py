"""The pass before scoring: it names file and row, and its norms are those of numpy."""

import numpy as np
import pytest
from click.testing import CliRunner

import karat
from karat._util import reporting
from karat.cli.main import built
from karat.runs import ArrayVectors, Loading, check_vectors, least_memory
from karat.runs.files import read
from karat.scores import inspect
from karat.world import make_world
from told import Told


@pytest.fixture
def bench():
    return make_world(images=12, captions=2, seed=1).benchmark()


def fill(folder, bench, rng, dtype="float16"):
    tables = {}
    for side, size in (("images", bench.images.size), ("captions", bench.captions.size)):
        tables[side] = rng.standard_normal((size, 6)).astype(dtype)
        for number, begin in enumerate(range(0, size, 5)):
            np.save(folder / f"{side}-{number:05d}.npy", tables[side][begin : begin + 5])
    return tables


def spoil(path, row, column, value):
    table = np.load(path)
    table[row, column] = value
    np.save(path, table)


def test_norms_and_the_largest_number(tmp_path, bench, rng, monkeypatch):
    monkeypatch.setattr("karat.runs.preflight.PART_BYTES", 60)
    tables = fill(tmp_path, bench, rng)
    told = Told()
    for table, vectors in zip(tables.values(), read(tmp_path).tables):
        for threads in (1, 3):
            with reporting(told):
                check = check_vectors(vectors, threads=threads)
            np.testing.assert_allclose(
                check.norms, np.linalg.norm(table.astype(np.float64), axis=1), rtol=1e-14
            )
            assert check.largest == np.abs(table).max()
            assert check.errors == check.warnings == ()
    numbers = told.numbers("checking the image embeddings")
    assert numbers[-1] == (len(vectors), len(vectors))
    assert len(numbers) > 4


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_found_with_its_file_and_row(tmp_path, bench, rng, value):
    fill(tmp_path, bench, rng)
    spoil(tmp_path / "captions-00003.npy", 2, 4, value)
    message = rf"captions-00003.npy \(caption embeddings\): row 2, column 4 is {value}"
    with pytest.raises(karat.KaratError, match=message):
        karat.evaluate(tmp_path, bench)
    if np.isinf(value):
        with pytest.raises(karat.KaratError, match="float16 holds numbers up to 65,504 only"):
            karat.load_run(tmp_path)
    spoil(tmp_path / "captions-00001.npy", 0, 0, np.nan)
    spoil(tmp_path / "captions-00004.npy", 1, 0, np.nan)
    message = (
        r"captions-00001.npy .* row 0, column 0 is nan \(and something in 2 other files: captions-00003.npy"
    )
    with pytest.raises(karat.KaratError, match=message):
        karat.load_run(tmp_path)
    (finding,) = inspect(tmp_path, benchmark=bench).findings
    assert finding.level == "error"
    assert "captions-00001.npy" in finding.text


def test_numbers_too_large_for_squares_are_finite():
    check = check_vectors(ArrayVectors(np.array([[1e300, 1.0], [1.0, 1.0]])))
    assert (check.errors, check.largest) == ((), 1e300)


def test_counts_are_compared_before_anything_is_read(tmp_path, bench, rng, monkeypatch):
    fill(tmp_path, bench, rng)
    monkeypatch.setattr("karat.runs.preflight.check_vectors", None)
    (tmp_path / "captions-00004.npy").unlink()
    message = r"has 20 caption embeddings in 4 files of 5, but world has 24 captions"
    with pytest.raises(karat.KaratError, match=message):
        karat.load_run(tmp_path, benchmark=bench)
    np.save(tmp_path / "captions-00001.npy", np.ones((3, 6), np.float16))
    with pytest.raises(
        karat.KaratError, match=r"18 caption embeddings in 4 files of 5 \(captions-00001.npy 3\)"
    ):
        karat.load_run(tmp_path, benchmark=bench)
    with pytest.raises(karat.KaratError, match=r"names 7 caption ids for a table of 18 captions"):
        karat.load_run(tmp_path, ids={"captions": list(range(7))})
    for file in tmp_path.glob("images-*"):
        np.save(file, np.ones((5, 7), np.float16))
    with pytest.raises(karat.KaratError, match=r"image embeddings have 7 dimensions, caption embeddings 6"):
        karat.load_run(tmp_path)


def test_rows_of_zeros_are_a_warning_for_cosines(tmp_path, bench, rng):
    fill(tmp_path, bench, rng)
    spoil(tmp_path / "images-00001.npy", 3, slice(None), 0)
    (note,) = [
        n
        for n in karat.evaluate(tmp_path, bench, "R@1", loading=karat.Loading(similarity="cosine")).notes
        if "is zero" in n
    ]
    assert f"1 image vector is zero, first row 3 of {tmp_path / 'images-00001.npy'}" in note
    seen = inspect(tmp_path, benchmark=bench, loading=Loading(similarity="cosine"))
    assert any("first row 3 of" in finding.text for finding in seen.findings if finding.level == "warning")
    assert any("image embeddings: 3 files of float16 in" in finding.text for finding in seen.findings)


def test_memory_changes_no_result_and_too_little_is_refused(tmp_path, bench, rng):
    fill(tmp_path, bench, rng)
    scores = rng.random((bench.images.size, bench.captions.size))
    for source in (tmp_path, scores):
        plain = karat.evaluate(source, bench, ["R@1", "MedR"])
        least = least_memory((12, 24), [scores] if source is scores else read(tmp_path).tables)
        card = karat.evaluate(source, bench, ["R@1", "MedR"], compute=karat.Compute(memory=least))
        assert [column.value for column in card] == [column.value for column in plain]
        with pytest.raises(karat.KaratError, match=r"does not fit into .*MB; give 286MB or more"):
            karat.evaluate(source, bench, "R@1", compute=karat.Compute(memory=least - 10**6))
    run = karat.load_run(scores, memory="1 GiB")
    # What Python and the libraries and the table take is not left for the pass.
    assert run.memory == 2**30 - 2**28 - scores.nbytes
    for wrong in ("many", "4XB", "-1", "0", "1e999GB", ""):
        with pytest.raises(karat.KaratError, match="is not an amount of memory; write 4GB"):
            karat.load_run(scores, memory=wrong)


def test_mapped_files_are_not_counted_in_the_bound(tmp_path, rng):
    files = [tmp_path / f"{side}.npy" for side in ("images", "captions")]
    for file, rows in zip(files, (100, 200)):
        np.save(file, rng.random((rows, 50_000), dtype=np.float32))
    # 60 MB in two files, where 40 MB are left besides Python and the libraries.
    assert karat.load_run(*files, memory=296 << 20).memory == 40 << 20
    with pytest.raises(karat.KaratError, match=r"does not fit into .*; give 346MB or more"):
        karat.load_run(*map(np.load, files), memory=296 << 20)


def test_cosines_of_mapped_files_stay_within_the_bound(tmp_path, rng):
    files = [tmp_path / f"{side}.npy" for side in ("images", "captions")]
    for file, rows in zip(files, (20_000, 40_000)):
        np.save(file, rng.standard_normal((rows, 250), dtype=np.float32))
    arrays = [np.load(file) for file in files]
    # 60 MB in two files, of which a tile is scaled at a time.
    run = karat.load_run(*files, similarity="cosine", memory=296 << 20)
    assert run.memory == 40 << 20
    assert not any(isinstance(table, ArrayVectors) for table in run.vectors)
    some = np.arange(40)
    cosines = karat.load_run(*arrays, similarity="cosine")
    assert run.top("t2i", 3, some).item.tolist() == cosines.top("t2i", 3, some).item.tolist()
    # In double precision, too.
    run = karat.load_run(*files)
    mapped = run.vectors[0].table
    run.use(np.float64)
    assert run.vectors[0].table is mapped
    rows, columns = np.array([3, 9999]), np.array([0, 39_999])
    double = karat.load_run(*(array.astype(np.float64) for array in arrays))
    assert run.pair_scores(rows, columns).tolist() == double.pair_scores(rows, columns).tolist()
    assert np.allclose(run.block(3, 5), double.block(3, 5), rtol=1e-12)


def test_packed_scores_are_refused_before_they_are_unpacked(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "scores.npz", scores=np.zeros((1000, 25_000), np.float32))
    monkeypatch.setattr("karat.runs.formats.npz.unpack", None)
    with pytest.raises(karat.KaratError, match=r"scores does not fit into 300MB; give 387MB or more"):
        karat.load_run(tmp_path / "scores.npz", memory="300MB")


def test_inspection_does_not_read_whole_tables(tmp_path, bench, rng, monkeypatch):
    tables = fill(tmp_path, bench, rng)
    tables["captions"][7] = tables["captions"][2]
    np.save(tmp_path / "captions-00001.npy", tables["captions"][5:10])
    for side in ("images", "captions"):
        monkeypatch.setattr(karat.runs.EmbeddingRun, side, None)
    texts = [finding.text for finding in inspect(tmp_path, benchmark=bench).findings]
    assert texts[0] == "embeddings of 6 dimensions: 12 by 24 (images by captions)"
    assert "1 caption vector repeat an earlier one: they tie in every ranking" in texts


def test_memory_on_the_command_line(tmp_path, bench, rng):
    from karat.benchmarks import save_benchmark

    save_benchmark(bench, tmp_path / "bench")
    (tmp_path / "run").mkdir()
    fill(tmp_path / "run", bench, rng)
    common = [str(tmp_path / "run"), "-b", str(tmp_path / "bench")]
    for command in (
        ["evaluate", *common],
        ["inspect", *common],
        ["report", *common, "-o", str(tmp_path / "r.html")],
    ):
        assert CliRunner().invoke(built(), command, env={"KARAT_MEMORY": "1GB"}).exit_code == 0
    for command in (
        ["evaluate", *common],
        ["project", "pool", *common, "--dry-run"],
        ["convert", str(tmp_path / "run"), str(tmp_path / "x.npz")],
    ):
        done = CliRunner().invoke(built(), command, env={"KARAT_MEMORY": "9MB"})
        assert "does not fit into 9MB; give 286MB or more" in str(done.exception or done.output)


def test_an_unknown_device_is_refused_without_a_model(tmp_path, bench, rng):
    from karat.benchmarks import save_benchmark

    save_benchmark(bench, tmp_path / "bench")
    (tmp_path / "run").mkdir()
    fill(tmp_path / "run", bench, rng)
    command = ["evaluate", str(tmp_path / "run"), "-b", str(tmp_path / "bench")]
    assert CliRunner().invoke(built(), command, env={"KARAT_DEVICE": "cpu"}).exit_code == 0
    refused = CliRunner().invoke(built(), command, env={"KARAT_DEVICE": "gpu"})
    assert refused.exit_code != 0
    assert "KARAT_DEVICE is 'gpu'; choose one of auto, cpu, cuda" in str(refused.exception) + refused.output
