"""``hf:FOLDER``: vectors equal those of the library's own calls, and what changes them is a fact."""

import importlib.util
import json
import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.errors import InputError, KaratError
from karat.models import torch_model
from karat.models.encoders import hf
from karat.runs import notes_on_making
from tiny_models import (
    LENGTH,
    MODELS,
    SQUARE,
    TEXT,
    TEXTS,
    VISION,
    edit_json,
    save_models,
    save_pictures,
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return save_models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return save_pictures(tmp_path_factory.mktemp("pictures"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def own_calls(folder, pictures, texts):
    """Return what the library itself gives for a batch of pictures and a batch of texts."""
    import torch
    import transformers
    from transformers.image_utils import load_image

    architecture = json.loads((folder / "config.json").read_text())["architectures"][0]
    network = getattr(transformers, architecture).from_pretrained(folder).eval()
    images = transformers.AutoImageProcessor.from_pretrained(folder)(
        images=[load_image(path) for path in pictures], return_tensors="pt"
    )
    padding = "max_length" if "Siglip" in architecture else True
    tokens = transformers.AutoTokenizer.from_pretrained(folder)(
        texts, padding=padding, truncation=True, max_length=LENGTH, return_tensors="pt"
    )
    tokens.pop("token_type_ids", None)
    with torch.inference_mode():
        if architecture.startswith("Blip"):
            return network, images, tokens
        sides = network.get_image_features(**images), network.get_text_features(**tokens)
        return [side.pooler_output.numpy() for side in sides]


@pytest.mark.parametrize("name", [name for name in MODELS if name != "blip"])
def test_vectors_are_those_of_the_library(folders, pictures, name):
    model = karat.load_model(f"hf:{folders / name}", batch=2)
    images, texts = own_calls(folders / name, pictures, TEXTS)
    rows, cut = model.read_texts(TEXTS)
    np.testing.assert_allclose(unit(model.encode_images(pictures)), unit(images), rtol=0, atol=1e-6)
    np.testing.assert_allclose(unit(rows), unit(texts), rtol=0, atol=1e-6)
    assert np.ptp(unit(images) @ unit(texts).T) > 0.1
    assert cut.tolist() == [False, name == "clip", False, False, True]


def test_blip_gives_the_scores_of_its_contrastive_head(folders, pictures):
    import torch

    model = karat.load_model(f"hf:{folders / 'blip'}")
    network, images, tokens = own_calls(folders / "blip", pictures, TEXTS)
    with torch.inference_mode():
        scores = network(**images, **tokens, use_itm_head=False).itm_score.numpy()
    rows = [model.encode_images(pictures), model.encode_texts(TEXTS)]
    np.testing.assert_allclose(unit(rows[0]) @ unit(rows[1]).T, scores, rtol=0, atol=1e-6)
    assert np.ptp(scores) > 0.01


def test_other_preparation_is_visible_in_the_fingerprint(folders, tmp_path):
    before = karat.load_model(f"hf:{folders / 'clip'}").made_with
    assert before.facts["image.resize"] == "shortest_edge 36"
    assert before.facts["text.lower_case"] is True
    assert before.facts["text.max_tokens"] == LENGTH
    shutil.copytree(folders / "clip", tmp_path / "clip")
    edit_json(tmp_path / "clip" / "preprocessor_config.json", resample=2, image_mean=[0.5, 0.5, 0.5])
    other = karat.load_model(
        f"hf:{tmp_path / 'clip'}", prompt="a photo of {}", precision="bfloat16"
    ).made_with
    changed = {name: (first, second) for name, first, second in before.differences(other)}
    assert changed.keys() == {"image.interpolation", "image.mean", "text.prompt", "precision"}
    assert changed["image.interpolation"] == ("bicubic", "bilinear")
    assert before.facts["weights.sha256"] == other.facts["weights.sha256"]


@pytest.mark.parametrize(
    ("name", "change", "fact"),
    [
        ("clip", {"do_center_crop": False}, "image.crop (height 32, width 32; none)"),
        ("siglip", {"do_normalize": False}, "image.mean (0.5, 0.5, 0.5; none)"),
    ],
)
def test_a_step_that_is_left_out_is_a_difference(folders, tmp_path, name, change, fact):
    shutil.copytree(folders / name, tmp_path / "without")
    edit_json(tmp_path / "without" / "preprocessor_config.json", **change)
    places = {"a": folders / name, "b": tmp_path / "without"}
    runs = {label: karat.load_model(f"hf:{place}").made_with for label, place in places.items()}
    (note,) = notes_on_making(runs)
    assert "have the same model (" in note
    assert fact in note


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "float16"},
        {"attn_implementation": "some/kernel"},
        {"return_dict": False},
        {"auto_map": {"AutoModel": "evil.Evil"}},
    ],
)
def test_a_configuration_chooses_no_precision_and_no_code(folders, tmp_path, change):
    shutil.copytree(folders / "clip", tmp_path / "clip")
    edit_json(tmp_path / "clip" / "config.json", **change)
    rows = [karat.load_model(f"hf:{folder / 'clip'}").encode_texts(TEXTS) for folder in (folders, tmp_path)]
    np.testing.assert_array_equal(*rows)


@pytest.fixture(scope="module")
def in_python(tmp_path_factory):
    """A model whose tokenizer is written in Python, as SigLIP's is: it keeps nothing of what it cuts off."""
    import torch
    from transformers import ByT5Tokenizer, SiglipConfig, SiglipModel
    from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

    folder = tmp_path_factory.mktemp("in_python")
    torch.manual_seed(0)
    text = {**TEXT, "vocab_size": 400}
    SiglipModel(SiglipConfig(text_config=text, vision_config=VISION)).save_pretrained(folder)
    SiglipImageProcessorPil(size=SQUARE).save_pretrained(folder)
    ByT5Tokenizer(model_max_length=LENGTH).save_pretrained(folder)
    (folder / "spiece.model").touch()
    return folder


def test_a_tokenizer_in_python(in_python, pictures):
    texts = ["a" * (LENGTH - 1), "a" * LENGTH, ""]
    model = karat.load_model(f"hf:{in_python}")
    _, expected = own_calls(in_python, pictures, texts)
    rows, cut = model.read_texts(texts)
    np.testing.assert_allclose(unit(rows), unit(expected), rtol=0, atol=1e-6)
    assert cut.tolist() == [False, True, False]
    assert model.made_with.facts["text.lower_case"] is False


def test_a_tokenizer_of_sentencepiece_names_what_to_install(in_python, tmp_path, monkeypatch):
    shutil.copytree(in_python, tmp_path / "siglip")
    edit_json(tmp_path / "siglip" / "tokenizer_config.json", tokenizer_class="SiglipTokenizer")
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "sentencepiece" else found(name)
    )
    with pytest.raises(
        KaratError, match=r"the package sentencepiece is not installed; pip install 'karat\[hf\]'"
    ):
        karat.load_model(f"hf:{tmp_path / 'siglip'}").encode_texts(["a"])


def test_a_configuration_that_says_less_is_that_of_the_architecture(folders, tmp_path):
    shutil.copytree(folders / "clip", tmp_path / "clip")
    text = json.loads((folders / "clip" / "config.json").read_text())["text_config"]
    # As in the first configurations of CLIP.
    edit_json(tmp_path / "clip" / "config.json", text_config=None, text_config_dict=text)
    rows = [karat.load_model(f"hf:{folder / 'clip'}").encode_texts(TEXTS) for folder in (folders, tmp_path)]
    np.testing.assert_array_equal(*rows)


def test_a_prompt_is_put_around_each_text(folders):
    plain = karat.load_model(f"hf:{folders / 'siglip'}")
    prompted = karat.load_model(f"hf:{folders / 'siglip'}", prompt="a photo of {}")
    np.testing.assert_array_equal(prompted.encode_texts(["a dog"]), plain.encode_texts(["a photo of a dog"]))
    with pytest.raises(InputError, match=r"the prompt 'a photo' has no \{\}"):
        karat.load_model(f"hf:{folders / 'siglip'}", prompt="a photo")


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_a_lower_precision_is_near(folders, pictures, precision):
    exact = karat.load_model(f"hf:{folders / 'clip'}").encode_images(pictures)
    rows = karat.load_model(f"hf:{folders / 'clip'}", precision=precision).encode_images(pictures)
    assert rows.dtype == np.float32
    assert ((unit(exact) * unit(rows)).sum(1) > 0.99).all()
    assert not np.array_equal(exact, rows)


def test_a_second_time_nothing_is_loaded(folders, pictures, monkeypatch, tmp_path):
    name = f"hf:{folders / 'siglip'}"
    first = karat.load_model(name)
    images, texts, facts = first.encode_images(pictures), first.read_texts(TEXTS), first.made_with
    monkeypatch.setattr(hf.HuggingFaceFiles, "load", None)
    monkeypatch.setattr(hf.HuggingFaceFiles, "facts", None)
    again = karat.load_model(name)
    # The same bytes elsewhere, under another name.
    moved = [shutil.copy(path, tmp_path / f"copy-{k}.png") for k, path in enumerate(pictures)]
    np.testing.assert_array_equal(again.encode_images([*moved, moved[0]]), images[[*range(5), 0]])
    np.testing.assert_array_equal(again.read_texts(TEXTS).rows, texts.rows)
    np.testing.assert_array_equal(again.read_texts(TEXTS).cut, texts.cut)
    assert again.made_with == facts
    shutil.copy(pictures[1], moved[0])
    np.testing.assert_array_equal(again.encode_images(moved[:1]), images[1:2])


def test_memory_that_does_not_suffice_halves_the_batch(folders, pictures):
    import torch

    def model(limit, error=None):
        files = hf.HuggingFaceFiles(folders / "clip")
        made = torch_model.TorchModel(files.load, device="cpu", batch=4)
        embed, sizes = made.parts.embed_images, []

        def bounded(inputs):
            sizes.append(len(inputs["pixel_values"]))
            if sizes[-1] > limit:
                raise error or torch.OutOfMemoryError("CUDA out of memory")
            return embed(inputs)

        made.parts = replace(made.parts, embed_images=bounded)
        return made, sizes

    whole, _ = model(99)
    small, sizes = model(1)
    np.testing.assert_allclose(
        small.encode_images(pictures), whole.encode_images(pictures), rtol=0, atol=1e-5
    )
    # Halved twice in the first batch; the second has one picture at a time.
    assert sizes == [4, 2, 1, 1, 2, 1, 1, 1]
    assert small.batch == 1
    with pytest.raises(InputError, match="the memory of cpu does not suffice for one item"):
        model(0)[0].encode_images(pictures)
    with pytest.raises(RuntimeError, match="something else"):
        model(0, RuntimeError("something else"))[0].encode_images(pictures)


def broken(folder, kind):
    """Damage the folder of a model in one way."""
    if kind == "no weights":
        (folder / "model.safetensors").unlink()
    elif kind == "pickle":
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    elif kind == "no config":
        (folder / "config.json").unlink()
    elif kind == "architecture":
        edit_json(folder / "config.json", architectures=["LlamaForCausalLM"])
    elif kind == "no tokenizer":
        (folder / "tokenizer.json").unlink()
    elif kind == "damaged":
        (folder / "model.safetensors").write_bytes(b"no tensors")
    elif kind == "damaged config":
        (folder / "config.json").write_text("{")
    else:
        shutil.copy(folder.parent / "other" / "model.safetensors", folder)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("no weights", "has no weights; give the folder with model.safetensors"),
        ("pickle", "has its weights only as pytorch_model.bin, a pickle, which can run code"),
        ("no config", "there is no config.json"),
        (
            "architecture",
            "has the architecture LlamaForCausalLM, which is not a dual encoder that karat knows",
        ),
        # The library would make an empty tokenizer, and every word would be unknown.
        ("no tokenizer", "has no vocabulary of a tokenizer; copy the model's own tokenizer.json"),
        ("damaged", "model.safetensors: has no tensors that can be read"),
        ("damaged config", "is not a configuration of a model"),
        ("other weights", r"they lack logit_scale, \S+ and \d+ more; they have another shape of vision\S+; "),
    ],
)
def test_what_is_wrong_with_a_folder_is_one_sentence(folders, tmp_path, kind, message):
    shutil.copytree(folders / "clip", tmp_path / "clip")
    shutil.copytree(folders / "blip", tmp_path / "other")
    broken(tmp_path / "clip", kind)
    with pytest.raises(KaratError, match=message) as caught:
        karat.load_model(f"hf:{tmp_path / 'clip'}").encode_texts(["a"])
    assert "\n" not in str(caught.value)


def test_weights_of_another_size_are_named(folders, tmp_path):
    shutil.copytree(folders / "siglip", tmp_path / "siglip")
    path = tmp_path / "siglip" / "config.json"
    text = json.loads(path.read_text())["text_config"] | {"intermediate_size": 64}
    edit_json(path, text_config=text)
    with pytest.raises(InputError, match=r"another shape of text_model\.encoder\.layers\.0\.mlp\.fc1"):
        karat.load_model(f"hf:{tmp_path / 'siglip'}").encode_texts(["a"])


def test_a_tokenizer_of_another_model_is_named(folders, tmp_path):
    shutil.copytree(folders / "siglip", tmp_path / "siglip")
    path = tmp_path / "siglip" / "tokenizer.json"
    content = json.loads(path.read_text())
    content["model"]["vocab"]["dog"] = 104
    path.write_text(json.dumps(content))
    model = karat.load_model(f"hf:{tmp_path / 'siglip'}")
    with pytest.raises(InputError, match="of another model: it gives token 104, and the network knows 64; "):
        model.encode_texts(["a dog"])


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("clip", {"crop_size": {"height": 48, "width": 48}}, "prepared with 48 x 48 pixels, and the network"),
        ("siglip", {"size": {"height": 48, "width": 48}}, "prepared with 48 x 48 pixels, and the network"),
        (
            "siglip",
            {"do_resize": False},
            r"different sizes \(3 x 40 x 64 and 3 x 49 x 64\); switch on resizing",
        ),
    ],
)
def test_pictures_of_another_size_are_one_sentence(folders, pictures, tmp_path, name, changes, message):
    shutil.copytree(folders / name, tmp_path / name)
    edit_json(tmp_path / name / "preprocessor_config.json", **changes)
    with pytest.raises(InputError, match=message) as caught:
        karat.load_model(f"hf:{tmp_path / name}").encode_images(pictures)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("values", ["float32", "int32"])
def test_a_picture_without_a_known_white_is_refused(folders, tmp_path, values):
    image = pytest.importorskip("PIL.Image")
    path = tmp_path / "deep.tiff"
    image.fromarray(np.arange(900).reshape(30, 30).astype(values)).save(path)
    with pytest.raises(InputError, match=r"has (floating-point|32-bit) values; save it with 8 or 16 bits"):
        karat.load_model(f"hf:{folders / 'clip'}").encode_images([str(path)])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "gone.png: is empty; get the file again"),
        (None, "gone.png: there is no such picture"),
        (b"no picture", "gone.png: is not a readable picture"),
        ("half", r"gone.png: is damaged \(.*\); get the file again"),
    ],
)
def test_a_bad_picture_is_named(folders, pictures, tmp_path, content, message):
    path = tmp_path / "gone.png"
    if content is not None:
        with open(pictures[0], "rb") as file:
            path.write_bytes(file.read()[:2000] if content == "half" else content)
    with pytest.raises(KaratError, match=message) as caught:
        karat.load_model(f"hf:{folders / 'clip'}").encode_images([*pictures, str(path)])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"precision": "int8"}, "precision"),
        ({"device": "tpu"}, "device"),
        ({"weights": "w.safetensors"}, "takes no weights"),
        ({"batch": 0}, "the batch is 0"),
    ],
)
def test_wrong_settings_are_refused(folders, settings, message):
    with pytest.raises(InputError, match=message):
        karat.load_model(f"hf:{folders / 'clip'}", **settings)
    with pytest.raises(InputError, match="takes no device"):
        karat.load_model(len, device="cpu")
