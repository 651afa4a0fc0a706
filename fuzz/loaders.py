"""Mutated files over every loader: each must load or end in a KaratError, in bounded memory.

    python fuzz/loaders.py --inputs 120000 --seed 1

Small valid files of every format are damaged in random ways: bytes flipped, cut, doubled, moved,
numbers replaced by extreme ones, pieces of other files spliced in, heads of safetensors and arrays of npz
changed. A loader may return or raise `karat.KaratError`; `sandbox.py` says what else is a finding, which is
printed with its seed and makes the exit code 1.
"""

import argparse
import io
import json
import os
import random
import sys
import tarfile
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from damage import SPOILT, damage_arrays, damage_json, damage_safetensors, mutate
from sandbox import run_all

import karat
from karat.benchmarks import Benchmark, Ids, Judgments, Objects, Provenance, Truth, save_benchmark
from karat.errors import KaratError

MEMORY = 4 << 30


def tiny() -> Benchmark:
    """Four images with two captions each, with texts and objects."""
    own = Judgments(np.repeat(np.arange(4), 2), np.arange(8), sources=[Provenance("original")])
    asked = {"i2t": np.arange(4), "t2i": np.arange(8)}
    return Benchmark(
        "tiny",
        Ids([10, 11, 12, 13], kind="image"),
        Ids(range(100, 108), kind="caption"),
        {"own": Truth("own", own, asked)},
        caption_image=np.repeat(np.arange(4), 2),
        texts=[f"caption {k}" for k in range(8)],
        objects=Objects(("dog",), [0, 1], [0, 0], np.full((2, 4), 0.5)),
    )


def run_files(folder: Path, bench: Benchmark) -> dict[str, Callable[[Path], object]]:
    """Write one valid run in every format that karat can write, and say how each is loaded."""
    from karat.runs import formats

    rng = np.random.default_rng(0)
    scores = rng.random((4, 8)).astype(np.float32)
    run = karat.load_run(scores, benchmark=bench)
    targets: dict[str, Callable[[Path], object]] = {}

    def load(path: Path) -> object:
        return evaluated(path, bench)

    np.save(folder / "scores.npy", scores)
    np.savez(folder / "scores.npz", scores=scores)
    np.savez(folder / "tables.npz", images=scores[:, :3], captions=rng.random((8, 3)))
    lists = {}
    for direction in ("i2t", "t2i"):
        top = run.top(direction, 4)
        items = bench.items(direction)[top.item].reshape(-1, 4).tolist()
        lists[direction] = dict(zip(map(str, bench.queries(direction).gallery.tolist()), items))
    (folder / "lists.json").write_text(json.dumps(lists))
    lines = [f"{q} Q0 {i} {k + 1} {9 - k} x" for q, row in lists["i2t"].items() for k, i in enumerate(row)]
    (folder / "lists.trec").write_text("\n".join(lines) + "\n")
    rows = [f"{q},{i},{9 - k}" for q, row in lists["i2t"].items() for k, i in enumerate(row)]
    (folder / "lists.csv").write_text("query,item,score\n" + "\n".join(rows) + "\n")
    (folder / "scores.csv").write_text("\n".join(",".join(map(str, row)) for row in scores.tolist()) + "\n")
    import polars as pl
    from safetensors.numpy import save_file

    pl.DataFrame({"query": [10, 10, 11], "item": [100, 101, 102], "score": [0.5, 0.2, 0.1]}).write_parquet(
        folder / "lists.parquet"
    )
    pl.DataFrame(scores).write_parquet(folder / "scores.parquet")
    save_file({"scores": scores}, folder / "scores.safetensors")
    for path in sorted(folder.iterdir()):
        targets[path.name] = load
    assert formats
    return targets


def benchmark_files(folder: Path, bench: Benchmark) -> dict[str, Callable[[Path], object]]:
    """Write one valid file of every source, and say how each is loaded."""
    targets: dict[str, Callable[[Path], object]] = {}

    def add(name: str, text: str, load: Callable[[Path], object]) -> None:
        (folder / name).write_text(text)
        targets[name] = load

    add(
        "ids.json",
        json.dumps({"images": [10, 11, 12, 13]}),
        lambda p: karat.load_run(np.eye(4, 8), benchmark=bench, ids=p),
    )
    add(
        "q.qrels",
        "q1 0 d1 1\nq2 0 d2 0\nq2 0 d3 2\nq2 0 d4 -1\n",
        lambda p: karat.load_benchmark("trec", qrels=p),
    )
    add(
        "cxc.csv",
        "caption,image,agg_score,sampling_method\nx:770337,y_000391895.jpg,2.5,m\n",
        lambda p: karat.load_benchmark("coco", cxc_ratings=p),
    )
    add(
        "f30k.tsv",
        "image\tsent\tcaption_tokenised\tcaption_raw\na.jpg\t0\tx .\tx\na.jpg\t1\ty .\ty\n",
        lambda p: karat.load_benchmark("flickr30k", file=p),
    )
    add(
        "dataset.json",
        json.dumps(
            {
                "dataset": "x",
                "images": [
                    {
                        "split": "test",
                        "filename": "a.jpg",
                        "imgid": 0,
                        "sentids": [0],
                        "sentences": [{"sentid": 0, "raw": "a", "tokens": ["a"], "imgid": 0}],
                    }
                ],
            }
        ),
        lambda p: karat.load_benchmark("karpathy", file=p),
    )
    add(
        "captions_x.json",
        json.dumps(
            {
                "images": [{"id": 1, "file_name": "a.jpg", "width": 4, "height": 4}],
                "annotations": [{"id": 5, "image_id": 1, "caption": "a"}],
            }
        ),
        lambda p: karat.load_benchmark("coco-json", file=p),
    )
    add(
        "captions.tsv",
        "caption_id\timage_id\tcaption_tokenised\tcaption_raw\n770337\t391895\tx .\tx\n",
        lambda p: karat.load_benchmark("coco", captions=p),
    )
    add(
        "boxes.json",
        json.dumps({"categories": ["dog"], "images": {"391895": [[0, 0.5, 0.5, 1, 1]]}}),
        lambda p: karat.load_benchmark("coco", boxes=p),
    )
    return targets


def folder_files(folder: Path, bench: Benchmark) -> dict[str, tuple[Path, Callable[[], object]]]:
    """Write folders whose single files are damaged in turn."""
    targets: dict[str, tuple[Path, Callable[[], object]]] = {}
    saved = folder / "saved"
    save_benchmark(bench, saved)
    for path in sorted(saved.iterdir()):
        targets[f"saved/{path.name}"] = (path, lambda: karat.load_benchmark(saved))
    plain = folder / "plain"
    plain.mkdir()
    (plain / "a.jpg").write_bytes(b"")
    (plain / "captions.csv").write_text('image,caption\na.jpg,"a dog, here"\na.jpg,b\n')
    targets["plain/captions.csv"] = (
        plain / "captions.csv",
        lambda: karat.load_benchmark("folder", folder=plain),
    )
    lines = folder / "lines"
    lines.mkdir()
    (lines / "a.jpg").write_bytes(b"")
    (lines / "captions.jsonl").write_text('{"image": "a.jpg", "captions": ["a", "b"]}\n')
    targets["lines/captions.jsonl"] = (
        lines / "captions.jsonl",
        lambda: karat.load_benchmark("folder", folder=lines),
    )
    flickr = folder / "flickr8k"
    flickr.mkdir()
    tokens = "".join(f"{n}.jpg#{k}\tA dog .\n" for n in "ab" for k in range(5))
    for name, text in (
        ("Flickr8k.token.txt", tokens),
        ("Flickr_8k.trainImages.txt", "a.jpg\n"),
        ("Flickr_8k.devImages.txt", "a.jpg\n"),
        ("Flickr_8k.testImages.txt", "a.jpg\nb.jpg\n"),
        ("ExpertAnnotations.txt", "a.jpg\tb.jpg#2\t1\t2\t3\n"),
        ("CrowdFlowerAnnotations.txt", "a.jpg\tb.jpg#2\t0.5\t1\t1\n"),
    ):
        (flickr / name).write_text(text)
        targets[f"flickr8k/{name}"] = (flickr / name, lambda: karat.load_benchmark("flickr8k", folder=flickr))
    official = folder / "official"
    official.mkdir()
    images = [{"id": 1, "file_name": "a.jpg", "width": 4, "height": 4}]
    annotations = [{"image_id": 1, "category_id": 2, "bbox": [0, 0, 2, 2], "iscrowd": 0}]
    for name, content in (
        ("captions.json", {"images": images, "annotations": [{"id": 5, "image_id": 1, "caption": "a"}]}),
        (
            "instances.json",
            {"images": images, "annotations": annotations, "categories": [{"id": 2, "name": "dog"}]},
        ),
        ("ids.json", {"images": [1], "captions": [5]}),
    ):
        (official / name).write_text(json.dumps(content))
        targets[f"official/{name}"] = (
            official / name,
            lambda: karat.load_benchmark(
                "coco-json",
                file=official / "captions.json",
                instances=official / "instances.json",
                ids=official / "ids.json",
            ),
        )
    tables = folder / "beir"
    tables.mkdir()
    for name, text in (
        ("corpus.jsonl", '{"_id": "i1"}\n{"_id": "i2"}\n'),
        ("queries.jsonl", '{"_id": "q1"}\n'),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\ti1\t1\n"),
    ):
        (tables / name).write_text(text)
        targets[f"beir/{name}"] = (tables / name, lambda: karat.load_benchmark("beir", folder=tables))
    return targets | downloads(folder / "downloads")


def run_folders(folder: Path, bench: Benchmark) -> dict[str, tuple[Path, Callable[[], object]]]:
    """Write runs that are folders, and files beside a run, whose single files are damaged in turn."""
    import polars as pl

    targets: dict[str, tuple[Path, Callable[[], object]]] = {}
    clip = folder / "clip"
    rng = np.random.default_rng(0)
    for part, rows in (("img_emb", 4), ("text_emb", 8)):
        (clip / part).mkdir(parents=True)
        np.save(clip / part / f"{part}_0.npy", rng.random((rows, 3)).astype(np.float32))
    (clip / "metadata").mkdir()
    pl.DataFrame({"image_id": [10, 10, 11, 11, 12, 12, 13, 13], "caption_id": range(100, 108)}).write_parquet(
        clip / "metadata" / "metadata_0.parquet"
    )
    for path in sorted(clip.glob("*/*")):
        targets[f"clip/{path.name}"] = (path, lambda: karat.load_run(clip, benchmark=bench))
    shards = folder / "shards"
    encoded = lambda items: rng.random((len(items), 3))  # noqa: E731
    save_shards(shards, bench, encoded)
    for path in sorted(shards.iterdir()):
        targets[f"shards/{path.name}"] = (path, lambda: evaluated(shards, bench))
    numbered = folder / "numbered"
    numbered.mkdir()
    from safetensors.numpy import save_file

    for side, rows in (("images", 4), ("captions", 8)):
        for part in range(2):
            table = rng.random((rows // 2, 3)).astype(np.float32)
            save_file({"vectors": table}, numbered / f"{side}-{part:05d}.safetensors")
    for path in sorted(numbered.iterdir()):
        targets[f"numbered/{path.name}"] = (path, lambda: evaluated(numbered, bench))
    scores = rng.random((4, 8))
    ids = {"images": [10, 11, 12, 13], "captions": list(range(100, 108))}
    rows = "".join(f"{name}\n" for name in ids["captions"])
    pairs = "".join(f"{10 + k // 2},{100 + k}\n" for k in range(8))
    pairs = f"image_id,caption_id\n{pairs}"
    for name, text in (("order.json", json.dumps(ids)), ("order.txt", rows), ("order.csv", pairs)):
        path = folder / name
        path.write_text(text)
        targets[name] = (
            path,
            lambda path=path: karat.load_run(scores, benchmark=bench, ids=path),
        )
    return targets


def save_shards(folder: Path, bench: Benchmark, encode: Callable[[list[str]], np.ndarray]) -> None:
    """Write what karat encode writes, without a model."""
    from karat.runs import Fingerprint, ShardFolder

    made = Fingerprint({"model": "x", "precision": "float32"})
    target = ShardFolder(folder, "0" * 24, made, 4)
    for side, count in (("images", 4), ("captions", 8)):
        for path, rows in target.parts(side, count):
            target.write(path, encode([""] * (rows.stop - rows.start)).astype(np.float32))
    ids = {"images": bench.images.gallery, "captions": bench.captions.gallery}
    target.finish({side: values.tolist() for side, values in ids.items()}, made, "x")


def evaluated(path: Path, bench: Benchmark) -> object:
    """Load a run and look at all of it."""
    return karat.evaluate(karat.load_run(path, benchmark=bench), bench, ["R@1", "AP"])


def downloads(folder: Path) -> dict[str, tuple[Path, Callable[[], object]]]:
    """Write the files of collections as they are downloaded, by the name of the source that reads them."""
    import polars as pl

    picture = {"bytes": b"\xff\xd8\xff", "path": "a.jpg"}
    row = {"image/key": "a", "en": {"caption": ["a dog", "a bus"]}}
    query = {"qid": "9:1", "query_txt": "a dog", "query_modality": "text"}
    candidate = {"did": "9:1", "img_path": "a.jpg", "modality": "image"}
    image = {"id": 1, "file_name": "a.jpg", "width": 4, "height": 4, "domain": "in-domain"}
    nocaps = {"images": [image], "annotations": [{"id": 5, "image_id": 1, "caption": "a"}]}
    texts = {
        "precomp/test_caps.txt": "a dog\n" * 10,
        "precomp/test_ids.txt": "1\n2\n",
        "urban1k/caption/a.txt": "a dog\n",
        "urban1k/image/a.jpg": "",
        "xm3600/captions.jsonl": json.dumps(row) + "\n",
        "mbeir/query/test/mbeir_mscoco_task0_test.jsonl": json.dumps(query) + "\n",
        "mbeir/cand_pool/local/mbeir_mscoco_task0_test_cand_pool.jsonl": json.dumps(candidate) + "\n",
        "mbeir/qrels/test/mbeir_mscoco_task0_test_qrels.txt": "9:1 0 9:1 1 0\n",
        "nocaps/captions.json": json.dumps(nocaps),
        "flickr30k/results.csv": "image_name| comment_number| comment\na.jpg| 0| a dog\na.jpg| 1   a bus\n",
        "flickr30k/results.token": "a.jpg#0\ta dog\na.jpg#1\ta bus\n",
        "atomic/qrels.trec": "t1 Q0 i1 1\nt2 Q0 i1 0\n",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    np.save(folder / "precomp" / "test_ims.npy", np.eye(2, dtype=np.float32))
    for name in ("webdataset", "parquet", "nuswide"):
        (folder / name).mkdir()
    part = {"ids": np.arange(2), "packed": np.array([[128], [64]], np.uint8)}
    parts = {f"{split}_{name}": array for split in ("train", "test") for name, array in part.items()}
    words = np.array(["dog", "bus"])
    np.savez(folder / "nuswide" / "nuswide_gt81.npz", concepts=words, test_folder=words, **parts)
    pl.DataFrame({"image": [picture], "caption": [["a dog", "a bus"]]}).write_parquet(
        folder / "parquet" / "test.parquet"
    )
    with tarfile.open(folder / "webdataset" / "0.tar", "w") as shard:
        for name, content in (("s0.jpg", b"\xff\xd8\xff"), ("s0.txt", b"a dog\na bus"), ("s0.json", b"{}")):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            shard.addfile(member, io.BytesIO(content))
    targets: dict[str, tuple[Path, Callable[[], object]]] = {}
    for path in sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix != ".jpg"):
        name = path.relative_to(folder).parts[0]
        option = {"nocaps": "file", "flickr30k": "file", "nuswide": "file", "atomic": "qrels"}.get(
            name, "folder"
        )
        given = folder / name if option == "folder" else path
        targets[str(path.relative_to(folder))] = (
            path,
            lambda name=name, option=option, given=given: karat.load_benchmark(name, **{option: given}),
        )
    return targets


def prepare(
    scratch: Path, seed: int, only_runs: bool = False
) -> Callable[[int], tuple[str, Callable[[], object]]]:
    """Write the valid files, load each, and return what makes the damaged file of a number."""
    os.environ["KARAT_CACHE"] = str(scratch / "cache")
    bench = tiny()
    folder = Path(tempfile.mkdtemp(dir=scratch))
    for name in ("runs", "files", "shards"):
        (folder / name).mkdir()
    targets: dict[str, tuple[Path, Callable[[], object]]] = {}
    for name, load in run_files(folder / "runs", bench).items():
        path = folder / "runs" / name
        targets[name] = (path, lambda load=load, path=path: load(path))
    targets |= run_folders(folder / "shards", bench)
    if not only_runs:
        for name, load in benchmark_files(folder / "files", bench).items():
            path = folder / "files" / name
            targets[name] = (path, lambda load=load, path=path: load(path))
        targets |= folder_files(folder, bench)
    originals = {name: path.read_bytes() for name, (path, _) in targets.items()}
    for name, (_, load) in targets.items():
        try:
            load()
        except KaratError as error:
            # A benchmark of the real COCO cannot be made of one caption: only its reader is tried.
            print(f"{name}: {error}")
    names, everything = list(targets), list(originals.values())
    damaged: list[str] = []

    def make(number: int) -> tuple[str, Callable[[], object]]:
        while damaged:
            before = damaged.pop()
            targets[before][0].write_bytes(originals[before])
        rng = random.Random(f"{seed}:{number}")
        name = names[number % len(names)]
        path, load = targets[name]
        path.write_bytes(damage(originals[name], path, rng, everything))
        damaged.append(name)
        return name, load

    return make


def damage(data: bytes, path: Path, rng: random.Random, others: list[bytes]) -> bytes:
    """Damage bytes, or what a file of this kind holds."""
    if rng.random() < 0.6:
        return mutate(data, rng, others)
    try:
        if path.suffix == ".safetensors":
            return damage_safetensors(data, rng)
        if path.suffix == ".npz" and path.parent.name == "runs":
            return damage_arrays(data, rng, b"")
        if path.suffix == ".json":
            return damage_json(data, rng, {})
    except SPOILT:
        pass
    return mutate(data, rng, others)


def main() -> None:
    """Damage, load, count."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=int, default=120_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--runs", action="store_true", help="files of runs and of their ids alone")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as where:
        made = partial(prepare, only_runs=asked.runs)
        scratch = Path(where).resolve()
        found = run_all(made, scratch, asked.seed, range(asked.inputs), asked.processes, KaratError)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
