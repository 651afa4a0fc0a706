"""What captions mean, once more: plain loops over dictionaries, written from the documented rules alone.

Scenes and meanings become plain dictionaries of words first.
"""

from karat.world.meanings import Meanings
from karat.world.scenes import Scenes
from karat.world.vocabulary import (
    BACKGROUND_NAMES,
    COLOURS,
    KIND_NAMES,
    NOUN_NAMES,
    POSITIONS,
    RELATIONS,
    SIZES,
)

KINDS_OF = {
    "animal": "dog cat horse bird fish elephant rabbit turtle butterfly",
    "vehicle": "car truck bicycle boat airplane helicopter",
    "plant": "tree flower cactus",
    "fruit": "apple banana pear",
    "piece of furniture": "chair table",
    "musical instrument": "guitar drum",
    "article of clothing": "hat shirt",
    "building": "house",
}


def matches(thing: dict, mention: dict) -> bool:
    """Whether an object fits a description."""
    noun = mention["noun"]
    if thing["kind"] != noun and thing["kind"] not in KINDS_OF.get(noun, "").split():
        return False
    for aspect in ("colour", "size"):
        if mention[aspect] is not None and thing[aspect] != mention[aspect]:
            return False
    x, y = thing["centre"]
    where = {None: True, "left": x < 56, "right": x > 112, "top": y < 56, "bottom": y > 112}
    return where[mention["position"]]


def stands(first: dict, second: dict, relation: str) -> bool:
    """Whether one object stands so to another."""
    right, down = (b - a for a, b in zip(first["centre"], second["centre"]))
    if relation == "left of":
        return right >= 42
    if relation == "right of":
        return right <= -42
    if relation == "above":
        return down >= 42
    if relation == "below":
        return down <= -42
    return abs(down) < 42 and 42 <= abs(right) < 84


def counted(found: int, number: int | str) -> bool:
    """Whether so many objects are what the caption says."""
    if number == "a":
        return found >= 1
    return found >= 2 if number == "at least two" else found == number


def related(first: list, second: list, meaning: dict) -> bool:
    """Whether the relation holds: every object of a numeral from two, some object otherwise."""
    a, b = (
        m["number"] if isinstance(m["number"], int) and m["number"] > 1 else 1 for m in meaning["mentions"]
    )
    so = [[stands(x, y, meaning["relation"]) for y in second] for x in first]
    if not first or not second:
        return False
    if a == 1 and b == 1:
        return any(any(row) for row in so)
    if a == 1:
        return any(all(row) for row in so)
    if b == 1:
        return any(all(column) for column in zip(*so))
    return all(all(row) for row in so)


def statements(scene: dict, meaning: dict) -> list[bool]:
    """Whether each statement of a caption holds of a scene."""
    held = []
    fitting = []
    for mention in meaning["mentions"]:
        bare = dict(mention, colour=None, size=None, position=None)
        of_kind = [thing for thing in scene["objects"] if matches(thing, bare)]
        said = [aspect for aspect in ("colour", "size", "position") if mention[aspect] is not None]
        best = max(
            (
                sum(matches(thing, dict(bare, **{aspect: mention[aspect]})) for aspect in said)
                for thing in of_kind
            ),
            default=0,
        )
        held += [bool(of_kind)] + [True] * best + [False] * (len(said) - best)
        fitting.append([thing for thing in scene["objects"] if matches(thing, mention)])
        if mention["number"] != "a":
            held.append(counted(len(fitting[-1]), mention["number"]))
    if meaning["relation"] is not None:
        held.append(related(*fitting, meaning))
    if meaning["background"] is not None:
        held.append(scene["background"] == meaning["background"])
    return held


def is_true(scene: dict, meaning: dict) -> bool:
    """Whether everything that a caption states holds."""
    fitting = [[t for t in scene["objects"] if matches(t, m)] for m in meaning["mentions"]]
    return (
        all(counted(len(found), m["number"]) for found, m in zip(fitting, meaning["mentions"]))
        and (meaning["relation"] is None or related(*fitting, meaning))
        and meaning["background"] in (None, scene["background"])
    )


def word(names, code):
    return None if code < 0 else names[code]


def plain_scenes(scenes: Scenes) -> list[dict]:
    objects = [
        {"kind": KIND_NAMES[k], "colour": COLOURS[c], "size": SIZES[s], "centre": (int(x), int(y))}
        for k, c, s, x, y in zip(scenes.kind, scenes.colour, scenes.size, scenes.x, scenes.y)
    ]
    return [
        {"background": BACKGROUND_NAMES[b], "objects": objects[begin:end]}
        for b, begin, end in zip(scenes.background, scenes.ptr, scenes.ptr[1:])
    ]


def plain_meanings(meanings: Meanings) -> list[dict]:
    made = []
    for row in range(len(meanings)):
        mentions = [
            {
                "noun": NOUN_NAMES[meanings.noun[row, m]],
                "colour": word(COLOURS, meanings.colour[row, m]),
                "size": word(SIZES, meanings.size[row, m]),
                "position": word(POSITIONS, meanings.position[row, m]),
                "number": {0: "a", 9: "at least two"}.get(
                    int(meanings.number[row, m]), int(meanings.number[row, m])
                ),
            }
            for m in (0, 1)
            if meanings.noun[row, m] >= 0
        ]
        made.append(
            {
                "mentions": mentions,
                "relation": word(RELATIONS, meanings.relation[row]),
                "background": word(BACKGROUND_NAMES, meanings.background[row]),
            }
        )
    return made
