"""From a caption back to what it states: a small parser that knows English words, not the grammar's code."""

import re

NOUNS = {
    word: name
    for name, words in {
        "dog": "dog dogs", "cat": "cat cats", "horse": "horse horses", "bird": "bird birds", "fish": "fish",
        "elephant": "elephant elephants", "rabbit": "rabbit rabbits", "turtle": "turtle turtles",
        "butterfly": "butterfly butterflies", "car": "car cars automobile automobiles",
        "truck": "truck trucks", "bicycle": "bicycle bicycles bike bikes", "boat": "boat boats",
        "airplane": "airplane airplanes plane planes aeroplane aeroplanes",
        "helicopter": "helicopter helicopters chopper choppers", "tree": "tree trees",
        "flower": "flower flowers", "cactus": "cactus cactuses", "apple": "apple apples",
        "banana": "banana bananas", "pear": "pear pears", "chair": "chair chairs", "table": "table tables",
        "guitar": "guitar guitars", "drum": "drum drums", "hat": "hat hats", "shirt": "shirt shirts",
        "house": "house houses", "ball": "ball balls", "umbrella": "umbrella umbrellas",
        "book": "book books", "clock": "clock clocks", "cup": "cup cups",
        "animal": "animal animals creature creatures", "vehicle": "vehicle vehicles",
        "plant": "plant plants", "fruit": "fruit fruits",
        "piece of furniture": "piece_of_furniture pieces_of_furniture",
        "musical instrument": "musical_instrument musical_instruments",
        "article of clothing": "article_of_clothing articles_of_clothing",
        "building": "building buildings",
    }.items()
    for word in words.split()
}  # fmt: skip
COLOURS = ["black", "white", "red", "green", "yellow", "blue", "brown", "orange", "pink", "purple", "grey"]
SIZES = {"small": "small", "little": "small", "large": "large", "big": "large"}
NUMBERS = {w: n for n, w in enumerate(["two", "three", "four", "five", "six", "seven", "eight"], 2)}
BACKGROUNDS = {
    "beach": "on the beach|on a beach|at the beach",
    "street": "on the street|on a street|in the street",
    "field": "in a field|in a green field|in a meadow",
    "night": "at night|under a night sky|under the stars",
    "snow": "in the snow|on the snow|in a snowy place",
    "desert": "in the desert|in a desert",
    "room": "in a room|indoors|inside a room",
    "mountains": "in the mountains|in front of mountains|in front of some mountains",
}
RELATIONS = {
    "left of": "to the left of|left of",
    "right of": "to the right of|right of",
    "above": "above|higher up than",
    "below": "below|lower down than",
    "next to": "next to|beside",
}
POSITIONS = {
    "left": "on the left side of the picture|on the left side|on the left",
    "right": "on the right side of the picture|on the right side|on the right",
    "top": "at the top of the picture|at the top",
    "bottom": "at the bottom of the picture|at the bottom",
}


def take(text: str, options: dict[str, str]) -> tuple[str | None, str]:
    """Find one of the phrases, at most one, and return what it means and the text with a bar instead."""
    found = []
    for name, phrases in options.items():
        for phrase in sorted(phrases.split("|"), key=len, reverse=True):
            if re.search(rf"\b{phrase}\b", text):
                found.append(name)
                text = re.sub(rf"\b{phrase}\b", "|", text, count=1)
                break
    assert len(found) <= 1, (text, found)
    return (found[0] if found else None), text


def thing(text: str) -> dict:
    """Parse "two small red dogs", with a place behind it."""
    position, text = take(text, POSITIONS)
    for phrase in ("piece of furniture", "pieces of furniture", "article of clothing", "articles of clothing",
                   "musical instruments", "musical instrument"):  # fmt: skip
        text = text.replace(phrase, phrase.replace(" ", "_"))
    words = re.sub(r"\b(is|are)\b|\|", " ", text).split()
    number: int | str
    if words[0] in ("a", "an"):
        assert (words[0] == "an") == (words[1][0] in "aeiou"), text
        words.pop(0)
        number = "a"
        if words[0] == "single":
            words.pop(0)
            number = 1
    elif words[:2] == ["exactly", "one"]:
        del words[:2]
        number = 1
    elif words[0] in NUMBERS:
        number = NUMBERS[words.pop(0)]
    else:
        number = "at least two"
        if words[0] == "some":
            words.pop(0)
    size = SIZES[words.pop(0)] if words[0] in SIZES else None
    colour = words.pop(0).replace("gray", "grey") if words[0] in (*COLOURS, "gray") else None
    assert len(words) == 1, (text, words)
    plural = words[0] == "fish" or words[0].split("_")[0].endswith("s") or words[0].endswith("s")
    if words[0] == "cactus":
        plural = False
    assert words[0] == "fish" or plural == (number not in ("a", 1)), text
    assert words[0] != "fish" or number != "at least two", f"{text}: one fish, or several?"
    return {"noun": NOUNS[words[0]], "colour": colour, "size": size, "position": position, "number": number}


def check_verb(text: str) -> None:
    """The verb agrees with what follows "there", or with what stands before it."""
    for verb, rest in re.findall(r"there (is|are) (\w+)", text):
        assert (verb == "is") == (rest in ("a", "an", "exactly")), text


def parse(caption: str) -> dict:
    """Return what a caption states."""
    assert caption[0].isupper()
    assert caption.endswith(".")
    assert "  " not in caption
    text = caption[0].lower() + caption[1:-1]
    check_verb(text)
    background, text = take(text, BACKGROUNDS)
    text = re.sub(r"^\| there (is|are) |^\|, |^there (is|are) |^a picture of ", "", text)
    text = re.sub(r" can be seen", "", text)
    relation, _ = take(text, RELATIONS) if not re.search(r"on the (left|right)", text) else (None, text)
    if relation is None:
        parts = re.split(r" and | along with ", text)
    else:
        parts = take(text, RELATIONS)[1].split("|", 1)
    return {
        "mentions": [thing(part.replace(",", "")) for part in parts],
        "relation": relation,
        "background": background,
    }
