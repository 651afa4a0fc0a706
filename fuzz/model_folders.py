"""Damaged folders of models: each must load and encode, or end in one sentence, and never do anything else.

    python fuzz/model_folders.py --folders 20000 --seed 1

One to three damages are done to a small valid folder of every kind that karat loads: values and keys of json
files, heads of safetensors files, parts of tokenizers, and files that are pipes, links, pickles or programs.
What loads also encodes a picture and two captions. `sandbox.py` says what else than loading and a sentence is
a finding; each is printed with its number, which `--only` repeats. The exit code is 1 where there is one.
"""

import argparse
import json
import os
import pickle
import random
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from damage import SPOILT, damage_arrays, damage_json, damage_safetensors, mutate
from odd_keys import CLASSES, CONFIG, OWN, PROCESSOR, REGEX, SENTENCE, TOKENIZER_CONFIG
from sandbox import CANARY, run_all
from tiny_folders import KINDS, save_all

CODE = f"open('{{place}}/../{CANARY}', 'w').close()"
"""A program that shows that it ran, in the folder above that of the run."""


class Evil:
    """What makes a file when it is unpickled."""

    def __init__(self, place: Path) -> None:
        self.path = str(place.parent / f"{CANARY}-pickle")

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (self.path,)


def more_keys(name: str, kind: str) -> dict[str, list[Any]]:
    """Return what may be added to a json file."""
    if name.startswith("tokenizer_config"):
        return TOKENIZER_CONFIG
    if "processor" in name:
        return PROCESSOR
    if kind in ("fitted", "trained", "counts", "vectors"):
        return OWN
    if name == "config.json" and kind in ("sentence", "words", "static"):
        return CONFIG | SENTENCE
    return CONFIG if name in ("config.json", "generation_config.json") else SENTENCE


def damage_tokenizer(data: bytes, rng: random.Random) -> bytes:
    """Put another part into a tokenizer.json, or a part that makes texts long, slow or impossible."""
    content = json.loads(data)
    pattern = {"Regex": rng.choice(REGEX)}
    grow = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * rng.choice([2, 10, 1000])}
    nested: Any = {"type": "Lowercase"}
    for _ in range(rng.choice([3, 100, 5000])):
        nested = {"type": "Sequence", "normalizers": [nested]}
    vocab = {f"w{k}": k for k in range(rng.choice([10, 30_000]))}
    ways: list[Callable[[], Any]] = [
        lambda: content.update(
            normalizer={"type": "Sequence", "normalizers": [grow] * rng.choice([1, 5, 9, 30])}
        ),
        lambda: content.update(normalizer=nested),
        lambda: content.update(normalizer={"type": "Replace", "pattern": pattern, "content": "b"}),
        lambda: content.update(
            normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA" * rng.randint(0, 9)}
        ),
        lambda: content.update(normalizer={"type": "Prepend", "prepend": "a " * rng.choice([1, 10**6])}),
        lambda: content.update(
            pre_tokenizer={"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
        ),
        lambda: content.update(
            pre_tokenizer={"type": rng.choice(["ByteLevel", "Digits", "Metaspace", "x", "Sequence"])}
        ),
        lambda: content.update(pre_tokenizer=None),
        lambda: content.update(
            padding={
                "strategy": {"Fixed": rng.choice([0, 20, 10**6, 10**9, 10**12])},
                "direction": "Right",
                "pad_to_multiple_of": None,
                "pad_id": rng.choice([0, 10**9]),
                "pad_type_id": 0,
                "pad_token": "x",
            }
        ),
        lambda: content.update(
            padding={
                "strategy": "BatchLongest",
                "direction": "Left",
                "pad_to_multiple_of": rng.choice([0, 7, 10**9, 2**50]),
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "x",
            }
        ),
        lambda: content.update(
            truncation={
                "direction": "Right",
                "max_length": rng.choice([0, 1, 3, 2**40]),
                "strategy": "LongestFirst",
                "stride": rng.choice([0, 1, 2**40]),
            }
        ),
        lambda: content.update(
            post_processor={
                "type": "TemplateProcessing",
                "single": [{"Sequence": {"id": "A", "type_id": 0}}] * rng.choice([0, 1, 2, 10**5]),
                "pair": [],
                "special_tokens": {},
            }
        ),
        lambda: content.update(
            post_processor=rng.choice(
                [None, {"type": "BertProcessing", "sep": ["x", 10**9], "cls": ["y", -1]}]
            )
        ),
        lambda: content.update(
            added_tokens=[
                {
                    "id": rng.choice([k, 0, 10**9, 4 * 10**9]),
                    "content": rng.choice([f"t{k}", "", "a", " "]),
                    "single_word": False,
                    "lstrip": False,
                    "rstrip": True,
                    "normalized": True,
                    "special": True,
                }
                for k in range(rng.choice([1, 50, 20_000]))
            ]
        ),
        lambda: content.update(
            model={
                "type": "Unigram",
                "unk_id": rng.choice([0, 99, None]),
                "vocab": rng.choice(
                    [[["a", -1.0]], [], [["", 0.0]], [["a", float("-inf")]], [["a" * 10**5, 1.0]]]
                ),
            }
        ),
        lambda: content.update(
            model={
                "type": "BPE",
                "vocab": vocab,
                "merges": rng.choice([["w1 w2"], ["w1"], [["w1", "w2"]], ["a b"] * 9]),
            }
        ),
        lambda: content.update(
            model={
                "type": "WordPiece",
                "vocab": vocab,
                "unk_token": "w0",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": rng.choice([0, 10**12]),
            }
        ),
        lambda: content["model"].update(vocab={"a": rng.choice([10**9, 4 * 10**9, -1, 0.5, "x"])}),
        lambda: content["model"].update(dropout=rng.choice([1.0, 0.5, -1, 2])),
        lambda: content["model"].update(
            unk_token=rng.choice(["zzz", None, 3]), byte_fallback=True, fuse_unk=True
        ),
        lambda: content.update(decoder={"type": "x"}),
        lambda: content.update(version=rng.choice(["2.0", 3, None])),
    ]
    rng.choice(ways)()
    return json.dumps(content).encode()


def put(path: Path, data: bytes) -> None:
    """Put a file in the place of what is there; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    remove(path)
    path.write_bytes(data)


def remove(path: Path) -> None:
    """Remove what is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def change_file(path: Path, rng: random.Random, kind: str, others: list[bytes]) -> str:
    """Damage what a file holds, by what it is; return how."""
    data = path.read_bytes()
    if rng.random() < 0.12:
        put(path, mutate(data, rng, others))
        return "bytes"
    try:
        if path.name == "tokenizer.json" and rng.random() < 0.6:
            put(path, damage_tokenizer(data, rng))
            return "tokenizer"
        if path.name == "modules.json" and rng.random() < 0.6:
            modules = json.loads(data)
            entry = rng.choice(modules)
            way = rng.randrange(4)
            if way == 0:
                entry["type"] = rng.choice(CLASSES)
            elif way == 1:
                entry["path"] = rng.choice(
                    ["", "..", "1_Pooling", "/", "\x00", "1_Pooling/../2_Dense", "a" * 300, 3, "é"]
                )
            elif way == 2:
                modules.append(dict(entry))
            else:
                rng.shuffle(modules)
            put(path, json.dumps(modules).encode())
            return "modules"
        if path.suffix == ".json":
            put(path, damage_json(data, rng, more_keys(path.name, kind)))
            return "json"
        if path.suffix == ".safetensors":
            put(path, damage_safetensors(data, rng))
            return "safetensors"
        if path.suffix == ".npz":
            put(path, damage_arrays(data, rng, pickle.dumps(Evil(path.parent))))
            return "npz"
    except SPOILT:
        pass
    put(path, mutate(data, rng, others))
    return "bytes"


def replace_file(path: Path, rng: random.Random, others: list[bytes]) -> str:
    """Put something else in the place of a file; return what."""
    outside = path.parent.parent / "secret.json"
    ways: dict[str, Callable[[], object]] = {
        "removed": lambda: None,
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "link to itself": lambda: path.symlink_to(path.name),
        "link outside": lambda: path.symlink_to(outside),
        "link to a device": lambda: path.symlink_to("/dev/zero"),
        "link to nothing": lambda: path.symlink_to("nowhere"),
        "link to a neighbour": lambda: path.symlink_to(
            rng.choice([*sorted(path.parent.iterdir()), path]).name
        ),
        "socket": lambda: bound(path),
        "empty": lambda: path.write_bytes(b""),
        "zeros": lambda: (path.touch(), os.truncate(path, rng.choice([1, 10**6, 1 << 28, 1 << 31]))),
        "many values": lambda: path.write_bytes(
            b"[" + rng.choice([b"[],", b"{},", b"1,", b"'a',"]) * rng.choice([10**5, 10**7]) + b"1]"
        ),
        "another file": lambda: path.write_bytes(rng.choice(others)),
        "a pickle": lambda: path.write_bytes(pickle.dumps(Evil(path.parent))),
        "a program": lambda: path.write_text(CODE.format(place=path.parent)),
        "utf-16": lambda: path.write_bytes(b"\xff\xfe" + "{}".encode("utf-16-le")),
        "deep": lambda: path.write_text("[" * 10**5),
    }
    how = rng.choice(list(ways))
    remove(path)
    ways[how]()
    return how


def bound(path: Path) -> None:
    """Make a socket; its address must be short."""
    here = os.getcwd()
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name[:40])
    os.chdir(here)


def add_file(folder: Path, rng: random.Random, others: list[bytes]) -> str:
    """Put a file beside the others that a library may look for; return its name."""
    evil = pickle.dumps(Evil(folder))
    program = f"{CODE.format(place=folder)}\nclass Evil:\n    pass\n".encode()
    maps = [{"x": "evil.bin"}, {"x": "../../x.safetensors"}, {"x": "model.safetensors"}, [], {"x": 3}, 7, {}]
    contents: dict[str, Callable[[], bytes]] = {
        **dict.fromkeys(
            ["pytorch_model.bin", "model.pkl", "model.pt", "adapter_model.bin", "optimizer.pt"], lambda: evil
        ),
        **dict.fromkeys(
            [f"{CANARY}.py", "__init__.py", "setup.py", "sitecustomize.py", "modeling.py"], lambda: program
        ),
        **dict.fromkeys(
            ["model.safetensors.index.json", "pytorch_model.bin.index.json"],
            lambda: json.dumps(
                {"metadata": rng.choice([{}, None, 3]), "weight_map": rng.choice(maps)}
            ).encode(),
        ),
        "adapter_config.json": lambda: b'{"peft_type": "LORA", "base_model_name_or_path": "../x"}',
        "adapter_model.safetensors": lambda: rng.choice(others),
        "chat_template.jinja": lambda: b"{{ cycler.__init__.__globals__.os.mkdir('x') }}",
        "additional_chat_templates/x.jinja": lambda: b"{{ 7 * 7 }}",
        "added_tokens.json": lambda: rng.choice(
            [b'{"x": 99999999}', b'{"x": -1}', b"[]", b'{"a": 5}', b'{"": 64}']
        ),
        "special_tokens_map.json": lambda: rng.choice(
            [b'{"pad_token": 3}', b'{"pad_token": "zz"}', b"[]", b'{"x": "y"}']
        ),
        "vocab.txt": lambda: rng.choice([b"", b"\n" * 10**5, b"\xff", b"[PAD]\n[PAD]\na\n", b"x" * 10**6]),
        "vocab.json": lambda: rng.choice([b"{}", b"[]", b'{"a": "x"}', b'{"a": 99999999999}']),
        "merges.txt": lambda: rng.choice([b"", b"a b c\n", b"#version\nd o\n", b"\xff\n"]),
        "tokenizer.model": lambda: rng.choice([b"", b"\x0a\x0e\x0a\x05<unk>\x15", evil, rng.randbytes(64)]),
        "spiece.model": lambda: rng.choice([b"", rng.randbytes(64)]),
        "processor_config.json": lambda: json.dumps(
            {
                "image_processor": {k: rng.choice(v) for k, v in PROCESSOR.items() if rng.random() < 0.1},
                "processor_class": "CLIPProcessor",
            }
        ).encode(),
        "generation_config.json": lambda: json.dumps(
            {k: rng.choice(v) for k, v in CONFIG.items() if rng.random() < 0.1}
        ).encode(),
        "tokenizer_config.json": lambda: json.dumps(
            {k: rng.choice(v) for k, v in TOKENIZER_CONFIG.items() if rng.random() < 0.2}
        ).encode(),
        "sentence_bert_config.json": lambda: json.dumps(
            {k: rng.choice(v) for k, v in SENTENCE.items() if rng.random() < 0.2}
        ).encode(),
        "config_sentence_transformers.json": lambda: json.dumps(
            {k: rng.choice(v) for k, v in SENTENCE.items() if rng.random() < 0.2}
        ).encode(),
        "modules.json": lambda: json.dumps(
            [{"idx": 0, "name": "0", "path": "", "type": rng.choice(CLASSES)}]
        ).encode(),
        "router_config.json": lambda: json.dumps(
            {
                "types": {rng.choice(["", "..", "1_Pooling"]): rng.choice(CLASSES)},
                "structure": {"query": ["", "1_Pooling"]},
                "parameters": {},
            }
        ).encode(),
        "model.json": lambda: rng.choice(others),
        "unfinished.json": lambda: b"{}",
        "quantize_config.json": lambda: b'{"bits": 4}',
        "flax_model.msgpack": lambda: rng.randbytes(40),
        "tf_model.h5": lambda: rng.randbytes(40),
        "README.md": lambda: b"---\nlibrary_name: !!python/object/apply:os.mkdir [x]\n---\n",
        "config.json": lambda: json.dumps(
            {k: rng.choice(v) for k, v in CONFIG.items() if rng.random() < 0.1}
        ).encode(),
        "open_clip_config.json": lambda: b"{}",
        "openvino/openvino_model.xml": lambda: b"<x/>",
        "onnx/model.onnx": lambda: rng.randbytes(40),
        "2_Dense/pytorch_model.bin": lambda: evil,
        "embeddings.txt": lambda: b"a 1 2 3\n",
        ".hidden/model.safetensors": lambda: rng.choice(others),
        "name\n\x1b[2J.json": lambda: b"{",
    }
    name = rng.choice(list(contents))
    put(folder / name, contents[name]())
    if name.endswith(".py") and rng.random() < 0.7:
        for head in ("config.json", "tokenizer_config.json", "preprocessor_config.json"):
            if (folder / head).is_file():
                try:
                    content = json.loads((folder / head).read_bytes())
                except (ValueError, RecursionError):
                    continue
                if isinstance(content, dict):
                    kinds = ("AutoConfig", "AutoModel", "AutoImageProcessor")
                    content["auto_map"] = dict.fromkeys(kinds, f"{Path(name).stem}.Evil")
                    content["auto_map"]["AutoTokenizer"] = [f"{Path(name).stem}.Evil"] * 2
                    put(folder / head, json.dumps(content).encode())
    if name.endswith(".index.json") and rng.random() < 0.7:
        (folder / "model.safetensors").unlink(missing_ok=True)
        put(folder / "evil.bin", evil)
    if name.endswith((".bin", ".pt")) and rng.random() < 0.7:
        for weights in folder.rglob("*.safetensors"):
            weights.unlink()
    return name.encode("unicode_escape").decode()


def damage_folder(folder: Path, kind: str, rng: random.Random, others: list[bytes]) -> str:
    """Do one to three damages to a folder; return which."""
    done = []
    for _ in range(rng.choice([1, 1, 1, 1, 2, 3])):
        files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        way = rng.random()
        small = [path for path in files if path.stat().st_size < 10**7]
        if way < 0.12 or not small:
            done.append(f"+{add_file(folder, rng, others)}")
        elif way < 0.2:
            path = rng.choice(files)
            done.append(f"{path.name}: {replace_file(path, rng, others)}")
        else:
            path = rng.choice(small)
            done.append(f"{path.name}: {change_file(path, rng, kind, others)}")
    return ", ".join(done)


def prepare(
    scratch: Path, seed: int, names: tuple[str, ...] = tuple(KINDS)
) -> Callable[[int], tuple[str, Any]]:
    """Copy the valid folders, load each, and return what makes the damaged folder of a number."""
    os.environ["KARAT_CACHE"] = str(scratch / "cache")
    valid = scratch.parent / "valid"
    if not valid.is_dir():
        valid = scratch / "valid"
        if not valid.is_dir():
            valid.mkdir()
            save_all(valid, names)
    picture = scratch / "pictures" / "a.png"
    shutil.copytree(valid / "pictures", picture.parent, dirs_exist_ok=True)
    for name in names:
        # Compiled, imported and warm before anything is measured.
        KINDS[name][1](valid / name, picture)
    others = [path.read_bytes() for path in sorted(valid.rglob("*")) if path.suffix in (".json", ".txt")]
    case = scratch / "case"

    def make(number: int) -> tuple[str, Callable[[], object]]:
        kind = names[number % len(names)]
        rng = random.Random(f"{seed}:{number}")
        shutil.rmtree(case, ignore_errors=True)
        shutil.rmtree(scratch / "cache", ignore_errors=True)
        # Files are replaced and never written to: links are enough.
        shutil.copytree(valid / kind, case, copy_function=os.link)
        damages = damage_folder(case, kind, rng, others)
        return f"{kind} ({damages})", lambda: KINDS[kind][1](case, picture)

    return make


def main() -> None:
    """Damage, load, count."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folders", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", type=int, help="the number of a finding, to try it alone")
    parser.add_argument("--keep", type=Path, help="where its folder is kept")
    asked = parser.parse_args()
    from karat.errors import KaratError

    with tempfile.TemporaryDirectory() as where:
        scratch = Path(where).resolve()
        (scratch / "valid").mkdir()
        os.environ["KARAT_CACHE"] = str(scratch / "cache")
        save_all(scratch / "valid")
        numbers = range(asked.folders) if asked.only is None else range(asked.only, asked.only + 1)
        found = run_all(prepare, scratch, asked.seed, numbers, asked.processes, KaratError)
        if asked.keep is not None:
            shutil.copytree(scratch / "0" / "case", asked.keep, symlinks=True)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
