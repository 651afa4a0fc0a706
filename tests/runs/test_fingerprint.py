"""What a run was made with: kept by every format, read back, merged; a broken record is one sentence."""

import json
import zipfile

import numpy as np
import pytest

import karat
from karat.errors import InputError
from karat.runs import WRITERS, Fingerprint, convert, load_runs, merge_fingerprints, notes_on_making
from karat.world import make_world

FACTS = Fingerprint({
    "weights.sha256": "9f" * 32, "image.resize": 224, "text.prompt": None, "text.lower_case": True,
    "logit.scale": 0.01, "text.separator": "\n☃",
})  # fmt: skip
WORLD = make_world(images=6, captions=2, seed=1)
SCORES = np.arange(72, dtype=np.float32).reshape(6, 12) % 17
TABLES = np.eye(6, 4, dtype=np.float32), np.ones((12, 4), np.float32)
LISTS = [name for name in WRITERS if "lists" in WRITERS[name].holds]


def written(folder, name, *sources, **options):
    """Convert to a format and read the run back."""
    target = folder / (f"run{name}" if name.startswith(".") else "run")
    files = convert(*sources, target=target, made_with=FACTS, **options)
    tables = [file for file in files if not file.name.endswith((".made_with.json", ".ids.json"))]
    return files, karat.load_run(*tables, benchmark=WORLD.benchmark())


@pytest.mark.parametrize("name", [name for name in WRITERS if "scores" in WRITERS[name].holds])
def test_formats_of_scores_keep_it(tmp_path, name):
    files, run = written(tmp_path, name, SCORES, benchmark=WORLD.benchmark())
    assert run.made_with == FACTS
    assert (tmp_path / "run.made_with.json" in files) is not WRITERS[name].keeps_made_with


@pytest.mark.parametrize(
    "name", [name for name in WRITERS if {"embeddings", "vectors"} & {*WRITERS[name].holds}]
)
def test_formats_of_embeddings_keep_it(tmp_path, name):
    _, run = written(tmp_path, name, *TABLES, benchmark=WORLD.benchmark(), kind="embeddings")
    assert run.made_with == FACTS


@pytest.mark.parametrize("name", LISTS)
def test_formats_of_lists_keep_it(tmp_path, name):
    _, run = written(tmp_path, name, SCORES, benchmark=WORLD.benchmark(), top=3, direction="i2t")
    assert run.made_with == FACTS


def test_converting_again_keeps_it_and_says_how_vectors_became_scores(tmp_path):
    convert(*TABLES, target=tmp_path / "vectors.safetensors", made_with=FACTS)
    convert(tmp_path / "vectors.safetensors", target=tmp_path / "vectors.npz")
    assert karat.load_run(tmp_path / "vectors.npz").made_with == FACTS
    convert(tmp_path / "vectors.npz", target=tmp_path / "scores.npy", similarity="cosine")
    scores = karat.load_run(tmp_path / "scores.npy").made_with
    assert scores == FACTS.with_facts({"scores.similarity": "cosine"})


def test_other_libraries_read_what_files_keep(tmp_path):
    from safetensors import safe_open

    for name in ("run.npz", "run.safetensors"):
        convert(SCORES, target=tmp_path / name, made_with=FACTS)
    assert json.loads(str(np.load(tmp_path / "run.npz")["made_with"])) == FACTS.facts
    with safe_open(tmp_path / "run.safetensors", framework="np") as file:
        assert json.loads(file.metadata()["made_with"]) == FACTS.facts
    np.savez(tmp_path / "theirs.npz", scores=SCORES, made_with='{"image.resize": 256}')
    assert karat.load_run(tmp_path / "theirs.npz").made_with == Fingerprint({"image.resize": 256})


def test_a_file_without_a_record_says_nothing_and_is_written_as_before(tmp_path):
    convert(SCORES, target=tmp_path / "run.npz")
    assert karat.load_run(tmp_path / "run.npz").made_with is None
    assert zipfile.ZipFile(tmp_path / "run.npz").namelist() == ["scores.npy"]


def test_a_record_that_lies_around_does_not_speak_for_a_new_run(tmp_path):
    convert(SCORES, target=tmp_path / "run.npy", made_with=FACTS)
    with pytest.raises(InputError, match=r"run\.made_with\.json: is next to the target"):
        convert(SCORES, target=tmp_path / "run.npy")


BROKEN = [
    "", "[1]", "{", '{"a": [1]}', '{"a": {"b": 1}}', '{"a": NaN}', '{"a": 1e999}', "[" * 100_000,
    json.dumps({"a": "x" * 2_000_000}),
]  # fmt: skip


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_record_is_one_sentence(tmp_path, text):
    np.save(tmp_path / "run.npy", SCORES)
    (tmp_path / "run.made_with.json").write_text(text)
    with pytest.raises(InputError, match=r"run\.made_with\.json: .*not a list of facts"):
        karat.load_run(tmp_path / "run.npy")
    np.savez(tmp_path / "run.npz", scores=SCORES, made_with=np.array([1, 2]))
    with pytest.raises(InputError, match=r"run\.npz, made_with: .*not a list of facts"):
        karat.load_run(tmp_path / "run.npz")


def test_two_files_of_one_run_are_merged(tmp_path):
    for side, table, precision in zip(("images", "captions"), TABLES, ("fp32", "fp16")):
        np.save(tmp_path / f"{side}.npy", table)
        facts = json.dumps({"model": "clip", "precision": precision})
        (tmp_path / f"{side}.made_with.json").write_text(facts)
    run = load_runs([tmp_path / "images.npy", tmp_path / "captions.npy"], WORLD.benchmark())[0]
    assert run.made_with.facts == {
        "model": "clip", "images.precision": "fp32", "captions.precision": "fp16",
    }  # fmt: skip
    # Of one side alone it is not known what the other was made with.
    (tmp_path / "captions.made_with.json").unlink()
    run = karat.load_run(tmp_path / "images.npy", tmp_path / "captions.npy")
    assert run.made_with.facts == {"images.model": "clip", "images.precision": "fp32"}
    assert merge_fingerprints({"images": None, "captions": None}) is None


def test_what_differs_by_nature_is_told_apart_from_what_makes_a_comparison_unfair():
    first = Fingerprint({"weights.sha256": "9f", "image.resize": 224, "versions.torch": "2.13"})
    model = first.with_facts({"weights.sha256": "3c"})
    resized = first.with_facts({"image.resize": 256})
    both = model.with_facts({"image.resize": 256})
    assert notes_on_making({"a": first, "b": first}) == []
    assert notes_on_making({"a": first, "b": model}) == [
        "a and b differ in the model (weights.sha256) and in none of the 2 other facts that they state"
    ]
    assert notes_on_making({"a": first, "b": resized}) == [
        "a and b have the same model (weights.sha256), but differ in image.resize (224, 256): a "
        "difference between their scores is not due to the model"
    ]
    assert notes_on_making({"a": first, "b": both}) == [
        "a and b differ in image.resize (224, 256), not only in the model (weights.sha256): a difference "
        "between their scores may come from any of these"
    ]
    assert notes_on_making({"a": first, "b": model, "c": resized}) == [
        "a, b and c differ in image.resize (224: a, b; 256: c), not only in the model (weights.sha256): "
        "a difference between their scores may come from any of these"
    ]


def test_models_differ_in_their_configuration_and_tokenizer_by_nature():
    first = Fingerprint(
        {"config.sha256": "1", "text.tokenizer.sha256": "2", "weights.sha256": "3", "x": 0, "y": 0}
    )
    other = first.with_facts({"config.sha256": "4", "text.tokenizer.sha256": "5", "weights.sha256": "6"})
    assert notes_on_making({"a": first, "b": other}) == [
        "a and b differ in the model (config.sha256, text.tokenizer.sha256, weights.sha256) and in none of "
        "the 2 other facts that they state"
    ]


def test_the_same_weights_under_another_name_are_the_same_model():
    first = Fingerprint({"model": "clip", "weights.sha256": "9f", "image.resize": 224})
    copy = first.with_facts({"model": "copy"})
    assert notes_on_making({"a": first, "b": copy}) == []
    assert notes_on_making({"a": first, "b": copy.with_facts({"image.resize": 256})}) == [
        "a and b have the same model (weights.sha256), but differ in image.resize (224, 256): a "
        "difference between their scores is not due to the model"
    ]


def test_a_name_alone_does_not_make_two_models_the_same():
    first = Fingerprint({"model": "ViT-B-32", "image.resize": 224})
    assert notes_on_making({"a": first, "b": first.with_facts({"image.resize": 256})}) == [
        "a and b differ in image.resize (224, 256): a difference between their scores may come from this"
    ]


def test_what_a_run_does_not_state_is_not_held_against_it():
    first = Fingerprint({"weights.sha256": "9f", "image.resize": 224})
    assert notes_on_making({"a": first, "b": Fingerprint({"weights.sha256": "9f"})}) == []
    assert notes_on_making({"a": first}) == []
    assert notes_on_making({}) == []


def test_truncated_captions_are_counted_and_named():
    made = Fingerprint({"captions.truncated": 37, "captions.truncated.first": "4, 9", "text.max_tokens": 77})
    other = made.with_facts({"captions.truncated": 1, "captions.truncated.first": "\x1b9"})
    cut = "37 captions are longer than the model reads and are cut after 77 tokens, first 4, 9"
    assert notes_on_making({"a": made, "b": other}) == [
        f"a: {cut}",
        "b: 1 caption is longer than the model reads and is cut after 77 tokens, first �9",
    ]
    fused = merge_fingerprints({"run1": made, "run2": other})
    assert notes_on_making({"fused": fused})[0].startswith("fused: 37 captions are longer than the model")
    assert notes_on_making({"a": Fingerprint({"captions.truncated": "many"})}) == []


def test_hostile_facts_stay_on_their_line():
    made = Fingerprint({"text.\x1b[31mprompt": "a\nb"})
    notes = notes_on_making({"a": made, "b": made.with_facts({"text.\x1b[31mprompt": "c" * 900})})
    assert [note.isprintable() for note in notes] == [True]
    assert len(notes[0]) < 200


def test_captions_that_were_cut_are_named_whole_and_lists_are_told_apart():
    first = ", ".join(f"00000{k}.png#3" for k in range(5))
    facts = {"captions.truncated": 9, "captions.truncated.first": first, "image.mean": "0.5, 0.5"}
    made = Fingerprint(facts)
    other = Fingerprint({"image.mean": "0.4, 0.3"})
    notes = notes_on_making({"a": made, "b": other})
    assert notes[0].endswith(f"first {first}")
    assert "image.mean (0.5, 0.5; 0.4, 0.3)" in notes[1]
