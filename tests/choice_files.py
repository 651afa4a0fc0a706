"""Small files in the formats of benchmarks of choices, with invented content."""

import json

import numpy as np

WORDS = ("cup", "mat", "dog", "box", "tree", "lamp")
TAGS = ("Object", "Relation", "Both")


def pairs(count, seed=0):
    """Return pairs of different words."""
    rng = np.random.default_rng(seed)
    return [tuple(rng.choice(WORDS, 2, replace=False).tolist()) for _ in range(count)]


def winoground(folder, count=12):
    """Write Winoground's file; return it."""
    rows = [
        {"id": k, "image_0": f"ex_{k}_img_0", "image_1": f"ex_{k}_img_1", "caption_0": f"a {a} on a {b}",
         "caption_1": f"a {b} on a {a}", "tag": "Noun", "secondary_tag": "Series" if k % 4 == 0 else "",
         "num_main_preds": 1 + k % 2, "collapsed_tag": TAGS[k % 3]}
        for k, (a, b) in enumerate(pairs(count))
    ]  # fmt: skip
    path = folder / "examples.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def sugarcrepe(folder, count=6, plus=False):
    """Write two of SugarCrepe's files, or of SugarCrepe++'s; return their folder."""
    folder.mkdir(exist_ok=True)
    for kind, negative in (("replace_att", "a red {} on a {}"), ("swap_obj", "a {1} on a {0}")):
        rows = [
            {"filename": f"{k // 2:012d}.jpg", "caption": f"a {a} on a {b}",
             "negative_caption": negative.format(a, b)} | ({"caption2": f"on a {b}, a {a}"} if plus else {})
            for k, (a, b) in enumerate(pairs(count))
        ]  # fmt: skip
        content = rows if plus else {str(k): row for k, row in enumerate(rows)}
        (folder / f"{kind}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def valse(folder, count=6):
    """Write two instruments of VALSE; return their folder. Every third example has too few votes."""
    folder.mkdir(exist_ok=True)
    for name in ("existence", "plurals"):
        rows = {
            f"{name}_{k}": {"dataset": "made", "image_file": f"{k}.jpg", "linguistic_phenomena": name,
                            "caption": f"there is a {a}", "foil": f"there is no {a}",
                            "mturk": {"foil": 0, "caption": 1 if k % 3 == 2 else 3, "other": 0}}
            for k, (a, _) in enumerate(pairs(count))
        }  # fmt: skip
        (folder / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
    return folder


def cola(folder, count=5):
    """Write COLA's file of the multi-object setting; return it."""
    rows = [
        [f"https://images.test/{2 * k}.jpg", f"a red {a} and a blue {b}",
         f"https://images.test/{2 * k + 1}.jpg", f"a blue {a} and a red {b}"]
        for k, (a, b) in enumerate(pairs(count))
    ]  # fmt: skip
    path = folder / "COLA_multiobjects_matching_benchmark.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def aro(folder, counts):
    """Write ARO's file of relations with so many examples each; return it."""
    rows = [
        {"image_path": f"{k}.jpg", "bbox_x": len(relation), "bbox_y": 2, "bbox_w": 30.5, "bbox_h": 40,
         "true_caption": f"the {a} is {relation} the {b}", "false_caption": f"the {b} is {relation} the {a}",
         "relation_name": relation}
        for relation, count in counts.items()
        for k, (a, b) in enumerate(pairs(count))
    ]  # fmt: skip
    path = folder / "visual_genome_relation.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path
