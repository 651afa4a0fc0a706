"""Workers of a Dask scheduler give what one machine gives, also when one of them is killed."""

import logging
import os
import re
import signal
import subprocess
import sys
import time
from threading import Thread, Timer

import numpy as np
import pytest

import karat
from cli.conftest import both, command  # noqa: F401
from karat._util import Scheduler, connected, reporting, workers
from karat.captions import all_pairs
from karat.errors import InputError
from karat.runs import EmbeddingRun, MatrixRun, PassOptions, remote_pass
from karat.runs.scan import Grid
from karat.stats import Intervals
from karat.world import make_world, simulate
from tests.runs.test_one_pass import Shards, answers, brute_force, exact_products, requests, tables
from told import Told

from local_cluster import local_cluster

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'karat[scale]'")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with local_cluster(tmp_path_factory.mktemp("cluster"), 2) as made:
        yield made


def slow_square(shared, part):
    """Wait a little, so that a worker is killed at work."""
    import time

    time.sleep(0.15)
    return shared + part**2


def wait_for_the_kill(folder, part):
    """Say which process began the part, and end it when the test lets it."""
    import os
    import time
    from pathlib import Path

    (Path(folder) / f"begun-{part}-{os.getpid()}").touch()
    while not (Path(folder) / "go").exists():
        time.sleep(0.02)
    return part**2


def kill_at_work(worker, folder, then=lambda: None):
    """Kill a worker as soon as it has begun a part of `wait_for_the_kill`, however slow the machine is."""

    def wait_and_kill():
        while not list(folder.glob(f"begun-*-{worker.pid}")):
            time.sleep(0.02)
        # The worker's word that it began is on its way.
        time.sleep(1)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        then()
        (folder / "go").touch()

    folder.mkdir()
    Thread(target=wait_and_kill, daemon=True).start()


def fail(shared, part):
    """Refuse one part."""
    if part == 3:
        raise InputError("part 3 is wrong", where="here", fix="give another")
    return part


@pytest.mark.parametrize("kind", ["arrays", "files", "folder", "shards", "halves", "table", "turned table"])
def test_a_pass_is_the_same(cluster, tmp_path, kind, monkeypatch):
    rng = np.random.default_rng(5)
    images, captions = tables(rng)
    items, tops = requests(rng, len(images), len(captions))
    exact = EmbeddingRun(images, captions)
    rows, columns = np.indices(exact.shape).reshape(2, -1)
    scores = exact_products(exact.images, exact.captions, rows, columns).reshape(exact.shape)
    for name, table in {"images": images, "captions": captions, "scores": scores, "turned": scores.T}.items():
        np.save(tmp_path / f"{name}.npy", table.astype(np.float16) if kind == "halves" else table)
    mapped = {path.stem: np.load(path, mmap_mode="r") for path in tmp_path.iterdir()}
    (tmp_path / "run").mkdir()
    for side, table in {"images": images, "captions": captions}.items():
        for number, part in enumerate(np.array_split(table, 3)):
            np.save(tmp_path / "run" / f"{side}-{number}.npy", part)
    # Workers are in another folder than the command.
    monkeypatch.chdir(tmp_path)
    run = {
        "arrays": lambda: EmbeddingRun(images, captions, similarity="cosine"),
        "files": lambda: EmbeddingRun(mapped["images"], mapped["captions"]),
        "folder": lambda: karat.load_run("run"),
        "shards": lambda: EmbeddingRun(Shards(images, [7, 30]), Shards(captions, [9])),
        "halves": lambda: EmbeddingRun(mapped["images"], mapped["captions"]),
        "table": lambda: MatrixRun(scores),
        "turned table": lambda: MatrixRun(mapped["turned"].T),
    }[kind]()
    expected = answers(run.scan(items, first=True, tops=tops))
    if kind in ("files", "folder", "shards", "table", "turned table"):
        assert expected == brute_force(scores, items, tops)
    with connected(cluster.address) as some:
        options = PassOptions(tile=(16, 21), workers=some)
        assert answers(run.scan(items, first=True, tops=tops, options=options)) == expected
        assert (some.threads, some.notes) == (2, [])


def test_files_are_sent_by_name(tmp_path):
    path = tmp_path / "table.npy"
    table = np.arange(600, dtype=np.float32).reshape(20, 30)
    np.save(path, table)
    mapped = np.load(path, mmap_mode="r")
    for view in (mapped, np.asarray(mapped), mapped[3:9, ::2], np.asarray(mapped.T)[5:], mapped[:0]):
        sent = remote_pass.as_file(view)
        assert isinstance(sent, remote_pass.FileArray)
        assert np.array_equal(sent.open(), view)
        assert sent.open().strides == view.strides
    for other in (table, mapped[::-1], np.load(path, mmap_mode="c")):
        assert remote_pass.as_file(other) is other
    sent = remote_pass.as_file(mapped)
    os.utime(path, (1, 1))
    with pytest.raises(InputError, match="is another file on the worker"):
        sent.open()
    path.unlink()
    with pytest.raises(karat.KaratError, match="cannot be read on the worker"):
        sent.open()


def test_evaluate_with_intervals(cluster, tmp_path, monkeypatch):
    world = make_world(80, captions=3, seed=2)
    bench = world.benchmark()
    run = simulate(world, strength=2, seed=1)
    run = run if isinstance(run, MatrixRun) else MatrixRun(run.block(0, run.shape[0]))
    options = {"measure": ["R@1", "mAP@R", "MedR"], "intervals": "bca", "details": True, "resamples": 700}
    expected = karat.evaluate(run, bench, **options)
    monkeypatch.setattr("karat.scores.column_intervals.WORTH_SENDING", 0)
    # Small blocks, so that there are several parts to draw.
    monkeypatch.setattr("karat.runs.one_pass.LEAST", (16, 16))
    told = Told()
    with reporting(told):
        card = karat.evaluate(
            run, bench, **options, compute=karat.Compute(scheduler=cluster.address, checkpoint=tmp_path)
        )
    assert card.records() == expected.records()
    assert card.notes == expected.notes
    assert [column.values.tolist() for column in card if column.values is not None] == [
        column.values.tolist() for column in expected if column.values is not None
    ]
    assert told.reached["tiles"] > 4
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_resamples_are_the_same_to_the_last_bit(cluster, method):
    rng = np.random.default_rng(0)
    values = rng.random((1500, 3))
    intervals = Intervals(method, resamples=1_000, seed=4)
    expected = intervals.draw(Weighted(values), 1500)
    with connected(cluster.address) as some:
        drawn = intervals.draw(Weighted(values), 1500, some)
    for ours, theirs in zip(drawn, expected):
        assert theirs is None or ours.tobytes() == theirs.tobytes()


class Weighted:
    """Means of several columns under weights."""

    def __init__(self, values):
        self.values = values

    def __call__(self, weights):
        return (weights @ self.values).T / weights.sum(axis=1)


@pytest.mark.parametrize("metric", ["cider", "rouge-l"])
def test_a_caption_table_is_the_same(cluster, metric, tmp_path):
    bench = make_world(50, captions=2, seed=3).benchmark()
    expected = all_pairs(bench, metric, leave_out=True)
    told = Told()
    with reporting(told):
        table = all_pairs(bench, metric, leave_out=True, out=tmp_path / "n.npy", scheduler=cluster.address)
    assert table.tobytes() == expected.tobytes()
    assert len(told.heard) > 4
    assert told.heard[-1][1:] == (50, 50)


def test_commands_take_the_scheduler_of_the_settings(cluster, command, tmp_path, monkeypatch):  # noqa: F811
    world = make_world(30, captions=2, seed=3)
    karat.save_benchmark(world.benchmark(), tmp_path / "my")
    scores = tmp_path / "scores.npy"
    np.save(scores, np.random.default_rng(0).random((30, 60)))
    here = (str(scores), "-b", str(tmp_path / "my"))
    pool = ("project", "pool", *here, "--dry-run", "--top", "2")
    # φ of NCS is a table that the same workers compute.
    measure = ("-m", "R@1,NCS(cider)@5")
    plain = [command("evaluate", *here, *measure), command(*pool)]
    monkeypatch.setenv("KARAT_SCHEDULER", cluster.address)
    assert [command("evaluate", *here, *measure), command(*pool)] == plain
    for name in ("a", "b"):
        monkeypatch.setenv("KARAT_SCHEDULER", cluster.address if name == "a" else "")
        command("captions", "table", str(tmp_path / "my"), "-m", "cider", "-o", str(tmp_path / f"{name}.npy"))
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()


def test_errors_of_workers_are_errors_here(cluster):
    with connected(cluster.address) as some:
        results = some.map(fail, None, range(9))
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(InputError, match=r"here: part 3 is wrong; give another\.$"):
            next(results)
        scores = np.ones((40, 60))
        scores[[30, 33], [50, 2]] = np.nan
        run = MatrixRun(scores, "mine")
        tile = PassOptions(tile=(16, 21)), PassOptions(tile=(16, 21), workers=some)
        messages = []
        for options in tile:
            with pytest.raises(InputError) as refused:
                run.scan(first=True, options=options)
            messages.append(str(refused.value))
        assert messages[0] == messages[1]
        # The workers go on.
        assert list(some.map(fail, None, [7, 8])) == [7, 8]


def test_a_closed_map_cancels_what_is_under_way(cluster):
    with connected(cluster.address) as some:
        results = some.map(slow_square, 0, range(1000))
        assert next(results) == 0
        results.close()
        assert list(some.map(fail, None, [1])) == [1]
        assert not [key for keys in some._client.processing().values() for key in keys]


def test_no_more_results_wait_than_are_needed(cluster):
    taken = []

    def parts():
        for part in range(40):
            taken.append(part)
            yield part

    with connected(cluster.address) as some:
        for number, _ in enumerate(some.map(fail, None, (p + 4 for p in parts()))):
            assert len(taken) <= number + 2 * workers.AHEAD


def test_killed_workers_are_survived(tmp_path, caplog, monkeypatch):
    rng = np.random.default_rng(1)
    images, captions = tables(rng, 400, 900, 16)
    items, tops = requests(rng, len(images), len(captions))
    run = EmbeddingRun(images, captions)
    expected = answers(run.scan(items, tops=tops))
    tile = (50, 60)
    half = len(Grid(run.shape, tile)) // 2
    # A new worker may take long to start on a busy machine.
    monkeypatch.setattr(workers, "PATIENCE", 60.0)
    monkeypatch.setattr(workers, "LOOK", 0.5)
    # A server that ran in this process keeps the logger's messages to itself.
    monkeypatch.setattr(logging.getLogger("karat"), "propagate", True)
    with local_cluster(tmp_path, 2) as made, connected(made.address) as some:

        def kill(stage):
            if stage.done == half:
                made.workers[0].send_signal(signal.SIGKILL)

        with reporting(Told(kill)):
            found = run.scan(items, tops=tops, options=PassOptions(tile=tile, workers=some))
        assert answers(found) == expected
        made.add_workers(1)
        made.wait(3)
        with caplog.at_level(logging.WARNING, logger="karat"):
            kill_at_work(made.workers[1], tmp_path / "one")
            results = some.map(wait_for_the_kill, tmp_path / "one", range(6))
            assert list(results) == [part**2 for part in range(6)]
        assert "is computed again by tcp://127.0.0.1:" in caplog.text
        note = some.notes[-1]
        assert re.fullmatch(r"\d parts? (was|were) computed again: the worker tcp://\S+ was lost", note), note
        # The last one that has what was sent: it is sent again to a new one.
        kill_at_work(made.workers[2], tmp_path / "last", lambda: made.add_workers(1))
        results = some.map(wait_for_the_kill, tmp_path / "last", range(6))
        assert list(results) == [part**2 for part in range(6)]
        monkeypatch.setattr(workers, "PATIENCE", 3.0)
        kill_at_work(made.workers[3], tmp_path / "nobody")
        results = some.map(wait_for_the_kill, tmp_path / "nobody", range(6))
        with pytest.raises(
            InputError, match=r"all workers of tcp://.* are lost; start some: dask worker tcp"
        ):
            list(results)
        monkeypatch.setattr(workers, "PATIENCE", 0.5)
        nobody = "has no workers; start one: dask worker tcp://127"
        with pytest.raises(InputError, match=nobody), connected(made.address):
            pass


def test_a_worker_lost_while_tables_are_sent_is_survived(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(workers, "LOOK", 0.5)
    spread = workers.Work._spread
    with local_cluster(tmp_path, 2) as made, connected(made.address) as some:
        processes = some._client.run(os.getpid)

        def lose(work, held):
            """Lose the worker that does not have them yet, when it has been asked to take them."""
            (other,) = set(processes) - set(work.client.who_has([held])[held.key])
            os.kill(processes[other], signal.SIGSTOP)
            Timer(1, os.kill, (processes[other], signal.SIGKILL)).start()
            spread(work, held)

        monkeypatch.setattr(workers.Work, "_spread", lose)
        with caplog.at_level(logging.WARNING, logger="karat"):
            assert list(some.map(slow_square, 10, range(4))) == [10 + part**2 for part in range(4)]
        assert "was lost while the tables were sent" in caplog.text


def test_a_worker_that_comes_while_connecting_does_not_matter(monkeypatch):
    """Dask asserts that nothing else is said at this moment."""
    failures = [AssertionError(), AssertionError()]

    class Client:
        def __init__(self, address, **choices):
            if failures:
                raise failures.pop()

    assert isinstance(workers.made_client(Client, "tcp://127.0.0.1:1", None), Client)
    failures += [AssertionError()] * 3
    monkeypatch.setattr("distributed.Client", Client)
    with pytest.raises(InputError, match="no scheduler answers"), connected("tcp://127.0.0.1:1"):
        pass


def test_a_lost_scheduler_is_told_in_one_sentence(tmp_path):
    begun = tmp_path / "begun"
    script = (
        "import sys, time\n"
        "from karat._util import connected\n"
        "from karat.errors import InputError\n"
        "try:\n"
        "    with connected(sys.argv[1]) as some:\n"
        "        for _ in some.map(max, 1, range(10 ** 9)):\n"
        "            open(sys.argv[2], 'w').close()\n"
        "except InputError as error:\n"
        "    print(error, file=sys.stderr)\n"
    )
    with local_cluster(tmp_path, 1) as made:
        process = subprocess.Popen(
            [sys.executable, "-c", script, made.address, str(begun)], stderr=subprocess.PIPE, text=True
        )
        while not begun.exists():
            assert process.poll() is None
            time.sleep(0.05)
        made.scheduler.send_signal(signal.SIGKILL)
        said = process.communicate(timeout=60)[1]
    assert re.fullmatch(r"the connection to tcp://\S+ was lost; start again; [^\n]*\n", said), said


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://192.0.2.1:8786", "is another machine, and tcp:// is not encrypted"),
        ("192.0.2.1:8786", "is another machine"),
        ("tcp://0.0.0.0:8786", "is another machine"),
        ("tcp://[2001:db8::1]:8786", "is another machine"),
        ("ucx://127.0.0.1:8786", "is not the address of a scheduler"),
        ("tcp://127.0.0.1:none", "is not the address of a scheduler"),
        ("inproc://", "is not the address of a scheduler"),
        ("tcp://a..b:8786", "tcp://a..b:8786 is unknown here"),
        (
            "tls://127.0.0.1:8786",
            "needs certificates on both sides; give tls_ca and tls_cert and tls_key",
        ),
        ("tcp://127.0.0.1:1", "no scheduler answers at tcp://127.0.0.1:1; start one: dask scheduler --host"),
    ],
)
def test_what_is_not_safe_or_not_there_is_refused(address, message, monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 0.3)
    with pytest.raises(InputError) as refused, connected(address):
        pass
    assert message in str(refused.value)


def test_a_name_is_looked_up(monkeypatch):
    numbers = {"here": ["127.0.0.1", "::1"], "both": ["127.0.0.1", "192.0.2.1"]}
    monkeypatch.setattr(
        workers.socket, "getaddrinfo", lambda host, *_, **__: [(0, 0, 0, "", (n, 0)) for n in numbers[host]]
    )
    assert Scheduler("tcp://here:1").checked() == "tcp://127.0.0.1:1"
    with pytest.raises(InputError, match="another machine"):
        Scheduler("tcp://both:1").checked()


def test_files_of_tls_are_checked(tmp_path):
    with pytest.raises(InputError, match=r"does not use TLS; write tls://127\.0\.0\.1:8786"):
        Scheduler("tcp://127.0.0.1", tls_ca="ca.pem").checked()
    with pytest.raises(InputError, match="there is no such file"):
        Scheduler("tls://host", tls_ca=tmp_path / "ca.pem").checked()
    (tmp_path / "ca.pem").write_text("nothing")
    scheduler = Scheduler("tls://host", *[tmp_path / "ca.pem"] * 3)
    with pytest.raises(InputError, match="the certificates for tls://host cannot be used"):
        scheduler.security()


def test_other_versions_are_refused():
    own = {"packages": {"python": "3.11.2.final.0", "numpy": "2.4.0"}}
    workers.check_versions({"worker a": {"packages": {"python": "3.11.2.final.0", "numpy": "2.4.0"}}}, own)
    with pytest.raises(InputError, match=r"worker a has numpy 2\.3\.0, and this machine has 2\.4\.0"):
        workers.check_versions(
            {"worker a": {"packages": {"python": "3.11.2.final.0", "numpy": "2.3.0"}}}, own
        )
