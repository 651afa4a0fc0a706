"""Scenes and meanings as plain dictionaries of words, for the slow check."""

from karat.world.kinds import KIND_NAMES, NOUN_NAMES
from karat.world.meanings import Meanings
from karat.world.scenes import Scenes
from karat.world.vocabulary import BACKGROUND_NAMES, COLOURS, POSITIONS, RELATIONS, SIZES


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
