"""Make the files of this folder. Made with karat 0.4.0, and not to be run again.

The point of these files is that an old version wrote them: made anew by a newer karat they would prove
nothing. This script is kept for the record, so that it is known what is in them and where it came from; it
uses names inside karat 0.4.0 that later versions need not have.

    python tests/net/make_files.py            # from the root of the repository, at version 0.4.0

Everything comes from one small known-truth world (`karat world make --images 16 --captions 5 --seed 11`).
Times come from a clock of the script's own; tokens and the hashes of passwords are random nevertheless.
"""

import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
FILES = HERE / "files"
sys.path.insert(0, str(HERE.parent))

from net import facts  # noqa: E402

IMAGES, CAPTIONS, SEED = 16, 5, 11
POOL = {"top": 2, "sample": {"i2t": 4, "t2i": 9}, "gold_depth": 3, "seed": 3}
TASKS = {"task_size": 6, "gold": 2, "overlap": 3, "seed": 5}
SYSTEMS = ("seer.npy", "learner.json", "memoriser.parquet")
PEOPLE = {
    "owner": ("Vera", "net pass phrase one"),
    "judge": ("Zoë Müller", "net pass phrase two"),
    "reader": ("Rita", "net pass phrase three"),
}
JOINED = ("Jo", "net pass phrase four")
START = 1_700_100_000.0


class Clock:
    """A clock that stands still unless the script moves it: both databases get the same times."""

    now = START

    def __call__(self):
        return Clock.now


def tick():
    """Let a second pass and return the time."""
    Clock.now += 1.0
    return Clock.now


def karat(*words, cwd=FILES):
    """Run a command of karat's."""
    done = subprocess.run(
        [sys.executable, "-m", "karat", *map(str, words)], cwd=cwd, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def make_benchmark():
    """The world's benchmark with two truths more: ratings of two sources in two folds, and a rule."""
    from karat.benchmarks import Fold, Judgments, Provenance, Share, Steps, Truth, save_benchmark
    from karat.benchmarks.plausible import PlausibleMatch
    from karat.world import make_world

    world = make_world(IMAGES, CAPTIONS, SEED)
    bench = world.benchmark()
    rng = np.random.default_rng(SEED)
    share = world.shares()
    image, caption = np.divmod(rng.choice(share.size, 160, replace=False), share.shape[1])
    stars = np.round(5 * share[image, caption], 1)
    votes = np.clip(np.round(3 * share[image, caption] + rng.normal(0, 0.7, 160)), 0, 3)
    sources = [
        Provenance("stars", "0 to 5 stars", Share(top=5, least=3)),
        Provenance("votes", "how many of 3 said yes", Steps([(2, 0.5), (3, 1.0)])),
    ]
    rated = Judgments(
        np.r_[image[:100], image[60:]], np.r_[caption[:100], caption[60:]],
        source=np.r_[np.zeros(100, int), np.ones(100, int)], rating=np.r_[stars[:100], votes[60:]],
        sources=sources,
    )  # fmt: skip
    half = IMAGES // 2
    folds = [
        Fold("first", np.arange(half), np.arange(half * CAPTIONS)),
        Fold("second", np.arange(half, IMAGES), np.arange(half * CAPTIONS, IMAGES * CAPTIONS)),
    ]
    asked = {"i2t": np.arange(0, IMAGES, 2), "t2i": np.arange(0, IMAGES * CAPTIONS, 3)}
    every = {"i2t": np.arange(IMAGES), "t2i": np.arange(IMAGES * CAPTIONS)}
    vectors = bench.objects.class_vectors(IMAGES)
    truths = {
        **bench.truths,
        "rated": Truth("rated", rated, asked, folds, about="Ratings of two sources, in two folds."),
        "pm(z=1)": Truth(
            "pm(z=1)", None, every, rule=PlausibleMatch(vectors, bench.caption_image, 1), about="A rule."
        ),
    }
    bench = replace(bench, truths=truths, defaults={**bench.defaults, "rated": ["R@1", "nDCG@10"]})
    save_benchmark(bench, FILES / "benchmark")
    return world


def make_odd_benchmark():
    """A benchmark of another sort: whole numbers as ids, ids off the gallery, a machine's truth."""
    from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth, save_benchmark

    own = np.array([0, 0, 1, 1, 2, 2])
    asked = {"i2t": np.arange(3), "t2i": np.arange(6)}
    original = Judgments(
        np.r_[own, 0, 2], np.r_[np.arange(6), 6, 6], rating=[1.0] * 8, sources=[Provenance("original")]
    )
    machine = Judgments([0, 1, 2], [5, 0, 1], rating=[1.0, 0.0, 1.0], sources=[Provenance("cider")])
    bench = Benchmark(
        "odd", Ids([300, 100, 200], extra=[999], kind="image"),
        Ids([31, 32, 11, 12, 21, 22], extra=[77], kind="caption"),
        {
            "original": Truth("original", original, asked),
            "machine(cider)": Truth("machine(cider)", machine, {"i2t": np.arange(3)}, machine=True),
        },
        caption_image=own, defaults={"original": ["R@1"]}, about="Ids that are numbers, and more of them.",
        texts=["a dog", "the dog, running", "ein Öhr", "日本", 'say "hi"', "=1+1"],
        other_texts=[["a hound"], [], ["x", "y"]],
    )  # fmt: skip
    save_benchmark(bench, FILES / "benchmark-odd")


def make_runs(world):
    """Systems for the pool, each in a format of its own; vectors and a tiny table in the other formats."""
    from karat.world import simulate

    folder = FILES / "runs"
    folder.mkdir()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        settings = {"seer": (5.0, 0.0), "learner": (4.0, 0.0), "memoriser": (3.0, 1.0)}
        for seed, (name, (strength, instance)) in enumerate(settings.items()):
            run = simulate(world, strength, instance=instance, seed=seed, name=name)
            np.save(scratch / f"{name}.npy", run.scores.astype(np.float32))
        bench = ("-b", "benchmark")
        karat("convert", scratch / "seer.npy", "runs/seer.npy", *bench)
        karat("convert", scratch / "learner.npy", "runs/learner.json", "--top", 3, *bench)
        karat("convert", scratch / "memoriser.npy", "runs/memoriser.parquet", "--top", 3, *bench)
        karat("convert", scratch / "learner.npy", "runs/lists.csv", "--top", 1, *bench)
        karat("convert", scratch / "learner.npy", "runs/lists.tsv", "--top", 2, "--direction", "i2t", *bench)
        karat("convert", scratch / "learner.npy", "runs/i2t.trec", "--top", 2, "--direction", "i2t", *bench)
        karat("convert", scratch / "learner.npy", "runs/t2i.run", "--top", 1, "--direction", "t2i", *bench)
        rng = np.random.default_rng(SEED)
        images = rng.normal(size=(IMAGES, 3)).astype(np.float32)
        noise = rng.normal(size=(IMAGES * CAPTIONS, 3))
        captions = (np.repeat(images, CAPTIONS, axis=0) + 0.5 * noise).astype(np.float32)
        np.save(scratch / "i.npy", images)
        np.save(scratch / "c.npy", captions)
        for target in ("vectors.npz", "vectors.safetensors", "vectors"):
            karat("convert", scratch / "i.npy", scratch / "c.npy", f"runs/{target}", *bench)
        for target in ("pair.npy", "pair.parquet"):
            both = (scratch / "i.npy", scratch / "c.npy")
            karat("convert", *both, f"runs/{target}", "--kind", "embeddings", *bench)
        np.save(scratch / "odd.npy", rng.normal(size=(3, 6)).round(2))
        for target in ("odd.csv", "odd.tsv", "odd.npz", "odd.safetensors", "odd.parquet"):
            karat("convert", scratch / "odd.npy", f"runs/{target}", "-b", "benchmark-odd")


def fill(place, world):
    """Make a project with everything that a project can hold; return the secrets that tests need."""
    import karat as library
    from karat.judging import create_project, load_form, make_pool, make_tasks, simulate_answers
    from karat.judging.machine_judges import calibrate_in, judge_in, learn_judge
    from karat.judging.store import AnswerRows
    from karat.world import adversarial, average, careful, lazy

    bench = library.load_benchmark(str(FILES / "benchmark"))
    form = load_form(str(FILES / "form.toml"))
    runs = [library.load_run(str(FILES / "runs" / name), bench) for name in SYSTEMS]
    pool = make_pool(runs, bench, form=form, **POOL)
    plan = make_tasks(pool, form, **TASKS)
    # "benchmark" is no folder from here, so the project keeps the word and no path of this machine.
    with create_project(place, bench, form, source="benchmark", name="Net, ünïcode & more") as project:
        project.set_pool(pool)
        sample = [f"{name}={number}" for name, number in POOL["sample"].items()]
        said = {"runs": [f"runs/{name}" for name in SYSTEMS], "systems": list(pool.systems), "sample": sample}
        project.log("pool", said | {"top": POOL["top"], "seed": POOL["seed"], "pairs": len(pool)})
        project.add_tasks(plan)
        project.log("tasks", {"tasks": plan.tasks, "first": 0, "overlap": 3, "seed": TASKS["seed"]})

        # Simulated people do most of the tasks; the rest is for those below, and for the tests.
        names = ["Ada", "Ben Ó Sé", "李雷", "=Dan", "'Eve", "Finn, jr."]
        made = [careful, careful, average, average, lazy, adversarial]
        people = [make(name) for make, name in zip(made, names)]
        rows = simulate_answers(world, plan, people, form, seed=SEED).rows()
        keep = np.flatnonzero(np.asarray(rows.task) < plan.tasks - 3).tolist()
        details = [rows.details[k] or None for k in keep]
        details[0] = {**(details[0] or {}), "note": '=not a formula, "quoted", two\nlines 🙂'}
        project.record(
            AnswerRows(
                [int(rows.task[k]) for k in keep], [int(rows.image[k]) for k in keep],
                [int(rows.caption[k]) for k in keep], [rows.annotator[k] for k in keep],
                [rows.code[k] for k in keep], [float(rows.seconds[k]) for k in keep],
                [float(rows.at[k]) for k in keep], details,
            )
        )  # fmt: skip
        # Answers without a task: a person's, and those of another judged set.
        project.record(AnswerRows([-1, -1], [12, 13], [3, 3], ["Ada", "Ada"], ["no", "yes"]))
        project.record(
            AnswerRows(
                [-1] * 3, [0, 1, 2], [0, 5, 11], ["older set"] * 3, ["yes", "no", "yes"], kind="dataset"
            )
        )

        secrets = make_accounts(project)
        judge_by_hand(project)
        review(project)
        project.adjudicate("adjudicator 1", int(pool.image[0]), int(pool.caption[0]), "no", tick())
        project.adjudicate("adjudicator 1", int(pool.image[1]), int(pool.caption[1]), "yes", tick())
        project.adjudicate("adjudicator 1", int(pool.image[1]), int(pool.caption[1]), "perhaps", tick())
        project.adjudicate("adjudicator 1", int(pool.image[2]), int(pool.caption[2]), "yes", tick())
        project.adjudicate("adjudicator 1", int(pool.image[2]), int(pool.caption[2]), None, tick())
        project.mark_invalid("caption", 7, "not a sentence", "Vera")
        project.mark_invalid("image", 15, "damaged", "Vera")
        tick()
        project.mark_valid("image", 15, "seen again: it is fine", "Vera")

        tick()
        machine, rest = learn_judge(project, runs[0], seed=1)
        calibrate_in(project, machine, 60, 1, rest)
        judge_in(project, machine, min_pairs=1, min_kappa=-1.0)
        calibrate_in(project, Teller(form), 12, 2)
        project.settings_set("note", {"kept": ["as", "it", "is"], "ünïcode": 1.5, "nothing": None})
    return secrets


class Teller:
    """A judge that replies in words, costs something, and has no answer now and then."""

    name, model, version, needs_images = "teller", "teller-7b", "1", False

    def __init__(self, form):
        self.codes = [choice.code for choice in form.answers]

    def judge(self, questions):
        from karat.judging.machine_judges import Reply

        for number, one in enumerate(questions):
            sent = json.dumps({"model": self.model, "text": one.text})
            use = {"sent": sent, "tokens_in": 40 + number, "tokens_out": 3, "cost": 0.001 * number}
            if number % 5 == 4:
                yield Reply(one.image, one.caption, None, raw="I cannot tell.", error="no answer", **use)
            else:
                code = self.codes[number % len(self.codes)]
                yield Reply(one.image, one.caption, code, raw=f"Answer: {code}", **use)


def make_accounts(project):
    """Accounts of every role, links in every state, a session, somebody disabled, somebody removed."""
    from karat.web.accounts.accounts import Accounts
    from karat.web.accounts.invitations import ENTER, RESET
    from karat.web.settings import Settings

    accounts = Accounts(project, Settings("project.db"))
    made = {role: accounts.add(name, role, password) for role, (name, password) in PEOPLE.items()}
    owner = made["owner"].id
    tick()
    joined = accounts.accept(accounts.invite("reader", actor=owner), *JOINED)
    accounts.set_role(joined.id, "judge", actor=owner)
    accounts.accept(accounts.link_for(joined.id, RESET, actor=owner), password=JOINED[1])
    accounts.accept(accounts.link_for(owner, ENTER))
    accounts.invite("reader", "Olga", actor=owner)
    open_link = accounts.invite("judge", actor=owner)
    accounts.invite("judge", actor=owner)
    accounts.revoke(accounts.invitations()[0]["id"], actor=owner)
    away = accounts.add("Away", "judge", "net pass phrase five")
    accounts.set_active(away.id, False, actor=owner)
    gone = accounts.add("Gone", "judge", "net pass phrase six")
    lease = project.lease("Gone", 600, tick())
    for item in lease.items:
        project.answer(lease.token, item.id, "yes", seconds=2.0, now=tick())
    project.submit(lease.token, tick())
    accounts.remove(gone.id, actor=owner)
    accounts.note(made["judge"].id, "signed in", made["judge"].id)
    tick()
    session = accounts.open_session(made["judge"].id)
    return {
        "people": {role: list(pair) for role, pair in PEOPLE.items()}, "joined": list(JOINED),
        "disabled": ["Away", "net pass phrase five"], "link": open_link, "session": session,
    }  # fmt: skip


def judge_by_hand(project):
    """People at the page: one hands in with undos and changes, one holds a task, one hands it back."""
    zoe = project.lease("Zoë Müller", 1800, tick())
    for number, item in enumerate(zoe.items):
        how = {"seconds": 1.5 + number, "key": f"zoe-{number}", "now": tick()}
        if number == 1:
            project.answer(zoe.token, item.id, "no", {"note": "a mistake"}, **how)
            project.withdraw(zoe.token, item.id, key="zoe-undo", now=tick())
            how["key"] = "zoe-again"
        if number == 2:
            project.answer(zoe.token, item.id, "perhaps", {"wrong": ["colour"]}, **how)
            how["key"] = "zoe-changed"
            details = {"wrong": ["other", "number"], "how_bad": "grave", "note": "the text says “two” 🙂"}
            project.answer(zoe.token, item.id, "hardly", details, **how)
            continue
        project.answer(zoe.token, item.id, "yes", **how)
    project.submit(zoe.token, tick())
    jo = project.lease("Jo", 1800, tick())
    for item in jo.items[:3]:
        project.answer(jo.token, item.id, "no", {"note": f"item {item.position}"}, 3.25, now=tick())
    project.withdraw(jo.token, jo.items[2].id, now=tick())
    project.renew(jo.token, 3600, tick())
    kim = project.lease("Kim", 60, tick())
    project.answer(kim.token, kim.items[0].id, "yes", now=tick())
    project.release(kim.token)
    project.lease("Lee", 60, tick())
    # The second of two tasks that somebody holds.
    project.lease_ahead("Jo", 600, tick())


def review(project):
    """Hand-ins approved, rejected, rejected and asked again, and approved after all."""
    assignments = project.queue.assignments()
    done = assignments.assignment[np.asarray(assignments.state) == "submitted"].tolist()
    task = dict(zip(assignments.assignment.tolist(), assignments.task.tolist()))
    project.review(done[:3], "approve", "Vera")
    tick()
    project.review(done[3:5], "reject", "Vera", "always yes")
    project.ask_again([task[done[4]]])
    project.review(done[5:6], "reject", "gold rule", "1 of 2 known pairs wrong")
    tick()
    project.review(done[5:6], "approve", "Vera", "looked at it: “fine”")


def pack(place):
    """Make one small file of a SQLite project: no log beside it, small pages, and no free ones."""
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("PRAGMA journal_mode=DELETE")
    # Most tables hold a page or less: 512 bytes instead of 4 kB save three quarters. Nothing else differs.
    connection.execute("PRAGMA page_size=512")
    connection.execute("VACUUM")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.close()


def make_sqlite(world):
    """The project as a file."""
    place = FILES / "project.db"
    secrets = fill(place, world)
    pack(place)
    return secrets


def make_postgres(world):
    """The same in PostgreSQL, as a dump in plain SQL."""
    from store.postgres import new_database, programs, server

    with server() as running:
        address = new_database(running, "net")
        secrets = fill(address, world)
        dump = [str(programs() / "pg_dump"), "--no-owner", "--no-privileges", address]
        lines = subprocess.run(dump, check=True, capture_output=True).stdout.splitlines(keepends=True)
        # Newer programs write lines that older ones do not know.
        text = b"".join(line for line in lines if not line.startswith((b"\\restrict", b"\\unrestrict")))
        tables = facts.table_facts(facts.postgres_tables(address))
    (FILES / "project.sql.gz").write_bytes(gzip.compress(text, 9, mtime=0))
    return secrets, tables


def make_model(folder):
    """A fitted model with vocabularies of a few words; `karat fit` itself has no option for that."""
    import karat as library
    from karat.systems import ImageTextModel
    from karat.systems.images import ImageFeatures

    bench = library.load_benchmark(str(folder / "world"))
    captions = [
        [text for text, own in zip(bench.texts, bench.caption_image) if own == k] for k in range(IMAGES)
    ]
    few = ImageFeatures(side=64, points=8, colour_words=6, texture_words=4, sift_words=4, levels=2)
    model = ImageTextModel(text="BoW5-idf", kappa=0.5, n=3, features=few)
    model.fit(bench.image_paths, captions).save(FILES / "model")


def make_exports(folder):
    """Exports of tasks and answers, as files and as Label Studio and Amazon write theirs."""
    what = ("--what", "answers")
    for target, *more in (
        ("tasks.csv",),
        ("answers.csv", *what),
        ("answers.jsonl", *what),
        ("label-studio.json", *what),
        ("mturk.csv", "--format", "mturk", *what),
    ):
        facts.command("answers", "export", "project.db", "-o", target, *more, cwd=folder)
        if target in ("tasks.csv", "answers.csv"):
            shutil.copy(folder / target, FILES / target)
        else:
            data = (folder / target).read_bytes()
            (FILES / f"{target}.gz").write_bytes(gzip.compress(data, 9, mtime=0))


def main():
    os.environ["KARAT_CACHE"] = tempfile.mkdtemp()
    keep = {path.name for path in FILES.glob("form*.toml")}
    for path in FILES.iterdir():
        if path.name not in keep:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    clock, time.time = time.time, Clock()
    world = make_benchmark()
    make_odd_benchmark()
    make_runs(world)
    expected = {"karat": "0.4.0", "append_only": ["answer", "audit", "call", "event", "mark", "review"]}
    secrets = make_sqlite(world)
    tables = facts.table_facts(facts.sqlite_tables(FILES / "project.db"))
    expected["sqlite"] = {"secrets": secrets, "tables": tables}
    Clock.now = START
    secrets, tables = make_postgres(world)
    for table in tables.values():
        # The same as in SQLite.
        del table["columns"]
    expected["postgresql"] = {"secrets": secrets, "tables": tables}
    time.time = clock

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "files"
        shutil.copytree(FILES, folder)
        facts.make_world(folder)
        make_model(folder)
        make_exports(folder)
        facts.command("publish", "project.db", "-o", "published", "--made", "0.4.0", cwd=folder)
        shutil.copytree(folder / "published", FILES / "published")
        expected["project"] = facts.project_facts("project.db", folder)
        fresh = facts.fresh_project(folder)
        expected["imports"] = {}
        for file in facts.ANSWERS:
            shutil.copy(fresh, folder / "import.db")
            expected["imports"][file] = facts.import_facts("import.db", FILES / file, folder)
        expected["benchmarks"] = {
            name: facts.benchmark_facts(FILES / name) for name in ("benchmark", "benchmark-odd")
        }
        expected["corrected"] = facts.corrected_facts(FILES / "published")
        expected["runs"] = {
            " ".join(files): facts.run_facts(files, bench, folder)
            for bench, runs in facts.RUNS.items()
            for files in runs
        }
        expected["scores"] = {name: facts.score_facts(name, folder) for name in ("benchmark", "published")}
        forms = ("form.toml", "form-grid.toml")
        expected["forms"] = {name: facts.form_facts(FILES / name, folder) for name in forms}
        expected["model"] = facts.model_facts(FILES / "model", folder)
    text = json.dumps(expected, ensure_ascii=False, separators=(",", ":"))
    # A line for each fact, so that a difference can be read.
    (FILES / "expected.json").write_text(text.replace('},"', '},\n"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
