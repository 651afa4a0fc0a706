"""Plug-ins: packages that pip has installed add things by entry points, and never harm what karat has."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from house import ROOT

PACKAGE = ROOT / "tests" / "plugin_package"

FAULTY = {
    "pyproject.toml": """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "karat-faulty"
version = "1.0"

[project.entry-points."karat.measures"]
absent = "karat_faulty.nowhere"
broken = "karat_faulty.broken"
half = "karat_faulty.half:missing"
leaves = "karat_faulty.leaves"
letters = "karat_faulty.letters"
alias = "karat_faulty.alias"
metric = "karat_faulty.metric"
silent = "karat_faulty.silent"
sound = "karat_faulty.sound"

[project.entry-points."karat.judges"]
chat = "karat_faulty.chat"
""",
    "karat_faulty/__init__.py": "",
    "karat_faulty/base.py": """
from karat.measures import Measure, register

def measure(name, *aliases):
    return register(type(name, (Measure,), {
        "name": name, "aliases": aliases, "__doc__": "A measure.",
        "depth": lambda self, ranked: 1, "values": lambda self, ranked: ranked.relevant * 0.0,
    }))
""",
    # What it imports is fine, and has an entry point of its own.
    "karat_faulty/broken.py": "import karat_faulty.sound\nthis is no python\n",
    "karat_faulty/half.py": "from karat_faulty.base import measure\nmeasure('Half')\n",
    "karat_faulty/leaves.py": "import sys\nsys.exit('good bye')\n",
    "karat_faulty/letters.py": "from karat_faulty.base import measure\nmeasure('Before')\nmeasure('rP')\n",
    "karat_faulty/alias.py": "from karat_faulty.base import measure\nmeasure('Mine', 'r-PRECISION')\n",
    # The first to import files of karat, which stay, and to use a registry that nothing has filled yet.
    "karat_faulty/metric.py": """
from karat.captions import CAPTION_METRICS, all_pairs
from karat_faulty.base import measure
measure("Other")
CAPTION_METRICS.add("Cider", None)
""",
    "karat_faulty/silent.py": "",
    "karat_faulty/sound.py": "from karat_faulty.base import measure\nprint('loud')\nmeasure('Sound')\n",
    "karat_faulty/chat.py": """
from karat.judging.machine_judges import JudgeKind, register_judge
register_judge(JudgeKind("CHAT", "mine", None))
""",
}


def install(source, target):
    """Install a package as its users do, without a network."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--target", str(target), str(source)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, cwd=source)
    assert done.returncode == 0, done.stderr
    return target


def run(*arguments, path=(), code=0):
    """Run Python in a process that sees the packages of some folders."""
    places = [*map(str, path), str(ROOT / "src")]
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
    )
    assert done.returncode == code, done.stderr
    return done


def write(files, folder):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    """The folder where a sound package is installed."""
    source = tmp_path_factory.mktemp("source") / "toys"
    # A copy: building writes beside the sources.
    shutil.copytree(PACKAGE, source)
    return install(source, tmp_path_factory.mktemp("toys"))


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """The folder where a package with every fault is installed."""
    return install(write(FAULTY, tmp_path_factory.mktemp("source")), tmp_path_factory.mktemp("faulty"))


USE_ALL = """
import json, sys, tempfile, warnings
from pathlib import Path
import numpy as np
import karat
from karat.forms import load_form
from karat.judging.machine_judges import JUDGES, Question, make_judge
from karat.captions import pair_scores
from karat.estimation import ESTIMATORS
from karat.measures import MEASURES
from karat.models import ENCODERS
from karat.reports.section import SECTIONS
from karat.store import create_project
from karat.world import make_world, simulate_systems

warnings.simplefilter("error")
out = {}
toys = karat.load_benchmark("toys", images="6")
out["captions"] = toys.captions.size
scores = np.eye(6, dtype=np.float32)
scores[0] = scores[0, ::-1]
card = karat.evaluate(scores, toys, ["Toy", "R@1", "toy_first", "NCS(toy-overlap)@2"], direction="i2t")
out["values"] = [(str(column.measure), column.value) for column in card.columns]
out["vectors"] = karat.load_model("letters:ab").encode_texts(["abba", "b"]).tolist()
out["similarity"] = pair_scores(toys, "toy-overlap", [0, 0], [0, 1]).tolist()
with tempfile.TemporaryDirectory() as folder:
    with create_project(Path(folder, "p.db"), toys, load_form("pair"), source="toys") as project:
        judge = make_judge("short", project, longest="10")
        asked = [Question(0, 0, "a"), Question(0, 1, "a" * 99)]
        out["answers"] = [reply.code for reply in judge.judge(asked)]
    page = Path(folder, "report.html")
    karat.report(scores, toys, "Toy", output=page)
    out["page"] = page.read_text("utf-8")
world = make_world(images=30, captions=2, seed=1)
estimate = karat.estimate(simulate_systems(world)[:1], world.benchmark(), "P@10", noisy="original",
                                 vetted="original", direction="t2i", estimator="toy-half")
out["estimate"] = estimate.value("P@10", "seer")
listed = {"Toy": MEASURES, "letters": ENCODERS, "short": JUDGES, "toy-half": ESTIMATORS, "toys": SECTIONS}
out["origins"] = [registry.origin(name) for name, registry in listed.items() if name in list(registry)]
out["own"] = [MEASURES.origin("RP"), *(name for name in listed if name in listed[name].own())]
print(json.dumps(out))
"""


def test_one_of_each_kind_works(toys):
    out = json.loads(run("-c", USE_ALL, path=[toys]).stdout)
    assert out["captions"] == 6
    values = dict(out["values"])
    assert values["Toy"] == values["R@1"] == pytest.approx(5 / 6)
    assert 0 < values["NCS(toy-overlap)@2"] <= 1
    assert out["vectors"] == [[1, 2, 2], [1, 0, 1]]
    assert out["similarity"] == [1.0, 0.5]
    assert out["answers"] == ["yes", "no"]
    assert '<p class="lead">&lt;toys&gt; of' in out["page"]
    assert 0 < out["estimate"] < 1
    assert out["origins"] == ["karat-toys 0.3"] * 5
    assert out["own"] == ["karat"]


def test_the_command_line_shows_them_and_their_origin(toys):
    listed = run("-m", "karat", "measures", "list", path=[toys])
    parts = [part for part in listed.stdout.split("\n\n") if "from" in part]
    assert [part.split()[0] for part in parts if "karat-toys 0.3" in part] == ["Toy"]
    assert all(re.search(r"from +karat( |$)", part, re.M) for part in parts if "karat-toys" not in part)
    assert listed.stderr == ""
    assert "coloured balls" in run("-m", "karat", "benchmarks", "list", path=[toys]).stdout


def test_a_name_of_the_users_own_stays(toys, tmp_path):
    code = """
import karat, os, sys
os.environ["KARAT_CONFIG"] = sys.argv[1]
from karat.benchmarks import add as add_benchmark, save_benchmark
from karat.benchmarks.registry import remember
from karat.world import make_world
folder = save_benchmark(make_world(5, seed=1).benchmark(), sys.argv[1] + "/own")
remember("toys", "saved", {"folder": sys.argv[1] + "/own"})
print(karat.load_benchmark("toys").images.size, karat.load_benchmark("TOYS").images.size)
"""
    assert run("-c", code, str(tmp_path), path=[toys]).stdout == "5 4\n"


FAULTS = """
import json, sys, warnings
from karat.errors import PlugInWarning
from karat.judging.machine_judges import JUDGES
from karat.measures import MEASURES, TREC_EVAL, parse_measure
from karat.captions import CAPTION_METRICS
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    sound = str(parse_measure("Sound"))
    again = list(MEASURES)
    kinds = list(JUDGES)
assert all(issubclass(warning.category, PlugInWarning) for warning in caught)
print(json.dumps({
    "said": [str(warning.message) for warning in caught],
    "names": [name for name in ("Half", "Before", "Mine", "Other", "Sound") if name in MEASURES],
    "origins": sorted({MEASURES.origin(name) for name in MEASURES}),
    "sound": sound, "kinds": kinds, "about": JUDGES["chat"].about,
    "cider": type(CAPTION_METRICS["cider"]).__name__,
    "rp": MEASURES["rp"].__module__, "alias": MEASURES["r-precision"].__name__,
    "loaded": [name for name in sys.modules if name.startswith("karat_faulty.")],
}))
"""


def test_faulty_ones_are_named_and_leave_nothing(faulty):
    out = json.loads(run("-c", FAULTS, path=[faulty]).stdout)
    said = dict(
        re.fullmatch(r"the plug-in (\w+) of karat-faulty 1\.0 (.*)", text).groups() for text in out["said"]
    )
    assert said == {
        "absent": "(karat.measures) is left out: ModuleNotFoundError: No module named 'karat_faulty.nowhere'",
        "alias": "(karat.measures) is left out: measure 'r-PRECISION' is registered already, by karat",
        "broken": "(karat.measures) is left out: SyntaxError: invalid syntax (broken.py, line 2)",
        "chat": "(karat.judges) is left out: kind of machine judge 'CHAT' is registered already, by karat",
        "half": "(karat.measures) is left out: AttributeError: "
        "module 'karat_faulty.half' has no attribute 'missing'",
        "leaves": "(karat.measures) is left out: SystemExit: good bye",
        "letters": "(karat.measures) is left out: measure 'rP' is registered already, by karat",
        "metric": "(karat.measures) is left out: caption metric 'Cider' is registered already, by karat",
        "silent": "(karat.measures) registers nothing of this kind",
    }
    assert out["names"] == ["Sound"]
    assert out["sound"] == "Sound"
    assert out["origins"] == ["karat", "karat-faulty 1.0"]
    assert out["kinds"] == ["chat"]
    assert out["about"].startswith("a vision")
    assert out["rp"].startswith("karat.")
    assert (out["alias"], out["cider"]) == ("RPrecision", "Cider")


def test_the_command_line_says_it_in_one_line_each(faulty):
    done = run("-m", "karat", "measures", "list", path=[faulty])
    lines = done.stderr.splitlines()
    assert len(lines) == 9
    # What one prints is not among what the command writes.
    lines.remove("loud")
    assert all(line.startswith("note: the plug-in ") for line in lines)
    assert "Sound" in done.stdout
    assert "loud" not in done.stdout


def test_known_names_load_no_plug_in(faulty):
    code = """
import sys
before = "importlib.metadata" in sys.modules
import karat, karat.cli.main
assert before or "importlib.metadata" not in sys.modules
from karat._util import plug_ins
from karat.measures import parse_measure
for name in ("R@5", "map@r", "MedR", "P(rel=2)@10", "map", "P_10", "nDCG@10", "RSUM"):
    parse_measure(name)
import numpy as np
from karat.judging.pools.filters import parse_filter
from karat.world import make_world
karat.evaluate(np.eye(9, 45), make_world(9).benchmark(), ["R@1", "NCS(cider)@5"], intervals=True)
parse_filter("cider>=0.5")
assert not plug_ins._begun, plug_ins._begun
assert not [name for name in sys.modules if name.startswith("karat_faulty")]
"""
    run("-c", code, path=[faulty])


def test_the_package_on_the_page_works(tmp_path):
    page = (ROOT / "docs" / "plug-ins.md").read_text(encoding="utf-8")
    files = re.findall(r"`([\w./-]+)`:\n\n```\w+\n(.*?)```", page, re.DOTALL)
    target = install(write(dict(files), tmp_path / "source"), tmp_path / "target")
    code = (
        "import numpy as np, karat; from karat.world import make_world; "
        "print(karat.evaluate(np.eye(9, 45), make_world(9).benchmark(), 'F@4'))"
    )
    assert "F@4" in run("-c", code, path=[target]).stdout
    assert "karat-fscore 0.1" in run("-m", "karat", "measures", "list", path=[target]).stdout
