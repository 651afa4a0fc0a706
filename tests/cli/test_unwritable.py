"""Outputs that cannot be written: one sentence, the old output as it was, and nothing left beside it.

Every command of the registry that writes something is run against a full disk and a read-only folder.
"""

import contextlib
import ctypes
import os
import resource
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from karat.baselines import ImageTextModel
from karat.cli.main import every_command
from karat.judging.exchange import FORMATS
from karat.runs.formats import FOLDER, WRITERS
from karat.scores import Scorecard

FILES = Path(__file__).parents[1] / "net" / "files"
SCORES = "karat evaluate a.npy b.npy -b my -m R@1 --truth original --direction t2i"
READ_ONLY = {
    "serve": "runs until it is stopped; tests/web fills its disk",
    "settings": "prints only",
}
"""Commands that write no file, and why they have no case."""


def wanted(name):
    """Return the options that make a format hold what it can."""
    return "" if "scores" in WRITERS[name].holds else "--top 3 --direction i2t"


OLD = b'{"yours": {"source": "saved", "options": {"folder": "my"}}}'
"""What a file holds before: also the user's list of benchmarks."""
ESTIMATE = "karat estimate a.npy -b my --noisy original --vetted complete -m P@3"
SIMULATE = f"{ESTIMATE.replace('estimate', 'simulate')} --times 1 --batch 50% --method random+naive"
PLAN = "karat plan a.npy -b my --noisy original -m P@3 --rho 0.5 --prevalence 0.3"
NEXT = "karat project next OUT/empty.db --run a.npy,b.npy -m P@3"
EXPLAIN = "karat explain a.npy -b my --truth original --direction t2i"
CURVE = "karat captions curve a.npy -b my --by hodosh-bleu --m 2 --at 5"
FILTER = "karat captions filter my --ratings ratings.csv --resamples 20"
AGREE = "karat captions agree ratings.csv --score bow -b my --resamples 20"
SCORE = "karat captions score --references refs.txt --candidate dog -m bow"
TRAIN = "karat train my-photos --image-input pixels --epochs 1 --dimensions 8 --device cpu"
DETECTIONS = "detections.json -b instances.json --draws 2"
ROBUSTNESS = "karat robustness a.npy b.npy -b my --queries queries.tsv -m R@1 --resamples 20"
CASES = {
    "evaluate --json": f"{SCORES} --json OUT/scores.json",
    "evaluate --output": [f"{SCORES} -o OUT/table{kind}" for kind in Scorecard.formats if kind != ".htm"],
    "evaluate --per-query": [f"{SCORES} --per-query OUT/values.{kind}" for kind in ("csv", "parquet")],
    "compare --json": f"{SCORES.replace('evaluate', 'compare')} --resamples 100 --json OUT/tests.json",
    "compare --output": f"{SCORES.replace('evaluate', 'compare')} --resamples 100 -o OUT/tests.tex",
    "report --output": "karat report a.npy -b my -m R@1 --resamples 20 -o OUT/report.html",
    "convert": [
        *(f"karat convert a.npy OUT/run{name} -b my {wanted(name)}" for name in WRITERS if name != FOLDER),
        "karat convert img.npy txt.npy OUT/folder -b my",
        "karat convert img.npy txt.npy OUT/two.npy --kind embeddings -b my",
    ],
    "explain --json": f"{EXPLAIN} --json OUT/why.json",
    "explain --output": f"{EXPLAIN} -o OUT/why.html",
    "explain --local": f"{EXPLAIN} --local OUT/failures.csv",
    "explain --clean": f"{EXPLAIN} --clean OUT/cleaning.csv",
    "robustness --json": f"{ROBUSTNESS} --json OUT/robustness.json",
    "robustness --output": f"{ROBUSTNESS} -o OUT/robustness.csv",
    "project rules --json": "karat project rules partly.db --json OUT/rules.json",
    "project rules --output": "karat project rules partly.db -o OUT/rules.csv",
    "rules --json": "karat rules rules.csv --min-support 1 --json OUT/rules.json",
    "rules --output": "karat rules rules.csv --min-support 1 -o OUT/found.csv",
    "board report --output": "karat board report board.csv -o OUT/report.html",
    "captions curve --json": f"{CURVE} --json OUT/curve.json",
    "captions curve --output": f"{CURVE} -o OUT/curve.csv",
    "board correlate --json": "karat board correlate board.csv --json OUT/table.json",
    "board correlate --output": "karat board correlate board.csv -o OUT/table.md",
    "agree --json": "karat agree expert.csv --resamples 20 --json OUT/agree.json",
    "captions parse --json": "karat captions parse 'a man on a horse' --json OUT/graph.json",
    "captions filter --json": f"{FILTER} --json OUT/filter.json",
    "captions agree --json": f"{AGREE} --json OUT/a.json",
    "captions score --json": f"{SCORE} --json OUT/s.json",
    "fit --output": "karat fit my-photos -o OUT/model",
    "train --output": f"{TRAIN} -o OUT/model",
    "encode --output": "karat encode model -b my-photos -o OUT/run.safetensors",
    "search --output": "karat search model 'a dog' --in my-photos -o OUT/found.html",
    "estimate --json": f"{ESTIMATE} --json OUT/e.json",
    "estimate --output": f"{ESTIMATE} -o OUT/e.csv",
    "fuse --output": "karat fuse a.npy b.npy -b my --top 3 -o OUT/fused.json",
    "inspect --json": "karat inspect a.npy -b my --json OUT/seen.json",
    "inspect --output": "karat inspect -b my --duplicates -o OUT/pairs.csv",
    "normalise --output": "karat normalise a.npy -b my --how csls -o OUT/normal.npy",
    "project pool --output": "karat project pool a.npy b.npy -b my --top 2 --gold-depth 5 --force"
    " -o OUT/new.db",
    "project tasks": "karat project tasks OUT/pooled.db --task-size 16 --gold 2",
    "project import": "karat project import OUT/packed.db results.csv",
    "project export --output": [
        f"karat project export packed.db --format {name} -o OUT/tasks.{name} --image-url https://h/{{id}}"
        for name in FORMATS
    ]
    + ["karat project export partly.db --what answers -o OUT/answers.csv"],
    "project quality": "karat project quality OUT/partly.db --approve-passed --reviewer ann --resamples 20",
    "project quality --export-review": "karat project quality partly.db --resamples 20"
    " --export-review OUT/review.csv",
    "project quality --json": "karat project quality partly.db --resamples 20 --json OUT/quality.json",
    "project publish --output": "karat project publish partly.db -o OUT/published --force",
    "project publish --json": "karat project publish partly.db -o NEW/published --json OUT/published.json",
    "project bias --json": "karat project bias partly.db -a majority --resamples 20 --json OUT/bias.json",
    "project backup --output": "karat project backup partly.db -o OUT/copy.db --force",
    "project locate": "karat project locate OUT/packed.db my",
    "project restore": "karat project restore partly.db OUT/packed.db --force",
    "world make --output": "karat world make --images 4 --captions 2 --systems -o OUT/world --force",
    "measures list --json": "karat measures list --json OUT/measures.json",
    "measures show --json": "karat measures show R@5 --json OUT/measure.json",
    "benchmarks list --json": "karat benchmarks list --json OUT/benchmarks.json",
    "benchmarks show --json": "karat benchmarks show my --json OUT/benchmark.json",
    "benchmarks show --ids": "karat benchmarks show my --ids OUT/order.json",
    "benchmarks show --save": "karat benchmarks show my --save OUT/saved",
    "benchmarks add": "karat benchmarks add my --name mine",
    "benchmarks add --ids": "karat benchmarks add my --name NAME --ids OUT/order.json",
    "benchmarks add --save": "karat benchmarks add my --name NAME --save OUT/saved",
    "benchmarks remove": "karat benchmarks remove yours",
    "captions table --output": "karat captions table my -m hodosh-bleu -o OUT/table.npy",
    "captions pairs --json": "karat captions pairs my pairs.csv -m hodosh-bleu --json OUT/pairs.json",
    "captions pairs --output": "karat captions pairs my pairs.csv -m hodosh-bleu -o OUT/pairs.csv",
    "captions corpus --output": "karat captions corpus my -o OUT/corpus.npz",
    "project calibrate": "karat project calibrate OUT/partly.db --run a.npy",
    "project calibrate --json": "karat project calibrate NEW/partly.db --run a.npy --json OUT/judge.json",
    "project judge": "karat project judge OUT/calibrated.db --run a.npy --min-pairs 1 --min-kappa -1",
    "project judges --json": "karat project judges calibrated.db --json OUT/judges.json",
    "project next": f"{NEXT} --direction t2i --budget 20",
    "project next --json": f"{NEXT.replace('OUT', 'NEW')} --direction t2i --budget 20 --json OUT/n.json",
    "perturb --json": "karat perturb my --kind full-stop --json OUT/queries.json",
    "perturb --output": "karat perturb my --kind full-stop -o OUT/queries.tsv",
    "plan --json": f"{PLAN} --json OUT/p.json",
    "plan --output": f"{PLAN} -o OUT/p.csv",
    "detections pool --output": "karat detections pool -b instances.json --set images=pictures"
    " -o OUT/masks.db",
    "project estimate --json": f"{NEXT.replace('next', 'estimate')} --json OUT/e.json",
    "project estimate --output": f"{NEXT.replace('next', 'estimate')} -o OUT/e.csv",
    "detections estimate --json": f"karat detections estimate {DETECTIONS} --json OUT/e.json",
    "detections estimate --output": f"karat detections estimate {DETECTIONS} -o OUT/e.csv",
    "detections simulate --json": f"karat detections simulate {DETECTIONS} --times 1 --json OUT/s.json",
    "detections simulate --output": f"karat detections simulate {DETECTIONS} --times 1 -o OUT/s.csv",
    "simulate --json": f"{SIMULATE} --json OUT/s.json",
    "simulate --output": f"{SIMULATE} -o OUT/s.csv",
}


def commands():
    """Yield every command of the registry with its words."""
    for words, command in every_command().items():
        yield " ".join(words), command


def outputs(command):
    """Return the options of a command that name a file or folder to write."""
    return [
        param.opts[0]
        for param in command.params
        if getattr(param, "rich_help_panel", None) == "Output"
        and (param.metavar == "FILE" or param.type_descriptor.annotation is Path)
        and param.opts[0] != "--image-folder"
    ]


def test_every_output_of_every_command_has_a_case():
    cases = {case.split(" --")[0] for case in CASES}
    assert cases | set(READ_ONLY) == {words for words, _ in commands()}
    assert not cases & set(READ_ONLY)
    for words, command in commands():
        for option in outputs(command):
            assert f"{words} {option}" in CASES


@pytest.fixture
def fitted(monkeypatch):
    """Replace what takes long by a model that is there already."""

    def fit(model, *data, **options):
        vars(model).update(vars(ImageTextModel.load(FILES / "model")))
        return model

    monkeypatch.setattr(ImageTextModel, "fit", fit)


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """A small disk of its own where one can be mounted; else a folder, and files that may not grow."""
    folder = tmp_path_factory.mktemp("disk")
    mounted = (
        shutil.which("mount")
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4m", "karat", folder], capture_output=True
        ).returncode
    )
    yield folder, bool(mounted)
    if mounted:
        subprocess.run(["umount", folder], check=True)


@contextlib.contextmanager
def full(folder, mounted):
    """Leave no room on the disk of a folder."""
    if not mounted:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        return
    filler = folder.parent / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(2**16)):
            pass
    try:
        yield
    finally:
        filler.unlink()


@contextlib.contextmanager
def read_only(folder, mounted):
    """Forbid changes of a folder and all in it, to root too."""
    places = [folder, *folder.rglob("*")]
    modes = [place.stat().st_mode for place in places]
    for place, mode in zip(places, modes):
        place.chmod(mode & 0o555)
    try:
        with without_privilege():
            if os.access(folder, os.W_OK, effective_ids=True):
                pytest.skip("this user may write everywhere")
            yield
    finally:
        for place, mode in zip(places, modes):
            place.chmod(mode)


@contextlib.contextmanager
def without_privilege():
    """Take root's right to write where nobody may write, for as long as the block runs."""
    if sys.platform != "linux" or os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    # Effective, permitted, inheritable: the lower 32 capabilities, then the upper.
    sets = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    kept = sets[0]
    sets[0] = kept & ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
    assert libc.capset(header, sets) == 0
    try:
        yield
    finally:
        sets[0] = kept
        assert libc.capset(header, sets) == 0


def content(folder):
    """Return every file below a folder with its bytes and mode, and every folder; not the logs of SQLite."""
    return {
        path.relative_to(folder): (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in sorted(folder.rglob("*"))
        if not path.name.endswith(("-wal", "-shm"))
    }


LINES = [
    pytest.param(line, id=f"{name}-{number}")
    for name, lines in CASES.items()
    for number, line in enumerate([lines] if isinstance(lines, str) else lines)
]


@pytest.mark.parametrize("trouble", [full, read_only])
@pytest.mark.parametrize("line", LINES)
def test_what_cannot_be_written_is_one_sentence(
    line, trouble, made, disk, fitted, tmp_path, both, monkeypatch
):
    place = disk[0] / "out"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    place.chmod(0o750)
    monkeypatch.chdir(made)
    if "OUT" not in line:
        monkeypatch.setenv("KARAT_CONFIG", str(place))
    words = [word.replace("OUT", str(place)).replace("NEW", str(tmp_path)) for word in shlex.split(line)[1:]]
    for target in [Path(word) for word in words if word.startswith(str(place))] or [
        place / "benchmarks.json"
    ]:
        if target.suffix:
            # What is there before: a project, a folder, or any file.
            source = made / target.name
            target.write_bytes(source.read_bytes() if source.exists() else OLD)
            target.chmod(0o640)
        elif (made / target.name).is_dir():
            shutil.copytree(made / target.name, target)
    for project in ("partly.db", "empty.db"):
        if f"NEW/{project}" in line:
            shutil.copy(made / project, tmp_path)
    before = content(place)
    with trouble(place, disk[1]):
        said = both(*words, code=2).err.splitlines()[-1]
    assert content(place) == before
    # Without a disk of its own, the files that a command reads may not grow either.
    assert str(place) in said or (trouble is full and not disk[1])
    assert said.count(". ") == 0
