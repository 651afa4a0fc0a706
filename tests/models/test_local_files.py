"""Folders of models from anywhere: what a library may not see is refused first, in one sentence."""

import base64
import json
import os
import pickle
import shutil

import numpy as np
import pytest
from safetensors.numpy import save_file

import karat
from karat.errors import KaratError
from tiny_models import edit_json, save_models, save_pictures


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return save_models(tmp_path_factory.mktemp("models"), ("clip",)) / "clip"


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    return save_pictures(tmp_path_factory.mktemp("pictures"), 1)[0]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(clip, tmp_path):
    return shutil.copytree(clip, tmp_path / "clip")


@pytest.fixture
def sentences(tmp_path):
    """A sentence model whose weights nobody reads: it has to be refused before."""
    pytest.importorskip("sentence_transformers")
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Dense", "Dense")]
    modules = [
        {"idx": k, "name": str(k), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for k, (path, kind) in enumerate(kinds)
    ]
    folder = tmp_path / "sentences"
    (folder / "2_Dense").mkdir(parents=True)
    (folder / "modules.json").write_text(json.dumps(modules))
    for part in ("", "2_Dense"):
        (folder / part / "config.json").write_text("{}")
        save_weights(folder / part / "model.safetensors")
    return folder


def save_weights(path):
    import torch
    from safetensors.torch import save_file as save_torch

    save_torch({"linear.weight": torch.ones(8, 32)}, path)


def save_code(path):
    """Write a pickle that makes a file when it is read."""

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(path.parent / "ran"),)

    path.write_bytes(pickle.dumps(Evil()))


def encode(name, picture=None):
    """Encode a text, and a picture."""
    model = karat.load_model(name)
    model.encode_texts(["a dog"])
    if picture is not None:
        model.encode_images([picture])


def refused(name, picture=None):
    """Return the sentence with which a model is refused."""
    with pytest.raises(KaratError) as caught:
        encode(name, picture)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


def edit_side(folder, side, **changes):
    """Change a few keys of one side of a configuration."""
    content = json.loads((folder / "config.json").read_text())
    edit_json(folder / "config.json", **{side: content[side] | changes})


def save_index(folder, name):
    """Name a file of weights in an index, as weights in several files have one."""
    (folder / "model.safetensors").rename(folder / "other.safetensors")
    index = {"metadata": {}, "weight_map": {"logit_scale": name}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("evil.bin", "names 'evil.bin' as weights; other formats than safetensors can run code"),
        ("../../../../etc/passwd", "names '../../../../etc/passwd', which is not in the folder"),
        ("/etc/passwd", "names '/etc/passwd', which is not in the folder"),
        (".git/evil.safetensors", "names '.git/evil.safetensors', which is not in the folder"),
    ],
)
def test_an_index_names_safetensors_of_the_folder_alone(folder, sentences, name, message):
    for place, kind in ((folder, "hf"), (sentences, "sentence")):
        save_index(place, name)
        save_code(place / "evil.bin")
        assert message in refused(f"{kind}:{place}")
        assert not (place / "ran").exists()


def test_weights_in_several_files_are_read(folder):
    before = karat.load_model(f"hf:{folder}").encode_texts(["a dog"])
    names = weight_names(folder)
    (folder / "model.safetensors").rename(folder / "model-00001-of-00001.safetensors")
    index = {"metadata": {}, "weight_map": dict.fromkeys(names, "model-00001-of-00001.safetensors")}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    # What many folders of the Hub have besides.
    save_code(folder / "pytorch_model.bin")
    other = {"metadata": {}, "weight_map": dict.fromkeys(names, "pytorch_model-00001-of-00001.bin")}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(other))
    assert (karat.load_model(f"hf:{folder}").encode_texts(["a dog"]) == before).all()
    assert not (folder / "ran").exists()


def weight_names(folder):
    from safetensors import safe_open

    with safe_open(folder / "model.safetensors", framework="np") as tensors:
        return list(tensors.keys())


def test_a_configuration_names_no_other_weights(folder):
    edit_json(folder / "config.json", transformers_weights="adapter_model.bin")
    assert "names 'adapter_model.bin' as weights" in refused(f"hf:{folder}")


@pytest.mark.parametrize("name", ["pytorch_model.bin", "pytorch_model.bin.index.json", "adapter_model.bin"])
def test_a_pickle_in_a_part_of_a_sentence_model_is_refused(sentences, name):
    (sentences / "2_Dense" / "model.safetensors").unlink()
    save_code(sentences / "2_Dense" / name)
    assert f"2_Dense: has its weights only as {name}, a pickle" in refused(f"sentence:{sentences}")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"type": "sentence_transformers.util.import_from_string"}, "which is no kind of module"),
        ({"type": "sentence_transformers.base.model.torch", "path": "x"}, "which is no kind of module"),
        ({"type": "sentence_transformers.base.model.Path"}, "cannot be loaded"),
        ({"type": 3}, "cannot be loaded"),
        ({"path": "../../etc"}, "names '../../etc', which is not in the folder"),
        ({"path": ".hidden"}, "names '.hidden', which is not in the folder"),
    ],
)
def test_modules_are_classes_of_the_library_in_the_folder(sentences, changes, message):
    edit = json.loads((sentences / "modules.json").read_text())
    (sentences / "modules.json").write_text(json.dumps([edit[0] | changes]))
    assert message in refused(f"sentence:{sentences}")


@pytest.mark.parametrize("kind", ["hf", "sentence", "folder", "open_clip"])
def test_what_is_no_plain_file_is_refused_and_not_waited_for(folder, kind):
    if kind == "open_clip":
        pytest.importorskip("open_clip")
        content = {"model_cfg": {}, "preprocess_cfg": {}}
        (folder / "open_clip_config.json").write_text(json.dumps(content))
    if kind == "sentence":
        pytest.importorskip("sentence_transformers")
    (folder / "model.json").write_text(json.dumps({"format": "karat-image-text-model"}))
    os.mkfifo(folder / "vocab.json")
    message = "vocab.json: is not a plain file but a pipe, a socket or a device; save what comes from it"
    assert message in refused(f"{kind}:{folder}")
    (folder / "vocab.json").unlink()
    (folder / "vocab.json").symlink_to("/dev/zero")
    assert message in refused(f"{kind}:{folder}")


def test_a_link_leads_nowhere_else(folder, tmp_path):
    before = karat.load_model(f"hf:{folder}").encode_texts(["a dog"])
    (tmp_path / "outside.json").write_text("{}")
    link = folder / "added_tokens.json"
    for target in (tmp_path / "outside.json", tmp_path):
        link.symlink_to(target)
        assert "is a link that leads out of the folder of the model" in refused(f"hf:{folder}")
        link.unlink()
    link.symlink_to(link)
    assert "added_tokens.json: is a link" in refused(f"hf:{folder}")
    link.unlink()
    # As the cache of Hugging Face keeps files, and as a user may call a folder.
    kept = tmp_path / "models--a--b"
    (kept / "blobs").mkdir(parents=True)
    shutil.copytree(folder, kept / "snapshots" / "1")
    for path in sorted((kept / "snapshots" / "1").iterdir()):
        path.rename(kept / "blobs" / path.name)
        path.symlink_to(f"../../blobs/{path.name}")
    (tmp_path / "called").symlink_to(kept / "snapshots" / "1")
    assert (karat.load_model(f"hf:{tmp_path / 'called'}").encode_texts(["a dog"]) == before).all()


def test_folders_of_other_programs_are_left_alone(folder, tmp_path):
    (folder / ".venv").mkdir()
    (folder / ".venv" / "python").symlink_to("/bin/sh")
    assert karat.load_model(f"hf:{folder}").encode_texts(["a dog"]).shape == (1, 16)


def test_a_description_of_a_terabyte_is_not_read(folder):
    os.truncate(folder / "preprocessor_config.json", 1 << 40)
    assert "preprocessor_config.json: has 1,099,511,627,776 bytes" in refused(f"hf:{folder}")


@pytest.mark.parametrize(
    ("side", "changes", "message"),
    [
        ("text_config", {"hidden_size": -5}, "cannot be loaded ("),
        ("text_config", {"hidden_size": 0}, "cannot be loaded ("),
        ("text_config", {"hidden_size": "big"}, "hidden_size"),
        ("vision_config", {"hidden_size": [3]}, "hidden_size"),
        ("vision_config", {"patch_size": 0}, "cannot be loaded ("),
        ("text_config", {"num_attention_heads": 0}, "cannot be loaded ("),
        ("text_config", {"num_hidden_layers": 10**6}, "num_hidden_layers 1,000,000, but the weights are 7"),
        ("text_config", {"num_hidden_layers": 1e6}, "num_hidden_layers 1,000,000.0, but the weights"),
        ("text_config", {"num_labels": 10**9}, "has the num_labels 1,000,000,000, but the largest size"),
        ("text_config", {"vocab_size": 10**12}, "has the vocab_size 1,000,000,000,000, but the largest"),
        ("vision_config", {"hidden_size": 64_000, "intermediate_size": 64_000}, "describes a network of"),
    ],
)
def test_wrong_sizes_are_one_sentence(folder, side, changes, message):
    edit_side(folder, side, **changes)
    assert message in refused(f"hf:{folder}")


@pytest.mark.parametrize("weights", ["x", None, 0])
def test_sizes_are_looked_at_where_no_weights_can_be_read(folder, sentences, weights):
    """A name is made for each label, by classes of the library that see no weights."""
    for place, kind in ((folder, "hf"), (sentences, "sentence")):
        edit_json(place / "config.json", num_labels=10**7)
        file = place / "model.safetensors"
        if weights is None:
            file.unlink()
        elif weights:
            file.write_text("x" * 100)
        else:
            save_file({"a": np.zeros((10**9, 0), np.float32)}, file)
        message = refused(f"{kind}:{place}")
        if weights is None:
            assert "has the num_labels 10,000,000, but no weights lie beside it" in message
        else:
            assert "model.safetensors: has no tensors that can be read; copy the weights again." in message


def test_a_layer_without_weights_is_small(sentences):
    (sentences / "2_Dense" / "model.safetensors").unlink()
    edit_json(sentences / "2_Dense" / "config.json", in_features=60_000, out_features=60_000)
    assert "has the in_features 60,000, but no weights lie beside it" in refused(f"sentence:{sentences}")


def test_labels_are_few_however_large_the_weights_are(folder):
    save_file({"x": np.zeros(300_000, np.int8)}, folder / "more.safetensors")
    edit_json(folder / "config.json", num_labels=299_999)
    assert "has the num_labels 299,999, but the most is 262,144" in refused(f"hf:{folder}")


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        ("preprocessor_config.json", {"size": {"shortest_edge": 200_000}}, "shortest_edge 200,000; the most"),
        ("preprocessor_config.json", {"crop_size": {"height": 200_000, "width": 32}}, "height 200,000"),
        ("preprocessor_config.json", {"resample": 99}, "cannot prepare a picture (Unknown resampling"),
        ("preprocessor_config.json", {"image_mean": "x"}, "cannot prepare a picture (mean must have 3"),
        ("preprocessor_config.json", {"size": {"shortest_edge": -3}}, "cannot prepare a picture ("),
        ("tokenizer_config.json", {"model_max_length": "x"}, "cannot be loaded ("),
        ("tokenizer_config.json", {"tokenizer_class": 7}, "cannot be loaded ("),
    ],
)
def test_wrong_values_of_what_prepares_are_one_sentence(folder, picture, file, changes, message):
    edit_json(folder / file, **changes)
    assert message in refused(f"hf:{folder}", picture)


def test_an_unknown_interpolation_is_no_fact(folder):
    edit_json(folder / "preprocessor_config.json", resample=99)
    with pytest.raises(KaratError, match=r"cannot be loaded \("):
        dict(karat.load_model(f"hf:{folder}").facts())


def test_sizes_of_a_part_of_a_sentence_model_are_those_of_its_weights(sentences):
    edit_json(sentences / "2_Dense" / "config.json", in_features=60_000, out_features=60_000)
    assert "has the in_features 60,000, but the largest size" in refused(f"sentence:{sentences}")


def edit_tokenizer(folder, **changes):
    edit_json(folder / "tokenizer.json", **changes)


GROWING = {"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaaaa"}
PADDING = {"direction": "Right", "pad_id": 0, "pad_type_id": 0, "pad_token": "x", "pad_to_multiple_of": None}
LONG = base64.b64encode(bytes(4) + b"a" * 5000 + b"\0").decode()
PRECOMPILED = {"type": "Precompiled"}
PIECE = {"Sequence": {"id": "A", "type_id": 0}}


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"normalizer": {"normalizers": [GROWING] * 9}}, "makes texts 2,000,000,000 times"),
        ({"padding": {**PADDING, "strategy": {"Fixed": 10**9}}}, "fills texts up with 1,000,000,000 tokens"),
        ({"padding": {**PADDING, "strategy": "BatchLongest", "pad_to_multiple_of": 2**50}}, "fills texts up"),
        (
            {"post_processor": {"type": "TemplateProcessing", "single": [PIECE] * 5000, "pair": []}},
            "makes texts 20,000 times as long",
        ),
        ({"normalizer": {"type": "Prepend", "prepend": "a" * 10**6}}, "has a prepend of 1,000,000 letters"),
        ({"normalizer": {**PRECOMPILED, "precompiled_charsmap": "AAAA"}}, "cannot be loaded (Precompiled"),
        ({"normalizer": {**PRECOMPILED, "precompiled_charsmap": LONG}}, "makes texts 10,000 times"),
        ({"pre_tokenizer": {"pretokenizers": [{"type": "ByteLevel"}] * 20}}, "makes texts 2,097,152 times"),
    ],
)
def test_a_tokenizer_makes_no_text_endless(folder, part, message):
    edit_tokenizer(folder, **part)
    assert message in refused(f"hf:{folder}")


def test_what_a_file_holds_besides_bytes_is_counted(folder):
    (folder / "generation_config.json").write_text("[" + "[]," * 5_000_000 + "1]")
    assert "generation_config.json: has some 10,000,001 values" in refused(f"hf:{folder}")


def test_a_file_of_holes_is_not_read(folder, sentences):
    for place, kind in ((folder, "hf"), (sentences, "sentence")):
        os.truncate(place / "model.safetensors", 1 << 42)
        message = "model.safetensors: has 4,398,046,511,104 bytes, of which nearly none were written"
        assert message in refused(f"{kind}:{place}")


def test_a_link_to_nothing_and_a_folder_are_no_files(folder):
    (folder / "added_tokens.json").symlink_to("nowhere")
    assert "added_tokens.json: is a link that leads nowhere" in refused(f"hf:{folder}")
    (folder / "added_tokens.json").unlink()
    (folder / "added_tokens.json").mkdir()
    assert "added_tokens.json: is a folder, and should be a file" in refused(f"hf:{folder}")


def test_patches_are_no_larger_than_a_picture(tmp_path, picture):
    folder = save_models(tmp_path, ("siglip2",)) / "siglip2"
    edit_json(folder / "preprocessor_config.json", max_num_patches=4000, patch_size=4000)
    assert "prepared as 4,000 patches of 4,000 x 4,000 pixels" in refused(f"hf:{folder}", picture)
    edit_json(folder / "preprocessor_config.json", max_num_patches=9000, patch_size=8)
    assert "max_num_patches 9,000; the most is 4,096" in refused(f"hf:{folder}", picture)


def test_a_text_that_is_repeated_is_short(folder, sentences):
    edit_json(folder / "tokenizer_config.json", pad_token="x" * 10**6)
    assert "tokenizer_config.json: has a pad_token of 1,000,000 letters" in refused(f"hf:{folder}")
    edit_json(folder / "tokenizer_config.json", pad_token="<|endoftext|>", chat_template="x" * 10**6)
    encode(f"hf:{folder}")
    (sentences / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"q": "x" * 10**6}}))
    assert "has a q of 1,000,000 letters" in refused(f"sentence:{sentences}")


def test_an_index_that_looks_like_a_tokenizer_is_checked(folder):
    save_index(folder, "evil.bin")
    save_code(folder / "evil.bin")
    edit_json(folder / "model.safetensors.index.json", added_tokens=[], model={})
    assert "names 'evil.bin' as weights" in refused(f"hf:{folder}")
