"""Projects of other sides, from the pool to a published benchmark; pairs of one collection have no order."""

import csv
import json

import numpy as np
import pytest

import karat
from karat import project as projects
from karat.benchmarks import same_side
from karat.errors import InputError
from karat.forms import Pool, pool_sentences, runs_of_pool, save_form
from karat.judging import make_pool
from karat.judging.pools import GoldChoice, QuerySample
from karat.store import Goal, create_project, open_project

from .sides import FORM, ids_of, make, suggested

DIRECTIONS = ("q2d", "it2i", "i2i", "t2t")
WORDS = {
    "q2d": ("queries", "documents"), "it2i": ("queries", "images"), "i2i": ("images", "images"),
    "t2t": ("captions", "captions"),
}  # fmt: skip


@pytest.fixture(params=DIRECTIONS)
def made(request, tmp_path):
    return make(tmp_path / "made", request.param)


@pytest.fixture
def place(made, tmp_path):
    """A project with tasks."""
    save_form(FORM, tmp_path / "form.toml")
    path = tmp_path / "own.db"
    form = tmp_path / "form.toml"
    projects.pool(made.files, "trec", path, setting=made.settings, top=3, form=form)
    projects.tasks(path)
    return path


def answered(place, folder, swapped=False):
    """Have every pair of the tasks answered by three annotators, who say no to every third pair."""
    with open_project(place) as project:
        plan, bench = project.pools.plan(), project.benchmark()
        pairs = sorted(set(zip(plan.image.tolist(), plan.caption.tolist())))
        images, captions = bench.images.values, bench.captions.values
    with (folder / "answers.csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["image", "caption", "annotator", "answer"])
        for number, (image, caption) in enumerate(pairs):
            ids = images[image], captions[caption]
            for name in ("ann", "bob", "eve"):
                table.writerow([*(ids[::-1] if swapped else ids), name, "no" if number % 3 == 0 else "yes"])
    projects.import_(place, folder / "answers.csv")
    return pairs


def test_a_pool_is_what_the_runs_suggest_each_pair_once(made):
    bench = made.benchmark
    runs = [karat.load_run(file, bench) for file in made.files]
    pool = make_pool(runs, bench, top=3, form=FORM)
    found = ids_of(bench, pool)
    assert len(set(found)) == len(found)
    assert set(found) == suggested(made, 3)
    (direction,) = pool.queries
    assert pool.suggestions == sum(
        len(items[:3]) for lists in made.lists.values() for items in lists.values()
    )
    assert pool_sentences(pool)[0].startswith(
        f"The first 3 items of 2 runs for {len(made.lists['a'])} {direction} queries: "
    )
    if same_side(direction):
        assert (pool.image < pool.caption).all()
        assert (pool.gold_image < pool.gold_caption).all()
    # What each run listed can be read back, whichever of two items asked.
    for run, lists in zip(runs_of_pool(pool, bench), made.lists.values()):
        assert run.raw == {direction: {query: items[:3] for query, items in lists.items()}}


def test_queries_are_sampled_by_the_names_of_the_benchmark_and_the_old_ones(made):
    bench = made.benchmark
    runs = [karat.load_run(file, bench) for file in made.files]
    own = bench.directions[0]
    pools = [make_pool(runs, bench, queries=QuerySample({name: 4})) for name in (own, "i2t")]
    assert [list(pool.queries) for pool in pools] == [[own], [own]]
    assert pools[0].queries[own].tolist() == pools[1].queries[own].tolist()
    assert len(pools[0].queries[own]) == 4
    with pytest.raises(InputError, match="a2v"):
        make_pool(runs, bench, queries=QuerySample({"a2v": 4}))
    with pytest.raises(InputError, match="a2v"):
        make_pool(runs, bench, direction=["a2v"])


def test_gold_negatives_are_ranked_high_from_neither_side(tmp_path):
    bench = make(tmp_path, "i2i").benchmark
    scores = np.random.default_rng(0).random((bench.images.size,) * 2)
    run = karat.load_run(scores, bench)
    pool = make_pool([run], bench, top=2, form=FORM, gold=GoldChoice(depth=6))
    np.fill_diagonal(scores, -1)
    rank = np.argsort(np.argsort(-scores, axis=1), axis=1)
    no = pool.gold_right == 0
    image, caption = pool.gold_image[no], pool.gold_caption[no]
    assert len(image)
    assert (image < caption).all()
    assert rank[image, caption].min() >= 6
    assert rank[caption, image].min() >= 6


def test_a_grid_is_filled_up_with_pairs_that_are_new(tmp_path):
    made = make(tmp_path, "t2t")
    runs = [karat.load_run(file, made.benchmark) for file in made.files]
    pool = make_pool(runs, made.benchmark, top=2, fill=5)
    assert (pool.image < pool.caption).all()
    assert len(set(ids_of(made.benchmark, pool))) == len(pool)
    assert "Added to fill up the captions' captions" in " ".join(pool_sentences(pool))


def test_the_project_is_read_back_in_the_names_of_the_benchmark(made, place):
    own = made.benchmark.directions[0]
    with open_project(place) as project:
        assert project.directions == made.benchmark.directions
        pool = project.pools.read()
        assert len(pool.queries[own]) == len(made.lists["a"])
        runs = [karat.load_run(file, made.benchmark) for file in made.files]
        fresh = make_pool(runs, made.benchmark, top=3, form=FORM)
        for column in ("image", "caption", "place_pair", "place_direction", "place_rank"):
            rows = [
                np.lexsort((p.place_rank, p.place_direction, p.place_system, p.place_pair))
                for p in (pool, fresh)
            ]
            if column in ("image", "caption"):
                rows = [slice(None)] * 2
            assert getattr(pool, column)[rows[0]].tolist() == getattr(fresh, column)[rows[1]].tolist()
        # Version 0.4.0 kept i2t for any benchmark.
        project.goals.set(Goal(("a",), "P@5", "i2t", "width", 0.1))
        assert project.goals.read().direction == own
        assert [goal.direction for goal, _ in project.goals.history()] == [own]


def test_a_pair_of_one_collection_is_stored_in_one_order(tmp_path):
    bench = make(tmp_path, "i2i").benchmark
    none = np.zeros(0, np.int64)
    with create_project(tmp_path / "own.db", bench, FORM, source="made") as project:
        for image, caption in ((3, 1), (2, 2)):
            pool = Pool(*map(np.array, ([image], [caption], [0])), (), none, none, none, none, np.zeros(0))
            with pytest.raises(InputError, match=f"pair 0 of the pool is {image} with {caption}"):
                project.pools.set(pool)


def test_forms_about_images_are_not_asked_about_others(made, tmp_path):
    first, second = WORDS[made.benchmark.directions[0]]
    both = first if first == second else f"{first} and {second}"
    for form in ("pair", "grid", "misread"):
        with pytest.raises(
            InputError, match=f"the form '{form}' asks about images and captions, and .* has {both}"
        ):
            projects.pool(made.files, "trec", tmp_path / "own.db", setting=made.settings, form=form)
    assert not (tmp_path / "own.db").exists()


def test_tasks_say_where_they_can_be_answered(made, place, tmp_path):
    with open_project(place) as project:
        plan = project.pools.plan()
    # One collection: none is asked about a pair twice, in whatever order, within a task.
    keys = list(zip(plan.task.tolist(), plan.image.tolist(), plan.caption.tolist()))
    assert len(set(keys)) == len(keys)
    runs = [karat.load_run(file, made.benchmark) for file in made.files]
    with open_project(place) as project:
        project.pools.add(make_pool(runs, made.benchmark, top=5, form=FORM))
    said = str(projects.tasks(place))
    assert "next: karat project export" in said
    assert "karat serve" not in said
    for name in ("label-studio", "mturk"):
        with pytest.raises(InputError, match="shows an image and a caption"):
            projects.export(place, tmp_path / "tasks.x", name)
    projects.export(place, tmp_path / "tasks.csv")
    with (tmp_path / "tasks.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    # Only images have addresses: a query must not claim a picture.
    projects.export(place, tmp_path / "linked.csv", image_url="https://host/{id}.jpg")
    with (tmp_path / "linked.csv").open(newline="") as stream:
        linked = list(csv.DictReader(stream))
    for column, word in zip(("image_address", "caption_text"), WORDS[made.benchmark.directions[0]]):
        assert all(row[column].startswith("https://host/") == (word == "images") for row in linked)
    # What annotators see of each item: its id, since nothing else of it is known.
    seen = {frozenset((row["image_address"], row["caption_text"])) for row in rows}
    assert suggested(made, 5) <= seen


def test_the_server_says_what_it_cannot_show(made, place):
    pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")
    from karat.web.judging import not_shown

    with open_project(place) as project:
        (note,) = not_shown(project)
    assert "the judging page shows images and captions" in note
    assert "karat project export" in note


def test_the_published_benchmark_has_sides_and_directions(made, place, tmp_path):
    bench, own = made.benchmark, made.benchmark.directions[0]
    pairs = answered(place, tmp_path)
    done = projects.publish(place, tmp_path / "published")
    first, second = WORDS[own]
    assert f"positive {second}" in str(done)
    assert "positive captions" not in str(done).replace(f"positive {second}", "")
    again = karat.load_benchmark(tmp_path / "published")
    assert again.sides == bench.sides
    assert again.directions == bench.directions
    rows = again.truth("corrected").judged(own)
    # By brute force: what was said to be relevant, and the older positives, in one collection twice.
    said = {
        frozenset((str(bench.images.values[i]), str(bench.captions.values[j]))): number % 3 != 0
        for number, (i, j) in enumerate(pairs)
    }
    older = bench.truths["qrels"].judgments.pairs()
    yes = {pair for pair, relevant in said.items() if relevant}
    yes |= {pair for pair, grade in zip(ids_of(bench, older), older.grade) if grade > 0}
    found = [
        (str(again.queries(own).values[q]), str(again.items(own).values[i]))
        for q, i, grade in zip(rows.query_of_row, rows.item, rows.grade)
        if grade > 0
    ]
    assert {frozenset(pair) for pair in found} == yes
    assert len(found) == (2 * len(yes) if same_side(own) else len(yes))
    card = (tmp_path / "published" / "README.md").read_text()
    both = first if first == second else f"{first} and {second}"
    assert f"| queries | {len(made.lists['a'])} {first} |" in card
    assert f"## Invalid {both}\n" in card
    assert f"the licence of the {both}, which" in card
    assert f"qrels-{own}.trec |" in card
    assert (tmp_path / "published" / f"qrels-{own}.trec").exists()
    assert ("The image files are not" in card) == ("images" in WORDS[own])
    if "captions" not in WORDS[own]:
        assert "caption" not in card
    record = json.loads((tmp_path / "published" / "karat-judging.json").read_text())
    assert record["counts"]["queries"][own] == len(made.lists["a"])
    scores = karat.evaluate(made.files, again)
    assert str(scores)


def test_the_same_pair_in_either_order_is_one_answer(tmp_path):
    made = make(tmp_path / "made", "i2i")
    save_form(FORM, tmp_path / "form.toml")
    path = tmp_path / "own.db"
    projects.pool(made.files, "trec", path, setting=made.settings, top=2, form=tmp_path / "form.toml")
    projects.tasks(path)
    pairs = answered(path, tmp_path, swapped=True)
    with open_project(path) as project:
        answers = project.answers.read()
        assert set(zip(answers.image.tolist(), answers.caption.tolist())) == set(pairs)
    for line, words in (("d1,d1", "pairs an item with itself"), ("d1,d99", "no image with this id")):
        (tmp_path / "wrong.csv").write_text(f"image,caption,annotator,answer\n{line},ann,yes\n")
        with pytest.raises(InputError, match=words):
            projects.import_(path, tmp_path / "wrong.csv")


def test_items_are_marked_invalid_in_the_words_of_the_benchmark(made, place, tmp_path):
    bench, own = made.benchmark, made.benchmark.directions[0]
    answered(place, tmp_path)
    projects.publish(place, tmp_path / "first")
    word = bench.sides[1].one
    (tmp_path / "marks.csv").write_text(f"kind,id,status\n{word},d3,remove\n")
    done = projects.publish(place, tmp_path / "second", invalid=tmp_path / "marks.csv")
    assert "changed 1 mark" in done.notes
    truth = done.correction.benchmark.truth("corrected")
    index = bench.captions.index(["d3"], "")[0]
    assert index not in truth.folds[0].items(own)
    assert not same_side(own) or index not in truth.queries[own]
    assert not (truth.judged(own).item == index).any()
    assert f"{word},d3,removed" in (tmp_path / "second" / "invalid.csv").read_text()
    wrong = next(
        kind for kind in ("image", "caption", "tag") if kind not in {side.one for side in bench.sides}
    )
    (tmp_path / "marks.csv").write_text(f"kind,id,status\n{wrong},d3,remove\n")
    names = " or ".join(dict.fromkeys(side.one for side in bench.sides))
    with pytest.raises(InputError, match=f"write {names}"):
        projects.publish(place, tmp_path / "third", invalid=tmp_path / "marks.csv")


def test_quality_speaks_of_the_sides(made, place, tmp_path):
    projects.export(place, tmp_path / "tasks.csv")
    with (tmp_path / "tasks.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    with (tmp_path / "answers.csv").open("w", newline="") as stream:
        table = csv.DictWriter(stream, rows[0].keys())
        table.writeheader()
        table.writerows(row | {"worker": name, "answer": "no"} for row in rows for name in ("ann", "bob"))
    projects.import_(place, tmp_path / "answers.csv")
    said = str(projects.quality(place))
    first, second = made.benchmark.sides
    assert f"resamples of {first.many}." in said
    assert f"wrong ({first.one}/{second.one}: gold, answer)" in said


def test_scores_under_subsets_are_those_of_their_labels(made, place, tmp_path):
    bench, own = made.benchmark, made.benchmark.directions[0]
    answered(place, tmp_path)
    report = projects.bias(place, made.files, measure=["R@1"], original=None, acceptance=None)
    table = report.bias[own, "R@1"]
    with open_project(place) as project:
        pool, verdicts = project.pools.read(), projects.publish(place, tmp_path / "out").correction.verdicts
    relevant = {pair for pair, yes in zip(ids_of(bench, verdicts), verdicts.relevant) if yes}
    everything = set(ids_of(bench, pool)) & relevant
    scored = [query for query in made.lists["a"] if any(query in pair for pair in everything)]
    for subset, scores in zip(table.inside, table.scores):
        names = [name for name, inside in zip(table.systems, subset) if inside]
        labels = everything & {
            frozenset((query, item))
            for name in names
            for query, items in made.lists[name].items()
            for item in items[:3]
        }
        for name, score in zip(table.systems, scores):
            hits = [frozenset((query, made.lists[name][query][0])) in labels for query in scored]
            assert np.isclose(score, np.mean(hits))
    said = str(report)
    assert f"resamples of {WORDS[own][0]}." in said
    assert "captions" in WORDS[own] or "caption" not in said


def test_machine_judges_that_need_pictures_refuse_others(made, place, tmp_path):
    answered(place, tmp_path)
    with pytest.raises(InputError, match="this needs images and their captions"):
        projects.calibrate(place, url="http://127.0.0.1:1/v1", model="m")


def test_a_project_of_files_is_opened_from_anywhere(tmp_path, monkeypatch):
    made = make(tmp_path, "q2d")
    save_form(FORM, tmp_path / "form.toml")
    monkeypatch.chdir(tmp_path)
    projects.pool(["a.run"], "qrels.txt", "own.db", setting={"items": "items.txt"}, form="form.toml")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with open_project("../own.db") as project:
        assert project.benchmark().items("q2d").size == made.benchmark.items("q2d").size
