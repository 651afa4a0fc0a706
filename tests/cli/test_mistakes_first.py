"""A mistake that shows without scores, pictures, captions or answers is refused before they are read."""

import shlex
import shutil

import numpy as np
import pytest

import karat
from karat.baselines import ImageTextModel, fuse
from karat.captions import CAPTION_METRICS
from karat.errors import InputError, KaratError
from karat.explanations import ConceptComparison, summarise_marks
from karat.judging import AcceptanceRule
from karat.runs import convert, normalise

EVALUATE = "karat evaluate a.npy -b my"
COMPARE = "karat compare a.npy b.npy -b my"
REPORT = "karat report a.npy -b my"
CURVE = "karat captions curve a.npy -b my --by bow"
AGREE = "karat agree expert.csv"
EXPLAIN = "karat explain a.npy -b my"
FILTER = "karat captions filter my --ratings ratings.csv"
FIT = "karat fit my-photos -o new"
TRAIN = "karat train my-photos -o new"
FUSE = "karat fuse a.npy b.npy -b my -o new.json"
NORMALISE = "karat normalise a.npy -b my -o new.npy"
ROBUSTNESS = "karat robustness a.npy b.npy -b my --queries queries.tsv"
POOL = "karat project pool a.npy b.npy -b my --dry-run"
BIAS = "karat project bias partly.db --run a.npy"
ESTIMATE = "karat estimate a.npy -b my --noisy original --vetted complete"
PROJECT = "karat project estimate partly.db --run a.npy"
PLAN = "karat plan a.npy b.npy -b my --rho 0.5 --prevalence 0.3"
SIMULATE = "karat simulate a.npy -b my --noisy original --vetted complete"
NEXT = "karat project next partly.db --run a.npy --dry-run"
CASES = {
    EVALUATE: {
        "-m nope": "unknown measure 'nope'",
        "-m R@0": "k of R is 0",
        "-m 'NCS(nope)@5'": "unknown similarity 'nope'",
        "-m R@1 RP": "RP: there is no such file; values of one option are separated by commas, such as -m",
        "--truth original complete": "complete: there is no such file; values of one option are separated",
        "none.npy": "none.npy: there is no such file.",
        "-m R@1 none.npy": "none.npy: there is no such file.",
        "--truth nope": "no truth 'nope'",
        "--direction sideways": "unknown direction 'sideways'",
        "--ties nope": "ties is 'nope'",
        "--unjudged nope": "unjudged is 'nope'",
        "--like nope": "like is 'nope'",
        "--text-only length": "leave out text_only",
        "--interval-method nope": "method of the intervals is 'nope'",
        "--level 2": "level is 2",
        "--label-uncertainty": "'original' have no probabilities",
        "--similarity nope": "similarity is 'nope'",
        "b.npy --name x,x": "two runs are called 'x'",
        "b.npy --name x": "2 runs but 1 name",
        "--name x,y": "1 run but 2 names",
        "--set nope=3": "no option 'nope'",
        "-o new.xyz": "'.xyz'",
        "-o none/new.csv": "there is no folder none",
        "--json none/new.json": "there is no folder none",
        "--per-query new.xyz": "'.xyz'",
    },
    "KARAT_MEMORY=lots karat evaluate a.npy -b my": {"": "KARAT_MEMORY is 'lots'"},
    "KARAT_CHECKPOINT=a.npy karat evaluate a.npy -b my": {"": "a.npy: is a file"},
    "KARAT_DEVICE=abacus karat evaluate a.npy -b my": {"": "KARAT_DEVICE is 'abacus'"},
    "karat evaluate a.npy -b qrels.txt --direction t2i": {
        "": "no query of truth qrels has the direction d2q; choose q2d."
    },
    "karat compare a.npy b.npy -b qrels.txt --direction t2i": {"": "has the direction d2q"},
    COMPARE: {
        "--test nope": "unknown test 'nope'",
        "--alpha 2": "alpha is 2",
        "--correction nope": "correction is 'nope'",
        "--margin -1": "margin is -1",
        "--power 2": "power is 2",
        "--level 2": "level is 2",
        "-o new.xyz": "'.xyz'",
    },
    "karat compare a.npy -b my": {"": "there is only the run 'a' to compare"},
    REPORT: {
        "-o new.xyz": "'.xyz'",
        "-m nope": "unknown measure 'nope'",
        "--image-folder none": "none: there is no such folder",
    },
    CURVE: {"--m x": "--m is 'x'", "--truth nope": "no truth 'nope'", "--ties nope": "ties is 'nope'"},
    "karat board correlate board.csv": {
        "--coefficient nope": "'nope'",
        "--level 2": "level is 2",
        "-o new.xyz": "'.xyz'",
    },
    AGREE: {
        "--resample nope": "resample is 'nope'",
        "--first-from x": "--first-from is 'x'",
    },
    "karat captions agree expert.csv": {
        "--score nope": "nope",
        "--score bow,nope -b my": "nope",
        "--score bow -b my --resample nope": "resample is 'nope'",
        "--score a.npy -b my --similarity nope": "similarity is 'nope'",
        "--score bow -b my --score-from x": "--score-from is 'x'",
    },
    "karat convert a.npy new.npz": {
        "--kind nope": "kind is 'nope'",
        "--kind embeddings": "scores cannot be converted to embeddings",
        "--direction sideways": "unknown direction 'sideways'",
        "--top 3": "takes no lists",
        "--similarity nope": "similarity is 'nope'",
        "--ids none.json": "none.json",
    },
    "karat convert a.npy new.json": {"": "give --top K", "--kind scores": "takes no scores"},
    "karat encode model -b my-photos": {
        "-o new.xyz": "'.xyz'",
        "-o new.json": "ranked lists",
        "-o none/new.npz": "there is no folder none",
    },
    EXPLAIN: {
        "--truth nope": "no truth 'nope'",
        "--rank 0": "0",
        "--better nope": "no truth 'nope'",
        "--concepts none.json": "none.json: there is no such file",
        "--synset-map none.json": "none.json: there is no such file",
        "--without nope": "'nope'",
        "--similarity nope": "similarity is 'nope'",
        "-o new.html --image-folder none": "none: there is no such folder",
        "--local new.xyz": "'.xyz'",
    },
    FILTER: {"-m nope": "'nope'", "--from x": "--from is 'x'", "--level 2": "level is 2"},
    FIT: {
        "--text nope": "unknown text kernel 'nope'",
        "--image nope": "image is 'nope'",
        "--image-power 0": "power is 0",
        "--kappa -1": "kappa is -1",
    },
    "karat fit my-photos -o a.npy": {"": "a.npy: is a file"},
    TRAIN: {
        "--loss nope": "'nope'",
        "--loss triplet --loss-set tau=1": "the loss triplet has no option 'tau'",
        "--loss-set tau=0": "tau is 0",
        "--loss-set tau=x": "tau is 'x'",
        "--metric nope": "unknown caption metric 'nope'",
        "--text-side nope": "'nope'",
        "--text-side transformer --dimensions 10": "dimensions is 10",
        "--features none.npy": "none.npy: there is no such file",
        "--features txt.npy": "the file has 32 rows",
        "--features img.npy --dev my-photos": "features were given without dev_features",
        "--features img.npy --image-input pixels": "features were given, and pixels",
        "--lr 0": "lr is 0",
        "--dev-measure nope": "'nope'",
        "--device abacus": "'abacus'",
    },
    FUSE: {
        "--method nope": "'nope'",
        "--method-set k=3": "no parameter 'k'",
        "--method rrf --method-set k=-1": "k is '-1'",
        "--weight 1,-1": "the weights are [1.0, -1.0]",
        "--direction sideways": "unknown direction 'sideways'",
        "--similarity nope": "similarity is 'nope'",
    },
    "karat fuse a.npy -b my -o new.json": {"": "there is only the run 'a' to fuse"},
    "karat inspect a.npy -b my": {
        "--similarity nope": "similarity is 'nope'",
        "--against my": "pass --duplicates",
        "--duplicates --against nope": "unknown benchmark 'nope'",
        "--duplicates --against-set nope=3": "against_setting was given without against",
        "--duplicates --against my --against-set nope=3": "no option 'nope'",
        "--duplicates --near picture=2": "near_picture is 2",
    },
    NORMALISE: {
        "--how nope": "'nope'",
        "--how csls --how-set k=0": "k is '0'",
        "--how csls --how-set z=1": "no parameter 'z'",
        "--how csls --top 3": "takes no lists",
        "--how csls --direction sideways": "unknown direction 'sideways'",
        "--how csls --bank none.npy": "none.npy: there is no such file",
        "--how querybank": "ranked lists have no scores",
        "--how csls --similarity nope": "similarity is 'nope'",
    },
    "karat normalise a.npy -b my --how querybank --top 3 -o new.json": {"": "needs a bank of queries"},
    ROBUSTNESS: {
        "-m nope": "unknown measure 'nope'",
        "--per nope": "'nope'",
        "--name x,y": "1 run but 2 names",
        "--level 2": "level is 2",
        "--similarity nope": "similarity is 'nope'",
    },
    "karat project rules partly.db": {
        "--level 2": "level is 2",
        "--aggregate nope": "'nope'",
        "--share 2": "share is 2",
        "--min-support 0": "'--min-support'",
    },
    "karat perturb my": {"--kind nope": "'nope'", "--kind colour --words nope": "'nope'"},
    "karat captions table my -o new.npy": {"-m nope": "'nope'"},
    POOL: {
        "--form nope": "'nope'",
        "--direction sideways": "unknown direction 'sideways'",
        "--queries nope": "no truth 'nope'",
        "--judged nope": "no truth 'nope'",
        "--gold-truth nope": "no truth 'nope'",
        "--judged complete": "the truth 'complete' judges every pair",
        "--sample x": "'x'",
        "--sample 0": "--sample is 0",
        "--filter nope": "nope",
        "--similarity nope": "similarity is 'nope'",
    },
    BIAS: {
        "-m nope": "unknown measure 'nope'",
        "--direction sideways": "unknown direction 'sideways'",
        "--original nope": "no truth 'nope'",
        "--complete nope": "no truth 'nope'",
        "--aggregate nope": "'nope'",
        "--level 2": "level is 2",
    },
    "karat project quality partly.db": {
        "--aggregate nope": "'nope'",
        "--aggregate-set nope=1": "the aggregation dawid-skene has no setting 'nope'",
        "--aggregate majority --aggregate-set threshold=7": "threshold is '7'",
        "--approve x": "--approve is 'x'",
    },
    "karat project publish partly.db -o new": {
        "--aggregate-set nope=1": "the aggregation dawid-skene has no setting 'nope'",
        "--original nope": "no truth 'nope'",
        "--keep-original nope": "policy is 'nope'",
        "--merge nope": "no truth 'nope'",
        "--policy nope": "policy is 'nope'",
        "--truth-name 'a b'": "'a b' cannot be the name of a truth",
        "--truth-name original": "the benchmark already has a truth 'original'",
    },
    "karat project export partly.db --what answers": {
        "-o new.xyz": "'.xyz'",
        "-o new.json --format nope": "'nope'",
        "-o none/new.json --format label-studio": "there is no folder none",
    },
    "karat project export partly.db --what approvals": {
        "-o new.csv --format label-studio": "format is 'label-studio'; leave it out: approvals are",
        "-o new.json": "approvals are written as csv",
    },
    "karat benchmarks show my --save my": {"": "my: is the folder that the benchmark is read from"},
    "karat benchmarks add my --save ./my": {"": "my: is the folder that the benchmark is read from"},
    ESTIMATE: {
        "--noisy nope": "no truth 'nope'",
        "--vetted nope": "no truth 'nope'",
        "-m nope": "unknown measure 'nope'",
        "-m MedR": "is not a mean of shares",
        "--estimator nope": "unknown estimator 'nope'",
        "--target nope": "target is 'nope'",
        "--direction sideways": "unknown direction 'sideways'",
        "--unlisted x": "unlisted is 'x'",
        "--depth 0": "'--depth'",
        "--ties nope": "ties is 'nope'",
        "--feature f=none.npy": "none.npy: feature f: there is no such file",
        "--draws 0": "'--draws'",
        "--sample -1": "'--sample'",
        "--similarity nope": "similarity is 'nope'",
        "--name x,y": "1 run but 2 names",
        "-o new.xyz": "'.xyz'",
    },
    PROJECT: {
        "-m nope": "unknown measure 'nope'",
        "-m P@10,R@1": "pairs are drawn for one measure",
        "--noisy nope": "no truth 'nope'",
        "--estimator nope": "unknown estimator 'nope'",
        "--target nope": "target is 'nope'",
        "--direction sideways": "unknown direction 'sideways'",
        "--direction i2t,t2i": "pairs are drawn for one direction",
        "--depth 0": "'--depth'",
        "--ties nope": "ties is 'nope'",
        "--level 2": "level is 2",
        "--interval-method nope": "method of the intervals is 'nope'",
        "--rule nope": "'nope'",
        "--rule winner": "there is one run",
        "--similarity nope": "similarity is 'nope'",
    },
    PLAN: {
        "-m nope": "unknown measure 'nope'",
        "--within 0": "within is 0",
        "--difference -1": "difference is -1",
        "--rho 2": "rho is 2",
        "--prevalence 2": "prevalence is 2",
        "--noisy nope": "no truth 'nope'",
        "--direction sideways": "unknown direction 'sideways'",
        "--direction i2t,t2i": "pairs are drawn for one direction",
        "-m P@10,R@1": "a plan is for one measure",
        "--level 2": "level is 2",
        "--power 2": "power is 2",
        "--depth 0": "'--depth'",
        "--ties nope": "ties is 'nope'",
        "--overlap 0": "'--overlap'",
        "--similarity nope": "similarity is 'nope'",
        "--name x": "2 runs but 1 name",
    },
    "karat plan a.npy -b my": {"--pilot nope": "no truth 'nope'"},
    "karat plan a.npy -b my --rho 0.5 --prevalence 0.3": {"--difference 1": "there is one run"},
    SIMULATE: {
        "--noisy nope": "no truth 'nope'",
        "--vetted nope": "no truth 'nope'",
        "-m nope": "unknown measure 'nope'",
        "--method nope": "'nope'",
        "--method random+nope": "unknown estimator 'nope'",
        "--times 0": "'--times'",
        "--budget x": "--budget is 'x'",
        "--batch x": "--batch is 'x'",
        "--direction sideways": "unknown direction 'sideways'",
        "--unlisted x": "unlisted is 'x'",
        "--depth 0": "'--depth'",
        "--ties nope": "ties is 'nope'",
        "--feature f=none.npy": "none.npy: feature f: there is no such file",
        "--draws 0": "'--draws'",
        "--similarity nope": "similarity is 'nope'",
    },
    NEXT: {
        "--budget 0": "--budget is '0'",
        "-m nope": "unknown measure 'nope'",
        "--design nope": "'nope'",
        "--estimator nope": "unknown estimator 'nope'",
        "--noisy nope": "no truth 'nope'",
        "--direction sideways": "unknown direction 'sideways'",
        "--direction i2t,t2i": "pairs are drawn for one direction",
        "--depth 0": "'--depth'",
        "--ties nope": "ties is 'nope'",
        "--task-size 0": "'--task-size'",
        "--gold -1": "'--gold'",
        "--overlap 0": "'--overlap'",
        "--similarity nope": "similarity is 'nope'",
    },
    "karat project calibrate partly.db": {
        "": "no single machine judge is given",
        "--run a.npy --sample 0": "--sample",
        "--url http://x --model y --threshold 1": "--threshold without --run",
        "--run a.npy --similarity nope": "similarity is 'nope'",
        "--run a.npy --threshold 1": "the machine judge 'a' has the thresholds 1",
        "--run a.npy,b.npy": "--run gives 2 runs",
        "--url x --model y": "the machine judge's address is 'x'",
        "--url http://x --model y --prompt nope": "there is no such prompt",
        "--judge nope": "unknown kind of machine judge 'nope'",
        "--judge chat --judge-set nope=1": "has no parameter 'nope'",
        "--run a.npy --judge-set url=x": "--judge-set without --judge",
    },
    "karat project judge calibrated.db --run a.npy": {"--min-kappa 2": "--min-kappa"},
}
LINES = [
    pytest.param(f"{line} {more}".strip(), said, id=f"{line.partition('karat ')[2]} {more}".strip())
    for line, mistakes in CASES.items()
    for more, said in mistakes.items()
]


@pytest.fixture
def unread(made, monkeypatch, tmp_path):
    """The made world, where reading scores, pictures, captions or answers fails; yields what was read."""
    monkeypatch.chdir(made)
    monkeypatch.setenv("KARAT_CONFIG", str(tmp_path))
    done = []

    def reading(what):
        def read(*arguments, **options):
            done.append(what)
            raise AssertionError(f"{what} was read")

        return read

    monkeypatch.setattr("karat.runs.files.read", reading("scores"))
    monkeypatch.setattr("PIL.Image.open", reading("a picture"))
    monkeypatch.setattr("cv2.imdecode", reading("a picture"))
    monkeypatch.setattr("karat.store.answers.StoredAnswers.read", reading("answers"))
    for kind in {type(metric) for metric in map(CAPTION_METRICS.__getitem__, CAPTION_METRICS)}:
        monkeypatch.setattr(kind, "prepare", reading("captions"))
    for method in ("fit", "load"):
        monkeypatch.setattr(ImageTextModel, method, reading("a model"))
    yield done
    assert not done


def names_in(folder):
    """Return what is in a folder; not the logs of SQLite."""
    return {path.name for path in folder.iterdir() if not path.name.endswith(("-wal", "-shm"))}


@pytest.mark.parametrize(("line", "said"), LINES)
@pytest.mark.usefixtures("unread")
def test_a_mistake_is_found_before_anything_is_read(line, said, command, made, monkeypatch):
    before = names_in(made)
    words = shlex.split(line)
    while "=" in words[0]:
        monkeypatch.setenv(*words.pop(0).split("=", 1))
    message = command(*words[1:], code=2)
    assert said in message.splitlines()[-1]
    assert names_in(made) == before


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: karat.Loading(similarity="nope"), "similarity is 'nope'"),
        (lambda: karat.Loading(ids="none.json"), "none.json"),
        (lambda: karat.Loading(name=["x", "x"]), "two runs are called 'x'"),
        (lambda: karat.Compute(memory="lots"), "'lots' is not an amount of memory"),
        (lambda: karat.Compute(threads=0), "0 threads"),
        (lambda: karat.Compute(checkpoint="a.npy"), "a.npy: is a file"),
        (lambda: karat.evaluate("a.npy", "my", level=2), "level is 2"),
        (lambda: karat.evaluate("a.npy", "my", label_versions=0), "label_versions is 0"),
        (lambda: karat.evaluate("a.npy", "my", compute=karat.Compute(device="abacus")), "'abacus'"),
        (lambda: karat.evaluate("a.npy", "trec", direction="t2i", setting={"qrels": "qrels.txt"}), "d2q"),
        (lambda: karat.compare(["a.npy"], "my"), "there is only the run 'a'"),
        (lambda: karat.evaluate(["a.npy", "b.npy"], "my", loading=karat.Loading("x")), "2 runs but 1 name"),
        (lambda: karat.evaluate([("a.npy", "b.npy", "a.npy")], "my"), "3 sources do not make a run"),
        (lambda: karat.load_run("a.npy", "b.npy", "a.npy"), "3 sources do not make a run"),
        (lambda: summarise_marks("none.csv", share=2), "share is 2"),
        (lambda: ConceptComparison(synset_map="none.json"), "none.json: there is no such file"),
        (lambda: AcceptanceRule(aggregate_set={"nope": 1}), "dawid-skene has no setting 'nope'"),
        (lambda: AcceptanceRule("majority", {"threshold": 7}), "threshold is 7"),
        (lambda: karat.load_run("a.npy", similarity="nope"), "similarity is 'nope'"),
        (lambda: karat.fit("my-photos", kappa=-1), "kappa is -1"),
        (lambda: convert("a.npy", target="new.json"), "give --top K"),
        (lambda: convert("a.npy", target="new.npz", memory="lots"), "'lots'"),
        (lambda: fuse(["a.npy", "b.npy"], "my", weight=[1, -1]), "the weights are"),
        (lambda: normalise("a.npy", how="csls", k=0), "k is 0"),
    ],
)
@pytest.mark.usefixtures("unread")
def test_the_library_finds_it_as_early(call, said):
    with pytest.raises(KaratError) as raised:
        call()
    assert said in str(raised.value)


def test_another_training_is_refused_before_pictures_are_read(made, tmp_path, command, monkeypatch):
    train = pytest.importorskip("karat.training")
    monkeypatch.chdir(made)
    folder = tmp_path / "model"

    def stop(record):
        raise KeyboardInterrupt

    options = train.TrainingOptions(epochs=2)
    with pytest.raises(KeyboardInterrupt):
        train.train("my-photos", image_input="pixels", loss="infonce", options=options, output=folder,
                    compute=karat.Compute(device="cpu"), each_epoch=stop)  # fmt: skip

    def read(*arguments, **options):
        raise AssertionError("a picture was read")

    monkeypatch.setattr("cv2.imdecode", read)
    same = ("train", "my-photos", "-o", folder, "--image-input", "pixels")
    same = (*same, "--loss", "infonce", "--device", "cpu")
    for more, said in {
        ("--epochs", 3): "epochs 2, not 3",
        ("--epochs", 2, "--lr", 0.1): "lr 0.001, not 0.1",
        ("--epochs", 2, "--dimensions", 8): "dimensions 512, not 8",
        ("--epochs", 2, "--loss", "triplet"): "loss infonce, not triplet",
        ("--epochs", 2, "--loss-set", "temperature=0.5"): "temperature None, not 0.5",
    }.items():
        message = command(*same, *more, code=2)
        assert "checkpoint.safetensors: belongs to a training with" in message
        assert said in message
    shutil.copytree(made / "my-photos", tmp_path / "others")
    table = tmp_path / "others" / "captions.csv"
    table.write_text(table.read_text().replace(" a ", " one "))
    message = command("train", tmp_path / "others", *same[2:], "--epochs", 2, code=2)
    assert "belongs to a training with other captions" in message


def test_features_of_a_file_are_checked_by_its_head(made, tmp_path):
    train = pytest.importorskip("karat.training")
    np.save(tmp_path / "few.npy", np.ones((3, 4)))
    with pytest.raises(InputError, match="the file has 3 rows"):
        train.train(made / "my-photos", features=tmp_path / "few.npy")
