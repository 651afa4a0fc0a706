"""Antonyms: which of WordNet's direct ones mean the opposite of a word as descriptions of pictures use it.

WordNet lists the antonyms of every sense: *green* is the opposite of *ripe*, *fresh* of *salty*. The tables
here leave out those of senses that pictures do not show, and words that describe nothing (*other*, *single*).
"""

from __future__ import annotations

from functools import cache

from karat.lexicon.word_lists import word_rows, word_set

_LEFT_OUT = word_set("""
    other same different single multiple close up such own flat light even odd half whole middle fair
    overhead identical mini faced cut free polar due partial medical basic second last first next human
    random compact local personal mobile cellular much very able unable complete back live neutral
    perpendicular center separate fine sound right-hand left-hand married""")
"""Adjectives that are not changed: they count, compare or point, or have no opposite that can be seen."""

_UNFIT = frozenset(
    map(
        tuple,
        word_rows("""
    green ripe; full thin; clear unclear; clear opaque; dry sweet; dry phlegmy; fresh preserved; fresh
    salty; male androgynous; female androgynous; clean unclean; professional unprofessional; military
    unmilitary; top side; new worn; foreign native; good evil; right wrong; right center; left center;
    quiet unquiet; quiet active; simple compound; thin full; dead alive; sweet dry; natural unnatural;
    natural supernatural; natural sharp; natural flat; soft loud; soft hardened; straight curved; real
    nominal; easy uneasy; sharp flat; sharp natural; little much; open shut; hard easy; attractive
    repulsive; straight curly; late middle; organized disorganized; ripe green; plain patterned; cold
    warm; old new; short tall; thin fat; black color; warm cold; smooth unsmooth; sad glad; short long;
    free bound"""),
    )
)
"""Pairs of an adjective and an antonym of another sense, or one that depends on what is described."""

_LIVING = {"old": "young", "short": "tall", "thin": "fat"}
_THINGS = {"old": "new", "short": "long"}
"""Adjectives whose opposite depends on whether it is a person or an animal that they describe."""

VERB_PAIRS: dict[str, dict[str, str]] = {
    base: dict(entry.split(":") for entry in entries)
    for base, *entries in word_rows("""
    sit stand:living lie:living; stand sit:living lie:living; lie stand:living sit:living; hold
    let_go_of:object; ride walk:any; walk ride:any; have lack:object; take give:object; give
    take:object; show hide:object; hide show:object; pull push:object; push pull:object; hit
    miss:object; sleep wake:living; feed starve:object; enjoy suffer:object; float
    sink:any; sink float:any; leave arrive:alone; arrive leave:alone; fall rise:alone; rise fall:alone;
    open close:object; close open:object; break repair:object; follow precede:object; sell buy:object;
    buy sell:object; enter exit:any; exit enter:any; clean dirty:object; laugh cry:any; cry laugh:any;
    raise lower:object; find lose:object; lose find:object; attend miss:object; love hate:object; hate
    love:object; like dislike:object; ascend descend:any; descend ascend:any; win lose:any; gather
    spread:alone; spread gather:object; dry wet:object; fill empty:object; empty fill:object; start
    stop:any; stop start:any; begin end:any; end begin:any; work idle:alone; lengthen shorten:object;
    shorten lengthen:object; accept refuse:object; remember forget:object; forget remember:object""")
}
"""Verbs with direct antonyms that fit descriptions; what each needs: an object, none, a living subject."""

_REVERSED = ("un", "dis", "de")


@cache
def adjective_antonyms(word: str, living: bool, predicate: bool) -> tuple[str, ...]:
    """Return the direct antonyms of an adjective that fit what it describes.

    Parameters
    ----------
    living
        Whether it describes a person or an animal.
    predicate
        Whether it is the predicate of a sentence, as in *the bus is full*.

    Examples
    --------
    >>> adjective_antonyms("old", True, False), adjective_antonyms("old", False, False)
    (('young',), ('new',))
    >>> adjective_antonyms("fresh", False, False), adjective_antonyms("other", False, False)
    (('stale',), ())
    """
    from karat.lexicon.database import wordnet

    if word in _LEFT_OUT:
        return ()
    chosen = (_LIVING if living else _THINGS).get(word)
    if chosen is not None:
        return (chosen,)
    antonyms = (each for each in wordnet().antonyms(word, "a") if "_" not in each and each != word)
    fit = tuple(each for each in antonyms if (word, each) not in _UNFIT)
    return ("alive",) if word == "dead" and predicate else fit


@cache
def verb_antonyms(lemma: str, living: bool, transitive: bool) -> tuple[str, ...]:
    """Return the direct antonyms of a verb that fit its subject and its object, as base forms.

    Parameters
    ----------
    living
        Whether its subject is a person or an animal.
    transitive
        Whether it has an object.

    Examples
    --------
    >>> verb_antonyms("sit", True, False), verb_antonyms("sit", False, False)
    (('stand', 'lie'), ())
    >>> verb_antonyms("lock", True, True), verb_antonyms("cross", True, True)
    (('unlock',), ())
    """
    from karat.lexicon.database import wordnet

    holds = {"living": living, "object": transitive, "alone": not transitive, "any": True}
    if lemma in VERB_PAIRS:
        return tuple(new.replace("_", " ") for new, needs in VERB_PAIRS[lemma].items() if holds[needs])
    if not transitive or lemma in ("cover", "cross", "balance", "make", "color", "colour", "wire", "order"):
        return ()
    reversed_forms = (f"{prefix}{lemma}" for prefix in _REVERSED)
    antonyms = wordnet().antonyms(lemma, "v")
    return tuple(form for form in reversed_forms if form in antonyms)
