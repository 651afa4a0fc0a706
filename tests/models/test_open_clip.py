"""``open_clip:``: vectors equal those of the library's own calls, where the library loads."""

import contextlib
import importlib.util
import json
import os
import shutil
import sys

import numpy as np
import pytest

from karat.errors import KaratError
from karat.models import load_model
from tiny_models import edit_json, save_tokenizer

SMALL = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 32, "head_width": 16, "patch_size": 8},
    "text_cfg": {"context_length": 20, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2},
}
DEEPER = {**SMALL, "text_cfg": {**SMALL["text_cfg"], "layers": 3, "width": 48}}
PREPARATION = {"mean": [0.5, 0.4, 0.3], "std": [0.2, 0.3, 0.4], "interpolation": "bilinear"}
TEXTS = ["a dog", "A Dog", "two red cats sit on a wooden bench", "", "a photo of a blue dog " * 450]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def library():
    """open_clip; torchvision, which it needs, does not load beside the CPU build of torch."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if importlib.util.find_spec("open_clip") is None:
        pytest.skip("open_clip is not installed: it needs torchvision, which does not load beside CPU torch")
    try:
        import torchvision  # noqa: F401
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"torchvision does not load: {error}")
    return pytest.importorskip("open_clip")


@pytest.fixture(scope="module")
def files(library, tmp_path_factory):
    """Architectures that the library knows by name, their random weights, and a folder as on the Hub."""
    import torch
    from safetensors.torch import save_file

    place = tmp_path_factory.mktemp("open_clip")
    for name, config in (("tiny-karat", SMALL), ("deeper-karat", DEEPER)):
        (place / f"{name}.json").write_text(json.dumps(config))
        library.add_model_config(place / f"{name}.json")
        torch.manual_seed(0)
        state = library.create_model(name).state_dict()
        state = {key: table * (8 if table.ndim > 1 else 1) for key, table in state.items()}
        save_file({key: table.contiguous() for key, table in state.items()}, place / f"{name}.safetensors")
    (place / "folder").mkdir()
    (place / "folder" / "open_clip_model.safetensors").write_bytes(
        (place / "tiny-karat.safetensors").read_bytes()
    )
    description = {"model_cfg": SMALL, "preprocess_cfg": PREPARATION}
    (place / "folder" / "open_clip_config.json").write_text(json.dumps(description))
    return place


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    image = pytest.importorskip("PIL.Image")
    place = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    paths = []
    for k in range(5):
        paths.append(str(place / f"{k}.png"))
        image.fromarray(rng.integers(0, 256, (40 + 9 * k, 64, 3), dtype=np.uint8)).save(paths[-1])
    return paths


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def own_calls(library, name, weights, pictures, preparation=None):
    """Return what the library itself gives for a batch of pictures and a batch of texts."""
    import torch
    from PIL import Image

    network, _, prepare = library.create_model_and_transforms(name, pretrained=str(weights))
    if preparation:
        from open_clip.transform import PreprocessCfg, image_transform_v2

        prepare = image_transform_v2(PreprocessCfg(size=32, **preparation), is_train=False)
    images = torch.stack([prepare(Image.open(path).convert("RGB")) for path in pictures])
    tokens = library.get_tokenizer(name)(TEXTS)
    network.eval()
    with torch.inference_mode():
        return network.encode_image(images).numpy(), network.encode_text(tokens).numpy()


@pytest.mark.parametrize("form", ["architecture", "folder"])
def test_vectors_are_those_of_the_library(library, files, pictures, form):
    weights = files / "tiny-karat.safetensors"
    if form == "folder":
        model = load_model(f"open_clip:{files / 'folder'}", device="cpu", batch=2)
        own = own_calls(library, "tiny-karat", weights, pictures, PREPARATION)
    else:
        model = load_model("open_clip:tiny-karat", weights=weights, device="cpu", batch=2)
        own = own_calls(library, "tiny-karat", weights, pictures)
    rows, cut = model.read_texts(TEXTS)
    np.testing.assert_allclose(unit(model.encode_images(pictures)), unit(own[0]), rtol=0, atol=1e-6)
    np.testing.assert_allclose(unit(rows), unit(own[1]), rtol=0, atol=1e-6)
    assert np.ptp(unit(own[0]) @ unit(own[1]).T) > 0.1
    assert cut.tolist() == [False, False, False, False, True]


def test_a_gpu_gives_nearly_the_same(library, files, pictures):
    import torch

    if not torch.cuda.is_available():
        pytest.skip("torch finds no GPU")
    weights = files / "tiny-karat.safetensors"
    exact = load_model("open_clip:tiny-karat", weights=weights, device="cpu")
    fast = load_model("open_clip:tiny-karat", weights=weights)
    assert fast.made_with.facts["device"] == "cuda"
    np.testing.assert_allclose(
        unit(fast.encode_images(pictures)), unit(exact.encode_images(pictures)), rtol=0, atol=1e-3
    )
    half = load_model("open_clip:tiny-karat", weights=weights, precision="bfloat16")
    cosines = (unit(half.encode_images(pictures)) * unit(exact.encode_images(pictures))).sum(axis=1)
    assert (cosines > 0.99).all()


def test_what_changes_the_numbers_is_a_fact(library, files):
    weights = files / "tiny-karat.safetensors"
    named = load_model("open_clip:tiny-karat", weights=weights, device="cpu").made_with
    folder = load_model(f"open_clip:{files / 'folder'}", device="cpu").made_with
    changed = {name for name, _, _ in named.differences(folder)}
    assert changed == {"model", "architecture", "image.mean", "image.std", "image.interpolation"}
    assert folder.facts["image.mean"] == "0.5, 0.4, 0.3"
    # As models of transformers say it.
    assert folder.facts["image.resize"] == "shortest_edge 32"
    assert folder.facts["image.crop"] == "height 32, width 32"
    assert folder.facts["text.max_tokens"] == 20
    assert folder.facts["text.lower_case"] is True
    assert folder.facts["versions.torchvision"]


@pytest.fixture
def with_tokenizer(files, tmp_path):
    """A folder with a tokenizer of its own, which fills texts up with its end mark, as SigLIP's does."""
    folder = tmp_path / "own"
    shutil.copytree(files / "folder", folder)
    save_tokenizer(folder)
    edit_json(folder / "tokenizer_config.json", pad_token="</s>")
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    text = {**SMALL["text_cfg"], "hf_tokenizer_name": "no/such"}
    edit_json(folder / "open_clip_config.json", model_cfg={**SMALL, "text_cfg": text})
    return folder


def test_the_tokenizer_of_a_folder_is_part_of_the_model(library, with_tokenizer):
    model = load_model(f"open_clip:{with_tokenizer}", device="cpu")
    assert model.read_texts(["a dog", "a dog " * 20]).cut.tolist() == [False, True]
    before = model.encode_texts(["a dog"])
    words = json.loads((with_tokenizer / "tokenizer.json").read_text())
    vocabulary = words["model"]["vocab"]
    vocabulary["dog"], vocabulary["cat"] = vocabulary["cat"], vocabulary["dog"]
    edit_json(with_tokenizer / "tokenizer.json", model=words["model"])
    other = load_model(f"open_clip:{with_tokenizer}", device="cpu")
    assert not np.array_equal(other.encode_texts(["a dog"]), before)
    assert [name for name, *_ in model.made_with.differences(other.made_with)] == ["text.tokenizer.sha256"]


def test_code_of_a_folder_is_not_run(library, with_tokenizer, tmp_path):
    config = json.loads((with_tokenizer / "open_clip_config.json").read_text())["model_cfg"]
    config["text_cfg"]["tokenizer_kwargs"] = {"trust_remote_code": True}
    edit_json(with_tokenizer / "open_clip_config.json", model_cfg=config)
    edit_json(
        with_tokenizer / "tokenizer_config.json",
        tokenizer_class="Evil",
        auto_map={"AutoTokenizer": ["evil.Evil", None]},
    )
    (with_tokenizer / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Evil: pass\n")
    with contextlib.suppress(KaratError):
        load_model(f"open_clip:{with_tokenizer}", device="cpu").encode_texts(["a dog"])
    assert not (tmp_path / "ran").exists()


def test_nothing_is_said_of_random_weights(library, files, caplog):
    load_model(f"open_clip:{files / 'folder'}", device="cpu").encode_texts(["a dog"])
    assert not caplog.records


def test_mistakes_are_one_sentence(library, files, tmp_path):
    (tmp_path / "w.bin").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    weights = files / "tiny-karat.safetensors"
    for name, given, message in (
        ("tiny-karat", None, "open_clip:tiny-karat has no weights; give --weights"),
        ("tiny-karat", tmp_path / "w.bin", "is not a safetensors file; other formats can run code"),
        ("tiny-karat", tmp_path / "none.safetensors", "there is no such file"),
        ("no-such", weights, "open_clip has no architecture 'no-such'"),
        (
            "deeper-karat",
            weights,
            r"lack transformer\.resblocks\.2.* and \d+ more; they have another shape of",
        ),
        (str(tmp_path / "empty"), None, "there is no open_clip_config.json"),
    ):
        with pytest.raises(KaratError, match=message) as caught:
            load_model(f"open_clip:{name}", weights=given, device="cpu").encode_texts(["a"])
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("package", ["open_clip", "torchvision"])
def test_a_missing_package_names_what_to_install(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == package else "found")
    with pytest.raises(
        KaratError, match=rf"the package {package} is not installed; pip install 'karat\[open_clip\]'"
    ):
        load_model("open_clip:ViT-B-32", weights="w.safetensors")
