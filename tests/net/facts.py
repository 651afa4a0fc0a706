"""What karat reads from the files of this folder, as plain data.

These facts were written down with 0.4.0 (`files/expected.json`); `test_files.py` asks again. Only
what users rely on is used here: names of packages, the command line, columns of published files, plain SQL.
Sentences are left out: how a thing is said may change, what is said may not.
"""

import contextlib
import hashlib
import io
import json
import re
import runpy
import shutil
import sqlite3
import sys
import tomllib
from pathlib import Path

import numpy as np
import polars as pl

import karat

FILES = Path(__file__).parent / "files"
POOL = ("--form", "form.toml", "--top", 2, "--sample", "i2t=4", "t2i=9", "--gold-depth", 3, "--seed", 3)
TASKS = ("--task-size", 6, "--gold", 2, "--overlap", 3, "--seed", 5)
WORLD = ("--images", 16, "--captions", 5, "--seed", 11)
SYSTEMS = ("seer.npy", "learner.json", "memoriser.parquet")
ANSWERS = ("answers.csv", "answers.jsonl.gz", "label-studio.json.gz", "mturk.csv.gz")
RUNS = {
    "benchmark": [
        ("seer.npy",), ("learner.json",), ("memoriser.parquet",), ("lists.csv",), ("lists.tsv",),
        ("i2t.trec",), ("t2i.run",), ("vectors.npz",), ("vectors.safetensors",), ("vectors",),
        ("pair.images.npy", "pair.captions.npy"), ("pair.images.parquet", "pair.captions.parquet"),
    ],
    "benchmark-odd": [
        ("odd.csv",), ("odd.tsv",), ("odd.npz",), ("odd.safetensors",), ("odd.parquet",),
    ],
}  # fmt: skip
"""Every run with the benchmark that it is of; two files are the two sides of one."""
NO_PROJECT = ("alembic_version", "sqlite_sequence")


def command(*words, cwd):
    """Run a command of karat's, as `python -m karat` does but in this process; return what it printed."""
    out, err, before, code = io.StringIO(), io.StringIO(), sys.argv, 0
    sys.argv = ["karat", *map(str, words)]
    try:
        with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            runpy.run_module("karat", run_name="__main__")
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = before
    if code:
        raise AssertionError(f"karat {' '.join(map(str, words))} ended with {code}: {err.getvalue()}")
    return out.getvalue()


def digest(value):
    """A hash of plain data."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()[:24]


def rounded(value, digits=6):
    """Plain data with its numbers rounded, for expected.json to stay small."""
    if isinstance(value, dict):
        return {name: rounded(one, digits) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one, digits) for one in value]
    return round(value, digits) if isinstance(value, float) else value


# Databases, by plain SQL


def sqlite_tables(path):
    """Every table of a SQLite project: its columns and its rows."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        query = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        names = [name for (name,) in connection.execute(query) if name not in NO_PROJECT]
        found = {name: connection.execute(f'SELECT * FROM "{name}"') for name in names}
        return {name: ([one[0] for one in rows.description], rows.fetchall()) for name, rows in found.items()}


def postgres_tables(address):
    """Every table of a PostgreSQL project: its columns and its rows."""
    import psycopg

    query = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
    with psycopg.connect(address) as connection:
        names = [name for (name,) in connection.execute(query) if name not in NO_PROJECT]
        found = {name: connection.execute(f'SELECT * FROM "{name}"') for name in names}
        return {name: ([one[0] for one in rows.description], rows.fetchall()) for name, rows in found.items()}


def row_facts(columns, rows):
    """How many rows a table has, and a hash of their values: by number, or sorted where there is none."""
    lines = [json.dumps(list(row), ensure_ascii=False) for row in rows]
    if columns[0] == "id":
        lines = [line for _, line in sorted(zip((row[0] for row in rows), lines))]
    else:
        lines.sort()
    return {"columns": columns, "rows": len(rows), "sha256": digest(lines)}


def table_facts(tables):
    """Facts about all tables."""
    return {name: row_facts(*table) for name, table in tables.items()}


# Projects, by the command line


def project_facts(place, folder):
    """What the commands say of a project; `folder` holds its benchmark."""
    out = {}
    # In 0.4.0 an even split was a yes.
    for way, even in (("dawid-skene", "no"), ("majority", "yes")):
        options = ("-a", way, "--aggregate-set", f"even={even}", "--resamples", 200)
        command("project", "quality", place, *options, "--json", "quality.json", cwd=folder)
        out[way] = rounded(json.loads((folder / "quality.json").read_text(encoding="utf-8")))
    # Most of it does not depend on how answers are aggregated.
    out["majority"] = out["majority"]["verdicts"]
    command("project", "judges", place, "--json", "judges.json", cwd=folder)
    out["machines"] = rounded(json.loads((folder / "judges.json").read_text(encoding="utf-8")))
    command("project", "export", place, "-o", "out.jsonl", "--what", "answers", cwd=folder)
    out["answers"] = answer_facts(folder / "out.jsonl")
    return out


def answer_facts(path):
    """How many answers a jsonl file has, and a hash of them in whatever order."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["at"] = round(line["at"], 3)
    return {"answers": len(lines), "sha256": digest(sorted(json.dumps(one, sort_keys=True) for one in lines))}


def fresh_project(folder):
    """Make a project with the same tasks and no answers; `folder` holds the files.

    The tasks are those of the old project: gold is drawn otherwise since.
    """
    from karat.store import create_project, open_project

    shutil.copy(FILES / "project.db", folder / "tasks.db")
    with contextlib.chdir(folder), open_project(folder / "tasks.db") as old:
        made = create_project(
            folder / "fresh.db",
            old.benchmark(),
            old.form,
            source=old.source,
            settings=old.settings,
            name=old.name,
        )
        with made as project:
            project.pools.set(old.pools.read())
            project.pools.add_tasks(old.pools.plan())
    return folder / "fresh.db"


def import_facts(project, file, folder):
    """What a file of answers says when it is imported into a project."""
    said = re.findall(r"[0-9]+", command("project", "import", project, file, cwd=folder))
    command("project", "export", project, "-o", "back.jsonl", "--what", "answers", cwd=folder)
    return {"numbers": [int(one) for one in said], **answer_facts(folder / "back.jsonl")}


# Benchmarks, runs, forms, models


def benchmark_facts(folder):
    """Everything that a saved benchmark holds, the long parts as hashes."""
    bench = karat.load_benchmark(str(folder))
    things = bench.objects
    return {
        "name": bench.name, "about": bench.about,
        "images": bench.images.values.tolist(), "image_gallery": bench.images.size,
        "captions": digest(bench.captions.values.tolist()), "caption_gallery": bench.captions.size,
        "texts": digest(list(bench.texts)), "caption_image": digest(np.asarray(bench.caption_image).tolist()),
        "other_texts": None if bench.other_texts is None else [list(own) for own in bench.other_texts],
        "defaults": {name: list(names) for name, names in bench.defaults.items()},
        "objects": None if things is None else {
            "number": len(things), "categories": digest(list(things.categories)),
            "synsets": digest(list(things.synsets)), "box": digest(np.asarray(things.box).round(6).tolist()),
            "where": digest([things.image.tolist(), things.category.tolist()]),
            "attributes": digest({name: list(map(str, v)) for name, v in sorted(things.attributes.items())}),
        },
        "truths": {name: truth_facts(truth) for name, truth in bench.truths.items()},
        "counts": json.loads(json.dumps(bench.summary())),
    }  # fmt: skip


def truth_facts(truth):
    """Everything about a truth."""
    facts = {
        "about": truth.about, "complete": truth.complete, "machine": truth.machine,
        "queries": {way: digest(np.asarray(asked).tolist()) for way, asked in sorted(truth.queries.items())},
        "folds": [
            [one.name, digest(one.images.tolist()), digest(one.captions.tolist())] for one in truth.folds
        ],
    }  # fmt: skip
    table = truth.judgments
    if table is not None:
        names = [one.name for one in table.sources]
        columns = (table.image, table.caption, table.source, table.rating, table.grade)
        rows = sorted(zip(*(np.asarray(one).tolist() for one in columns)))
        rows = [[i, c, names[s], rating, round(grade, 9)] for i, c, s, rating, grade in rows]
        facts["judgments"] = {"rows": len(rows), "sha256": digest(rows)}
        scale = np.arange(6.0)
        facts["sources"] = [[one.name, one.scale, one.mapping(scale).tolist()] for one in table.sources]
    return facts


def run_facts(files, benchmark, scratch):
    """What a run holds: its content by way of `karat convert`, and what it scores."""
    sources = [str(FILES / "runs" / name) for name in files]
    bench = karat.load_benchmark(str(FILES / benchmark))
    run = karat.load_run(*sources, benchmark=bench)
    karat.evaluate(run, bench, ["R@1"], truth="original").save(scratch / "scores.json")
    records = json.loads((scratch / "scores.json").read_text(encoding="utf-8"))
    facts = {
        "name": run.name,
        "scores": [[one["run"], one["direction"], rounded(one["value"])] for one in records],
    }
    lists = files[0].split(".")[0] in ("learner", "memoriser", "lists", "i2t", "t2i")
    target = scratch / f"{'-'.join(files)}.{'json' if lists else 'npy'}"
    command("convert", *sources, target, "-b", FILES / benchmark, cwd=scratch)
    if lists:
        facts["lists"] = digest(json.loads(target.read_text(encoding="utf-8")))
    else:
        table = np.load(target, allow_pickle=False)
        facts |= {"shape": list(table.shape), "dtype": str(table.dtype)}
        facts |= {"first": rounded(table[0, :4].tolist(), 5), "sum": rounded(float(table.sum()), 3)}
        facts["ids"] = digest(json.loads(target.with_suffix(".ids.json").read_text(encoding="utf-8")))
    return facts


def score_facts(benchmark, scratch):
    """What the run with all scores gets on every truth of a benchmark, by the measures of its defaults."""
    bench = karat.load_benchmark(str(FILES / benchmark))
    run = karat.load_run(str(FILES / "runs" / "seer.npy"), benchmark=bench)
    karat.evaluate(run, bench).save(scratch / "scores.json")
    records = json.loads((scratch / "scores.json").read_text(encoding="utf-8"))
    return {f"{one['truth']} {one['direction']} {one['measure']}": rounded(one["value"]) for one in records}


def form_facts(path, scratch):
    """A form's file, read and written again, as TOML says it."""
    from karat.forms import load_form, save_form

    save_form(load_form(str(path)), scratch / "form.toml")
    return tomllib.loads((scratch / "form.toml").read_text(encoding="utf-8"))


def model_facts(model, folder):
    """What a model makes of the world's pictures and captions; `folder` holds the world."""
    command("encode", model, "-b", "world", "-o", "encoded.npz", cwd=folder)
    with np.load(folder / "encoded.npz", allow_pickle=False) as tables:
        images, captions = tables["images"], tables["captions"]
    found = command("search", model, "a red dog", "--in", "world", "-k", 5, cwd=folder)
    return {
        "images": rounded(images[:2].astype(float).tolist(), 5), "shape": [*images.shape, len(captions)],
        "captions": rounded(captions[:2].astype(float).tolist(), 5),
        "search": [[name, float(score)] for _, score, name in map(str.split, found.strip().splitlines())],
    }  # fmt: skip


def make_world(folder):
    """Draw the world that everything comes from, by the command of the README."""
    command("world", "make", "-o", "world", *WORLD, cwd=folder)
    return folder / "world"


def published_tables(folder):
    """The tables of a published folder that other programs read, as rows."""
    names = ("answers.parquet", "pairs.parquet", "conflicts.csv", "invalid.csv")
    read = {".parquet": pl.read_parquet, ".csv": pl.read_csv}
    return {name: read[Path(name).suffix](folder / name).to_dicts() for name in names}


def published_facts(folder):
    """How a folder was made, as data, without sentences and fingerprints of files."""
    made = json.loads((folder / "karat-judging.json").read_text(encoding="utf-8"))
    left_out = ("karat", "files", "made", "left_out", "machines")
    return rounded({name: one for name, one in made.items() if name not in left_out})


def corrected_facts(folder):
    """The truth that was published: its judgments, queries, folds and counts."""
    facts = benchmark_facts(folder)
    found = [facts["truths"]["corrected"], facts["counts"][-1]]
    return [{name: one for name, one in part.items() if name != "about"} for part in found]
