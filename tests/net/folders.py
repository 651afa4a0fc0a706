"""The folders that commands run in: every file that README and docs name, made from a small known world.

``small`` has 24 pictures with 120 captions, ``coco`` the sizes of COCO's test split. Both are made once and
never changed: a command gets copies of their files in a folder of its own.
"""

from __future__ import annotations

import csv
import fcntl
import json
import os
import shutil
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import choice_files

IMAGES, CAPTIONS = 24, 5
SYSTEMS = {
    "seer": ("a", "sims", "run", "old"),
    "learner": ("b", "new"),
    "memoriser": ("c",),
    "number-blind": ("clip",),
}
DATA = {
    "flickr8k": "flickr8k",
    "ExpertAnnotations.txt": "flickr8k/ExpertAnnotations.txt",
    "CrowdFlowerAnnotations.txt": "flickr8k/CrowdFlowerAnnotations.txt",
    "captions.tsv": "coco/coco_karpathy_test_captions.tsv",
    "boxes.json": "coco/coco_karpathy_test_boxes.json",
    "sits_test.csv": "cxc/sits_test.csv",
    "instances_val2014_100.json": "cocoapi/instances_val2014_100.json",
    "fakesegm100_results.json": "cocoapi/instances_val2014_fakesegm100_results.json",
}
"""Names in commands of files that are nobody's to copy, and where they lie below KARAT_DATA."""

FORM = """\
name = "mine"
title = "Does the text fit?"
question = "Would you show this picture for this search?"
seconds = 8
pairs = 20
gold = 2
guidelines = ["Look at the whole picture.", "Judge only what the text says."]

[[answers]]
code = "yes"
text = "Yes"
key = "1"
rating = 2
grade = 1.0

[[answers]]
code = "no"
text = "No"
key = "2"
rating = 1
grade = 0.0

[[follow_ups]]
code = "why"
text = "What is wrong?"
when = ["no"]
kind = "several"

[[follow_ups.choices]]
code = "other_product"
text = "Another product"
"""

Karat = Callable[..., str]
"""Run a command in a folder: ``karat(folder, "project", "pool", "a.npy", …)``; it must succeed."""


QRELS = """# topic 0 document relevance
301 0 doc-a 2
301 0 doc-b 0
301 0 doc-c 1
301 0 doc-d -1
302 0 doc-a 0
303 0 doc-e 1
"""
TREC_RUN = """301 Q0 doc-b 1 7.5 bm25
301 Q0 doc-a 2 7.5 bm25
301 Q0 doc-x 3 6.0 bm25
301 Q0 doc-c 4 5.5 bm25
302 Q0 doc-a 1 3.0 bm25
999 Q0 doc-z 1 1.0 bm25
"""
"""The files of docs/trec-eval.md."""
COMPOSED_QRELS = "0 0 57413 1\n0 0 494408 1\n1 0 355099 1\n2 0 57413 1\n"
COMPOSED_RUN = """0 Q0 57413 1 3 run
0 Q0 355099 2 2 run
1 Q0 494408 1 3 run
1 Q0 355099 2 2 run
2 Q0 528417 1 3 run
2 Q0 57413 2 2 run
"""
"""The files of docs/sides.md, in small."""


def data_folder() -> Path | None:
    """Return the folder of real data, if there is one."""
    folder = os.environ.get("KARAT_DATA")
    return Path(folder).resolve() if folder and Path(folder).is_dir() else None


@contextmanager
def locked(path: Path):
    """Let one process at a time make what several share."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def prepared(shared: Path, name: str, karat: Karat) -> Path:
    """Return a folder, making it if no other process has."""
    with locked(shared / f"{name}.lock"):
        folder, done = shared / name, shared / f"{name}.done"
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            {"small": make_small, "coco": make_coco}[name](folder, karat)
            done.touch()
    return folder


def copied(folder: Path, to: Path) -> None:
    """Give a command its own copy. Only pictures and large tables are links: no command writes over them."""
    for path in folder.rglob("*"):
        target = to / path.relative_to(folder)
        if path.is_dir() and not path.is_symlink():
            target.mkdir(parents=True, exist_ok=True)
        elif path.is_symlink() or path.suffix == ".png" or path.stat().st_size > 4_000_000:
            os.link(path, target, follow_symlinks=False)
        else:
            shutil.copyfile(path, target)


class World:
    """What is true in the small world, and where its pictures are."""

    def __init__(self, folder: Path) -> None:
        import karat

        bench = karat.load_benchmark(str(folder))
        self.images, self.captions = list(bench.images[:]), list(bench.captions[:])
        self.texts, self.paths, self.own = list(bench.texts), list(bench.image_paths), bench.caption_image
        self.true = np.zeros((len(self.images), len(self.captions)), dtype=bool)
        pairs = bench.truths["complete"].judgments.pairs()
        self.true[pairs.image, pairs.caption] = pairs.grade > 0
        self.column = {text: place for place, text in enumerate(self.texts)}

    def fits(self, image: str, text: str) -> bool:
        """Return whether a text is true of a picture."""
        return bool(self.true[self.images.index(image), self.column[text]])


def make_small(folder: Path, karat: Karat) -> None:
    """Make all small files."""
    sizes = ["--images", str(IMAGES), "--captions", str(CAPTIONS)]
    karat(folder, "world", "make", "-o", "my-world", *sizes, "--seed", "7", "--systems")
    shutil.copytree(folder / "my-world", folder / "my", ignore=shutil.ignore_patterns("runs"))
    world = World(folder / "my")
    make_runs(folder, world, karat)
    make_photos(folder, world)
    make_tables(folder, world)
    make_projects(folder, world, karat)
    make_results(folder, karat)
    make_choices(folder)
    link_data(folder)


def make_runs(folder: Path, world: World, karat: Karat) -> None:
    """Write score tables, embeddings and ranked lists."""
    for system, names in SYSTEMS.items():
        for name in names:
            shutil.copy(folder / "my-world" / "runs" / f"{system}.npy", folder / f"{name}.npy")
    for path in (folder / "my-world" / "runs").glob("*.npy"):
        shutil.copy(path, folder / path.name)
    rng = np.random.default_rng(1)
    images = rng.normal(size=(IMAGES, 8)).astype(np.float32)
    captions = images[world.own] + 0.7 * rng.normal(size=(len(world.captions), 8)).astype(np.float32)
    for name in ("img", "new-img"):
        np.save(folder / f"{name}.npy", images)
    for name in ("txt", "new-txt"):
        np.save(folder / f"{name}.npy", captions)
    np.save(folder / "transposed.npy", np.load(folder / "a.npy").T)
    broken = np.load(folder / "a.npy").copy()
    broken[3, 5] = np.nan
    np.save(folder / "broken.npy", broken)
    # Whole numbers: many scores are equal, so that tie policies differ.
    np.save(folder / "ties.npy", np.round(np.load(folder / "b.npy")).astype(np.float32))
    scores = np.load(folder / "b.npy")
    best = {
        "i2t": {
            world.images[i]: [world.captions[c] for c in np.argsort(-scores[i])[:12]]
            for i in range(len(scores))
        },
        "t2i": {
            world.captions[c]: [world.images[i] for i in np.argsort(-scores[:, c])[:12]]
            for c in range(scores.shape[1])
        },
    }
    for name in ("run.json", "lists.json"):
        (folder / name).write_text(json.dumps(best))
    (folder / "order.json").write_text(json.dumps({"images": world.images[::-1], "captions": world.captions}))
    np.save(folder / "reversed.npy", scores[::-1])


def make_choices(folder: Path) -> None:
    """Write benchmarks of choices with invented content, and runs on them."""
    (folder / "winoground").mkdir()
    choice_files.winoground(folder / "winoground", count=120)
    choice_files.sugarcrepe(folder / "sugarcrepe", count=100)
    lines = "".join(f"a {a} on a {b}\n" for a, b in choice_files.pairs(300, seed=1))
    (folder / "plain-captions.txt").write_text(lines, encoding="utf-8")
    rng = np.random.default_rng(5)
    for name, strength in (("wino-clip", 0.4), ("wino-blip", 1.2)):
        scores = rng.normal(size=(120, 2, 2)) + strength * np.eye(2)
        np.save(folder / f"{name}.npy", scores.astype(np.float32))
    scores = rng.normal(size=(200, 2)) + np.array([1, 0])
    np.save(folder / "sugar-clip.npy", scores.astype(np.float32))


def make_photos(folder: Path, world: World) -> None:
    """Write folders of pictures with captions, in each of the three layouts; one has no captions."""
    for name in ("my-photos", "my-test-photos", "photos", "other-photos"):
        (folder / name).mkdir()
        for path in world.paths:
            shutil.copy(path, folder / name)
    with open(folder / "my-photos" / "captions.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["image", "caption"])
        writer.writerows([world.images[world.own[c]], text] for c, text in enumerate(world.texts))
    for name, image in enumerate(world.images):
        texts = [text for c, text in enumerate(world.texts) if world.own[c] == name]
        (folder / "my-test-photos" / f"{Path(image).stem}.txt").write_text("\n".join(texts) + "\n")
        with open(folder / "photos" / "captions.jsonl", "a") as file:
            file.write(json.dumps({"image": image, "captions": texts}) + "\n")


def write(path: Path, header: list[str], rows: list[list]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def make_tables(folder: Path, world: World) -> None:
    """Write ratings, leaderboards and lists of captions."""
    rng = np.random.default_rng(2)
    places = rng.choice(world.true.size, 160, replace=False)
    places = np.unique(np.r_[places, np.flatnonzero(world.true.ravel())[::3]])
    expert, crowd, ratings, pairs, vetted = [], [], [], [], []
    for image, caption in zip(*np.unravel_index(places, world.true.shape)):
        pair, fits = [world.images[image], world.captions[caption]], bool(world.true[image, caption])
        scores = np.clip((4 if fits else 1.5) + rng.normal(0, 0.8, 3), 1, 4).round().astype(int).tolist()
        yes = int(rng.binomial(3, 0.85 if fits else 0.1))
        expert.append([*pair, *scores])
        if rng.random() < 0.8:
            crowd.append([*pair, yes, 3 - yes])
        ratings += [
            [*pair, rater, score] for rater, score in zip(("ann", "bob", "cem"), scores) if rng.random() < 0.9
        ]
        pairs.append(pair)
        vetted.append([*pair, int(fits)])
    write(folder / "expert.csv", ["image", "caption", "ann", "bob", "cem"], expert)
    write(folder / "crowd.csv", ["image", "caption", "yes", "no"], crowd)
    write(folder / "ratings.csv", ["image", "caption", "rater", "rating"], ratings)
    write(folder / "pairs.csv", ["image", "caption"], pairs[:40])
    write(folder / "vetted.csv", ["image", "caption", "label"], vetted)
    skill = rng.normal(size=9)
    metrics = {
        name: np.round(50 + 10 * skill + spread * rng.normal(size=9), 1)
        for name, spread in (("R@1", 1), ("R@5", 3), ("RP", 6), ("mAP@R", 6.5), ("PMRP", 12))
    }
    metrics["MedR"] = np.round(30 - 5 * skill + rng.normal(size=9))
    rows = [[f"system-{k}", *(float(column[k]) for column in metrics.values())] for k in range(9)]
    for name in ("board.csv", "leaderboard.csv"):
        write(folder / name, ["system", *metrics], rows)
    (folder / "refs.txt").write_text("a dog runs in the park\nthe dog is running\na brown dog on the grass\n")
    spoken = ["a man riding a brown horse on the beach", "two small dogs next to a red car", *world.texts[:6]]
    (folder / "captions.txt").write_text("\n".join(spoken) + "\n")
    (folder / "mine.toml").write_text(FORM)
    (folder / "qrels.txt").write_text(QRELS)
    (folder / "input.bm25").write_text(TREC_RUN)
    (folder / "circo.txt").write_text(COMPOSED_QRELS)
    (folder / "circo.trec").write_text(COMPOSED_RUN)
    (folder / "judge.toml").write_text('model = "my-vlm"\nparallel = 4\nprice_in = 0.15\nprice_out = 0.60\n')


ANNOTATORS = {
    "ann": 0.02,
    "bob": 0.04,
    "cem": 0.05,
    "dee": 0.08,
    "eli": 0.1,
    "fay": 0.15,
    "gus": 0.5,
    "hal": 0.9,
}
"""How often each errs. gus does not look, hal says the opposite."""


def filled(sheet: Path, world: World, target: Path, tasks: int = 10**6) -> None:
    """Fill in an exported sheet as three annotators per task would, and write the answers as a csv file."""
    rng = np.random.default_rng(3)
    names = list(ANNOTATORS)
    rows: list[list] = []
    with open(sheet, newline="", encoding="utf-8") as file:
        asked = list(csv.DictReader(file))
    order = list(dict.fromkeys(row["task"] for row in asked))
    for number, task in enumerate(order[:tasks]):
        for name in (names[(3 * number + k) % len(names)] for k in range(3)):
            for row in (row for row in asked if row["task"] == task):
                right = world.fits(row["image_address"], row["caption_text"]) != (
                    rng.random() < ANNOTATORS[name]
                )
                sure = rng.random() < 0.7
                answer = ("yes" if sure else "partially") if right else ("no" if sure else "mostly_no")
                why = ["", "wrong_way", "not_in_image"][0 if sure else 1 + int(rng.integers(2))]
                error = "color" if why == "wrong_way" else ""
                seconds = round(float(rng.gamma(4, 3)), 1)
                at = f"2024-05-{1 + number % 28:02d}T12:30:00Z"
                rows.append([task, row["item"], name, answer, seconds, at, why, error])
    header = ["task", "item", "worker", "answer", "seconds", "at", "details.shortcomings", "details.errors"]
    write(target, header, rows)


def make_projects(folder: Path, world: World, karat: Karat) -> None:
    """Write projects: pooled, packed into tasks, and judged by simulated annotators."""
    sample = ["--sample", "i2t=12,t2i=30", "--gold-depth", "5"]
    karat(
        folder,
        "project",
        "pool",
        "a.npy",
        "b.npy",
        "c.npy",
        "-b",
        "my/",
        "--top",
        "3",
        *sample,
        "-o",
        "pooled.db",
    )
    shutil.copy(folder / "pooled.db", folder / "packed.db")
    karat(folder, "project", "tasks", "packed.db", "--task-size", "16", "--gold", "2")
    karat(folder, "project", "export", "packed.db", "-o", "sheet.csv")
    filled(folder / "sheet.csv", world, folder / "answers.csv")
    filled(folder / "sheet.csv", world, folder / "results.csv", tasks=2)
    for path, source in (("project.db", "answers.csv"), ("partly.db", "results.csv")):
        shutil.copy(folder / "packed.db", folder / path)
        karat(folder, "project", "import", path, source)
    five = ["seer", "learner", "memoriser", "colour-blind", "number-blind"]
    runs = [f"{name}.npy" for name in five]
    karat(folder, "project", "pool", *runs, "-b", "my/", "--top", "3", "--gold-depth", "0", "-o", "five.db")
    karat(folder, "project", "tasks", "five.db", "--gold", "0", "--overlap", "1")
    karat(folder, "project", "export", "five.db", "-o", "sheet.csv")
    write_truth(folder / "sheet.csv", world, folder / "exact.csv")
    karat(folder, "project", "import", "five.db", "exact.csv")
    for name in ("sheet.csv", "exact.csv", "answers.csv"):
        (folder / name).unlink()


def write_truth(sheet: Path, world: World, target: Path) -> None:
    """Answer a sheet rightly, as one annotator who never errs."""
    with open(sheet, newline="", encoding="utf-8") as file:
        rows = [
            [
                row["task"],
                row["item"],
                "oracle",
                "yes" if world.fits(row["image_address"], row["caption_text"]) else "no",
            ]
            for row in csv.DictReader(file)
        ]
    write(target, ["task", "item", "worker", "answer"], rows)


def make_results(folder: Path, karat: Karat) -> None:
    """Write what some commands write and others read: a metric's table, a model, a published folder."""
    karat(folder, "captions", "table", "my/", "-m", "cider", "-o", "N.npy")
    karat(folder, "captions", "corpus", "my/", "-o", "coco.npz")
    karat(folder, "fit", "my-photos/", "-o", "model/")
    karat(folder, "encode", "model/", "-b", "my-test-photos/", "-o", "kcca.safetensors")
    karat(folder, "project", "publish", "project.db", "-o", "my-corrected/")
    with open(folder / "my-corrected" / "invalid.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    header = list(rows[0]) if rows else ["kind", "id", "status"]
    write(folder / "decided.csv", header, [[*(row | {"status": "remove"}).values()] for row in rows[:1]])
    (folder / "scorecards").mkdir()
    for name in "abc":
        karat(folder, "evaluate", f"{name}.npy", "-b", "my/", "--json", f"scorecards/{name}.json")


def make_coco(folder: Path, karat: Karat) -> None:
    """Make files of COCO's sizes: embeddings of few dimensions, products in half precision, ranked lists."""
    karat(folder, "benchmarks", "show", "coco", "--ids", "ids.json")
    ids = json.loads((folder / "ids.json").read_text())
    (folder / "ids.json").unlink()
    images, captions = ids["images"], ids["captions"]
    rng = np.random.default_rng(4)
    left = rng.normal(size=(len(images), 24)).astype(np.float32)
    # Captions follow their images in COCO's order five by five, with few exceptions; near enough for scores.
    own = np.minimum(np.arange(len(captions)) // 5, len(images) - 1)
    right = 0.8 * left[own] + rng.normal(size=(len(captions), 24)).astype(np.float32)
    right = right.astype(np.float32)
    np.save(folder / "img.npy", left)
    np.save(folder / "txt.npy", right)
    # Whole numbers of moderate size: their products are exact, whatever the matrix library.
    table = (np.round(4 * left) @ np.round(4 * right).T) / 8
    np.save(folder / "sims.npy", table.astype(np.float16))
    drawn = (
        rng.integers(0, len(captions), (len(images), 15)),
        rng.integers(0, len(images), (len(captions), 15)),
    )
    lists: dict[str, dict[str, list]] = {"i2t": {}, "t2i": {}}
    for image, row in enumerate(drawn[0].tolist()):
        row[image % 15] = 5 * image
        lists["i2t"][str(images[image])] = [captions[c] for c in dict.fromkeys(row)]
    for caption, row in enumerate(drawn[1].tolist()):
        row[caption % 15] = int(own[caption])
        lists["t2i"][str(captions[caption])] = [images[i] for i in dict.fromkeys(row)]
    (folder / "run.json").write_text(json.dumps(lists))
    link_data(folder)


def link_data(folder: Path) -> None:
    """Link the real data, where there are any."""
    data = data_folder()
    for name, path in DATA.items():
        if data is not None and (data / path).exists():
            (folder / name).symlink_to(data / path)
    instances = folder / "instances_val2014_100.json"
    if instances.exists():
        entries = json.loads(instances.read_text())["annotations"]
        ids = [entry["id"] for entry in entries if not entry["iscrowd"]][::2]
        (folder / "approved.csv").write_text("annotation,approved\n" + "".join(f"{at},1\n" for at in ids))
