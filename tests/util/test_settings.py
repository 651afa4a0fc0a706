"""Settings: where they come from, what goes before what, and that they never change a result."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import karat
from karat._util import SETTINGS, Scheduler, config_folder, connected, list_settings, setting_of, thread_count
from karat._util.settings import VARIABLES, read_settings
from karat.cli.settings import app
from karat.judging import make_pool
from karat.judging.pools import GoldChoice
from karat.models import load_model
from karat.runs import DEVICES, Compute
from karat.runs.memory import with_memory
from karat.world import make_world

ROOT = Path(__file__).parents[2]
WORLD = make_world(30, captions=2, seed=5)
SCORES = np.random.default_rng(0).random((30, 60), dtype=np.float32)
NO_GOLD = GoldChoice(number=0)


@pytest.fixture
def file(tmp_path, monkeypatch) -> Path:
    """The file of settings, which does not exist yet."""
    folder = tmp_path / "config"
    folder.mkdir()
    monkeypatch.setenv("KARAT_CONFIG", str(folder))
    return folder / "karat.toml"


def sources() -> dict[str, tuple]:
    return {record["name"]: (record["value"], record["source"]) for record in list_settings().records()}


# Where they come from


def test_python_goes_before_variables_and_these_before_the_file(file, monkeypatch):
    assert sources()["threads"][1] == "default"
    assert sources()["memory"] == (None, "unset")
    file.write_text('threads = 3\nmemory = "4GB"')
    assert sources()["threads"] == ("3", str(file))
    assert sources()["memory"] == ("4GB", str(file))
    monkeypatch.setenv("KARAT_THREADS", "2")
    assert sources()["threads"] == ("2", "KARAT_THREADS")
    assert (thread_count(), thread_count(1)) == (2, 1)
    # An empty variable is the default, whatever the file says.
    monkeypatch.setenv("KARAT_MEMORY", "")
    assert sources()["memory"] == (None, "unset")


def test_the_file_is_read_again_only_after_a_change(file):
    file.write_text("threads = 3")
    assert setting_of("threads") == 3
    before = read_settings.cache_info().misses
    for _ in range(5):
        setting_of("threads"), setting_of("device")
    assert read_settings.cache_info().misses == before
    file.write_text("threads = 12")
    assert setting_of("threads") == 12


def test_a_file_or_its_folder_is_named(file, tmp_path, monkeypatch):
    assert config_folder() == file.parent
    own = tmp_path / "lab.toml"
    own.write_text("threads = 5")
    monkeypatch.setenv("KARAT_CONFIG", str(own))
    assert (setting_of("threads"), config_folder()) == (5, tmp_path)
    # The user's folder, which only a whole path moves.
    monkeypatch.delenv("KARAT_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert config_folder() == tmp_path / "xdg" / "karat"
    monkeypatch.setenv("XDG_CONFIG_HOME", "xdg")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert config_folder() == tmp_path / ".config" / "karat"


def test_nothing_is_read_from_the_working_folder_or_beside_data(file, tmp_path, monkeypatch):
    here = tmp_path / "work"
    for folder in (here, here / "karat", here / ".config" / "karat", here / "bench"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "karat.toml").write_text('threads = 77\nscheduler = "tcp://127.0.0.1:1"')
    np.save(here / "bench" / "scores.npy", SCORES)
    monkeypatch.chdir(here)
    karat.save_benchmark(WORLD.benchmark(), here / "bench" / "world")
    monkeypatch.setenv("XDG_CONFIG_HOME", ".")
    monkeypatch.setenv("HOME", ".")
    for config in (str(file.parent), ""):
        monkeypatch.setenv("KARAT_CONFIG", config)
        assert sources()["threads"][1] == "default"
        assert sources()["scheduler"] == (None, "unset")
        # A scheduler that does not answer would stop it.
        karat.evaluate("bench/scores.npy", "bench/world", "R@1")
    monkeypatch.setenv("KARAT_CONFIG", "karat.toml")
    with pytest.raises(
        karat.InputError, match=r"'karat.toml', which is another file in every working folder"
    ):
        setting_of("threads")


def test_a_process_without_a_home_has_the_defaults(tmp_path, monkeypatch):
    monkeypatch.delenv("KARAT_CONFIG")
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    assert setting_of("device") == "auto"
    with pytest.raises(karat.KaratError, match="this user has no home folder; set XDG_CONFIG_HOME"):
        config_folder()


def test_paths_of_the_file_start_at_the_file(file, monkeypatch):
    file.write_text('cache = "kept"\ncheckpoint = "/scratch/karat"\ntls_ca = "~/ca.pem"')
    monkeypatch.setenv("KARAT_TLS_KEY", "key.pem")
    monkeypatch.delenv("KARAT_CACHE")
    assert setting_of("cache") == file.parent / "kept"
    assert setting_of("checkpoint") == Path("/scratch/karat")
    assert setting_of("tls_ca") == Path.home() / "ca.pem"
    assert setting_of("tls_key") == Path("key.pem")


# Mistakes


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("thread = 2", "unknown setting 'thread'; did you mean threads?"),
        ("[compute]\nthreads = 2", "unknown setting 'compute'; known: threads, memory, device"),
        ('judge_key = "x"', "'judge_key' is read from the environment alone; set KARAT_JUDGE_KEY."),
        ("threads = 0", "threads is 0; give a whole number, 1 or more."),
        ("threads = true", "threads is True; give a whole number, 1 or more."),
        ("threads = [2]", "threads is [2]; give a whole number, 1 or more."),
        ('memory = "lots"', "memory is 'lots'; give an amount such as 4GB, 512MiB or a number of bytes."),
        ("cache = 3", "cache is 3; give the path of a folder."),
        ('tls_ca = ""', "tls_ca is ''; give the path of a file in PEM format."),
        ('scheduler = "http://head"', "scheduler is 'http://head'; give tls://host:8786, or tcp://127.0.0.1"),
        ("memory = 4GB", "is not TOML ("),
        ("threads: 4", 'write lines such as threads = 4 or memory = "4GB".'),
    ],
)
def test_mistakes_in_the_file(text, sentence, file):
    file.write_text(text)
    for _ in range(2):
        with pytest.raises(karat.InputError) as caught:
            setting_of("device")
        assert str(caught.value).startswith(f"{file}: ")
        assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "text", "sentence"),
    [
        ("KARAT_THREADS", "many", "KARAT_THREADS is 'many'; give a whole number, 1 or more."),
        ("KARAT_MEMORY", "-1GB", "KARAT_MEMORY is '-1GB'; give an amount such as 4GB"),
        ("KARAT_SCHEDULER", "ftp://x", "KARAT_SCHEDULER is 'ftp://x'; give tls://host:8786"),
    ],
)
def test_mistakes_in_a_variable(variable, text, sentence, monkeypatch):
    monkeypatch.setenv(variable, text)
    with pytest.raises(karat.InputError) as caught:
        setting_of(variable.removeprefix("KARAT_").lower())
    assert str(caught.value).startswith(sentence)


def test_an_unknown_device_is_named_with_its_source(file, monkeypatch):
    file.write_text('device = "abacus"')
    with pytest.raises(karat.InputError) as caught:
        Compute()
    assert str(caught.value) == f"{file}: device is 'abacus'; choose one of auto, {', '.join(DEVICES)}."
    monkeypatch.setenv("KARAT_DEVICE", "sliderule")
    with pytest.raises(karat.InputError, match=r"^KARAT_DEVICE is 'sliderule'; choose one of"):
        Compute()
    Compute(device="cpu")


def test_a_named_file_has_to_be_there(file, tmp_path, monkeypatch):
    assert setting_of("device") == "auto"
    monkeypatch.setenv("KARAT_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(karat.KaratError, match=r"none.toml: cannot be read .*; KARAT_CONFIG names it"):
        setting_of("device")
    (tmp_path / "karat.conf").touch()
    monkeypatch.setenv("KARAT_CONFIG", str(tmp_path / "karat.conf"))
    with pytest.raises(karat.InputError, match=r"karat.conf: is a file; name a folder, or a file that ends"):
        setting_of("device")
    (tmp_path / "folder.toml").mkdir()
    monkeypatch.setenv("KARAT_CONFIG", str(tmp_path / "folder.toml"))
    with pytest.raises(karat.InputError, match=r"folder.toml: cannot be read \(Is a directory\)"):
        setting_of("device")


def test_other_encodings(file):
    file.write_bytes(b"\xef\xbb\xbfthreads = 2\r\n")
    assert setting_of("threads") == 2
    file.write_bytes('cache = "/café"'.encode("latin-1"))
    with pytest.raises(karat.InputError, match=r"line 1 is not UTF-8 but probably Latin-1"):
        setting_of("threads")


@pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")
def test_a_file_that_everybody_can_change_is_refused(file):
    file.write_text("threads = 2")
    file.chmod(0o666)
    with pytest.raises(karat.InputError, match=r"can be changed by every user .*; chmod o-w /"):
        setting_of("threads")
    # Where each user has a group of their own, every new file is like this.
    file.chmod(0o664)
    assert setting_of("threads") == 2


# What obeys them


def test_compute_obeys(file, tmp_path, monkeypatch):
    file.write_text(f'threads = 3\ndevice = "cuda"\ncheckpoint = "{tmp_path}/kept"')
    passing = Compute().passing()
    assert (passing.checkpoint, passing.device) == (tmp_path / "kept", "cuda")
    assert Compute().named_device == "cuda"
    given = Compute(device="cpu", checkpoint=tmp_path / "other").passing()
    assert (given.checkpoint, given.device) == (tmp_path / "other", "cpu")
    assert Compute(device="auto").named_device is None
    # What is wrong is said before anything is read.
    monkeypatch.setenv("KARAT_THREADS", "0")
    with pytest.raises(karat.InputError, match="KARAT_THREADS is '0'"):
        Compute()


def test_threads_reach_the_pass(monkeypatch):
    from karat.runs import one_pass, table

    used = []

    def note(run, partial, threads, options):
        used.append(threads)
        return one_pass.one_pass(run, partial, threads, options)

    monkeypatch.setattr(table, "one_pass", note)
    monkeypatch.setenv("KARAT_THREADS", "3")
    karat.evaluate(SCORES, WORLD.benchmark(), "R@1")
    karat.evaluate(SCORES, WORLD.benchmark(), "R@1", compute=Compute(threads=1))
    assert used == [3, 1]


def test_the_bound_on_memory(monkeypatch):
    run = karat.load_run(SCORES)
    assert run.memory is None
    monkeypatch.setenv("KARAT_MEMORY", "9MB")
    with pytest.raises(karat.InputError, match=r"into 9MB; give .* more: memory= in Python, or KARAT_MEM"):
        karat.evaluate(run, WORLD.benchmark(), "R@1")
    bounded = karat.load_run(SCORES, memory="2GB")
    assert with_memory(bounded, None).memory == bounded.memory > 1e9
    monkeypatch.setenv("KARAT_MEMORY", "1GB")
    assert karat.load_run(SCORES).memory < 1e9
    # A bound that was given to the run stays; one that is given to the verb goes before it.
    assert with_memory(bounded, None).memory == bounded.memory
    assert with_memory(bounded, "3GB").memory > bounded.memory


def test_models_take_the_device_where_they_can(monkeypatch, tmp_path):
    from karat.models import encoder

    asked = []
    scheme = encoder.ENCODERS["hf"]
    monkeypatch.setattr(
        encoder,
        "scheme_of",
        lambda name: (encoder.Scheme(**{**vars(scheme), "load": lambda rest, **how: asked.append(how)}), "x"),
    )
    monkeypatch.setenv("KARAT_DEVICE", "cpu")
    for given in (None, "cuda"):
        load_model("hf:x", device=given)
    assert asked == [{"device": "cpu"}, {"device": "cuda"}]
    # A function has no device: the setting is not its mistake.
    assert load_model(lambda texts: texts).texts is not None


def test_the_scheduler_and_its_certificates(file, tmp_path, monkeypatch):
    for name in ("ca", "cert"):
        (file.parent / f"{name}.pem").touch()
    file.write_text('tls_ca = "ca.pem"\ntls_cert = "cert.pem"')
    assert Scheduler("tls://head", tls_cert="own.pem").files == {
        "tls_ca_file": file.parent / "ca.pem",
        "tls_client_cert": "own.pem",
    }
    # On this machine there is no TLS, whatever the file says; a mistake is only what was given.
    assert Scheduler("tcp://127.0.0.1").checked() == "tcp://127.0.0.1:8786"
    with pytest.raises(karat.InputError, match="does not use TLS"):
        Scheduler("tcp://127.0.0.1", tls_ca="ca.pem").checked()
    monkeypatch.setenv("KARAT_SCHEDULER", "tcp://192.0.2.7:8786")
    with pytest.raises(karat.InputError, match=r"192.0.2.7:8786 is another machine"):
        karat.evaluate(SCORES, WORLD.benchmark(), "R@1")
    monkeypatch.setenv("KARAT_SCHEDULER", "")
    with connected(None) as workers:
        assert workers is None


def test_results_do_not_depend_on_settings(file, tmp_path):
    expected = karat.evaluate(SCORES, WORLD.benchmark(), ["R@1", "MedR"], intervals=True, resamples=50)
    for text in ("threads = 1", "threads = 5", 'memory = "400MB"', f'checkpoint = "{tmp_path}/kept"'):
        file.write_text(text)
        again = karat.evaluate(SCORES, WORLD.benchmark(), ["R@1", "MedR"], intervals=True, resamples=50)
        assert again.records() == expected.records()


# A folder of checkpoints that all share


def test_commands_can_share_a_folder_of_checkpoints(tmp_path, monkeypatch):
    from karat.runs.devices import cpu

    bench = WORLD.benchmark()
    other = SCORES + np.random.default_rng(1).random(SCORES.shape, dtype=np.float32)
    passes = {
        "evaluate": lambda: karat.evaluate(SCORES, bench, "R@1").records(),
        "other scores": lambda: karat.evaluate(other, bench, "R@1").records(),
        "more measures": lambda: karat.evaluate(SCORES, bench, ["R@1", "nDCG@10"], details=True).records(),
        "a pool": lambda: make_pool([karat.load_run(SCORES)], bench, top=3, gold=NO_GOLD).image.tolist(),
    }
    expected = {name: compute() for name, compute in passes.items()}
    folder = tmp_path / "kept"
    monkeypatch.setenv("KARAT_CHECKPOINT", str(folder))
    monkeypatch.setattr(cpu.Processor, "step", (10, 20))
    add, computed = cpu.Processor.add, []

    def stop(self, scores, partial, threads):
        computed.append(scores.tile)
        if len(computed) == 5:
            raise KeyboardInterrupt
        add(self, scores, partial, threads)

    for compute in passes.values():
        # Each is stopped in the middle of its pass, and leaves what it has beside what the others left.
        computed.clear()
        with monkeypatch.context() as patched:
            patched.setattr(cpu.Processor, "add", stop)
            with pytest.raises(KeyboardInterrupt):
                compute()
    assert len(list(folder.iterdir())) == len(passes)
    for name, compute in passes.items():
        computed.clear()
        assert compute() == expected[name]
    assert list(folder.iterdir()) == []


# What is shown


def test_the_list(file, monkeypatch):
    file.write_text("threads = 2")
    monkeypatch.setenv("KARAT_JUDGE_KEY", "s3cret")
    monkeypatch.setenv("KARAT_THREAD", "1")
    shown = list_settings()
    assert [record["name"] for record in shown.records()] == [*SETTINGS, *VARIABLES]
    text = str(shown)
    assert text.startswith(f"Settings come from variables, then from {file}.\n")
    assert "s3cret" not in text + shown.to_json()
    assert re.search(r"KARAT_JUDGE_KEY +set, not shown", text)
    assert shown.notes == ("KARAT_THREAD: unknown setting 'thread'; did you mean threads?",)
    done = CliRunner().invoke(app, [])
    assert (done.exit_code, "threads" in done.output) == (0, True)
    file.unlink()
    assert f"{file}, which does not exist." in str(list_settings())


def test_every_variable_in_the_code_is_listed_and_documented():
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    used = set(re.findall(r"\bKARAT_[A-Z_]+[A-Z]\b", code)) - {"KARAT_NAME"}
    known = {setting.variable for setting in SETTINGS.values()} | set(VARIABLES)
    assert used <= known
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    for setting in SETTINGS.values():
        assert f"| `{setting.name}` | `{setting.variable}` |" in page
    for name in VARIABLES:
        assert f"| `{name}` |" in page


def test_the_example_on_the_page_is_valid(file):
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    file.write_text(re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1])
    assert sources()["threads"][1] == str(file)


def test_importing_karat_reads_no_settings(tmp_path):
    path = tmp_path / "karat.toml"
    path.write_text("this is wrong")
    code = (
        "import sys, karat, karat.runs, karat.cli.main; karat.Compute; assert 'tomllib' not in sys.modules\n"
        "try: karat.Compute()\n"
        "except karat.InputError as error: print(error, 'tomllib' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "KARAT_CONFIG": str(path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "is not TOML" in done.stdout
    assert done.stdout.endswith("True\n")
