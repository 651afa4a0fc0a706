"""Gold cannot be told from the pairs to judge by what a page or an exported task shows.

For every form that comes with karat, a project of the known-truth world is packed into tasks. What
annotators get to see of each item is read as they get it: the JSON of a lease with the pictures behind its
addresses, and the exported tasks. Each feature below is then compared between gold and pairs to judge. The
sense of the captions is not a feature: that a gold negative does not fit is what annotators should see.
"""

import re
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")

from karat.forms import FORMS, GOLD_NO, GOLD_YES, NOT_GOLD, load_form, without
from karat.judging import make_pool, make_tasks
from karat.judging.exchange.export import collect_tasks
from karat.judging.pools import GoldChoice
from karat.judging.tasks import gold_overlap
from karat.store import Lease, create_project
from karat.web.judging.routes import show_lease
from karat.world import make_world, save_world, simulate_systems

MOST_DIFFERENT = 0.25
"""The largest total variation distance between a feature's values among gold and among pairs to judge: the
share of gold that could be found beyond false alarms. Chance alone makes 0.1 for the position."""
MOST_CERTAIN = 0.5
"""The largest share of gold among the items with one value of a feature, if five gold items have it."""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A world, its folder, and its runs."""
    made = make_world(images=80, captions=3, seed=3)
    folder = tmp_path_factory.mktemp("worlds") / "world"
    save_world(made, folder, pictures=False)
    return made.benchmark(), str(folder), simulate_systems(made, seed=1)


def made_project(place, world, form, gold=None, **options):
    """A project of the world, whose tasks are answered once."""
    benchmark, folder, runs = world
    options = {"top": 4, **options, "gold": GoldChoice(depth=10)}
    pool = make_pool(runs, benchmark, form=form, **options)
    project = create_project(place, benchmark, form, source=folder, name="try")
    project.pools.set(pool)
    project.pools.add_tasks(make_tasks(pool, form, gold=gold, overlap=1, seed=2))
    return project


def shown_items(project):
    """What is shown of every item, and whether it is gold: the lease's JSON, the pictures, the export."""
    plan, form, benchmark = project.pools.plan(), project.form, project.benchmark()
    exported = collect_tasks(project).tasks
    items = []
    for task in range(plan.tasks):
        lease = project.queue.lease(f"annotator {task}")
        assert isinstance(lease, Lease)
        rows = np.flatnonzero(plan.task == lease.task)
        shown = show_lease(project, lease, 0.0)["items"]
        assert len(rows) == len(shown) == len(exported[lease.task].items)
        for row, item, copy in zip(rows.tolist(), shown, exported[lease.task].items):
            own = int(benchmark.caption_image[plan.caption[row]]) if form.own_image else None
            items.append(
                {
                    "task": lease.task,
                    "json": item,
                    "first_id": shown[0]["id"],
                    # The page asks for pictures by the item's number: what they show is all it learns.
                    "image": int(plan.image[row]),
                    "own": own,
                    "export": copy,
                    "gold": int(plan.gold[row]),
                    "place": (item["id"] - shown[0]["id"]) / len(shown),
                }
            )
    assert len({item["task"] for item in items}) == plan.tasks
    return items


def features(items):
    """Every feature by its name: one value for each item."""
    task, group = [item["task"] for item in items], [item["json"]["group"] for item in items]
    image, own = [item["image"] for item in items], [item["own"] for item in items]
    caption = [item["json"]["caption"] for item in items]
    groups, images, captions = Counter(zip(task, group)), Counter(image), Counter(caption)
    images_here, captions_here = Counter(zip(task, image)), Counter(zip(task, caption))
    images_in_group, owns_here = Counter(zip(task, group, image)), Counter(zip(task, own))
    often = {"image": quarters(images), "caption": quarters(captions)}
    columns, before = {}, Counter()
    for row, item in enumerate(items):
        json, copy, here = item["json"], item["export"], task[row]
        own_shown = images_here[here, own[row]] - (own[row] == image[row])
        values = {
            "keys of the lease's item": tuple(sorted(json)),
            "position in the task": int(10 * item["place"]),
            "item's number follows the position": json["id"] - item["first_id"] == copy.number - 1,
            "position in the group": before[here, group[row]],
            "size of the group": groups[here, group[row]],
            "answered already": json["code"] is not None or bool(json["details"]),
            "has an own image": json["own"],
            "own image is the image": own[row] == image[row],
            "own image is another item's image": own_shown > 0,
            "own image is another item's own image": own[row] is not None and owns_here[here, own[row]] > 1,
            "image elsewhere in the task": images_here[here, image[row]]
            > images_in_group[here, group[row], image[row]],
            "caption elsewhere in the task": captions_here[here, caption[row]] > 1,
            "how often the image is shown": int(np.searchsorted(often["image"], images[image[row]])),
            "how often the caption is shown": int(np.searchsorted(often["caption"], captions[caption[row]])),
            "exported: address": re.sub(r"\d+", "0", copy.image),
            "exported: own image is the image": copy.own_image == copy.image,
            "exported: has an own image": bool(copy.own_image),
            "exported: caption is the page's": copy.caption == json["caption"],
        }
        before[here, group[row]] += 1
        for name, value in values.items():
            columns.setdefault(name, []).append(value)
    return columns


def quarters(counts):
    """The numbers of appearances that divide all items into quarters."""
    numbers = np.array(list(counts.values()))
    return np.quantile(np.repeat(numbers, numbers), (0.25, 0.5, 0.75))


def told_apart(items, columns, gold):
    """The features that separate gold of these kinds from pairs to judge, with how well they do."""
    is_gold = np.array([item["gold"] in gold for item in items])
    asked = np.array([item["gold"] == NOT_GOLD for item in items])
    assert is_gold.sum() > 50
    found = {}
    for name, values in columns.items():
        among_gold, among_asked = (
            Counter(value for value, is_in in zip(values, mask) if is_in) for mask in (is_gold, asked)
        )
        different = 0.5 * sum(
            abs(among_gold[value] / is_gold.sum() - among_asked[value] / asked.sum())
            for value in {*among_gold, *among_asked}
        )
        certain = max(
            (number / (number + among_asked[value]) for value, number in among_gold.items() if number >= 5),
            default=0.0,
        )
        if different > MOST_DIFFERENT or certain > MOST_CERTAIN:
            found[name] = (round(float(different), 2), round(certain, 2))
    return found


def all_told_apart(project):
    """The features that separate gold, gold positives, or gold negatives from pairs to judge."""
    items = shown_items(project)
    columns = features(items)
    kinds = {"gold": (GOLD_YES, GOLD_NO), "positives": (GOLD_YES,), "negatives": (GOLD_NO,)}
    return {kind: told_apart(items, columns, gold) for kind, gold in kinds.items()}


@pytest.mark.parametrize("name", FORMS)
def test_nothing_that_is_shown_separates_gold(name, tmp_path, world):
    # Large tasks are few: more gold than usual, so that chance alone makes no difference.
    gold = 6 if load_form(name).pairs > 40 and name != "grid" else None
    with made_project(tmp_path / "p.db", world, load_form(name), gold) as project:
        assert all_told_apart(project) == {"gold": {}, "positives": {}, "negatives": {}}


def test_a_few_queries_make_no_conspicuous_gold(tmp_path, world):
    """Twenty images are asked about again and again: an image that is shown only once would be gold."""
    options = {"queries": {"i2t": range(20)}, "direction": ["i2t"], "top": 20}
    with made_project(tmp_path / "p.db", world, load_form("pair"), **options) as project:
        # All but a few of the original pairs of these images are needed, and pooled.
        assert gold_overlap(project.pools.plan())[1] > 50
        assert all_told_apart(project) == {"gold": {}, "positives": {}, "negatives": {}}


def test_short_grids_have_short_gold(tmp_path, world):
    """Without filling up, images to judge have fewer than ten captions each: a full grid would be gold."""
    options = {"direction": ["i2t"], "top": 1, "fill": 1}
    with made_project(tmp_path / "p.db", world, load_form("grid"), **options) as project:
        assert np.unique(np.unique(project.pools.read().image, return_counts=True)[1]).max() < 10
        items = shown_items(project)
    columns = features(items)
    # Each image is in the pool once, so that a gold image is shown in two tasks, whichever it is.
    del columns["how often the image is shown"]
    assert told_apart(items, columns, (GOLD_YES, GOLD_NO)) == {}


def test_the_test_sees_the_same_image_twice(tmp_path, world):
    """Original pairs as gold of a form that shows the caption's own image: what gave gold away before."""
    form = load_form("misread")
    with made_project(tmp_path / "p.db", world, load_form("pair")) as project:
        pool = project.pools.read()
    own = world[0].caption_image[pool.caption] == pool.image
    with create_project(tmp_path / "q.db", world[0], form, source=world[1], name="try") as project:
        project.pools.set(without(pool, ~own))
        project.pools.add_tasks(make_tasks(without(pool, ~own), form, overlap=1))
        told = all_told_apart(project)
    assert {"own image is the image", "exported: own image is the image"} <= set(told["positives"])
    assert told["positives"]["own image is the image"][1] == 1.0
