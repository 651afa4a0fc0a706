"""Number: singular becomes plural and plural singular, with the verb."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.captions.graphs import ALWAYS_PLURAL, COLLECTIVE, QUANTITIES
from karat.lexicon import article_for, in_case_of, plural_of, verb_form, word_set, wordnet
from karat.perturbations.perturbation import Perturbation, register_perturbation, shuffled
from karat.perturbations.wording import Option, Replacement, Wording, is_object

MORE = ("two", "three", "several")
COUNTS = word_set("two three four five six seven eight nine ten eleven twelve several some")
TO_PLURAL = {"is": "are", "was": "were", "has": "have", "does": "do"}
TO_SINGULAR = {new: old for old, new in TO_PLURAL.items()}
ONE = word_set("his her its he she him it himself herself itself each every single lone alone lonely")
MANY = word_set(
    "their they them themselves each both other another together all among between various different"
)
"""Words that tie the number of a noun to the rest of the sentence."""
LEFT_OUT = (
    QUANTITIES
    | COLLECTIVE
    | word_set(
        "top side front back middle bottom edge end view close lot air body amount piece half rest part kind"
    )
)


@register_perturbation
class SingularPlural(Perturbation):
    """Changes the number of a thing: *a dog runs* becomes *two dogs run*, *three cats* become *one cat*.

    The article or number, the noun and the verb change together. Left alone are captions in which a pronoun
    or a word such as *each* would have to change, too.
    """

    name = "singular-plural"
    aliases = ("number",)
    source = "Lymperaiou et al. 2022, section 7"

    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield the nouns whose number can be changed."""
        words = set(caption.tagged.words)
        for at, word in enumerate(caption.tagged.words):
            if (
                not caption.head_noun(at)
                or word in LEFT_OUT
                or caption.children(at, "nmod:poss", "conj", "cop")
            ):
                continue
            if caption.tagged.labels[at] in ("conj", "appos", "dep") or not is_object(word):
                continue
            if caption.names_one_thing(at):
                continue
            tag = caption.tagged.tags[at]
            if tag == "NN" and not words & ONE:
                yield [option for new in shuffled(MORE, rng) if (option := to_plural(caption, at, new))]
            elif tag == "NNS" and not words & MANY:
                yield [
                    option for new in shuffled(("one", "a"), rng) if (option := to_singular(caption, at, new))
                ]

    def accepts(self, before: Wording, after: Wording, option: Option, where: dict[int, int]) -> bool:
        """Return whether the noun is read in its new number, and the verb still as a verb."""
        pairs = [
            (before.tagged.tags[at], after.tagged.tags[where[at]]) for at in noun_and_verbs(before, option)
        ]
        (old, new), *verbs = pairs
        turned = {"NN": "NNS", "NNS": "NN"}[old] == new
        return turned and all(tag[:2] in ("VB", "MD") for _, tag in verbs)


def noun_and_verbs(caption: Wording, option: Option) -> list[int]:
    """Return the noun of an option, then the verbs."""
    nouns = [each.last for each in option if not each.repair]
    verbs = [each.last for each in option if each.repair and caption.tagged.pos[each.last] in ("VERB", "AUX")]
    return [*nouns, *verbs]


def to_plural(caption: Wording, at: int, number: str) -> Option | None:
    """Return what makes several of a noun after *a* or *one*; None where that is not plain."""
    word, (first, *others) = caption.word(at), caption.children(at, "det", "nummod") or [-1]
    if others or caption.word(first) not in ("a", "an", "one") or first != caption.phrase_start(at):
        return None
    if caption.word(first - 1) in (
        "such",
        "half",
        "what",
        "not",
        "like",
        "as",
        "in",
        "than",
    ) or word.endswith("s"):
        return None
    verbs = agreement(caption, at, singular=True)
    if verbs is None:
        return None
    return (
        Replacement(first, first, in_case_of(number, caption.written(first)), repair=True),
        Replacement(at, at, in_case_of(plural_of(word), caption.written(at))),
        *verbs,
    )


def to_singular(caption: Wording, at: int, number: str) -> Option | None:
    """Return what makes one of a plural noun; None where that is not plain."""
    word = caption.word(at)
    one = "person" if word == "people" else wordnet().lemma(word, "n")
    if word in ALWAYS_PLURAL or one == word or plural_of(one) != word:
        return None
    start = caption.phrase_start(at)
    verbs = agreement(caption, at, singular=False)
    if verbs is None or caption.word(start - 1) in ("of", "than", "like", "as", "a"):
        return None
    # *Several* may be an adjective to the parser.
    counts = [start] if caption.word(start) in COUNTS else []
    first, *others = counts or (*caption.children(at, "det", "nummod"),) or (None,)
    noun = Replacement(at, at, in_case_of(one, caption.written(at)))
    counted = first is not None and (caption.word(first) in COUNTS or caption.word(first).isdigit())
    if others or (first is not None and first != start):
        return None
    if first is not None and caption.word(first) == "the":
        return (noun, *verbs)
    if first is None:
        if any(caption.word(k) in ("many", "few", "more", "most", "such") for k in range(start, at)):
            return None
        new = article_for(one if start == at else caption.word(start))
        if start == at:
            return (noun._replace(new=in_case_of(f"{new} {one}", caption.written(at))), *verbs)
        old = caption.written(start)
        rest = old if caption.is_name(start) else old[:1].lower() + old[1:]
        return (Replacement(start, start, in_case_of(f"{new} {rest}", old), repair=True), noun, *verbs)
    if not counted or caption.word(first) == "1":
        return None
    following = one if first + 1 == at else caption.word(first + 1)
    article = article_for(following) if number == "a" else number
    return (Replacement(first, first, in_case_of(article, caption.written(first)), repair=True), noun, *verbs)


def agreement(caption: Wording, at: int, singular: bool) -> Option | None:
    """Return the repairs of the verbs that a noun is the subject of; None where one is not in its number."""
    tagged = caption.tagged
    clauses = []
    if tagged.labels[at] in ("nsubj", "nsubj:pass"):
        head = tagged.heads[at]
        clauses += [head, *(c for c in caption.children(head, "conj") if not caption.children(c, "nsubj"))]
    for clause in caption.children(at, "acl:relcl", "acl"):
        subjects = caption.children(clause, "nsubj", "nsubj:pass")
        # Of *two dogs are running* the parser may make two dogs that run.
        if all(caption.word(subject) in ("that", "which", "who") for subject in subjects):
            clauses += [clause, *caption.children(clause, "conj")]
    finite = [verb for clause in clauses for verb in finite_verbs(caption, clause)]
    start = caption.phrase_start(at)
    if caption.word(start - 2) == "there" and caption.word(start - 1) in (*TO_PLURAL, *TO_SINGULAR):
        finite.append(start - 1)
    if not is_plain(caption, at, finite):
        return None
    repairs = []
    for verb in dict.fromkeys(finite):
        word, tag = caption.word(verb), tagged.tags[verb]
        be = word in TO_PLURAL or word in TO_SINGULAR
        if not be and tag in ("VBD", "MD"):
            continue
        is_singular = word in TO_PLURAL or (not be and tag == "VBZ")
        if is_singular != singular or not word.isalpha():
            return None
        if be:
            new = (TO_PLURAL if singular else TO_SINGULAR)[word]
        else:
            base = wordnet().lemma(word, "v")
            new = base if singular else verb_form(base, "VBZ")
            if verb_form(base, "VBZ" if singular else "VBP") != word:
                return None
        repairs.append(Replacement(verb, verb, in_case_of(new, caption.written(verb)), repair=True))
    return tuple(repairs)


def is_plain(caption: Wording, at: int, finite: Sequence[int]) -> bool:
    """Whether no other verb may have to agree: one that follows the noun, or that of the first noun."""
    present = [k for k in range(at + 1, len(caption)) if is_present(caption, k) and k not in finite]
    if present and caption.phrase_start(at) == 0 and not finite:
        return False
    return not any(not any(map(caption.tagged.is_noun, range(at + 1, verb))) for verb in present)


def is_present(caption: Wording, at: int) -> bool:
    """Whether a word is a verb whose form shows the number of its subject."""
    word = caption.word(at)
    return word in TO_PLURAL or word in TO_SINGULAR or caption.tagged.tags[at] in ("VBZ", "VBP")


def finite_verbs(caption: Wording, clause: int) -> list[int]:
    """Return the words of a clause that agree with its subject: its first auxiliary, else its verb."""
    helpers = sorted(caption.children(clause, "aux", "aux:pass", "cop"))
    if helpers:
        return helpers[:1]
    return [clause] if caption.tagged.tags[clause] in ("VBZ", "VBP", "VBD") else []
