"""Inflection: plurals, forms of verbs, and the article that fits the sound of a word."""

from __future__ import annotations

import re
from functools import cache

from karat.lexicon.word_lists import word_rows, word_set

IRREGULAR_PLURALS = dict(
    word_rows("""
    man men; woman women; child children; person people; foot feet; tooth teeth; goose geese; mouse
    mice; ox oxen; die dice; knife knives; wife wives; life lives; leaf leaves; loaf loaves; wolf
    wolves; half halves; calf calves; shelf shelves; thief thieves; scarf scarves; hoof hooves; elf
    elves; self selves; tomato tomatoes; potato potatoes; hero heroes; mosquito mosquitoes; buffalo
    buffaloes; torpedo torpedoes; echo echoes; cactus cacti; sheep sheep; deer deer; fish fish; moose
    moose; bison bison; salmon salmon; trout trout; shrimp shrimp; aircraft aircraft; spacecraft
    spacecraft; hovercraft hovercraft; series series; species species; means means; offspring offspring;
    swine swine; cattle cattle; bus buses; gas gases; quiz quizzes; axis axes; oasis oases; crisis
    crises; analysis analyses; basis bases""")
)
"""Nouns and their plurals where the rules fail."""

IRREGULAR_VERBS = {
    base: (past, participle)
    for base, past, participle in word_rows("""
    be was been; have had had; do did done; go went gone; come came come; sit sat sat; stand stood
    stood; lie lay lain; lay laid laid; hold held held; let let let; ride rode ridden; take took taken;
    give gave given; make made made; hit hit hit; run ran run; set set set; sleep slept slept; wake woke
    woken; feed fed fed; fall fell fallen; rise rose risen; break broke broken; keep kept kept; sell
    sold sold; buy bought bought; hide hid hidden; show showed shown; find found found; lose lost lost;
    win won won; begin began begun; leave left left; sink sank sunk; see saw seen; eat ate eaten; drink
    drank drunk; throw threw thrown; catch caught caught; fly flew flown; swim swam swum; wear wore
    worn; get got got; put put put; cut cut cut; spread spread spread; bend bent bent; bring brought
    brought; build built built; drive drove driven; grow grew grown; hang hung hung; know knew known;
    lead led led; meet met met; read read read; say said said; shake shook shaken; sing sang sung; speak
    spoke spoken; spin spun spun; swing swung swung; tell told told; think thought thought; write wrote
    written; blow blew blown; feel felt felt; draw drew drawn; slide slid slid; untie untied untied;
    unwind unwound unwound; undo undid undone; lend lent lent; pay paid paid; send sent sent; shoot shot
    shot; forget forgot forgotten""")
}
"""Verbs with their past and participle where the rules fail."""

_DOUBLED = word_set("""
    begin forget get hit let put run set shut sit spin stop swim win cut dig grab hop hug jog pat plan
    rub shop skip slip step strip swap tap tip trip trim unplug wrap unwrap unzip zip unpin drop drag
    clap chop""")
"""Verbs that double their last letter before -ing and -ed."""

_AN = re.compile(r"(?:hour|honest|honou?r|heir)|[aeiou]")
_A = re.compile(r"(?:uni(?!n|m|de|ss)|us[aeiu]|ut[ei]|eu|ew|one|once|u$|ubi|uk)")


def article_for(word: str) -> str:
    """Return *a* or *an*, by the sound that a word starts with.

    >>> [article_for(word) for word in ("dog", "apple", "hour", "unicycle", "umbrella", "one-way")]
    ['a', 'an', 'an', 'a', 'an', 'a']
    """
    word = word.lower()
    return "an" if _AN.match(word) and not _A.match(word) else "a"


@cache
def plural_of(noun: str) -> str:
    """Return the plural of a noun in the singular, of the last word where it has several.

    >>> [plural_of(noun) for noun in ("dog", "box", "city", "toy", "policeman", "traffic light", "sheep")]
    ['dogs', 'boxes', 'cities', 'toys', 'policemen', 'traffic lights', 'sheep']
    """
    before, blank, last = noun.rpartition(" ")
    return before + blank + _plural(last)


def _plural(noun: str) -> str:
    if noun in IRREGULAR_PLURALS:
        return IRREGULAR_PLURALS[noun]
    if noun.endswith("man") and noun not in ("human", "german", "roman", "caiman", "talisman", "shaman"):
        return f"{noun[:-3]}men"
    if noun.endswith("child"):
        return f"{noun}ren"
    return _with_s(noun)


def _with_s(word: str) -> str:
    if re.search(r"(?:s|x|z|ch|sh)$", word):
        return f"{word}es"
    if re.search(r"[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return f"{word}s"


@cache
def verb_form(base: str, tag: str) -> str:
    """Return the form of a verb that a Penn tag asks for; of several words the first is inflected.

    >>> [verb_form("lie", tag) for tag in ("VB", "VBZ", "VBG", "VBD", "VBN")]
    ['lie', 'lies', 'lying', 'lay', 'lain']
    >>> verb_form("let go of", "VBG"), verb_form("carry", "VBD"), verb_form("unwrap", "VBZ")
    ('letting go of', 'carried', 'unwraps')
    """
    first, blank, rest = base.partition(" ")
    return _verb(first, tag) + blank + rest


def _verb(base: str, tag: str) -> str:
    if tag == "VBZ":
        special = {"be": "is", "have": "has"}
        return special.get(base) or (f"{base}es" if base in ("go", "do") else _with_s(base))
    if tag == "VBG":
        if base.endswith("ie"):
            return f"{base[:-2]}ying"
        return f"{_stem(base)}ing"
    if tag in ("VBD", "VBN"):
        if base in IRREGULAR_VERBS:
            return IRREGULAR_VERBS[base][tag == "VBN"]
        if re.search(r"[^aeiou]y$", base):
            return f"{base[:-1]}ied"
        return f"{base}d" if base.endswith("e") else f"{_stem(base)}ed"
    return "are" if base == "be" and tag == "VBP" else base


def _stem(base: str) -> str:
    if base in _DOUBLED:
        return base + base[-1]
    return base[:-1] if re.search(r"[^eoy]e$", base) and base != "be" else base


def in_case_of(new: str, old: str) -> str:
    """Return a word with the capitals of the one that it replaces.

    >>> in_case_of("red", "Blue"), in_case_of("red", "BLUE"), in_case_of("an", "A"), in_case_of("red", "blue")
    ('Red', 'RED', 'An', 'red')
    """
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new
